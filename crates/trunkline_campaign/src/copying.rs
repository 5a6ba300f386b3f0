//! The copies of a shard that runs, and what they come to.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use campaign_plan::Gentle;
use campaign_store::{Entry, Fate, Kind, ShardRow, ShardRun, Slot};
use copy_protocol::{CopyEvent, CopyProgress, ProblemKind};
use files::store::has_part;
use observe::StreamCount;
use transfer::{CopyControl, CopyError, CopyObserver};
use units::Bytes;

use super::outcomes::Outcomes;
use super::places::Here;
use super::running::{Running, Sum};
use super::shard_copy::{batches, request};
use super::shard_end::{OnEvent, ShardEvent, Stop, ended, passing_trouble};
use super::status::ShardProgress;
use super::summing::SumsBeside;
use super::watcher::{Halt, now};
use super::{changes, unwritable};
use trunkline::copy::{Filter, Outcome};
use trunkline::link_share::LinkShare;

impl Running<'_> {
    pub(super) fn copy_all(
        &self,
        todo: Vec<Entry>,
        slot: &Slot,
        sum: &mut Sum,
        on_event: &mut OnEvent<'_>,
    ) -> Result<(), Stop> {
        if let Here::Destination(here) = &self.ends.here {
            fs::create_dir_all(here).map_err(|error| unwritable(here, error))?;
        }
        let bytes = todo.iter().map(Entry::bytes).sum();
        on_event(ShardEvent::Copying {
            names: todo.len() as u64,
            bytes: Bytes::new(bytes),
        });
        let refuted = self.refuted()?;
        let is_refuted = |entry: &Entry| refuted.contains(&entry.name);
        let (refuted, others): (Vec<_>, Vec<_>) = todo.into_iter().partition(is_refuted);
        // Each part would compare all of the file. Its journal knows what is there of it.
        let again = match refuted.iter().any(|entry| entry.part.is_some()) {
            true => Filter::All,
            false => Filter::Content,
        };
        for (entries, filter) in [(others, Filter::Changed), (refuted, again)] {
            if entries.is_empty() {
                continue;
            }
            for batch in batches(entries, &self.ends.here) {
                self.copy(batch, filter, slot, sum, on_event)?;
            }
        }
        Ok(())
    }

    /// Names of which the destination had other content under the same size and time: only a
    /// comparison of contents tells whether they have to be sent.
    fn refuted(&self) -> Result<BTreeSet<Vec<u8>>, Stop> {
        let failed = self.run.failed()?.into_iter();
        let refuted = failed.filter(|one| one.fate.cause == ProblemKind::Corrupt);
        Ok(refuted.map(|one| one.entry.name).collect())
    }

    fn copy(
        &self,
        batch: Vec<Entry>,
        filter: Filter,
        slot: &Slot,
        sum: &mut Sum,
        on_event: &mut OnEvent<'_>,
    ) -> Result<(), Stop> {
        let request = request(&self.ends, self.link, &batch, filter, self.watcher.share())?;
        let control = CopyControl::default();
        let mut notes = self.run.notes()?;
        let sums = match &self.sums {
            Some(sums) => Some(sums.beside(self.run.sum_notes()?)),
            None => None,
        };
        let newest = Mutex::new(None);
        let mut telling = Telling {
            newest: &newest,
            outcomes: Outcomes::new(batch, &mut notes),
            sums: sums.as_ref(),
            run: &self.run,
            row: self.row,
            done_before: sum.done.len() as u64,
            told: None,
            began: self.began,
            on_event,
        };
        let copying = || transfer::copy(&request.spec, &control, &mut telling);
        let mut share = self.link_share(slot);
        let look = || {
            let told = *newest.lock().unwrap_or_else(PoisonError::into_inner);
            if let (Some(share), Some(progress)) = (&mut share, told) {
                share.look(&control, progress);
            }
        };
        let (copied, halt) = self.watcher.beside(&control, look, copying);
        let Telling { mut outcomes, .. } = telling;
        let trouble = outcomes.trouble.take();
        let result = self.account(copied, outcomes, halt, sum);
        notes.flush()?;
        if let Some(sums) = sums {
            sums.finish(&|| result.is_err() || self.reading_halt().is_some())?;
        }
        match trouble {
            Some(error) => Err(error.into()),
            None => result,
        }
    }

    /// Adds up what a copy came to.
    fn account(
        &self,
        copied: Result<Outcome, CopyError>,
        outcomes: Outcomes<'_>,
        halt: Option<Halt>,
        sum: &mut Sum,
    ) -> Result<(), Stop> {
        match copied {
            Ok(copied) => {
                add_sent(sum, &copied);
                let (done, failed) = outcomes.concluded();
                let passing = failed.iter().find_map(|one| passing_trouble(&one.fate));
                sum.failed.extend(failed);
                self.keep_unchanged(done, sum);
                passing.map_or(Ok(()), Err)
            }
            Err(CopyError::Problem {
                kind: ProblemKind::NotFound,
                what,
                ..
            }) if self.ends.here.sends_elsewhere() => {
                // The source has none of them any more.
                let fate = Fate {
                    cause: ProblemKind::NotFound,
                    what,
                    hint: changes::gone_hint(),
                };
                sum.failed.extend(outcomes.all_failed(&fate));
                Ok(())
            }
            Err(error) => Err(ended(error, halt)),
        }
    }

    /// A gentle copy gives way by itself. One that has more streams than one search may choose is
    /// not searched for.
    fn link_share(&self, slot: &Slot) -> Option<LinkShare<'_>> {
        let streams = self.link.streams.map(|all| StreamCount::new(all.into()));
        let streams = streams.transpose().ok()?;
        let is_shared = self.link.gentle == Gentle::No;
        is_shared.then(|| LinkShare::new(self.watcher.slots, slot, self.weight, streams))
    }

    /// Checks local files again; changed ones become failures. Of third-party copies, [`Outcomes`]
    /// compares sizes.
    fn keep_unchanged(&self, done: BTreeMap<Vec<u8>, Entry>, sum: &mut Sum) {
        for (name, entry) in done {
            // A folder's time is that of its last new name, on both ends.
            // A part is looked for first: with the last one the file has its name, and no parts.
            if self.has_part(&entry) || self.is_as_planned(&entry, &mut sum.failed) {
                sum.done.insert(name, entry);
            }
        }
    }

    /// Whether a part of the file as it was planned waits at the destination, which is here.
    fn has_part(&self, entry: &Entry) -> bool {
        let (Here::Destination(folder), Some(part)) = (&self.ends.here, entry.part) else {
            return false;
        };
        let path = folder.join(OsStr::from_bytes(&entry.name));
        matches!(entry.kind, Kind::File(size)
            if has_part(&path, size, entry.modified_nanoseconds, part))
    }
}

fn add_sent(sum: &mut Sum, copied: &Outcome) {
    sum.sent += copied.sent.get();
    sum.sent_again += copied.sent_again.get();
}

/// Passes on what the copy tells, and writes down how far it is.
struct Telling<'a, 'n> {
    newest: &'a Mutex<Option<CopyProgress>>,
    outcomes: Outcomes<'n>,
    sums: Option<&'a SumsBeside>,
    run: &'a ShardRun,
    row: &'a ShardRow,
    done_before: u64,
    told: Option<Instant>,
    /// When this run began, in seconds since 1970.
    began: i64,
    on_event: &'a mut OnEvent<'a>,
}

impl CopyObserver for Telling<'_, '_> {
    fn on_event(&mut self, event: &CopyEvent) {
        self.outcomes.on_event(event);
        if let (Some(sums), CopyEvent::Published { name, .. }) = (self.sums, event)
            && let Some(entry) = self.outcomes.done.get(name.as_bytes())
        {
            sums.give(entry);
        }
        if let CopyEvent::Progress(progress) = event {
            let newest = Some(*progress);
            *self.newest.lock().unwrap_or_else(PoisonError::into_inner) = newest;
            let is_due = self
                .told
                .is_none_or(|told| told.elapsed().as_millis() >= 900);
            if is_due {
                self.told = Some(Instant::now());
                let done = self.done_before + self.outcomes.done.len() as u64;
                let progress = ShardProgress::of(self.row, progress, done, [self.began, now()]);
                // Notes in the same folder tell if it cannot be written.
                let _ = self.run.tell(&progress);
            }
        }
        (self.on_event)(ShardEvent::Copy(event));
    }
}
