//! Compares the sender's entries with the destination, and asks for what is missing.

use units::Bytes;
use wire::copying::{Entry, FileId, Kind, Message, Problem, Want};

use super::state::ReceiverState;
use crate::session::{End, Voice, protocol};
use crate::store::Answer;
use crate::tree::HashTree;

/// Parts of files in one message of wants; each takes up to 20 bytes.
const PARTS: usize = 8192;
/// Wants that are gathered before they are said.
const WANTS: usize = 512;

impl ReceiverState<'_, '_> {
    pub(super) fn on_entries(&mut self, entries: Vec<Entry>, voice: &dyn Voice) -> Result<(), End> {
        for entry in &entries {
            if let Some(asked) = &self.asked {
                asked.check(entry).map_err(End::Problem)?;
            }
            self.chronicle.on_entry(entry);
            self.told += 1;
        }
        if let Some(comparer) = &self.comparer {
            comparer.take(entries);
            return Ok(());
        }
        for entry in entries {
            let (id, answer) = self.shared.store.add(&entry);
            self.on_answered(entry, id, answer, voice)?;
        }
        self.say_wants(voice);
        Ok(())
    }

    /// The plan for an entry is known.
    pub(super) fn on_answered(
        &mut self,
        entry: Entry,
        id: FileId,
        answer: Result<Answer, Problem>,
        voice: &dyn Voice,
    ) -> Result<(), End> {
        if id != self.next {
            return Err(protocol(format!("entry {} became {id}", self.next)));
        }
        self.next += 1;
        let want = match answer {
            Ok(answer) => self.on_answer(id, entry, answer),
            Err(problem) if problem.file.is_none() => return Err(End::Problem(problem)),
            Err(problem) => {
                self.fail(Some(&entry), problem, voice)?;
                Want::Nothing(id)
            }
        };
        if let Want::Rest(_, rest) = &want {
            self.wanted_parts += rest.len();
        }
        self.wants.push(want);
        if self.wanted_parts >= PARTS || self.wants.len() >= WANTS {
            self.say_wants(voice);
        }
        Ok(())
    }

    /// Sends what was gathered.
    pub(super) fn say_wants(&mut self, voice: &dyn Voice) {
        self.shared.shelf.told(self.next);
        if !self.wants.is_empty() {
            voice.say(Message::Wants(std::mem::take(&mut self.wants)));
            self.wanted_parts = 0;
        }
    }

    fn on_answer(&mut self, id: FileId, entry: Entry, mut answer: Answer) -> Want {
        let size = match entry.kind {
            Kind::File(size) => size,
            _ => 0,
        };
        let want = answer.want(id);
        match answer {
            Answer::Present => self.chronicle.on_present(&entry),
            Answer::Made if self.is_dry => self.chronicle.on_would_copy(&entry, Bytes::ZERO),
            Answer::Made => self.chronicle.on_published(&entry, None),
            Answer::Whole | Answer::Rest(_) if self.is_dry => {
                self.chronicle.on_would_copy(&entry, Bytes::new(size));
            }
            Answer::Whole => {
                self.shared.shelf.expect(id, HashTree::new(size), size);
                self.unfinished.insert(id, entry);
            }
            Answer::Rest(rest) => {
                self.chronicle.on_part_present(rest.bytes());
                let growing = self.shared.shelf.expect(id, HashTree::new(size), size);
                self.shared.rereader.take(id, growing, rest.noted);
                self.unfinished.insert(id, entry);
            }
        }
        want
    }
}
