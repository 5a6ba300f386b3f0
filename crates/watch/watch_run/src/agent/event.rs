//! What happens at an agent.

use std::fmt;

use units::Span;
use watch_plan::{Due, TaskName, Why};

/// What happens at an agent.
#[derive(Debug, Clone, PartialEq)]
pub enum AgentEvent {
    /// A visit begins.
    Began(Due),
    /// A visit is over; why it has no result, where it has none.
    Ended {
        /// The visit.
        due: Due,
        /// Why it has no result.
        failure: Option<String>,
    },
    /// A visit was running when the agent ended the last time.
    CutOff {
        /// The task.
        task: String,
        /// The far host.
        to: String,
    },
    /// Visits of a task are skipped from now on. Told once, until it has a visit again.
    Quiet {
        /// The task.
        task: TaskName,
        /// The reason.
        why: Why,
    },
    /// So many visits could not begin at their time.
    Missed(usize),
    /// The clock of this host was set, forward by so many seconds.
    ClockStepped(i64),
    /// The collector has taken so many visits, and so many wait.
    Delivered {
        /// Taken.
        visits: usize,
        /// Still on the disk.
        waiting: u64,
    },
    /// The collector does not answer, or refuses. Told once for the same reason.
    NotDelivered {
        /// Why.
        what: String,
        /// The next step.
        hint: Option<String>,
        /// Visits on the disk.
        waiting: u64,
    },
    /// The collector will never take these visits; they stay in a file of their own.
    Refused {
        /// How many.
        visits: usize,
        /// Why the first of them.
        why: String,
        /// The file.
        file: String,
    },
    /// The collector has another plan.
    PlanDiffers {
        /// The plan here.
        here: String,
        /// The plan there.
        there: String,
    },
    /// A new plan of the collector is followed from now on.
    NewPlan(String),
    /// The collector's new plan cannot be followed; the one before goes on.
    PlanRefused(String),
    /// There is no plan yet.
    NoPlan(String),
    /// A result cannot be written to the disk; it stays in memory and is written later.
    NotStored(String),
}

impl fmt::Display for AgentEvent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            AgentEvent::Began(due) => write!(
                f,
                "{}: {} {} {}, for at most {}",
                due.task,
                due.kind.word(),
                if due.is_turned() { "from" } else { "to" },
                due.far(),
                due.duration.human()
            ),
            AgentEvent::Ended { due, failure: None } => {
                write!(f, "{}: {} done", due.task, due.far())
            }
            AgentEvent::Ended {
                due,
                failure: Some(why),
            } => write!(f, "{}: {} failed: {why}", due.task, due.far()),
            AgentEvent::CutOff { task, to } => write!(
                f,
                "{task}: the visit to {to} was cut off when this agent ended; told as failed"
            ),
            AgentEvent::Quiet {
                task,
                why: Why::QuietHours(hours),
            } => write!(f, "{task}: no visits in the quiet hours {hours}"),
            AgentEvent::Missed(1) => f.write_str("1 visit could not begin at its time"),
            AgentEvent::Missed(count) => {
                write!(f, "{count} visits could not begin at their times")
            }
            AgentEvent::ClockStepped(by) if *by < 0 => write!(
                f,
                "the clock was set back by {}; visits go by the new time",
                Span::from_secs(by.unsigned_abs()).human()
            ),
            AgentEvent::ClockStepped(by) => write!(
                f,
                "the clock was set forward by {}; visits go by the new time",
                Span::from_secs(by.unsigned_abs()).human()
            ),
            AgentEvent::Delivered { visits, waiting: 0 } => {
                write!(f, "the collector has {visits} more")
            }
            AgentEvent::Delivered { visits, waiting } => {
                write!(
                    f,
                    "the collector has {visits} more, and {waiting} wait here"
                )
            }
            AgentEvent::NotDelivered {
                what,
                hint,
                waiting,
            } => {
                let hint = hint.as_ref().map(|hint| format!("; {hint}"));
                let hint = hint.unwrap_or_default();
                let results = match waiting {
                    0 => "this agent's report".to_owned(),
                    1 => "1 result".to_owned(),
                    waiting => format!("{waiting} results"),
                };
                write!(f, "the collector has not got {results}: {what}{hint}")
            }
            AgentEvent::Refused {
                visits: 1,
                why,
                file,
            } => write!(
                f,
                "the collector refused a visit, which is in {file} now: {why}"
            ),
            AgentEvent::Refused { visits, why, file } => write!(
                f,
                "the collector refused {visits} visits, which are in {file} now; the first: {why}"
            ),
            AgentEvent::PlanDiffers { here, there } => write!(
                f,
                "the plan here ({here}) is not that of the collector ({there}); give both the \
                 same file"
            ),
            AgentEvent::NewPlan(plan) => write!(f, "the plan {plan} of the collector goes on here"),
            AgentEvent::PlanRefused(why) => {
                write!(
                    f,
                    "the plan here goes on; the collector's is refused: {why}"
                )
            }
            AgentEvent::NoPlan(why) => write!(f, "no plan yet: {why}"),
            AgentEvent::NotStored(why) => {
                write!(
                    f,
                    "a result is kept in memory until it can be written: {why}"
                )
            }
        }
    }
}
