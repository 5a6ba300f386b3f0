//! The end that has the data.

mod stream;
mod work;

use std::collections::VecDeque;
use std::sync::Arc;
use std::thread;

use wire::copying::{Entry, FileEnd, FileId, Kind, Message, Problem, Want};

use self::stream::Outflow;
use self::work::{Origin, Work};
use crate::chronicle::Chronicle;
use crate::inner::source::Walk;
use crate::lines::Roster;
use crate::session::{Desk, End, Happening, Role, unexpected};

/// Entries in one message.
const BATCH: usize = 512;
/// Entries that may be told before the receiver has answered.
const AHEAD: u32 = 8192;
/// Files that may be on their way at once; bounds the memory of both ends.
const UNFINISHED: usize = 65_536;

/// Tells what there is and has the streams send what is wanted of it.
pub(crate) struct Sender<'a, 'o> {
    chronicle: &'a mut Chronicle<'o>,
    walk: Option<Walk>,
    roster: Roster,
    target: u16,
    work: Arc<Work>,
    /// Everything will be wanted: nothing waits for the receiver's answer.
    is_fresh: bool,
    /// Entries that the receiver has not answered yet.
    unanswered: VecDeque<(FileId, Entry)>,
    told: u32,
    bytes: u64,
    read: Vec<FileEnd>,
    unfinished: usize,
}

impl<'a, 'o> Sender<'a, 'o> {
    pub(crate) fn new(
        chronicle: &'a mut Chronicle<'o>,
        walk: Walk,
        roster: Roster,
        target: u16,
        is_fresh: bool,
    ) -> Self {
        Sender {
            chronicle,
            walk: Some(walk),
            roster,
            target,
            work: Arc::default(),
            is_fresh,
            unanswered: VecDeque::new(),
            told: 0,
            bytes: 0,
            read: Vec::new(),
            unfinished: 0,
        }
    }

    /// Streams may come.
    pub(crate) fn start(&mut self, desk: &Desk) {
        self.roster.grow(self.target, desk);
    }

    /// Tells some more of what there is. Returns whether there may be yet more at once.
    fn tell_entries(&mut self, desk: &Desk) -> Result<bool, End> {
        let Some(walk) = &mut self.walk else {
            return Ok(false);
        };
        if self.unanswered.len() as u32 >= AHEAD || self.unfinished >= UNFINISHED {
            return Ok(false);
        }
        let found: Result<Vec<_>, Problem> = walk.take(BATCH).collect();
        let found = found.map_err(End::Problem)?;
        if found.is_empty() {
            self.walk = None;
            desk.say(Message::EntriesEnd {
                count: self.told,
                bytes: self.bytes,
            });
            return Ok(false);
        }
        let mut entries = Vec::with_capacity(found.len());
        for (path, entry) in found {
            let id = self.told;
            self.told += 1;
            self.announce(id, path, &entry);
            self.unanswered.push_back((id, entry.clone()));
            entries.push(entry);
        }
        desk.say(Message::Entries(entries));
        Ok(true)
    }

    fn announce(&mut self, id: FileId, path: std::path::PathBuf, entry: &Entry) {
        let Kind::File(size) = entry.kind else {
            return;
        };
        self.bytes += size;
        self.unfinished += 1;
        let entry = entry.clone();
        self.work.announce(id, Origin { path, entry });
        if self.is_fresh {
            self.want(id, 0, size);
        }
    }

    fn want(&mut self, id: FileId, start: u64, length: u64) {
        match length {
            0 => self.read.push(FileEnd {
                file: id,
                digest: [0; 32],
            }),
            _ => self.work.add(id, start, length),
        }
    }

    fn on_want(&mut self, want: Want) -> Result<(), End> {
        let Some((id, entry)) = self.unanswered.pop_front() else {
            return Err(unexpected(&Message::Wants(vec![want])));
        };
        let size = match entry.kind {
            Kind::File(size) => Some(size),
            _ => None,
        };
        match (want, size) {
            (Want::Nothing(_), Some(_)) => {
                self.finish(id);
                self.chronicle.on_present(&entry);
            }
            (Want::Nothing(_), None) => self.chronicle.on_published(&entry, None),
            (Want::Whole(_), Some(size)) if !self.is_fresh => self.want(id, 0, size),
            (Want::Whole(_), _) => (),
            (Want::Rest(_, parts), _) => {
                for (start, length) in parts {
                    self.want(id, start, length);
                }
            }
        }
        Ok(())
    }

    fn finish(&mut self, id: FileId) -> Option<Arc<Origin>> {
        let origin = self.work.forget(id)?;
        self.unfinished -= 1;
        Some(origin)
    }

    fn on_message(&mut self, message: Message) -> Result<(), End> {
        match message {
            Message::Wants(wants) => wants.into_iter().try_for_each(|want| self.on_want(want)),
            Message::Received(pieces) => {
                self.work.acked(&pieces);
                Ok(())
            }
            Message::Damaged(piece) => {
                self.chronicle.outcome.sent_again += units::Bytes::new(piece.length);
                self.work.damaged(piece);
                Ok(())
            }
            Message::Published(files) => {
                for id in files {
                    if let Some(origin) = self.finish(id) {
                        self.chronicle.on_published(&origin.entry, None);
                    }
                }
                Ok(())
            }
            Message::Failed(problem) => {
                let origin = problem.file.and_then(|id| self.finish(id));
                let entry = origin.as_ref().map(|origin| &origin.entry);
                self.chronicle.on_failed(entry, problem);
                Ok(())
            }
            Message::Alive(_) => Ok(()),
            other => Err(unexpected(&other)),
        }
    }
}

impl Role for Sender<'_, '_> {
    fn on(&mut self, happening: Happening, desk: &Desk) -> Result<(), End> {
        match happening {
            Happening::Message(Message::Complete) => {
                self.work.close();
                desk.say(Message::Bye);
                return Err(End::Done);
            }
            Happening::Message(message) => return self.on_message(message),
            Happening::Joined(number, channel) => {
                self.roster.on_joined();
                let work = Arc::clone(&self.work);
                let outflow = Outflow::new(number, channel, work, desk.report.clone());
                thread::spawn(move || outflow.run());
            }
            Happening::NotJoined(..) => self.roster.on_over(),
            Happening::StreamOver(number, _) => {
                self.roster.on_over();
                let bytes = self.work.died(number);
                self.chronicle.outcome.sent_again += units::Bytes::new(bytes);
                self.chronicle.outcome.streams_replaced += 1;
                self.roster.grow(self.target, desk);
            }
            Happening::FileRead(file) => self.read.push(FileEnd {
                file,
                digest: [0; 32],
            }),
            Happening::Failed(problem) => {
                desk.say(Message::Failed(problem.clone()));
                let origin = problem.file.and_then(|id| self.finish(id));
                let entry = origin.as_ref().map(|origin| &origin.entry);
                self.chronicle.on_failed(entry, problem);
            }
            _ => (),
        }
        Ok(())
    }

    fn on_quiet(&mut self, desk: &Desk) -> Result<bool, End> {
        let has_more = self.tell_entries(desk)?;
        if !self.read.is_empty() {
            desk.say(Message::FileEnds(std::mem::take(&mut self.read)));
        }
        Ok(has_more)
    }
}

impl Drop for Sender<'_, '_> {
    fn drop(&mut self) {
        self.work.close();
        let load = |counter: &std::sync::atomic::AtomicU64| {
            units::Bytes::new(counter.load(std::sync::atomic::Ordering::Relaxed))
        };
        self.chronicle.outcome.sent += load(&self.work.sent);
        self.chronicle.outcome.on_wire += load(&self.work.on_wire);
    }
}
