//! The parameters a client sends, as they stand in the JSON.

use serde::{Deserialize, Deserializer, Serialize};

use crate::iperf3::number;
use crate::{AuthToken, Offer, RequestError};

/// iperf3's parameter document. [`crate::TestRequest`] is its checked form.
///
/// Unknown keys are ignored, as iperf3 does, and a value of the wrong type counts as absent.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Params {
    /// A TCP test is wanted.
    #[serde(deserialize_with = "number::flag", skip_serializing_if = "is_off")]
    pub tcp: bool,
    /// A UDP test is wanted.
    #[serde(deserialize_with = "number::flag", skip_serializing_if = "is_off")]
    pub udp: bool,
    /// An SCTP test is wanted.
    #[serde(deserialize_with = "number::flag", skip_serializing_if = "is_off")]
    pub sctp: bool,
    /// Seconds at the beginning that do not count.
    #[serde(deserialize_with = "number::count")]
    pub omit: Option<u64>,
    /// Length of the test in seconds; 0 when bytes or blocks end it.
    #[serde(deserialize_with = "number::signed")]
    pub time: Option<i64>,
    /// Bytes that end the test, over all streams; 0 for none.
    #[serde(deserialize_with = "number::count")]
    pub num: Option<u64>,
    /// Blocks that end the test, over all streams; 0 for none.
    #[serde(deserialize_with = "number::count")]
    pub blockcount: Option<u64>,
    /// Streams in each direction used.
    #[serde(deserialize_with = "number::signed")]
    pub parallel: Option<i64>,
    /// Bytes per write.
    #[serde(deserialize_with = "number::signed")]
    pub len: Option<i64>,
    /// Segment size in bytes.
    #[serde(
        rename = "MSS",
        deserialize_with = "number::count",
        skip_serializing_if = "Option::is_none"
    )]
    pub mss: Option<u64>,
    /// Nagle's algorithm is to be switched off.
    #[serde(deserialize_with = "number::flag", skip_serializing_if = "is_off")]
    pub nodelay: bool,
    /// The server sends.
    #[serde(deserialize_with = "number::flag", skip_serializing_if = "is_off")]
    pub reverse: bool,
    /// Both ends send.
    #[serde(deserialize_with = "number::flag", skip_serializing_if = "is_off")]
    pub bidirectional: bool,
    /// Socket buffers in bytes, on both ends.
    #[serde(
        deserialize_with = "number::count",
        skip_serializing_if = "Option::is_none"
    )]
    pub window: Option<u64>,
    /// Bits per second and stream, kept by the sender's own timer.
    #[serde(
        deserialize_with = "number::count",
        skip_serializing_if = "Option::is_none"
    )]
    pub bandwidth: Option<u64>,
    /// Datagrams that are sent together at a rate.
    #[serde(
        deserialize_with = "number::count",
        skip_serializing_if = "Option::is_none"
    )]
    pub burst: Option<u64>,
    /// 1 when datagrams have numbers of 64 bits.
    #[serde(
        deserialize_with = "number::count",
        skip_serializing_if = "Option::is_none"
    )]
    pub udp_counters_64bit: Option<u64>,
    /// Bits per second and stream, kept by the kernel's pacing.
    #[serde(
        deserialize_with = "number::count",
        skip_serializing_if = "Option::is_none"
    )]
    pub fqrate: Option<u64>,
    /// The octet of the type of service, whose upper six bits are the class (RFC 2474).
    #[serde(
        rename = "TOS",
        deserialize_with = "number::count",
        skip_serializing_if = "Option::is_none"
    )]
    pub tos: Option<u64>,
    /// Name of the congestion control.
    #[serde(
        deserialize_with = "number::text",
        skip_serializing_if = "Option::is_none"
    )]
    pub congestion: Option<String>,
    /// 1 when the server's printed report is wanted.
    #[serde(
        deserialize_with = "number::count",
        skip_serializing_if = "Option::is_none"
    )]
    pub get_server_output: Option<u64>,
    /// Version of the client, as text.
    #[serde(
        deserialize_with = "number::text",
        skip_serializing_if = "Option::is_none"
    )]
    pub client_version: Option<String>,
    /// The encrypted login of a user.
    #[serde(deserialize_with = "token", skip_serializing_if = "Option::is_none")]
    pub authtoken: Option<AuthToken>,
    /// Our own offer.
    #[serde(deserialize_with = "offer", skip_serializing_if = "Option::is_none")]
    pub trunkline: Option<Offer>,
}

impl Params {
    /// Reads the JSON of a parameter message.
    pub fn from_json(json: &[u8]) -> Result<Self, RequestError> {
        serde_json::from_slice(json).map_err(|error| RequestError::Json(error.to_string()))
    }

    /// The JSON to send.
    pub fn to_json(&self) -> Vec<u8> {
        serde_json::to_vec(self).expect("numbers, flags and texts always have a JSON form")
    }
}

fn is_off(flag: &bool) -> bool {
    !flag
}

fn token<'de, D: Deserializer<'de>>(from: D) -> Result<Option<AuthToken>, D::Error> {
    Ok(number::text(from)?.map(AuthToken::from_text))
}

fn offer<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Offer>, D::Error> {
    let value = serde_json::Value::deserialize(from)?;
    Ok(serde_json::from_value(value).ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(json: &str) -> Params {
        Params::from_json(json.as_bytes()).unwrap()
    }

    #[test]
    fn debian_client_parameters_are_read() {
        let params = read(
            r#"{"tcp":true,"omit":0,"time":10,"num":0,"blockcount":0,"MSS":1200,"parallel":8,
                "reverse":true,"window":262144,"len":131072,"pacing_timer":1000,"TOS":32,
                "congestion":"reno","client_version":"3.12"}"#,
        );
        assert!(params.tcp && params.reverse && !params.bidirectional);
        assert_eq!(params.parallel, Some(8));
        assert_eq!(params.mss, Some(1_200));
        assert_eq!(params.window, Some(262_144));
        assert_eq!(params.tos, Some(32));
        assert_eq!(params.congestion.as_deref(), Some("reno"));
    }

    #[test]
    fn wrong_types_count_as_absent() {
        let params = read(r#"{"tcp":1,"parallel":"8","congestion":7,"trunkline":true}"#);
        assert_eq!(params, Params::default());
    }

    #[test]
    fn unknown_keys_of_any_shape_are_ignored() {
        let params = read(r#"{"udp":true,"extra":{"a":[1,{"b":null}]},"title":"x"}"#);
        assert!(params.udp);
    }

    #[test]
    fn what_is_written_reads_back() {
        let params = Params {
            tcp: true,
            time: Some(10),
            parallel: Some(2),
            congestion: Some("bbr".to_owned()),
            trunkline: Some(Offer::default()),
            ..Params::default()
        };
        assert_eq!(Params::from_json(&params.to_json()), Ok(params));
    }

    #[test]
    fn other_json_is_refused() {
        for json in ["", "[", "7", "{\"tcp\":"] {
            assert!(Params::from_json(json.as_bytes()).is_err(), "{json}");
        }
    }
}
