//! Whether a loss is of a full queue, by the round trips around it.
//!
//! A packet that a full queue drops has neighbours that waited as long as any do. What is lost
//! while the queue is shorter is of the path, and as much of it is lost while the queue is full.

use units::{Span, Time};

use crate::filters::Maximum;

/// The share of the longest wait from which on the queue counts as full.
const FULL: f64 = 0.8;
/// The share from which on a queue is worth notice.
const LONG: f64 = 0.5;
/// The share of the smallest round trip below which a wait is none.
const WAIT_MIN: f64 = 0.01;
/// The weight of the newest round trip.
const NEWEST: f64 = 0.25;
/// The longest wait is looked for anew after so many rounds and so much time.
const ROUNDS: u32 = 64;
const AGE: Span = Span::from_secs(10);
/// What is left after each round of the packets by which chance is known.
const KEPT: f64 = 1.0 - 1.0 / 256.0;

/// Packets, and how many of them were lost.
#[derive(Debug, Clone, Copy, Default)]
struct Count {
    packets: f64,
    lost: f64,
}

#[derive(Debug, Clone)]
pub(crate) struct Overflow {
    /// Seconds.
    round_trip: Option<f64>,
    least: f64,
    longest: Maximum<2>,
    rounds: u32,
    since: Time,
    /// Packets of earlier and of this round that met a shorter queue.
    clear: Count,
    /// Packets of this round that met a full queue.
    full: Count,
}

impl Overflow {
    pub(crate) fn new(now: Time) -> Self {
        Overflow {
            round_trip: None,
            least: 0.0,
            longest: Maximum::new(),
            rounds: 0,
            since: now,
            clear: Count::default(),
            full: Count::default(),
        }
    }

    /// So many packets were acknowledged.
    ///
    /// * `least`: the smallest round trip of the path.
    pub(crate) fn on_acked(&mut self, packets: f64, round_trip: Span, least: Span) {
        let newest = round_trip.as_secs_f64();
        let before = self.round_trip.unwrap_or(newest);
        let smoothed = before + NEWEST * (newest - before);
        self.round_trip = Some(smoothed);
        self.least = least.as_secs_f64();
        self.longest.add(smoothed);
        self.here().packets += packets;
    }

    /// A round begins.
    pub(crate) fn on_round(&mut self, now: Time) {
        self.rounds += 1;
        if self.rounds >= ROUNDS && now.since(self.since) >= AGE {
            self.longest.advance();
            (self.rounds, self.since) = (0, now);
        }
        self.full = Count::default();
        self.clear.packets *= KEPT;
        self.clear.lost *= KEPT;
    }

    /// So many packets are lost. Returns whether the round lost more in a full queue than chance
    /// explains: three standard deviations above the mean.
    pub(crate) fn on_lost(&mut self, packets: f64) -> bool {
        let here = self.here();
        here.packets += packets;
        here.lost += packets;
        let mean = self.clear.lost / self.clear.packets.max(1.0) * self.full.packets;
        self.full.lost > mean + 3.0 * mean.sqrt()
    }

    /// The round trip of the last packets, as far as is known.
    pub(crate) fn round_trip(&self) -> Option<Span> {
        self.round_trip.map(Span::from_secs_f64)
    }

    /// The longest round trip of the last seconds.
    pub(crate) fn longest(&self) -> Span {
        Span::from_secs_f64(self.longest.value())
    }

    /// The share of the longest wait that the last packets had; none where they hardly waited.
    pub(crate) fn wait(&self) -> f64 {
        let wait = self.round_trip.unwrap_or(0.0) - self.least;
        match wait > WAIT_MIN * self.least {
            true => wait / (self.longest.value() - self.least).max(wait),
            false => 0.0,
        }
    }

    /// The last packets waited longer than `least`, and half as long as any.
    pub(crate) fn is_long(&self, least: Span) -> bool {
        let wait = self.round_trip.unwrap_or(0.0) - self.least;
        wait > least.as_secs_f64() && self.wait() >= LONG
    }

    fn here(&mut self) -> &mut Count {
        match self.wait() >= FULL {
            true => &mut self.full,
            false => &mut self.clear,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// So many packets in a queue that makes the round trip of 50 ms so long.
    fn acked(overflow: &mut Overflow, packets: u32, millis: u64) {
        for _ in 0..packets {
            overflow.on_acked(1.0, Span::from_millis(millis), Span::from_millis(50));
        }
    }

    #[test]
    fn one_loss_counts_in_a_full_queue_alone() {
        let mut overflow = Overflow::new(Time::ZERO);
        acked(&mut overflow, 100, 50);
        assert!(!overflow.on_lost(1.0));
        acked(&mut overflow, 10_000, 90);
        acked(&mut overflow, 10_000, 60);
        assert!(!overflow.on_lost(1.0));
        overflow.on_round(Time::ZERO);
        acked(&mut overflow, 100, 90);
        assert!(overflow.on_lost(1.0));
    }

    #[test]
    fn what_is_lost_by_chance_is_lost_in_a_full_queue_too() {
        let mut overflow = Overflow::new(Time::ZERO);
        for _ in 0..100 {
            acked(&mut overflow, 99, 50);
            assert!(!overflow.on_lost(1.0));
        }
        acked(&mut overflow, 1_000, 90);
        assert!(!overflow.on_lost(15.0));
        assert!(overflow.on_lost(20.0));
    }
}
