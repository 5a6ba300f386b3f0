//! The plan of a watch: which hosts visit which, with what, when, and at what cost.
//!
//! A plan is one TOML file ([`Plan::parse`]) or a psconfig file of perfSONAR ([`psconfig::read`]).
//! A [`Timetable`] computes from the plan alone which visit begins at which second. Agents need not
//! talk to each other: the same text gives the same timetable everywhere, and no machine has two
//! exclusive visits at once, nor a light one beside an exclusive one. No function reads a clock;
//! each takes `now` in seconds since 1970.
//!
//! Reading order: [`Plan`] and its parts in `model.rs`, `schedule.rs` and `budget.rs`; `rounds.rs`
//! for which pairs may be visited at once; `timetable/frame.rs` for how tasks share time; then
//! `timetable.rs`.

mod budget;
mod check;
mod error;
mod flows;
mod ip_version;
mod kind;
mod model;
mod names;
pub mod psconfig;
mod read;
mod rounds;
mod schedule;
pub mod section;
mod timetable;
mod tree;

pub use budget::{Budget, Quiet, QuietError, Share, ShareError};
pub use error::{Mistake, Notice, PlanError};
pub use flows::{Flows, Prefix, PrefixError};
pub use ip_version::ip_version;
pub use kind::Kind;
pub use model::{GroupKind, Host, HostLogin, Pair, Plan, Task, TokenFile};
pub use names::{GroupName, HostName, MachineName, NameError, TaskName};
pub use schedule::{Cron, OffsetError, Schedule, UtcOffset};
pub use timetable::{
    Due, Explanation, HostLoad, Planned, TaskLoad, TightSchedule, Timetable, Waiting, Why,
};

impl Plan {
    /// Reads a plan from TOML; `file_name` names the text in messages.
    ///
    /// ```
    /// let text = r#"
    ///     [hosts]
    ///     slac = { address = "dtn.slac.example.org" }
    ///     cern = { address = "dtn.cern.example.org" }
    ///     [groups]
    ///     all = { mesh = ["slac", "cern"] }
    ///     [tasks]
    ///     goodput = { kind = "throughput", group = "all", every = "30min", duration = "20s" }
    /// "#;
    /// let (plan, notices) = watch_plan::Plan::parse(text, "plan.toml").unwrap();
    /// assert!(notices.is_empty());
    /// let table = watch_plan::Timetable::new(&plan, 0).unwrap();
    /// // Both ways, one after the other: 20 s and a gap of 5 s.
    /// let slac = "slac".parse().unwrap();
    /// let next = table.next_visits(&slac, 0).map(|next| next.due().at);
    /// assert_eq!(next.take(3).collect::<Vec<i64>>(), [0, 25, 1800]);
    /// ```
    ///
    /// # Errors
    /// All mistakes of the text, with their lines.
    pub fn parse(text: &str, file_name: &str) -> Result<(Plan, Vec<Notice>), PlanError> {
        read::read(text, file_name)
    }
}

#[cfg(test)]
mod mutation;
