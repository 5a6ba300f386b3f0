//! All shards from this machine, without an engine.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, PoisonError};
use std::thread;

use campaign_plan::{Campaign as Plan, GroupName, LinkName};
use campaign_store::{Mark, ShardRow, ShardRun};

use super::shard_end::{RunOptions, ShardEnd, ShardEvent};
use super::status::UnfinishedCause;
use super::watcher::{TICK, quiet};
use super::{Bag, Campaign, ShardId, listed, places};
use trunkline::{Cancel, Error, Fault};

/// Which shards are run.
#[derive(Debug, Clone, Default)]
pub struct Selection {
    /// Of this link alone.
    pub link: Option<LinkName>,
    /// Only the task of this number, of so many: shards are dealt to tasks in turn.
    pub task: Option<(u32, u32)>,
}

/// What happens while shards run.
#[derive(Debug)]
pub enum RunAllEvent<'a> {
    /// Nothing starts on a link for now, why.
    Waits(&'a LinkName, &'a str),
    /// A shard began.
    Began(&'a ShardRow),
    /// Something happened in it.
    Shard(&'a ShardRow, &'a ShardEvent<'a>),
    /// It ended.
    Ended(&'a ShardRow, &'a Result<ShardEnd, Error>),
}

/// How the shards ended.
#[derive(Debug, Default)]
pub struct Summary {
    /// Shards of which all is at the destination.
    pub done: u64,
    /// Shards with files that failed.
    pub failed: Vec<ShardId>,
    /// Shards that could not be run at all, with the first reason.
    pub refused: u64,
    /// The first reason, or why the first bag is not complete.
    pub refusal: Option<Error>,
    /// Shards that are left.
    pub left: u64,
    /// Why the first of them is.
    pub why_left: Option<Error>,
    /// Bags that are complete.
    pub bags: Vec<Bag>,
}

/// A shard waits, runs, or is over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Waits,
    Runs,
    Over,
    /// It failed, was refused or given up, or others run it: groups behind it do not begin here.
    Broken,
}

struct Shared<'a> {
    rows: Vec<ShardRow>,
    after: BTreeMap<GroupName, Vec<GroupName>>,
    /// Groups that the host with their files has not planned yet.
    unplanned: Vec<GroupName>,
    states: Mutex<Vec<State>>,
    summary: Mutex<Summary>,
    /// What was told of quiet links.
    quiet: Mutex<BTreeMap<LinkName, String>>,
    on_event: Mutex<&'a mut (dyn FnMut(RunAllEvent<'_>) + Send)>,
}

impl Campaign {
    /// Runs all shards that are not over, as many of each link at once as the plan allows, in the
    /// order of priority and deadline, each group behind those that it waits for. Shards that
    /// another process runs are left to it. Bags of which all is there then get their tag files.
    ///
    /// # Errors
    /// When the campaign cannot be read or was cancelled, or has no such link, task or host.
    pub fn run_all(
        &self,
        which: &Selection,
        options: &RunOptions,
        cancel: &Cancel,
        on_event: &mut (dyn FnMut(RunAllEvent<'_>) + Send),
    ) -> Result<Summary, Error> {
        self.check_cancelled()?;
        let plan = self.current()?;
        let rows = self.ordered_rows(&plan)?;
        self.check_host(options.host.as_deref())?;
        which.check(&rows, &plan)?;
        let after = plan
            .groups()
            .iter()
            .map(|group| (group.name.clone(), group.after.clone()));
        let mut unplanned = Vec::new();
        for group in plan.groups() {
            if !self.folder.is_planned(&group.name)? {
                unplanned.push(group.name.clone());
            }
        }
        let shared = Shared {
            states: Mutex::new(self.states(&rows, which, options)?),
            unplanned,
            rows,
            after: after.collect(),
            summary: Mutex::default(),
            quiet: Mutex::default(),
            on_event: Mutex::new(on_event),
        };
        let mut links: BTreeMap<&LinkName, u16> = BTreeMap::new();
        for row in &shared.rows {
            let copies = plan.links().get(&row.link).map_or(1, |link| link.copies);
            // Of an engine's tasks, each runs one shard at a time.
            let copies = which.task.map_or(copies, |_| 1);
            links.insert(&row.link, copies);
        }
        thread::scope(|scope| {
            for (link, copies) in links {
                for _ in 0..copies {
                    scope.spawn(|| self.work(link, &plan, &shared, options, cancel));
                }
            }
        });
        let mut summary = self.concluded(shared, which)?;
        if !cancel.is_cancelled() && !self.is_halted() {
            for bag in self.finish_bags(options, cancel)? {
                match bag {
                    Ok(bag) => summary.bags.push(bag),
                    Err(error) => {
                        summary.refusal.get_or_insert(error);
                    }
                }
            }
        }
        Ok(summary)
    }

    /// Those that are over, and those that are not chosen, do not wait; nor do those of other
    /// hosts, unless all are.
    fn states(
        &self,
        rows: &[ShardRow],
        which: &Selection,
        options: &RunOptions,
    ) -> Result<Vec<State>, Error> {
        let here = self.here(rows, options)?;
        let is_here = |row: &ShardRow| here.is_empty() || here.contains(&row.shard.group);
        let mut states = Vec::with_capacity(rows.len());
        for (row, at) in numbered(rows) {
            let result = ShardRun::of(&self.folder, row)?.result()?;
            states.push(match result {
                Some(result) if result.failed == 0 => State::Over,
                Some(_) => State::Broken,
                None if !which.has(row, at) || !is_here(row) => State::Broken,
                None => State::Waits,
            });
        }
        Ok(states)
    }

    /// The groups that this machine runs.
    fn here(&self, rows: &[ShardRow], options: &RunOptions) -> Result<Vec<GroupName>, Error> {
        let (mut here, mut seen) = (Vec::new(), Vec::new());
        for row in rows.iter().rev() {
            if !seen.contains(&row.shard.group) {
                seen.push(row.shard.group.clone());
                let group = self.group(row)?;
                if places::is_run_here(&group, options.host.as_deref()) {
                    here.push(group.name);
                }
            }
        }
        Ok(here)
    }

    fn work(
        &self,
        link: &LinkName,
        plan: &Plan,
        shared: &Shared,
        options: &RunOptions,
        cancel: &Cancel,
    ) {
        // Kept from shard to shard, and given back while the link is not used.
        let mut slot = None;
        loop {
            self.wait_while_quiet(link, plan, shared, cancel);
            let at = match shared.next(link) {
                _ if cancel.is_cancelled() => return,
                Next::Shard(at) => at,
                Next::Later => {
                    slot = None;
                    thread::sleep(TICK);
                    continue;
                }
                Next::None => return,
            };
            let row = &shared.rows[at];
            shared.tell(RunAllEvent::Began(row));
            let mut on_event = |event: ShardEvent<'_>| shared.tell(RunAllEvent::Shard(row, &event));
            let ended = self.run_row(row, options, cancel, &mut slot, &mut on_event);
            shared.tell(RunAllEvent::Ended(row, &ended));
            let next = after(&ended);
            shared.ended(at, ended, next == After::Again);
            if next == After::End {
                return;
            }
        }
    }

    /// Quiet hours are waited for; a pause has no end that is known.
    fn wait_while_quiet(&self, link: &LinkName, plan: &Plan, shared: &Shared, cancel: &Cancel) {
        let Some(link) = plan.links().get_key_value(link) else {
            return;
        };
        let mut is_told = false;
        while let Some(why) = quiet(link.1, plan) {
            if cancel.is_cancelled() || self.is_halted() {
                return;
            }
            if !std::mem::replace(&mut is_told, true) {
                shared.tell_quiet(link.0, &why);
            }
            thread::sleep(TICK);
        }
    }

    fn is_halted(&self) -> bool {
        self.folder.has(Mark::Paused) || self.folder.has(Mark::Cancelled)
    }

    fn concluded(&self, shared: Shared, which: &Selection) -> Result<Summary, Error> {
        let summary = shared.summary.into_inner();
        let mut summary = summary.unwrap_or_else(PoisonError::into_inner);
        for (row, at) in numbered(&shared.rows) {
            if !which.has(row, at) {
                continue;
            }
            match ShardRun::of(&self.folder, row)?.result()? {
                Some(result) if result.failed == 0 => summary.done += 1,
                Some(_) => summary.failed.push(row.shard.clone()),
                None => summary.left += 1,
            }
        }
        summary.left -= summary.refused.min(summary.left);
        Ok(summary)
    }
}

/// Each row with its number among those of its link.
fn numbered<'a>(rows: &'a [ShardRow]) -> Vec<(&'a ShardRow, u32)> {
    let mut next: BTreeMap<&'a LinkName, u32> = BTreeMap::new();
    let number = |row: &'a ShardRow| {
        let next = next.entry(&row.link).or_default();
        *next += 1;
        (row, *next - 1)
    };
    rows.iter().map(number).collect()
}

impl Selection {
    /// # Errors
    /// When there is no such link or task.
    fn check(&self, rows: &[ShardRow], plan: &Plan) -> Result<(), Error> {
        let mut links: BTreeSet<&LinkName> = rows.iter().map(|row| &row.link).collect();
        links.extend(plan.links().keys());
        if let Some(link) = self.link.as_ref().filter(|link| !links.contains(link)) {
            return Err(Error::wrong_request(
                format!("the campaign has no link `{link}`"),
                format!("its links are {}", listed(links)),
            ));
        }
        match self.task {
            Some((task, of)) if task >= of => Err(Error::wrong_request(
                format!("there is no task {task} of {of}"),
                format!("tasks of {of} count from 0 to {}", of.saturating_sub(1)),
            )),
            _ => Ok(()),
        }
    }

    fn has(&self, row: &ShardRow, at: u32) -> bool {
        let is_link = self.link.as_ref().is_none_or(|link| *link == row.link);
        let is_task = self.task.is_none_or(|(task, of)| at % of.max(1) == task);
        is_link && is_task
    }
}

/// What a worker does after a shard.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum After {
    /// The next shard.
    Next,
    /// The same one, or another, once more.
    Again,
    /// Nothing more.
    End,
}

/// What a worker does after a shard that ended so.
fn after(ended: &Result<ShardEnd, Error>) -> After {
    match ended {
        Ok(ShardEnd::Done(_) | ShardEnd::Failed(_)) => After::Next,
        Ok(ShardEnd::NotFinished(why)) => match why.cause {
            UnfinishedCause::Quiet => After::Again,
            UnfinishedCause::Waits | UnfinishedCause::Busy => After::Next,
            UnfinishedCause::Halted | UnfinishedCause::Lost | UnfinishedCause::Passing => {
                After::End
            }
        },
        Err(error) if error.fault() == Fault::Cancelled => After::End,
        Err(_) => After::Next,
    }
}

enum Next {
    Shard(usize),
    /// What is left waits for groups of other links.
    Later,
    None,
}

impl Shared<'_> {
    fn tell(&self, event: RunAllEvent<'_>) {
        let mut on_event = self.on_event.lock().unwrap_or_else(PoisonError::into_inner);
        (on_event)(event);
    }

    fn next(&self, link: &LinkName) -> Next {
        let mut states = self.states.lock().unwrap_or_else(PoisonError::into_inner);
        let mut is_any_left = false;
        for at in 0..self.rows.len() {
            if states[at] != State::Waits || self.rows[at].link != *link {
                continue;
            }
            match self.blocked(&states, &self.rows[at].shard.group) {
                Blocked::No => {
                    states[at] = State::Runs;
                    return Next::Shard(at);
                }
                Blocked::ForNow => is_any_left = true,
                // A group before it is broken: it stays for the next run.
                Blocked::ForGood => {}
            }
        }
        match is_any_left {
            true => Next::Later,
            false => Next::None,
        }
    }

    fn blocked(&self, states: &[State], group: &GroupName) -> Blocked {
        let after = self.after.get(group).map_or(&[][..], Vec::as_slice);
        if after.iter().any(|group| self.unplanned.contains(group)) {
            return Blocked::ForGood;
        }
        let before = self.rows.iter().zip(states);
        let mut before = before
            .filter(|(row, _)| after.contains(&row.shard.group))
            .peekable();
        let mut blocked = Blocked::No;
        for (row, state) in before.by_ref() {
            match state {
                State::Over => {}
                State::Broken => return Blocked::ForGood,
                State::Waits
                    if matches!(self.blocked(states, &row.shard.group), Blocked::ForGood) =>
                {
                    return Blocked::ForGood;
                }
                State::Waits | State::Runs => blocked = Blocked::ForNow,
            }
        }
        blocked
    }

    /// Once for each link and reason, whatever its number of copies.
    fn tell_quiet(&self, link: &LinkName, why: &str) {
        let mut told = self.quiet.lock().unwrap_or_else(PoisonError::into_inner);
        if told.insert(link.clone(), why.to_owned()).as_deref() != Some(why) {
            self.tell(RunAllEvent::Waits(link, why));
        }
    }

    fn ended(&self, at: usize, ended: Result<ShardEnd, Error>, is_tried_again: bool) {
        let mut states = self.states.lock().unwrap_or_else(PoisonError::into_inner);
        let mut summary = self.summary.lock().unwrap_or_else(PoisonError::into_inner);
        states[at] = match ended {
            Ok(ShardEnd::Done(_)) => State::Over,
            Ok(ShardEnd::Failed(_)) => State::Broken,
            Ok(ShardEnd::NotFinished(_)) if is_tried_again => State::Waits,
            Ok(ShardEnd::NotFinished(why)) => {
                summary.why_left.get_or_insert(why.error);
                State::Broken
            }
            Err(error) => {
                summary.refused += 1;
                summary.refusal.get_or_insert(error);
                State::Broken
            }
        };
    }
}

enum Blocked {
    No,
    ForNow,
    ForGood,
}
