//! The end that gets the data.

mod stream;

use std::collections::HashMap;
use std::sync::Arc;
use std::thread;

use wire::copying::{Entry, FileEnd, FileId, Kind, Message, Problem, Range, Want};

use self::stream::Inflow;
use crate::chronicle::Chronicle;
use crate::inner::store::Store;
use crate::lines::Roster;
use crate::session::{Desk, End, Happening, Role, unexpected};

/// Says what it wants, has the streams write it, and gives files their names.
pub(crate) struct Receiver<'a, 'o> {
    chronicle: &'a mut Chronicle<'o>,
    store: Arc<Store>,
    roster: Roster,
    /// Files that are wanted and not there yet.
    unfinished: HashMap<FileId, Entry>,
    next: FileId,
    /// All entries were told.
    is_known: bool,
    is_complete: bool,
    received: Vec<Range>,
    published: Vec<FileId>,
}

impl<'a, 'o> Receiver<'a, 'o> {
    pub(crate) fn new(chronicle: &'a mut Chronicle<'o>, store: Store, roster: Roster) -> Self {
        Receiver {
            chronicle,
            store: Arc::new(store),
            roster,
            unfinished: HashMap::new(),
            next: 0,
            is_known: false,
            is_complete: false,
            received: Vec::new(),
            published: Vec::new(),
        }
    }

    fn on_entries(&mut self, entries: Vec<Entry>, desk: &Desk) {
        let mut wants = Vec::with_capacity(entries.len());
        for entry in entries {
            let id = self.next;
            self.next += 1;
            match self.store.expect(id, &entry) {
                Ok(want) => {
                    self.on_expected(id, entry, &want);
                    wants.push(want);
                }
                Err(problem) => {
                    wants.push(Want::Nothing(id));
                    self.fail(
                        Some(&entry),
                        Problem {
                            file: Some(id),
                            ..problem
                        },
                        desk,
                    );
                }
            }
        }
        desk.say(Message::Wants(wants));
    }

    fn on_expected(&mut self, id: FileId, entry: Entry, want: &Want) {
        let is_file = matches!(entry.kind, Kind::File(_));
        match want {
            Want::Nothing(_) if is_file => self.chronicle.on_present(&entry),
            Want::Nothing(_) => self.chronicle.on_published(&entry, None),
            _ => {
                self.unfinished.insert(id, entry);
            }
        }
    }

    fn fail(&mut self, entry: Option<&Entry>, problem: Problem, desk: &Desk) {
        desk.say(Message::Failed(problem.clone()));
        self.chronicle.on_failed(entry, problem);
    }

    fn on_file_end(&mut self, end: FileEnd, desk: &Desk) {
        let id = end.file;
        match self.store.ended(end) {
            Ok(true) => self.on_published(id),
            Ok(false) => (),
            Err(problem) => self.fail_file(id, problem, desk),
        }
    }

    fn on_published(&mut self, id: FileId) {
        if let Some(entry) = self.unfinished.remove(&id) {
            self.chronicle.on_published(&entry, None);
            self.published.push(id);
        }
    }

    fn fail_file(&mut self, id: FileId, problem: Problem, desk: &Desk) {
        if let Some(entry) = self.unfinished.remove(&id) {
            self.fail(
                Some(&entry),
                Problem {
                    file: Some(id),
                    ..problem
                },
                desk,
            );
        }
    }

    fn on_message(&mut self, message: Message, desk: &Desk) -> Result<(), End> {
        match message {
            Message::Entries(entries) => self.on_entries(entries, desk),
            Message::EntriesEnd { .. } => self.is_known = true,
            Message::FileEnds(ends) => {
                for end in ends {
                    self.on_file_end(end, desk);
                }
            }
            Message::Failed(problem) => {
                let entry = problem.file.and_then(|id| self.unfinished.remove(&id));
                self.chronicle.on_failed(entry.as_ref(), problem);
            }
            Message::Streams(count) => self.roster.grow(count, desk),
            Message::Alive(_) | Message::Sending { .. } => (),
            Message::Bye if self.is_complete => return Err(End::Done),
            other => return Err(unexpected(&other)),
        }
        Ok(())
    }
}

impl Role for Receiver<'_, '_> {
    fn on(&mut self, happening: Happening, desk: &Desk) -> Result<(), End> {
        match happening {
            Happening::Message(message) => return self.on_message(message, desk),
            Happening::Joined(_, channel) if self.is_complete => drop(channel),
            Happening::Joined(number, channel) => {
                self.roster.on_joined();
                let store = Arc::clone(&self.store);
                let inflow = Inflow::new(number, channel, store, desk.report.clone());
                thread::spawn(move || inflow.run());
            }
            Happening::NotJoined(..) | Happening::StreamOver(..) => self.roster.on_over(),
            Happening::Arrived(range) => self.received.push(range),
            Happening::Damaged(range) => desk.say(Message::Damaged(range)),
            Happening::Published(id) => self.on_published(id),
            Happening::Failed(problem) => match problem.file {
                Some(id) => self.fail_file(id, problem, desk),
                None => return Err(End::Problem(problem)),
            },
            _ => (),
        }
        Ok(())
    }

    fn on_quiet(&mut self, desk: &Desk) -> Result<bool, End> {
        if !self.received.is_empty() {
            desk.say(Message::Received(std::mem::take(&mut self.received)));
        }
        if !self.published.is_empty() {
            desk.say(Message::Published(std::mem::take(&mut self.published)));
        }
        if self.is_known && self.unfinished.is_empty() && !self.is_complete {
            self.is_complete = true;
            desk.say(Message::Complete);
        }
        Ok(false)
    }
}
