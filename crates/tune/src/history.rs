//! What has been found so far, and the questions that strategies ask of it.

use observe::{Amount, DirectionSummary, HostLimits, SamplePlan, Setting, Steadiness, StreamCount};
use observe::{TargetInfo, TcpSummary, Verdict, Window, diagnose};
use units::{Bytes, Rate, Span};

use crate::controls;
use crate::explain;
use crate::over_udp;
use crate::plan::{Budget, TunePlan};
use crate::tuning::{Cost, FailedSample, Purpose, Sample};
use crate::windows;

/// Retransmitted share from which on several streams are taken to overflow a queue together.
const OVERLOAD: f64 = 3e-3;
/// That holds where it is this many times what one stream loses.
const OVERLOAD_FACTOR: f64 = 5.0;
/// And where they carry at least this share of the best: one stream of reno keeps three quarters of
/// a full path, and several keep more.
const CARRIES: f64 = 0.7;

/// An idle round trip is longer than the shortest one by this share, and this time, where others
/// keep a queue on the path.
const OTHERS_SHARE: f64 = 0.05;
const OTHERS_MIN: Span = Span::from_micros(500);

/// A sample leaves time for so many of its length, itself included: a climb has four or five rungs.
const SAMPLES_AHEAD: u64 = 4;
/// The same between two rungs, where a search has two or three.
const SAMPLES_AHEAD_LATE: u64 = 2;

/// Round trips that a run needs before its streams send: the handshakes of control and data.
const CONNECTING: u64 = 5;

/// Everything that is known at one point of a tuning.
#[derive(Debug)]
pub struct History {
    /// What is sought, and how.
    pub plan: TunePlan,
    /// What the target says of itself.
    pub target: TargetInfo,
    /// What was sampled, in order.
    pub samples: Vec<Sample>,
    /// What could not be.
    pub failed: Vec<FailedSample>,
}

impl Sample {
    /// Goodput of its main direction.
    pub(crate) fn rate(&self) -> Rate {
        self.summary
            .main()
            .map_or(Rate::ZERO, |way| way.goodput.mean)
    }

    /// Goodput of all its directions.
    pub fn goodput(&self) -> observe::Goodput {
        self.summary.goodput()
    }

    /// How many streams its setting has.
    pub fn streams(&self) -> StreamCount {
        self.setting.streams
    }

    /// Share of the bytes that its main direction sent again, 0 to 1; `None` where it is unknown.
    pub fn retransmitted_share(&self) -> Option<f64> {
        self.summary.main()?.tcp.retransmitted_share
    }
}

impl History {
    /// An empty history.
    pub fn new(plan: TunePlan, target: TargetInfo) -> Self {
        History {
            plan,
            target,
            samples: Vec::new(),
            failed: Vec::new(),
        }
    }

    /// Whether this setting could not be sampled. Once may be the path's fault: it is asked for
    /// again.
    pub fn has_failed(&self, setting: &Setting) -> bool {
        let failed = self.failed.iter();
        failed.filter(|failed| failed.setting == *setting).count() > 1
    }

    /// What could not be sampled in the end, each setting once.
    pub(crate) fn take_failed(&mut self) -> Vec<FailedSample> {
        let mut failed: Vec<FailedSample> = Vec::new();
        for one in std::mem::take(&mut self.failed) {
            let is_sampled = self.samples.iter().any(|two| two.setting == one.setting);
            if !is_sampled && failed.iter().all(|two| two.setting != one.setting) {
                failed.push(one);
            }
        }
        failed
    }

    /// The plan's setting with these streams and this window.
    pub fn setting(&self, streams: StreamCount, window: Window) -> Setting {
        Setting {
            streams,
            window,
            pacing: None,
            ..self.plan.base.clone()
        }
    }

    /// The host's limits, where it tells.
    pub fn limits(&self) -> Option<HostLimits> {
        self.target.limits
    }

    /// Samples that may be recommended, each with its index. Of several with the same setting only
    /// the last counts: it was taken to be surer.
    pub fn candidates(&self) -> Vec<(usize, &Sample)> {
        let repeated_later = |index: usize, sample: &Sample| {
            self.samples
                .iter()
                .skip(index + 1)
                .any(|later| later.setting == sample.setting)
        };
        let all = self.samples.iter().enumerate();
        let all = all.filter(|(_, sample)| self.may_be_recommended(sample));
        all.filter(|(index, sample)| !repeated_later(*index, sample))
            .collect()
    }

    /// What only explains is no candidate, nor are bbr and UDP where they do not gain enough.
    fn may_be_recommended(&self, sample: &Sample) -> bool {
        sample.purpose != Purpose::Explain
            && controls::doubt(self, sample).is_none()
            && over_udp::doubt(self, sample).is_none()
    }

    /// The last sample with this setting.
    pub fn of(&self, setting: &Setting) -> Option<&Sample> {
        self.samples
            .iter()
            .rev()
            .find(|sample| sample.setting == *setting)
    }

    /// Samples taken for one purpose, in order.
    pub fn taken_for(&self, purpose: Purpose) -> Vec<&Sample> {
        self.samples
            .iter()
            .filter(|sample| sample.purpose == purpose)
            .collect()
    }

    /// The highest goodput seen in the main direction, by whichever sample.
    pub fn rate_best(&self) -> Option<Rate> {
        let candidates = self.candidates().into_iter();
        candidates.map(|(_, sample)| sample.rate()).max()
    }

    /// The shortest round-trip time that anything saw: that of the empty path.
    pub fn rtt_min(&self) -> Option<Span> {
        let seen = |sample: &Sample| {
            let by_streams = sample.summary.main().and_then(|way| way.tcp.rtt_min);
            [by_streams, sample.summary.rtt_unloaded]
                .into_iter()
                .flatten()
                .min()
        };
        self.samples.iter().filter_map(seen).min()
    }

    /// Whether a queue stood on the path beside a sample: the sign of a full link.
    pub fn queue_stands(&self, sample: &Sample) -> bool {
        let way = main_direction(sample);
        let share = way
            .zip(self.rtt_min())
            .and_then(|(way, empty)| way.tcp.standing_queue(empty));
        share.is_some()
    }

    /// Whether a sample filled a path that others leave alone: it added a standing queue, or where
    /// the queue is too short to stand, lost far more packets than one stream does.
    pub fn is_full(&self, sample: &Sample) -> bool {
        !self.others_queue() && (self.adds_queue(sample) || self.overloads(sample))
    }

    fn adds_queue(&self, sample: &Sample) -> bool {
        let loaded = TcpSummary {
            rtt: sample.summary.rtt_loaded,
            ..TcpSummary::default()
        };
        let idle = self.rtt_unloaded();
        idle.is_some_and(|idle| loaded.standing_queue(idle).is_some())
    }

    fn overloads(&self, sample: &Sample) -> bool {
        let alone = self.samples.first().and_then(Sample::retransmitted_share);
        let lost = sample.retransmitted_share().unwrap_or(0.0);
        let settled =
            main_direction(sample).is_some_and(|way| way.steady.steadiness == Steadiness::Settled);
        // Streams that carried far less than others lost it all at once, as their slow start
        // overflows a queue: they did not fill the path.
        let alike = |one: &&Sample| {
            one.setting.congestion == sample.setting.congestion
                && one.setting.transport == sample.setting.transport
        };
        let best = self.samples.iter().filter(alike).map(Sample::rate).max();
        let carries = best.is_none_or(|best| sample.rate().as_f64() >= CARRIES * best.as_f64());
        settled && carries && lost > OVERLOAD && lost > OVERLOAD_FACTOR * alone.unwrap_or(0.0)
    }

    /// The share of packets that the path loses whatever is sent: what one stream lost by itself,
    /// where no others keep a queue.
    pub fn path_loss(&self) -> f64 {
        let alone = self.samples.iter().rev().find(|sample| {
            sample.streams() == StreamCount::ONE
                && self.may_be_recommended(sample)
                && !self.is_full(sample)
        });
        let lost = alone.and_then(Sample::retransmitted_share);
        lost.filter(|_| !self.others_queue()).unwrap_or(0.0)
    }

    /// Whether the idle path has a queue already: others fill it.
    pub fn others_queue(&self) -> bool {
        let times = self.rtt_unloaded().zip(self.rtt_min());
        times.is_some_and(|(idle, empty)| {
            let queueing = idle - empty;
            queueing > OTHERS_MIN && queueing.as_secs_f64() > OTHERS_SHARE * empty.as_secs_f64()
        })
    }

    /// Whether a sample was long enough for windows to fall and grow back many times.
    pub fn is_long(&self, sample: &Sample) -> bool {
        let way = main_direction(sample).zip(self.rtt_min());
        way.is_some_and(|(way, rtt)| way.steady.is_long(rtt))
    }

    /// Mean round-trip time of the idle path, as the first sample probed it.
    pub fn rtt_unloaded(&self) -> Option<Span> {
        self.samples
            .iter()
            .find_map(|sample| sample.summary.rtt_unloaded)
    }

    /// The round-trip time on which the next sample's length is based: as loaded as the last one
    /// saw it.
    pub fn rtt_for_sampling(&self) -> Option<Span> {
        let loaded = self
            .samples
            .last()
            .and_then(|sample| sample.summary.rtt_loaded);
        loaded.max(self.rtt_unloaded()).max(self.rtt_min())
    }

    /// The bandwidth-delay product of the highest goodput seen on the empty path's round trip.
    pub fn product(&self) -> Option<Bytes> {
        Some(self.rate_best()?.bytes_in(self.rtt_min()?))
    }

    /// What has been spent.
    pub fn cost(&self) -> Cost {
        let sampled = self.samples.iter().map(|sample| Cost {
            elapsed: sample.observation.elapsed,
            bytes: sample.observation.bytes_delivered(),
        });
        let failed = self.failed.iter().map(|failed| failed.cost);
        let sum = |sum: Cost, one: Cost| Cost {
            elapsed: sum.elapsed + one.elapsed,
            bytes: sum.bytes + one.bytes,
        };
        sampled.chain(failed).fold(Cost::default(), sum)
    }

    /// How the next sample is taken: no longer than a share of what the budget leaves, so that
    /// others can follow. `None` when too little is left to tell anything.
    pub fn sample_plan(&self) -> Option<SamplePlan> {
        self.plan_with(SAMPLES_AHEAD)
    }

    /// The same for the last few samples, which can take more of what is left.
    pub fn longer_plan(&self) -> Option<SamplePlan> {
        self.plan_with(SAMPLES_AHEAD_LATE)
    }

    fn plan_with(&self, samples_ahead: u64) -> Option<SamplePlan> {
        if self.samples.is_empty() {
            return Some(self.plan.sample_plan(None));
        }
        let rtt = self.rtt_for_sampling();
        let share = Span::from_nanos(self.time_left().as_nanos() / samples_ahead);
        let most = share.max(self.plan.sample_time_min(rtt));
        let plan = self.plan.sample_plan(rtt);
        self.within_budget(shortened(plan, most))
    }

    /// The same for a long look: all of its time, without an early end.
    pub fn long_plan(&self) -> Option<SamplePlan> {
        self.within_budget(self.plan.long_plan(self.rtt_for_sampling()))
    }

    fn within_budget(&self, plan: SamplePlan) -> Option<SamplePlan> {
        let left = self.time_left();
        let least = self.plan.sample_time_min(self.rtt_for_sampling());
        let room = self.samples.len() < self.plan.budget.samples && left >= least;
        room.then(|| shortened(plan, left))
    }

    /// Sending time that the budget still allows, in seconds and in bytes at the highest rate seen.
    pub(crate) fn time_left(&self) -> Span {
        let spent = self.cost();
        let connecting = self
            .rtt_for_sampling()
            .unwrap_or(Span::ZERO)
            .times(CONNECTING);
        let time = self.time_allowed();
        let by_time = time - (spent.elapsed + connecting);
        let bytes = self.bytes_left().map(|bytes| (bytes, self.rate_best()));
        match bytes {
            Some((bytes, Some(rate))) if rate > Rate::ZERO => by_time.min(rate.time_to_send(bytes)),
            _ => by_time,
        }
    }

    /// The time that the search may take.
    fn time_allowed(&self) -> Span {
        let budget = &self.plan.budget;
        let usual = budget.time(self.rtt_min());
        let is_slow = budget.time.is_none() && self.target.mover.is_some();
        if is_slow {
            usual.max(Budget::MOVER_TIME_MIN)
        } else {
            usual
        }
    }

    /// Bytes that the budget still allows; `None` without a bound.
    pub fn bytes_left(&self) -> Option<Bytes> {
        let bound = self.plan.budget.bytes?;
        Some(bound - self.cost().bytes.min(bound))
    }

    /// The window on which the climb to so many streams goes on.
    pub(crate) fn climbing_window(&self, streams: StreamCount) -> Window {
        windows::climbing(self, streams)
    }

    /// The setting of a rung of the climb.
    pub(crate) fn climbing(&self, streams: StreamCount) -> Setting {
        let setting = self.setting(streams, self.climbing_window(streams));
        Setting {
            congestion: controls::climbing(self).or(setting.congestion),
            ..setting
        }
    }

    /// What limits a sample, with all that the others tell about it.
    pub fn verdict(&self, sample: &Sample) -> Verdict {
        diagnose(&sample.summary, &explain::context(self, sample))
    }
}

fn shortened(plan: SamplePlan, most: Span) -> SamplePlan {
    let amount = match plan.amount {
        Amount::Time(wanted) => Amount::Time(wanted.min(most)),
        other => other,
    };
    SamplePlan { amount, ..plan }
}

/// The main direction's figures of a sample, where it has one.
pub(crate) fn main_direction(sample: &Sample) -> Option<&DirectionSummary> {
    sample.summary.main()
}
