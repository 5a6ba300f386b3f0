//! What a page shows of a plan: how busy each host is, what comes next, how long a cycle takes.

use serde::Serialize;
use units::{Bytes, Span};

use super::visits::{Due, Planned};
use super::{Course, Timetable};
use crate::model::Plan;
use crate::names::{HostName, MachineName, TaskName};
use crate::schedule::seconds;
use crate::timetable::TightSchedule;

/// The plan in numbers.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Explanation {
    /// One entry a host, in the order of names.
    pub hosts: Vec<HostLoad>,
    /// One entry a task, in the order of the file.
    pub tasks: Vec<TaskLoad>,
}

/// How busy a host is.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct HostLoad {
    /// The host.
    pub host: HostName,
    /// The machine that it is on.
    pub machine: MachineName,
    /// The most of its time that its machine spends in exclusive visits, 0 to 1, quiet hours not
    /// taken off.
    pub busy: f64,
    /// The exclusive visit that runs, if one does.
    pub running: Option<Due>,
    /// The next visit that runs; none among the next 10,000 is shown as none.
    pub next: Option<Due>,
    /// How many visits are due and have not begun.
    pub waiting: usize,
}

/// What a task costs.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TaskLoad {
    /// The task.
    pub task: TaskName,
    /// Ordered pairs, each visited once in a cycle.
    pub pairs: usize,
    /// Rounds in a cycle.
    pub rounds: usize,
    /// From the beginning of the first round of a cycle to the end of the last.
    pub cycle: Span,
    /// The shortest time from one cycle to the next.
    pub interval: Span,
    /// The most bytes a day at one host, where links or a budget tell it.
    pub bytes_a_day: Option<Bytes>,
}

/// How many skipped visits are passed over to find the next that runs.
const AHEAD: usize = 10_000;

impl Plan {
    /// The plan in numbers, at `now` in seconds since 1970, of the timetable with epoch 0.
    ///
    /// # Errors
    /// When a schedule cannot be kept; never for a plan that was read.
    pub fn explain(&self, now: i64) -> Result<Explanation, TightSchedule> {
        Ok(Timetable::new(self, 0)?.explain(now))
    }
}

impl Timetable {
    /// The plan in numbers, at `now` in seconds since 1970.
    pub fn explain(&self, now: i64) -> Explanation {
        let hosts = self.plan.hosts.iter();
        Explanation {
            hosts: hosts
                .map(|(name, host)| self.host_load(name, &host.machine, now))
                .collect(),
            tasks: self
                .courses
                .iter()
                .map(|course| self.task_load(course))
                .collect(),
        }
    }

    fn host_load(&self, host: &HostName, machine: &MachineName, now: i64) -> HostLoad {
        let exclusive = self
            .courses
            .iter()
            .filter(|course| course.task.kind.is_exclusive());
        let busy = exclusive.map(|course| {
            let visits = course.at.get(machine).map_or(0, Vec::len) as f64;
            visits * course.task.duration.as_secs_f64() / course.task.schedule.shortest() as f64
        });
        let mut next = self.next_visits(host, now).take(AHEAD);
        HostLoad {
            host: host.clone(),
            machine: machine.clone(),
            // The sum of nothing is -0.
            busy: busy.fold(0.0, |all, one| all + one),
            running: self.busy_until(host, now),
            next: next.find_map(Planned::visit),
            waiting: self.waiting(host, now).len(),
        }
    }

    fn task_load(&self, course: &Course) -> TaskLoad {
        let task = &course.task;
        let last = course.rounds.saturating_sub(1);
        let starts = [0, last].map(|round| course.place.start(self.epoch, self.epoch, round));
        let cycle = starts[1] - starts[0] + seconds(task.duration);
        let rates = course.pairs.iter();
        let rates = rates.filter_map(|pair| self.plan.expected_rate(task, pair));
        let expected = self.plan.expected_bytes_a_day(task, rates.max());
        TaskLoad {
            task: task.name.clone(),
            pairs: course.pairs.len(),
            rounds: course.rounds,
            cycle: Span::from_secs(cycle.unsigned_abs()),
            interval: Span::from_secs(task.schedule.shortest().unsigned_abs()),
            bytes_a_day: expected.or(task.budget.bytes_a_day),
        }
    }
}
