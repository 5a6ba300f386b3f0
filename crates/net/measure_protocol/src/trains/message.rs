//! What the two ends say over the control connection: JSON behind its length.

use std::net::IpAddr;

use serde::{Deserialize, Serialize, de::DeserializeOwned};
use units::{Bytes, Span, Way};

use super::TrainPlan;
use crate::encode_frame;

/// Most characters of a server's words that are shown.
const WORDS_MAX: usize = 300;

/// From the client.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FromClient {
    /// A train is to be sent.
    Train(Announcement),
    /// All packets of this forward train have left.
    Sent {
        /// Its number.
        number: u32,
    },
    /// The way from the server to the client's own address is to be looked for, hop by hop. Only a
    /// server whose answer has `trace` knows this.
    Trace {
        /// Counted with the trains.
        number: u32,
    },
    /// The session is still needed.
    Alive {},
}

/// A train, as the client asks for it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Announcement {
    /// Counted by the client, from 1.
    pub number: u32,
    /// Which end sends.
    pub way: Way,
    /// Size of each packet at the IP layer, headers included.
    pub packet_bytes: u32,
    /// When each packet leaves, in nanoseconds from the first.
    pub departures_ns: Vec<u64>,
}

/// From the server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FromServer {
    /// The client's datagram came and this forward train is waited for.
    Ready {
        /// Its number.
        number: u32,
    },
    /// What arrived of a forward train.
    Arrived(Stamps),
    /// When the packets of a reverse train have left.
    Left {
        /// Its number.
        number: u32,
        /// For each, nanoseconds from when the first was to leave.
        left_ns: Vec<u64>,
        /// When that was; absent from servers that do not tell.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        zero: Option<Zero>,
    },
    /// The way to the client.
    Traced(Traced),
    /// A train that will not be sent, or whose stamps are worthless; or no trace.
    Refused(Refused),
}

/// The way from the server to the client's address.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Traced {
    /// The number of the request.
    pub number: u32,
    /// Whether the client's host answered.
    pub reached: bool,
    /// From the first router behind the server on.
    pub hops: Vec<TracedHop>,
}

/// One hop; both keys are absent without an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct TracedHop {
    /// Who answered most often.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<IpAddr>,
    /// The shortest round trip from the server, in nanoseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rtt_ns: Option<u64>,
}

/// Arrivals of a train.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stamps {
    /// The train's number.
    pub number: u32,
    /// Who stamped.
    pub stamped: Stamp,
    /// For each packet nanoseconds from a common zero; `null` for one that did not come.
    pub arrived_ns: Vec<Option<u64>>,
    /// The common zero; absent from servers that do not tell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub zero: Option<Zero>,
}

/// The zero of the stamps of an end, by the wall clock of its host.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Zero {
    /// Nanoseconds since 1970.
    pub unix_ns: u64,
    /// How far that clock is off at the most; absent where nothing keeps it right.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error_ns: Option<u64>,
}

/// Who stamped the packets of a train.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stamp {
    /// The kernel.
    Kernel,
    /// The program.
    Program,
}

/// Why there is nothing to tell of a train.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Refused {
    /// The train's number.
    pub number: u32,
    /// What kind of reason it is.
    pub cause: Cause,
    /// The reason, for people.
    pub why: String,
    /// When asking again may succeed, in milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub again_ms: Option<u64>,
}

/// Kinds of reasons.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Cause {
    /// The train exceeds a bound, whenever it is asked for.
    Bound,
    /// The session has sent enough for the moment.
    Rate,
    /// No datagram of the client reached the server.
    Unopened,
    /// The wall clock was set while the train was on its way.
    Clock,
    /// The server's host failed.
    Host,
    /// One that this version does not know.
    #[serde(other)]
    Other,
}

impl FromClient {
    /// The bytes to send.
    pub fn encode(&self) -> Vec<u8> {
        encode(self)
    }
}

impl FromServer {
    /// The bytes to send.
    pub fn encode(&self) -> Vec<u8> {
        encode(self)
    }
}

impl Announcement {
    /// Asks for `plan` under this number.
    pub fn new(number: u32, plan: &TrainPlan) -> Self {
        Announcement {
            number,
            way: plan.way,
            packet_bytes: u32::try_from(plan.packet.get()).unwrap_or(u32::MAX),
            departures_ns: plan.departures.iter().map(|at| at.as_nanos()).collect(),
        }
    }

    /// What is asked for.
    pub fn plan(&self) -> TrainPlan {
        let departures = self.departures_ns.iter();
        TrainPlan {
            way: self.way,
            packet: Bytes::new(self.packet_bytes.into()),
            departures: departures.map(|nanos| Span::from_nanos(*nanos)).collect(),
        }
    }
}

impl Refused {
    /// The reason, fit for a terminal: of bounded length, without control characters.
    pub fn words(&self) -> String {
        units::printable(&self.why, WORDS_MAX)
    }
}

fn encode(message: &impl Serialize) -> Vec<u8> {
    let json = serde_json::to_vec(message);
    encode_frame(&json.expect("numbers and texts always have a JSON form"))
}

/// Reads one message.
pub(super) fn decode<T: DeserializeOwned>(json: &[u8]) -> Result<T, String> {
    serde_json::from_slice(json).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_have_the_documented_shape() {
        let plan = TrainPlan {
            way: Way::Reverse,
            packet: Bytes::new(1_500),
            departures: vec![Span::ZERO, Span::from_micros(120)],
        };
        let train = FromClient::Train(Announcement::new(3, &plan)).encode();
        let json = r#"{"train":{"number":3,"way":"reverse","packet_bytes":1500,"departures_ns":[0,120000]}}"#;
        assert_eq!(&train[4..], json.as_bytes());
        let FromClient::Train(read) = decode(&train[4..]).unwrap() else {
            panic!("not a train");
        };
        assert_eq!(read.plan(), plan);
        let arrived = FromServer::Arrived(Stamps {
            zero: None,
            number: 3,
            stamped: Stamp::Kernel,
            arrived_ns: vec![Some(5), None],
        });
        let json = r#"{"arrived":{"number":3,"stamped":"kernel","arrived_ns":[5,null]}}"#;
        assert_eq!(&arrived.encode()[4..], json.as_bytes());
        assert_eq!(&FromClient::Alive {}.encode()[4..], br#"{"alive":{}}"#);
    }

    #[test]
    fn a_cause_of_a_later_version_is_still_a_refusal() {
        let json = br#"{"refused":{"number":1,"cause":"moon","why":"full\u001b[2J moon"}}"#;
        let FromServer::Refused(refused) = decode(json).unwrap() else {
            panic!("not a refusal");
        };
        assert_eq!(refused.cause, Cause::Other);
        assert_eq!(refused.words(), "full\u{FFFD}[2J moon");
    }
}
