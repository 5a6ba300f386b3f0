//! The time series a trunkline end adds to its results.

use serde::{Deserialize, Serialize};

use crate::iperf3::extension::VERSION;

/// Samples of all streams of one end: a table per stream with one shared header.
///
/// Columns are named so that a reader takes those it knows and a writer may add more; a cell that
/// could not be measured is `null`. Times count from the moment the end started its streams.
///
/// ```
/// use measure_protocol::{Role, StreamTelemetry, Telemetry};
/// let mut telemetry = Telemetry::new(vec!["time_us".into(), "bytes".into()]);
/// telemetry.streams.push(StreamTelemetry {
///     id: 1,
///     role: Role::Receiver,
///     send_buffer: None,
///     receive_buffer: Some(131_072),
///     rows: vec![vec![Some(100_000), Some(1_250_000)]],
/// });
/// assert_eq!(telemetry.column("bytes"), Some(1));
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Telemetry {
    /// Version of this table.
    pub version: u32,
    /// What the cells of each row are, with their unit in the name.
    pub columns: Vec<String>,
    /// One table per stream, in the order in which they were opened.
    pub streams: Vec<StreamTelemetry>,
}

/// What an end does on a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// It sends.
    Sender,
    /// It receives.
    Receiver,
}

/// The samples of one stream.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StreamTelemetry {
    /// Number of the stream, see [`crate::stream_id`].
    pub id: u32,
    /// What this end did on it.
    pub role: Role,
    /// `SO_SNDBUF` as granted, in bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub send_buffer: Option<u64>,
    /// `SO_RCVBUF` as granted, in bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub receive_buffer: Option<u64>,
    /// One row per sample, as long as the header.
    pub rows: Vec<Vec<Option<u64>>>,
}

impl Telemetry {
    /// An empty table with this header.
    pub fn new(columns: Vec<String>) -> Self {
        Telemetry {
            version: VERSION,
            columns,
            streams: Vec::new(),
        }
    }

    /// Position of a column.
    pub fn column(&self, name: &str) -> Option<usize> {
        self.columns.iter().position(|column| column == name)
    }

    /// Keeps at most `cells` cells by leaving out samples evenly; each stream keeps its last row.
    pub fn thin(&mut self, cells: usize) {
        let rows: usize = self.streams.iter().map(|stream| stream.rows.len()).sum();
        let held = rows.saturating_mul(self.columns.len());
        let step = held.div_ceil(cells.max(1)).max(1);
        for stream in &mut self.streams {
            let mut from_end = stream.rows.len();
            stream.rows.retain(|_| {
                from_end -= 1;
                from_end.is_multiple_of(step)
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn telemetry(rows: u64) -> Telemetry {
        let mut telemetry = Telemetry::new(vec!["time_us".to_owned()]);
        telemetry.streams.push(StreamTelemetry {
            id: 1,
            role: Role::Sender,
            send_buffer: None,
            receive_buffer: None,
            rows: (0..rows).map(|row| vec![Some(row)]).collect(),
        });
        telemetry
    }

    #[test]
    fn a_table_within_the_bound_is_left_alone() {
        let mut table = telemetry(10);
        table.thin(10);
        assert_eq!(table, telemetry(10));
    }

    #[test]
    fn a_long_table_is_thinned_and_keeps_its_end() {
        let mut table = telemetry(10);
        table.thin(4);
        let kept: Vec<_> = table.streams[0].rows.iter().map(|row| row[0]).collect();
        assert_eq!(kept, [Some(0), Some(3), Some(6), Some(9)]);
    }

    #[test]
    fn missing_cells_are_null() {
        let mut table = telemetry(1);
        table.streams[0].rows = vec![vec![None]];
        let json = serde_json::to_string(&table).unwrap();
        assert!(json.contains("[[null]]"), "{json}");
        assert_eq!(serde_json::from_str::<Telemetry>(&json).unwrap(), table);
    }
}
