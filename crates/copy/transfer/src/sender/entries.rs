//! Announces entries, and queues what the receiver wants of them.

use copy_protocol::{Entry, FileId, Inode, Kind, Message, Problem, Shared, Want};
use units::Bytes;

use super::findings::Next;
use super::state::{Resumed, SenderState};
use super::{AHEAD, BATCH_BYTES, UNFINISHED};
use crate::session::{Outbox, SessionEnd, protocol, unexpected};
use files::source::Found;

/// A file, its size, and the parts (start and length) that are wanted of it.
type Wanted = (FileId, u64, Vec<(u64, u64)>);

impl SenderState<'_, '_> {
    /// Announces up to `most` more entries. Returns whether there may be yet more at once.
    pub(super) fn tell_entries(&mut self, outbox: &dyn Outbox, most: usize) -> bool {
        let is_ahead = self.unanswered.len() >= AHEAD || self.unfinished.len() >= UNFINISHED;
        let Some(mut walk) = self.walk.take().filter(|_| !is_ahead) else {
            return false;
        };
        let (mut entries, mut inodes) = (Vec::with_capacity(most), Vec::new());
        let mut bytes = 0;
        while entries.len() < most && bytes < BATCH_BYTES {
            match walk.next() {
                Next::Found(Found::Entry(entry, inode)) => {
                    bytes += length(&entry) + inode.as_ref().map_or(0, |inode| inode.bytes());
                    entries.push(entry);
                    inodes.extend(inode.map(|inode| *inode));
                }
                Next::Found(Found::LeftOut(problem)) => self.leave_out(problem, outbox),
                Next::Later => {
                    self.tell(entries, inodes, outbox);
                    self.walk = Some(walk);
                    return false;
                }
                Next::End => {
                    self.tell(entries, inodes, outbox);
                    let linked = walk.linked();
                    outbox.send(Message::EntriesEnd {
                        count: self.told,
                        bytes: self.bytes,
                        linked,
                    });
                    self.stats.on_all_known(linked);
                    return false;
                }
            }
        }
        self.tell(entries, inodes, outbox);
        self.walk = Some(walk);
        true
    }

    fn leave_out(&mut self, problem: copy_protocol::FileProblem, outbox: &dyn Outbox) {
        outbox.send(Message::LeftOut {
            name: problem.name.clone(),
            problem: Problem {
                kind: problem.kind,
                file: None,
                what: problem.what.clone(),
                hint: problem.hint.clone(),
            },
        });
        self.stats.on_left_out(problem);
    }

    fn tell(&mut self, entries: Vec<Entry>, inodes: Vec<Inode>, outbox: &dyn Outbox) {
        if entries.is_empty() {
            return;
        }
        for inode in &inodes {
            if matches!(inode.shared, Some(Shared::With(_))) {
                self.further_names.insert(inode.file);
            }
        }
        if !inodes.is_empty() {
            outbox.send(Message::Inodes(inodes));
        }
        outbox.send(Message::Entries(entries.clone()));
        let mut whole = Vec::new();
        for entry in entries {
            let id = self.told;
            self.told += 1;
            self.stats.on_entry(&entry);
            if let Kind::File(size) = entry.kind
                && !self.further_names.contains(&id)
            {
                self.bytes += size;
                self.unfinished.insert(id, entry.clone());
                if self.is_fresh {
                    whole.push((id, size, vec![(0, size)]));
                }
            }
            self.unanswered.push_back((id, entry));
        }
        self.want(whole);
    }

    fn want(&mut self, wanted: Vec<Wanted>) {
        if wanted.is_empty() {
            return;
        }
        let parts = wanted
            .iter()
            .map(|(id, size, parts)| (*id, *size, parts.as_slice()));
        for (id, bytes) in self.queue.add(parts) {
            if bytes == 0 {
                // Empty, or all there but its name.
                match self.source.finished(id) {
                    Ok(()) => self.on_file_read(id),
                    Err(problem) => self.unreadable.push(problem),
                }
            }
        }
    }

    pub(super) fn on_wants(&mut self, wants: Vec<Want>) -> Result<(), SessionEnd> {
        let mut wanted = Vec::new();
        for want in wants {
            let Some((id, entry)) = self.unanswered.pop_front() else {
                return Err(unexpected(&Message::Wants(vec![want])));
            };
            let is_further_name = self.further_names.remove(&id);
            let size = match entry.kind {
                Kind::File(size) if !is_further_name => Some(size),
                _ => None,
            };
            match (want, size) {
                (Want::Nothing(_), None) if is_further_name && !self.refused.remove(&id) => {
                    self.stats.on_present(&entry);
                }
                (Want::Nothing(_), Some(_)) => {
                    if self.unfinished.remove(&id).is_some() {
                        self.queue.forget(id);
                        self.stats.on_present(&entry);
                    }
                }
                (Want::Nothing(_), None) => drop(self.refused.remove(&id)),
                (Want::Made(_), None) => self.on_made(&entry),
                (Want::Made(_), Some(_)) => {
                    return Err(protocol("a file was made like a folder".to_owned()));
                }
                (_, None) => return Err(protocol("a folder or link was wanted".to_owned())),
                (_, Some(size)) if self.is_dry => {
                    self.unfinished.remove(&id);
                    self.stats.on_would_copy(&entry, Bytes::new(size));
                }
                (Want::Whole(_) | Want::Rest(..), Some(_)) if self.is_fresh => (),
                (Want::Whole(_), Some(size)) => wanted.push((id, size, vec![(0, size)])),
                (Want::Rest(_, parts), Some(size)) => {
                    let missing = parts.iter().map(|(_, length)| *length).sum();
                    self.stats.on_part_present(size.saturating_sub(missing));
                    self.resumed.insert(id, Resumed::default());
                    wanted.push((id, size, parts));
                }
            }
        }
        self.want(wanted);
        self.check_all_added();
        Ok(())
    }

    /// A folder or link was made, or a further name of a file, whose content comes with its first.
    fn on_made(&mut self, entry: &Entry) {
        if self.is_dry {
            return self.stats.on_would_copy(entry, Bytes::ZERO);
        }
        if let Kind::File(size) = entry.kind {
            self.stats.on_part_present(size);
        }
        self.stats.on_published(entry, None);
    }

    /// What the receiver has of a file from an earlier try was read back there, and some of it may
    /// be wrong.
    pub(super) fn on_read_back(&mut self, file: FileId, parts: &[(u64, u64)], is_all: bool) {
        let Some(Kind::File(size)) = self.unfinished.get(&file).map(|entry| &entry.kind) else {
            return;
        };
        if !parts.is_empty() {
            let bytes = self.queue.add_more(file, *size, parts);
            self.stats.on_part_lost(bytes);
        }
        if is_all && let Some(resumed) = self.resumed.get_mut(&file) {
            resumed.is_read_back = true;
            self.on_file_read(file);
        }
    }

    /// All that is wanted of a file was read, as far as is known by now.
    pub(crate) fn on_file_read(&mut self, file: FileId) {
        if let Some(resumed) = self.resumed.get_mut(&file) {
            // More of it may have become wanted since it was told, and then it is told again.
            if !resumed.is_read_back || resumed.is_ended || !self.queue.is_read(file) {
                return;
            }
            resumed.is_ended = true;
        }
        self.read.push(file);
    }

    /// From when on everything that is wanted is known.
    pub(super) fn check_all_added(&mut self) {
        if !self.is_all_added && self.walk.is_none() && self.unanswered.is_empty() {
            self.is_all_added = true;
            self.queue.all_added();
            self.stats.on_planned();
        }
    }
}

fn length(entry: &Entry) -> usize {
    let link = match &entry.kind {
        Kind::Link(target) => target.len(),
        _ => 0,
    };
    entry.name.as_bytes().len() + link
}
