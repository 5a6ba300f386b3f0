//! Round trips of probes, raw and summed up.

use observe::{Probe, ProbeMethod, ProbeSeries};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use units::Span;

/// Round trips of one measurement: idle first, then beside the streams.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct RoundTrips {
    /// Before the streams started; absent when nothing answers probes there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unloaded: Option<Series>,
    /// While the streams ran.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub loaded: Option<Series>,
    /// dRTT: mean loaded less mean unloaded round-trip time; by chance it can be slightly negative.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub added_seconds: Option<f64>,
}

/// Probes sent one after another under the same conditions.
///
/// The figures are absent when no probe was answered.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Series {
    /// What carried the probes.
    pub method: ProbeMethod,
    /// Smallest round-trip time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min_seconds: Option<f64>,
    /// Mean round-trip time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mean_seconds: Option<f64>,
    /// Median round-trip time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub median_seconds: Option<f64>,
    /// Share of the probes without an answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub loss_ratio: Option<f64>,
    /// `1 - min / mean`: 0 on a path without queueing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate_variability: Option<f64>,
    /// Every probe, in the order in which they were sent.
    pub probes: Vec<Probe>,
}

impl RoundTrips {
    /// The round trips as they were observed.
    pub(crate) fn observed(&self) -> observe::RoundTrips {
        let series = |series: &Series| ProbeSeries {
            method: series.method,
            duplicated: 0,
            probes: series.probes.clone(),
        };
        observe::RoundTrips {
            unloaded: self.unloaded.as_ref().map(series),
            loaded: self.loaded.as_ref().map(series),
        }
    }
}

impl From<&observe::RoundTrips> for RoundTrips {
    fn from(trips: &observe::RoundTrips) -> Self {
        RoundTrips {
            unloaded: trips.unloaded.as_ref().map(Series::from),
            loaded: trips.loaded.as_ref().map(Series::from),
            added_seconds: trips.added_seconds(),
        }
    }
}

impl From<&ProbeSeries> for Series {
    fn from(series: &ProbeSeries) -> Self {
        Series {
            method: series.method,
            min_seconds: series.min().map(Span::as_secs_f64),
            mean_seconds: series.mean().map(Span::as_secs_f64),
            median_seconds: series.quantile_seconds(0.5),
            loss_ratio: series.loss_ratio(),
            rate_variability: series.rate_variability(),
            probes: series.probes.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use units::Time;

    fn series(rtts: &[Option<u64>]) -> ProbeSeries {
        let probe = |ms: &Option<u64>| observe::Probe {
            sent: Time::ZERO,
            rtt: ms.map(Span::from_millis),
        };
        ProbeSeries {
            method: observe::ProbeMethod::IcmpEcho,
            duplicated: 0,
            probes: rtts.iter().map(probe).collect(),
        }
    }

    #[test]
    fn figures_stand_beside_every_probe() {
        let shape = Series::from(&series(&[Some(165), None, Some(167), Some(181)]));
        assert_eq!(shape.probes.len(), 4);
        assert_eq!(shape.min_seconds, Some(0.165));
        assert_eq!(shape.median_seconds, Some(0.167));
        assert_eq!(shape.loss_ratio, Some(0.25));
    }

    #[test]
    fn a_lost_probe_has_no_round_trip_key() {
        let json = serde_json::to_string(&Series::from(&series(&[None]))).unwrap();
        assert!(!json.contains("null"), "{json}");
        assert!(!json.contains("rtt_seconds"), "{json}");
        assert!(!json.contains("mean_seconds"), "{json}");
    }
}
