//! A scenario by the fluid model: the keys of a simulation as far as both say the same.

use ::predict::{Fluid, FluidClass};
use ::simulation_grid::figures::{SimulatedSetting, SimulationCost, Terms};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use units::{Rate, Span};

use crate::Path;

/// The body of a `trunkline/fluid` document.
///
/// Keys are those of `trunkline/simulate` where they mean the same. A figure is absent where the
/// model was not found within 5 % of packet simulations.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FluidSimulation {
    /// What the model was asked about.
    pub path: Path,
    /// What packets would have been run over it.
    pub scenario: Terms,
    /// Streams, window and variant.
    pub setting: SimulatedSetting,
    /// All streams together.
    pub aggregate: FluidGoodput,
    /// The cross traffic.
    pub cross: FluidCross,
    /// Payload of the streams and the cross traffic together; known where their parts may not be.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delivered_bits_per_second: Option<u64>,
    /// Share of the streams' packets that were lost, in the queue or on the wire.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lost_ratio: Option<f64>,
    /// The queue of the forward link.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub queue: Option<FluidQueue>,
    /// Round trips of the streams' packets.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rtt: Option<FluidRtt>,
    /// Why figures are absent.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub outside: Vec<String>,
    /// What it took.
    pub cost: SimulationCost,
}

/// Goodput of several flows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FluidGoodput {
    /// Payload over the measured time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub goodput_bits_per_second: Option<u64>,
}

/// The cross traffic together.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FluidCross {
    /// Delivered payload over the measured time; 0 on a path without cross traffic.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub goodput_bits_per_second: Option<u64>,
    /// The same when the cross traffic has the path for itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub alone_bits_per_second: Option<u64>,
    /// The share of it that the streams took; below 0 when the cross traffic got more than alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub taken_ratio: Option<f64>,
    /// Each group, in the order of the path file.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub groups: Vec<FluidGoodput>,
}

/// The queue of the forward link.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FluidQueue {
    /// The mean over the measured time.
    pub mean_packets: f64,
}

/// Round-trip times.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FluidRtt {
    /// The mean.
    pub mean_seconds: f64,
}

impl FluidSimulation {
    /// The shape of what the model `said` of `scenario`, whose streams are its first class.
    ///
    /// * `alone`: what it said of the cross traffic without the streams, where there is any.
    /// * `cpu`: processor time of the whole command.
    pub fn new(scenario: &sim::Scenario, said: &Fluid, alone: Option<&Fluid>, cpu: Span) -> Self {
        let own = said.classes.first();
        let others = said.classes.get(1..).unwrap_or_default();
        let streams = match others {
            [] => said.goodput,
            _ => own.and_then(|class| class.goodput),
        };
        let rtt = own.and_then(|class| class.rtt);
        let mut outside = said.outside.clone();
        if let Some(alone) = alone.filter(|alone| alone.goodput.is_none()) {
            let reasons = alone.outside.iter();
            outside.extend(reasons.map(|reason| format!("of the cross traffic alone, {reason}")));
        }
        FluidSimulation {
            path: (&scenario.path).into(),
            scenario: Terms::new(scenario, vec![scenario.seed]),
            setting: scenario.into(),
            aggregate: streams.into(),
            cross: FluidCross::new(others, alone.and_then(|alone| alone.goodput)),
            delivered_bits_per_second: said.goodput.map(Rate::bits_per_second),
            lost_ratio: own.and_then(|class| class.loss),
            queue: said
                .queue_packets
                .map(|mean_packets| FluidQueue { mean_packets }),
            rtt: rtt.map(|mean| FluidRtt {
                mean_seconds: mean.as_secs_f64(),
            }),
            outside,
            cost: SimulationCost {
                cpu_seconds: cpu.as_secs_f64(),
                cached_runs: 0,
            },
        }
    }
}

impl From<Option<Rate>> for FluidGoodput {
    fn from(goodput: Option<Rate>) -> Self {
        FluidGoodput {
            goodput_bits_per_second: goodput.map(Rate::bits_per_second),
        }
    }
}

impl FluidCross {
    fn new(groups: &[FluidClass], alone: Option<Rate>) -> Self {
        let groups: Vec<FluidGoodput> = groups.iter().map(|group| group.goodput.into()).collect();
        let each = groups.iter().map(|group| group.goodput_bits_per_second);
        let goodput: Option<u64> = each.sum();
        let alone = alone.map(Rate::bits_per_second);
        let both = goodput.zip(alone.filter(|alone| *alone > 0));
        FluidCross {
            goodput_bits_per_second: goodput,
            alone_bits_per_second: alone,
            taken_ratio: both.map(|(goodput, alone)| 1.0 - goodput as f64 / alone as f64),
            groups,
        }
    }
}
