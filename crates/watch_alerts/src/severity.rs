//! How much an event matters, by its size.

use std::fmt;

use changes::{Event, EventKind, Metric, Moved};
use serde::{Deserialize, Serialize};

/// How much an event matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
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

/// The severity of an event without the metrics that are silenced; `None` for an improvement, and
/// where all that got worse is silenced.
pub(crate) fn severity(event: &Event, silenced: impl Fn(Metric) -> bool) -> Option<Severity> {
    match event.kind {
        EventKind::NoData => Some(Severity::Critical),
        EventKind::Route => Some(Severity::Info),
        EventKind::Step | EventKind::Drift | EventKind::Flapping => {
            let shifts = event.shifts.iter();
            let heard = shifts.filter(|moved| !silenced(moved.metric));
            heard.filter_map(of_shift).max()
        }
    }
}

/// The shift that matters most; of equal ones the most conspicuous.
pub(crate) fn worst(event: &Event) -> Option<&Moved> {
    let shifts = event.shifts.iter().rev();
    let worse = shifts.filter(|moved| of_shift(moved).is_some());
    worse.max_by_key(|moved| of_shift(moved))
}

/// The severity of one shift; `None` for an improvement.
///
/// | metric | warning from | critical from |
/// |---|---|---|
/// | goodput | 15 % less | 50 % less |
/// | loss, resent share | 1 % more of all | 10 % more of all |
/// | round trips | 5 ms more, or 20 % and 1 ms more | 50 ms and 100 % more |
fn of_shift(moved: &Moved) -> Option<Severity> {
    let (warning, critical) = match moved.metric {
        Metric::Goodput => (moved.size <= -0.15, moved.size <= -0.5),
        Metric::Loss | Metric::Resent => (moved.size >= 0.01, moved.size >= 0.1),
        Metric::RoundTripMin | Metric::RoundTripMedian => {
            let share = moved.size / moved.before.max(1e-6);
            let longer = moved.size >= 5e-3 || (share >= 0.2 && moved.size >= 1e-3);
            (longer, share >= 1.0 && moved.size >= 50e-3)
        }
    };
    let worse = match moved.metric {
        Metric::Goodput => moved.size < 0.0,
        _ => moved.size > 0.0,
    };
    worse.then_some(match (warning, critical) {
        (_, true) => Severity::Critical,
        (true, false) => Severity::Warning,
        (false, false) => Severity::Info,
    })
}
