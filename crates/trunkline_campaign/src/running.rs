//! A run of a shard: an idempotent task that may be ended at any moment and begun again.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::thread;
use std::time::Instant;

use campaign_plan::Link;
use campaign_store::{
    Entry, Failed, RunLock, ShardResult, ShardRow, ShardRun, Slot, StoreError, causes,
};

use super::changes;
use super::places::{Ends, Here};
use super::retry_while_busy::Patience;
use super::shard_end::{OnEvent, RunOptions, ShardEvent, Stop, Unfinished};
use super::status::ShardLeft;
use super::summing::{SumReader, check_names};
use super::watcher::{ENTRY, Halt, TICK, Watcher, now};
use trunkline::Error;

/// A shard that is run now.
pub(super) struct Running<'a> {
    pub watcher: Watcher<'a>,
    pub run: ShardRun,
    pub row: &'a ShardRow,
    pub link: &'a Link,
    /// Parts of the link's streams: the priority of the group.
    pub weight: u16,
    pub ends: Ends,
    /// The ends, by the address of the far host whose turn it is.
    pub ends_at: &'a dyn Fn(u64) -> Result<Ends, Error>,
    /// Reads checksums, where the group is a bag.
    pub sums: Option<SumReader>,
    /// In seconds since 1970.
    pub began: i64,
}

/// What a run adds up to.
#[derive(Default)]
pub(super) struct Sum {
    pub done: BTreeMap<Vec<u8>, Entry>,
    pub failed: Vec<Failed>,
    pub superseded: u64,
    pub sent: u64,
    pub sent_again: u64,
}

impl Running<'_> {
    pub(super) fn run(
        &mut self,
        options: &RunOptions,
        kept: &mut Option<Slot>,
        on_event: &mut OnEvent<'_>,
    ) -> Result<ShardResult, Stop> {
        let _lock = self.lock(options, on_event)?;
        if let Some(damage) = self.run.damage() {
            on_event(ShardEvent::Damaged(&damage));
        }
        let before = self.run.result()?;
        if let Some(result) = before.as_ref().filter(|result| result.failed == 0) {
            return Ok(result.clone());
        }
        if self.sums.is_some() {
            let superseded = self.run.superseded()?;
            let mut planned = self.run.planned()?;
            planned.retain(|entry| !superseded.contains(&entry.name));
            check_names(&planned)?;
        }
        let mut patience = Patience::new(options.patience);
        let mut sum = Sum::default();
        let mut tries = 0;
        while let Some(why) = self.try_all(tries, &mut sum, kept, on_event)? {
            on_event(ShardEvent::Waiting(&why.error.what()));
            self.note(&why);
            if !patience.wait(|| self.watcher.halt().is_some()) {
                let halt = self.watcher.halt().map(Stop::Halt);
                return Err(halt.unwrap_or(Stop::Unfinished(why)));
            }
            tries += 1;
        }
        self.complete_sums(&mut sum)?;
        let before = match before {
            Some(before) => Some(before),
            None => self.run.earlier()?,
        };
        Ok(self.finish(sum, before)?)
    }

    /// What has no checksums for its bag is not done.
    fn complete_sums(&self, sum: &mut Sum) -> Result<(), Stop> {
        let Some(sums) = &self.sums else {
            return Ok(());
        };
        // It is asked at each block that is read, and files of the campaign's folder answer.
        let looked = Cell::new(Instant::now());
        let is_halted = || {
            let is_due = looked.get().elapsed() >= TICK;
            if is_due {
                looked.set(Instant::now());
            }
            self.watcher.cancel.is_cancelled() || (is_due && self.reading_halt().is_some())
        };
        // What a later plan has otherwise is not read: the source may have that already.
        let superseded = self.run.superseded()?;
        let done = sum.done.values();
        let done = done.filter(|entry| !superseded.contains(&entry.name));
        let Some(failed) = sums.complete(&self.run, done, &is_halted)? else {
            return Err(Stop::Halt(self.reading_halt().unwrap_or(Halt::Asked)));
        };
        for one in failed {
            sum.done.remove(&one.entry.name);
            sum.failed.push(one);
        }
        Ok(())
    }

    /// Why nothing may be read: quiet hours are about what is sent.
    pub(super) fn reading_halt(&self) -> Option<Halt> {
        let halt = self.watcher.halt();
        halt.filter(|halt| !matches!(halt, Halt::Quiet(_)))
    }

    /// Writes down why the shard is not finished, for `status`. Nothing depends on it.
    pub(super) fn note(&self, why: &Unfinished) {
        let _ = self.run.note_unfinished(&ShardLeft {
            shard: self.row.shard.clone(),
            at: now(),
            cause: why.cause,
            what: why.error.what(),
        });
    }

    /// Copies what is left. Returns what may pass and kept some of it from being copied.
    fn try_all(
        &mut self,
        tries: u64,
        sum: &mut Sum,
        kept: &mut Option<Slot>,
        on_event: &mut OnEvent<'_>,
    ) -> Result<Option<Unfinished>, Stop> {
        *sum = Sum {
            sent: sum.sent,
            sent_again: sum.sent_again,
            ..Sum::default()
        };
        let todo = self.todo(sum)?;
        if todo.is_empty() {
            return Ok(None);
        }
        let slot = self.slot(kept, on_event)?;
        // Copies at a time go to servers in turn, and each try to the next one.
        self.ends = (self.ends_at)(u64::from(slot.number()) + tries)?;
        match self.copy_all(todo, &slot, sum, on_event) {
            Err(Stop::Unfinished(why)) if why.cause.is_waited_for() => Ok(Some(why)),
            copied => {
                copied?;
                *kept = Some(slot);
                Ok(None)
            }
        }
    }

    fn lock(&self, options: &RunOptions, on_event: &mut OnEvent<'_>) -> Result<RunLock, Stop> {
        let mut is_told = false;
        loop {
            if let Some(halt) = self.watcher.halt() {
                return Err(Stop::Halt(halt));
            }
            match self.run.lock() {
                Err(error @ StoreError::Busy { .. }) if options.wait => {
                    if !std::mem::replace(&mut is_told, true) {
                        on_event(ShardEvent::Waiting(&error.to_string()));
                    }
                    thread::sleep(TICK);
                }
                locked => return Ok(locked?),
            }
        }
    }

    /// Entries still to copy: not done, not changed, not superseded.
    fn todo(&self, sum: &mut Sum) -> Result<Vec<Entry>, Stop> {
        let superseded = self.run.superseded()?;
        let mut noted = self.run.noted()?;
        let mut todo = Vec::new();
        for entry in self.run.planned()? {
            match noted.remove(&entry.name) {
                Some(done) if done.is_like(&entry) => {
                    drop(sum.done.insert(done.name.clone(), done))
                }
                _ if superseded.contains(&entry.name) => sum.superseded += 1,
                _ => todo.push(entry),
            }
        }
        if let Here::Source(_) = self.ends.here {
            todo.retain(|entry| self.is_as_planned(entry, &mut sum.failed));
        }
        Ok(todo)
    }

    pub(super) fn is_as_planned(&self, entry: &Entry, failed: &mut Vec<Failed>) -> bool {
        let folder = self.ends.here.folder();
        let mut fate = folder.and_then(|folder| changes::difference(folder, entry));
        // It was copied, and its part is not that of the planned file.
        if entry.part.is_some() && matches!(self.ends.here, Here::Destination(_)) {
            fate = fate.map(|_| changes::changed(entry, "it was written to since"));
        }
        let is_same = fate.is_none();
        failed.extend(fate.map(|fate| Failed {
            entry: entry.clone(),
            fate,
        }));
        is_same
    }

    fn slot(&self, kept: &mut Option<Slot>, on_event: &mut OnEvent<'_>) -> Result<Slot, Stop> {
        let mut is_told = false;
        let mut wait = None;
        loop {
            if let Some(halt) = self.watcher.halt() {
                return Err(Stop::Halt(halt));
            }
            if let Some(slot) = kept.take().and_then(|slot| self.watcher.slots.keep(slot)) {
                return Ok(slot);
            }
            if let Some(slot) = self.watcher.slots.take()? {
                // Alone, it takes nothing from others.
                if self.link.rate.is_some() && self.watcher.slots.held() > 1 {
                    thread::sleep(ENTRY);
                }
                return Ok(slot);
            }
            if !std::mem::replace(&mut is_told, true) {
                let what = format!(
                    "{} copies run on link `{}`, as many as it takes",
                    self.link.copies, self.row.link
                );
                on_event(ShardEvent::Waiting(&what));
            }
            if wait.is_none() {
                wait = self.watcher.slots.wait()?;
            }
            thread::sleep(TICK);
        }
    }

    fn finish(&self, sum: Sum, before: Option<ShardResult>) -> Result<ShardResult, StoreError> {
        let (sent, sent_again, rounds) = before.map_or((0, 0, 0), |before| {
            (before.sent, before.sent_again, before.rounds)
        });
        let done = &sum.done;
        self.run
            .finish(done, &sum.failed, |done_digest| ShardResult {
                shard: self.row.shard.clone(),
                link: self.row.link.clone(),
                done: done.len() as u64,
                superseded: sum.superseded,
                failed: sum.failed.len() as u64,
                causes: causes(&sum.failed),
                bytes: done.values().map(Entry::bytes).sum(),
                sent: sent + sum.sent,
                sent_again: sent_again + sum.sent_again,
                began: self.began,
                ended: now(),
                rounds: rounds + 1,
                done_digest,
            })
    }
}
