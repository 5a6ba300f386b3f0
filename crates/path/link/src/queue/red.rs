//! Random Early Detection (Floyd & Jacobson 1993), by default gentle (Floyd 2000).
//!
//! The queue counts in packets, and drops are spread as in the paper and in Linux: uniformly over
//! the next 1/p arrivals. With `wait`, the default of ns-2 and ns-3, they are uniform over the 1/p
//! after that: a third as many at the same average. ns-2 counts as here with `bytes_ false` and
//! `queue_in_bytes_ false`; `docs/agreement.md` compares the three.
//!
//! Weighted RED has one queue as well, and thresholds for each class of service. All are judged by
//! the average of all that waits, or, for RIO (Clark & Fang 1998), each by that of its own class
//! and better ones.

use netpath::{Class, QueueLimit, RedSpec, Thresholds, WredSpec};
use units::{Bytes, Rate, Time};

use super::drop_tail::DropTail;
use crate::accounts::{Accounts, Entry};
use crate::random::{Purpose, Random};
use crate::{Admission, DropCause, Packet};

const CLASSES: usize = Class::ALL.len();

/// First in, first out; drops or marks at random as the average queue grows.
#[derive(Debug)]
pub(crate) struct Red<P> {
    /// One of all packets, or one of each class from worst to best.
    curves: Vec<Curve>,
    gentle: bool,
    ecn: bool,
    waiting: DropTail<P>,
    /// Of all that waits; behind it, of what is at least best effort, and of priority alone. Those
    /// two are kept only for RIO.
    averages: [Average; CLASSES],
    by_class: Option<Waiting>,
    random: Random,
}

/// Where dropping begins, and what has passed since the last drop.
#[derive(Debug)]
struct Curve {
    thresholds: Thresholds,
    spread: Spread,
}

/// How many packets of each class wait, from worst to best.
#[derive(Debug, Default)]
struct Waiting([usize; CLASSES]);

impl Waiting {
    /// Those of this class and of better ones.
    fn no_worse_than(&self, class: usize) -> usize {
        self.0.iter().skip(class).sum()
    }
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

/// What plain and weighted RED have in common.
struct Settings {
    limit: QueueLimit,
    weight: f64,
    gentle: bool,
    ecn: bool,
}

impl<P: Packet> Red<P> {
    pub(crate) fn new(spec: RedSpec, rate: Rate, seed: u64) -> Self {
        let curve = Curve {
            thresholds: spec.thresholds(),
            spread: Spread::new(spec.wait),
        };
        let settings = Settings {
            limit: spec.limit,
            weight: spec.weight,
            gentle: spec.gentle,
            ecn: spec.ecn,
        };
        Red::of(vec![curve], &settings, rate, seed)
    }

    /// Thresholds for each class.
    pub(crate) fn weighted(spec: WredSpec, rate: Rate, seed: u64) -> Self {
        let curve = |thresholds| Curve {
            thresholds,
            spread: Spread::new(false),
        };
        let settings = Settings {
            limit: spec.limit,
            weight: spec.weight,
            gentle: spec.gentle,
            ecn: spec.ecn,
        };
        let curves = spec.thresholds().map(curve).into();
        Red {
            by_class: spec.rio.then(Waiting::default),
            ..Red::of(curves, &settings, rate, seed)
        }
    }

    fn of(curves: Vec<Curve>, settings: &Settings, rate: Rate, seed: u64) -> Self {
        Red {
            curves,
            gentle: settings.gentle,
            ecn: settings.ecn,
            waiting: DropTail::new(settings.limit),
            averages: std::array::from_fn(|_| Average::new(settings.weight, rate)),
            by_class: None,
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
        let class = packet.class() as usize;
        let average = self.average_for(class, now);
        let curve = if self.curves.len() > 1 { class } else { 0 };
        if !self.waiting.has_room_for(packet.size()) {
            self.curves[curve].spread.on_dropped();
            return Admission::Dropped(DropCause::QueueFull);
        }
        match self.verdict(curve, average) {
            Verdict::Pass => {}
            Verdict::Notify if self.ecn && packet.ecn_capable() => {
                packet.mark_congestion();
                accounts.mark(Entry::of(&packet));
            }
            Verdict::Notify | Verdict::Drop => return Admission::Dropped(DropCause::Early),
        }
        if let Some(waiting) = &mut self.by_class {
            waiting.0[class] += 1;
        }
        self.waiting.offer(packet)
    }

    /// The average that decides for an arrival of this class: of all, or for RIO of those that are
    /// no worse. It counts in each that it belongs to.
    fn average_for(&mut self, class: usize, now: Time) -> f64 {
        self.averages[0].on_arrival(self.waiting.packets(), now);
        let Some(waiting) = &self.by_class else {
            return self.averages[0].packets;
        };
        for worst in 1..=class {
            self.averages[worst].on_arrival(waiting.no_worse_than(worst), now);
        }
        self.averages[class].packets
    }

    pub(crate) fn poll(&mut self, now: Time) -> Option<P> {
        let packet = self.waiting.poll()?;
        if self.waiting.packets() == 0 {
            self.averages[0].on_empty(packet.size(), now);
        }
        if let Some(waiting) = &mut self.by_class {
            let class = packet.class() as usize;
            waiting.0[class] -= 1;
            for worst in (1..=class).filter(|worst| waiting.no_worse_than(*worst) == 0) {
                self.averages[worst].on_empty(packet.size(), now);
            }
        }
        Some(packet)
    }

    fn verdict(&mut self, curve: usize, average: f64) -> Verdict {
        let Curve { thresholds, spread } = &mut self.curves[curve];
        // As in ns-2: while the link would run dry, nothing is dropped, however high the average.
        let base = match self.waiting.packets() {
            0 | 1 => 0.0,
            _ => base_probability(thresholds, self.gentle, average),
        };
        let probability = spread.probability(base);
        // A draw only where chance decides, so that a queue which never fills draws nothing.
        if probability == 0.0 || (probability < 1.0 && !self.random.chance(probability)) {
            return Verdict::Pass;
        }
        spread.on_dropped();
        // RFC 3168, section 7: above the upper threshold drop, whatever the packet understands.
        match average < f64::from(thresholds.max) {
            true => Verdict::Notify,
            false => Verdict::Drop,
        }
    }
}

/// The probability that grows with the average (1993, section 4), and above `max` a step to 1 or
/// the gentle slope in its place.
fn base_probability(of_class: &Thresholds, gentle: bool, average: f64) -> f64 {
    let (min, max) = (f64::from(of_class.min), f64::from(of_class.max));
    let at_max = of_class.probability;
    if average < min {
        0.0
    } else if average < max {
        at_max * (average - min) / (max - min)
    } else if gentle && average < 2.0 * max {
        at_max + (1.0 - at_max) * (average - max) / max
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
