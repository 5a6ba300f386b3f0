//! What kept a run from being faster.

use observe::Verdict;
use serde::{Deserialize, Serialize};
use units::Bytes;

/// The cause that bounds a run's goodput.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Limit {
    /// The path is full.
    Link,
    /// Packets lost at random, or dropped by a policer.
    Loss,
    /// A queue too short for the sender's bursts.
    ShallowQueue,
    /// The receiver's buffer.
    ReceiveBuffer,
    /// The sender's buffer.
    SendBuffer,
    /// The sending program.
    Application,
    /// A processor of one of the hosts.
    Host,
    /// The numbers do not tell.
    Unknown,
}

/// A cause with the numbers that point to it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cause {
    /// The cause.
    pub limit: Limit,
    /// Another that would look the same in these numbers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit_or: Option<Limit>,
    /// How it is known, as a sentence for people without a full stop.
    pub limit_because: String,
    /// The window per stream that would lift a buffer's limit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub window_needed_bytes: Option<u64>,
}

impl Limit {
    /// The name in documents.
    pub fn name(self) -> &'static str {
        observe::Limit::from(self).name()
    }
}

impl From<&Verdict> for Cause {
    fn from(verdict: &Verdict) -> Self {
        Cause {
            limit: verdict.limit.into(),
            limit_or: verdict.or.map(Limit::from),
            limit_because: verdict.because.clone(),
            window_needed_bytes: verdict.window_needed.map(Bytes::get),
        }
    }
}

impl From<observe::Limit> for Limit {
    fn from(limit: observe::Limit) -> Self {
        match limit {
            observe::Limit::Link => Limit::Link,
            observe::Limit::Loss => Limit::Loss,
            observe::Limit::ShallowQueue => Limit::ShallowQueue,
            observe::Limit::ReceiveBuffer => Limit::ReceiveBuffer,
            observe::Limit::SendBuffer => Limit::SendBuffer,
            observe::Limit::Application => Limit::Application,
            observe::Limit::Host => Limit::Host,
            observe::Limit::Unknown => Limit::Unknown,
        }
    }
}

impl From<Limit> for observe::Limit {
    fn from(limit: Limit) -> Self {
        match limit {
            Limit::Link => observe::Limit::Link,
            Limit::Loss => observe::Limit::Loss,
            Limit::ShallowQueue => observe::Limit::ShallowQueue,
            Limit::ReceiveBuffer => observe::Limit::ReceiveBuffer,
            Limit::SendBuffer => observe::Limit::SendBuffer,
            Limit::Application => observe::Limit::Application,
            Limit::Host => observe::Limit::Host,
            Limit::Unknown => observe::Limit::Unknown,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_is_the_one_that_is_written() {
        let all = [
            Limit::Link,
            Limit::Loss,
            Limit::ShallowQueue,
            Limit::ReceiveBuffer,
            Limit::SendBuffer,
            Limit::Application,
            Limit::Host,
            Limit::Unknown,
        ];
        for limit in all {
            let json = serde_json::to_string(&limit).unwrap();
            assert_eq!(json, format!("\"{}\"", limit.name()));
        }
    }
}
