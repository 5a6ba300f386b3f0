//! Compares the sender's entries with the destination, and asks for what is missing.

use copy_protocol::{Entry, FileId, Kind, Message, Problem, Want};
use units::Bytes;

use super::state::ReceiverState;
use crate::session::{Outbox, SessionEnd, protocol};
use files::store::EntryPlan;

/// Parts of files in one message of wants; each takes up to 20 bytes.
const PARTS: usize = 8192;
/// Wants that are gathered before they are said.
const WANTS: usize = 512;

impl ReceiverState<'_, '_> {
    pub(super) fn on_entries(
        &mut self,
        entries: Vec<Entry>,
        outbox: &dyn Outbox,
    ) -> Result<(), SessionEnd> {
        for entry in &entries {
            if let Some(asked) = &self.asked {
                asked.check(entry).map_err(SessionEnd::Problem)?;
            }
            self.stats.on_entry(entry);
            self.told += 1;
        }
        if let Some(comparer) = &self.comparer {
            comparer.take(entries);
            return Ok(());
        }
        for entry in entries {
            let (id, plan) = self.shared.store.add(&entry);
            self.on_answered(entry, id, plan, outbox)?;
        }
        self.say_wants(outbox);
        Ok(())
    }

    /// The plan for an entry is known.
    pub(super) fn on_answered(
        &mut self,
        entry: Entry,
        id: FileId,
        plan: Result<EntryPlan, Problem>,
        outbox: &dyn Outbox,
    ) -> Result<(), SessionEnd> {
        if id != self.next {
            return Err(protocol(format!("entry {} became {id}", self.next)));
        }
        self.next += 1;
        let want = match plan {
            Ok(plan) => self.on_answer(id, entry, plan),
            Err(problem) if problem.file.is_none() => return Err(SessionEnd::Problem(problem)),
            Err(problem) => {
                self.fail(Some(&entry), problem, outbox)?;
                Want::Nothing(id)
            }
        };
        if let Want::Rest(_, rest) = &want {
            self.wanted_parts += rest.len();
        }
        self.wants.push(want);
        if self.wanted_parts >= PARTS || self.wants.len() >= WANTS {
            self.say_wants(outbox);
        }
        Ok(())
    }

    /// Sends what was gathered.
    pub(super) fn say_wants(&mut self, outbox: &dyn Outbox) {
        self.shared.files.told(self.next);
        if !self.older.is_empty() {
            outbox.send(Message::Older(std::mem::take(&mut self.older)));
        }
        if !self.wants.is_empty() {
            outbox.send(Message::Wants(std::mem::take(&mut self.wants)));
            self.wanted_parts = 0;
        }
    }

    fn on_answer(&mut self, id: FileId, entry: Entry, mut plan: EntryPlan) -> Want {
        let size = match entry.kind {
            Kind::File(size) => size,
            _ => 0,
        };
        let want = plan.want(id);
        if matches!(plan, EntryPlan::Whole | EntryPlan::Rest(_)) && !self.is_dry {
            let older = self.shared.store.older_bytes(id);
            self.older.extend(older.map(|bytes| (id, bytes)));
            if let Some(bytes) = older {
                self.moved.told(id, bytes);
            }
        }
        match plan {
            EntryPlan::Present => self.stats.on_present(&entry),
            EntryPlan::Made if self.is_dry => self.stats.on_would_copy(&entry, Bytes::ZERO),
            EntryPlan::Made => {
                // The content of a further name of a file comes with the first one.
                self.stats.on_part_present(size);
                self.stats.on_published(&entry, None);
            }
            EntryPlan::Whole | EntryPlan::Rest(_) if self.is_dry => {
                self.stats.on_would_copy(&entry, Bytes::new(size));
            }
            EntryPlan::Whole => {
                self.shared
                    .files
                    .expect(id, self.shared.store.tree(size), size);
                self.unfinished.insert(id, entry);
            }
            EntryPlan::Rest(rest) => {
                self.stats.on_part_present(rest.bytes());
                let growing = self
                    .shared
                    .files
                    .expect(id, self.shared.store.tree(size), size);
                self.shared.rereader.take(id, growing, rest.noted);
                self.unfinished.insert(id, entry);
            }
        }
        want
    }
}
