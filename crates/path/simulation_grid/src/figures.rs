//! The seeds of a cell together: means, and how far the seeds lie apart.
//!
//! Reading order: [`Terms`] for what every cell shares, [`SimulatedRun`] for one seed, [`Figures`]
//! for the seeds of a cell together, then [`Cell`] and what stands out among cells.

mod cell;
mod seed_run;
mod terms;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Ran;

pub use cell::{Cell, Choice, SimulatedSetting, SimulationCost, choices};
pub use seed_run::SimulatedRun;
pub use sim::CrossResult as SimulatedCross;
pub use terms::{SimulatedTcp, Terms, TimeoutPart};

/// Means over the seeds, counted from the end of the warm-up unless a field says otherwise.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Figures {
    /// All streams together.
    pub aggregate: Aggregate,
    /// The cross traffic.
    pub cross: CrossFigures,
    /// Packets dropped, of the streams and the cross traffic alike.
    pub drops: f64,
    /// Their standard deviation over the seeds; absent for a single one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub drops_standard_deviation: Option<f64>,
    /// The drops, by cause.
    pub drops_by_cause: Causes,
    /// Packets marked instead of being dropped.
    pub marks: f64,
    /// Segments that the streams sent again.
    pub retransmitted: f64,
    /// Their retransmission timeouts.
    pub timeouts: f64,
    /// Jain's index over the streams; absent when a run got nothing through.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub jain: Option<f64>,
    /// Share of the time in which the forward link was sending.
    pub utilisation_ratio: f64,
    /// The queue of the forward link; its peak is the highest of all seeds.
    pub queue: QueueFigures,
    /// Round trips; the smallest and the largest are those of all seeds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rtt: Option<RttFigures>,
    /// Of transfers with an end: when they were done.
    #[serde(flatten)]
    pub completion: Completion,
}

/// All streams together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Aggregate {
    /// Acknowledged payload over the measured time.
    pub goodput_bits_per_second: u64,
    /// Over the seeds; absent for a single one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub standard_deviation_bits_per_second: Option<u64>,
}

/// The cross traffic together.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CrossFigures {
    /// Delivered payload over the measured time; 0 on a path without cross traffic.
    pub goodput_bits_per_second: u64,
    /// Over the seeds; absent for a single one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub standard_deviation_bits_per_second: Option<u64>,
    /// Its share of all payload delivered; absent when nothing was.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub share_ratio: Option<f64>,
    /// Delivered payload over the same time when the cross traffic has the path for itself; absent
    /// without cross traffic, and of data with an end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub alone_bits_per_second: Option<u64>,
    /// The share of it that the streams took; below 0 when the cross traffic got more than alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub taken_ratio: Option<f64>,
    /// Each group, in the order of the path file.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub groups: Vec<CrossGroup>,
}

/// One group of cross traffic.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CrossGroup {
    /// Delivered payload over the measured time.
    pub goodput_bits_per_second: u64,
    /// Short transfers completed.
    pub transfers: f64,
    /// Short transfers that were not let in because too many were under way.
    pub turned_away: f64,
}

fn is_zero(count: &f64) -> bool {
    *count == 0.0
}

/// Packets dropped, by cause.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Causes {
    /// The queue had no room.
    pub queue_full: f64,
    /// Random early detection.
    pub early: f64,
    /// They had waited too long.
    pub sojourn: f64,
    /// Beyond the rate of a policer.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub policed: f64,
    /// Lost on the wire.
    pub wire_loss: f64,
}

/// The queue of the forward link.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct QueueFigures {
    /// The mean over the measured time.
    pub mean_packets: f64,
    /// The most, since the beginning of a run.
    pub peak_bytes: u64,
}

/// The distribution of round-trip times.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RttFigures {
    /// The smallest.
    pub min_seconds: f64,
    /// The mean.
    pub mean_seconds: f64,
    /// Half are below this.
    pub median_seconds: f64,
    /// 95 in 100 are below this.
    pub p95_seconds: f64,
    /// 99 in 100 are below this.
    pub p99_seconds: f64,
    /// The largest.
    pub max_seconds: f64,
}

/// When transfers were done; without any field when the streams send for ever.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct Completion {
    /// When the last stream had finished, from the beginning of the run; absent when a run left
    /// data.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub completion_seconds: Option<f64>,
    /// Over the seeds; absent for a single one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub completion_standard_deviation_seconds: Option<f64>,
    /// How far the streams of a run lie apart: the standard deviation of the times at which they
    /// finished, mean over the seeds; absent for a single stream.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub completion_streams_standard_deviation_seconds: Option<f64>,
    /// Runs that left data; absent when the streams send for ever.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unfinished_runs: Option<u64>,
}

impl Figures {
    /// The figures of `runs`; nothing but zeros without any.
    ///
    /// * `alone`: the cross traffic without the streams, with the same seeds.
    pub fn new(runs: &[SimulatedRun], work: sim::Work, alone: &[Ran]) -> Self {
        let mean = |value: &dyn Fn(&SimulatedRun) -> f64| mean(runs.iter().map(value));
        let aggregate = spread(runs.iter().map(|run| run.goodput_bits_per_second));
        Figures {
            aggregate: Aggregate {
                goodput_bits_per_second: aggregate.0,
                standard_deviation_bits_per_second: aggregate.1,
            },
            cross: cross(runs, aggregate.0, alone),
            drops: mean(&|run| run.drops as f64),
            drops_standard_deviation: deviation(runs.iter().map(|run| run.drops as f64)),
            drops_by_cause: Causes {
                queue_full: mean(&|run| run.drops_by_cause.queue_full as f64),
                early: mean(&|run| run.drops_by_cause.early as f64),
                sojourn: mean(&|run| run.drops_by_cause.sojourn as f64),
                policed: mean(&|run| run.drops_by_cause.policed as f64),
                wire_loss: mean(&|run| run.drops_by_cause.wire_loss as f64),
            },
            marks: mean(&|run| run.marks as f64),
            retransmitted: mean(&|run| run.retransmitted as f64),
            timeouts: mean(&|run| run.timeouts as f64),
            jain: all(runs, |run| run.jain).and_then(|indices| stats::mean(&indices)),
            utilisation_ratio: mean(&|run| run.utilisation_ratio),
            queue: QueueFigures {
                mean_packets: mean(&|run| run.queue.mean_packets),
                peak_bytes: runs
                    .iter()
                    .map(|run| run.queue.peak_bytes)
                    .max()
                    .unwrap_or(0),
            },
            rtt: round_trips(runs),
            completion: completion(runs, work),
        }
    }
}

/// Every run's value; `None` when one has none.
fn all<T>(runs: &[SimulatedRun], value: impl Fn(&SimulatedRun) -> Option<T>) -> Option<Vec<T>> {
    runs.iter().map(value).collect()
}

fn mean(values: impl Iterator<Item = f64>) -> f64 {
    stats::mean(&values.collect::<Vec<_>>()).unwrap_or(0.0)
}

fn deviation(values: impl Iterator<Item = f64>) -> Option<f64> {
    stats::standard_deviation(&values.collect::<Vec<_>>())
}

/// Mean and standard deviation of rates, in whole bits per second.
fn spread(rates: impl Iterator<Item = u64> + Clone) -> (u64, Option<u64>) {
    let values = rates.map(|rate| rate as f64);
    let whole = |value: f64| value.round() as u64;
    (whole(mean(values.clone())), deviation(values).map(whole))
}

fn cross(runs: &[SimulatedRun], aggregate_bits_per_second: u64, alone: &[Ran]) -> CrossFigures {
    let (goodput, deviation) = spread(runs.iter().map(|run| run.cross_goodput_bits_per_second));
    let groups = runs
        .iter()
        .map(|run| run.cross_groups.len())
        .min()
        .unwrap_or(0);
    let all = goodput.saturating_add(aggregate_bits_per_second);
    let alone = alone_bits_per_second(alone);
    CrossFigures {
        goodput_bits_per_second: goodput,
        standard_deviation_bits_per_second: deviation,
        share_ratio: (all > 0).then(|| goodput as f64 / all as f64),
        alone_bits_per_second: alone,
        taken_ratio: alone
            .filter(|alone| *alone > 0)
            .map(|alone| 1.0 - goodput as f64 / alone as f64),
        groups: (0..groups).map(|group| cross_group(runs, group)).collect(),
    }
}

/// The mean over the seeds; `None` without a run.
fn alone_bits_per_second(alone: &[Ran]) -> Option<u64> {
    let rates = alone.iter().map(|run| {
        let groups = run.result.cross.iter();
        groups.map(|cross| cross.goodput.as_f64()).sum::<f64>()
    });
    stats::mean(&rates.collect::<Vec<f64>>()).map(|mean| mean.round() as u64)
}

fn cross_group(runs: &[SimulatedRun], group: usize) -> CrossGroup {
    let of = |value: fn(&SimulatedCross) -> u64| {
        mean(
            runs.iter()
                .map(|run| value(&run.cross_groups[group]) as f64),
        )
    };
    CrossGroup {
        goodput_bits_per_second: of(|cross| cross.goodput.bits_per_second()).round() as u64,
        transfers: of(|cross| cross.transfers),
        turned_away: of(|cross| cross.turned_away),
    }
}

fn round_trips(runs: &[SimulatedRun]) -> Option<RttFigures> {
    let all = all(runs, |run| run.rtt)?;
    let mean =
        |value: fn(&RttFigures) -> f64| stats::mean(&all.iter().map(value).collect::<Vec<_>>());
    Some(RttFigures {
        min_seconds: all.iter().map(|rtt| rtt.min_seconds).reduce(f64::min)?,
        mean_seconds: mean(|rtt| rtt.mean_seconds)?,
        median_seconds: mean(|rtt| rtt.median_seconds)?,
        p95_seconds: mean(|rtt| rtt.p95_seconds)?,
        p99_seconds: mean(|rtt| rtt.p99_seconds)?,
        max_seconds: all.iter().map(|rtt| rtt.max_seconds).reduce(f64::max)?,
    })
}

fn completion(runs: &[SimulatedRun], work: sim::Work) -> Completion {
    if work == sim::Work::Endless {
        return Completion::default();
    }
    let unfinished = runs.iter().filter(|run| run.completion_seconds.is_none());
    let times = all(runs, |run| run.completion_seconds);
    let spreads = all(runs, SimulatedRun::completion_spread);
    Completion {
        completion_seconds: times.as_deref().and_then(stats::mean),
        completion_standard_deviation_seconds: times.as_deref().and_then(stats::standard_deviation),
        completion_streams_standard_deviation_seconds: spreads.as_deref().and_then(stats::mean),
        unfinished_runs: Some(unfinished.count() as u64),
    }
}

impl From<sim::QueueUse> for QueueFigures {
    fn from(queue: sim::QueueUse) -> Self {
        QueueFigures {
            mean_packets: queue.mean_packets,
            peak_bytes: queue.peak_bytes.get(),
        }
    }
}

impl From<sim::RoundTrips> for RttFigures {
    fn from(rtt: sim::RoundTrips) -> Self {
        RttFigures {
            min_seconds: rtt.min.as_secs_f64(),
            mean_seconds: rtt.mean.as_secs_f64(),
            median_seconds: rtt.median.as_secs_f64(),
            p95_seconds: rtt.p95.as_secs_f64(),
            p99_seconds: rtt.p99.as_secs_f64(),
            max_seconds: rtt.max.as_secs_f64(),
        }
    }
}
