//! One seed's run.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sim::{CrossResult, Drops, Sample, StreamResult};

use super::{QueueFigures, RttFigures};

/// One run, counted from the end of its warm-up unless a field says otherwise.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SimulatedRun {
    /// The seed.
    pub seed: u64,
    /// Payload that all streams saw acknowledged, over the measured time.
    pub goodput_bits_per_second: u64,
    /// Payload of the cross traffic that was delivered, over the same time.
    pub cross_goodput_bits_per_second: u64,
    /// From the end of the warm-up to the end of the run.
    pub measured_seconds: f64,
    /// Packets dropped, of the streams and the cross traffic alike.
    pub drops: u64,
    /// The same, by cause.
    pub drops_by_cause: Drops,
    /// Packets marked instead of being dropped.
    pub marks: u64,
    /// Segments that the streams sent again.
    pub retransmitted: u64,
    /// Their retransmission timeouts.
    pub timeouts: u64,
    /// Jain's index over the streams' goodputs; absent when nothing got through.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub jain: Option<f64>,
    /// Share of the time in which the forward link was sending.
    pub utilisation_ratio: f64,
    /// The queue of the forward link.
    pub queue: QueueFigures,
    /// Round trips as the streams saw them; absent when nothing was acknowledged.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rtt: Option<RttFigures>,
    /// When the last stream finished, from the beginning of the run; absent when data was left.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub completion_seconds: Option<f64>,
    /// Data packets offered to the forward link, from the beginning of the run.
    pub data_packets: u64,
    /// Events that the simulator handled.
    pub events: u64,
    /// Each stream; left out of campaigns.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub streams: Vec<StreamResult>,
    /// Each group of cross traffic, in the order of the path file.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cross_groups: Vec<CrossResult>,
    /// What was recorded over time, from the beginning of the run.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub series: Vec<Sample>,
}

impl SimulatedRun {
    /// Without what grows with streams and time.
    pub(super) fn headline(self) -> Self {
        SimulatedRun {
            streams: Vec::new(),
            series: Vec::new(),
            ..self
        }
    }

    /// Standard deviation of the times at which the streams finished; `None` when one did not, or
    /// there is only one.
    pub(super) fn completion_spread(&self) -> Option<f64> {
        let times: Option<Vec<f64>> = self
            .streams
            .iter()
            .map(|s| s.completed.map(units::Span::as_secs_f64))
            .collect();
        stats::standard_deviation(&times?)
    }
}

impl From<&sim::RunResult> for SimulatedRun {
    fn from(run: &sim::RunResult) -> Self {
        let goodputs: Vec<f64> = run.streams.iter().map(|s| s.goodput.as_f64()).collect();
        let total = |rates: &mut dyn Iterator<Item = units::Rate>| -> u64 {
            rates.map(units::Rate::bits_per_second).sum()
        };
        SimulatedRun {
            seed: run.seed,
            goodput_bits_per_second: total(&mut run.streams.iter().map(|s| s.goodput)),
            cross_goodput_bits_per_second: total(&mut run.cross.iter().map(|c| c.goodput)),
            measured_seconds: run.measured.as_secs_f64(),
            drops: run.drops.total(),
            drops_by_cause: run.drops,
            marks: run.marks,
            retransmitted: run.streams.iter().map(|s| s.retransmitted).sum(),
            timeouts: run.streams.iter().map(|s| s.timeouts).sum(),
            jain: stats::jain_index(&goodputs),
            utilisation_ratio: run.utilisation,
            queue: run.queue.into(),
            rtt: run.round_trips.map(RttFigures::from),
            completion_seconds: run.completion.map(units::Span::as_secs_f64),
            data_packets: run.work.data_packets,
            events: run.work.events,
            streams: run.streams.clone(),
            cross_groups: run.cross.clone(),
            series: run.series.clone(),
        }
    }
}
