//! Queue disciplines and their settings.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use units::{Bytes, Span};

/// A queue discipline and its settings.
///
/// ```
/// use netpath::{QueueLimit, QueueSpec};
/// let strict = QueueSpec::Strict { limit: QueueLimit::Packets(100) };
/// assert_eq!(strict.to_string(), "strict 100 packets");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum QueueSpec {
    /// First in, first out; what does not fit is dropped on arrival.
    DropTail(QueueLimit),
    /// First in, first out; drops or marks at random as the average queue grows.
    Red(RedSpec),
    /// First in, first out; drops or marks at random as the average queue grows, each class from
    /// thresholds of its own.
    Wred(WredSpec),
    /// First in, first out; drops or marks what has waited too long for too long.
    #[serde(rename = "codel")]
    CoDel(CoDelSpec),
    /// Three classes; a packet leaves only when no better class waits.
    Strict {
        /// The most that waits in each class.
        #[serde(flatten)]
        limit: QueueLimit,
    },
    /// Three classes with shares of the rate; what one leaves unused, the others get.
    Weighted {
        /// The most that waits in each class.
        #[serde(flatten)]
        limit: QueueLimit,
        /// Share of the scavenger class.
        #[serde(rename = "scavenger_ratio")]
        scavenger: f64,
        /// Share of the priority class; best effort has the rest.
        #[serde(rename = "priority_ratio")]
        priority: f64,
    },
}

/// How much waits at the most, not counting the packet that is being sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum QueueLimit {
    /// This many bytes of whole packets.
    #[serde(rename = "limit_bytes")]
    Bytes(Bytes),
    /// This many packets of any size.
    #[serde(rename = "limit_packets")]
    Packets(u32),
}

/// Random Early Detection (Floyd & Jacobson 1993, section 4; Floyd 2000 for `gentle`).
///
/// The average queue decides: below `min` nothing happens; from `min` to `max` the probability
/// grows to `probability`, and beyond everything is dropped. A gentle queue grows it to 1 between
/// `max` and twice `max` first. While at most one packet waits nothing is dropped, as in ns-2.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RedSpec {
    /// The most that waits.
    #[serde(flatten)]
    pub limit: QueueLimit,
    /// Average queue, in packets, at which dropping begins.
    #[serde(rename = "min_packets")]
    pub min: u32,
    /// Average queue, in packets, at which `probability` is reached.
    #[serde(rename = "max_packets")]
    pub max: u32,
    /// Drop probability at `max`.
    #[serde(rename = "drop_ratio")]
    pub probability: f64,
    /// Weight of one arrival in the average.
    #[serde(rename = "weight_ratio")]
    pub weight: f64,
    /// Whether the probability grows to 1 between `max` and twice `max` instead of jumping there.
    /// Documents leave out what is true, so that a path keeps its digest.
    #[serde(default = "gentle_by_default", skip_serializing_if = "is_gentle")]
    pub gentle: bool,
    /// Whether at least `1/p` arrivals lie between two drops at the probability `p`, and at most
    /// twice as many (`wait_` of ns-2, `Wait` of ns-3, on by default there). Without it, as in the
    /// paper and in Linux, at most `1/p` do. Documents leave out what is false.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub wait: bool,
    /// Whether packets that say they understand it are marked instead, up to `max`.
    pub ecn: bool,
}

/// Documents from before the field was there are of gentle queues.
const fn gentle_by_default() -> bool {
    RedSpec::GENTLE
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde gives references")]
const fn is_gentle(gentle: &bool) -> bool {
    *gentle
}

impl RedSpec {
    /// As in ns-2, ns-3 and Linux: without it a queue around `max` swings.
    pub const GENTLE: bool = true;
    /// ns-2's default, `linterm_` 10.
    pub const PROBABILITY: f64 = 0.1;
    /// The weight that Floyd & Jacobson use: about 500 packets to follow a new level.
    pub const WEIGHT: f64 = 0.002;

    /// Of all packets.
    pub fn thresholds(&self) -> Thresholds {
        Thresholds {
            min: self.min,
            max: self.max,
            probability: self.probability,
        }
    }
}

/// From where on the average queue has packets dropped, and how often.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Thresholds {
    /// Average queue, in packets, at which dropping begins.
    #[serde(rename = "min_packets")]
    pub min: u32,
    /// Average queue, in packets, at which `probability` is reached.
    #[serde(rename = "max_packets")]
    pub max: u32,
    /// Drop probability at `max`.
    #[serde(rename = "drop_ratio")]
    pub probability: f64,
}

/// Weighted Random Early Detection: RED in one queue, with thresholds for each class (Cisco IOS,
/// "Congestion Avoidance Overview").
///
/// The average of all that waits decides for each class. With `rio` what decides for a class is the
/// average of its own and better packets alone, as for the two classes of RIO (Clark & Fang 1998,
/// "Explicit Allocation of Best-Effort Packet Delivery Service").
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WredSpec {
    /// The most that waits, of all classes together.
    #[serde(flatten)]
    pub limit: QueueLimit,
    /// Of the scavenger class.
    pub scavenger: Thresholds,
    /// Of best effort.
    pub best_effort: Thresholds,
    /// Of the priority class.
    pub priority: Thresholds,
    /// Weight of one arrival in the average.
    #[serde(rename = "weight_ratio")]
    pub weight: f64,
    /// Whether the probability grows to 1 between `max` and twice `max` instead of jumping there.
    pub gentle: bool,
    /// Whether worse packets do not count for better ones.
    pub rio: bool,
    /// Whether packets that say they understand it are marked instead, up to `max`.
    pub ecn: bool,
}

impl WredSpec {
    /// Of each class, in the order of [`Class::ALL`](super::Class::ALL).
    pub fn thresholds(&self) -> [Thresholds; 3] {
        [self.scavenger, self.best_effort, self.priority]
    }
}

/// Controlled Delay (RFC 8289).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CoDelSpec {
    /// The most that waits.
    #[serde(flatten)]
    pub limit: QueueLimit,
    /// The wait that is acceptable for ever.
    #[serde(rename = "target_seconds")]
    pub target: Span,
    /// How long the wait has to stay above `target` before the first drop.
    #[serde(rename = "interval_seconds")]
    pub interval: Span,
    /// Whether packets that say they understand it are marked instead.
    pub ecn: bool,
}

impl CoDelSpec {
    /// RFC 8289, section 4: 5 % of the interval.
    pub const TARGET: Span = Span::from_millis(5);
    /// RFC 8289, section 4: a round trip of the open Internet.
    pub const INTERVAL: Span = Span::from_millis(100);
}

impl QueueSpec {
    /// The discipline's name in path files.
    pub fn kind(&self) -> &'static str {
        match self {
            QueueSpec::DropTail(_) => "drop-tail",
            QueueSpec::Red(_) => "red",
            QueueSpec::Wred(_) => "wred",
            QueueSpec::CoDel(_) => "codel",
            QueueSpec::Strict { .. } => "strict",
            QueueSpec::Weighted { .. } => "weighted",
        }
    }

    /// The most that waits; of the disciplines with classes, in each class.
    pub fn limit(&self) -> QueueLimit {
        match *self {
            QueueSpec::DropTail(limit)
            | QueueSpec::Strict { limit }
            | QueueSpec::Weighted { limit, .. } => limit,
            QueueSpec::Red(RedSpec { limit, .. })
            | QueueSpec::Wred(WredSpec { limit, .. })
            | QueueSpec::CoDel(CoDelSpec { limit, .. }) => limit,
        }
    }
}

impl fmt::Display for QueueLimit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            QueueLimit::Bytes(bytes) => bytes.fmt(f),
            QueueLimit::Packets(1) => write!(f, "1 packet"),
            QueueLimit::Packets(packets) => write!(f, "{packets} packets"),
        }
    }
}

impl fmt::Display for QueueSpec {
    /// The kind and its limit; drop-tail, the usual one, goes without saying.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            QueueSpec::DropTail(limit) => limit.fmt(f),
            other => write!(f, "{} {}", other.kind(), other.limit()),
        }
    }
}
