//! What measured points say about streams that were not measured.
//!
//! The curves say nothing beyond the most streams that were sampled, and are not asked to. What is
//! recommended is the knee of the best of them, as everywhere; where its peak lies is told beside
//! it.

use models::{Form, Ranked, Spread, rank};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use units::Rate;

use super::{StreamsAt, fewest};

/// Measured points, and the curves through them.
#[derive(Debug, Clone, PartialEq)]
pub struct Fitting {
    /// The points.
    pub samples: Vec<StreamsAt>,
    /// Share of the highest throughput at which a knee lies.
    pub knee: f64,
    /// The most streams that were sampled.
    pub streams_max: u32,
    /// The forms, the one that predicts best what it has not seen first.
    pub ranked: Vec<Ranked>,
    /// What the first of them recommends; `None` when no form fits.
    pub recommended: Option<Optimum>,
}

/// A number of streams to use: the fewest that reach the share asked for, by the best form.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Optimum {
    /// The form that says so.
    pub form: Form,
    /// How many.
    pub streams: u32,
    /// Where the curve reaches the share, and how far that moves as samples are left out.
    #[serde(rename = "spread")]
    pub knee: Spread,
}

/// Fits every form to `samples` of (streams, aggregate throughput) and ranks them.
pub fn fit(samples: Vec<(u32, Rate)>, knee: f64) -> Fitting {
    let streams_max = samples
        .iter()
        .map(|(streams, _)| *streams)
        .max()
        .unwrap_or(0);
    let ranked = rank(&samples, knee, streams_max);
    let sample = |(streams, throughput)| StreamsAt {
        streams,
        throughput,
    };
    Fitting {
        recommended: ranked
            .first()
            .and_then(|best| optimum(best, knee, streams_max)),
        samples: samples.into_iter().map(sample).collect(),
        knee,
        streams_max,
        ranked,
    }
}

fn optimum(best: &Ranked, share: f64, streams_max: u32) -> Option<Optimum> {
    let curve = best.fit.as_ref().ok()?.curve;
    let points: Vec<(u32, Rate)> = (1..=streams_max)
        .map(|n| (n, curve.throughput(n)))
        .collect();
    Some(Optimum {
        form: best.form,
        streams: fewest(&points, share)?.0,
        knee: best.knee?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use models::Curve;

    fn of(curve: &Curve, streams: &[u32]) -> Fitting {
        fit(
            streams.iter().map(|n| (*n, curve.throughput(*n))).collect(),
            0.9,
        )
    }

    #[test]
    fn the_knee_is_recommended_whether_the_peak_was_sampled_or_not() {
        let curve = Curve::FullSecondOrder {
            a: 1e-4,
            b: -1.5e-3,
            c: 0.012,
        };
        // Its peak is at 16; 90 % of that are reached from 10.5 streams on.
        let seen = of(&curve, &[1, 2, 4, 8, 16, 32]).recommended.unwrap();
        assert_eq!(seen.streams, 11);
        assert!((seen.knee.value - 10.5).abs() < 0.1, "{seen:?}");
        let beyond = of(&curve, &[1, 2, 4, 8]).recommended.unwrap();
        assert!(beyond.streams <= 8);
    }

    #[test]
    fn points_that_no_curve_fits_recommend_nothing() {
        assert_eq!(fit(Vec::new(), 0.9).recommended, None);
        let one = vec![(1, Rate::from_bits_per_second(5)); 3];
        assert_eq!(fit(one, 0.9).recommended, None);
    }
}
