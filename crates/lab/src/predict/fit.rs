//! What measured points say about streams that were not measured.
//!
//! The curves say nothing beyond the most streams that were sampled, and are not asked to: a peak that lies
//! further out gives way to the knee.

use models::{Form, Ranked, Spread, rank};
use units::Rate;

/// Measured points, and the curves through them.
#[derive(Debug, Clone, PartialEq)]
pub struct Fitting {
    /// The points: streams and aggregate throughput.
    pub samples: Vec<(u32, Rate)>,
    /// Share of the highest throughput at which a knee lies.
    pub knee: f64,
    /// The most streams that were sampled.
    pub streams_max: u32,
    /// The forms, the one that predicts best what it has not seen first.
    pub ranked: Vec<Ranked>,
    /// What the first of them recommends; `None` when no form fits.
    pub recommended: Option<Optimum>,
}

/// A number of streams to use.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Optimum {
    /// The form that says so.
    pub form: Form,
    /// Why so many.
    pub rule: Rule,
    /// How many, and how far that moves as samples are left out.
    pub streams: Spread,
}

/// Why a number of streams is recommended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Rule {
    /// Throughput is highest there.
    Peak,
    /// The fewest streams that reach the share asked for: no peak lies among the samples.
    Knee,
}

/// Fits every form to `samples` of (streams, aggregate throughput) and ranks them.
pub fn fit(samples: Vec<(u32, Rate)>, knee: f64) -> Fitting {
    let streams_max = samples
        .iter()
        .map(|(streams, _)| *streams)
        .max()
        .unwrap_or(0);
    let ranked = rank(&samples, knee, streams_max);
    Fitting {
        recommended: ranked.first().and_then(|best| optimum(best, streams_max)),
        samples,
        knee,
        streams_max,
        ranked,
    }
}

fn optimum(best: &Ranked, streams_max: u32) -> Option<Optimum> {
    let within = |peak: &Spread| peak.value <= f64::from(streams_max);
    let (rule, streams) = match best.peak.filter(within) {
        Some(peak) => (Rule::Peak, peak),
        None => (Rule::Knee, best.knee?),
    };
    Some(Optimum {
        form: best.form,
        rule,
        streams,
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
    fn a_peak_among_the_samples_is_recommended_and_one_beyond_is_not() {
        let curve = Curve::FullSecondOrder {
            a: 1e-4,
            b: -1.5e-3,
            c: 0.012,
        };
        let seen = of(&curve, &[1, 2, 4, 8, 16, 32]).recommended.unwrap();
        assert_eq!(seen.rule, Rule::Peak);
        assert!((seen.streams.value - 16.0).abs() < 0.1, "{seen:?}");
        let beyond = of(&curve, &[1, 2, 4, 8]).recommended.unwrap();
        assert_eq!(beyond.rule, Rule::Knee);
        assert!(beyond.streams.value <= 8.0);
    }

    #[test]
    fn points_that_no_curve_fits_recommend_nothing() {
        assert_eq!(fit(Vec::new(), 0.9).recommended, None);
        let one = vec![(1, Rate::from_bits_per_second(5)); 3];
        assert_eq!(fit(one, 0.9).recommended, None);
    }
}
