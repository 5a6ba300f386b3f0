//! Doubling the streams until it brings nothing.

use observe::{StreamCount, Window};

use units::Rate;

use crate::history::History;
use crate::plan::GAIN_MIN;
use crate::strategy::Request;
use crate::tuning::{Purpose, Sample};

/// A gain that is larger than this, or could be as far as the intervals tell, is worth one more
/// doubling.
const GAIN_CLEAR: f64 = 0.25;

/// Rungs below which the budget does not end the ladder: with fewer, no trend shows.
const RUNGS_MIN: usize = 3;

/// A rung at this share of the best is on its level; below, the rate fell.
const LEVEL: f64 = 0.9;

/// The next stream count on automatic windows; `None` when the ladder has ended.
pub(crate) fn next_rung(history: &History) -> Option<Request> {
    let rungs = history.taken_for(Purpose::Streams);
    let Some(last) = rungs.last() else {
        return Some(first(history));
    };
    if has_settled(history, &rungs) || is_out_of_time(history, &rungs) {
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

/// Whether the ladder needs no further rung: it has ended, and that was no luck, or three rungs in a
/// row brought nothing.
///
/// On a long path that loses packets, how a few streams fared in their slow start decides a whole
/// sample, and the sample's own interval knows nothing of that. A queue that stands on the path shows
/// that a level is the link's, and so does a sample of many round trips. Without either, eight times the
/// streams do not all have the same luck.
fn has_settled(history: &History, rungs: &[&Sample]) -> bool {
    let no_luck = |last: &&Sample| history.queue_stands(last) || history.is_long(last);
    brought_little(rungs) > 2 || (has_ended(rungs) && rungs.last().is_some_and(no_luck))
}

/// The budget ends a ladder that has shown a trend and no longer gains clearly; twice the budget
/// ends any.
fn is_out_of_time(history: &History, rungs: &[&Sample]) -> bool {
    let climbs = gain(rungs).is_some_and(|gain| gain > GAIN_CLEAR);
    let over_budget = !history.has_time() && rungs.len() >= RUNGS_MIN && !climbs;
    over_budget || !history.has_time_at_all()
}

/// What the path carries, as far as more streams did not raise it: the highest rate of the main
/// direction, once doubling has ended on a level close to it.
///
/// A ladder whose rate collapsed, as where streams overflow a shallow queue together, shows
/// nothing.
pub(crate) fn plateau(history: &History) -> Option<Rate> {
    let on_level = levelled(history, Purpose::Streams) || levelled(history, Purpose::Fit);
    history.rate_best().filter(|_| on_level)
}

/// Whether the rungs taken for one purpose ended close to the best that anything reached.
pub(crate) fn levelled(history: &History, purpose: Purpose) -> bool {
    let rungs = history.taken_for(purpose);
    let level = LEVEL * history.rate_best().unwrap_or(Rate::ZERO).as_f64();
    let close = |last: &&Sample| last.rate().as_f64() >= level;
    has_ended(&rungs) && rungs.last().is_some_and(close)
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
    format!("{:+.0} % against the best with fewer", gain * 100.0)
}

/// What the last rung brought, as a share of the best before it.
fn gain(rungs: &[&Sample]) -> Option<f64> {
    let (last, before) = rungs.split_last()?;
    let best = best(before)?.goodput().mean.as_f64();
    (best > 0.0).then(|| last.goodput().mean.as_f64() / best - 1.0)
}

fn best<'a>(rungs: &[&'a Sample]) -> Option<&'a Sample> {
    rungs
        .iter()
        .copied()
        .max_by_key(|sample| sample.goodput().mean)
}

/// Ended by one rung that surely is on the level of the best before it, by two that seem to be, or
/// by three in a row that are below it.
///
/// A fall alone proves little: a few streams that overflow a shallow queue while they start can
/// need longer than a sample to recover, and more of them do it faster.
pub(crate) fn has_ended(rungs: &[&Sample]) -> bool {
    match brought_little(rungs) {
        0 => false,
        1 => is_level(rungs) && is_sure(rungs),
        2 => is_level(rungs),
        _ => true,
    }
}

/// How many of the last rungs brought less than the least gain, in a row.
fn brought_little(rungs: &[&Sample]) -> usize {
    let small = |count: &usize| {
        let rungs = &rungs[..rungs.len() - count];
        gain(rungs).is_some_and(|gain| gain < GAIN_MIN)
    };
    (0..rungs.len()).take_while(small).count()
}

fn is_level(rungs: &[&Sample]) -> bool {
    gain(rungs).is_some_and(|gain| gain >= LEVEL - 1.0)
}

/// Whether the intervals leave no room for a gain worth having.
fn is_sure(rungs: &[&Sample]) -> bool {
    let Some((last, before)) = rungs.split_last() else {
        return false;
    };
    let Some(best) = best(before) else {
        return false;
    };
    let (before, last) = (best.goodput(), last.goodput());
    let known = before.interval.is_some() && last.interval.is_some();
    known && last.high().as_f64() <= before.low().as_f64() * (1.0 + GAIN_CLEAR)
}
