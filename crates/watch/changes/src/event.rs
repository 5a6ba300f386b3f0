//! What a detector reports.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Cause, Metric, UnixTime};

/// A change of a path, in one metric or several, with its causes.
///
/// It begins with the first visit that differs from those before and ends with the first that does
/// not. It is reported again, with the same [`id`](Event::id) and a higher
/// [`revision`](Event::revision), when more is known of it: more visits tell its size, another
/// metric shows it, or it is over. Its kind and its first visit never change. Readers keep the
/// highest revision of each.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Event {
    /// The same in all revisions; unique within a detector.
    pub id: u64,
    /// Counts from zero.
    pub revision: u32,
    /// What kind of change it is.
    pub kind: EventKind,
    /// The first visit that showed it.
    #[serde(rename = "first_visit_unix_seconds")]
    pub first_visit: UnixTime,
    /// The visit before that one: it began between both. `None` where that is not known.
    #[serde(
        rename = "previous_visit_unix_seconds",
        default,
        skip_serializing_if = "Option::is_none"
    )]
    pub previous_visit: Option<UnixTime>,
    /// The visit that made it certain.
    #[serde(rename = "confirmed_unix_seconds")]
    pub confirmed: UnixTime,
    /// The first visit that did not differ any more.
    #[serde(
        rename = "recovered_unix_seconds",
        default,
        skip_serializing_if = "Option::is_none"
    )]
    pub recovered: Option<UnixTime>,
    /// Why it is over, where that is no return.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub end: Option<End>,
    /// How far each metric moved, the most conspicuous first; empty for no data and for a new
    /// route that no metric shows.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub shifts: Vec<Moved>,
    /// Candidate causes, the likeliest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub causes: Vec<Cause>,
    /// Of no data: how often each reason was given.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub failures: BTreeMap<String, u32>,
}

/// What kind of change an event is.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum EventKind {
    /// From one level to another.
    Step,
    /// Over days.
    Drift,
    /// To and fro.
    Flapping,
    /// Packets take another route, and no metric shows it.
    Route,
    /// Visits have no result.
    NoData,
}

impl EventKind {
    /// The name in documents and tables.
    pub fn name(self) -> &'static str {
        match self {
            EventKind::Step => "step",
            EventKind::Drift => "drift",
            EventKind::Flapping => "flapping",
            EventKind::Route => "route",
            EventKind::NoData => "no-data",
        }
    }
}

/// Why an event is over without a return.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum End {
    /// After four weeks nothing is known of the state before: this one is the usual one.
    Usual,
    /// Nothing happened: visits that were missing came late, or the hours of the day explain it.
    Withdrawn,
}

impl End {
    /// The name in tables.
    pub fn name(self) -> &'static str {
        match self {
            End::Usual => "usual",
            End::Withdrawn => "withdrawn",
        }
    }
}

/// How far a metric moved, as visits measured it.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Moved {
    /// Which.
    pub metric: Metric,
    /// Median of visits before, in the unit of the metric: the latest two dozen at like hours of
    /// the day.
    pub before: f64,
    /// Median of the visits since, at the level that they show now or showed last.
    pub after: f64,
    /// From `before` to `after`: of goodput as a share of `before` (-0.2 for a fifth less), of the
    /// others `after - before` in their unit.
    pub size: f64,
    /// Lower end of the 95 % interval of the size by Hodges and Lehmann, which takes visits as
    /// independent; `None` where there are too few.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size_low: Option<f64>,
    /// Upper end of that interval.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size_high: Option<f64>,
    /// How far the visits on the new side stand out together, in standard deviations.
    pub strength: f64,
    /// The first visit with which this metric did not differ any more.
    #[serde(
        rename = "recovered_unix_seconds",
        default,
        skip_serializing_if = "Option::is_none"
    )]
    pub recovered: Option<UnixTime>,
}

impl Moved {
    /// Its size on the scale of its metric.
    pub(crate) fn scaled_size(&self) -> f64 {
        self.metric.scaled(self.after) - self.metric.scaled(self.before)
    }

    /// Whether it is less than half of the smallest change that is told.
    pub(crate) fn is_small(&self) -> bool {
        let level = self.metric.scaled(self.before);
        self.scaled_size().abs() < self.metric.smallest_shift(level) / 2.0
    }
}

impl Event {
    /// The metric that shows it most.
    pub fn metric(&self) -> Option<Metric> {
        self.shifts.first().map(|moved| moved.metric)
    }

    /// The likeliest cause.
    pub fn first_cause(&self) -> Option<&Cause> {
        self.causes.first()
    }

    /// Whether this is the first report of it.
    pub fn is_new(&self) -> bool {
        self.revision == 0
    }

    /// Whether it goes on.
    pub fn is_open(&self) -> bool {
        self.recovered.is_none()
    }

    /// Whether it turned out that nothing happened.
    pub fn is_withdrawn(&self) -> bool {
        self.end == Some(End::Withdrawn)
    }
}
