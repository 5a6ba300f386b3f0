//! Random Early Detection (Floyd & Jacobson 1993), by default gentle (Floyd 2000).
//!
//! The queue counts in packets, and drops are spread as in the paper and in Linux: uniformly over
//! the next 1/p arrivals. With `wait`, the default of ns-2 and ns-3, they are uniform over the 1/p
//! after that: a third as many at the same average. ns-2 counts as here with `bytes_ false` and
//! `queue_in_bytes_ false`; `docs/agreement.md` compares the three.

use netpath::RedSpec;
use units::{Bytes, Rate, Time};

use super::drop_tail::DropTail;
use crate::accounts::{Accounts, Entry};
use crate::random::{Purpose, Random};
use crate::{Admission, DropCause, Packet};

/// First in, first out; drops or marks at random as the average queue grows.
#[derive(Debug)]
pub(crate) struct Red<P> {
    spec: RedSpec,
    waiting: DropTail<P>,
    average: Average,
    spread: Spread,
    random: Random,
}

/// What RED decides for one arrival.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Verdict {
    Pass,
    /// Tell the sender: by a mark where it understands one.
    Notify,
    /// Too much: by a drop.
    Drop,
}

impl<P: Packet> Red<P> {
    pub(crate) fn new(spec: RedSpec, rate: Rate, seed: u64) -> Self {
        Red {
            spec,
            waiting: DropTail::new(spec.limit),
            average: Average::new(spec.weight, rate),
            spread: Spread::new(spec.wait),
            random: Random::new(seed, Purpose::EarlyDrop),
        }
    }

    #[inline]
    pub(crate) fn packets(&self) -> usize {
        self.waiting.packets()
    }

    #[inline]
    pub(crate) fn bytes(&self) -> Bytes {
        self.waiting.bytes()
    }

    pub(crate) fn offer(
        &mut self,
        mut packet: P,
        now: Time,
        accounts: &mut Accounts<P>,
    ) -> Admission {
        let size = packet.size();
        self.average.on_arrival(self.waiting.packets(), now);
        if !self.waiting.has_room_for(size) {
            self.spread.on_dropped();
            return Admission::Dropped(DropCause::QueueFull);
        }
        match self.verdict() {
            Verdict::Pass => {}
            Verdict::Notify if self.spec.ecn && packet.ecn_capable() => {
                packet.mark_congestion();
                accounts.mark(Entry::of(&packet));
            }
            Verdict::Notify | Verdict::Drop => return Admission::Dropped(DropCause::Early),
        }
        self.waiting.offer(packet)
    }

    pub(crate) fn poll(&mut self, now: Time) -> Option<P> {
        let packet = self.waiting.poll()?;
        if self.waiting.packets() == 0 {
            self.average.on_empty(packet.size(), now);
        }
        Some(packet)
    }

    fn verdict(&mut self) -> Verdict {
        let average = self.average.packets;
        // As in ns-2: while the link would run dry, nothing is dropped, however high the average.
        let base = match self.waiting.packets() {
            0 | 1 => 0.0,
            _ => base_probability(&self.spec, average),
        };
        let probability = self.spread.probability(base);
        // A draw only where chance decides, so that a queue which never fills draws nothing.
        if probability == 0.0 || (probability < 1.0 && !self.random.chance(probability)) {
            return Verdict::Pass;
        }
        self.spread.on_dropped();
        // RFC 3168, section 7: above the upper threshold drop, whatever the packet understands.
        match average < f64::from(self.spec.max) {
            true => Verdict::Notify,
            false => Verdict::Drop,
        }
    }
}

/// The probability that grows with the average (1993, section 4), and above `max` a step to 1 or
/// the gentle slope in its place.
fn base_probability(spec: &RedSpec, average: f64) -> f64 {
    let (min, max) = (f64::from(spec.min), f64::from(spec.max));
    if average < min {
        0.0
    } else if average < max {
        spec.probability * (average - min) / (max - min)
    } else if spec.gentle && average < 2.0 * max {
        spec.probability + (1.0 - spec.probability) * (average - max) / max
    } else {
        1.0
    }
}

/// Spreads drops evenly: with a constant probability `p` alone, drops would come in clusters.
#[derive(Debug)]
struct Spread {
    wait: bool,
    /// Arrivals that passed since the last drop, while the average was above `min`.
    passed: Option<u32>,
}

impl Spread {
    fn new(wait: bool) -> Self {
        Spread { wait, passed: None }
    }

    /// The probability for this arrival, `p / (1 - count * p)`; the paper's count runs from -1
    /// below `min` and from 0 after a drop, and is raised before it is used. With `wait` nothing is
    /// dropped up to a count of `1 / p`, and `p / (2 - count * p)` from there (ns-2's `red.cc`).
    fn probability(&mut self, base: f64) -> f64 {
        if base == 0.0 {
            self.passed = None;
            return 0.0;
        }
        let count = self.passed.map_or(0, |count| count.saturating_add(1));
        self.passed = Some(count);
        let spent = f64::from(count) * base;
        let left = match self.wait {
            true if spent < 1.0 => return 0.0,
            true => 2.0 - spent,
            false => 1.0 - spent,
        };
        if left <= base { 1.0 } else { base / left }
    }

    fn on_dropped(&mut self) {
        self.passed = Some(0);
    }
}

/// The average queue in packets: each arrival counts with the weight, and while the queue is empty
/// the average decays as if packets had arrived and found it so.
#[derive(Debug)]
struct Average {
    packets: f64,
    weight: f64,
    rate: Rate,
    empty: Option<Empty>,
}

/// The queue ran empty; what happened then matters again as soon as it is empty when a packet
/// comes.
#[derive(Debug)]
struct Empty {
    /// Since when, or since the last arrival that was counted.
    since: Time,
    /// The size of the packet that left last stands for those that could have been sent since.
    last: Bytes,
}

impl Average {
    fn new(weight: f64, rate: Rate) -> Self {
        Average {
            packets: 0.0,
            weight,
            rate,
            empty: None,
        }
    }

    fn on_arrival(&mut self, waiting: usize, now: Time) {
        match &mut self.empty {
            Some(Empty { since, last }) if waiting == 0 => {
                let each = self.rate.time_to_send(*last).as_secs_f64();
                let missed = now.since(*since).as_secs_f64() / each;
                // Not `f64::powf`: its last bits depend on the machine.
                self.packets *= libm::pow(1.0 - self.weight, missed);
                *since = now;
            }
            _ => self.packets += self.weight * (waiting as f64 - self.packets),
        }
    }

    fn on_empty(&mut self, last: Bytes, now: Time) {
        self.empty = Some(Empty { since: now, last });
    }
}

#[cfg(test)]
mod tests;
