//! What keeps a run from being faster.
//!
//! [`diagnose`] goes from the cause nearest to the sending program outwards: the program, the
//! receiver's window, the send buffer, then the path. Each step is a threshold on what the sender's
//! kernel counted over the steady window; the thresholds were measured on Linux 6.18 over a path of
//! 50 Mbit/s and 20 ms, and `limit/tests.rs` holds that table.
//!
//! Two causes that one run cannot tell apart are both named: random loss and a queue too shallow
//! for the sender's bursts look alike. A paced run of the same setting tells them apart, see
//! [`Context`].
//!
//! [`Limit`] also names what can bound a copy; which of that does is decided where copies are
//! steered, from what both ends did. Left out here: the disk behind the sending program, the far
//! end's processors (their use is known by process, not by thread), and which hop a limit sits at.
//! Without `TCP_INFO` (a foreign sender) only a comparison of runs remains, and mostly the answer
//! is [`Limit::Unknown`].

mod buffers;
mod diagnose;
mod drops;
mod evidence;
mod full;
mod no_signal;
mod over_udp;
mod words;

pub use diagnose::diagnose;

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use units::{Bytes, Rate, Span};

use crate::{Observation, StreamCount, Transport};

/// What can bound the goodput of a run, or the rate of a copy.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum Limit {
    /// The path is full.
    Link,
    /// Packets lost at random.
    Loss,
    /// Packets dropped beyond an agreed rate, without a queue.
    Policer,
    /// Packets dropped by a queue too short for the sender's bursts.
    ShallowQueue,
    /// Packets that overtake each other, which TCP takes for loss.
    Reordering,
    /// Packets so small that the same losses leave less of the rate.
    PathMtu,
    /// Something that holds each stream to one rate, so that streams add up: neither losses nor
    /// buffers.
    PerFlow,
    /// The receiver's buffer.
    ReceiveBuffer,
    /// A receiving program that reads more slowly than data arrive.
    SlowReader,
    /// The sender's buffer.
    SendBuffer,
    /// The sending program had nothing to send.
    Application,
    /// A processor of one of the two hosts; of a copy within one host: the processors that both
    /// ends share.
    Host,
    /// The path of a copy, where it is not known what on it.
    Network,
    /// Reading files at the sender of a copy.
    SenderDisk,
    /// Writing or flushing files at the receiver of a copy.
    ReceiverDisk,
    /// The processors of the sender of a copy.
    SenderProcessor,
    /// The processors of the receiver of a copy.
    ReceiverProcessor,
    /// The rate that the user set for a copy.
    RateLimit,
    /// A gentle copy takes only what others leave.
    Gentle,
    /// The sender of a copy waits for answers of the far end.
    RoundTrips,
    /// Several parts of a copy, none of them for half of the time.
    Several,
    /// The run ended before the rate had grown to whatever bounds it.
    TooShort,
    /// The numbers do not tell.
    Unknown,
}

impl Limit {
    /// All of them, from the path to the hosts to the unknown.
    pub const ALL: [Limit; 23] = [
        Limit::Link,
        Limit::Loss,
        Limit::Policer,
        Limit::ShallowQueue,
        Limit::Reordering,
        Limit::PathMtu,
        Limit::PerFlow,
        Limit::ReceiveBuffer,
        Limit::SlowReader,
        Limit::SendBuffer,
        Limit::Application,
        Limit::Host,
        Limit::Network,
        Limit::SenderDisk,
        Limit::ReceiverDisk,
        Limit::SenderProcessor,
        Limit::ReceiverProcessor,
        Limit::RateLimit,
        Limit::Gentle,
        Limit::RoundTrips,
        Limit::Several,
        Limit::TooShort,
        Limit::Unknown,
    ];

    /// The one of this name.
    ///
    /// ```
    /// use observe::Limit;
    /// assert_eq!(Limit::named("receive-buffer"), Some(Limit::ReceiveBuffer));
    /// assert_eq!(Limit::named("weather"), None);
    /// ```
    pub fn named(name: &str) -> Option<Limit> {
        Limit::ALL.into_iter().find(|limit| limit.name() == name)
    }

    /// Whether it lies between the two programs: on the path, or in the socket buffers that decide
    /// how much is on the way.
    pub fn is_of_the_network(self) -> bool {
        matches!(
            self,
            Limit::Link
                | Limit::Loss
                | Limit::Policer
                | Limit::ShallowQueue
                | Limit::Reordering
                | Limit::PathMtu
                | Limit::PerFlow
                | Limit::ReceiveBuffer
                | Limit::SendBuffer
                | Limit::Network
        )
    }

    /// The name in documents: `receive-buffer` for [`Limit::ReceiveBuffer`].
    pub fn name(self) -> &'static str {
        match self {
            Limit::Link => "link",
            Limit::Loss => "loss",
            Limit::Policer => "policer",
            Limit::ShallowQueue => "shallow-queue",
            Limit::Reordering => "reordering",
            Limit::PathMtu => "path-mtu",
            Limit::PerFlow => "per-flow",
            Limit::ReceiveBuffer => "receive-buffer",
            Limit::SlowReader => "slow-reader",
            Limit::SendBuffer => "send-buffer",
            Limit::Application => "application",
            Limit::Host => "host",
            Limit::Network => "network",
            Limit::SenderDisk => "sender-disk",
            Limit::ReceiverDisk => "receiver-disk",
            Limit::SenderProcessor => "sender-processor",
            Limit::ReceiverProcessor => "receiver-processor",
            Limit::RateLimit => "rate-limit",
            Limit::Gentle => "gentle",
            Limit::RoundTrips => "round-trips",
            Limit::Several => "several",
            Limit::TooShort => "too-short",
            Limit::Unknown => "unknown",
        }
    }
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// What limits a run, and how that is known.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Verdict {
    /// The cause; of several that look the same, the likeliest.
    pub limit: Limit,
    /// The other causes that would look the same in these numbers, the likelier ones first.
    #[serde(rename = "limit_or", default, skip_serializing_if = "Vec::is_empty")]
    pub or: Vec<Limit>,
    /// The numbers that say so, as a sentence for people without a full stop.
    #[serde(rename = "limit_because")]
    pub because: String,
    /// The window per stream that would lift a buffer's limit, before the kernel's doubling.
    #[serde(
        rename = "window_needed_bytes",
        skip_serializing_if = "Option::is_none"
    )]
    pub window_needed: Option<Bytes>,
    /// Goodput to expect once this limit is gone and nothing else has changed: as far as other runs
    /// have shown that the path carries it.
    #[serde(
        rename = "could_reach_bits_per_second",
        skip_serializing_if = "Option::is_none"
    )]
    pub could_reach: Option<Rate>,
}

impl Verdict {
    /// A cause without rivals; what removing it would bring is unknown.
    fn of(limit: Limit, because: String) -> Self {
        Verdict {
            limit,
            or: Vec::new(),
            because,
            window_needed: None,
            could_reach: None,
        }
    }

    /// The same where other causes would look alike.
    fn or(self, others: &[Limit]) -> Self {
        Verdict {
            or: others.to_vec(),
            ..self
        }
    }

    /// Whether the numbers point to a cause at all.
    pub fn tells(&self) -> bool {
        !matches!(self.limit, Limit::Unknown | Limit::TooShort)
    }
}

/// What is known beside the run itself. Every part may be missing.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Context {
    /// The highest goodput that any run has shown on this path in this direction.
    pub best_seen: Option<Rate>,
    /// The goodput that more streams did not raise any further: what the path carries.
    pub plateau: Option<Rate>,
    /// The shortest round trip that any run has shown: that of the empty path.
    pub rtt_min: Option<Span>,
    /// Median round trip before any stream sent.
    pub rtt_unloaded: Option<Span>,
    /// The longest that packets waited on average beside any run: how deep the path's queue is,
    /// once something filled it.
    pub queue_most: Option<Span>,
    /// The rate that the run's own setting gave each stream at the most, where nothing else is
    /// sought than what this run shows.
    pub pacing: Option<Rate>,
    /// What carried the run's streams.
    pub transport: Transport,
    /// The congestion control of the run, where its setting names one or the sender said it.
    pub congestion: Option<String>,
    /// Other numbers of streams with everything else the same.
    pub by_streams: Vec<OtherCount>,
    /// The same setting with its sending rate paced, or one stream of it.
    pub paced: Option<Paced>,
    /// The same setting with other congestion controls.
    pub alternatives: Vec<Alternative>,
}

impl Context {
    /// What is known of a run by itself: what it was asked for, and the congestion control that the
    /// sending host chose where it was not asked for.
    pub fn alone(seen: &Observation) -> Self {
        let asked = seen.setting.congestion.clone();
        Context {
            transport: seen.setting.transport,
            pacing: seen.setting.pacing,
            congestion: asked.or_else(|| seen.congestion_used.clone()),
            ..Context::default()
        }
    }
}

/// What a run of the same setting showed but for its number of streams.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct OtherCount {
    /// How many.
    pub streams: StreamCount,
    /// What they carried together.
    pub goodput: Rate,
    /// Retransmitted bytes as a share of the bytes sent.
    pub retransmitted_share: Option<f64>,
}

/// What a run showed whose sending rate was bounded.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Paced {
    /// The bound of each stream.
    pub pace: Rate,
    /// Whether it was one stream, and the run that is judged has several.
    pub is_one_stream: bool,
    /// What it carried.
    pub goodput: Rate,
    /// Segments delivered over its steady window.
    pub segments: Option<f64>,
    /// Retransmitted bytes as a share of the bytes sent.
    pub retransmitted_share: Option<f64>,
    /// Retransmitted segments.
    pub retransmits: Option<u64>,
    /// The same over the whole run, warm-up included.
    pub retransmits_total: Option<u64>,
}

/// What a run of the same setting showed under another congestion control.
#[derive(Debug, Clone, PartialEq)]
pub struct Alternative {
    /// Its kernel name.
    pub congestion: String,
    /// Retransmitted bytes as a share of the bytes sent.
    pub retransmitted_share: Option<f64>,
    /// What it carried.
    pub goodput: Rate,
}

#[cfg(test)]
mod tests;
