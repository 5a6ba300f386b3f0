//! What was found of a path itself: round trips, hops, capacity, available bandwidth.

use ::probing::characterise as seen;
use ::probing::hops::QueueAt;
use observe::PathMtu;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Run, Series, Target};

mod buffers;
mod hops;
mod trains;

pub use ::probing::available::Fleet;
pub use ::probing::characterise::PartCost;
pub use ::probing::trend::Trend;
pub use ::probing::{
    Branch, Branches, Capacity, CapacityMethod, HopBranches, HopCapacity, LeftOut, SizeTrip,
};
pub use buffers::{BufferAdvice, Buffers};
pub use hops::{Hop, HopAnswer, Trace, WayBack};
pub use observe::{LossPattern, Passage, Stamped, TraceProtocol, Way};
pub use trains::{AvailableBandwidth, Chirps, Variation};

/// The body of a `trunkline/path` document.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Characteristics {
    /// What was probed.
    pub target: Target,
    /// Round trips of small packets on the path as it was found.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub round_trips: Option<RoundTripsIdle>,
    /// The largest packet that passes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mtu: Option<PathMtu>,
    /// Hops by each protocol that anybody answered.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub traces: Vec<Trace>,
    /// The way back, as the far end sees it; absent where it was not asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub way_back: Option<WayBack>,
    /// Branches of equal cost; absent where they were not asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub branches: Option<Branches>,
    /// The rate of each hop, nearest first; absent where it was not asked for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hop_capacities: Vec<HopCapacity>,
    /// Loss and delay of each direction by itself.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub variations: Vec<Variation>,
    /// Rate of the narrowest link of each direction.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub capacities: Vec<Capacity>,
    /// What others leave of each direction.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub available: Vec<AvailableBandwidth>,
    /// Streams in each direction.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub loads: Vec<Load>,
    /// What follows for socket buffers.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub buffers: Vec<Buffers>,
    /// The path that explains the streams of the first direction and the samples of a search, as a
    /// path file; absent where it was not asked for, or they tell nothing of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path_file: Option<String>,
    /// What could not be told.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<LeftOut>,
    /// What each part took, in order.
    pub costs: Vec<PartCost>,
}

/// Round trips of small packets before there was any load.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RoundTripsIdle {
    /// First quartile; absent like the next one without an answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub quartile1_seconds: Option<f64>,
    /// Third quartile.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub quartile3_seconds: Option<f64>,
    /// How losses lie among the probes; absent where none was lost.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub losses: Option<LossPattern>,
    /// The other figures, and each probe.
    #[serde(flatten)]
    pub series: Series,
}

/// Streams in one direction.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Load {
    /// Which end sent.
    pub way: Way,
    /// One stream, everything as the hosts have it.
    pub one: Run,
    /// Several, beside which hops were looked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub several: Option<Run>,
    /// Hops beside them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trace: Option<Trace>,
    /// Where the queue grew: absent where it cannot be told, or none did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub queueing: Option<QueueAt>,
}

impl Characteristics {
    /// The shape of what was found of `target`.
    pub fn new(target: Target, found: &seen::Characteristics) -> Self {
        let load = |load: &seen::Load| Load {
            way: load.way,
            one: judged(&load.one),
            several: load.several.as_ref().map(run),
            trace: load.trace.as_ref().map(Trace::from),
            queueing: load.queue,
        };
        Characteristics {
            target,
            round_trips: found.round_trips.as_ref().map(RoundTripsIdle::from),
            mtu: found.mtu,
            traces: found.traces.iter().map(Trace::from).collect(),
            way_back: found.way_back.as_ref().map(WayBack::from),
            branches: found.branches.clone(),
            hop_capacities: found.hop_capacities.clone(),
            variations: found.variations.iter().map(Variation::from).collect(),
            capacities: found.capacities.clone(),
            available: found
                .available
                .iter()
                .map(AvailableBandwidth::from)
                .collect(),
            loads: found.loads.iter().map(load).collect(),
            buffers: found.buffers.iter().map(Buffers::from).collect(),
            path_file: None,
            left_out: found.left_out.clone(),
            costs: found.costs.clone(),
        }
    }
}

impl From<&observe::ProbeSeries> for RoundTripsIdle {
    fn from(series: &observe::ProbeSeries) -> Self {
        RoundTripsIdle {
            quartile1_seconds: series.quantile_seconds(0.25),
            quartile3_seconds: series.quantile_seconds(0.75),
            losses: LossPattern::of(series.probes.iter().map(|probe| probe.rtt.is_none())),
            series: series.into(),
        }
    }
}

/// The run with what limited it.
fn judged(seen: &observe::Observation) -> Run {
    let summary = seen.summary();
    let verdict = inference::verdict(seen);
    Run::new(seen, &summary, Some(&verdict))
}

fn run(seen: &observe::Observation) -> Run {
    Run::new(seen, &seen.summary(), None)
}
