//! What the sender has is compared with what is there, and what is missing is wanted.

use units::Bytes;
use wire::copying::{Entry, FileId, Kind, Message, Want};

use super::state::ReceiverState;
use crate::session::{End, Voice, protocol};
use crate::store::Answer;
use crate::tree::HashTree;

/// Parts of files in one message of wants; each takes up to 20 bytes.
const PARTS: usize = 8192;

impl ReceiverState<'_, '_> {
    pub(super) fn on_entries(&mut self, entries: Vec<Entry>, voice: &dyn Voice) -> Result<(), End> {
        let mut wants = Vec::with_capacity(entries.len());
        let mut parts = 0;
        for entry in entries {
            if let Some(asked) = &self.asked {
                asked.check(&entry).map_err(End::Problem)?;
            }
            self.chronicle.on_entry(&entry);
            let (id, answer) = self.shared.store.add(&entry);
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
                parts += rest.len();
            }
            wants.push(want);
            if parts >= PARTS {
                voice.say(Message::Wants(std::mem::take(&mut wants)));
                parts = 0;
            }
        }
        self.shared.shelf.told(self.next);
        voice.say(Message::Wants(wants));
        Ok(())
    }

    fn on_answer(&mut self, id: FileId, entry: Entry, mut answer: Answer) -> Want {
        let size = match entry.kind {
            Kind::File(size) => size,
            _ => 0,
        };
        let want = answer.want(id);
        match answer {
            Answer::Present => self.chronicle.on_present(&entry),
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
