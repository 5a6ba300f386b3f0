//! The state machine: when to add streams, when to remove some, when to keep the number.
//!
//! A number of streams is judged once the new ones have settled. A change is a *trial*: the next
//! look keeps it or undoes it. At first trials only add streams. When one brings nothing, the
//! number stays, and both changes are tried again after a rest that grows with each trial in vain.

mod decide;

use copy_protocol::Limited;
use observe::{Limit, StreamCount, Window};
use units::{Rate, Span};

use super::bottleneck;
use super::limited::Record;
use super::look::{Look, loss_allowed};
use super::pool::Pool;
use super::{Interval, OnlinePlan, streams_for};

/// Streams to begin with where not even the round trip is known.
const FIRST: StreamCount = StreamCount::ONE;

/// Round trips until new streams show the rate that they keep.
const SETTLE_ROUND_TRIPS: u64 = 8;
const SETTLE_MIN: Span = Span::from_millis(500);
/// Length of a look after that.
const LOOK_ROUND_TRIPS: u64 = 8;
const LOOK_MIN: Span = Span::from_secs(1);
/// Factor by which a look may be prolonged whose result could be chance.
const LOOKS_MAX: u64 = 3;
/// Standard errors between gain and threshold below which a result could be chance.
const ERRORS: f64 = 1.5;

/// First rest after a number of streams was settled.
const REST: Span = Span::from_secs(30);

/// Least rest of the copy for which a change pays.
const LEFT_MIN: Span = Span::from_secs(3);

/// How to go on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Steer {
    /// Streams from now on.
    pub streams: StreamCount,
    /// Socket buffers of new streams. Streams with other buffers are to be replaced one by one.
    pub window: Window,
    /// Why, as a sentence for people without a full stop.
    pub why: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Change {
    Up,
    Down,
}

impl Change {
    fn other(self) -> Self {
        match self {
            Change::Up => Change::Down,
            Change::Down => Change::Up,
        }
    }
}

/// What the next look decides.
#[derive(Debug, Clone, Copy)]
enum Phase {
    /// More streams are tried while they bring something; the look before the last change, if any.
    Climbing(Option<Look>),
    /// The number is settled.
    Resting {
        /// The first look since.
        base: Option<Look>,
        /// For how long it is.
        since: Span,
        /// Looks in a row that were far below the first.
        fallen: u32,
    },
    /// Another number was tried after a rest; the look before.
    Trying(Look, Change),
}

const REST_BEGINS: Phase = Phase::Resting {
    base: None,
    since: Span::ZERO,
    fallen: 0,
};

/// Streams to begin with, where the user leaves that open.
fn first(plan: &OnlinePlan) -> StreamCount {
    let by_rtt = plan.rtt.map_or(FIRST, streams_for);
    let half = StreamCount::new(by_rtt.get().div_ceil(2).into()).unwrap_or(FIRST);
    let by_memory = plan.remembered.map_or(by_rtt, |known| known.max(half));
    plan.found.unwrap_or(by_memory).max(plan.streams_min)
}

/// Steers one copy.
#[derive(Debug, Clone)]
pub struct Online {
    plan: OnlinePlan,
    streams: StreamCount,
    window: Window,
    phase: Phase,
    /// Since the streams last changed.
    since: Span,
    pool: Pool,
    /// The part of it in which more streams could have brought more.
    free: Span,
    /// What is to be tried after the present rest, and how long that is.
    next_change: Change,
    rest: Span,
    /// The most packets that were on the way during any look.
    packets_most: f64,
    /// More streams than this would have less than a few of them each; `None` where that was never
    /// so.
    packets_max: Option<StreamCount>,
    rtt_min: Option<Span>,
    /// The share of what is sent that the path loses however few streams there are, as far as that
    /// was tried.
    path_loss: f64,
    /// The highest that any look showed.
    rate_best: Rate,
    record: Record,
    binds: Option<Limit>,
    /// Length of a look at least.
    look_min: Span,
}

impl Online {
    /// Nothing was seen yet.
    pub fn new(plan: OnlinePlan) -> Self {
        let streams = plan.streams.unwrap_or_else(|| first(&plan));
        Online {
            streams: streams.min(plan.streams_max),
            window: plan.window,
            phase: Phase::Climbing(None),
            since: Span::ZERO,
            pool: Pool::default(),
            free: Span::ZERO,
            next_change: Change::Down,
            rest: REST,
            packets_most: 0.0,
            packets_max: None,
            rtt_min: plan.rtt,
            path_loss: 0.0,
            rate_best: Rate::ZERO,
            record: Record::default(),
            binds: None,
            look_min: LOOK_MIN,
            plan,
        }
    }

    /// How to begin.
    pub fn start(&self) -> Steer {
        let plan = &self.plan;
        let why = match (plan.streams, plan.found, plan.remembered, plan.rtt) {
            (Some(_), ..) => "asked for".to_owned(),
            (_, Some(_), ..) => "what a search found".to_owned(),
            (_, _, Some(_), _) => "what this host needed the last time".to_owned(),
            (_, _, _, Some(rtt)) => {
                format!("a first guess for a round trip of {}", rtt.human())
            }
            _ => "nothing is known of the path yet".to_owned(),
        };
        self.steer(why)
    }

    /// So many streams from now on, without a search; `None` goes on with a search from there.
    pub fn fix(&mut self, streams: Option<StreamCount>) {
        self.plan.streams = streams;
        self.phase = REST_BEGINS;
        self.begin_look();
        if let Some(streams) = streams {
            self.streams = streams.min(self.plan.streams_max);
        }
    }

    /// At most so many streams from now on, whatever else asks for more. A search that had reached
    /// the bound before goes on.
    pub fn limit(&mut self, most: StreamCount) {
        let before = std::mem::replace(&mut self.plan.streams_max, most);
        if before == most {
            return;
        }
        let wanted = self.plan.streams.unwrap_or(self.streams).min(most);
        if most < before || self.streams == before {
            self.phase = Phase::Climbing(None);
            self.begin_look();
            self.streams = wanted;
        }
    }

    /// Streams as they should be now.
    pub fn streams(&self) -> StreamCount {
        self.streams
    }

    /// The smallest round trip seen.
    pub fn rtt_min(&self) -> Option<Span> {
        self.rtt_min
    }

    /// Tells what an interval showed; `Some` when something is to change.
    pub fn on_interval(&mut self, interval: &Interval) -> Option<Steer> {
        let seen = [self.rtt_min, interval.streams.rtt_min];
        let binds = bottleneck::binds(interval, seen.into_iter().flatten().min());
        self.on_interval_bound(interval, binds)
    }

    /// The same where it is known what bound during the interval.
    pub(crate) fn on_interval_bound(
        &mut self,
        interval: &Interval,
        binds: Option<Limit>,
    ) -> Option<Steer> {
        let seen = [self.rtt_min, interval.streams.rtt_min];
        self.rtt_min = seen.into_iter().flatten().min();
        self.binds = binds;
        self.record.add(interval, binds);
        self.since += interval.length;
        if self.since <= self.round_trips(SETTLE_ROUND_TRIPS).max(SETTLE_MIN) {
            return None;
        }
        self.pool.add(interval, self.round_trips(1));
        if binds == Some(Limit::Network) {
            self.record.add_settled(self.streams, interval);
        }
        if bottleneck::streams_may_help(interval, binds) {
            self.free += interval.length;
        }
        let look = Look::of(self.streams, &self.pool);
        if self.needs_longer(&look) {
            return None;
        }
        let look_length = std::mem::take(&mut self.pool).length;
        let free = std::mem::take(&mut self.free);
        let is_free = self.plan.streams.is_none() && free.times(2) > look_length;
        self.rate_best = self.rate_best.max(look.rate);
        match is_free && !self.ends_soon(interval) {
            true => self.decide(look),
            false => None,
        }
    }

    /// What bound during the last interval; `None` where no single part did.
    pub fn binds(&self) -> Option<Limit> {
        self.binds
    }

    /// What limited the copy so far; `None` where nothing was seen.
    pub fn limited(&mut self) -> Option<Limited> {
        self.record.limited(self.plan.rtt)
    }

    /// Looks last so long at least.
    pub(crate) fn with_looks_of(mut self, least: Span) -> Self {
        self.look_min = self.look_min.max(least);
        self
    }

    /// Something else than the number of streams changed: what was seen since it last changed does
    /// not count. A trial that is not decided is undone, as its gain could be that of the change.
    pub(crate) fn begin_look(&mut self) {
        match self.phase {
            Phase::Climbing(Some(before)) => {
                self.streams = before.streams;
                self.phase = Phase::Climbing(None);
            }
            Phase::Trying(before, _) => {
                self.streams = before.streams;
                self.phase = REST_BEGINS;
            }
            Phase::Climbing(None) | Phase::Resting { .. } => {}
        }
        self.since = Span::ZERO;
        self.pool = Pool::default();
        self.free = Span::ZERO;
    }

    fn round_trips(&self, count: u64) -> Span {
        self.rtt_min.map_or(Span::ZERO, |rtt| rtt.times(count))
    }

    /// Whether the look has to go on: for its least time, and for some more where chance could
    /// decide.
    fn needs_longer(&self, look: &Look) -> bool {
        let least = self.round_trips(LOOK_ROUND_TRIPS).max(self.look_min);
        if self.pool.length < least {
            return true;
        }
        let Some((before, wanted)) = self.judged_by() else {
            return false;
        };
        let Some(error) = look.error.zip(before.error).map(|(a, b)| a.hypot(b)) else {
            return false;
        };
        let margin = look.gain_over(&before, self.plan.objective) - wanted;
        margin.abs() < ERRORS * error && self.pool.length < least.times(LOOKS_MAX)
    }

    /// The look before the present trial, and the gain from which it is kept.
    fn judged_by(&self) -> Option<(Look, f64)> {
        let objective = self.plan.objective;
        match self.phase {
            Phase::Climbing(Some(before)) | Phase::Trying(before, Change::Up) => {
                Some((before, self.wanted(&before)))
            }
            Phase::Trying(before, Change::Down) => Some((before, -loss_allowed(objective))),
            _ => None,
        }
    }

    /// Whether the rest of the copy takes no longer, at the best rate seen, than a change takes to
    /// show. The present rate says nothing when the last pieces wait on the slowest streams.
    fn ends_soon(&self, interval: &Interval) -> bool {
        let enough = self.round_trips(SETTLE_ROUND_TRIPS).max(LEFT_MIN);
        let soon = self.rate_best.bytes_in(enough);
        interval.left.is_some_and(|left| left < soon)
    }

    fn change(&mut self, streams: StreamCount, why: String) -> Option<Steer> {
        self.streams = streams;
        self.since = Span::ZERO;
        Some(self.steer(why))
    }

    fn steer(&self, why: String) -> Steer {
        Steer {
            streams: self.streams,
            window: self.window,
            why,
        }
    }
}
