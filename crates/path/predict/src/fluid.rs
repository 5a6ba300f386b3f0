//! A fluid model of many flows by classes.
//!
//! Rates and queues are real numbers, losses are events (Misra, Gong, Towsley 2000, "Fluid-based
//! analysis of a network of AQM routers supporting TCP flows"). Each class is a sample of its
//! flows, all of them up to some hundreds; each flow of the sample stands for the same number.
//!
//! What is on the way decides what waits: acknowledgements clock new segments, so that the queue
//! holds what the rest of the path does not (Jacobsson et al. 2009, "An improved link model for
//! window flow control and its application to FAST TCP"). A full drop-tail queue drops what exceeds
//! it, which is the growth of the windows until the senders learn of it, a round trip later: flows
//! lose together, as in packet simulations, and not each at random.
//!
//! Left out: bursts shorter than a round trip, which matter where a queue holds few packets;
//! acknowledgements that are lost or wait, so that ways back which do that are refused.

mod check;
mod class;
mod domain;
mod flow;
mod queue;
mod run;

use netpath::PathSpec;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use units::{Bytes, Rate, Span};

pub use check::FLOWS_MAX;
pub use run::{fluid, fluid_unbounded};

/// Flows that are alike.
#[derive(Debug, Clone, PartialEq)]
pub struct FlowClass {
    /// How many.
    pub flows: u64,
    /// Congestion control; `None` for that of the path's hosts.
    pub congestion: Option<String>,
    /// Round trip of the empty path; `None` for the path's own.
    pub rtt: Option<Span>,
    /// The most that each keeps outstanding; `None` leaves it to the hosts' buffers.
    pub window: Option<Bytes>,
    /// Probability that a packet is lost beside the path's own loss.
    pub loss: f64,
    /// When they start.
    pub start: Span,
    /// When they stop; `None` at the end.
    pub stop: Option<Span>,
}

impl FlowClass {
    /// So many flows with the path's own settings, from the beginning to the end.
    pub fn of(flows: u64) -> Self {
        FlowClass {
            flows,
            congestion: None,
            rtt: None,
            window: None,
            loss: 0.0,
            start: Span::ZERO,
            stop: None,
        }
    }
}

/// What to ask the fluid model.
#[derive(Debug, Clone, PartialEq)]
pub struct FluidQuestion {
    /// The path; streams of its cross traffic are classes behind those asked for.
    pub path: PathSpec,
    /// The classes.
    pub classes: Vec<FlowClass>,
    /// How long they run. `None` for a minute, or for as many round trips as fit.
    pub duration: Option<Span>,
    /// What is not counted at the beginning. `None` for the first half, with which the model was
    /// held against packets.
    pub warmup: Option<Span>,
    /// Decides losses.
    pub seed: u64,
}

/// What the fluid model says, after the warm-up. A figure is absent where the model was not found
/// within 5 % of packet simulations.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Fluid {
    /// How long the flows ran, of which the first half does not count.
    #[serde(rename = "duration_seconds")]
    pub duration: Span,
    /// Each class.
    pub classes: Vec<FluidClass>,
    /// Payload of all of them.
    #[serde(
        rename = "goodput_bits_per_second",
        skip_serializing_if = "Option::is_none"
    )]
    pub goodput: Option<Rate>,
    /// Share of packets that were lost, in the queue or on the wire.
    #[serde(rename = "lost_ratio", skip_serializing_if = "Option::is_none")]
    pub loss: Option<f64>,
    /// Mean queue.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub queue_packets: Option<f64>,
    /// What it adds to a round trip, in the mean.
    #[serde(rename = "queue_seconds", skip_serializing_if = "Option::is_none")]
    pub wait: Option<Span>,
    /// Why figures are absent.
    pub outside: Vec<String>,
}

/// What one class gets.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FluidClass {
    /// How many flows.
    pub flows: u64,
    /// Their congestion control.
    pub congestion: String,
    /// Round trip of their empty path.
    #[serde(rename = "idle_rtt_seconds")]
    pub idle_rtt: Span,
    /// Payload of all of them.
    #[serde(
        rename = "goodput_bits_per_second",
        skip_serializing_if = "Option::is_none"
    )]
    pub goodput: Option<Rate>,
    /// Share of their packets that were lost.
    #[serde(rename = "lost_ratio", skip_serializing_if = "Option::is_none")]
    pub loss: Option<f64>,
    /// Mean round trip of their packets.
    #[serde(rename = "rtt_seconds", skip_serializing_if = "Option::is_none")]
    pub rtt: Option<Span>,
}
