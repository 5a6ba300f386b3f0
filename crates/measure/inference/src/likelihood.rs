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
    /// Of a part of a sample: while streams start; after that where the link is not full.
    parts: [f64; 2],
}

/// On a queue that takes bursts; on one that is shorter than this share of the path; and beside
/// others, who decide on a full link as well.
const DEEP: Wrong = Wrong {
    full: 0.02,
    open: 0.09,
    start: 0.7,
    free: 0.2,
    parts: [0.35, 0.15],
};
const SHALLOW: Wrong = Wrong {
    full: 0.06,
    open: 0.09,
    start: 1.0,
    free: 0.05,
    parts: [0.45, 0.12],
};
const BESIDE: Wrong = Wrong {
    full: 0.12,
    open: 0.12,
    start: 2.2,
    free: 0.05,
    parts: [0.8, 0.25],
};
const SHORT: f64 = 0.3;

impl Wrong {
    fn on(path: &Path) -> &'static Wrong {
        match path {
            _ if path.others > 0.0 => &BESIDE,
            _ if path.queue < SHORT * path.product() => &SHALLOW,
            _ => &DEEP,
        }
    }

    /// How far neither link nor window is full in `trace`, 0 to 1.
    fn open_in(&self, path: &Path, what: &Run, trace: &Trace) -> f64 {
        let settled = trace.goodput(starting(trace.bins.len()));
        let free = 1.0 - settled / most(path, what).max(1.0);
        (free / self.free).clamp(0.0, 1.0)
    }
}

/// What one sample differs from the next by (the same runs), where the link is not full, and in any
/// case.
const SAMPLE: f64 = 0.05;
const SAMPLE_FULL: f64 = 0.01;
/// Of a part on a full link, and of one that lasts a round trip.
const PART: (f64, f64) = (0.03, 0.35);
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

/// What a sample showed, once its streams had started, over what a path shows.
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
        let wrong = Wrong::on(path);
        let seconds = what.seconds;
        let open = wrong.open_in(path, what, trace);
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

/// What residuals of one setting on one path say of its next run: the part of it that goes on, and
/// how far that may differ from what it is, as logarithms. What chance makes of a short sample does
/// not go on.
pub(crate) fn beyond<'a>(
    residuals: impl Iterator<Item = &'a Residual>,
    lasting: f64,
) -> (f64, f64) {
    let weigh = |one: &Residual| one.error.passing.powi(-2);
    let (weights, sum) = residuals.fold((0.0, 0.0), |(weights, sum), one| {
        (weights + weigh(one), sum + weigh(one) * one.log)
    });
    if weights == 0.0 {
        return (0.0, lasting);
    }
    let passing = weights.powf(-0.5);
    let goes_on = Error { lasting, passing }.goes_on();
    (goes_on * sum / weights, lasting * (1.0 - goes_on).sqrt())
}

/// How well `path` explains a sample.
///
/// * `before`: what samples of the same setting showed before it.
pub(crate) fn fit<'a>(
    path: &Path,
    seen: &Evidence,
    before: impl Iterator<Item = &'a Residual>,
    seed: u64,
) -> Fit {
    let trace = run(path, &seen.run, seen.parts.len(), seed);
    let settled = starting(seen.parts.len());
    let residual = Residual {
        log: ratio(seen.goodput(settled), trace.goodput(settled)),
        error: Error::of(path, &seen.run, &trace),
    };
    let (known, left) = beyond(before, residual.error.lasting);
    let wide = left.hypot(residual.error.passing);
    let mean = scattered(residual.log - known, DEEP.full, wide);
    let log = match seen.run.control {
        // What such streams lose, and how long packets wait, hangs on much that rounds leave out.
        Control::Rate => mean,
        _ => mean + shape(path, seen, &trace) + waits(path, seen, &trace) + losses(seen, &trace),
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

/// The parts in which streams start: none of one.
fn starting(parts: usize) -> usize {
    match parts {
        1 => 0,
        _ => parts.div_ceil(3),
    }
}

/// A figure of each part: of the start as they came, after it from the lowest to the highest. When
/// chance strikes a stream is chance as well, and says nothing of the path.
fn ranked(figures: impl Iterator<Item = f64>) -> Vec<f64> {
    let mut all: Vec<f64> = figures.collect();
    let start = starting(all.len());
    all[start..].sort_by(f64::total_cmp);
    all
}

/// How goodput went over time, whatever its mean once streams have started.
fn shape(path: &Path, seen: &Evidence, trace: &Trace) -> f64 {
    let wrong = Wrong::on(path);
    let open = wrong.open_in(path, &seen.run, trace);
    let [start, free] = wrong.parts;
    let floor = FLOOR * seen.peak();
    let length = seen.run.seconds / seen.parts.len() as f64;
    let swings = swings(path, length);
    let parts = ranked(seen.parts.iter().map(|part| part.rate));
    let bins = ranked(trace.bins.iter().map(|bin| bin.rate));
    let deviation = |(part, bin): (f64, f64)| ((part + floor) / (bin + floor)).ln();
    let deviations: Vec<f64> = parts.into_iter().zip(bins).map(deviation).collect();
    let (early, late) = deviations.split_at(starting(deviations.len()));
    let mean = late.iter().sum::<f64>() / late.len().max(1) as f64;
    let early = early
        .iter()
        .map(|one| scattered(*one, DEEP.parts[0], start.hypot(swings)));
    let full = PART.0.hypot(PART.1 * path.rtt / length);
    let wide = full.hypot(open * free).hypot(swings);
    let late = late.iter().map(|one| scattered(one - mean, PART.0, wide));
    // Neighbours go together.
    early.chain(late).sum::<f64>() / 2.0
}

/// Segments lost while streams start, and after that.
fn losses(seen: &Evidence, trace: &Trace) -> f64 {
    let split = starting(seen.parts.len());
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
    // A part without a reading is taken to be as the path says.
    let of_part = |(part, bin): (&Part, &Bin)| part.rtt.unwrap_or(bin.rtt);
    let parts = ranked(seen.parts.iter().zip(&trace.bins).map(of_part));
    let bins = ranked(trace.bins.iter().map(|bin| bin.rtt));
    let one = |(part, bin): (f64, f64)| {
        let (seen, shown) = (part - path.rtt, bin - path.rtt);
        let wide = WAIT.0 * path.rtt + WAIT.1 * seen.max(shown) + WAIT.2;
        square((seen - shown) / wide)
    };
    let sum: f64 = parts.into_iter().zip(bins).map(one).sum();
    sum / 3.0 * (8.0 / trace.bins.len() as f64).min(1.0)
}
