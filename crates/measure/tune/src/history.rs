//! What has been found so far, and the questions that strategies ask of it.

use std::cell::OnceCell;

use observe::{Amount, DirectionSummary, HostLimits, SamplePlan, Setting, StreamCount};
use observe::{TargetInfo, Window};
use units::{Bytes, Rate, Span};

use crate::belief::Belief;
use crate::plan::{Budget, TunePlan};
use crate::settings::candidates;
use crate::tuning::{Confirmation, Cost, FailedSample, Purpose, Sample};
use crate::worth::Table;

/// A sample leaves time for so many of its length, itself included.
const SAMPLES_AHEAD: u64 = 4;

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
    /// Which of the samples are runs of what was recommended.
    pub confirmations: Vec<Confirmation>,
    /// What the samples say of the path, once it was asked for.
    belief: OnceCell<Option<Belief>>,
    /// What each candidate is worth, once it was asked for.
    table: OnceCell<Option<Table>>,
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
            confirmations: Vec::new(),
            belief: OnceCell::new(),
            table: OnceCell::new(),
        }
    }

    /// One sample more.
    pub fn add(&mut self, sample: Sample) {
        self.samples.push(sample);
        self.belief = OnceCell::new();
        self.table = OnceCell::new();
    }

    /// What the samples say of the path; `None` where that is nothing.
    pub(crate) fn belief(&self) -> Option<&Belief> {
        self.belief.get_or_init(|| Belief::of(self)).as_ref()
    }

    /// What each setting that may be recommended is worth; `None` where the samples tell nothing of
    /// the path.
    pub(crate) fn table(&self) -> Option<&Table> {
        let table = || Table::of(self, candidates(self));
        self.table.get_or_init(table).as_ref()
    }

    /// Whether this setting, or those with as many streams and fewer, could not be sampled. Once
    /// may be the path's fault: it is asked for again. A failure counts no more against more
    /// streams than its own once as many were sampled.
    pub fn has_failed(&self, setting: &Setting) -> bool {
        let is_alike = |other: &Setting| {
            let streams = setting.streams;
            (other.transport, &other.congestion, other.moving)
                == (setting.transport, &setting.congestion, setting.moving)
                && other.streams <= streams
        };
        let were_sampled = |streams| {
            let mut samples = self.samples.iter().map(|sample| &sample.setting);
            samples.any(|other| is_alike(other) && other.streams >= streams)
        };
        let counts = |failed: &&FailedSample| {
            failed.setting == *setting
                || is_alike(&failed.setting) && !were_sampled(failed.setting.streams)
        };
        self.failed.iter().filter(counts).count() > 1
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
        self.samples.iter().map(Sample::rate).max()
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
        if self.samples.is_empty() {
            return Some(self.plan.sample_plan(None));
        }
        let rtt = self.rtt_for_sampling();
        let share = Span::from_nanos(self.time_left().as_nanos() / SAMPLES_AHEAD);
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
