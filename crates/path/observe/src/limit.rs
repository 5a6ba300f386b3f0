//! The names of what keeps a run, or a copy, from being faster.
//!
//! Which of them it is, `inference` says from what runs showed, and `steer` of the parts of a copy
//! that are not the path.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use units::{Bytes, Rate};

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
    /// Packets marked (ECN) by a queue in place of drops, which senders answer as they do losses.
    Marks,
    /// What others send.
    Others,
    /// A way back that acknowledgements fill.
    WayBack,
    /// A rate that rises and falls, which streams do not follow.
    VaryingRate,
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
    pub const ALL: [Limit; 27] = [
        Limit::Link,
        Limit::Loss,
        Limit::Policer,
        Limit::ShallowQueue,
        Limit::Marks,
        Limit::Others,
        Limit::WayBack,
        Limit::VaryingRate,
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
                | Limit::Marks
                | Limit::Others
                | Limit::WayBack
                | Limit::VaryingRate
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
            Limit::Marks => "marks",
            Limit::Others => "others",
            Limit::WayBack => "way-back",
            Limit::VaryingRate => "varying-rate",
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
    /// How likely it is that cause, 0 to 1, where a path was inferred.
    #[serde(
        rename = "limit_probability",
        default,
        skip_serializing_if = "Option::is_none"
    )]
    pub probability: Option<f64>,
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
    /// Whether the numbers point to a cause at all.
    pub fn tells(&self) -> bool {
        !matches!(self.limit, Limit::Unknown | Limit::TooShort)
    }
}
