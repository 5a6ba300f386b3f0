//! Windows small enough not to overflow the path's queue.
//!
//! Streams left to grow find the end of a queue only by overflowing it, and several do so together.
//! Over a queue much shorter than the bandwidth-delay product they then spend their time
//! recovering: from SLAC to CERN, 8 windows of 64 kB carried 2.8 times as much as 2 of 256 kB
//! (Cottrell et al., 2000-2001). Windows that add up to the product never get there.

use observe::{Limit, StreamCount, Window};
use units::{Bytes, Rate};

use crate::choose::choose;
use crate::history::{History, main_direction};
use crate::ladder;
use crate::plan::Objective;
use crate::strategy::Request;
use crate::tuning::{Purpose, Sample};
use crate::windows::{granted_max, request, window_for};

/// Samples of fixed small windows at the most: 4 to 64 streams.
const RUNGS_MAX: usize = 5;
/// Fewer streams than this are not worth starting with: several automatic ones failed already.
const STREAMS_MIN: u64 = 4;
/// Streams that lose this much together, and this many times what one loses alone, overflow the
/// queue themselves: random loss would be the same for all.
const LOSS_HEAVY: f64 = 0.02;
const SELF_INFLICTED: f64 = 2.0;
/// So do streams that lose this much when more of them carry less than this share of the best:
/// under random loss more streams carry more.
const LOSS_NOTABLE: f64 = 0.005;
const FALLEN: f64 = 0.9;
/// The smallest window of such a ladder: 64 KiB, what TCP could offer before window scaling.
/// Smaller ones need more streams than paths have packets.
const WINDOW_MIN: Bytes = Bytes::from_kib(64);

/// A window that leaves the queue alone, where there is reason to mind it.
pub(crate) fn fitting(history: &History) -> Option<Request> {
    let taken = history.taken_for(Purpose::Fit);
    if let Some(last) = taken.last() {
        return more_streams(history, &taken, last);
    }
    first_small(history).or_else(|| shorter_queue(history))
}

/// Small windows at a number of streams that should carry as much as the best so far.
fn first_small(history: &History) -> Option<Request> {
    let lost = self_inflicted_loss(history)?;
    let alone = history.of(&history.setting(StreamCount::ONE, Window::Auto))?;
    let kept = main_direction(alone)?.tcp.congestion_window?;
    let window = small_window(history, kept);
    let streams = history
        .product()?
        .get()
        .div_ceil(window.get())
        .max(STREAMS_MIN);
    let streams = StreamCount::new(streams.checked_next_power_of_two()?).ok()?;
    let why = format!(
        "streams left to grow lose {:.1} % together; {} is half of what one keeps alone",
        lost * 100.0,
        window.human()
    );
    Some(request(
        history,
        streams.min(history.plan.streams_max),
        window,
        Purpose::Fit,
        why,
    ))
}

/// The highest share that several automatic streams lost, when that is their own doing.
fn self_inflicted_loss(history: &History) -> Option<f64> {
    let rungs = history.taken_for(Purpose::Streams);
    let (alone, together) = rungs.split_first()?;
    let lost = |sample: &Sample| sample.retransmitted_share();
    let worst = together.iter().copied().filter_map(lost).reduce(f64::max)?;
    let best = rungs.iter().map(|sample| sample.rate()).max()?;
    let heavy = worst > LOSS_HEAVY && worst > SELF_INFLICTED * lost(alone).unwrap_or(0.0);
    let fell = together.last()?.rate().as_f64() < FALLEN * best.as_f64();
    (heavy || (fell && worst > LOSS_NOTABLE)).then_some(worst)
}

/// Half of what one stream keeps by itself, rounded down to a power of two: it seldom has to be
/// cut.
fn small_window(history: &History, kept: Bytes) -> Bytes {
    let half = kept.get() / 2;
    let power = if half == 0 { 0 } else { 1 << half.ilog2() };
    let window = Bytes::new(power).max(WINDOW_MIN);
    granted_max(history.limits()).map_or(window, |granted| window.min(granted))
}

/// Twice the streams with the same window, while that pays.
fn more_streams(history: &History, taken: &[&Sample], last: &Sample) -> Option<Request> {
    let Window::Fixed(window) = last.setting.window else {
        return None;
    };
    let overflow = self_inflicted_loss(history).is_some();
    let done = ladder::has_ended(taken) || fell_short(taken, history) || reached(last, history);
    if !overflow || done || taken.len() >= RUNGS_MAX {
        return None;
    }
    let streams = last
        .streams()
        .doubled()
        .filter(|next| *next <= history.plan.streams_max)?;
    let why = format!(
        "{} x {} carried {}",
        last.streams(),
        window.human(),
        last.rate().human()
    );
    Some(request(history, streams, window, Purpose::Fit, why))
}

/// Whether it carries as much as automatic windows do, and they ended on a level: there is no more.
fn reached(last: &Sample, history: &History) -> bool {
    let best = history.rate_best().unwrap_or(Rate::ZERO).as_f64();
    ladder::levelled(history, Purpose::Streams) && last.rate().as_f64() >= FALLEN * best
}

/// Whether the first of them did not even come near what automatic windows reach.
fn fell_short(taken: &[&Sample], history: &History) -> bool {
    let rungs = history.taken_for(Purpose::Streams);
    let auto = rungs
        .iter()
        .map(|sample| sample.rate())
        .max()
        .unwrap_or(Rate::ZERO);
    let best = taken
        .iter()
        .map(|sample| sample.rate())
        .max()
        .unwrap_or(Rate::ZERO);
    best.as_f64() < FALLEN * auto.as_f64()
}

/// Where the objective minds delay: windows that just fill the path, at the streams chosen so far.
fn shorter_queue(history: &History) -> Option<Request> {
    if !matches!(
        history.plan.objective,
        Objective::Power | Objective::Gentle { .. }
    ) {
        return None;
    }
    let chosen = history.samples.get(choose(history)?.sample)?;
    let stands = history.verdict(chosen).limit == Limit::Link;
    let window = window_for(
        history.product()?,
        chosen.streams(),
        granted_max(history.limits()),
    );
    (stands && chosen.setting.window == Window::Auto).then(|| {
        let why = format!(
            "a queue stands when windows grow freely; {} streams of {} just fill the path",
            chosen.streams(),
            window.human()
        );
        request(history, chosen.streams(), window, Purpose::Fit, why)
    })
}
