//! Which visit begins at which second.
//!
//! Start times are computed, not remembered: a question about any time costs as much as one about
//! today, and agents that share the text of a plan agree without talking to each other.

mod explain;
mod frame;
mod visits;

use errors::Error;
use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;
use thiserror::Error;
use units::Span;

pub use explain::{Explanation, HostLoad, TaskLoad};
pub use visits::{Due, Planned, Waiting, Why};

use crate::model::{Pair, Plan, Task};
use crate::names::{MachineName, TaskName};
use crate::rounds::{Edge, rounds};
use crate::schedule::seconds;
use frame::{Demand, Placement};

/// A plan with the rounds of its tasks and their places in time.
#[derive(Debug, Clone)]
pub struct Timetable {
    plan: Plan,
    epoch: i64,
    courses: Vec<Course>,
}

/// The visits of one task.
#[derive(Debug, Clone)]
struct Course {
    task: Task,
    pairs: Vec<Pair>,
    rounds: usize,
    /// Per machine its visits: the round and the index of the pair, in the order of time.
    at: BTreeMap<MachineName, Vec<(usize, usize)>>,
    place: Placement,
}

/// A schedule that cannot be kept.
#[derive(Debug, Clone, PartialEq, Eq, Error, Serialize)]
#[error("{}; {}", self.problem(), self.hint())]
pub struct TightSchedule {
    /// The task whose interval is too short.
    pub task: TaskName,
    /// Its interval.
    pub interval: Span,
    /// The shortest interval that would do.
    pub needed: Span,
    /// Rounds of this task in a cycle.
    pub rounds: usize,
    /// All tasks that share machines with it, itself among them.
    pub tasks: Vec<TaskName>,
}

impl TightSchedule {
    /// The value and the bound.
    pub fn problem(&self) -> String {
        let others: Vec<String> = self.tasks.iter().map(TaskName::to_string).collect();
        format!(
            "every {} is too short for {} rounds of `{}` on the machines of {}: {} is the least",
            self.interval,
            self.rounds,
            self.task,
            others.join(", "),
            self.needed
        )
    }

    /// The next step.
    pub fn hint(&self) -> String {
        format!(
            "make the interval {} or more, a `duration` shorter, or a group smaller",
            self.needed
        )
    }
}

impl From<TightSchedule> for Error {
    fn from(error: TightSchedule) -> Self {
        Error::wrong_request(error.problem(), error.hint())
    }
}

impl Timetable {
    /// Computes the rounds of a plan. Intervals are counted from `epoch`, in seconds since 1970;
    /// nothing is due before it. All agents of a plan must use the same, mostly 0.
    ///
    /// # Errors
    /// When a schedule cannot be kept, with the shortest interval that could be.
    pub fn new(plan: &Plan, epoch: i64) -> Result<Timetable, TightSchedule> {
        let mut courses: Vec<Course> = plan
            .tasks
            .iter()
            .map(|task| Course::new(plan, task))
            .collect();
        for sharing in sharing(&courses) {
            arrange(plan, &mut courses, &sharing)?;
        }
        Ok(Timetable {
            plan: plan.clone(),
            epoch: epoch.max(0),
            courses,
        })
    }

    /// The plan.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// How many rounds a task has in a cycle; `None` for an unknown task.
    pub fn rounds(&self, task: &TaskName) -> Option<usize> {
        let course = self.courses.iter().find(|course| course.task.name == *task);
        course.map(|course| course.rounds)
    }

    /// The shortest time from one cycle of a task to the next; `None` for an unknown task.
    pub fn interval(&self, task: &TaskName) -> Option<Span> {
        let course = self
            .courses
            .iter()
            .find(|course| course.task.name == *task)?;
        let seconds = course.task.schedule.shortest().unsigned_abs();
        Some(Span::from_secs(seconds))
    }
}

impl Course {
    fn new(plan: &Plan, task: &Task) -> Course {
        let pairs = plan.pairs(task);
        let machines: BTreeSet<&MachineName> = pairs
            .iter()
            .filter_map(|pair| plan.machines(pair))
            .flatten()
            .collect();
        let numbers: BTreeMap<&MachineName, usize> = machines.iter().copied().zip(0..).collect();
        let number = |machine| numbers.get(machine).copied();
        let edge = |pair: &Pair| -> Option<Edge> {
            let [from, to] = plan.machines(pair)?.map(number);
            Some((from?, to?))
        };
        let edges: Vec<Edge> = pairs.iter().filter_map(edge).collect();
        let rounds = match task.kind.is_exclusive() {
            true => rounds(&edges),
            false => vec![(0..pairs.len()).collect()],
        };
        let mut at: BTreeMap<MachineName, Vec<(usize, usize)>> = BTreeMap::new();
        for (round, indices) in rounds.iter().enumerate() {
            for index in indices {
                let ends = pairs.get(*index).and_then(|pair| plan.machines(pair));
                for machine in ends.into_iter().flatten() {
                    at.entry(machine.clone()).or_default().push((round, *index));
                }
            }
        }
        Course {
            task: task.clone(),
            pairs,
            rounds: rounds.len(),
            at,
            place: Placement::default(),
        }
    }

    fn demand(&self, plan: &Plan) -> Demand {
        Demand {
            rounds: self.rounds as i64,
            slot: slot(plan, &self.task),
            interval: self.task.schedule.shortest(),
            exclusive: self.task.kind.is_exclusive(),
        }
    }
}

/// Sets of courses that share machines, directly or through others.
fn sharing(courses: &[Course]) -> Vec<Vec<usize>> {
    let mut sets: Vec<(BTreeSet<&MachineName>, Vec<usize>)> = Vec::new();
    for (index, course) in courses.iter().enumerate() {
        let mut merged: (BTreeSet<&MachineName>, Vec<usize>) =
            (course.at.keys().collect(), vec![index]);
        let (joined, apart): (Vec<_>, Vec<_>) = sets
            .into_iter()
            .partition(|(machines, _)| !machines.is_disjoint(&merged.0));
        for (machines, indices) in joined {
            merged.0.extend(machines);
            merged.1.extend(indices);
        }
        merged.1.sort();
        sets = apart;
        sets.push(merged);
    }
    sets.into_iter().map(|(_, indices)| indices).collect()
}

fn arrange(plan: &Plan, courses: &mut [Course], indices: &[usize]) -> Result<(), TightSchedule> {
    let of = |index: &usize| courses.get(*index);
    let demands: Vec<Demand> = indices
        .iter()
        .filter_map(of)
        .map(|course| course.demand(plan))
        .collect();
    match frame::arrange(&demands) {
        Ok(places) => {
            for (index, place) in indices.iter().zip(places) {
                if let Some(course) = courses.get_mut(*index) {
                    course.place = place;
                }
            }
            Ok(())
        }
        Err(tight) => {
            let tasks: Vec<&Course> = indices.iter().filter_map(of).collect();
            let course = tasks.get(tight.index).copied().or(tasks.first().copied());
            let Some(course) = course else {
                return Ok(());
            };
            Err(TightSchedule {
                task: course.task.name.clone(),
                interval: Span::from_secs(course.task.schedule.shortest().unsigned_abs()),
                needed: Span::from_secs(tight.needed.unsigned_abs()),
                rounds: course.rounds,
                tasks: tasks
                    .iter()
                    .map(|course| course.task.name.clone())
                    .collect(),
            })
        }
    }
}

/// Seconds that a round of a task takes, with the pause after it.
pub(crate) fn slot(plan: &Plan, task: &Task) -> i64 {
    seconds(task.duration) + seconds(plan.gap)
}

#[cfg(test)]
mod tests;
