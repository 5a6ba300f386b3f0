//! Which visits begin now, by the clock of this host, which may be set at any time.

use std::collections::VecDeque;
use std::time::Duration;

use changes::UnixTime;
use watch_plan::{Due, HostName, Planned, Timetable};

/// Visits that are looked up at once.
const AHEAD: usize = 64;
/// Planned visits of both directions that are looked at to find them.
const LOOKED_AT: usize = 4_096;
/// How late a visit may begin: within the pause after the one before, others do not meet it.
const LATE_MAX: i64 = 2;
/// A clock that went on by more than this between two looks was set, or the host slept.
const STEP: i64 = 5;

/// The visits of this machine, and the time up to which they have been begun.
#[derive(Debug)]
pub(crate) struct Schedule {
    timetable: Timetable,
    hosts: Vec<HostName>,
    /// Visits before this have begun or are missed.
    cursor: i64,
    looked: i64,
    upcoming: VecDeque<Due>,
}

/// What is to be done next.
#[derive(Debug, PartialEq)]
pub(crate) enum Step {
    /// This visit begins.
    Begin(Due),
    /// So many could not begin at their time.
    Missed(usize),
    /// The clock was set, forward by so many seconds.
    Stepped(i64),
    /// Nothing, for so long.
    Wait(Duration),
}

impl Schedule {
    /// Visits from `now` on.
    pub fn new(timetable: Timetable, hosts: Vec<HostName>, now: UnixTime) -> Self {
        let now = seconds(now);
        Schedule {
            timetable,
            hosts,
            cursor: now,
            looked: now,
            upcoming: VecDeque::new(),
        }
    }

    /// What is to be done at `now`; to be asked again after it is done.
    pub fn step(&mut self, now: UnixTime) -> Step {
        let now = seconds(now);
        let since = now - std::mem::replace(&mut self.looked, now);
        if !(-1..=STEP).contains(&since) {
            return self.stepped(since, now);
        }
        if self.upcoming.is_empty() {
            self.look_ahead();
        }
        let is_late = |due: &Due| due.at + LATE_MAX < now;
        let late = self.upcoming.iter().take_while(|due| is_late(due)).count();
        if late > 0 {
            self.upcoming.drain(..late);
            return Step::Missed(late);
        }
        match self.upcoming.front() {
            Some(due) if due.at <= now => self.upcoming.pop_front().map_or(WAIT, Step::Begin),
            Some(due) => Step::Wait(Duration::from_secs((due.at - now).unsigned_abs())),
            None => WAIT,
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
        let mut found: Vec<Due> = Vec::new();
        for host in &self.hosts {
            let planned = self.timetable.next_visits(host, self.cursor);
            let own = planned.take(LOOKED_AT).filter_map(Planned::visit);
            found.extend(own.filter(|due| due.from == *host).take(AHEAD));
        }
        found.sort_by(|one, other| {
            (one.at, &one.task, &one.to).cmp(&(other.at, &other.task, &other.to))
        });
        found.truncate(AHEAD);
        // All visits of one second are taken together, so that none is passed over.
        if let Some(last) = found.last().map(|due| due.at)
            && found.len() == AHEAD
            && found.first().is_some_and(|first| first.at < last)
        {
            found.retain(|due| due.at < last);
        }
        if let Some(last) = found.last() {
            self.cursor = last.at + 1;
        }
        self.upcoming = found.into();
    }
}

/// No visit is known; the plan may have some later.
const WAIT: Step = Step::Wait(Duration::from_secs(60));

fn seconds(time: UnixTime) -> i64 {
    time.seconds().cast_signed()
}
