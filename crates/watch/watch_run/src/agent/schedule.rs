//! Which visits begin now, by the clock of this host, which may be set at any time.

use std::collections::{BTreeSet, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use changes::UnixTime;
use watch_plan::{Due, HostName, Planned, TaskName, Timetable, Why};

use crate::agent::Followed;

/// Visits of so many seconds are looked up at once.
const AHEAD: i64 = 300;
/// How late a visit may begin: within the pause after the one before, others do not meet it.
const LATE_MAX: i64 = 2;
/// A clock that went on by more than this between two looks was set, or the host slept.
const STEP: i64 = 5;

/// The visits of this machine, and the time up to which they have been looked up.
#[derive(Debug)]
pub(crate) struct Schedule {
    timetable: Arc<Timetable>,
    hosts: Vec<HostName>,
    /// Visits before this have begun, are upcoming or are missed.
    cursor: i64,
    looked: i64,
    upcoming: VecDeque<Planned>,
    /// Tasks whose latest visit was skipped.
    quiet: BTreeSet<TaskName>,
}

/// What is to be done next.
#[derive(Debug, PartialEq)]
pub(crate) enum Step {
    /// This visit begins.
    Begin(Due),
    /// Visits of this task are skipped from now on.
    Quiet(TaskName, Why),
    /// So many could not begin at their time.
    Missed(usize),
    /// The clock was set, forward by so many seconds.
    Stepped(i64),
    /// Nothing, for so long.
    Wait(Duration),
}

impl Schedule {
    /// Visits from `now` on.
    pub fn new(plan: Followed, now: UnixTime) -> Self {
        let now = seconds(now);
        Schedule {
            timetable: Arc::new(plan.timetable),
            hosts: plan.hosts,
            cursor: now,
            looked: now,
            upcoming: VecDeque::new(),
            quiet: BTreeSet::new(),
        }
    }

    pub fn timetable(&self) -> Arc<Timetable> {
        Arc::clone(&self.timetable)
    }

    /// What is to be done at `now`; to be asked again after it is done.
    pub fn step(&mut self, now: UnixTime) -> Step {
        let now = seconds(now);
        let since = now - std::mem::replace(&mut self.looked, now);
        if !(-1..=STEP).contains(&since) {
            return self.stepped(since, now);
        }
        if self.upcoming.is_empty() && self.cursor <= now {
            self.look_ahead();
        }
        match self.drop_late(now) {
            0 => self.next(now),
            late => Step::Missed(late),
        }
    }

    /// After a step forward, visits in between are missed; after one back, those that were begun
    /// already begin again at the new time.
    fn stepped(&mut self, by: i64, now: i64) -> Step {
        self.upcoming.clear();
        self.cursor = now;
        Step::Stepped(by)
    }

    fn look_ahead(&mut self) {
        let end = self.cursor + AHEAD;
        let mut found: Vec<Planned> = Vec::new();
        for host in &self.hosts {
            let planned = self.timetable.next_visits(host, self.cursor);
            let planned = planned.take_while(|planned| planned.due().at < end);
            found.extend(planned.filter(|planned| planned.due().by == *host));
        }
        found.sort_by(|one, other| {
            let (one, other) = (one.due(), other.due());
            (one.at, &one.task, &one.to).cmp(&(other.at, &other.task, &other.to))
        });
        self.cursor = end;
        self.upcoming = found.into();
    }

    /// How many visits could not begin in time; they are not made up for.
    fn drop_late(&mut self, now: i64) -> usize {
        let is_late = |planned: &&Planned| planned.due().at + LATE_MAX < now;
        let late = self.upcoming.iter().take_while(is_late).count();
        let late = self.upcoming.drain(..late);
        late.filter_map(Planned::visit).count()
    }

    fn next(&mut self, now: i64) -> Step {
        while let Some(at) = self.upcoming.front().map(|planned| planned.due().at) {
            if at > now {
                return wait(at - now);
            }
            match self.upcoming.pop_front() {
                Some(Planned::Visit(due)) => {
                    self.quiet.remove(&due.task);
                    return Step::Begin(due);
                }
                Some(Planned::Skipped { due, why }) if self.quiet.insert(due.task.clone()) => {
                    return Step::Quiet(due.task, why);
                }
                _ => {}
            }
        }
        wait(self.cursor - now)
    }
}

fn wait(seconds: i64) -> Step {
    Step::Wait(Duration::from_secs(seconds.max(0).unsigned_abs()))
}

fn seconds(time: UnixTime) -> i64 {
    time.seconds().cast_signed()
}
