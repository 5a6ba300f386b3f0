//! Doubling the streams until it brings nothing.

use observe::{StreamCount, Window};

use units::Rate;

use crate::history::History;
use crate::plan::GAIN_MIN;
use crate::strategy::Request;
use crate::tuning::{Purpose, Sample};

/// A gain that could be larger than this, as far as the intervals tell, is worth one more doubling.
const GAIN_POSSIBLE: f64 = 0.25;

/// A last rung this close to the best seen is a level and not a collapse.
const LEVEL: f64 = 0.9;

/// The next stream count on automatic windows; `None` when the ladder has ended.
pub(crate) fn next_rung(history: &History) -> Option<Request> {
    let rungs = history.taken_for(Purpose::Streams);
    let Some(last) = rungs.last() else {
        return Some(first(history));
    };
    if has_ended(&rungs) {
        return None;
    }
    let streams = last
        .streams()
        .doubled()
        .filter(|next| *next <= history.plan.streams_max)?;
    let why = match gain(&rungs) {
        None => "to see what a second stream brings".to_owned(),
        Some(gain) => format!("{} streams carried {}", last.streams(), change(gain)),
    };
    Some(request(history, streams, why))
}

/// What the path carries, as far as more streams did not raise it: the highest rate of the main
/// direction, once doubling has ended on a level close to it.
///
/// A ladder whose rate collapsed, as where streams overflow a shallow queue together, shows
/// nothing.
pub(crate) fn plateau(history: &History) -> Option<Rate> {
    let best = history.rate_best()?;
    let on_level = |purpose| {
        let rungs = history.taken_for(purpose);
        let level = rungs
            .last()
            .map(|last| last.rate().as_f64() / best.as_f64());
        has_ended(&rungs) && level.is_some_and(|level| level >= LEVEL)
    };
    (on_level(Purpose::Streams) || on_level(Purpose::Fit)).then_some(best)
}

fn first(history: &History) -> Request {
    request(
        history,
        StreamCount::ONE,
        "one stream with everything as the host has it".to_owned(),
    )
}

fn request(history: &History, streams: StreamCount, why: String) -> Request {
    Request {
        setting: history.setting(streams, Window::Auto),
        plan: history.plan.sample_plan(
            history
                .rtt_for_sampling()
                .filter(|_| streams > StreamCount::ONE),
        ),
        purpose: Purpose::Streams,
        why,
    }
}

fn change(gain: f64) -> String {
    format!("{:+.0} % against half as many", gain * 100.0)
}

/// What the last doubling brought, as a share of what was there.
fn gain(rungs: &[&Sample]) -> Option<f64> {
    let [.., before, last] = rungs else {
        return None;
    };
    let before = before.goodput().mean.as_f64();
    (before > 0.0).then(|| last.goodput().mean.as_f64() / before - 1.0)
}

/// Ended by one doubling that surely brought little, or by two that seem to.
pub(crate) fn has_ended(rungs: &[&Sample]) -> bool {
    let small = |rungs: &[&Sample]| gain(rungs).is_some_and(|gain| gain < GAIN_MIN);
    let Some((_, earlier)) = rungs.split_last() else {
        return false;
    };
    small(rungs) && (is_sure(rungs) || small(earlier))
}

/// Whether the intervals leave no room for a gain worth having.
fn is_sure(rungs: &[&Sample]) -> bool {
    let [.., before, last] = rungs else {
        return false;
    };
    let (before, last) = (before.goodput(), last.goodput());
    let known = before.interval.is_some() && last.interval.is_some();
    known && last.high().as_f64() <= before.low().as_f64() * (1.0 + GAIN_POSSIBLE)
}
