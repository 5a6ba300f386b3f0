//! Doors for fuzz targets alone (feature `fuzzing`): what reads others' bytes behind sockets.

use std::net::TcpStream;

use observe::StreamDirection;
use units::Span;
use wire::{EchoToken, Telemetry};

use crate::copying::Channel;
use crate::flow::quoted;
use crate::probe::icmp::{self, Family};
use crate::telemetry;

/// A stream of a copy in the clear over a connection of any kind.
pub fn plain_channel(socket: TcpStream) -> Channel {
    Channel::plain(socket)
}

/// The number of our echo request that a router quotes, from its ICMP header on.
pub fn quoted_echo(
    is_v6: bool,
    token: EchoToken,
    identifier: Option<u16>,
    quotation: &[u8],
    latest: u64,
) -> Option<u64> {
    quoted(family(is_v6), token, identifier, quotation, latest)
}

/// The number of our echo request that this packet answers.
pub fn read_icmp_answer(is_v6: bool, token: EchoToken, packet: &[u8]) -> Option<u64> {
    icmp::answer(family(is_v6), token, packet)
}

/// Reads a peer's readings of the stream at position `index` in a test of this length. Returns how many counts of bytes and
/// how many samples of TCP they are.
pub fn read_telemetry(table: &Telemetry, index: u16, length: Span) -> Option<(usize, usize)> {
    let both = [StreamDirection::Sending, StreamDirection::Receiving];
    let mut read = both
        .into_iter()
        .filter_map(|way| telemetry::read(table, index, way));
    let read = read.next()?.fitted(length);
    Some((read.progress.len(), read.tcp.len()))
}

fn family(is_v6: bool) -> Family {
    match is_v6 {
        true => Family::V6,
        false => Family::V4,
    }
}
