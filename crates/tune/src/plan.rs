//! What the tuner is asked for, and its defaults with their reasons.

use observe::{Amount, Precision, SamplePlan, Setting, StreamCount, Window};
use units::Span;

/// What makes one operating point better than another.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Objective {
    /// The fewest streams that reach this share of the highest goodput seen.
    Knee {
        /// Between 0 and 1.
        share: f64,
    },
    /// The highest goodput; among equals the fewest streams, then the smallest window.
    Max,
    /// The highest goodput per loaded round-trip time.
    ///
    /// Source: Kleinrock, "Power and deterministic rules of thumb for probabilistic problems in
    /// computer communications", ICC 1979.
    Power,
    /// The highest goodput that keeps to a budget of harm to others.
    Gentle {
        /// Delay that the run may add to the path's round-trip time.
        added_rtt_max: Span,
        /// Retransmitted share that the run may cause.
        loss_max: f64,
    },
}

impl Objective {
    /// 90 % of the maximum with the fewest streams: what an expert chose by hand on SLAC-TWAREN in
    /// 2006, for stability and for the others on the path.
    pub const KNEE: Objective = Objective::Knee { share: 0.9 };

    /// 30 ms of added delay, below which a voice call on the same path does not suffer, and one
    /// packet in a thousand.
    pub const GENTLE: Objective = Objective::Gentle {
        added_rtt_max: Span::from_millis(30),
        loss_max: 1e-3,
    };

    /// The word on the command line and in documents.
    pub fn name(&self) -> &'static str {
        match self {
            Objective::Knee { .. } => "knee",
            Objective::Max => "max",
            Objective::Power => "power",
            Objective::Gentle { .. } => "gentle",
        }
    }
}

impl Default for Objective {
    fn default() -> Self {
        Objective::KNEE
    }
}

/// How the tuner goes about it.
#[derive(Debug, Clone, PartialEq)]
pub struct TunePlan {
    /// What is sought.
    pub objective: Objective,
    /// Direction, congestion control and MSS of every sample; its streams, window and pacing are
    /// the tuner's to set.
    pub base: Setting,
    /// The most streams to try.
    pub streams_max: StreamCount,
    /// The longest that one sample may run.
    pub sample_max: Span,
    /// Time within which samples are taken, with two exceptions: the first three stream counts, and
    /// further ones as long as the last doubling brought more than a quarter.
    ///
    /// No sample at all is begun that could end after twice this time, except the first. What it
    /// takes to connect, and idle probes, come on top of the last sample.
    pub budget: Span,
}

impl Default for TunePlan {
    /// * 128 streams: the most that a run may have; the search stops long before on most paths.
    /// * 10 s a sample: 60 round trips at 165 ms, some teeth of a saw-tooth.
    /// * 55 s for everything: a user waits a minute.
    fn default() -> Self {
        TunePlan {
            objective: Objective::default(),
            base: Setting::new(StreamCount::ONE, Window::Auto),
            streams_max: StreamCount::MAX,
            sample_max: Span::from_secs(10),
            budget: Span::from_secs(55),
        }
    }
}

/// Twice the streams must bring this much, as a share of what is there, to go on doubling.
///
/// Half of the tenth that the knee gives away: stopping at the first smaller gain then cannot cost
/// more than one further doubling would.
pub(crate) const GAIN_MIN: f64 = 0.05;

/// A sample may stop when the 95 % interval is this narrow: as wide as the gain that is judged.
const HALF_WIDTH: f64 = 0.05;

/// Steady time in round trips. Twenty of them let a window halve and grow back a good part.
const STEADY_ROUND_TRIPS: u64 = 20;
/// ... and at least a second: ten intervals.
const STEADY_MIN: Span = Span::from_secs(1);
/// ... and at most this: beyond 200 ms the interval itself must tell.
const STEADY_MAX: Span = Span::from_secs(4);

/// The longest sample in round trips: ten of slow start, and then thirty.
const SAMPLE_ROUND_TRIPS: u64 = 40;
/// ... and at least this: an interval needs two seconds, and warm-up may take as long.
const SAMPLE_MIN: Span = Span::from_secs(4);

/// The first sample meets an unknown round trip, so it looks for longer before it may stop.
const FIRST_STEADY: Span = Span::from_secs(3);
/// ... and may run as long as one at 175 ms would.
const FIRST_MAX: Span = Span::from_secs(7);
/// ... and probes the idle path, once for the whole tuning.
const UNLOADED: Span = Span::from_secs(1);

impl TunePlan {
    /// How one sample is taken on a path with this round-trip time; `None` before it is known.
    ///
    /// ```
    /// # use tune::TunePlan;
    /// # use observe::Amount;
    /// # use units::Span;
    /// let plan = TunePlan::default();
    /// // 165 ms: 20 round trips are 3.3 s of steady time, 40 the 6.6 s that it may take.
    /// let far = plan.sample_plan(Some(Span::from_millis(165)));
    /// assert_eq!(far.precision.unwrap().steady_min, Span::from_millis(3_300));
    /// assert_eq!(far.amount, Amount::Time(Span::from_millis(6_600)));
    /// // 0.3 ms: one second of steady time is thousands of them.
    /// let near = plan.sample_plan(Some(Span::from_micros(300)));
    /// assert_eq!(near.precision.unwrap().steady_min, Span::from_secs(1));
    /// ```
    pub fn sample_plan(&self, rtt: Option<Span>) -> SamplePlan {
        let steady_min = rtt.map(|rtt| rtt.times(STEADY_ROUND_TRIPS).clamp(STEADY_MIN, STEADY_MAX));
        SamplePlan {
            amount: Amount::Time(self.sample_time(rtt)),
            precision: Some(Precision {
                relative_half_width: HALF_WIDTH,
                steady_min: steady_min.unwrap_or(FIRST_STEADY),
            }),
            unloaded: if rtt.is_some() { Span::ZERO } else { UNLOADED },
        }
    }

    /// The longest that one sample may run at this round-trip time.
    pub(crate) fn sample_time(&self, rtt: Option<Span>) -> Span {
        let wanted = rtt.map_or(FIRST_MAX, |rtt| rtt.times(SAMPLE_ROUND_TRIPS));
        wanted.max(SAMPLE_MIN).min(self.sample_max)
    }
}
