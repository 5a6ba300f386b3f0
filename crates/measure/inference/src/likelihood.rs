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
/// What rounds are wrong by, as logarithms (`bench/inference`, 2026-11-27, 110 paths): a full link
/// carries its rate whatever streams do, and so does a window that is kept full; only where neither
/// is do their losses decide.
struct Wrong {
    /// In the long run, where the link or a window is full.
    full: f64,
    /// In the long run, where it is not.
    open: f64,
    /// In a single round trip while it is not: the first are wrong most.
    start: f64,
    /// The share of the link that is free from which on it is not full at all.
    free: f64,
}

/// On a queue that takes bursts; on one that is shorter than this share of the path; and beside
/// others, who decide on a full link as well.
const DEEP: Wrong = Wrong {
    full: 0.02,
    open: 0.09,
    start: 0.7,
    free: 0.2,
};
const SHALLOW: Wrong = Wrong {
    full: 0.06,
    open: 0.09,
    start: 1.0,
    free: 0.05,
};
const BESIDE: Wrong = Wrong {
    full: 0.12,
    open: 0.12,
    start: 2.2,
    free: 0.05,
};
const SHORT: f64 = 0.3;
/// What one sample differs from the next by (the same runs), where the link is not full, and in any
/// case.
const SAMPLE: f64 = 0.05;
const SAMPLE_FULL: f64 = 0.01;
/// Of a part of a sample.
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
    pub residual: Residual,
}

/// What a sample showed over what a path shows.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Residual {
    /// As a logarithm.
    pub log: f64,
    /// What it may be.
    pub error: Error,
}

/// What a run on a path may differ from its rounds by, as logarithms.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Error {
    /// However long it lasts.
    pub lasting: f64,
    /// What the next run does not share: errors of the first round trips, chance, the swing of the
    /// rate.
    pub passing: f64,
}

impl Error {
    /// Of what rounds show of `what` in `trace`.
    pub fn of(path: &Path, what: &Run, trace: &Trace) -> Error {
        let wrong = match path {
            _ if path.others > 0.0 => BESIDE,
            _ if path.queue < SHORT * path.product() => SHALLOW,
            _ => DEEP,
        };
        let seconds = what.seconds;
        let free = 1.0 - trace.goodput(0) / most(path, what).max(1.0);
        let open = (free / wrong.free).clamp(0.0, 1.0);
        let start = wrong.start * (path.rtt / seconds.max(1e-3)).sqrt();
        Error {
            lasting: wrong.full + open * (wrong.open - wrong.full),
            passing: (open * start.hypot(SAMPLE))
                .hypot(SAMPLE_FULL)
                .hypot(swings(path, seconds)),
        }
    }

    /// The share of what was seen that goes on.
    pub fn goes_on(self) -> f64 {
        self.lasting.powi(2) / (self.lasting.powi(2) + self.passing.powi(2))
    }
}

/// How well `path` explains a sample.
pub(crate) fn fit(path: &Path, seen: &Evidence, seed: u64) -> Fit {
    let trace = run(path, &seen.run, seen.parts.len(), seed);
    let residual = Residual {
        log: ratio(seen.goodput(), trace.goodput(0)),
        error: Error::of(path, &seen.run, &trace),
    };
    let wide = residual.error.lasting.hypot(residual.error.passing);
    let whole = scattered(residual.log, DEEP.full, wide);
    let log = match seen.run.control {
        // What such streams lose, and how long packets wait, hangs on much that rounds leave out.
        Control::Rate => whole,
        _ => whole + shape(path, seen, &trace) + waits(path, seen, &trace) + losses(seen, &trace),
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

/// The same of a figure that scatters by `wide` as a logarithm, and what it costs to allow more
/// than the least.
fn scattered(deviation: f64, least: f64, wide: f64) -> f64 {
    square(deviation / wide) + (wide / least).ln()
}

/// What a run carries at the most, where nothing is lost.
fn most(path: &Path, what: &Run) -> f64 {
    let window = 8.0 * what.window.unwrap_or(path.window) / path.rtt;
    let each = window
        .min(path.per_stream)
        .min(what.pacing.unwrap_or(f64::INFINITY));
    (f64::from(what.streams) * each)
        .min(path.hosts)
        .min(path.rate)
}

/// How far goodput over a time differs from one run to the next while the rate swings: both what
/// was seen and what is shown were drawn.
fn swings(path: &Path, seconds: f64) -> f64 {
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
    let wide = swings.hypot(PART);
    let one = |(part, bin): (&Part, &Bin)| {
        let deviation = ((part.rate + floor) / (bin.rate + floor)).ln();
        scattered(deviation, PART, wide)
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
