//! How much an event matters, by its size in the terms of a user.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Event, EventKind, Metric, Moved};

/// How much an event matters.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum Severity {
    /// Small changes, and another route that no metric shows.
    Info,
    /// A change that users of the path notice.
    Warning,
    /// Half of the goodput or more is lost, or there is no data.
    Critical,
}

impl Severity {
    /// All of them, the least first.
    pub const ALL: [Severity; 3] = [Severity::Info, Severity::Warning, Severity::Critical];

    /// The name in files and labels.
    pub fn name(self) -> &'static str {
        match self {
            Severity::Info => "info",
            Severity::Warning => "warning",
            Severity::Critical => "critical",
        }
    }
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl Moved {
    /// How much it matters; `None` for an improvement.
    ///
    /// | metric | warning from | critical from |
    /// |---|---|---|
    /// | goodput | 15 % less | 50 % less |
    /// | loss, resent share | 1 % more of all | 10 % more of all |
    /// | round trips | 5 ms more, or 20 % and 1 ms more | 50 ms and 100 % more |
    pub fn severity(&self) -> Option<Severity> {
        let (warning, critical) = match self.metric {
            Metric::Goodput => (self.size <= -0.15, self.size <= -0.5),
            Metric::Loss | Metric::Resent => (self.size >= 0.01, self.size >= 0.1),
            Metric::RoundTripMin | Metric::RoundTripMedian => {
                let share = self.share();
                let longer = self.size >= 5e-3 || (share >= 0.2 && self.size >= 1e-3);
                (longer, share >= 1.0 && self.size >= 50e-3)
            }
        };
        self.is_worse().then_some(match (warning, critical) {
            (_, true) => Severity::Critical,
            (true, false) => Severity::Warning,
            (false, false) => Severity::Info,
        })
    }

    /// Whether the path got worse.
    pub fn is_worse(&self) -> bool {
        match self.metric {
            Metric::Goodput => self.size < 0.0,
            _ => self.size > 0.0,
        }
    }

    /// The size in warnings: how many times the smallest shift that is one. It compares metrics.
    pub fn weight(&self) -> f64 {
        let warnings = match self.metric {
            Metric::Goodput => {
                (self.size / (1.0 + self.size).max(1e-6))
                    .abs()
                    .max(self.size.abs())
                    / 0.15
            }
            Metric::Loss | Metric::Resent => self.size.abs() / 0.01,
            Metric::RoundTripMin | Metric::RoundTripMedian => {
                (self.size.abs() / 5e-3).max(self.share().abs().min(self.size.abs() / 1e-3) / 0.2)
            }
        };
        if warnings.is_finite() {
            warnings
        } else {
            f64::MAX
        }
    }

    fn share(&self) -> f64 {
        self.size / self.before.max(1e-6)
    }
}

impl Event {
    /// The shift that matters most to users, of those that go on while any does: what got worse
    /// before what got better, then the larger severity, then the larger shift in warnings.
    pub fn worst(&self) -> Option<&Moved> {
        let rank = |one: &Moved| (self.goes_on(one), one.severity(), one.weight());
        self.shifts.iter().max_by(|one, other| {
            let ((goes_on, one, by), (other_goes_on, other, than)) = (rank(one), rank(other));
            let order = goes_on.cmp(&other_goes_on).then(one.cmp(&other));
            order.then(by.total_cmp(&than))
        })
    }

    fn goes_on(&self, moved: &Moved) -> bool {
        moved.recovered.is_none() || !self.is_open()
    }

    /// How much it matters beside the metrics that are silenced; `None` for an improvement, for
    /// what was withdrawn, and where all that got worse is silenced.
    pub fn severity(&self, silenced: impl Fn(Metric) -> bool) -> Option<Severity> {
        match self.kind {
            _ if self.is_withdrawn() => None,
            EventKind::NoData => Some(Severity::Critical),
            EventKind::Route => Some(Severity::Info),
            EventKind::Step | EventKind::Drift | EventKind::Flapping => {
                let shifts = self.shifts.iter();
                let shifts = shifts.filter(|moved| self.goes_on(moved));
                let heard = shifts.filter(|moved| !silenced(moved.metric));
                heard.filter_map(Moved::severity).max()
            }
        }
    }
}
