//! Runs one shard: an idempotent task that may be ended at any moment and begun again.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Instant;

use campaign_plan::{Campaign as Plan, Gentle, GroupName, Link};
use campaign_store::{
    Entry, Failed, Fate, Kind, RunLock, ShardId, ShardResult, ShardRow, ShardRun, Slot, Slots,
    StoreError, causes,
};
use copy_protocol::{CopyEvent, CopyProgress, ProblemKind};
use files::store::has_part;
use observe::StreamCount;
use transfer::{CopyControl, CopyError, CopyObserver};
use units::{Bytes, Span};

use super::outcomes::Outcomes;
use super::places::{self, Ends, Here};
use super::retry_while_busy::Patience;
use super::shard_copy::{batches, request};
use super::status::{ShardLeft, ShardProgress, UnfinishedCause};
use super::summing::{SumReader, SumsBeside, check_names};
use super::watcher::{ENTRY, Halt, TICK, Watcher, now};
use super::{Campaign, changes, unwritable};
use trunkline::copy::{Filter, Outcome};
use trunkline::link_share::LinkShare;
use trunkline::{Cancel, Error};

/// How a shard is run.
#[derive(Debug, Clone)]
pub struct RunOptions {
    /// Which host of the plan this machine is.
    pub host: Option<String>,
    /// How long a far end may be gone or busy, or a disk full, before the run ends unfinished.
    pub patience: Span,
    /// Waits for a process that runs the same shard, instead of ending unfinished.
    pub wait: bool,
}

/// Two minutes: an engine has other shards to run meanwhile.
impl Default for RunOptions {
    fn default() -> Self {
        RunOptions {
            host: None,
            patience: Span::from_secs(120),
            wait: false,
        }
    }
}

/// How a run of a shard ended.
#[derive(Debug)]
pub enum ShardEnd {
    /// All of it is at the destination.
    Done(ShardResult),
    /// All of it was tried, and some could not be copied; the result counts them by cause.
    Failed(ShardResult),
    /// Some was not tried; the same run once more goes on.
    NotFinished(Unfinished),
}

/// Why a run of a shard ended before all of it was tried.
#[derive(Debug)]
pub struct Unfinished {
    /// What kind of reason.
    pub cause: UnfinishedCause,
    /// The same in words, with the next step.
    pub error: Error,
}

impl Unfinished {
    fn new(cause: UnfinishedCause, error: impl Into<Error>) -> Self {
        Unfinished {
            cause,
            error: error.into(),
        }
    }
}

/// What happens while a shard runs.
#[derive(Debug)]
pub enum ShardEvent<'a> {
    /// It waits, for what.
    Waiting(&'a str),
    /// Its result is damaged, and it is run again.
    Damaged(&'a str),
    /// It copies so many names.
    Copying {
        /// Names that are left.
        names: u64,
        /// Bytes of their files.
        bytes: Bytes,
    },
    /// What the copy told.
    Copy(&'a CopyEvent),
}

/// Something that keeps a shard from being finished, or an error.
enum Stop {
    Halt(Halt),
    Unfinished(Unfinished),
    Error(Error),
}

impl From<Error> for Stop {
    fn from(error: Error) -> Self {
        Stop::Error(error)
    }
}

impl From<StoreError> for Stop {
    fn from(error: StoreError) -> Self {
        let cause = match error {
            StoreError::Busy { .. } => UnfinishedCause::Waits,
            _ if error.may_pass() => UnfinishedCause::Passing,
            _ => return Stop::Error(error.into()),
        };
        Stop::Unfinished(Unfinished::new(cause, error))
    }
}

type OnEvent<'a> = dyn FnMut(ShardEvent<'_>) + 'a;

impl Campaign {
    /// Runs a shard, or goes on with it. What is at the destination is not sent again, and where
    /// all of it is, nothing happens.
    ///
    /// # Errors
    /// When it cannot be run: no such shard, both ends elsewhere, a campaign that was cancelled, a
    /// folder that cannot be written. Files that could not be copied are no error.
    pub fn run_shard(
        &self,
        shard: &ShardId,
        options: &RunOptions,
        cancel: &Cancel,
        on_event: &mut OnEvent<'_>,
    ) -> Result<ShardEnd, Error> {
        self.check_cancelled()?;
        self.check_host(options.host.as_deref())?;
        let row = self.folder.shard(shard)?;
        self.run_row(&row, options, cancel, &mut None, on_event)
    }

    /// A group that `group` waits for and that is not done.
    fn unfinished_before(
        &self,
        plan: &Plan,
        group: &GroupName,
    ) -> Result<Option<GroupName>, Error> {
        let after = plan
            .group(group.as_str())
            .map_or(&[][..], |group| &group.after);
        if after.is_empty() {
            return Ok(None);
        }
        for before in after {
            if !self.folder.is_planned(before)? {
                return Ok(Some(before.clone()));
            }
        }
        for row in self.folder.shards()? {
            if after.contains(&row.shard.group) {
                let result = ShardRun::of(&self.folder, &row)?.result()?;
                if result.is_none_or(|result| result.failed > 0) {
                    return Ok(Some(row.shard.group));
                }
            }
        }
        Ok(None)
    }

    /// * `kept`: the slot of the link that the shard before it had. The next one gets it.
    pub(super) fn run_row(
        &self,
        row: &ShardRow,
        options: &RunOptions,
        cancel: &Cancel,
        kept: &mut Option<Slot>,
        on_event: &mut OnEvent<'_>,
    ) -> Result<ShardEnd, Error> {
        let (current, plan) = (self.current()?, self.plan_of(row)?);
        let link = self.link(&current, &plan, row)?;
        let group = self.group(row)?;
        if let Some(before) = self.unfinished_before(&current, &row.shard.group)? {
            let waits = waits(&row.shard.group, &before);
            let waits = Unfinished::new(UnfinishedCause::Waits, waits);
            return Ok(ShardEnd::NotFinished(waits));
        }
        let draw = || places::ends(&plan, &group, options.host.as_deref(), options.patience);
        let present = current.group(row.shard.group.as_str());
        let ends = draw()?;
        // `bag` of the plan in force counts, also for shards that were cut before it was written.
        let bag = present.filter(|now| now.to == group.to);
        let sums = bag.map_or(Ok(None), |group| SumReader::of(group, &ends.here))?;
        let mut running = Running {
            watcher: Watcher {
                folder: &self.folder,
                plan: &current,
                link: &link,
                slots: &Slots::of(&self.folder, &row.link, link.copies),
                cancel,
            },
            run: ShardRun::of(&self.folder, row)?,
            row,
            link: &link,
            weight: present
                .map_or(group.priority, |group| group.priority)
                .into(),
            ends,
            draw: &draw,
            sums,
            began: now(),
        };
        match running.run(options, kept, on_event) {
            Ok(result) if result.failed == 0 => Ok(ShardEnd::Done(result)),
            Ok(result) => Ok(ShardEnd::Failed(result)),
            Err(Stop::Halt(Halt::Cancelled)) => self.check_cancelled().map(|()| unreachable_end()),
            Err(Stop::Halt(halt)) => Ok(ShardEnd::NotFinished(halted(halt))),
            Err(Stop::Unfinished(why)) => {
                running.note(&why);
                Ok(ShardEnd::NotFinished(why))
            }
            Err(Stop::Error(error)) => Err(error),
        }
    }
}

fn waits(group: &GroupName, before: &GroupName) -> Error {
    Error::unfinished(
        format!("group `{group}` comes after `{before}`, which is not done"),
        "run the same command again once it is".to_owned(),
    )
}

/// The mark was removed between two looks.
fn unreachable_end() -> ShardEnd {
    ShardEnd::NotFinished(halted(Halt::Asked))
}

fn halted(halt: Halt) -> Unfinished {
    let (cause, what, hint) = match halt {
        Halt::Asked | Halt::Cancelled => (
            UnfinishedCause::Halted,
            "stopped before its end".to_owned(),
            "run the same command again to resume; what has arrived is not sent again",
        ),
        Halt::Paused => (
            UnfinishedCause::Halted,
            "the campaign is paused".to_owned(),
            "`trunkline campaign resume` ends the pause; then run the same command again",
        ),
        Halt::Quiet(until) => (
            UnfinishedCause::Quiet,
            format!("its link is {until}"),
            "run the same command again after that",
        ),
    };
    Unfinished::new(cause, Error::unfinished(what, hint.to_owned()))
}

struct Running<'a> {
    watcher: Watcher<'a>,
    run: ShardRun,
    row: &'a ShardRow,
    link: &'a Link,
    /// Parts of the link's streams: the priority of the group.
    weight: u16,
    ends: Ends,
    /// Draws an address of the far host anew, where it has several.
    draw: &'a dyn Fn() -> Result<Ends, Error>,
    /// Reads checksums, where the group is a bag.
    sums: Option<SumReader>,
    /// In seconds since 1970.
    began: i64,
}

/// What a run adds up to.
#[derive(Default)]
struct Sum {
    done: BTreeMap<Vec<u8>, Entry>,
    failed: Vec<Failed>,
    superseded: u64,
    sent: u64,
    sent_again: u64,
}

impl Running<'_> {
    fn run(
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
        while let Some(why) = self.try_all(&mut sum, kept, on_event)? {
            on_event(ShardEvent::Waiting(&why.error.what()));
            self.note(&why);
            if !patience.wait(|| self.watcher.halt().is_some()) {
                let halt = self.watcher.halt().map(Stop::Halt);
                return Err(halt.unwrap_or(Stop::Unfinished(why)));
            }
            self.ends = (self.draw)()?;
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
        let is_halted = || self.watcher.cancel.is_cancelled();
        let Some(failed) = sums.complete(&self.run, &sum.done, &is_halted)? else {
            return Err(Stop::Halt(Halt::Asked));
        };
        for one in failed {
            sum.done.remove(&one.entry.name);
            sum.failed.push(one);
        }
        Ok(())
    }

    /// Writes down why the shard is not finished, for `status`. Nothing depends on it.
    fn note(&self, why: &Unfinished) {
        let _ = self.run.note_unfinished(&ShardLeft {
            shard: self.row.shard.clone(),
            at: now(),
            cause: why.cause,
            what: why.error.what(),
        });
    }

    /// Copies what is left. Returns what may pass and kept some of it from being copied.
    fn try_all(
        &self,
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

    fn is_as_planned(&self, entry: &Entry, failed: &mut Vec<Failed>) -> bool {
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
        loop {
            if let Some(halt) = self.watcher.halt() {
                return Err(Stop::Halt(halt));
            }
            if let Some(slot) = kept.take() {
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
            thread::sleep(TICK);
        }
    }

    fn copy_all(
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
            sums.finish(&|| self.watcher.cancel.is_cancelled() || result.is_err())?;
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

fn add_sent(sum: &mut Sum, copied: &Outcome) {
    sum.sent += copied.sent.get();
    sum.sent_again += copied.sent_again.get();
}

/// A copy that ended before its end: who ended it, and whether the same once more goes on.
fn ended(error: CopyError, halt: Option<Halt>) -> Stop {
    match &error {
        CopyError::Cancelled { .. } => Stop::Halt(halt.unwrap_or(Halt::Asked)),
        CopyError::Problem { .. } if halt.is_some() => Stop::Halt(halt.unwrap_or(Halt::Asked)),
        CopyError::Lost { .. } => Stop::Unfinished(Unfinished::new(UnfinishedCause::Lost, error)),
        other => match passing_cause(other) {
            Some(cause) => Stop::Unfinished(Unfinished::new(cause, error)),
            None => Stop::Error(error.into()),
        },
    }
}

/// Why the same copy may succeed a little later.
pub(super) fn passing_cause(error: &CopyError) -> Option<UnfinishedCause> {
    match error {
        CopyError::Unreachable { .. } => Some(UnfinishedCause::Passing),
        CopyError::Busy { .. } => Some(UnfinishedCause::Busy),
        CopyError::Problem { kind, .. } => UnfinishedCause::of(*kind),
        // A far end that was lost was waited for.
        CopyError::Lost { .. } | CopyError::Cancelled { .. } => None,
    }
}

/// A name that could not be copied for now.
fn passing_trouble(fate: &Fate) -> Option<Stop> {
    let cause = UnfinishedCause::of(fate.cause)?;
    let hint = fate.hint.clone();
    let hint = hint.unwrap_or_else(|| "run the same command again once that is over".to_owned());
    let error = Error::unfinished(fate.what.clone(), hint);
    Some(Stop::Unfinished(Unfinished::new(cause, error)))
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
