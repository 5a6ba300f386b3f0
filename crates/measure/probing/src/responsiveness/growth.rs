//! Streams that become more until the path is full.

use observe::{
    Amount, Direction, Observation, Peer, SamplePlan, Setting, StreamCount, Target, TargetError,
    Then, Way, Window,
};
use units::{Bytes, Span};

use super::intervals::intervals;
use super::judge::{Loaded, is_settled, saturated_after};
use super::{Growth, INTERVAL, STREAMS_MAX};
use crate::PartObserver;

/// Idle probes before the streams: as many as an interval has.
const IDLE: Span = Span::from_secs(2);
/// Streams that all start at once are through their slow start after some seconds; then seven are
/// left, as many as it takes to see a moving average stand still.
const AT_ONCE_MAX: Span = Span::from_secs(12);

/// Loads `target` in direction `way`.
///
/// # Errors
/// When not even one interval could be had.
pub(super) fn load(
    target: &mut dyn Target,
    way: Way,
    duration_max: Span,
    observer: &mut dyn PartObserver,
) -> Result<Loaded, TargetError> {
    let first = target.observe(&setting(way, 1), &plan(INTERVAL, IDLE), observer)?;
    let mut loaded = Loaded::beginning(&first);
    if first.peer == Peer::Iperf3 {
        all_at_once(target, way, duration_max, &mut loaded, observer)?;
        return Ok(loaded);
    }
    if !one_by_second(target, way, duration_max, &mut loaded, observer) {
        all_at_once(target, way, duration_max, &mut loaded, observer)?;
    }
    Ok(loaded)
}

/// One stream more each second. `false` where the target starts all streams anew each time.
fn one_by_second(
    target: &mut dyn Target,
    way: Way,
    duration_max: Span,
    loaded: &mut Loaded,
    observer: &mut dyn PartObserver,
) -> bool {
    let mut left = duration_max - INTERVAL;
    for streams in 2..=STREAMS_MAX {
        if left < INTERVAL || loaded.is_done() {
            break;
        }
        // Nothing more can join the last ones: they run for what is left.
        let lasting = match streams {
            STREAMS_MAX => left,
            _ => INTERVAL,
        };
        match target.observe(&setting(way, streams), &plan(lasting, Span::ZERO), observer) {
            Ok(seen) if seen.grown_from.is_none() => return false,
            Ok(seen) => loaded.add(&seen),
            Err(error) => {
                loaded.cut_because = Some(error.to_string());
                break;
            }
        }
        left = left - lasting;
    }
    true
}

/// All streams at once, in one run.
fn all_at_once(
    target: &mut dyn Target,
    way: Way,
    duration_max: Span,
    loaded: &mut Loaded,
    observer: &mut dyn PartObserver,
) -> Result<(), TargetError> {
    let lasting = duration_max.min(AT_ONCE_MAX);
    let plan = SamplePlan {
        then: Then::Stop,
        ..plan(lasting, Span::ZERO)
    };
    let seen = target.observe(&setting(way, STREAMS_MAX), &plan, observer)?;
    loaded.growth = Growth::AllAtOnce;
    loaded.intervals.clear();
    loaded.add(&seen);
    Ok(())
}

impl Loaded {
    fn beginning(first: &Observation) -> Self {
        let mut loaded = Loaded {
            peer: first.peer,
            growth: Growth::OneBySecond,
            idle: first.round_trips.unloaded.clone(),
            intervals: Vec::new(),
            delivered: Bytes::ZERO,
            elapsed: Span::ZERO,
            cut_because: None,
        };
        loaded.add(first);
        loaded
    }

    fn add(&mut self, seen: &Observation) {
        self.intervals.extend(intervals(seen));
        self.delivered += seen.bytes_delivered();
        self.elapsed += seen.elapsed;
    }

    /// Goodput had stopped growing, and then responsiveness too.
    fn is_done(&self) -> bool {
        let saturated = saturated_after(&self.intervals);
        saturated.is_some_and(|from| is_settled(&self.intervals, from))
    }
}

fn setting(way: Way, streams: u16) -> Setting {
    let streams = StreamCount::new(u64::from(streams)).unwrap_or(StreamCount::ONE);
    let direction = match way {
        Way::Forward => Direction::Forward,
        Way::Reverse => Direction::Reverse,
    };
    Setting {
        direction,
        ..Setting::new(streams, Window::Auto)
    }
}

fn plan(lasting: Span, unloaded: Span) -> SamplePlan {
    SamplePlan {
        amount: Amount::Time(lasting),
        precision: None,
        unloaded,
        then: Then::KeepRunning,
    }
}
