//! The results both ends exchange after a test.

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::value::RawValue;

use crate::Telemetry;
use crate::iperf3::extension::VERSION;
use crate::iperf3::number;

/// Number of the stream opened at position `index` (from 0): 1, 3, 4, 5 and so on.
///
/// iperf3 counts the second stream from two plus one and keeps it that way for compatibility.
/// ```
/// assert_eq!([0, 1, 2].map(measure_protocol::stream_id), [1, 3, 4]);
/// ```
pub fn stream_id(index: u16) -> u32 {
    match index {
        0 => 1,
        index => u32::from(index) + 2,
    }
}

/// One end's results.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Results {
    /// Processor time of the whole process, percent of one processor.
    #[serde(
        default,
        deserialize_with = "number::float",
        serialize_with = "or_zero"
    )]
    pub cpu_util_total: Option<f64>,
    /// The part spent in the program.
    #[serde(
        default,
        deserialize_with = "number::float",
        serialize_with = "or_zero"
    )]
    pub cpu_util_user: Option<f64>,
    /// The part spent in the kernel.
    #[serde(
        default,
        deserialize_with = "number::float",
        serialize_with = "or_zero"
    )]
    pub cpu_util_system: Option<f64>,
    /// 1: retransmits are counted; 0: they are not; absent (-1 on the wire): nothing was sent.
    #[serde(
        default,
        deserialize_with = "number::count",
        serialize_with = "or_minus_one"
    )]
    pub sender_has_retransmits: Option<u64>,
    /// The congestion control in use.
    #[serde(
        default,
        deserialize_with = "number::text",
        skip_serializing_if = "Option::is_none"
    )]
    pub congestion_used: Option<String>,
    /// The server's report as text.
    #[serde(
        default,
        deserialize_with = "number::text",
        skip_serializing_if = "Option::is_none"
    )]
    pub server_output_text: Option<String>,
    /// One entry per stream.
    pub streams: Vec<StreamResult>,
    /// Our own telemetry; that of a version not known here counts as absent.
    #[serde(
        default,
        deserialize_with = "telemetry",
        skip_serializing_if = "Option::is_none"
    )]
    pub trunkline: Option<Telemetry>,
}

/// What one end counted on one stream.
///
/// Readers insist on six of these fields even on TCP, so all six are always written.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct StreamResult {
    /// Number of the stream, see [`stream_id`].
    #[serde(deserialize_with = "number::required_count")]
    pub id: u64,
    /// Bytes sent, or received while the test ran.
    #[serde(deserialize_with = "number::required_count")]
    pub bytes: u64,
    /// Segments sent again; absent (-1 on the wire) on the receiving end.
    #[serde(
        default,
        deserialize_with = "number::count",
        serialize_with = "or_minus_one"
    )]
    pub retransmits: Option<u64>,
    /// UDP only: variation of the delay in seconds.
    #[serde(
        default,
        deserialize_with = "number::float",
        serialize_with = "or_zero"
    )]
    pub jitter: Option<f64>,
    /// UDP only: datagrams lost.
    #[serde(
        default,
        deserialize_with = "number::count",
        serialize_with = "or_none"
    )]
    pub errors: Option<u64>,
    /// UDP only: datagrams sent or seen.
    #[serde(
        default,
        deserialize_with = "number::count",
        serialize_with = "or_none"
    )]
    pub packets: Option<u64>,
    /// UDP only: of the datagrams those of the omitted time, where there was one; iperf3 3.14 and
    /// later tell both or neither.
    #[serde(
        default,
        deserialize_with = "number::count",
        skip_serializing_if = "Option::is_none"
    )]
    pub omitted_packets: Option<u64>,
    /// The same of those lost.
    #[serde(
        default,
        deserialize_with = "number::count",
        skip_serializing_if = "Option::is_none"
    )]
    pub omitted_errors: Option<u64>,
    /// Beginning of the counted time, in seconds.
    #[serde(
        default,
        deserialize_with = "number::float",
        serialize_with = "or_zero"
    )]
    pub start_time: Option<f64>,
    /// End of the counted time, in seconds.
    #[serde(
        default,
        deserialize_with = "number::float",
        serialize_with = "or_zero"
    )]
    pub end_time: Option<f64>,
    /// What one of our ends has counted of datagrams beyond that.
    #[serde(
        default,
        deserialize_with = "datagrams",
        skip_serializing_if = "Option::is_none"
    )]
    pub trunkline: Option<DatagramCounts>,
}

/// What a receiver or sender of datagrams tells another of our ends about one stream; what it does
/// not count is absent.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct DatagramCounts {
    /// Arrived behind one that was sent later.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reordered: Option<u64>,
    /// Arrived once more.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duplicates: Option<u64>,
    /// Dropped by the receiving host, whose buffer was full.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dropped: Option<u64>,
    /// Due at the rate that was asked for, and not sent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub not_sent: Option<u64>,
    /// How much the least delay grew, in nanoseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delay_growth_nanos: Option<u64>,
    /// Bytes that came in each tenth of a second.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tenths: Vec<u64>,
}

/// A results message that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the peer's results cannot be read: {0}")]
pub struct ResultsError(pub String);

impl Results {
    /// Reads the JSON of a results message.
    pub fn from_json(json: &[u8]) -> Result<Self, ResultsError> {
        serde_json::from_slice(json).map_err(|error| ResultsError(error.to_string()))
    }

    /// The JSON to send.
    pub fn to_json(&self) -> Vec<u8> {
        serde_json::to_vec(self).expect("numbers, texts and lists always have a JSON form")
    }

    /// The entry of the stream opened at position `index`.
    pub fn stream(&self, index: u16) -> Option<&StreamResult> {
        let id = u64::from(stream_id(index));
        self.streams.iter().find(|stream| stream.id == id)
    }
}

/// The version of a table whose shape may be another.
#[derive(Deserialize)]
struct Versioned {
    version: u32,
}

/// Counts of another shape cost only themselves.
fn datagrams<'de, D: Deserializer<'de>>(from: D) -> Result<Option<DatagramCounts>, D::Error> {
    let raw = Box::<RawValue>::deserialize(from)?;
    Ok(serde_json::from_str(raw.get()).ok())
}

fn telemetry<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Telemetry>, D::Error> {
    let raw = Box::<RawValue>::deserialize(from)?;
    let version = serde_json::from_str(raw.get()).map(|table: Versioned| table.version);
    let known = version.is_ok_and(|version| version == VERSION);
    Ok(known
        .then(|| serde_json::from_str(raw.get()).ok())
        .flatten())
}

fn or_zero<S: Serializer>(value: &Option<f64>, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_f64(value.filter(|value| value.is_finite()).unwrap_or(0.0))
}

fn or_none<S: Serializer>(value: &Option<u64>, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_u64(value.unwrap_or(0))
}

fn or_minus_one<S: Serializer>(value: &Option<u64>, to: S) -> Result<S::Ok, S::Error> {
    let signed = value.and_then(|value| i64::try_from(value).ok());
    to.serialize_i64(signed.unwrap_or(-1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_required_fields_are_written_even_when_unknown() {
        let results = Results {
            streams: vec![StreamResult::default()],
            ..Results::default()
        };
        let json = String::from_utf8(results.to_json()).unwrap();
        for key in [
            "cpu_util_total",
            "cpu_util_user",
            "cpu_util_system",
            "sender_has_retransmits",
            "id",
            "bytes",
            "retransmits",
            "jitter",
            "errors",
            "packets",
        ] {
            assert!(json.contains(&format!("\"{key}\":")), "{key} in {json}");
        }
        assert!(json.contains("\"retransmits\":-1"), "{json}");
    }

    #[test]
    fn debian_results_with_unsigned_minus_one_are_read() {
        let json = br#"{"cpu_util_total":1.5,"cpu_util_user":0.5,"cpu_util_system":1,
            "sender_has_retransmits":18446744073709551615,"congestion_used":"cubic",
            "streams":[{"id":1,"bytes":1250000000,"retransmits":18446744073709551615,
            "jitter":0,"errors":0,"packets":0,"start_time":0,"end_time":1.000123}]}"#;
        let results = Results::from_json(json).unwrap();
        assert_eq!(results.sender_has_retransmits, None);
        let stream = results.stream(0).unwrap();
        assert_eq!(stream.bytes, 1_250_000_000);
        assert_eq!(stream.retransmits, None);
        assert_eq!(stream.end_time, Some(1.000_123));
    }

    #[test]
    fn floats_and_missing_optional_fields_are_read() {
        let json = br#"{"streams":[{"id":3.0,"bytes":1.25e+09}],"server_output_json":{"a":[{}]}}"#;
        let results = Results::from_json(json).unwrap();
        assert_eq!(results.stream(1).unwrap().bytes, 1_250_000_000);
        assert_eq!(results.cpu_util_total, None);
    }

    #[test]
    fn telemetry_of_another_shape_costs_only_itself() {
        let read = |telemetry: &str| {
            let json = format!(r#"{{"streams":[{{"id":1,"bytes":7}}],"trunkline":{telemetry}}}"#);
            Results::from_json(json.as_bytes()).unwrap()
        };
        let known = r#"{"version":1,"columns":["time_us"],"streams":[],"more":{}}"#;
        assert!(read(known).trunkline.is_some());
        for other in [
            r#"{"version":2,"columns":["time_us"],"streams":[]}"#,
            r#"{"version":2,"tables":{}}"#,
            r#"{"version":1,"columns":7}"#,
            r#"[1,2]"#,
            "null",
        ] {
            let results = read(other);
            assert_eq!(
                (results.streams.len(), results.trunkline),
                (1, None),
                "{other}"
            );
        }
    }

    #[test]
    fn negative_bytes_are_refused() {
        let json = br#"{"streams":[{"id":1,"bytes":-1}]}"#;
        let error = Results::from_json(json).unwrap_err();
        assert!(error.to_string().contains("not negative"), "{error}");
    }

    #[test]
    fn what_is_written_reads_back() {
        let results = Results {
            cpu_util_total: Some(12.5),
            cpu_util_user: Some(2.5),
            cpu_util_system: Some(10.0),
            sender_has_retransmits: Some(1),
            congestion_used: Some("cubic".to_owned()),
            streams: vec![StreamResult {
                id: 1,
                bytes: 7,
                retransmits: Some(3),
                jitter: Some(0.0),
                errors: Some(0),
                packets: Some(0),
                start_time: Some(0.0),
                end_time: Some(1.5),
                trunkline: Some(DatagramCounts {
                    dropped: Some(9),
                    tenths: vec![1, 2],
                    ..DatagramCounts::default()
                }),
                ..StreamResult::default()
            }],
            ..Results::default()
        };
        assert_eq!(Results::from_json(&results.to_json()), Ok(results));
    }
}
