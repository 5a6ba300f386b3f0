//! How well a path explains what was seen.
//!
//! A path is run as the sample was, and its parts are held against the sample's. What they may
//! differ by is what rounds differ from packets by (`bench/inference`), and what one run differs
//! from the next by. Each figure counts for no more than [`MOST`]: no single one decides.

use crate::evidence::{Evidence, Part};
use crate::path::Path;
use crate::rounds::{Bin, Control, Run, Trace, run};

/// What is seen before a stream of ours sends.
const IDLE: Run = Run {
    streams: 0,
    joined: 0,
    window: None,
    control: Control::Cubic,
    pacing: None,
    seconds: 4.0,
};
/// What rounds differ from packets by, as a logarithm (`bench/inference`): of windows, of the rate
/// that arrives, and beside others.
const MODEL: f64 = 0.06;
const MODEL_BY_RATE: f64 = 0.15;
const BESIDE: f64 = 0.2;
const START: f64 = 1.0;
/// Of the goodput of a whole sample whose streams go by the rate that arrives, as a logarithm.
const WHOLE_BY_RATE: f64 = 0.25;
/// Of the goodput of a whole sample and of a part of it, as logarithms.
const WHOLE: f64 = 0.08;
const PART: f64 = 0.22;
/// Of a part, as a share of the highest: what arrives in the first part is little.
const FLOOR: f64 = 0.05;
/// Of losses, as a logarithm.
const LOST: f64 = 0.7;
/// Of the time that packets wait: a share of the round trip, of the wait, and seconds.
const WAIT: (f64, f64, f64) = (0.06, 0.25, 1e-3);
/// The most that one figure counts.
const MOST: f64 = 6.0;

/// What a path makes of one sample.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Fit {
    /// Logarithm of the likelihood.
    pub log: f64,
    /// What the sample showed over what the path shows, as a logarithm.
    pub residual: f64,
}

/// How well `path` explains a sample.
pub(crate) fn fit(path: &Path, seen: &Evidence, seed: u64) -> Fit {
    let trace = run(path, &seen.run, seen.parts.len(), seed);
    let residual = ratio(seen.goodput(), trace.goodput(0));
    let beyond = beside(path).hypot(start(path, seen.run.seconds));
    let log = match seen.run.control {
        // What such streams lose, and how long packets wait, hangs on much that rounds leave out.
        Control::Rate => wide(residual, WHOLE_BY_RATE, beyond),
        _ => {
            wide(
                residual,
                WHOLE,
                beyond.hypot(swings(path, seen.run.seconds)),
            ) + shape(path, seen, &trace)
                + waits(path, seen, &trace)
                + losses(seen, &trace)
        }
    };
    let log = -log - idle(path, seen, seed);
    Fit { log, residual }
}

/// How long packets wait while only others send.
fn idle(path: &Path, seen: &Evidence, seed: u64) -> f64 {
    seen.idle_wait.map_or(0.0, |seen| {
        let shown = match path.others > 0.0 {
            true => run(path, &IDLE, 1, seed).rtt(0) - path.rtt,
            false => 0.0,
        };
        let wide = WAIT.0 * path.rtt + WAIT.1 * seen.max(shown) + WAIT.2;
        square((seen - shown) / wide)
    })
}

fn square(deviations: f64) -> f64 {
    (deviations * deviations / 2.0).min(MOST)
}

/// The same of a figure that a swinging rate makes scatter beyond `usual`, and what it costs to
/// allow that.
fn wide(deviation: f64, usual: f64, swings: f64) -> f64 {
    let wide = usual.hypot(swings);
    square(deviation / wide) + (wide / usual).ln()
}

/// What rounds differ from packets by over a minute, as a logarithm (`bench/inference`).
pub(crate) fn model(path: &Path, control: Control) -> f64 {
    let alone = match control {
        Control::Rate => MODEL_BY_RATE,
        _ => MODEL,
    };
    alone.hypot(beside(path))
}

/// What they differ by in a short run: they are wrong about its start by this many round trips.
pub(crate) fn start(path: &Path, seconds: f64) -> f64 {
    START * path.rtt / seconds.max(1e-3)
}

/// What they differ by further beside streams of others.
fn beside(path: &Path) -> f64 {
    if path.others > 0.0 { BESIDE } else { 0.0 }
}

/// How far goodput over a time differs from one run to the next while the rate swings: both what
/// was seen and what is shown were drawn.
pub(crate) fn swings(path: &Path, seconds: f64) -> f64 {
    let share = (path.swing_every / seconds.max(1e-3)).min(1.0);
    path.swing * (2.0 * share).sqrt()
}

fn ratio(seen: f64, shown: f64) -> f64 {
    (seen.max(1.0) / shown.max(1.0)).ln()
}

/// How goodput went over time, whatever its mean.
fn shape(path: &Path, seen: &Evidence, trace: &Trace) -> f64 {
    let floor = FLOOR * seen.peak();
    let swings = swings(path, seen.run.seconds / seen.parts.len() as f64);
    let one = |(part, bin): (&Part, &Bin)| {
        let deviation = ((part.rate + floor) / (bin.rate + floor)).ln();
        wide(deviation, PART, swings)
    };
    let sum: f64 = seen.parts.iter().zip(&trace.bins).map(one).sum();
    // Neighbours go together.
    sum / 2.0
}

/// Segments lost while streams start, and after that.
fn losses(seen: &Evidence, trace: &Trace) -> f64 {
    let split = seen.parts.len().div_ceil(3);
    let count = |parts: &[Part]| parts.iter().map(|part| part.lost).sum::<Option<f64>>();
    let (early, late) = seen.parts.split_at(split);
    let (shown_late, shown) = (trace.lost(split), trace.lost(0));
    let one = |seen: Option<f64>, shown: f64| {
        seen.map_or(0.0, |seen| {
            let wide = (LOST * LOST + 1.0 / (1.0 + seen) + 1.0 / (1.0 + shown)).sqrt();
            square(((1.0 + seen) / (1.0 + shown)).ln() / wide)
        })
    };
    one(count(early), shown - shown_late) + one(count(late), shown_late)
}

/// How long packets waited.
fn waits(path: &Path, seen: &Evidence, trace: &Trace) -> f64 {
    let one = |(part, bin): (&Part, &Bin)| {
        part.rtt.map_or(0.0, |rtt| {
            let (seen, shown) = (rtt - path.rtt, bin.rtt - path.rtt);
            let wide = WAIT.0 * path.rtt + WAIT.1 * seen.max(shown) + WAIT.2;
            square((seen - shown) / wide)
        })
    };
    let sum: f64 = seen.parts.iter().zip(&trace.bins).map(one).sum();
    sum / 3.0
}
