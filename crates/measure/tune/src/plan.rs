//! What the tuner is asked for, and its defaults with their reasons.

pub use models::Objective;
use observe::{Amount, MoverAxes, Precision, SamplePlan, Setting, StreamCount, Transport, Window};
use units::{Bytes, Rate, Span};

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
    /// What may vary from sample to sample; the rest stays as [`TunePlan::base`] has it.
    pub axes: Vec<Axis>,
    /// Which congestion controls are tried where [`TunePlan::base`] names none.
    pub controls: Controls,
    /// The longest that one sample may run.
    pub sample_max: Span,
    /// What the search may spend.
    pub budget: Budget,
    /// What earlier searches on this target recommended, the latest first. Tried early and believed
    /// only as far as a new sample bears it out.
    pub remembered: Vec<Remembered>,
    /// How long the recommended setting is run once more, beyond the budget, after which the answer
    /// is chosen anew, with this run as evidence; `None` does without.
    pub confirms: Option<Span>,
    /// Settings whose promises are asked for, sampled or not.
    pub asked: Vec<Setting>,
}

/// Something that the search may vary.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Axis {
    /// The number of streams.
    Streams,
    /// The socket buffers.
    Window,
    /// Each stream's sending rate.
    Pacing,
}

impl Axis {
    /// All of them, in the order of the command line.
    pub const ALL: [Axis; 3] = [Axis::Streams, Axis::Window, Axis::Pacing];

    /// The word on the command line and in documents.
    pub fn name(self) -> &'static str {
        match self {
            Axis::Streams => "streams",
            Axis::Window => "window",
            Axis::Pacing => "pacing",
        }
    }
}

/// Which congestion controls a search tries beside the sender's default one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Controls {
    /// None.
    Kept,
    /// bbr, where one default stream falls short because packets are lost, the sender may use it,
    /// and the objective is the knee or the highest goodput.
    #[default]
    WhereLosing,
    /// Each that the target offers.
    All,
}

/// What a search may spend. No sample is begun that would leave it, and one that goes on ends in
/// time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Budget {
    /// Time of the target, with connecting and idle probes; `None` takes [`Budget::time`]'s
    /// default.
    pub time: Option<Span>,
    /// Bytes delivered over all samples; `None` sets no bound.
    pub bytes: Option<Bytes>,
    /// Samples.
    pub samples: usize,
}

impl Budget {
    /// The shortest time that is taken where none was asked for.
    const TIME_MIN: Span = Span::from_secs(20);
    /// The same with another program, which starts, connects and ends anew for each sample.
    pub(crate) const MOVER_TIME_MIN: Span = Span::from_secs(60);
    /// The shortest time in round trips, where that is longer.
    const ROUND_TRIPS: u64 = 200;

    /// The time that the search may take on a path with this idle round-trip time.
    ///
    /// ```
    /// # use tune::Budget;
    /// # use units::Span;
    /// // 200 round trips of 165 ms.
    /// assert_eq!(Budget::default().time(Some(Span::from_millis(165))), Span::from_secs(33));
    /// assert_eq!(Budget::default().time(Some(Span::from_millis(20))), Span::from_secs(20));
    /// ```
    pub fn time(&self, rtt: Option<Span>) -> Span {
        let by_rtt = rtt.unwrap_or(Span::ZERO).times(Self::ROUND_TRIPS);
        self.time.unwrap_or(by_rtt.max(Self::TIME_MIN))
    }
}

impl Default for Budget {
    /// Twelve samples: seven stream counts from 1 to 128, and five for whatever they show.
    fn default() -> Self {
        Budget {
            time: None,
            bytes: None,
            samples: 12,
        }
    }
}

/// What an earlier search on the same target recommended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Remembered {
    /// The operating point.
    pub setting: Setting,
    /// The goodput it showed then.
    pub goodput: Rate,
    /// When that was, as people write it.
    pub when: String,
}

impl Default for TunePlan {
    /// * 128 streams: the most that a run may have; the search stops long before on most paths.
    /// * 10 s a sample: 60 round trips at 165 ms, some teeth of a saw-tooth.
    /// * Streams and windows, which every tool lets its user set, and bbr where losses hold the
    ///   default congestion control back.
    fn default() -> Self {
        TunePlan {
            objective: Objective::default(),
            base: Setting::new(StreamCount::ONE, Window::Auto),
            streams_max: StreamCount::MAX,
            sample_max: Span::from_secs(10),
            axes: vec![Axis::Streams, Axis::Window],
            controls: Controls::default(),
            budget: Budget::default(),
            remembered: Vec::new(),
            confirms: None,
            asked: Vec::new(),
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
/// The least steady time, a second: ten intervals.
const STEADY_MIN: Span = Span::from_secs(1);
/// The most steady time: beyond 200 ms the interval itself must tell.
const STEADY_MAX: Span = Span::from_secs(4);

/// The longest sample in round trips: ten of slow start, and as many after it. The inferred path
/// explains the start, so that more of them tell less than another sample.
const SAMPLE_ROUND_TRIPS: u64 = 20;
/// The least of it: twenty readings.
const SAMPLE_MIN: Span = Span::from_secs(2);

/// A long look in round trips: a fall and a rise of a window of a hundred segments.
const LONG_ROUND_TRIPS: u64 = 40;
/// The least time of a long look.
const LONG_MIN: Span = Span::from_secs(4);
/// The most time of a long look.
const LONG_MAX: Span = Span::from_secs(20);

/// The least in round trips that shows more than slow start.
const LEAST_ROUND_TRIPS: u64 = 14;
/// The same in time: sixteen readings.
const LEAST: Span = Span::from_millis(1_600);

/// The first sample meets an unknown round trip, so it looks for longer before it may stop.
const FIRST_STEADY: Span = Span::from_millis(1_500);
/// The longest first sample: as long as one at 150 ms.
const FIRST_MAX: Span = Span::from_secs(3);
/// How long the first sample probes the idle path, once for the whole search.
const UNLOADED: Span = Span::from_secs(1);

impl TunePlan {
    /// How one sample is taken on a path with this round-trip time; `None` before it is known.
    ///
    /// ```
    /// # use tune::TunePlan;
    /// # use observe::Amount;
    /// # use units::Span;
    /// let plan = TunePlan::default();
    /// // 165 ms: 20 round trips are 3.3 s, steady or not.
    /// let far = plan.sample_plan(Some(Span::from_millis(165)));
    /// assert_eq!(far.precision.unwrap().steady_min, Span::from_millis(3_300));
    /// assert_eq!(far.amount, Amount::Time(Span::from_millis(3_300)));
    /// // 0.3 ms: one second of steady time is thousands of them.
    /// let near = plan.sample_plan(Some(Span::from_micros(300)));
    /// assert_eq!(near.precision.unwrap().steady_min, Span::from_secs(1));
    /// ```
    pub fn sample_plan(&self, rtt: Option<Span>) -> SamplePlan {
        let steady_min = rtt.map(|rtt| rtt.times(STEADY_ROUND_TRIPS).clamp(STEADY_MIN, STEADY_MAX));
        SamplePlan {
            then: observe::Then::Stop,
            amount: Amount::Time(self.sample_time(rtt)),
            precision: Some(Precision {
                relative_half_width: HALF_WIDTH,
                steady_min: steady_min.unwrap_or(FIRST_STEADY),
            }),
            unloaded: if rtt.is_some() { Span::ZERO } else { UNLOADED },
        }
    }

    /// How a long look is taken: up to its full time, without an early end.
    pub(crate) fn long_plan(&self, rtt: Option<Span>) -> SamplePlan {
        let wanted = rtt.map_or(LONG_MIN, |rtt| rtt.times(LONG_ROUND_TRIPS));
        SamplePlan {
            amount: Amount::Time(wanted.clamp(LONG_MIN, LONG_MAX)),
            precision: None,
            ..self.sample_plan(rtt.or(Some(Span::ZERO)))
        }
    }

    /// The shortest sample that tells anything at this round-trip time.
    pub fn sample_time_min(&self, rtt: Option<Span>) -> Span {
        let wanted = rtt.map_or(Span::ZERO, |rtt| rtt.times(LEAST_ROUND_TRIPS));
        wanted.max(LEAST)
    }

    /// The same plan, with no more than what a program lets its user set, and what the transport
    /// has. Trunkline itself, `None`, sets everything.
    pub(crate) fn within(mut self, mover: Option<&MoverAxes>) -> Self {
        if self.base.transport == Transport::Udp {
            self.axes.retain(|axis| *axis != Axis::Window);
        }
        if let Some(mover) = mover {
            self.streams_max = self.streams_max.min(mover.streams_max);
            self.axes.retain(|axis| match axis {
                Axis::Window => mover.window,
                Axis::Pacing => mover.pacing,
                Axis::Streams => true,
            });
        }
        self
    }

    /// Whether the search may vary this.
    pub fn searches(&self, axis: Axis) -> bool {
        self.axes.contains(&axis)
    }

    /// The congestion controls that the search may try: none where the plan names one, and none
    /// over UDP, which has its own.
    pub(crate) fn controls(&self) -> Controls {
        match (&self.base.congestion, self.base.transport) {
            (None, Transport::Tcp) => self.controls,
            _ => Controls::Kept,
        }
    }

    /// The longest that one sample may run at this round-trip time.
    pub(crate) fn sample_time(&self, rtt: Option<Span>) -> Span {
        let wanted = rtt.map_or(FIRST_MAX, |rtt| rtt.times(SAMPLE_ROUND_TRIPS));
        wanted.max(SAMPLE_MIN).min(self.sample_max)
    }
}
