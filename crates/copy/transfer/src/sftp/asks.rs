//! Requests of one task on one connection.

use std::collections::BTreeMap;

use copy_net::SftpChannel;
use copy_protocol::FileId;
use copy_protocol::sftp::{Open, Request, Stat};

use super::handles::{Handles, Joined};

/// What a request was for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Tag {
    Open,
    /// Opens a file for all tasks of the connection that need it.
    Share(Open),
    /// So many bytes.
    Write(u32),
    /// So many bytes at this offset of the part.
    Read(usize, u32),
    /// The digest of the part.
    Digest,
    /// A byte behind the end of the file.
    Beyond,
    Flush,
    Attributes,
    Close,
    Rename,
    Remove,
    Space,
    /// Attributes of the open part.
    Length,
    /// Attributes of the file that has the name.
    Look,
    /// A part of ours becomes writable again.
    Unlock,
    /// The part of a file that failed goes.
    CleanUp,
}

/// How a task stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Step {
    Goes,
    Done,
}

/// Sends the requests of one task.
pub(super) struct Asks<'a> {
    pub channel: &'a mut SftpChannel,
    pub owners: &'a mut BTreeMap<u32, (u64, Tag)>,
    pub handles: &'a mut Handles,
    pub task: u64,
}

impl Asks<'_> {
    pub fn send(&mut self, tag: Tag, request: &Request<'_>) {
        let number = self.channel.send(request);
        self.owners.insert(number, (self.task, tag));
    }

    /// Opens a far file, the first that each task asks.
    pub fn open(&mut self, path: &[u8], how: Open, stat: Stat) -> Step {
        self.send(Tag::Open, &Request::Open(path, how, stat));
        Step::Goes
    }

    /// Opens a far file for all tasks of this connection. Returns its handle where it is open;
    /// otherwise the reply comes as that of [`Tag::Open`].
    pub fn share(&mut self, file: FileId, path: &[u8], how: Open) -> Option<Vec<u8>> {
        match self.handles.join(file, how, self.task) {
            Joined::Open(handle) => return Some(handle),
            Joined::Asked => {}
            Joined::First => {
                let open = Request::Open(path, how, Stat::default());
                self.send(Tag::Share(how), &open);
            }
        }
        None
    }
}
