//! What a campaign came to.

use units::Span;

use crate::lane::{Lane, OVER, Sums};

/// Fairness is that of the first hours, while nearly all links have files.
pub const FAIR_UNTIL: Span = Span::from_secs(6 * 3_600);

/// What a campaign came to.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Campaigned {
    pub took: Span,
    /// Until shards with 95 % of all bytes were over.
    pub nearly: Span,
    /// Bytes of files that arrived.
    pub carried: f64,
    /// Shards that are over, of all.
    pub shards: usize,
    /// Times that a shard was killed and run again.
    pub killed: u64,
    /// Bytes sent again over bytes sent.
    pub again: f64,
    /// Of them, those for parts that went away.
    pub again_for_failures: f64,
    /// Goodput of the other stream of a link over what it has alone, while copies send: the sum of
    /// all links, and the median link.
    pub others: f64,
    pub others_median: f64,
    /// Jain's index of what links carried over their fair parts, in the first hours.
    pub fairness: f64,
    /// Streams of a link while its copies send, in the mean; the same while a host holds them.
    pub streams: f64,
    pub streams_held: f64,
    /// Of what bounded links carried, the share beyond the bound.
    pub over_bound: f64,
}

impl Campaigned {
    /// * `took`: until the last shard was over, and until most bytes were.
    /// * `killed`: shards.
    pub fn of(lanes: &[Lane], took: Span, nearly: Span, killed: u64) -> Self {
        let sum = |of: fn(&Sums) -> f64| lanes.iter().map(|lane| of(&lane.sums)).sum::<f64>();
        let is_early = took >= FAIR_UNTIL;
        let early = |lane: &Lane| {
            if is_early {
                lane.early
            } else {
                lane.sums.carried
            }
        };
        let parts: Vec<f64> = lanes
            .iter()
            .map(|lane| early(lane) / lane.link.fair)
            .collect();
        let carried = sum(|sums| sums.carried);
        let again = sum(|sums| sums.killed_bytes);
        let bounded = lanes.iter().filter(|lane| lane.link.bound.is_some());
        let bounded: f64 = bounded.map(|lane| lane.sums.carried).sum();
        let others = lanes
            .iter()
            .map(|lane| lane.sums.other / lane.sums.other_alone);
        let others: Vec<f64> = others.collect();
        let shards = lanes.iter().flat_map(|lane| &lane.shards);
        Campaigned {
            took,
            nearly,
            carried: carried - again,
            shards: shards.filter(|shard| shard.bytes < OVER).count(),
            killed,
            again: (sum(|sums| sums.lost) + again) / (carried + sum(|sums| sums.lost)),
            again_for_failures: again / carried,
            others: sum(|sums| sums.other) / sum(|sums| sums.other_alone),
            others_median: stats::median(&others).unwrap_or(0.0),
            fairness: stats::jain_index(&parts).unwrap_or(0.0),
            streams: sum(|sums| sums.stream_seconds) / sum(|sums| sums.seconds),
            streams_held: sum(|sums| sums.held_stream_seconds)
                / sum(|sums| sums.held_seconds).max(1.0),
            over_bound: sum(|sums| sums.over_bound) / bounded.max(1.0),
        }
    }
}
