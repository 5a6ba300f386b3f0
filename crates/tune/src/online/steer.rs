//! The state machine: when to add streams, when to let some go, when to leave them alone.
//!
//! A number of streams is looked at once those that joined have had time to settle. A change is a *trial*: the next look says
//! whether it stays or is taken back. At first trials follow each other upwards; when one has brought nothing,
//! the number stays as it is, and both ways are tried again after a while that grows with each trial in vain.

use observe::{StreamCount, Window};
use units::{Rate, Span};

use super::activity::{Bound, bound};
use super::limited::{Limited, Record};
use super::look::{Look, gain_wanted, loss_allowed};
use super::pool::Pool;
use super::{Interval, OnlinePlan, streams_for};
use crate::plan::Objective;

/// Streams to begin with where not even the round trip is known.
const FIRST: StreamCount = StreamCount::ONE;

/// Streams that start need some round trips until they show what they keep ...
const SETTLE_ROUND_TRIPS: u64 = 8;
const SETTLE_MIN: Span = Span::from_millis(500);
/// Then they are looked at for some more.
const LOOK_ROUND_TRIPS: u64 = 8;
const LOOK_MIN: Span = Span::from_secs(1);
/// A trial that chance could have decided is looked at for up to so many times as long.
const LOOKS_MAX: u64 = 3;
/// Chance could have decided it: the gain is closer to what is wanted than so many standard errors.
const ERRORS: f64 = 1.5;

/// A number of streams that was settled on stays for so long before another one is tried, ...
const REST: Span = Span::from_secs(30);
/// ... and twice as long after each trial in vain, up to this.
const REST_MAX: Span = Span::from_secs(600);
/// A rate that falls by this share for two looks is another state of the path.
const DRIFT: f64 = 0.2;
const DRIFT_LOOKS: u32 = 2;

/// A rate that falls by this share while streams are added was that of a start.
const START_FALLS: f64 = 0.1;

/// A buffer of one's own size, which the kernel doubles and which does not grow any more, must be so many times what it
/// has grown to.
const WINDOW_GAINS: u64 = 4;

/// So much of the copy must be left for a change to pay.
const LEFT_MIN: Span = Span::from_secs(3);
/// A rate limit counts as reached at this share of it.
const RATE_REACHED: f64 = 0.9;

/// How to go on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Steer {
    /// Streams from now on.
    pub streams: StreamCount,
    /// Socket buffers of streams from now on. Those that have others are to be replaced one by one.
    pub window: Window,
    /// Why, as a sentence for people without a full stop.
    pub why: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Way {
    Up,
    Down,
}

impl Way {
    fn other(self) -> Self {
        match self {
            Way::Up => Way::Down,
            Way::Down => Way::Up,
        }
    }
}

/// What the next look decides.
#[derive(Debug, Clone, Copy)]
enum Phase {
    /// More streams are tried for as long as they bring something; the look before the last change, if any.
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
    Trying(Look, Way),
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
    plan.remembered.map_or(by_rtt, |known| known.max(half))
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
    /// What is to be tried after the present rest, and how long that is.
    next_way: Way,
    rest: Span,
    /// More streams than this would have less than a few packets each.
    packets_max: Option<StreamCount>,
    rtt_min: Option<Span>,
    record: Record,
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
            next_way: Way::Down,
            rest: REST,
            packets_max: None,
            rtt_min: plan.rtt,
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
            (_, _, Some(rtt)) => {
                format!("a first guess for a round trip of {}", rtt.human())
            }
            _ => "nothing is known of the path yet".to_owned(),
        };
        self.steer(why)
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
        let binds = self.bound(interval);
        self.record.add(interval, binds);
        let seen = [self.rtt_min, interval.streams.rtt_min];
        self.rtt_min = seen.into_iter().flatten().min();
        self.since += interval.length;
        if self.since <= self.round_trips(SETTLE_ROUND_TRIPS).max(SETTLE_MIN) {
            return None;
        }
        self.pool.add(interval, self.round_trips(1));
        self.record.add_settled(self.streams, interval);
        let look = Look::of(self.streams, &self.pool);
        if self.needs_longer(&look) {
            return None;
        }
        self.pool = Pool::default();
        let is_free = self.plan.streams.is_none() && binds == Some(Bound::Network);
        match is_free && !self.ends_soon(interval, look.rate) {
            true => self.decide(look),
            false => None,
        }
    }

    /// What limited the copy so far; `None` where nothing was seen.
    pub fn limited(&self) -> Option<Limited> {
        self.record.limited(self.plan.rtt)
    }

    fn bound(&self, interval: &Interval) -> Option<Bound> {
        let rate = Rate::of(interval.streams.arrived, interval.length).as_f64();
        let limit = interval.rate_max.map(Rate::as_f64);
        match limit.is_some_and(|limit| rate >= RATE_REACHED * limit) {
            true => Some(Bound::RateLimit),
            false => bound(interval.sender.as_ref(), interval.receiver.as_ref()),
        }
    }

    fn round_trips(&self, count: u64) -> Span {
        self.rtt_min.map_or(Span::ZERO, |rtt| rtt.times(count))
    }

    /// Whether the look has to go on: for its least time, and for some more where chance could decide.
    fn needs_longer(&self, look: &Look) -> bool {
        let least = self.round_trips(LOOK_ROUND_TRIPS).max(LOOK_MIN);
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
            Phase::Climbing(Some(before)) | Phase::Trying(before, Way::Up) => {
                Some((before, self.wanted(&before)))
            }
            Phase::Trying(before, Way::Down) => Some((before, -loss_allowed(objective))),
            _ => None,
        }
    }

    fn ends_soon(&self, interval: &Interval, rate: Rate) -> bool {
        let enough = self.round_trips(SETTLE_ROUND_TRIPS).max(LEFT_MIN);
        interval
            .left
            .is_some_and(|left| left < rate.bytes_in(enough))
    }

    fn decide(&mut self, look: Look) -> Option<Steer> {
        if let Some(fewer) = look.fewer_for_packets() {
            self.packets_max = Some(fewer);
            self.phase = REST_BEGINS;
            let why = format!(
                "{} streams have too few packets on the way at {}",
                look.streams,
                look.rate.human()
            );
            return self.change(fewer, why);
        }
        if look.harms(self.plan.objective, self.rtt_min) && look.streams > StreamCount::ONE {
            self.next_way = Way::Down;
            return self.attempt(look, Way::Down);
        }
        match self.phase {
            Phase::Climbing(before) => self.climb(before, look),
            Phase::Trying(before, way) => self.judge(before, way, look),
            Phase::Resting {
                base,
                since,
                fallen,
            } => self.rest(base.unwrap_or(look), since, fallen, look),
        }
    }

    fn climb(&mut self, before: Option<Look>, look: Look) -> Option<Steer> {
        if let Some(before) = before
            && !self.is_worth_it(&before, &look)
            && !self.was_a_start(&before, &look)
        {
            return self.take_back(before, look);
        }
        match (self.is_full(&look), self.more()) {
            (false, Some(more)) => {
                self.phase = Phase::Climbing(Some(look));
                self.change(more, self.room(&look))
            }
            _ => {
                self.phase = REST_BEGINS;
                self.larger_window(&look)
            }
        }
    }

    /// Larger buffers for streams that theirs hold back, where there may be no more streams and the hosts grant more.
    fn larger_window(&mut self, look: &Look) -> Option<Steer> {
        let largest = self.plan.window_max.filter(|_| look.buffer_binds)?;
        let gains = largest.times(2) >= look.peer_window?.times(WINDOW_GAINS);
        if !gains || self.window != Window::Auto {
            return None;
        }
        self.window = Window::Fixed(largest);
        let why = format!("socket buffers hold {} streams back", look.streams);
        self.change(self.streams, why)
    }

    /// More streams that carry clearly less: those before were in a start that they could not have kept up, and
    /// their look says nothing.
    fn was_a_start(&self, before: &Look, look: &Look) -> bool {
        look.gain_over(before, Objective::Max) < -START_FALLS && !look.queue_stands(self.rtt_min)
    }

    fn room(&self, look: &Look) -> String {
        let carried = format!("{} streams carried {}", look.streams, look.rate.human());
        match look.buffer_binds {
            true => format!("{carried}, each held back by a socket buffer"),
            false => format!("{carried} without a queue"),
        }
    }

    fn is_worth_it(&self, before: &Look, look: &Look) -> bool {
        look.gain_over(before, self.plan.objective) >= self.wanted(before)
    }

    /// The gain over an earlier look that the streams which came since must bring.
    fn wanted(&self, before: &Look) -> f64 {
        let times = f64::from(self.streams.get()) / f64::from(before.streams.get());
        gain_wanted(self.plan.objective, times)
    }

    fn judge(&mut self, before: Look, way: Way, look: Look) -> Option<Steer> {
        let objective = self.plan.objective;
        let gave_way = before.harms(objective, self.rtt_min);
        let keeps = match way {
            Way::Up => self.is_worth_it(&before, &look),
            Way::Down => gave_way || look.gain_over(&before, objective) >= -loss_allowed(objective),
        };
        if !keeps {
            return self.take_back(before, look);
        }
        self.rest = REST;
        match gave_way || way == Way::Up && self.is_full(&look) {
            true => self.begin_rest(),
            false => self.attempt(look, way),
        }
    }

    /// Whether a queue says that more streams are in vain. It may be others' that more streams would get a part of: that is
    /// asked for by the highest goodput alone.
    fn is_full(&self, look: &Look) -> bool {
        look.queue_stands(self.rtt_min) && self.plan.objective != Objective::Max
    }

    fn begin_rest(&mut self) -> Option<Steer> {
        self.phase = REST_BEGINS;
        None
    }

    fn take_back(&mut self, before: Look, look: Look) -> Option<Steer> {
        self.phase = REST_BEGINS;
        self.rest = self.rest.times(2).min(REST_MAX);
        let why = format!(
            "{} streams carried {}, {} carried {}",
            before.streams,
            before.rate.human(),
            look.streams,
            look.rate.human()
        );
        self.change(before.streams, why)
    }

    fn rest(&mut self, base: Look, since: Span, fallen: u32, look: Look) -> Option<Steer> {
        let objective = self.plan.objective;
        let has_fallen = look.gain_over(&base, objective) < -DRIFT;
        let fallen = if has_fallen { fallen + 1 } else { 0 };
        let since = since + self.round_trips(LOOK_ROUND_TRIPS).max(LOOK_MIN);
        if fallen >= DRIFT_LOOKS {
            return self.attempt(look, Way::Up);
        }
        if since >= self.rest {
            let way = self.next_way;
            self.next_way = way.other();
            return self.attempt(look, way);
        }
        self.phase = Phase::Resting {
            base: Some(base),
            since,
            fallen,
        };
        None
    }

    /// Tries another number that way; rests where there is none.
    fn attempt(&mut self, look: Look, way: Way) -> Option<Steer> {
        let other = match way {
            Way::Up => self.more(),
            Way::Down => self.fewer(),
        };
        match other {
            Some(other) => {
                self.phase = Phase::Trying(look, way);
                let why = format!(
                    "a trial: {} streams carried {}",
                    look.streams,
                    look.rate.human()
                );
                self.change(other, why)
            }
            None => self.begin_rest(),
        }
    }

    /// Half as many more, as far as that is allowed; `None` at the bound.
    fn more(&self) -> Option<StreamCount> {
        let now = u64::from(self.streams.get());
        let wanted = StreamCount::new(now + now.div_ceil(2)).unwrap_or(StreamCount::MAX);
        let bounds = [Some(self.plan.streams_max), self.packets_max];
        let wanted = bounds.into_iter().flatten().fold(wanted, StreamCount::min);
        (wanted > self.streams).then_some(wanted)
    }

    /// A quarter fewer; `None` with one.
    fn fewer(&self) -> Option<StreamCount> {
        let now = u64::from(self.streams.get());
        let wanted = StreamCount::new(now - now.div_ceil(4)).ok()?;
        (wanted < self.streams).then_some(wanted)
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
