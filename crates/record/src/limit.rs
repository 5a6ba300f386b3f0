//! What kept a run from being faster.

use observe::Verdict;
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};
use units::{Bytes, Rate};

/// What bounds a run's goodput, or the rate of a copy.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Limit {
    /// The path is full.
    Link,
    /// Packets lost at random.
    Loss,
    /// Packets dropped beyond an agreed rate.
    Policer,
    /// A queue too short for the sender's bursts.
    ShallowQueue,
    /// Packets that overtake each other.
    Reordering,
    /// Small packets.
    PathMtu,
    /// Something that holds each stream to one rate.
    PerFlow,
    /// The receiver's buffer.
    ReceiveBuffer,
    /// The receiving program.
    SlowReader,
    /// The sender's buffer.
    SendBuffer,
    /// The sending program.
    Application,
    /// A processor of one of the hosts.
    Host,
    /// The path, where it is not known what on it.
    Network,
    /// Reading at the sender of a copy.
    SenderDisk,
    /// Writing or flushing at the receiver of a copy.
    ReceiverDisk,
    /// The processors of a copy's sender.
    SenderProcessor,
    /// The processors of a copy's receiver.
    ReceiverProcessor,
    /// The rate that the user set.
    RateLimit,
    /// A gentle copy takes only what others leave.
    Gentle,
    /// The sender waits for the far end's answers.
    RoundTrips,
    /// Several parts, none of them for half of the time.
    Several,
    /// The run ended before the rate had grown.
    TooShort,
    /// The numbers do not tell.
    Unknown,
}

/// A cause with the numbers that point to it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Cause {
    /// The cause.
    pub limit: Limit,
    /// Other causes that would look the same in these numbers; absent when there are none.
    #[serde(
        default,
        deserialize_with = "one_or_more",
        skip_serializing_if = "Vec::is_empty"
    )]
    pub limit_or: Vec<Limit>,
    /// How it is known, as a sentence for people without a full stop.
    pub limit_because: String,
    /// The window per stream that would lift a buffer's limit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub window_needed_bytes: Option<u64>,
    /// The goodput to expect once the limit is gone; absent where no run has shown it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub could_reach_bits_per_second: Option<u64>,
}

impl Limit {
    /// The name in documents.
    pub fn name(self) -> &'static str {
        observe::Limit::from(self).name()
    }

    /// Whether it lies between the two programs: on the path, or in the socket buffers.
    pub fn is_of_the_network(self) -> bool {
        observe::Limit::from(self).is_of_the_network()
    }
}

/// What `limit_or` may hold: documents of version 1 have one word there.
#[derive(Deserialize)]
#[serde(untagged)]
enum OneOrMore {
    One(Limit),
    More(Vec<Limit>),
}

/// Reads `limit_or` of this version and of version 1.
pub(crate) fn one_or_more<'de, D: Deserializer<'de>>(source: D) -> Result<Vec<Limit>, D::Error> {
    Ok(match OneOrMore::deserialize(source)? {
        OneOrMore::One(limit) => vec![limit],
        OneOrMore::More(limits) => limits,
    })
}

impl From<&Verdict> for Cause {
    fn from(verdict: &Verdict) -> Self {
        Cause {
            limit: verdict.limit.into(),
            limit_or: verdict.or.iter().copied().map(Limit::from).collect(),
            limit_because: verdict.because.clone(),
            window_needed_bytes: verdict.window_needed.map(Bytes::get),
            could_reach_bits_per_second: verdict.could_reach.map(Rate::bits_per_second),
        }
    }
}

impl From<observe::Limit> for Limit {
    fn from(limit: observe::Limit) -> Self {
        match limit {
            observe::Limit::Link => Limit::Link,
            observe::Limit::Loss => Limit::Loss,
            observe::Limit::Policer => Limit::Policer,
            observe::Limit::ShallowQueue => Limit::ShallowQueue,
            observe::Limit::Reordering => Limit::Reordering,
            observe::Limit::PathMtu => Limit::PathMtu,
            observe::Limit::PerFlow => Limit::PerFlow,
            observe::Limit::ReceiveBuffer => Limit::ReceiveBuffer,
            observe::Limit::SlowReader => Limit::SlowReader,
            observe::Limit::SendBuffer => Limit::SendBuffer,
            observe::Limit::Application => Limit::Application,
            observe::Limit::Host => Limit::Host,
            observe::Limit::Network => Limit::Network,
            observe::Limit::SenderDisk => Limit::SenderDisk,
            observe::Limit::ReceiverDisk => Limit::ReceiverDisk,
            observe::Limit::SenderProcessor => Limit::SenderProcessor,
            observe::Limit::ReceiverProcessor => Limit::ReceiverProcessor,
            observe::Limit::RateLimit => Limit::RateLimit,
            observe::Limit::Gentle => Limit::Gentle,
            observe::Limit::RoundTrips => Limit::RoundTrips,
            observe::Limit::Several => Limit::Several,
            observe::Limit::TooShort => Limit::TooShort,
            observe::Limit::Unknown => Limit::Unknown,
        }
    }
}

impl From<Limit> for observe::Limit {
    fn from(limit: Limit) -> Self {
        match limit {
            Limit::Link => observe::Limit::Link,
            Limit::Loss => observe::Limit::Loss,
            Limit::Policer => observe::Limit::Policer,
            Limit::ShallowQueue => observe::Limit::ShallowQueue,
            Limit::Reordering => observe::Limit::Reordering,
            Limit::PathMtu => observe::Limit::PathMtu,
            Limit::PerFlow => observe::Limit::PerFlow,
            Limit::ReceiveBuffer => observe::Limit::ReceiveBuffer,
            Limit::SlowReader => observe::Limit::SlowReader,
            Limit::SendBuffer => observe::Limit::SendBuffer,
            Limit::Application => observe::Limit::Application,
            Limit::Host => observe::Limit::Host,
            Limit::Network => observe::Limit::Network,
            Limit::SenderDisk => observe::Limit::SenderDisk,
            Limit::ReceiverDisk => observe::Limit::ReceiverDisk,
            Limit::SenderProcessor => observe::Limit::SenderProcessor,
            Limit::ReceiverProcessor => observe::Limit::ReceiverProcessor,
            Limit::RateLimit => observe::Limit::RateLimit,
            Limit::Gentle => observe::Limit::Gentle,
            Limit::RoundTrips => observe::Limit::RoundTrips,
            Limit::Several => observe::Limit::Several,
            Limit::TooShort => observe::Limit::TooShort,
            Limit::Unknown => observe::Limit::Unknown,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_is_the_one_that_is_written() {
        for limit in observe::Limit::ALL.map(Limit::from) {
            let json = serde_json::to_string(&limit).unwrap();
            assert_eq!(json, format!("\"{}\"", limit.name()));
        }
    }

    #[test]
    fn the_single_rival_of_version_1_is_read_as_a_list_of_one() {
        let read = |or: &str| {
            let text = format!(r#"{{"limit": "loss", "limit_because": "so"{or}}}"#);
            serde_json::from_str::<Cause>(&text).unwrap().limit_or
        };
        assert_eq!(read(""), []);
        assert_eq!(
            read(r#", "limit_or": "shallow-queue""#),
            [Limit::ShallowQueue]
        );
        let two = read(r#", "limit_or": ["shallow-queue", "policer"]"#);
        assert_eq!(two, [Limit::ShallowQueue, Limit::Policer]);
    }
}
