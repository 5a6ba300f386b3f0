//! A fleet: streams of one rate, until they have decided whether it is too fast.

use observe::{Probes, ProbesError, RunObserver, Way};
use units::{Bytes, Rate, Span};

use super::stream::{self, Delays, Plan, Showing};
use crate::Cost;
use crate::trend::Trend;

/// Streams of a fleet at the most.
const STREAMS: usize = 12;
/// So many decide it: more than 60 %.
const DECIDING: usize = 8;
/// So many decide it if all say the same. At the rate that is just what is left a third of the
/// streams grow and half do not: more of those have to agree before the rate counts as slow enough.
const TOO_FAST_AT_ONCE: usize = 4;
const NOT_AT_ONCE: usize = 5;
/// Streams that may be sent again because the sender was away, before longer ones are sent: a busy
/// host misses the times of about every second stream, and short ones less often.
const RETAKES_MAX: usize = 18;
/// Streams that have to be unfit before longer ones are sent.
const UNFIT_MAX: usize = 3;
/// Silence after a stream, in lengths of it: on average streams take a tenth of their rate.
const SILENCE: u64 = 9;
/// But no longer than this: at a few Mbit/s a fleet would take half a minute. Streams then take up
/// to a quarter of their rate.
const SILENCE_MAX: Span = Span::from_millis(600);
/// A sender that leaves out more than this of the rate is too slow for it.
const SLOW: f64 = 0.97;

/// What a fleet came to.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Outcome {
    Verdict(Verdict),
    /// Why nothing can be told, by whatever rate.
    Unmeasurable(String),
}

/// What a fleet says of its rate.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Verdict {
    /// The rate at which its streams left, in bits per second.
    pub rate: f64,
    pub trend: Trend,
    pub unanimous: bool,
    pub coarse: bool,
    /// Growth of a queue that scatter may have hidden, in seconds per second.
    pub unseen: f64,
    /// The sender could not send faster than `rate`.
    pub slow_sender: bool,
    /// Where the growth of the queue says the available bandwidth is, in bits per second: a queue
    /// grows by what is too much. Holds where the tightest link is the narrowest.
    pub hint: Option<f64>,
    pub streams: u32,
    pub increasing: u32,
}

/// What streams are sent over, and what they have cost.
pub(super) struct Fleets<'a> {
    pub probes: &'a mut dyn Probes,
    pub way: Way,
    pub mtu: Bytes,
    pub capacity: Rate,
    pub rtt: Span,
    pub watch: &'a mut dyn RunObserver,
    pub cost: Cost,
    /// How many times the usual packets a stream has.
    pub longer: u64,
}

/// What the streams of a fleet showed so far.
#[derive(Default)]
struct Tally {
    delays: Vec<Delays>,
    lossy: usize,
    lost: bool,
    away: usize,
    batched: usize,
    blurred: usize,
}

impl Fleets<'_> {
    /// Sends streams of `rate` until they have decided. Where stamps are too coarse for them,
    /// longer ones are sent from now on.
    pub fn send(&mut self, rate: Rate) -> Result<Outcome, ProbesError> {
        loop {
            let plan = Plan::new(rate, self.capacity, self.mtu, self.longer);
            let tally = self.streams(&plan)?;
            if let Some(verdict) = tally.verdict(rate, self.capacity) {
                return Ok(Outcome::Verdict(verdict));
            }
            if let Some(why) = tally.unmeasurable(rate, &plan) {
                return Ok(Outcome::Unmeasurable(why));
            }
            self.longer *= 2;
        }
    }

    fn streams(&mut self, plan: &Plan) -> Result<Tally, ProbesError> {
        let mut tally = Tally::default();
        while !tally.is_done() {
            let train = plan.train();
            self.cost.add(&train);
            let passages = self.probes.train(self.way, &train, self.watch)?;
            tally.add(stream::judge(&passages, plan, self.capacity));
            let silence = plan.length().times(SILENCE).min(SILENCE_MAX);
            self.probes.pause(silence.max(self.rtt));
        }
        Ok(tally)
    }
}

impl Tally {
    fn add(&mut self, showing: Showing) {
        match showing {
            Showing::Delays(delays) => self.delays.push(delays),
            Showing::Lossy => self.lossy += 1,
            Showing::Lost => self.lost = true,
            Showing::SenderAway => self.away += 1,
            Showing::Batched => self.batched += 1,
            Showing::Blurred => self.blurred += 1,
        }
    }

    fn count(&self, trend: Trend) -> usize {
        self.delays
            .iter()
            .filter(|delays| delays.trend == trend)
            .count()
    }

    /// Streams that lose much are too fast, too.
    fn increasing(&self) -> usize {
        self.count(Trend::Increasing) + self.lossy
    }

    fn streams(&self) -> usize {
        self.delays.len() + self.lossy
    }

    fn is_unfit(&self) -> bool {
        self.batched + self.blurred >= UNFIT_MAX || self.away > RETAKES_MAX
    }

    fn is_done(&self) -> bool {
        self.lost || self.is_unfit() || self.trend().is_some()
    }

    /// What is decided; `None` while more streams could still decide.
    fn trend(&self) -> Option<Trend> {
        let (up, not) = (self.increasing(), self.count(Trend::NotIncreasing));
        let left = STREAMS.saturating_sub(self.streams());
        let unanimous = |count: usize, least: usize| count == self.streams() && count >= least;
        if up >= DECIDING || unanimous(up, TOO_FAST_AT_ONCE) {
            Some(Trend::Increasing)
        } else if not >= DECIDING || unanimous(not, NOT_AT_ONCE) {
            Some(Trend::NotIncreasing)
        } else {
            (up.max(not) + left < DECIDING).then_some(Trend::Grey)
        }
    }

    fn verdict(&self, asked: Rate, capacity: Rate) -> Option<Verdict> {
        let trend = match self.lost {
            true => Trend::Increasing,
            false if self.is_unfit() => return None,
            false => self.trend()?,
        };
        let same = self.count(trend)
            + if trend == Trend::Increasing {
                self.lossy
            } else {
                0
            };
        let median = |value: &dyn Fn(&Delays) -> f64| {
            stats::median(&self.delays.iter().map(value).collect::<Vec<_>>())
        };
        let rate = median(&|delays| delays.rate).unwrap_or(asked.as_f64());
        let hint = median(&|delays| delays.rate - delays.slope * capacity.as_f64());
        Some(Verdict {
            rate,
            trend,
            unanimous: same == self.streams(),
            coarse: self.delays.iter().any(|delays| delays.coarse),
            unseen: median(&|delays| delays.unseen).unwrap_or(0.0),
            slow_sender: rate < asked.as_f64() * SLOW,
            hint: hint.filter(|_| self.lossy == 0 && !self.lost),
            streams: self.streams() as u32 + u32::from(self.lost),
            increasing: self.increasing() as u32 + u32::from(self.lost),
        })
    }

    /// Why longer streams would not help; `None` where they may.
    fn unmeasurable(&self, rate: Rate, plan: &Plan) -> Option<String> {
        if plan.may_be_longer() {
            return None;
        }
        if self.away > RETAKES_MAX {
            return Some(format!(
                "the sender was held up in {} streams of {}: it cannot keep to the times that this \
                    rate needs",
                self.away,
                rate.human()
            ));
        }
        let length = plan.length().human();
        Some(match self.batched >= self.blurred {
            true => format!(
                "the receiver takes packets in batches, which leaves too few times of arrival in \
                    {length} to see a queue grow"
            ),
            false => format!(
                "times of arrival scatter so much that a queue growing for {length} would not be \
                    seen"
            ),
        })
    }
}

#[cfg(test)]
mod tests;
