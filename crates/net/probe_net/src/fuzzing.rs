//! Entry points for fuzz targets (feature `fuzzing`): code that reads others' bytes behind sockets.

use measure_protocol::EchoToken;

use crate::probe_flow::quoted;
use crate::round_trips::icmp::{self, Family};

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

fn family(is_v6: bool) -> Family {
    match is_v6 {
        true => Family::V6,
        false => Family::V4,
    }
}
