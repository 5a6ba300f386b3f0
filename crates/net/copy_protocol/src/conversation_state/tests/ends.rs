//! Two honest ends whose messages cross.

use std::collections::{BTreeSet, VecDeque};

use proptest::prelude::*;

use super::*;

/// One end with its own state, and what is under way to it.
#[derive(Default)]
struct Party {
    protocol: ConversationState,
    inbox: VecDeque<Message>,
}

/// What both ends did.
#[derive(Default)]
struct Copy {
    sender: Party,
    receiver: Party,
    /// At the sender: told of and not over, and which of them it may read.
    told: u32,
    bytes: u64,
    is_told: bool,
    at_sender: BTreeSet<FileId>,
    readable: BTreeSet<FileId>,
    /// At the receiver: to be answered, being received, read to the end.
    unanswered: VecDeque<(FileId, Entry)>,
    at_receiver: BTreeSet<FileId>,
    read: BTreeSet<FileId>,
    heard_of: FileId,
    knows_all: bool,
    is_complete: bool,
    heard_complete: bool,
}

impl Copy {
    fn new(fresh: bool) -> Self {
        let mut copy = Copy::default();
        for party in [&mut copy.sender, &mut copy.receiver] {
            party.protocol = open(fresh);
        }
        copy
    }

    /// The sender (near) says something that it believes to be right.
    fn tell(&mut self, message: Message) {
        let passed = self.sender.protocol.pass(Near, message).unwrap();
        self.receiver.inbox.push_back(passed);
    }

    fn answer(&mut self, message: Message) {
        let passed = self.receiver.protocol.pass(Far, message).unwrap();
        self.sender.inbox.push_back(passed);
    }

    fn sender_acts(&mut self, choice: u8, fresh: bool) {
        let first = |set: &BTreeSet<FileId>| {
            let place = usize::from(choice) % set.len().max(1);
            set.iter().nth(place).copied()
        };
        match choice % 4 {
            0 if self.told < 12 => {
                let size = u64::from(choice) * 1000;
                let entry = match choice % 3 {
                    0 => entry("d", Kind::Folder),
                    _ => file("f", size),
                };
                let id = self.told;
                if let Kind::File(size) = entry.kind {
                    self.bytes += size;
                    if fresh {
                        self.readable.insert(id);
                    }
                }
                self.at_sender.insert(id);
                self.told += 1;
                self.tell(Message::Entries(vec![entry]));
            }
            0 if !self.is_told => {
                self.is_told = true;
                let (count, bytes) = (self.told, self.bytes);
                self.tell(Message::EntriesEnd {
                    count,
                    bytes,
                    linked: 0,
                });
            }
            1 => {
                if let Some(id) = first(&self.readable) {
                    self.readable.remove(&id);
                    self.tell(Message::FileEnds(vec![id]));
                }
            }
            2 if choice > 200 => {
                if let Some(id) = first(&self.at_sender) {
                    self.at_sender.remove(&id);
                    self.readable.remove(&id);
                    self.tell(failed(Some(id)));
                }
            }
            _ => self.sender_hears(fresh),
        }
    }

    fn sender_hears(&mut self, fresh: bool) {
        let Some(message) = self.sender.inbox.pop_front() else {
            return;
        };
        match self.sender.protocol.pass(Far, message).unwrap() {
            Message::Wants(wants) => {
                for want in wants {
                    match want {
                        Want::Nothing(id) | Want::Made(id) => {
                            self.at_sender.remove(&id);
                            self.readable.remove(&id);
                        }
                        Want::Whole(id) | Want::Rest(id, _) => {
                            assert!(self.at_sender.contains(&id), "over, and wanted");
                            if !fresh {
                                self.readable.insert(id);
                            }
                        }
                    }
                }
            }
            Message::Published(published) => {
                for one in published {
                    assert!(self.at_sender.remove(&one.file), "published once");
                }
            }
            Message::Failed(Problem { file: Some(id), .. }) => {
                self.at_sender.remove(&id);
                self.readable.remove(&id);
            }
            Message::Complete => {
                assert!(self.at_sender.is_empty());
                self.heard_complete = true;
            }
            _ => (),
        }
    }

    fn receiver_acts(&mut self, choice: u8) {
        let first = |set: &BTreeSet<FileId>| {
            let place = usize::from(choice) % set.len().max(1);
            set.iter().nth(place).copied()
        };
        match choice % 5 {
            0 => {
                if let Some((id, entry)) = self.unanswered.pop_front() {
                    self.want(id, &entry, choice);
                }
            }
            1 => {
                let whole = self.read.intersection(&self.at_receiver);
                if let Some(id) = first(&whole.copied().collect()) {
                    self.read.remove(&id);
                    self.at_receiver.remove(&id);
                    self.answer(published(id));
                }
            }
            2 if choice > 200 => {
                if let Some(id) = first(&self.at_receiver) {
                    self.read.remove(&id);
                    self.at_receiver.remove(&id);
                    self.answer(failed(Some(id)));
                }
            }
            3 => {
                let size = |id| self.receiver.protocol.size(id).unwrap_or_default();
                if let Some(id) = first(&self.at_receiver).filter(|id| size(*id) > 0) {
                    self.answer(Message::Received(vec![range(id, 0, 1)]));
                }
            }
            _ => self.receiver_hears(),
        }
        let is_done = self.unanswered.is_empty() && self.at_receiver.is_empty();
        if self.knows_all && is_done && !self.is_complete {
            self.is_complete = true;
            self.answer(Message::Complete);
        }
    }

    fn want(&mut self, id: FileId, entry: &Entry, choice: u8) {
        let is_wanted = matches!(entry.kind, Kind::File(_)) && !choice.is_multiple_of(4);
        let is_open = self.receiver.protocol.size(id).is_some();
        let want = match is_wanted {
            true => Want::Whole(id),
            false => Want::Nothing(id),
        };
        if !is_wanted {
            self.read.remove(&id);
        } else if is_open {
            self.at_receiver.insert(id);
        }
        self.answer(Message::Wants(vec![want]));
    }

    fn receiver_hears(&mut self) {
        let Some(message) = self.receiver.inbox.pop_front() else {
            return;
        };
        match self.receiver.protocol.pass(Near, message).unwrap() {
            Message::Entries(entries) => {
                for entry in entries {
                    self.unanswered.push_back((self.heard_of, entry));
                    self.heard_of += 1;
                }
            }
            Message::EntriesEnd { .. } => self.knows_all = true,
            Message::FileEnds(ends) => self.read.extend(ends),
            Message::Failed(Problem { file: Some(id), .. }) => {
                self.at_receiver.remove(&id);
                self.read.remove(&id);
            }
            _ => (),
        }
        // A file may be read before it is answered: it is published after.
        let read = std::mem::take(&mut self.read);
        let is_waiting = |id: &FileId| self.unanswered.iter().any(|(other, _)| other == id);
        let is_known = |id: &FileId| self.at_receiver.contains(id) || is_waiting(id);
        self.read = read.into_iter().filter(is_known).collect();
    }
}

proptest! {
    /// Whatever crosses whatever, neither state refuses an honest end, and both come to the same
    /// end.
    #[test]
    fn honest_ends_are_never_refused(
        fresh: bool, steps in proptest::collection::vec((any::<bool>(), any::<u8>()), 0..400),
    ) {
        let mut copy = Copy::new(fresh);
        for (is_sender, choice) in steps {
            match is_sender {
                true => copy.sender_acts(choice, fresh),
                false => copy.receiver_acts(choice),
            }
        }
        for choice in (0..200).cycle().take(3000) {
            copy.sender_acts(choice, fresh);
            copy.receiver_acts(choice);
        }
        prop_assert!(copy.heard_complete);
    }
}
