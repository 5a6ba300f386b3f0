//! Datagrams at a steady rate, as `iperf3 -u` sends them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use units::{Bytes, Direction, Rate, Span, Way};

use crate::{Peer, StreamCount};

/// What is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DatagramPlan {
    /// Which ends send.
    pub direction: Direction,
    /// Streams of each direction.
    pub streams: StreamCount,
    /// How fast they send together in each direction, counting the data of datagrams alone; `None`
    /// for as fast as they go.
    pub rate: Option<Rate>,
    /// Data of each datagram.
    pub size: Bytes,
    /// For how long.
    pub duration: Span,
}

impl DatagramPlan {
    /// Data of a datagram: with its headers it fits into 1,500 bytes, also within a tunnel.
    pub const SIZE: Bytes = Bytes::new(1_400);

    /// One stream at `rate`, forward.
    pub fn new(rate: Option<Rate>, duration: Span) -> Self {
        DatagramPlan {
            direction: Direction::Forward,
            streams: StreamCount::ONE,
            rate,
            size: DatagramPlan::SIZE,
            duration,
        }
    }

    /// The part of one stream.
    pub fn rate_each(&self) -> Option<Rate> {
        let streams = u64::from(self.streams.get());
        let each =
            |rate: Rate| Rate::from_bits_per_second((rate.bits_per_second() / streams).max(1));
        self.rate.map(each)
    }
}

/// What became of it.
#[derive(Debug, Clone, PartialEq)]
pub struct Datagrams {
    /// What the far end is.
    pub peer: Peer,
    /// Those of this end first.
    pub streams: Vec<DatagramStream>,
}

/// What became of the datagrams of one stream.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DatagramStream {
    /// Which end sent.
    pub way: Way,
    /// Datagrams that the sender sent.
    pub sent: u64,
    /// Their data.
    #[serde(rename = "sent_bytes")]
    pub sent_bytes: Bytes,
    /// How long it sent.
    #[serde(rename = "sending_seconds")]
    pub sending: Span,
    /// Datagrams that arrived, each counted once.
    pub arrived: u64,
    /// The data that arrived, copies included.
    #[serde(rename = "arrived_bytes")]
    pub arrived_bytes: Bytes,
    /// From the first that arrived to the last; absent where the receiver does not tell.
    #[serde(rename = "receiving_seconds", skip_serializing_if = "Option::is_none")]
    pub receiving: Option<Span>,
    /// Datagrams that were sent and did not arrive.
    pub lost: u64,
    /// Due at the rate that was asked for, and neither sent nor lost: the sending host was too
    /// slow, or a queue of it was full; absent where it does not tell.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub not_sent: Option<u64>,
    /// Of those lost, dropped by the receiving host, whose buffer was full; absent where it does
    /// not tell.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dropped_by_receiver: Option<u64>,
    /// Arrived behind one that was sent later (RFC 4737); absent where the receiver does not tell.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reordered: Option<u64>,
    /// Arrived once more; absent where the receiver does not tell.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duplicates: Option<u64>,
    /// How much the delay varied from one to the next (RFC 3550, section 6.4.1).
    #[serde(rename = "jitter_seconds")]
    pub jitter: Span,
    /// How much the least delay grew over the run, as it does while a queue fills; zero where it
    /// did not, and absent where the receiver does not tell.
    #[serde(
        rename = "delay_growth_seconds",
        skip_serializing_if = "Option::is_none"
    )]
    pub delay_growth: Option<Span>,
    /// Data that arrived in each tenth of a second; absent where the receiver does not tell.
    #[serde(
        rename = "rates_bits_per_second",
        default,
        skip_serializing_if = "Vec::is_empty"
    )]
    pub rates: Vec<Rate>,
}

/// What became of all datagrams of one direction.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DatagramTotals {
    /// At what rate they were sent, in truth.
    pub rate_sent: Rate,
    /// At what rate they arrived.
    pub goodput: Rate,
    /// How many were sent.
    pub sent: u64,
    /// How many arrived.
    pub arrived: u64,
    /// How many did not.
    pub lost: u64,
    /// Of those, how many the receiving host is known to have dropped.
    pub dropped_by_hosts: u64,
    /// Behind one that was sent later.
    pub reordered: Option<u64>,
    /// Once more.
    pub duplicates: Option<u64>,
    /// Mean over the streams.
    pub jitter: Span,
    /// The same of how much the least delay grew; `None` where a stream does not tell.
    pub delay_growth: Option<Span>,
}

impl DatagramTotals {
    /// Those that did not arrive, as a share of those sent; zero of none.
    pub fn loss_ratio(&self) -> f64 {
        share(self.lost, self.sent)
    }

    /// Those that the receiving host is not known to have dropped.
    pub fn lost_on_path(&self) -> u64 {
        self.lost.saturating_sub(self.dropped_by_hosts)
    }

    /// The same as a share of those that were sent.
    pub fn path_loss_ratio(&self) -> f64 {
        share(self.lost_on_path(), self.sent)
    }
}

fn share(part: u64, all: u64) -> f64 {
    match all {
        0 => 0.0,
        all => part as f64 / all as f64,
    }
}

impl Datagrams {
    /// All streams of a direction together; `None` where none went that way.
    pub fn totals(&self, way: Way) -> Option<DatagramTotals> {
        let streams: Vec<&DatagramStream> = self.of(way).collect();
        let count = streams.len() as u64;
        let sum = |of: fn(&DatagramStream) -> u64| -> u64 {
            streams
                .iter()
                .fold(0, |sum, one| sum.saturating_add(of(one)))
        };
        let known = |of: fn(&DatagramStream) -> Option<u64>| -> Option<u64> {
            let counts = streams.iter().map(|one| of(one));
            counts.reduce(|sum, one| Some(sum?.saturating_add(one?)))?
        };
        let rate = |of: fn(&DatagramStream) -> Rate| {
            Rate::from_f64(streams.iter().map(|one| of(one).as_f64()).sum())
        };
        let growth = known(|one| one.delay_growth.map(Span::as_nanos));
        (count > 0).then(|| DatagramTotals {
            rate_sent: rate(DatagramStream::rate_sent),
            goodput: rate(DatagramStream::goodput),
            sent: sum(|one| one.sent),
            arrived: sum(|one| one.arrived),
            lost: sum(|one| one.lost),
            dropped_by_hosts: known(|one| one.dropped_by_receiver).unwrap_or(0),
            reordered: known(|one| one.reordered),
            duplicates: known(|one| one.duplicates),
            jitter: Span::from_nanos(sum(|one| one.jitter.as_nanos()) / count),
            delay_growth: growth.map(|sum| Span::from_nanos(sum / count)),
        })
    }

    /// The streams of a direction.
    pub fn of(&self, way: Way) -> impl Iterator<Item = &DatagramStream> {
        self.streams.iter().filter(move |stream| stream.way == way)
    }
}

impl DatagramStream {
    /// At what rate it was sent; zero of no time.
    pub fn rate_sent(&self) -> Rate {
        Rate::of(self.sent_bytes, self.sending)
    }

    /// At what rate it arrived, without copies: over the time of arrivals, or of sending where that
    /// is longer, as it is of few datagrams. Zero of no time.
    pub fn goodput(&self) -> Rate {
        let span = self.receiving.unwrap_or(Span::ZERO).max(self.sending);
        let copies = self.duplicates.unwrap_or(0);
        let came = u128::from(self.arrived) + u128::from(copies);
        let once = u128::from(self.arrived_bytes.get()) * u128::from(self.arrived) / came.max(1);
        Rate::of(Bytes::new(once as u64), span)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stream(way: Way, lost: u64, told: Option<u64>) -> DatagramStream {
        DatagramStream {
            way,
            sent: 1_000,
            sent_bytes: Bytes::new(1_000_000),
            sending: Span::from_secs(1),
            arrived: 1_000 - lost,
            arrived_bytes: Bytes::new(1_000 * (1_000 - lost)),
            receiving: Some(Span::from_millis(1_250)),
            lost,
            not_sent: told,
            dropped_by_receiver: told,
            reordered: told,
            duplicates: None,
            jitter: Span::from_micros(lost),
            delay_growth: told.map(Span::from_millis),
            rates: Vec::new(),
        }
    }

    #[test]
    fn totals_are_of_one_way_and_say_what_all_streams_tell() {
        let seen = Datagrams {
            peer: Peer::Trunkline,
            streams: vec![
                stream(Way::Forward, 100, Some(10)),
                stream(Way::Forward, 300, Some(20)),
                stream(Way::Reverse, 0, None),
            ],
        };
        let forward = seen.totals(Way::Forward).unwrap();
        assert_eq!(
            (forward.sent, forward.lost, forward.lost_on_path()),
            (2_000, 400, 370)
        );
        assert_eq!(
            (forward.loss_ratio(), forward.path_loss_ratio()),
            (0.2, 0.185)
        );
        assert_eq!(forward.rate_sent, Rate::from_bits_per_second(16_000_000));
        // 1.6 MB in 1.25 s.
        assert_eq!(forward.goodput, Rate::from_bits_per_second(10_240_000));
        assert_eq!((forward.reordered, forward.duplicates), (Some(30), None));
        assert_eq!(forward.jitter, Span::from_micros(200));
        assert_eq!(forward.delay_growth, Some(Span::from_millis(15)));
        let reverse = seen.totals(Way::Reverse).unwrap();
        assert_eq!((reverse.reordered, reverse.loss_ratio()), (None, 0.0));
        assert_eq!(reverse.delay_growth, None);
    }

    #[test]
    fn copies_are_no_goodput() {
        let once = stream(Way::Forward, 200, None);
        let copied = DatagramStream {
            arrived_bytes: Bytes::new(900_000),
            duplicates: Some(100),
            ..once.clone()
        };
        // 0.8 MB in 1.25 s.
        assert_eq!(once.goodput(), Rate::from_bits_per_second(5_120_000));
        assert_eq!(copied.goodput(), once.goodput());
    }

    #[test]
    fn streams_share_the_rate() {
        let plan = DatagramPlan {
            streams: StreamCount::new(4).unwrap(),
            ..DatagramPlan::new(Some(Rate::from_bits_per_second(10)), Span::from_secs(1))
        };
        assert_eq!(plan.rate_each(), Some(Rate::from_bits_per_second(2)));
    }
}
