//! A fluid model of many flows by classes.
//!
//! Rates and queues are real numbers, losses are events (Misra, Gong, Towsley 2000, "Fluid-based
//! analysis of a network of AQM routers supporting TCP flows"). Each class is a sample of its flows,
//! all of them up to some hundreds; each flow of the sample stands for the same number.
//!
//! What is on the way decides what waits: acknowledgements clock new segments, so that the queue
//! holds what the rest of the path does not (Jacobsson et al. 2009, "An improved link model for
//! window flow control and its application to FAST TCP"). A full drop-tail queue drops what exceeds
//! it, which is the growth of the windows until the senders learn of it, a round trip later: flows
//! lose together, as in packet simulations, and not each at random.
//!
//! Left out: bursts shorter than a round trip, which matter where a queue holds few packets;
//! acknowledgements that are lost or wait.

mod flow;
mod queue;
mod run;

use netpath::PathSpec;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use units::{Bytes, Rate, Span};

pub use run::fluid;

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

/// What to ask the fluid model.
#[derive(Debug, Clone, PartialEq)]
pub struct FluidQuestion {
    /// The path; streams of its cross traffic are classes behind those asked for.
    pub path: PathSpec,
    /// The classes.
    pub classes: Vec<FlowClass>,
    /// How long they run.
    pub duration: Span,
    /// What is not counted at the beginning.
    pub warmup: Span,
    /// Decides losses.
    pub seed: u64,
}

/// What the fluid model says, after the warm-up.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Fluid {
    /// Each class.
    pub classes: Vec<FluidClass>,
    /// Payload of all of them.
    #[serde(rename = "goodput_bits_per_second")]
    pub goodput: Rate,
    /// Share of packets that were lost, in the queue or on the wire.
    #[serde(rename = "lost_ratio")]
    pub loss: f64,
    /// Mean queue.
    pub queue_packets: f64,
    /// What it adds to a round trip, in the mean.
    #[serde(rename = "queue_seconds")]
    pub wait: Span,
}

/// What one class gets.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FluidClass {
    /// How many flows.
    pub flows: u64,
    /// Their congestion control.
    pub congestion: String,
    /// Payload of all of them.
    #[serde(rename = "goodput_bits_per_second")]
    pub goodput: Rate,
    /// Share of their packets that were lost.
    #[serde(rename = "lost_ratio")]
    pub loss: f64,
    /// Mean round trip of their packets.
    #[serde(rename = "rtt_seconds")]
    pub rtt: Span,
}
