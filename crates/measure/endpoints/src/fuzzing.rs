//! Entry points for fuzz targets (feature `fuzzing`): code that reads others' bytes behind sockets.

use measure_protocol::Telemetry;
use observe::StreamDirection;
use units::Span;

use crate::telemetry;

/// Reads a peer's readings of the stream at position `index` in a test of this length. Returns how
/// many counts of bytes and how many samples of TCP they are.
pub fn read_telemetry(table: &Telemetry, index: u16, length: Span) -> Option<(usize, usize)> {
    let both = [StreamDirection::Sending, StreamDirection::Receiving];
    let mut read = both
        .into_iter()
        .filter_map(|way| telemetry::read(table, index, way));
    let read = read.next()?.fitted(length);
    Some((read.progress.len(), read.tcp.len()))
}
