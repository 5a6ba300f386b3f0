//! What the times of a train's packets say before any method looks at them.

use observe::{Passage, Passages};
use units::Span;

/// One packet that arrived.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Seen {
    /// When it left, in seconds.
    pub left: f64,
    /// When it arrived, in seconds by the other clock.
    pub arrived: f64,
}

impl Seen {
    /// Arrival less departure, in seconds: one-way delay and whatever the clocks differ by.
    pub fn delay(&self) -> f64 {
        self.arrived - self.left
    }

    fn of(passage: &Passage) -> Option<Self> {
        Some(Seen {
            left: passage.left.as_secs_f64(),
            arrived: passage.arrived?.as_secs_f64(),
        })
    }
}

/// The packets that arrived, in the order in which they left.
pub(crate) fn seen(packets: &[Passage]) -> Vec<Seen> {
    packets.iter().filter_map(Seen::of).collect()
}

/// Share of the packets that did not arrive; zero of none.
pub(crate) fn loss(packets: &[Passage]) -> f64 {
    let lost = packets.iter().filter(|packet| packet.arrived.is_none());
    match packets.len() {
        0 => 0.0,
        all => lost.count() as f64 / all as f64,
    }
}

/// How long the sender took, from the first packet to the last, in seconds.
pub(crate) fn sending(packets: &[Passage]) -> f64 {
    match (packets.first(), packets.last()) {
        (Some(first), Some(last)) => last.left.as_secs_f64() - first.left.as_secs_f64(),
        _ => 0.0,
    }
}

/// How far the sender strayed from its plan within the train, in seconds: from the packet that was
/// least behind to the one that was most. A train that is late as a whole is no worse.
pub(crate) fn sender_lag(passages: &Passages, departures: &[Span]) -> f64 {
    let lag =
        |(packet, planned): (&Passage, &Span)| packet.left.as_secs_f64() - planned.as_secs_f64();
    let lags = || passages.packets.iter().zip(departures).map(lag);
    let least = lags().reduce(f64::min).unwrap_or(0.0);
    lags().map(|lag| lag - least).fold(0.0, f64::max)
}

/// Where the receiver took packets in batches, only the last of each: it waited least. Packets
/// count as one batch when they arrive closer together than `apart` seconds, which is less than the
/// path can bring them.
pub(crate) fn last_of_batches(seen: &[Seen], apart: f64) -> Vec<Seen> {
    let followed = |at: usize| {
        seen.get(at + 1)
            .is_some_and(|next| next.arrived - seen[at].arrived < apart)
    };
    let kept = (0..seen.len()).filter(|at| !followed(*at));
    kept.map(|at| seen[at]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(left: u64, arrived: Option<u64>) -> Passage {
        Passage {
            left: Span::from_micros(left),
            arrived: arrived.map(Span::from_micros),
        }
    }

    #[test]
    fn of_each_batch_the_last_is_kept() {
        let packets = [(0, 100), (10, 101), (20, 102), (30, 140), (40, 141)];
        let packets = packets.map(|(left, arrived)| at(left, Some(arrived)));
        let kept = last_of_batches(&seen(&packets), 5e-6);
        let left: Vec<f64> = kept.iter().map(|seen| (seen.left * 1e6).round()).collect();
        assert_eq!(left, [20.0, 40.0]);
    }

    #[test]
    fn what_overtook_is_not_kept() {
        // The first arrived after the second: it does not count as the later one of a batch.
        let packets = [at(0, Some(120)), at(10, Some(110)), at(20, Some(150))];
        assert_eq!(last_of_batches(&seen(&packets), 5e-6).len(), 2);
    }

    #[test]
    fn lost_packets_are_counted_and_left_out() {
        let packets = [
            at(0, Some(100)),
            at(10, None),
            at(20, Some(120)),
            at(30, None),
        ];
        assert_eq!(loss(&packets), 0.5);
        assert_eq!(seen(&packets).len(), 2);
        assert_eq!(loss(&[]), 0.0);
    }

    #[test]
    fn a_sender_that_was_away_is_seen() {
        let passages = Passages {
            packets: vec![at(5, None), at(15, None), at(85, None), at(86, None)],
            stamped: observe::Stamped::Exactly,
            clocks: None,
        };
        let planned = [0, 10, 20, 30].map(Span::from_micros);
        assert!((sender_lag(&passages, &planned) - 60e-6).abs() < 1e-12);
    }
}
