//! Copies of endless data that share one path, beside one stream of another user that is there all
//! the time: what they carry by a rule, on packets or by formulas.

use steer::online::Streams;
use units::{Bytes, Rate, Span, Time};

use crate::rules::Rule;

/// How often the streams are read.
const INTERVAL: Span = Span::from_millis(500);
/// What is counted begins then.
const WARM_UP: Span = Span::from_secs(30);

/// A path that copies share with one stream of another user.
pub trait SharedPath {
    /// Goes on until then.
    ///
    /// # Errors
    /// When the path cannot go on.
    fn advance(&mut self, until: Time) -> Result<(), String>;

    /// What each copy's streams did since this was asked last.
    fn read(&mut self) -> Vec<Streams>;

    /// Bytes of the other user's stream that have arrived.
    fn other(&self) -> Bytes;

    /// Gives each copy so many streams; new ones send after their handshake.
    ///
    /// # Errors
    /// When there cannot be so many.
    fn set(&mut self, wanted: &[u16]) -> Result<(), String>;

    /// Ends the streams of a copy.
    ///
    /// # Errors
    /// When it has streams that are not there.
    fn end(&mut self, copy: usize) -> Result<(), String>;
}

/// How a run goes.
#[derive(Debug, Clone, Copy)]
pub struct RunPlan {
    /// Copies at a time.
    pub copies: usize,
    /// How long, in virtual time.
    pub length: Span,
    /// Each copy ends after about so long, and another one takes its place.
    pub each: Span,
    /// Tells the streams of each half minute on standard error.
    pub trace: bool,
}

/// What a run showed after its warm-up.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Shown {
    /// Of all copies together.
    pub rate: Rate,
    /// Of the other user's stream.
    pub other: Rate,
    /// Jain's index over the copies' bytes.
    pub fairness: f64,
    /// Share of what was sent that was sent again.
    pub retransmitted: f64,
    /// Streams of all copies, in the mean.
    pub streams: f64,
}

impl Shown {
    /// Means over runs.
    pub fn mean(runs: &[Shown]) -> Shown {
        let count = runs.len().max(1) as f64;
        let mean = |of: fn(&Shown) -> f64| runs.iter().map(of).sum::<f64>() / count;
        Shown {
            rate: Rate::from_f64(mean(|run| run.rate.as_f64())),
            other: Rate::from_f64(mean(|run| run.other.as_f64())),
            fairness: mean(|run| run.fairness),
            retransmitted: mean(|run| run.retransmitted),
            streams: mean(|run| run.streams),
        }
    }
}

/// Sums of what was seen after the warm-up.
#[derive(Default)]
struct Counted {
    carried: Vec<Bytes>,
    sent: f64,
    again: f64,
    streams: f64,
    intervals: f64,
    other_before: Bytes,
}

impl Counted {
    fn add(&mut self, seen: &[Streams], wanted: &[u16]) {
        let sum = |of: fn(&Streams) -> Option<Bytes>| -> f64 {
            seen.iter().filter_map(of).map(Bytes::as_f64).sum()
        };
        self.carried.resize(seen.len(), Bytes::ZERO);
        for (carried, one) in self.carried.iter_mut().zip(seen) {
            *carried += one.arrived;
        }
        self.sent += sum(|one| one.sent);
        self.again += sum(|one| one.retransmitted);
        self.streams += f64::from(wanted.iter().sum::<u16>());
        self.intervals += 1.0;
    }

    fn shown(&self, length: Span, other: Bytes) -> Shown {
        let all: Bytes = self.carried.iter().copied().sum();
        let rates: Vec<f64> = self.carried.iter().map(|bytes| bytes.as_f64()).collect();
        Shown {
            rate: Rate::of(all, length),
            other: Rate::of(other - self.other_before, length),
            fairness: stats::jain_index(&rates).unwrap_or(0.0),
            retransmitted: self.again / f64::max(self.sent, 1.0),
            streams: self.streams / f64::max(self.intervals, 1.0),
        }
    }
}

/// Runs copies by `rule`.
///
/// * `rtt`: of the handshake.
/// * `begin`: makes the path, with these streams of each copy.
///
/// # Errors
/// Those of the path.
pub fn run<P: SharedPath>(
    plan: &RunPlan,
    rtt: Span,
    mut rule: Rule,
    begin: impl FnOnce(&[u16]) -> Result<P, String>,
) -> Result<Shown, String> {
    let mut wanted = rule.first(plan.copies);
    let mut path = begin(&wanted)?;
    let mut counted = Counted::default();
    let mut now = Time::ZERO;
    // The copies end in turn, so that they do not all begin at once.
    let turn = Span::from_nanos(plan.each.as_nanos() / plan.copies as u64);
    let mut next_end = (Time::ZERO + turn, 0);
    while now.since(Time::ZERO) < plan.length {
        now += INTERVAL;
        path.advance(now)?;
        let seen = path.read();
        match now.since(Time::ZERO) <= WARM_UP {
            true => counted.other_before = path.other(),
            false => counted.add(&seen, &wanted),
        }
        wanted = rule.on_interval(INTERVAL, &seen, &wanted);
        if now >= next_end.0 {
            let copy = next_end.1;
            path.end(copy)?;
            rule.on_next(copy, rtt);
            if let Rule::Each(_) = &rule {
                wanted = rule.first(plan.copies);
            }
            next_end = (next_end.0 + turn, (copy + 1) % plan.copies);
        }
        path.set(&wanted)?;
        if plan.trace && now.as_nanos().is_multiple_of(TRACE.as_nanos()) {
            eprintln!("  {} s: {wanted:?}", now.as_secs_f64());
        }
    }
    Ok(counted.shown(plan.length - WARM_UP, path.other()))
}

/// How often a trace tells.
const TRACE: Span = Span::from_secs(30);
