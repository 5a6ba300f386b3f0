//! The highest rate at which a path carries datagrams with no more than a given loss.
//!
//! Short runs at four times the rate of the one before, until one loses too much; then runs between
//! the fastest that was carried and the slowest that was not, the first of them at what arrived of
//! that one; then a run of full length at the rate that is left, somewhat slower where it loses too
//! much. A run also counts as too fast where the least delay of its datagrams grows all the time:
//! they wait in a queue that has not overflowed yet. Delays that merely vary do not grow. Few
//! losses and growth may be chance: such a run is made once more before it counts. Where a host
//! sends no faster, twice in a row, its rate is the answer, and is told as that.
//!
//! What is left out: paths whose loss does not grow with the rate. Where more is lost by chance
//! than may be, no rate is found. Where the receiver does not tell delays, only losses count.
//!
//! [`RateSearch`] says what to try, [`search`] tries it.

mod run;

use observe::DatagramTotals;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use units::{Bytes, Rate, Span};

pub use run::{RateFound, search};

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
/// Of fewer datagrams the share that is lost says little; slow runs take longer, and no longer than
/// this.
const DATAGRAMS_MIN: u64 = 400;
const LONGEST: Span = Span::from_secs(10);
/// Where the two ends of what is left are so close, it is enough.
const CLOSE: f64 = 1.02;
/// The least delay may grow by this share of a run: so much faster than what passes is what is
/// sent.
const GROWTH_MAX: f64 = 0.01;
/// And by this in any run: hosts are not more punctual.
const GROWTH_LEAST: Span = Span::from_millis(5);
/// A host that sends less of what was asked for sends no faster.
const HOST_SHARE: f64 = 0.97;
const TRIES_MAX: usize = 24;
/// So few losses, or delays that grow without one, may be a short outage or what others send.
const FEW: u64 = 100;
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
    /// How much the least delay grew, as it does while a queue fills; absent where the receiver
    /// does not tell, so that losses alone counted.
    #[serde(
        rename = "delay_growth_seconds",
        skip_serializing_if = "Option::is_none"
    )]
    pub delay_growth: Option<Span>,
    /// Whether the path carried it.
    pub carried: bool,
}

/// Whether a queue was filling in a run that took so long, whose least delay grew so much: by more
/// than 1 % of the run, and by more than 5 ms.
///
/// ```
/// use probing::datagram_rate::is_filling;
/// use units::Span;
/// assert!(is_filling(Span::from_millis(101), Span::from_secs(10)));
/// assert!(!is_filling(Span::from_millis(99), Span::from_secs(10)));
/// assert!(!is_filling(Span::from_millis(5), Span::from_millis(100)));
/// ```
pub fn is_filling(growth: Span, took: Span) -> bool {
    let most = Span::from_secs_f64(took.as_secs_f64() * GROWTH_MAX);
    growth > most.max(GROWTH_LEAST)
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
    /// Data of a datagram.
    size: Bytes,
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
    /// A run that lost too much, but few datagrams: it is made once more.
    doubted: Option<(TryPurpose, Rate)>,
    confirmed: bool,
}

impl RateSearch {
    /// * `loss_max`: the share that may be lost.
    /// * `length`: of the run that confirms the answer.
    /// * `size`: data of each datagram.
    pub fn new(loss_max: f64, length: Span, size: Bytes) -> Self {
        RateSearch {
            loss_max,
            length,
            size,
            tries: Vec::new(),
            low: None,
            high: None,
            high_by_hosts: false,
            shortfalls: 0,
            held_by_host: false,
            doubted: None,
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
        if let Some((purpose, rate)) = self.doubted {
            return self.short(purpose, rate);
        }
        match (self.low, self.high) {
            (Some(low), _) if confirmations > 0 || self.is_enough(low) => {
                Step::Try(TryPurpose::Confirm, low, self.length)
            }
            (None, None) => self.bounds(FIRST),
            (Some(_), None) => {
                let last = self.tries.last().map_or(FIRST, |last| last.asked);
                let next = last.bits_per_second().saturating_mul(GROWTH);
                let next = Rate::from_bits_per_second(next).min(MOST);
                self.bounds(next)
            }
            (None, Some(high)) => self.lower(high),
            (Some(low), Some(high)) => self.short(TryPurpose::Between, self.between(low, high)),
        }
    }

    /// A run has shown this.
    pub fn on_result(&mut self, purpose: TryPurpose, asked: Rate, seen: &DatagramTotals) {
        let loss_ratio = seen.loss_ratio();
        let is_lossy = seen.arrived == 0 || loss_ratio > self.loss_max;
        let carried = !is_lossy && !self.is_filling(seen);
        self.tries.push(Try {
            purpose,
            asked,
            sent: seen.rate_sent,
            goodput: seen.goodput,
            loss_ratio,
            delay_growth: seen.delay_growth,
            carried,
        });
        let is_first = self.doubted.take().is_none() && purpose != TryPurpose::Confirm;
        if !carried && is_first && seen.arrived > 0 && seen.lost < FEW {
            self.doubted = Some((purpose, asked));
            return;
        }
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

    /// Whether a queue was filling.
    fn is_filling(&self, seen: &DatagramTotals) -> bool {
        let took = seen.rate_sent.time_to_send(self.size.times(seen.sent));
        seen.delay_growth
            .is_some_and(|growth| is_filling(growth, took))
    }

    /// What a host was too slow for is asked for once more, and then what it sent.
    fn on_confirmed(&mut self, is_host: bool, sent: Rate) {
        let may_go_on = self.count(TryPurpose::Confirm) < CONFIRMATIONS_MAX;
        self.confirmed = !is_host || !may_go_on;
        if !self.confirmed && self.held_by_host {
            self.low = Some(sent);
        }
    }

    fn bounds(&self, rate: Rate) -> Step {
        self.short(TryPurpose::Bounds, rate)
    }

    /// A run of the search.
    fn short(&self, purpose: TryPurpose, rate: Rate) -> Step {
        let time = match purpose {
            TryPurpose::Bounds => SHORT,
            TryPurpose::Between | TryPurpose::Confirm => LONG,
        };
        Step::Try(purpose, rate, self.at_least(time, rate))
    }

    fn at_least(&self, time: Span, rate: Rate) -> Span {
        let enough = rate.time_to_send(self.size.times(DATAGRAMS_MIN));
        enough.min(LONGEST).max(time)
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
        self.bounds(next)
    }

    /// What arrived of too much is a good guess; somewhat more of it the next one, and else the
    /// middle.
    fn between(&self, low: Rate, high: Rate) -> Rate {
        let too_fast = self.tries.iter().rev().find(|one| !one.carried);
        let arrived = too_fast.map_or(Rate::ZERO, |one| one.goodput);
        let most = 1.0 + self.loss_max;
        let guesses = [0.995, most + 0.005, most + 0.02, most + 0.06];
        let mut guesses = guesses.map(|factor| times(arrived, factor)).into_iter();
        let is_within = |guess: &Rate| *guess > times(low, 1.004) && *guess < times(high, 0.996);
        let middle = Rate::from_f64((low.as_f64() * high.as_f64()).sqrt());
        guesses.find(is_within).unwrap_or(middle)
    }
}

fn times(rate: Rate, factor: f64) -> Rate {
    Rate::from_f64(rate.as_f64() * factor)
}

#[cfg(test)]
mod tests;
