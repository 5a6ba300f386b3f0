//! How large the socket buffers should be: six readings of "the bandwidth-delay product".

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use units::{Bytes, Rate, Span};

use crate::bandwidth_delay_product;

/// The inputs of the rules. Unknown inputs are `None`; a rule that needs one gives no result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PathFacts {
    /// Rate of the narrowest link.
    pub capacity: Rate,
    /// What others leave of it.
    pub available: Option<Rate>,
    /// Round trip with empty queues.
    pub rtt_min: Span,
    /// Round trip with a full queue.
    pub rtt_max: Option<Span>,
    /// Round trip in the mean of a loaded path.
    pub rtt_mean: Option<Span>,
    /// Mean throughput of one transfer that nothing but congestion limits (BTC, RFC 3148).
    pub bulk_transfer_capacity: Option<Rate>,
    /// The largest buffer that the hosts grant.
    pub largest: Option<Bytes>,
}

/// A rule for the buffers of a transfer.
///
/// Source: Jain, Prasad and Dovrolis, "The TCP bandwidth-delay product revisited: network
/// buffering, cross traffic, and socket buffer auto-sizing", Georgia Tech technical report
/// GIT-CERCS-03-02 (2003).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "UPPERCASE")]
pub enum BufferRule {
    /// Capacity times the longest round trip.
    Bdp1,
    /// Capacity times the shortest round trip.
    Bdp2,
    /// Available bandwidth times the longest round trip.
    Bdp3,
    /// Available bandwidth times the shortest round trip.
    Bdp4,
    /// Bulk transfer capacity times the mean round trip.
    Bdp5,
    /// So large that it never binds: the largest there is.
    Bdp6,
}

impl BufferRule {
    /// All of them, in order.
    pub const ALL: [BufferRule; 6] = [
        BufferRule::Bdp1,
        BufferRule::Bdp2,
        BufferRule::Bdp3,
        BufferRule::Bdp4,
        BufferRule::Bdp5,
        BufferRule::Bdp6,
    ];

    /// Its name, `BDP1` to `BDP6`.
    pub const fn name(self) -> &'static str {
        match self {
            BufferRule::Bdp1 => "BDP1",
            BufferRule::Bdp2 => "BDP2",
            BufferRule::Bdp3 => "BDP3",
            BufferRule::Bdp4 => "BDP4",
            BufferRule::Bdp5 => "BDP5",
            BufferRule::Bdp6 => "BDP6",
        }
    }

    /// Its formula in words.
    pub const fn formula(self) -> &'static str {
        match self {
            BufferRule::Bdp1 => "capacity x longest RTT",
            BufferRule::Bdp2 => "capacity x shortest RTT",
            BufferRule::Bdp3 => "available bandwidth x longest RTT",
            BufferRule::Bdp4 => "available bandwidth x shortest RTT",
            BufferRule::Bdp5 => "one stream's throughput x mean RTT",
            BufferRule::Bdp6 => "the largest the hosts grant",
        }
    }

    /// Buffer of one of `streams` streams, in whole bytes, rounded up.
    ///
    /// BDP6 is not divided: each stream gets the largest there is. `None` without streams, and when
    /// a fact that the rule reads is not known.
    /// ```
    /// use models::{BufferRule, PathFacts};
    /// use units::{Bytes, Rate, Span};
    /// let mbit = |rate: u64| Rate::from_bits_per_second(rate * 1_000_000);
    /// // 600 Mbit/s at 175 ms as from SLAC to TWAREN, a queue of 25 ms, 100 Mbit/s of others' traffic.
    /// let path = PathFacts {
    ///     capacity: mbit(600),
    ///     available: Some(mbit(500)),
    ///     rtt_min: Span::from_millis(175),
    ///     rtt_max: Some(Span::from_millis(200)),
    ///     rtt_mean: Some(Span::from_millis(180)),
    ///     bulk_transfer_capacity: Some(mbit(40)),
    ///     largest: Some(Bytes::from_mib(64)),
    /// };
    /// let mut each = BufferRule::ALL.map(|rule| rule.per_stream(&path, 4).unwrap().get()).into_iter();
    /// // 600e6 x 0.2 / 8 / 4, then with 0.175; the same for 500e6; 40e6 x 0.18 / 8 / 4; 2^26.
    /// let expected = [3_750_000, 3_281_250, 3_125_000, 2_734_375, 225_000, 67_108_864];
    /// assert!(each.eq(expected));
    /// ```
    pub fn per_stream(self, path: &PathFacts, streams: u32) -> Option<Bytes> {
        let all = self.total(path)?;
        match (self, streams) {
            (_, 0) => None,
            (BufferRule::Bdp6, _) => Some(all),
            (_, streams) => Some(Bytes::new(all.get().div_ceil(u64::from(streams)))),
        }
    }

    fn total(self, path: &PathFacts) -> Option<Bytes> {
        let (rate, rtt) = match self {
            BufferRule::Bdp1 => (path.capacity, path.rtt_max?),
            BufferRule::Bdp2 => (path.capacity, path.rtt_min),
            BufferRule::Bdp3 => (path.available?, path.rtt_max?),
            BufferRule::Bdp4 => (path.available?, path.rtt_min),
            BufferRule::Bdp5 => (path.bulk_transfer_capacity?, path.rtt_mean?),
            BufferRule::Bdp6 => return path.largest,
        };
        Some(bandwidth_delay_product(rate, rtt))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LITTLE: PathFacts = PathFacts {
        capacity: Rate::from_bits_per_second(100_000_000),
        available: None,
        rtt_min: Span::from_millis(10),
        rtt_max: None,
        rtt_mean: None,
        bulk_transfer_capacity: None,
        largest: None,
    };

    #[test]
    fn a_rule_without_its_facts_says_nothing() {
        let known = BufferRule::ALL.map(|rule| rule.per_stream(&LITTLE, 1).is_some());
        assert_eq!(known, [false, true, false, false, false, false]);
    }

    #[test]
    fn no_streams_have_no_buffer_and_shares_round_up() {
        assert_eq!(BufferRule::Bdp2.per_stream(&LITTLE, 0), None);
        assert_eq!(
            BufferRule::Bdp2.per_stream(&LITTLE, 3),
            Some(Bytes::new(41_667))
        );
    }
}
