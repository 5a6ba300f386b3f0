//! Files that are open on one connection, each for all tasks that carry parts of it: only the first
//! of them costs a round trip to open it.

use std::collections::{BTreeMap, BTreeSet};

use copy_net::SftpChannel;
use copy_protocol::FileId;
use copy_protocol::sftp::{Open, Reply, Request};

/// All of them, by what they are open for.
#[derive(Debug, Default)]
pub(super) struct Handles(BTreeMap<(FileId, Open), OpenFile>);

#[derive(Debug, Default)]
struct OpenFile {
    /// `None` until the server has answered.
    handle: Option<Vec<u8>>,
    /// Tasks that use it, or wait for it.
    users: BTreeSet<u64>,
}

/// What a task that needs a file finds.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Joined {
    Open(Vec<u8>),
    /// Another task has asked for it.
    Asked,
    /// This one has to ask.
    First,
}

impl Handles {
    /// * `opened`: a file that is open already, to be written.
    pub fn with(opened: Option<(FileId, Vec<u8>)>) -> Self {
        let open = |(file, handle)| {
            let handle = Some(handle);
            let users = BTreeSet::new();
            ((file, Open::Write), OpenFile { handle, users })
        };
        Handles(opened.map(open).into_iter().collect())
    }

    /// A task needs the file until it leaves it.
    pub fn join(&mut self, file: FileId, how: Open, task: u64) -> Joined {
        let key = (file, how);
        let is_first = !self.0.contains_key(&key);
        let open = self.0.entry(key).or_default();
        open.users.insert(task);
        match &open.handle {
            Some(handle) => Joined::Open(handle.clone()),
            None if is_first => Joined::First,
            None => Joined::Asked,
        }
    }

    /// The server has answered. Returns the tasks that wait for that.
    pub fn on_opened(&mut self, file: FileId, how: Open, reply: &Reply) -> Vec<u64> {
        let key = (file, how);
        let Some(mut open) = self.0.remove(&key) else {
            return Vec::new();
        };
        let waiting = open.users.iter().copied().collect();
        if let Reply::Handle(handle) = reply {
            open.handle = Some(handle.clone());
            self.0.insert(key, open);
        }
        waiting
    }

    /// The task is done.
    pub fn leave(&mut self, file: FileId, task: u64) {
        for how in [Open::Write, Open::Read] {
            if let Some(open) = self.0.get_mut(&(file, how)) {
                open.users.remove(&task);
            }
        }
    }

    /// One to be written that no task uses, for the caller to close.
    pub fn take(&mut self, file: FileId) -> Option<Vec<u8>> {
        let key = (file, Open::Write);
        let open = self.0.get(&key)?;
        if !open.users.is_empty() {
            return None;
        }
        self.0.remove(&key)?.handle
    }

    /// Closes those that no task uses.
    pub fn close_idle(&mut self, channel: &mut SftpChannel) {
        self.0.retain(|_, open| {
            if let Some(handle) = open.handle.as_ref().filter(|_| open.users.is_empty()) {
                channel.send_unheard(&Request::Close(handle));
                return false;
            }
            true
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_opened_once_for_all_tasks_and_again_after_a_refusal() {
        let mut handles = Handles::default();
        assert_eq!(handles.join(7, Open::Write, 1), Joined::First);
        assert_eq!(handles.join(7, Open::Write, 2), Joined::Asked);
        assert_eq!(handles.join(7, Open::Read, 3), Joined::First);
        let refused = Reply::Data(Vec::new());
        assert_eq!(handles.on_opened(7, Open::Write, &refused), [1, 2]);
        assert_eq!(handles.join(7, Open::Write, 4), Joined::First);
        let opened = Reply::Handle(vec![5]);
        assert_eq!(handles.on_opened(7, Open::Write, &opened), [4]);
        assert_eq!(handles.join(7, Open::Write, 6), Joined::Open(vec![5]));
        assert_eq!(handles.take(7), None, "it is used");
        handles.leave(7, 4);
        handles.leave(7, 6);
        assert_eq!(handles.take(7), Some(vec![5]));
        assert_eq!(handles.take(7), None);
    }
}
