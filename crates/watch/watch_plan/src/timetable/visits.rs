//! Visits of a host: what comes, what runs, what waits.

use std::iter::Peekable;

use serde::Serialize;
use units::Span;

use super::{Course, Timetable};
use crate::kind::Kind;
use crate::model::{Pair, Task};
use crate::names::{HostName, MachineName, TaskName};
use crate::schedule::{DAY, seconds};

/// A visit at its time.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Due {
    /// When it begins, in seconds since 1970.
    pub at: i64,
    /// The task.
    pub task: TaskName,
    /// What it does.
    pub kind: Kind,
    /// The end that sends.
    pub from: HostName,
    /// The end that receives.
    pub to: HostName,
    /// The end whose agent makes it, and calls the other.
    pub by: HostName,
    /// The longest time it may take.
    pub duration: Span,
    /// When it has ended at the latest, in seconds since 1970.
    pub until: i64,
}

/// What a timetable has for a time.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Planned {
    /// The visit runs.
    Visit(Due),
    /// It does not run.
    Skipped {
        /// The visit.
        due: Due,
        /// The reason.
        why: Why,
    },
}

/// Why a visit does not run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Why {
    /// It would run in these quiet hours, as the plan writes them.
    QuietHours(String),
}

/// A visit whose cycle is due and that has not begun.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Waiting {
    /// Since when its cycle is due, in seconds since 1970.
    pub since: i64,
    /// The visit, with the time at which it begins.
    pub visit: Due,
}

impl Due {
    /// The end that is called.
    pub fn far(&self) -> &HostName {
        match self.is_turned() {
            true => &self.from,
            false => &self.to,
        }
    }

    /// Whether the end that is called sends.
    pub fn is_turned(&self) -> bool {
        self.by != self.from
    }
}

impl Planned {
    /// The visit, whether it runs or not.
    pub fn due(&self) -> &Due {
        match self {
            Planned::Visit(due) | Planned::Skipped { due, .. } => due,
        }
    }

    /// The visit, if it runs.
    pub fn visit(self) -> Option<Due> {
        match self {
            Planned::Visit(due) => Some(due),
            Planned::Skipped { .. } => None,
        }
    }
}

/// A visit of a course: its beginning, since when it is due, the index of its pair.
type Start = (i64, i64, usize);

impl Course {
    /// Visits at a machine that have not ended before `now`, in the order of their beginnings.
    fn starts<'a>(
        &'a self,
        epoch: i64,
        machine: &MachineName,
        now: i64,
    ) -> impl Iterator<Item = Start> + 'a {
        let visits = self.at.get(machine).map_or(&[][..], Vec::as_slice);
        let none = visits.is_empty();
        // A cycle ends before the next one begins, and that one begins before a third is due.
        let cycles = self
            .task
            .schedule
            .due_from(epoch, now, 2)
            .take_while(move |_| !none);
        let starts = cycles.flat_map(move |due| {
            let start = move |(round, pair): &(usize, usize)| {
                (self.place.start(epoch, due, *round), due, *pair)
            };
            visits.iter().map(start)
        });
        let length = seconds(self.task.duration);
        starts.skip_while(move |(at, ..)| at + length <= now)
    }

    fn planned(&self, table: &Timetable, at: i64, pair: &Pair) -> Planned {
        let due = due(&self.task, at, pair, table.plan.by(pair));
        let offset = table.plan.offset;
        let mut quiet = self.task.budget.quiet.iter();
        match quiet.find(|quiet| quiet.touches(due.at, due.until, offset)) {
            None => Planned::Visit(due),
            Some(quiet) => Planned::Skipped {
                due,
                why: Why::QuietHours(quiet.to_string()),
            },
        }
    }
}

fn due(task: &Task, at: i64, pair: &Pair, by: &HostName) -> Due {
    Due {
        at,
        task: task.name.clone(),
        kind: task.kind,
        from: pair.from.clone(),
        to: pair.to.clone(),
        by: by.clone(),
        duration: task.duration,
        until: at + seconds(task.duration),
    }
}

/// Several sequences in the order of time.
struct Merged<'a>(Vec<Peekable<Box<dyn Iterator<Item = Planned> + 'a>>>);

impl Iterator for Merged<'_> {
    type Item = Planned;

    fn next(&mut self) -> Option<Planned> {
        let heads = self.0.iter_mut().enumerate();
        let heads = heads.filter_map(|(index, source)| Some((source.peek()?.due().at, index)));
        let (_, first) = heads.min()?;
        self.0.get_mut(first)?.next()
    }
}

impl Timetable {
    /// What a host has from `now` on, in seconds since 1970, in the order of time and without end.
    /// Empty for a host that is not in the plan.
    pub fn next_visits<'a>(
        &'a self,
        host: &HostName,
        now: i64,
    ) -> impl Iterator<Item = Planned> + 'a {
        let machine = self.plan.machine(host).cloned();
        let sources = self.courses.iter().filter_map(|course| {
            let takes_part = |pair: &Pair| pair.from == *host || pair.to == *host;
            course.pairs.iter().any(takes_part).then_some(())?;
            let host = host.clone();
            let starts = course.starts(self.epoch, machine.as_ref()?, now);
            let planned = starts.filter_map(move |(at, _, pair)| {
                let pair = course.pairs.get(pair)?;
                let ours = pair.from == host || pair.to == host;
                (ours && at >= now).then(|| course.planned(self, at, pair))
            });
            let boxed: Box<dyn Iterator<Item = Planned> + 'a> = Box::new(planned);
            Some(boxed.peekable())
        });
        Merged(sources.collect())
    }

    /// The visits of a task from one host to another that begin after `since`, in seconds since
    /// 1970, without those that are skipped. Empty where the plan has none.
    pub fn visits_of<'a>(
        &'a self,
        task: &str,
        [from, to]: [&str; 2],
        since: i64,
    ) -> impl Iterator<Item = Due> + 'a {
        let is_pair = |pair: &Pair| pair.from.as_str() == from && pair.to.as_str() == to;
        let found = self.courses.iter().find_map(|course| {
            let index = course.pairs.iter().position(is_pair)?;
            (course.task.name.as_str() == task).then_some((course, index))
        });
        found.into_iter().flat_map(move |(course, index)| {
            let pair = &course.pairs[index];
            let machine = self.plan.machine(&pair.from).into_iter();
            let starts = machine.flat_map(move |machine| course.starts(self.epoch, machine, since));
            let ours = starts.filter(move |(at, _, other)| *other == index && *at > since);
            ours.filter_map(move |(at, ..)| course.planned(self, at, pair).visit())
        })
    }

    /// The exclusive visit that has the machine of a host at `now`; its `until` says how long.
    pub fn busy_until(&self, host: &HostName, now: i64) -> Option<Due> {
        let machine = self.plan.machine(host)?;
        let exclusive = self
            .courses
            .iter()
            .filter(|course| course.task.kind.is_exclusive());
        let running = exclusive.filter_map(|course| {
            let (at, _, pair) = course.starts(self.epoch, machine, now).next()?;
            let pair = course.pairs.get(pair)?;
            (at <= now).then(|| course.planned(self, at, pair).visit())?
        });
        running.max_by_key(|due| due.until)
    }

    /// The visits of a host whose cycles are due at `now` and that have not begun, in the order of
    /// their beginnings.
    pub fn waiting(&self, host: &HostName, now: i64) -> Vec<Waiting> {
        let Some(machine) = self.plan.machine(host) else {
            return Vec::new();
        };
        let mut waiting = Vec::new();
        for course in &self.courses {
            let starts = course.starts(self.epoch, machine, now);
            for (at, since, pair) in starts.take_while(|(_, since, _)| *since <= now) {
                let pair = course.pairs.get(pair);
                let pair = pair.filter(|pair| pair.from == *host || pair.to == *host);
                let visit = pair.and_then(|pair| course.planned(self, at, pair).visit());
                waiting.extend(
                    visit
                        .filter(|_| at > now)
                        .map(|visit| Waiting { since, visit }),
                );
            }
        }
        waiting.sort_by_key(|waiting| waiting.visit.at);
        waiting
    }

    /// How many rounds of a task do not run in any of its first cycles, nor in any of a week and a
    /// day, since quiet hours may differ by weekday; and how many rounds it has.
    pub(crate) fn rounds_never_run(&self, task: &Task, cycles: usize) -> (usize, usize) {
        let named = |course: &&Course| course.task.name == task.name;
        let Some(course) = self.courses.iter().find(named) else {
            return (0, 0);
        };
        let dues = course
            .task
            .schedule
            .due_from(self.epoch, self.epoch, 0)
            .enumerate()
            .take_while(|(cycle, due)| *cycle < cycles || due - self.epoch < 8 * DAY);
        let dues: Vec<i64> = dues.map(|(_, due)| due).collect();
        let runs = |round: &usize| {
            dues.iter().any(|due| {
                let at = course.place.start(self.epoch, *due, *round);
                let until = at + seconds(task.duration);
                let mut quiet = task.budget.quiet.iter();
                !quiet.any(|quiet| quiet.touches(at, until, self.plan.offset))
            })
        };
        let never = (0..course.rounds).filter(|round| !runs(round)).count();
        (never, course.rounds)
    }
}
