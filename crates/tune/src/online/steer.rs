//! The state machine: when to add streams, when to let some go, when to leave them alone.

use observe::{StreamCount, Window};
use units::{Bytes, Rate, Span};

use super::activity::{Bound, bound};
use super::limited::{Limited, Record};
use super::pool::Pool;
use super::{Interval, streams_for};
use crate::plan::Objective;

/// What a copy is to be steered by.
#[derive(Debug, Clone, PartialEq)]
pub struct OnlinePlan {
    /// What the number of streams is chosen for.
    pub objective: Objective,
    /// The most streams.
    pub streams_max: StreamCount,
    /// So many streams and no search, where the user knows better.
    pub streams: Option<StreamCount>,
    /// What this host needed the last time.
    pub remembered: Option<StreamCount>,
    /// Socket buffers that the user asked for; with [`Window::Auto`] they are only set where a buffer binds.
    pub window: Window,
    /// The largest socket buffer that both hosts grant on request (`wmem_max`, `rmem_max`), where that is known.
    pub window_max: Option<Bytes>,
    /// Round trip of the handshake.
    pub rtt: Option<Span>,
}

impl Default for OnlinePlan {
    /// The knee, with at most as many streams as a run may have, and nothing known.
    fn default() -> Self {
        OnlinePlan {
            objective: Objective::default(),
            streams_max: StreamCount::MAX,
            streams: None,
            remembered: None,
            window: Window::Auto,
            window_max: None,
            rtt: None,
        }
    }
}

/// How to go on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Steer {
    /// Streams from now on.
    pub streams: StreamCount,
    /// Socket buffers of streams that are opened from now on.
    pub window: Window,
    /// Why, as a sentence for people without a full stop.
    pub why: String,
}

/// What one number of streams has shown.
#[derive(Debug, Clone, Copy)]
pub(super) struct Stage {
    pub streams: StreamCount,
    pub rate: Rate,
    pub rtt: Option<Span>,
    pub retransmitted_share: Option<f64>,
}

/// Streams that start need some round trips until they show what they keep ...
const SETTLE_ROUND_TRIPS: u64 = 6;
const SETTLE_MIN: Span = Span::from_millis(500);
/// ... and the first ones more: they begin with nothing.
const FIRST_ROUND_TRIPS: u64 = 12;
/// Then they are looked at for some more.
const LOOK_ROUND_TRIPS: u64 = 8;
const LOOK_MIN: Span = Span::from_secs(1);

/// More streams must bring this share of what they would if each carried as much as the others.
const GAIN_SHARE: f64 = 0.2;

/// Steers one copy.
#[derive(Debug, Clone)]
pub struct Online {
    plan: OnlinePlan,
    streams: StreamCount,
    window: Window,
    /// Since the streams last changed.
    since: Span,
    pool: Pool,
    stages: Vec<Stage>,
    rtt_min: Option<Span>,
    /// No more are added.
    is_settled: bool,
    record: Record,
}

impl Online {
    /// Nothing was seen yet.
    pub fn new(plan: OnlinePlan) -> Self {
        let by_rtt = || plan.rtt.map(streams_for);
        let known = plan.streams.or(plan.remembered).or_else(by_rtt);
        let streams = known.unwrap_or(FIRST).min(plan.streams_max);
        Online {
            streams,
            window: plan.window,
            since: Span::ZERO,
            pool: Pool::default(),
            stages: Vec::new(),
            rtt_min: plan.rtt,
            is_settled: false,
            record: Record::default(),
            plan,
        }
    }

    /// How to begin.
    pub fn start(&self) -> Steer {
        let plan = &self.plan;
        let why = match (plan.streams, plan.remembered, plan.rtt) {
            (Some(_), _, _) => "asked for".to_owned(),
            (_, Some(_), _) => "what this host needed the last time".to_owned(),
            (_, _, Some(rtt)) => format!("what a path of {} mostly needs", rtt.human()),
            _ => "nothing is known of the path yet".to_owned(),
        };
        self.steer(why)
    }

    /// Streams as they should be now.
    pub fn streams(&self) -> StreamCount {
        self.streams
    }

    /// Tells what an interval showed; `Some` when something is to change.
    pub fn on_interval(&mut self, interval: &Interval) -> Option<Steer> {
        let binds = self.bound(interval);
        self.record.add(interval, binds);
        let seen = [self.rtt_min, interval.streams.rtt_min];
        self.rtt_min = seen.into_iter().flatten().min();
        self.since += interval.length;
        if self.since <= self.settling() {
            return None;
        }
        self.pool.add(interval);
        if self.pool.length < self.looking() || self.plan.streams.is_some() {
            return None;
        }
        let stage = self.stage();
        self.stages.push(stage);
        self.pool = Pool::default();
        match binds {
            Some(Bound::Network) => self.next(stage),
            _ => None,
        }
    }

    /// What limited the copy so far; `None` where nothing was seen.
    pub fn limited(&self) -> Option<Limited> {
        self.record.limited(self)
    }

    fn bound(&self, interval: &Interval) -> Option<Bound> {
        let rate = Rate::of(interval.streams.arrived, interval.length).as_f64();
        let limit = interval.rate_max.map(Rate::as_f64);
        if limit.is_some_and(|limit| rate >= 0.9 * limit) {
            return Some(Bound::RateLimit);
        }
        bound(interval.sender.as_ref(), interval.receiver.as_ref())
    }

    fn round_trips(&self, count: u64) -> Span {
        self.rtt_min.map_or(Span::ZERO, |rtt| rtt.times(count))
    }

    fn settling(&self) -> Span {
        let round_trips = match self.stages.is_empty() {
            true => FIRST_ROUND_TRIPS,
            false => SETTLE_ROUND_TRIPS,
        };
        self.round_trips(round_trips).max(SETTLE_MIN)
    }

    fn looking(&self) -> Span {
        self.round_trips(LOOK_ROUND_TRIPS).max(LOOK_MIN)
    }

    fn stage(&self) -> Stage {
        Stage {
            streams: self.streams,
            rate: self.pool.rate(),
            rtt: self.pool.rtt(),
            retransmitted_share: self.pool.retransmitted_share(),
        }
    }

    fn next(&mut self, stage: Stage) -> Option<Steer> {
        if self.is_settled {
            return None;
        }
        let before = self
            .stages
            .iter()
            .rev()
            .find(|one| one.streams < stage.streams)
            .copied();
        if let Some(before) = before {
            let gain = stage.rate.as_f64() / before.rate.as_f64() - 1.0;
            let most = f64::from(stage.streams.get()) / f64::from(before.streams.get()) - 1.0;
            if gain < GAIN_SHARE * most {
                self.is_settled = true;
                return None;
            }
        }
        if self.queue_stands(&stage) {
            self.is_settled = true;
            return None;
        }
        let more = u64::from(self.streams.get()).div_ceil(2);
        let wanted =
            StreamCount::new(u64::from(self.streams.get()) + more).unwrap_or(StreamCount::MAX);
        let wanted = wanted.min(self.plan.streams_max);
        (wanted > self.streams).then(|| {
            let why = format!(
                "{} streams carry {} and no queue stands",
                self.streams,
                stage.rate.human()
            );
            self.change(wanted, why)
        })
    }

    /// Whether packets wait in a queue beside the streams: the link is full.
    fn queue_stands(&self, stage: &Stage) -> bool {
        let tcp = observe::TcpSummary {
            rtt: stage.rtt,
            ..Default::default()
        };
        self.rtt_min
            .is_some_and(|empty| tcp.standing_queue(empty).is_some())
    }

    fn change(&mut self, streams: StreamCount, why: String) -> Steer {
        self.streams = streams;
        self.since = Span::ZERO;
        self.pool = Pool::default();
        self.steer(why)
    }

    fn steer(&self, why: String) -> Steer {
        Steer {
            streams: self.streams,
            window: self.window,
            why,
        }
    }
}

/// Streams to begin with where not even the round trip is known.
const FIRST: StreamCount = StreamCount::ONE;
