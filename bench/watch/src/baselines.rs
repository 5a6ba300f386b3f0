//! Detectors as published, each on one series of numbers.
//!
//! None of them is part of trunkline. Each gives the places at which it raises an alarm; a missing
//! visit is left out of the series, as these methods know no gaps.

/// A detector of this page with its constants.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Baseline {
    /// Logg and Cottrell (2004): history and trigger buffers of so many values, `beta` standard
    /// deviations, a change by the share `delta`; both directions.
    Plateau {
        history: usize,
        trigger: usize,
        beta: f64,
        delta: f64,
    },
    /// Two adjacent windows of so many values whose distributions are `distance` apart.
    KolmogorovSmirnov {
        before: usize,
        after: usize,
        distance: f64,
    },
    /// Brutlag (2000), as in RRDtool: a season of a day, an alarm when `failures` of the last nine
    /// values lie outside `band` deviations.
    HoltWinters { band: f64, failures: usize },
    /// Adams and MacKay (2007): normal values with unknown mean and variance, a change expected
    /// each
    /// `hazard` values, an alarm when a run of 3 or fewer values has this probability.
    Bayesian { hazard: f64, probability: f64 },
}

impl Baseline {
    /// As published, and set to answer within three visits.
    pub const ALL: [(&'static str, Baseline); 6] = [
        (
            "plateau, as published",
            Baseline::Plateau {
                history: 240,
                trigger: 12,
                beta: 2.0,
                delta: 0.33,
            },
        ),
        (
            "plateau, three visits, 10 %",
            Baseline::Plateau {
                history: 240,
                trigger: 3,
                beta: 2.0,
                delta: 0.10,
            },
        ),
        (
            "K-S, 100 and 100, 0.7",
            Baseline::KolmogorovSmirnov {
                before: 100,
                after: 100,
                distance: 0.7,
            },
        ),
        (
            "K-S, 100 and 3, 0.99",
            Baseline::KolmogorovSmirnov {
                before: 100,
                after: 3,
                distance: 0.99,
            },
        ),
        (
            "Holt-Winters, 7 of 9",
            Baseline::HoltWinters {
                band: 2.0,
                failures: 7,
            },
        ),
        (
            "Bayesian change points",
            Baseline::Bayesian {
                hazard: 1000.0,
                probability: 0.9,
            },
        ),
    ];

    pub fn alarms(self, values: &[f64]) -> Vec<usize> {
        match self {
            Baseline::Plateau {
                history,
                trigger,
                beta,
                delta,
            } => plateau(values, history, trigger, beta, delta),
            Baseline::KolmogorovSmirnov {
                before,
                after,
                distance,
            } => kolmogorov_smirnov(values, before, after, distance),
            Baseline::HoltWinters { band, failures } => holt_winters(values, band, failures),
            Baseline::Bayesian {
                hazard,
                probability,
            } => bayesian(values, hazard, probability),
        }
    }
}

fn mean_and_deviation(values: &[f64]) -> (f64, f64) {
    let mean = stats::mean(values).unwrap_or(0.0);
    (mean, stats::standard_deviation(values).unwrap_or(0.0))
}

fn plateau(values: &[f64], size: usize, trigger_size: usize, beta: f64, delta: f64) -> Vec<usize> {
    let mut history: Vec<f64> = Vec::new();
    let (mut low, mut high): (Vec<f64>, Vec<f64>) = (Vec::new(), Vec::new());
    let mut alarms = Vec::new();
    for (index, value) in values.iter().enumerate() {
        if history.len() < size.min(48) {
            history.push(*value);
            continue;
        }
        let (mean, deviation) = mean_and_deviation(&history);
        let outside = if *value < mean - beta * deviation {
            Some(&mut low)
        } else if *value > mean + beta * deviation {
            Some(&mut high)
        } else {
            None
        };
        match outside {
            Some(trigger) => trigger.push(*value),
            None => {
                history.push(*value);
                for trigger in [&mut low, &mut high] {
                    if !trigger.is_empty() {
                        history.push(trigger.remove(0));
                    }
                }
            }
        }
        for trigger in [&mut low, &mut high] {
            if trigger.len() >= trigger_size {
                let (new, _) = mean_and_deviation(trigger);
                match ((mean - new) / mean).abs() > delta {
                    true => {
                        alarms.push(index);
                        history = std::mem::take(trigger);
                        // The new baseline needs some values to have a deviation.
                        let missing = 48_usize.saturating_sub(history.len());
                        history.extend(std::iter::repeat_n(new, missing));
                        let spread = deviation * new / mean;
                        for (place, value) in history.iter_mut().enumerate() {
                            *value += if place % 2 == 0 { spread } else { -spread };
                        }
                    }
                    false => history.append(trigger),
                }
            }
        }
        let excess = history.len().saturating_sub(size);
        history.drain(..excess);
    }
    alarms
}

fn kolmogorov_smirnov(values: &[f64], before: usize, after: usize, least: f64) -> Vec<usize> {
    let mut alarms = Vec::new();
    let mut index = before + after;
    while index <= values.len() {
        let (old, new) = values[index - before - after..index].split_at(before);
        if distance(old, new) >= least {
            alarms.push(index - 1);
            index += before + after;
        } else {
            index += 1;
        }
    }
    alarms
}

/// The largest distance of two empirical distributions.
fn distance(one: &[f64], other: &[f64]) -> f64 {
    let sorted = |values: &[f64]| {
        let mut values = values.to_vec();
        values.sort_by(f64::total_cmp);
        values
    };
    let (one, other) = (sorted(one), sorted(other));
    let below = |values: &[f64], at: f64| {
        values.partition_point(|value| *value <= at) as f64 / values.len() as f64
    };
    let at = one.iter().chain(&other);
    at.map(|at| (below(&one, *at) - below(&other, *at)).abs())
        .fold(0.0, f64::max)
}

/// Additive Holt-Winters with the deviations of Brutlag; alpha 0.1, beta 0.0035, gamma 0.1.
fn holt_winters(values: &[f64], band: f64, failures: usize) -> Vec<usize> {
    const SEASON: usize = 48;
    const ALPHA: f64 = 0.1;
    const BETA: f64 = 0.0035;
    const GAMMA: f64 = 0.1;
    if values.len() < 2 * SEASON {
        return Vec::new();
    }
    let (mut level, _) = mean_and_deviation(&values[..SEASON]);
    let mut trend = 0.0;
    let mut season: Vec<f64> = values[..SEASON].iter().map(|value| value - level).collect();
    let mut deviation = vec![mean_and_deviation(&values[..SEASON]).1 / 2.0; SEASON];
    let mut outside = Vec::new();
    let mut alarms = Vec::new();
    let mut alarmed = false;
    for (index, value) in values.iter().enumerate().skip(SEASON) {
        let place = index % SEASON;
        let expected = level + trend + season[place];
        let off = (value - expected).abs();
        outside.push(off > band * deviation[place]);
        let latest = outside.iter().rev().take(9).filter(|is| **is).count();
        if index > 4 * SEASON && latest >= failures && !alarmed {
            alarms.push(index);
        }
        alarmed = latest >= failures;
        let former = level;
        level = ALPHA * (value - season[place]) + (1.0 - ALPHA) * (level + trend);
        trend = BETA * (level - former) + (1.0 - BETA) * trend;
        season[place] = GAMMA * (value - level) + (1.0 - GAMMA) * season[place];
        deviation[place] = GAMMA * off + (1.0 - GAMMA) * deviation[place];
    }
    alarms
}

/// Values are standardised by the median and interquartile range of the first three days.
fn bayesian(values: &[f64], hazard: f64, probability: f64) -> Vec<usize> {
    const RUNS_MAX: usize = 400;
    let first = &values[..values.len().min(144)];
    let middle = stats::median(first).unwrap_or(0.0);
    let spread = stats::interquartile_range(first).unwrap_or(1.0).max(1e-9) / 1.349;
    let chance = 1.0 / hazard;
    let mut runs: Vec<(f64, Normal)> = vec![(1.0, Normal::PRIOR)];
    let mut alarms: Vec<usize> = Vec::new();
    for (index, value) in values.iter().enumerate() {
        let value = (value - middle) / spread;
        let mut next = vec![(0.0, Normal::PRIOR)];
        for (mass, normal) in &runs {
            let likely = mass * normal.density(value);
            next[0].0 += likely * chance;
            next.push((likely * (1.0 - chance), normal.with(value)));
        }
        next.truncate(RUNS_MAX);
        let sum: f64 = next.iter().map(|(mass, _)| mass).sum();
        next.iter_mut()
            .for_each(|(mass, _)| *mass /= sum.max(1e-300));
        runs = next;
        let short: f64 = runs.iter().take(4).map(|(mass, _)| mass).sum();
        let quiet = alarms.last().is_none_or(|last| index > last + 6);
        if index > 48 && short >= probability && quiet {
            alarms.push(index);
        }
    }
    alarms
}

/// A normal-gamma distribution.
#[derive(Debug, Clone, Copy)]
struct Normal {
    mean: f64,
    count: f64,
    shape: f64,
    rate: f64,
}

impl Normal {
    const PRIOR: Normal = Normal {
        mean: 0.0,
        count: 0.1,
        shape: 1.0,
        rate: 1.0,
    };

    fn with(self, value: f64) -> Self {
        let off = value - self.mean;
        Normal {
            mean: self.mean + off / (self.count + 1.0),
            count: self.count + 1.0,
            shape: self.shape + 0.5,
            rate: self.rate + self.count * off * off / (2.0 * (self.count + 1.0)),
        }
    }

    /// Student's t with two `shape` degrees of freedom.
    fn density(&self, value: f64) -> f64 {
        let degrees = 2.0 * self.shape;
        let scale = (self.rate * (self.count + 1.0) / (self.shape * self.count)).sqrt();
        let t = (value - self.mean) / scale;
        let log = log_gamma((degrees + 1.0) / 2.0)
            - log_gamma(degrees / 2.0)
            - 0.5 * (degrees * std::f64::consts::PI).ln()
            - scale.ln()
            - (degrees + 1.0) / 2.0 * (t * t / degrees).ln_1p();
        log.exp()
    }
}

/// Stirling's series with the argument moved above seven.
fn log_gamma(mut x: f64) -> f64 {
    let mut shift = 0.0;
    while x < 7.0 {
        shift -= x.ln();
        x += 1.0;
    }
    let correction = 1.0 / (12.0 * x) - 1.0 / (360.0 * x.powi(3));
    shift + (x - 0.5) * x.ln() - x + 0.5 * std::f64::consts::TAU.ln() + correction
}
