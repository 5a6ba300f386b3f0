//! Where warm-up ends and the steady state begins.
//!
//! A measurement starts in slow start. Cutting a fixed number of seconds is wrong on most paths:
//! too much at 1 ms of round-trip time, too little at 350 ms. The cut is found in the series
//! itself, in two steps.
//!
//! 1. **Where**: MSER-5. The series is averaged in groups of five; the cut is the one that
//!    minimises the squared standard error of what remains, looking at the first half only.
//! 2. **Whether**: a line through ten batch means of what remains. When it drifts by more than a
//!    tenth of the mean, and the drift is larger than chance at 95 %, the series never settled.
//!
//! Sources: White, "An effective truncation heuristic for bias reduction in simulation output",
//! Simulation 69 (1997), and White, Cobb and Spratt, "A comparison of five steady-state truncation
//! heuristics for simulation", WSC 2000 (MSER-5). Step 2 is ours.
//!
//! Why this rule. It was compared with MSER on single values and on pairs, with a least-squares
//! change of mean, and with "first value at the lower quartile of the second half". The series: a
//! constant, slow start at 165 ms with and without delayed acknowledgements, Reno's saw-tooth,
//! congestion avoidance that rises throughout, an overshoot, a dip early, in the middle and late,
//! rates that arrive in bursts, and random loss; 50, 100 and 300 values; noise of 3 and 10 %,
//! correlated at 0.7 from one value to the next; 60 to 100 seeds of each.
//! - Groups of five: with bursts (a round trip longer than the interval) at 50 values, single
//!   values kept the whole ramp and were off by 24 %; groups of five by 1.4 % at 3 % noise. Pairs
//!   cut finer, but called 66 % of the short series with a dip in the middle unsettled (groups of
//!   five: 2 %).
//! - MSER alone keeps all of a series that is nothing but slow start, because its end carries the
//!   variance, and takes the middle of any long rise. Step 2 catches both.
//! - A change of mean cut a short saw-tooth in its middle, and a noisy constant anywhere.
//! - The lower quartile kept the collapse after an overshoot, and was off by 18 to 33 % on random
//!   loss (groups of five: 8 to 12 %).
//!
//! What it costs: the cut is late by up to four values; one dip in the first half is taken for
//! warm-up together with what precedes it, which loses data; at 50 values and 10 % noise one steady
//! series in ten is called unsettled; and a rise that noise hides passes as steady.

use crate::estimate::{batch_means, student_t};
use crate::summary::{average, squared_deviations};
use crate::{finite, fit_line};

/// Values averaged into one before the search: the 5 of MSER-5.
const GROUP: usize = 5;

/// Fewest values that can be judged: half of them must still make ten batches.
const VALUES_MIN: usize = 20;

/// Drift across the kept part, as a share of its mean, that still counts as steady.
///
/// A tenth: the tolerance to which operating points are compared elsewhere, so a smaller drift
/// would not change a decision.
const DRIFT_MAX: f64 = 0.1;

/// Whether and where a series of rates became steady.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum SteadyState {
    /// Values from index `from` on are steady; zero when there was no warm-up.
    Settled {
        /// First index to keep; at most half the length.
        from: usize,
    },
    /// The series still changes at its end, so its mean stands for nothing lasting.
    ///
    /// If a rate must be quoted, its later half comes closest; without an interval, which would
    /// promise a steadiness that is not there.
    NotSettled {
        /// Change over the part judged, as a share of its mean: 0.3 for a rise of 30 %.
        drift: f64,
    },
}

/// Finds where a series of rates leaves warm-up, by the rule this module describes.
///
/// * `rates`: goodput of equal intervals (100 ms, say) in time order and any unit.
/// * `None` for fewer than twenty values, or one that is not finite: nothing can be said.
/// ```
/// use stats::SteadyState;
/// // Slow start doubles for eight intervals, then the window is full.
/// let rates: Vec<f64> = (0..100).map(|i| 2_f64.powi(i.min(8))).collect();
/// assert_eq!(stats::steady_state(&rates), Some(SteadyState::Settled { from: 10 }));
/// // Nothing but growth never settles.
/// let rising: Vec<f64> = (0..100).map(|i| 50.0 + f64::from(i)).collect();
/// assert!(matches!(stats::steady_state(&rising), Some(SteadyState::NotSettled { drift }) if drift > 0.3));
/// ```
pub fn steady_state(rates: &[f64]) -> Option<SteadyState> {
    let rates = finite(rates).filter(|rates| rates.len() >= VALUES_MIN)?;
    let from = truncation_point(rates);
    let verdict = match significant_drift(&rates[from..]) {
        Some(drift) if drift.abs() > DRIFT_MAX => SteadyState::NotSettled { drift },
        _ => SteadyState::Settled { from },
    };
    Some(verdict)
}

/// The cut in the first half that leaves the smallest squared standard error; the earliest of
/// equals.
fn truncation_point(rates: &[f64]) -> usize {
    let groups: Vec<f64> = rates.chunks_exact(GROUP).map(average).collect();
    let error = |cut: usize| {
        let kept = &groups[cut..];
        squared_deviations(kept) / (kept.len() as f64).powi(2)
    };
    let cuts = 0..=groups.len() / 2;
    let best = cuts.min_by(|a, b| error(*a).total_cmp(&error(*b)));
    best.unwrap_or(0) * GROUP
}

/// Relative change along a line through the batch means; `None` when chance explains it.
fn significant_drift(kept: &[f64]) -> Option<f64> {
    let means = batch_means(kept)?;
    let points: Vec<(f64, f64)> = means
        .iter()
        .enumerate()
        .map(|(i, mean)| (i as f64, *mean))
        .collect();
    let line = fit_line(&points)?;
    let chance = student_t(means.len() as f64 - 2.0)? * line.slope_error?;
    let drift = line.slope * means.len() as f64 / average(&means);
    (line.slope.abs() > chance && drift.is_finite()).then_some(drift)
}

#[cfg(test)]
pub(crate) mod synthetic;

#[cfg(test)]
mod tests;
