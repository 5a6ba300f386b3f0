//! Which rate is tried next, and what the verdicts leave: the range.

use crate::trend::Trend;

/// Fleets at the most: a path that changes all the time would otherwise be probed for ever.
const FLEETS_MAX: usize = 16;
/// Width of a bracket that is narrow enough, as a share of the capacity: where all streams agree,
/// and where some do not because others' traffic varies or the receiver takes batches (pathload's
/// resolutions).
const FINE: f64 = 0.02;
const COARSE: f64 = 0.05;
/// A range wider than this is looked at finely whatever varies.
const WIDE: f64 = 0.1;
/// First steps down and up from the guess, as shares of the capacity: that far off, most streams
/// agree.
const STEP: f64 = 0.04;
/// Rates below this share of the capacity are not tried.
const SLOWEST: f64 = 0.02;

/// Verdicts on rates, in bits per second.
#[derive(Debug, Clone)]
pub(super) struct Search {
    capacity: f64,
    guess: f64,
    /// The fastest that the sender can be asked for.
    fastest: f64,
    /// Whether streams of one fleet said different things.
    varies: bool,
    /// Share of the capacity by which a rate may have been too fast unseen.
    unseen: f64,
    tried: Vec<(f64, Trend)>,
}

impl Search {
    pub fn new(capacity: f64, guess: f64, fastest: f64) -> Self {
        Search {
            capacity,
            guess: guess.clamp(capacity * SLOWEST, fastest),
            fastest,
            varies: false,
            unseen: 0.0,
            tried: Vec::new(),
        }
    }

    /// A fleet of `rate` has been judged; `unanimous` where all its streams said so.
    pub fn on_verdict(&mut self, rate: f64, verdict: Trend, unanimous: bool) {
        self.varies |= !unanimous;
        self.tried.push((rate, verdict));
    }

    /// A better idea of where the bandwidth is.
    pub fn on_guess(&mut self, guess: f64) {
        self.guess = guess.clamp(self.capacity * SLOWEST, self.fastest);
    }

    /// What comes out coarser by itself is not looked at more closely.
    pub fn on_variation(&mut self) {
        self.varies = true;
    }

    /// Delays scatter: growth of less than `unseen` seconds per second does not show.
    pub fn on_blur(&mut self, unseen: f64) {
        self.unseen = self.unseen.max(unseen);
    }

    /// The range, in bits per second; `None` where an end is missing. Its lower end is as far below
    /// the fastest rate that was slow enough as scatter asks for.
    pub fn range(&self) -> Option<(f64, f64)> {
        let low = self.low()? - self.unseen * self.capacity;
        Some((low.max(0.0), self.high()?))
    }

    fn resolution(&self, width: f64) -> f64 {
        let coarse = self.varies && width <= self.capacity * WIDE;
        self.capacity * if coarse { COARSE } else { FINE }
    }

    fn rates(&self, which: impl Fn(Trend) -> bool) -> impl Iterator<Item = f64> {
        let chosen = self
            .tried
            .iter()
            .filter(move |(_, verdict)| which(*verdict));
        chosen.map(|(rate, _)| *rate)
    }

    /// The slowest rate that was not clearly slow enough.
    fn doubtful_from(&self) -> Option<f64> {
        self.rates(|verdict| verdict != Trend::NotIncreasing)
            .reduce(f64::min)
    }

    /// The fastest rate that was not clearly too fast.
    fn doubtful_until(&self) -> Option<f64> {
        self.rates(|verdict| verdict != Trend::Increasing)
            .reduce(f64::max)
    }

    /// The fastest rate below which nothing was too fast.
    pub fn low(&self) -> Option<f64> {
        let bound = self.doubtful_from().unwrap_or(f64::INFINITY);
        let below = self.rates(|verdict| verdict == Trend::NotIncreasing);
        below.filter(|rate| *rate < bound).reduce(f64::max)
    }

    /// The slowest rate above which nothing was slow enough.
    pub fn high(&self) -> Option<f64> {
        let bound = self.doubtful_until().unwrap_or(0.0);
        let above = self.rates(|verdict| verdict == Trend::Increasing);
        above.filter(|rate| *rate > bound).reduce(f64::min)
    }

    /// The next rate to try; `None` when the range is narrow enough or cannot be narrowed.
    pub fn next(&self) -> Option<f64> {
        if self.tried.len() >= FLEETS_MAX {
            return None;
        }
        match (self.low(), self.high()) {
            (None, _) => self.lower(),
            (_, None) => self.higher(),
            (Some(low), Some(high)) => self.between(low, high),
        }
    }

    /// Steps down double, from the guess or the slowest that was tried.
    fn lower(&self) -> Option<f64> {
        let slowest = self.capacity * SLOWEST;
        let tried = self
            .rates(|_| true)
            .reduce(f64::min)
            .unwrap_or(f64::INFINITY);
        if tried <= slowest {
            return None;
        }
        let step = self.capacity * STEP;
        let below = (0..8).map(|power| self.guess - step * f64::from(1 << power));
        let mut below = below.filter(|rate| *rate < tried - step / 2.0);
        Some(below.next().unwrap_or(slowest).max(slowest))
    }

    fn higher(&self) -> Option<f64> {
        let tried = self.rates(|_| true).reduce(f64::max).unwrap_or(0.0);
        if tried >= self.fastest {
            return None;
        }
        let step = self.capacity * STEP;
        let above = (0..8).map(|power| self.guess + step * f64::from(1 << power));
        let mut above = above.filter(|rate| *rate > tried + step / 2.0);
        Some(above.next().unwrap_or(self.fastest).min(self.fastest))
    }

    /// The middle of the wider of the two sides that border on what is in doubt; all of it where
    /// nothing is.
    fn between(&self, low: f64, high: f64) -> Option<f64> {
        let doubtful = |bound: Option<f64>| bound.filter(|rate| *rate > low && *rate < high);
        let from = doubtful(self.doubtful_from()).unwrap_or(high);
        let until = doubtful(self.doubtful_until()).unwrap_or(low);
        let (below, above) = match from < high {
            true => (from - low, high - until),
            false => (high - low, 0.0),
        };
        if below.max(above) <= self.resolution(high - low) {
            return None;
        }
        Some(match below >= above {
            true => low + below / 2.0,
            false => high - above / 2.0,
        })
    }
}

#[cfg(test)]
mod tests;
