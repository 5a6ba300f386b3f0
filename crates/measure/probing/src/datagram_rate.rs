//! The highest rate at which a path carries datagrams with no more than a given loss.
//!
//! Short runs at four times the rate of the one before, until one loses too much; then runs between
//! the fastest that was carried and the slowest that was not, the first of them at what arrived of
//! that one; then a run of full length at the rate that is left, somewhat slower where it loses too
//! much. A run also counts as too fast where datagrams arrive more slowly than they were sent: they
//! wait in a queue that has not overflowed yet. Where a host sends no faster, twice in a row, its
//! rate is the answer, and is told as that.
//!
//! What is left out: paths whose loss does not grow with the rate. Where more is lost by chance than
//! may be, no rate is found.
//!
//! [`RateSearch`] says what to try, [`search`] tries it.

use observe::{
    DatagramPlan, DatagramTotals, Datagrams, Direction, Fault, RunObserver, Target, TargetError,
    Way,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use units::{Rate, Span};

/// The loss that may be: one datagram in a hundred.
pub const LOSS_MAX: f64 = 0.01;

/// A path that carries less than this is no path of bulk data.
const FIRST: Rate = Rate::from_bits_per_second(10_000_000);
const GROWTH: u64 = 4;
const MOST: Rate = Rate::from_bits_per_second(400_000_000_000);
const LEAST: Rate = Rate::from_bits_per_second(100_000);
/// How long a run of the search takes: longer than queues of usual length take to fill.
const SHORT: Span = Span::from_secs(1);
const LONG: Span = Span::from_secs(2);
/// Where the two ends of what is left are so close, it is enough.
const CLOSE: f64 = 1.02;
/// What arrives may be so much slower than what was sent, beyond what was lost.
const SLOWER_MAX: f64 = 0.01;
/// A host that sends less of what was asked for sends no faster.
const HOST_SHARE: f64 = 0.97;
const TRIES_MAX: usize = 24;
/// Runs of full length.
const CONFIRMATIONS_MAX: usize = 4;
/// The next of them is so much slower.
const SLOWER: f64 = 0.985;
/// A host that was too slow twice in a row is: once may be chance.
const SHORTFALLS: usize = 2;

/// What a run is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum TryPurpose {
    /// A search for a rate that is too high, or low enough.
    Bounds,
    /// Between the two.
    Between,
    /// The answer at full length.
    Confirm,
}

/// One run of a search.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Try {
    /// What for.
    pub purpose: TryPurpose,
    /// At what rate.
    #[serde(rename = "asked_bits_per_second")]
    pub asked: Rate,
    /// At what rate this host really sent.
    #[serde(rename = "sent_bits_per_second")]
    pub sent: Rate,
    /// At what rate it arrived.
    #[serde(rename = "goodput_bits_per_second")]
    pub goodput: Rate,
    /// The share that was lost.
    pub loss_ratio: f64,
    /// Whether the path carried it.
    pub carried: bool,
}

/// What bounds the rate that was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Ceiling {
    /// The path: somewhat faster is lost.
    Path,
    /// A host: the sender sends no faster, or the receiver drops what comes faster.
    Host,
}

/// What to do next.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Step {
    /// Send at this rate for so long.
    Try(TryPurpose, Rate, Span),
    /// The search is over: the last run confirmed the rate, and this bounds it.
    Found(Ceiling),
    /// No rate is carried with so little loss.
    Nothing,
}

/// The search, without the path.
#[derive(Debug, Clone)]
pub struct RateSearch {
    loss_max: f64,
    length: Span,
    tries: Vec<Try>,
    /// The fastest that was carried.
    low: Option<Rate>,
    /// The slowest that was not.
    high: Option<Rate>,
    /// Whether hosts dropped most of what was lost then.
    high_by_hosts: bool,
    /// Runs in a row in which the host sent less than was asked for.
    shortfalls: usize,
    /// Whether that is what bounds the rate.
    held_by_host: bool,
    confirmed: bool,
}

impl RateSearch {
    /// * `loss_max`: the share that may be lost.
    /// * `length`: of the run that confirms the answer.
    pub fn new(loss_max: f64, length: Span) -> Self {
        RateSearch {
            loss_max,
            length,
            tries: Vec::new(),
            low: None,
            high: None,
            high_by_hosts: false,
            shortfalls: 0,
            held_by_host: false,
            confirmed: false,
        }
    }

    /// What was tried, in order.
    pub fn tries(&self) -> &[Try] {
        &self.tries
    }

    /// What to do next.
    pub fn next(&self) -> Step {
        if self.confirmed {
            return Step::Found(match self.held_by_host || self.high_by_hosts {
                true => Ceiling::Host,
                false => Ceiling::Path,
            });
        }
        let confirmations = self.count(TryPurpose::Confirm);
        if confirmations >= CONFIRMATIONS_MAX {
            return Step::Nothing;
        }
        match (self.low, self.high) {
            (Some(low), _) if confirmations > 0 || self.is_enough(low) => {
                Step::Try(TryPurpose::Confirm, low, self.length)
            }
            (None, None) => Step::Try(TryPurpose::Bounds, FIRST, SHORT),
            (Some(_), None) => {
                let last = self.tries.last().map_or(FIRST, |last| last.asked);
                let next = last.bits_per_second().saturating_mul(GROWTH);
                let next = Rate::from_bits_per_second(next).min(MOST);
                Step::Try(TryPurpose::Bounds, next, SHORT)
            }
            (None, Some(high)) => self.lower(high),
            (Some(low), Some(high)) => {
                Step::Try(TryPurpose::Between, self.between(low, high), LONG)
            }
        }
    }

    /// A run has shown this.
    pub fn on_result(&mut self, purpose: TryPurpose, asked: Rate, seen: &DatagramTotals) {
        let loss_ratio = seen.loss_ratio();
        let slower = 1.0 - seen.goodput.as_f64() / seen.rate_sent.as_f64().max(1.0);
        let carried =
            seen.arrived > 0 && loss_ratio <= self.loss_max && slower <= self.loss_max + SLOWER_MAX;
        self.tries.push(Try {
            purpose,
            asked,
            sent: seen.rate_sent,
            goodput: seen.goodput,
            loss_ratio,
            carried,
        });
        let is_host = seen.rate_sent.as_f64() < asked.as_f64() * HOST_SHARE;
        // What was really sent counts, whatever was asked for.
        let sent = if is_host { seen.rate_sent } else { asked };
        if !carried && self.high.is_none_or(|high| sent <= high) {
            self.high_by_hosts = seen.dropped_by_hosts > seen.lost / 2;
        }
        self.shortfalls = if is_host { self.shortfalls + 1 } else { 0 };
        self.held_by_host |= carried && self.shortfalls >= SHORTFALLS;
        match (carried, purpose) {
            (true, TryPurpose::Confirm) => self.on_confirmed(is_host, sent),
            (true, _) => self.low = Some(self.low.map_or(sent, |low| low.max(sent))),
            (false, TryPurpose::Confirm) => {
                self.high = Some(sent);
                self.held_by_host = false;
                self.low = Some(times(sent, SLOWER).min(times(seen.goodput, SLOWER)));
            }
            (false, _) => {
                self.high = Some(self.high.map_or(sent, |high| high.min(sent)));
                // A path that is not steady may have carried more before.
                self.low = self.low.filter(|low| *low < sent);
            }
        }
    }

    /// What a host was too slow for is asked for once more, and then what it sent.
    fn on_confirmed(&mut self, is_host: bool, sent: Rate) {
        let may_go_on = self.count(TryPurpose::Confirm) < CONFIRMATIONS_MAX;
        self.confirmed = !is_host || !may_go_on;
        if !self.confirmed && self.held_by_host {
            self.low = Some(sent);
        }
    }

    fn count(&self, purpose: TryPurpose) -> usize {
        self.tries
            .iter()
            .filter(|one| one.purpose == purpose)
            .count()
    }

    /// Whether nothing is left to be found between what is carried and what is not.
    fn is_enough(&self, low: Rate) -> bool {
        let is_close = |high: Rate| high.as_f64() / low.as_f64().max(1.0) <= CLOSE;
        self.tries.len() >= TRIES_MAX
            || self.held_by_host
            || low >= MOST
            || self.high.is_some_and(is_close)
    }

    fn lower(&self, high: Rate) -> Step {
        if high <= LEAST || self.tries.len() >= TRIES_MAX {
            return Step::Nothing;
        }
        let arrived = self.tries.last().map_or(Rate::ZERO, |last| last.goodput);
        let next = times(high, 1.0 / GROWTH as f64).max(times(arrived, SLOWER));
        let next = next.max(LEAST).min(times(high, 0.9));
        Step::Try(TryPurpose::Bounds, next, SHORT)
    }

    /// What arrived of too much is a good guess; somewhat more of it the next one, and else the
    /// middle.
    fn between(&self, low: Rate, high: Rate) -> Rate {
        let too_fast = self.tries.iter().rev().find(|one| !one.carried);
        let arrived = too_fast.map_or(Rate::ZERO, |one| one.goodput);
        let guesses = [0.995, 1.0 + self.loss_max + 0.005].map(|factor| times(arrived, factor));
        let is_within = |guess: &Rate| *guess > times(low, 1.004) && *guess < times(high, 0.996);
        let middle = Rate::from_f64((low.as_f64() * high.as_f64()).sqrt());
        guesses.into_iter().find(is_within).unwrap_or(middle)
    }
}

fn times(rate: Rate, factor: f64) -> Rate {
    Rate::from_f64(rate.as_f64() * factor)
}

/// What was found of a path.
#[derive(Debug, Clone, PartialEq)]
pub struct RateFound {
    /// The plan of the run that confirmed the rate, and what it showed.
    pub confirmed: Option<(DatagramPlan, Datagrams, Ceiling)>,
    /// What was tried, in order.
    pub tries: Vec<Try>,
    /// The last run, where none was confirmed.
    pub last: Option<(DatagramPlan, Datagrams)>,
}

/// Looks for the highest rate in the direction of `plan`, whose rate is not looked at.
///
/// # Errors
/// When the target cannot send datagrams, or both directions are asked for.
pub fn search(
    target: &mut dyn Target,
    plan: &DatagramPlan,
    loss_max: f64,
    watch: &mut dyn crate::PartObserver,
) -> Result<RateFound, TargetError> {
    let way = match plan.direction {
        Direction::Forward => Way::Forward,
        Direction::Reverse => Way::Reverse,
        Direction::Both => {
            return Err(TargetError {
                fault: Fault::Request,
                what: "the highest rate is looked for in one direction at a time".to_owned(),
                hint: Some("leave out `--bidir`, and add `-R` for the other one".to_owned()),
                source: None,
            });
        }
    };
    let mut search = RateSearch::new(loss_max, plan.duration);
    let mut last = None;
    loop {
        match search.next() {
            Step::Try(purpose, rate, time) => {
                watch.on_part(&format!("{} for {}", rate.human(), time.human()));
                let plan = DatagramPlan {
                    rate: Some(rate),
                    duration: time,
                    ..*plan
                };
                let seen = target.datagrams(&plan, as_run(watch))?;
                if let Some(totals) = seen.totals(way) {
                    search.on_result(purpose, rate, &totals);
                }
                last = Some((plan, seen));
            }
            Step::Found(ceiling) => {
                let confirmed = last.map(|(plan, seen)| (plan, seen, ceiling));
                return Ok(RateFound {
                    confirmed,
                    tries: search.tries,
                    last: None,
                });
            }
            Step::Nothing => {
                return Ok(RateFound {
                    confirmed: None,
                    tries: search.tries,
                    last,
                });
            }
        }
    }
}

fn as_run(watch: &mut dyn crate::PartObserver) -> &mut dyn RunObserver {
    watch
}

#[cfg(test)]
mod tests;
