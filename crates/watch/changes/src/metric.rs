//! The quantities whose changes are looked for.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Visit;

/// A visit has no more than some 10,000 packets for sure: smaller shares are chance.
const RESENT_LEAST: f64 = 1e-4;

/// A quantity of visits, one number each.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum Metric {
    /// Goodput in bits per second; changes are relative.
    Goodput,
    /// Shortest round trip of a visit, in seconds.
    RoundTripMin,
    /// Median round trip of a visit, in seconds: it shows queues that are there without our load.
    RoundTripMedian,
    /// Probes lost, as a share.
    Loss,
    /// Bytes that TCP sent again, as a share.
    Resent,
}

impl Metric {
    /// All of them.
    pub const ALL: [Metric; 5] = [
        Metric::Goodput,
        Metric::RoundTripMin,
        Metric::RoundTripMedian,
        Metric::Loss,
        Metric::Resent,
    ];

    /// The name in documents and sentences.
    pub fn name(self) -> &'static str {
        match self {
            Metric::Goodput => "goodput",
            Metric::RoundTripMin => "minimum round trip",
            Metric::RoundTripMedian => "median round trip",
            Metric::Loss => "loss",
            Metric::Resent => "resent share",
        }
    }

    /// A visit's value in the unit of the metric.
    pub fn of(self, visit: &Visit) -> Option<f64> {
        let trips = visit.round_trips.as_ref();
        match self {
            Metric::Goodput => Some(visit.goodput?.as_f64()),
            Metric::RoundTripMin => Some(trips?.min().as_secs_f64()),
            Metric::RoundTripMedian => Some(trips?.median().as_secs_f64()),
            Metric::Loss => {
                // A host that answers nothing is an outage, which is told as one.
                let is_silent = visit.failure.is_some() && visit.round_trips.is_none();
                visit.probes.filter(|_| !is_silent)?.loss()
            }
            Metric::Resent => visit.resent.map(f64::from),
        }
    }

    /// On the scale on which values are compared: the logarithm of goodput and of the resent
    /// share, which noise and seasons multiply; everything else as it is. A goodput below 1
    /// kbit/s counts as that; the resent share is one of at least 10,000 packets.
    pub(crate) fn scaled(self, value: f64) -> f64 {
        match self {
            Metric::Goodput => value.max(1e3).ln(),
            Metric::Resent => (value.max(0.0) + RESENT_LEAST).ln(),
            _ => value,
        }
    }

    /// Back from the scale.
    pub(crate) fn unscaled(self, scaled: f64) -> f64 {
        match self {
            Metric::Goodput => scaled.exp(),
            Metric::Resent => (scaled.exp() - RESENT_LEAST).max(0.0),
            _ => scaled.max(0.0),
        }
    }

    /// The size of a shift that is `shift` on the scale, from a level on the scale: of goodput as
    /// a share, of the others in their unit.
    pub(crate) fn size_of(self, level: f64, shift: f64) -> f64 {
        match self {
            Metric::Goodput => shift.exp_m1(),
            _ => self.unscaled(level + shift) - self.unscaled(level),
        }
    }

    /// The smallest shift on the scale that concerns anybody, at a level on that scale.
    pub(crate) fn smallest_shift(self, level: f64) -> f64 {
        match self {
            Metric::Goodput => 0.03,
            Metric::RoundTripMin => 0.2e-3 + 0.002 * level.abs(),
            Metric::RoundTripMedian => 0.5e-3 + 0.01 * level.abs(),
            Metric::Loss => 0.02,
            // Half as much again.
            Metric::Resent => 0.4,
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::{Failure, ProbeCount, UnixTime, VisitKind};

    use super::*;

    #[test]
    fn an_outage_is_no_loss() {
        let mut visit = Visit::new(UnixTime::from_seconds(0), VisitKind::Ping);
        visit.probes = Some(ProbeCount {
            sent: 20,
            lost: 20,
            duplicated: 0,
            reordered: 0,
        });
        assert_eq!(Metric::Loss.of(&visit), Some(1.0));
        visit.failure = Some(Failure {
            reason: "no answer".to_owned(),
        });
        assert_eq!(Metric::Loss.of(&visit), None);
    }
}
