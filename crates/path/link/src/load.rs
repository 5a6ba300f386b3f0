//! Others' datagrams on a link: when they come and how large they are.

use netpath::{Arrivals, Load, PacketShare};
use units::{Bytes, Span, Time};

use crate::random::{Purpose, Random};

/// The packets of a [`Load`], in order of time, without end.
///
/// Poisson arrivals have independent exponential gaps whose mean is the time that a packet of mean
/// size takes at the load's rate. Constant ones come when the packet before would have been sent at
/// the load's rate, from a random beginning on, so that the loads of two links are not in step.
/// Sizes are drawn independently by their shares.
///
/// ```
/// use link::LoadSource;
/// let path = netpath::PathSpec::load("three-links").unwrap();
/// let load = path.forward.load.as_ref().unwrap();
/// let packets: Vec<_> = LoadSource::new(load, 7).take(1000).collect();
/// // 1000 x 12,000 bits at 30 Mbit/s take 0.4 s, give or take four standard deviations of 0.0126 s.
/// let last = packets[999].0.as_secs_f64();
/// assert!((last - 0.4).abs() < 0.051, "{last}");
/// ```
#[derive(Debug)]
pub struct LoadSource {
    arrivals: Arrivals,
    packets: Vec<PacketShare>,
    /// Nanoseconds that a byte takes at the load's rate.
    byte_nanos: f64,
    mean_size: f64,
    random: Random,
    next: Time,
}

impl LoadSource {
    /// The load from the beginning of time; the same seed gives the same packets.
    pub fn new(load: &Load, seed: u64) -> Self {
        let mut source = LoadSource {
            arrivals: load.arrivals,
            packets: load.packets.clone(),
            byte_nanos: 8e9 / load.rate.as_f64(),
            mean_size: load.mean_size(),
            random: Random::new(seed, Purpose::Load),
            next: Time::ZERO,
        };
        let begin = match source.arrivals {
            Arrivals::Poisson => source.random.exponential(),
            Arrivals::Constant => source.random.uniform(),
        };
        source.next += source.time_of(source.mean_size * begin);
        source
    }

    /// When the next packet comes.
    pub fn next_time(&self) -> Time {
        self.next
    }

    /// The size of the packet that comes now.
    fn draw_size(&mut self) -> Bytes {
        let Some((last, others)) = self.packets.split_last() else {
            return Bytes::ZERO;
        };
        if others.is_empty() {
            return last.size;
        }
        let mut rest = self.random.uniform();
        for packet in others {
            if rest < packet.share {
                return packet.size;
            }
            rest -= packet.share;
        }
        last.size
    }

    fn time_of(&self, bytes: f64) -> Span {
        // At least a nanosecond, so that time goes on.
        Span::from_nanos((bytes * self.byte_nanos).round().max(1.0) as u64)
    }
}

impl Iterator for LoadSource {
    type Item = (Time, Bytes);

    fn next(&mut self) -> Option<(Time, Bytes)> {
        let (now, size) = (self.next, self.draw_size());
        let bytes = match self.arrivals {
            Arrivals::Poisson => self.mean_size * self.random.exponential(),
            Arrivals::Constant => size.as_f64(),
        };
        self.next += self.time_of(bytes);
        Some((now, size))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PACKETS: usize = 20_000;

    fn load(arrivals: Arrivals) -> Load {
        let share = |size, share| PacketShare {
            size: Bytes::new(size),
            share,
        };
        Load {
            rate: "30Mbit/s".parse().unwrap(),
            arrivals,
            packets: vec![share(40, 0.5), share(576, 0.2), share(1500, 0.3)],
        }
    }

    fn packets(arrivals: Arrivals, seed: u64) -> Vec<(Time, Bytes)> {
        LoadSource::new(&load(arrivals), seed)
            .take(PACKETS)
            .collect()
    }

    /// Bits per second from the first packet to the last.
    fn rate(packets: &[(Time, Bytes)]) -> f64 {
        let sent = &packets[..packets.len() - 1];
        let bytes: u64 = sent.iter().map(|(_, size)| size.get()).sum();
        let span = packets[packets.len() - 1].0.since(packets[0].0);
        bytes as f64 * 8.0 / span.as_secs_f64()
    }

    #[test]
    fn the_mean_rate_is_that_of_the_file() {
        for seed in 0..20 {
            // The sum of 20,000 exponential gaps is off by 1/sqrt(20,000) = 0.7 %, that of the
            // sizes (mean 585, deviation 618) by 0.75 %: together 1.03 %, and four of these are 4.2
            // %.
            let poisson = rate(&packets(Arrivals::Poisson, seed)) / 30e6;
            assert!((poisson - 1.0).abs() < 0.042, "seed {seed}: {poisson}");
            // Each gap is that of its packet, to half a nanosecond in 10,667 or more.
            let constant = rate(&packets(Arrivals::Constant, seed)) / 30e6;
            assert!((constant - 1.0).abs() < 1e-4, "seed {seed}: {constant}");
        }
    }

    #[test]
    fn poisson_gaps_vary_as_much_as_their_mean_and_constant_ones_as_the_sizes() {
        let variation = |arrivals| {
            let packets = packets(arrivals, 3);
            let gaps = packets.windows(2).map(|pair| pair[1].0.since(pair[0].0));
            let gaps: Vec<f64> = gaps.map(Span::as_secs_f64).collect();
            let mean = gaps.iter().sum::<f64>() / gaps.len() as f64;
            let variance = gaps.iter().map(|gap| (gap - mean).powi(2)).sum::<f64>();
            (variance / gaps.len() as f64).sqrt() / mean
        };
        // Deviation over mean: 1 of exponential gaps; 618/585 of gaps that are as long as their
        // packets.
        let poisson = variation(Arrivals::Poisson);
        assert!((poisson - 1.0).abs() < 0.05, "{poisson}");
        let one = Load {
            packets: vec![PacketShare {
                size: Bytes::new(1500),
                share: 1.0,
            }],
            ..load(Arrivals::Constant)
        };
        let times: Vec<Time> = LoadSource::new(&one, 3)
            .take(9)
            .map(|(time, _)| time)
            .collect();
        let even = |pair: &[Time]| pair[1].since(pair[0]) == Span::from_micros(400);
        assert!(times.windows(2).all(even), "{times:?}");
    }

    #[test]
    fn sizes_have_their_shares() {
        let packets = packets(Arrivals::Poisson, 5);
        for (size, share) in [(40, 0.5), (576, 0.2), (1500, 0.3)] {
            let count = packets
                .iter()
                .filter(|(_, seen)| seen.get() == size)
                .count();
            // Four standard deviations of 20,000 draws at one half: 0.014.
            let seen = count as f64 / PACKETS as f64;
            assert!((seen - share).abs() < 0.015, "{size}: {seen}");
        }
    }

    #[test]
    fn times_are_ordered_and_the_same_for_one_seed_alone() {
        for arrivals in Arrivals::ALL {
            let seen = packets(arrivals, 11);
            assert!(seen.windows(2).all(|pair| pair[0].0 < pair[1].0));
            assert_eq!(seen, packets(arrivals, 11));
            assert_ne!(seen, packets(arrivals, 12));
        }
    }
}
