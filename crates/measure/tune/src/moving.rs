//! What only other programs let their user set: files at once, requests without an answer, data of
//! one request.
//!
//! One axis after the other, in this order, from the setting that would be recommended without it.
//! Along an axis the target's values are tried in the order in which it gives them, as long as each
//! brings something; the first that does not ends the axis. So an axis costs one sample where the
//! program's own value is good. A value counts only where it gained more than runs of one setting
//! differ by: otherwise the program's own is left alone. What two axes would only bring together is
//! not found, nor is what other streams would make of them.

use observe::{MoverAxes, Moving, Setting};

use crate::history::History;
use crate::plan::GAIN_MIN;
use crate::search::Inferred;
use crate::strategy::{Request, Strategy};
use crate::tuning::{Purpose, Sample};

/// The next value along an axis; `None` where all have been tried as far as they brought something,
/// or trunkline itself moves the data.
pub(crate) fn further(history: &History) -> Option<Request> {
    let axes = history.target.mover.as_ref()?;
    let setting = untried(history, axes)?;
    let why = format!("what the program makes of {}", setting.moving);
    Some(Request {
        setting,
        plan: history.sample_plan()?,
        purpose: Purpose::Moving,
        why,
    })
}

/// The first setting on the way that was not tried.
fn untried(history: &History, axes: &MoverAxes) -> Option<Setting> {
    let mut best = start(history)?;
    for axis in values(axes) {
        for value in axis {
            let next = Setting {
                moving: value(best.moving),
                ..best.clone()
            };
            match rate(history, &next) {
                None if history.has_failed(&next) => break,
                None => return Some(next),
                Some(reached) if reached > (1.0 + GAIN_MIN) * rate(history, &best)? => {
                    best = next;
                }
                Some(_) => break,
            }
        }
    }
    None
}

/// Where the way begins: what was recommended before its first step.
fn start(history: &History) -> Option<Setting> {
    let first = history.taken_for(Purpose::Moving).into_iter().next();
    let setting = match first {
        Some(first) => &first.setting,
        None => {
            &history
                .samples
                .get(Inferred.choose(history)?.sample)?
                .setting
        }
    };
    Some(Setting {
        moving: history.plan.base.moving,
        ..setting.clone()
    })
}

/// Bits per second that a setting carried; `None` of one that was not tried.
fn rate(history: &History, setting: &Setting) -> Option<f64> {
    let tried = history.of(setting)?;
    Some(tried.goodput().mean.as_f64())
}

/// What a sampled setting carried in terms of the same one with everything left to the program.
pub(crate) fn gain(history: &History, setting: &Setting) -> f64 {
    let without = Setting {
        moving: history.plan.base.moving,
        ..setting.clone()
    };
    let both = history.of(setting).zip(history.of(&without));
    both.map_or(1.0, |(with, without)| {
        with.rate().as_f64() / without.rate().as_f64().max(1.0)
    })
}

/// Whether a sample may be recommended: what another program was told beyond streams and window has
/// to have gained.
pub(crate) fn counts(history: &History, sample: &Sample) -> bool {
    sample.purpose != Purpose::Moving || has_gained(history, sample)
}

/// Whether a sample of this stage carried more than the same setting with everything left to the
/// program, and by more than chance: each lies outside the other's interval.
fn has_gained(history: &History, sample: &Sample) -> bool {
    let without = Setting {
        moving: history.plan.base.moving,
        ..sample.setting.clone()
    };
    let Some(without) = history.of(&without) else {
        return true;
    };
    let (after, before) = (sample.goodput(), without.goodput());
    let above = |high: f64, low: f64| high > (1.0 + GAIN_MIN) * low;
    let ends = |goodput: observe::Goodput| {
        let interval = goodput.interval.or(goodput.scatter);
        let mean = goodput.mean.as_f64();
        interval.map_or((mean, mean), |one| (one.low.as_f64(), one.high.as_f64()))
    };
    above(after.mean.as_f64(), before.mean.as_f64())
        && ends(after).0 > before.mean.as_f64()
        && after.mean.as_f64() > ends(before).1
}

type Value = Box<dyn Fn(Moving) -> Moving>;

/// What each axis makes of the others' values, axis by axis.
fn values(axes: &MoverAxes) -> [Vec<Value>; 3] {
    let files = axes.concurrency.iter().copied();
    let requests = axes.pipelining.iter().copied();
    let blocks = axes.block.iter().copied();
    [
        files.map(with_files).collect(),
        requests.map(with_requests).collect(),
        blocks.map(with_block).collect(),
    ]
}

fn with_files(files: u16) -> Value {
    Box::new(move |others| Moving {
        concurrency: Some(files),
        ..others
    })
}

fn with_requests(requests: u16) -> Value {
    Box::new(move |others| Moving {
        pipelining: Some(requests),
        ..others
    })
}

fn with_block(block: units::Bytes) -> Value {
    Box::new(move |others| Moving {
        block: Some(block),
        ..others
    })
}
