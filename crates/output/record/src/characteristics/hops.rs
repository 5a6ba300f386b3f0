//! Hops and who answered there.

use ::probing::way_back::{self as seen, Compared};
use observe::TraceProtocol;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use units::Span;

/// The hops between here and the far end.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Trace {
    /// What was sent.
    pub protocol: TraceProtocol,
    /// Whether all probes were of one flow, as routers that share load tell flows apart.
    pub one_flow: bool,
    /// Whether the far end answered.
    pub reached: bool,
    /// From the first router on.
    pub hops: Vec<Hop>,
}

/// One hop.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Hop {
    /// Routers up to and including this one.
    pub distance: u8,
    /// Who answered, the most frequent first; empty without an answer.
    pub addresses: Vec<String>,
    /// Smallest round trip; absent like the next one without an answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min_seconds: Option<f64>,
    /// Median round trip.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub median_seconds: Option<f64>,
    /// Share of the probes without an answer. Routers answer some only, so that a loss here which
    /// the hops behind do not share is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub loss_ratio: Option<f64>,
    /// Each probe.
    pub probes: Vec<HopAnswer>,
}

/// One probe to a hop; both keys are absent without an answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct HopAnswer {
    /// Who answered.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// After what time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rtt_seconds: Option<f64>,
}

/// The way from the far end to here, beside the way there by UDP.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WayBack {
    /// From the first router behind the far end on; round trips are the far end's.
    pub trace: Trace,
    /// The first link, counted from here, that is another on the way back; absent where none is, or
    /// it cannot be told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub differs_from: Option<u8>,
    /// Whether all links are the same, as far as addresses tell.
    pub same: bool,
}

impl From<&seen::WayBack> for WayBack {
    fn from(back: &seen::WayBack) -> Self {
        WayBack {
            trace: Trace::from(&back.trace),
            differs_from: match back.compared {
                Compared::From(link) => Some(link),
                Compared::Same | Compared::Unknown => None,
            },
            same: back.compared == Compared::Same,
        }
    }
}

impl From<&observe::Trace> for Trace {
    fn from(trace: &observe::Trace) -> Self {
        Trace {
            protocol: trace.protocol,
            one_flow: trace.one_flow,
            reached: trace.reached,
            hops: trace.hops.iter().map(Hop::from).collect(),
        }
    }
}

impl From<&observe::Hop> for Hop {
    fn from(hop: &observe::Hop) -> Self {
        Hop {
            distance: hop.distance,
            addresses: hop.addresses().iter().map(ToString::to_string).collect(),
            min_seconds: hop.min().map(Span::as_secs_f64),
            median_seconds: hop.median_seconds(),
            loss_ratio: hop.loss_ratio(),
            probes: hop.probes.iter().map(HopAnswer::from).collect(),
        }
    }
}

impl From<&observe::HopProbe> for HopAnswer {
    fn from(probe: &observe::HopProbe) -> Self {
        HopAnswer {
            from: probe.map(|answer| answer.from.to_string()),
            rtt_seconds: probe.map(|answer| answer.rtt).map(Span::as_secs_f64),
        }
    }
}
