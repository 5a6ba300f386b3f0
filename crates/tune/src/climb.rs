//! More streams, a rung at a time, until they bring nothing.
//!
//! Rungs are four times as many streams as the one before, and eight times where throughput has
//! grown nearly in proportion: doubling takes seven samples to 128 streams and this takes four.
//! What lies between two rungs is looked at afterwards, and only where the objective minds
//! (`knee.rs`).
//!
//! On a target that can, a rung is a stage of one run: the further streams join those that send
//! already, so that only they pay for slow start.
//!
//! Where a rung cannot be sampled, a number between it and the last one is tried.
//!
//! A rung that brings nothing ends the climb where it filled the path by itself, by a queue of its
//! own or by losses far beyond one stream's. Otherwise it may have been bad luck, or others who
//! give way only slowly, and one rung more is looked at. Under gentle a rung that leaves the budget
//! of delay ends it too.

use observe::{StreamCount, Then};
use units::Rate;

use crate::controls;
use crate::history::History;
use crate::packets;
use crate::plan::{GAIN_MIN, Objective};
use crate::strategy::Request;
use crate::tuning::{Purpose, Sample};

/// Streams from one rung to the next.
const STEP: u64 = 4;
/// The same where the last step brought nearly as much as it brought streams.
const STEP_LINEAR: u64 = 8;
/// Share of the streams' growth that throughput must have kept up with for that.
const NEARLY_LINEAR: f64 = 0.8;
/// A rung at this share of the best is on its level; below, the rate fell.
const LEVEL: f64 = 0.9;
/// Rungs without a gain that end the climb where no queue speaks for a full link.
const LEVEL_RUNGS: usize = 2;

/// The next number of streams; `None` when the climb has ended.
pub(crate) fn next_rung(history: &History) -> Option<Request> {
    let rungs = rungs(history);
    let Some(last) = rungs.last() else {
        return first(history);
    };
    if has_ended(history, &rungs) {
        return None;
    }
    let wanted = further(history, &rungs).filter(|next| *next > last.streams())?;
    let streams = match refused(history).filter(|refused| *refused <= wanted) {
        Some(refused) => halfway(last.streams(), refused)?,
        None => wanted,
    };
    let why = match gain(&rungs) {
        None => "to see what more streams bring".to_owned(),
        Some(gain) => further_because(last.streams(), gain),
    };
    request(history, streams, why)
}

/// The rungs so far: all candidates on the window and the congestion control of the climb, by their
/// number of streams.
pub(crate) fn rungs(history: &History) -> Vec<&Sample> {
    let on_it = |sample: &&Sample| {
        sample.setting == history.climbing(sample.streams()) && sample.purpose != Purpose::Fit
    };
    let candidates = history.candidates().into_iter();
    let mut rungs: Vec<&Sample> = candidates.map(|(_, sample)| sample).filter(on_it).collect();
    rungs.sort_by_key(|sample| sample.streams());
    rungs
}

/// The rung that the budget had no room for.
pub(crate) fn untried(history: &History) -> Option<String> {
    let rungs = rungs(history);
    let last = rungs.last()?;
    let is_over = has_ended(history, &rungs) || history.sample_plan().is_some();
    let is_refused = |next: &StreamCount| refused(history).is_some_and(|most| most <= *next);
    let next = further(history, &rungs).filter(|next| *next > last.streams() && !is_over)?;
    let next = Some(next).filter(|next| !is_refused(next))?;
    let next = next.get();
    Some(format!(
        "{next} streams might carry more: the budget ended before the search tried them"
    ))
}

/// Whether more streams need no further look.
fn has_ended(history: &History, rungs: &[&Sample]) -> bool {
    let full = rungs.last().is_some_and(|last| history.is_full(last));
    match brought_little(rungs) {
        _ if rungs.last().is_some_and(|last| harms(history, last)) => true,
        // bbr sends at the rate that arrives: the queue of several says that no more will.
        _ if full && rungs.len() > 1 && controls::climbing(history).is_some() => true,
        0 => false,
        count => full || count >= LEVEL_RUNGS,
    }
}

/// Whether it is more than the objective allows others to bear: then more streams are out of the
/// question.
fn harms(history: &History, rung: &Sample) -> bool {
    let Objective::Gentle { added_rtt_max, .. } = history.plan.objective else {
        return false;
    };
    let added = rung.summary.rtt_loaded.zip(history.rtt_unloaded());
    added.is_some_and(|(loaded, idle)| loaded - idle > added_rtt_max)
}

fn further(history: &History, rungs: &[&Sample]) -> Option<StreamCount> {
    let last = rungs.last()?;
    let step = match is_nearly_linear(rungs) {
        true => STEP_LINEAR,
        false => STEP,
    };
    let wanted = u64::from(last.streams().get()) * step;
    let top = packets::streams_max(history);
    Some(StreamCount::new(wanted).map_or(top, |wanted| wanted.min(top)))
}

/// The fewest streams of a rung that could not be sampled.
fn refused(history: &History) -> Option<StreamCount> {
    let failed = history.failed.iter().map(|failed| &failed.setting);
    let failed = failed.filter(|setting| history.has_failed(setting));
    let of_climb = failed.filter(|setting| **setting == history.climbing(setting.streams));
    of_climb.map(|setting| setting.streams).min()
}

/// As many times more than `below` as `refused` is more than that; `None` where that is no step.
fn halfway(below: StreamCount, refused: StreamCount) -> Option<StreamCount> {
    let (below, refused) = (u64::from(below.get()), u64::from(refused.get()));
    let between = (below * refused).isqrt();
    StreamCount::new(between)
        .ok()
        .filter(|_| between >= 2 * below)
}

/// Whether the last of these rungs brought nearly as much as it brought streams.
pub(crate) fn is_nearly_linear(rungs: &[&Sample]) -> bool {
    let [.., before, last] = rungs else {
        return false;
    };
    let streams = f64::from(last.streams().get()) / f64::from(before.streams().get());
    let rate = last.rate().as_f64() / before.rate().as_f64();
    rate >= NEARLY_LINEAR * streams
}

/// What the path carries, as far as more streams did not raise it: the highest rate of the main
/// direction, once the climb has ended on a level close to it.
///
/// A climb whose rate collapsed at its end, as where streams overflow a shallow queue together,
/// shows nothing.
pub(crate) fn plateau(history: &History) -> Option<Rate> {
    let rungs = rungs(history);
    let best = history.rate_best()?;
    let close = |last: &&Sample| last.rate().as_f64() >= LEVEL * best.as_f64();
    let level = brought_little(&rungs) > 0 && rungs.last().is_some_and(close);
    level.then_some(best)
}

fn first(history: &History) -> Option<Request> {
    request(
        history,
        StreamCount::ONE,
        "one stream with everything as the host has it".to_owned(),
    )
}

fn request(history: &History, streams: StreamCount, why: String) -> Option<Request> {
    let mut plan = history.sample_plan()?;
    plan.then = Then::KeepRunning;
    Some(Request {
        setting: history.climbing(streams),
        plan,
        purpose: Purpose::Streams,
        why,
    })
}

/// Why more streams than the last rung's are tried: the row that this stands in is the next one's.
fn further_because(last: StreamCount, gain: f64) -> String {
    let percent = gain.abs() * 100.0;
    let (more, after) = match gain {
        gain if gain < 0.0 => ("less", "to see whether that lasts"),
        gain if gain < GAIN_MIN => ("more", "to see whether that is all"),
        _ => ("more", "to see what further ones bring"),
    };
    format!("{after}: {last} streams carried {percent:.0} % {more} than the best with fewer")
}

/// What the last rung brought, as a share of the best before it.
fn gain(rungs: &[&Sample]) -> Option<f64> {
    let (last, before) = rungs.split_last()?;
    let best = before.iter().map(|sample| sample.rate()).max()?.as_f64();
    (best > 0.0).then(|| last.rate().as_f64() / best - 1.0)
}

/// How many of the last rungs brought less than the least gain, in a row.
fn brought_little(rungs: &[&Sample]) -> usize {
    let small = |count: &usize| {
        let rungs = &rungs[..rungs.len() - count];
        gain(rungs).is_some_and(|gain| gain < GAIN_MIN)
    };
    (0..rungs.len()).take_while(small).count()
}
