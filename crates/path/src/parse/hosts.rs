//! The hosts at the ends.

use std::ops::RangeInclusive;

use super::{BUFFER, congestion_name, within};
use crate::PathError;
use crate::section::Section;
use crate::spec::Hosts;

/// RFC 791: every host takes packets of 576 bytes; an IPv4 packet ends at 65,535.
pub(super) const MTU: RangeInclusive<i64> = 576..=65_535;

pub(super) fn hosts(section: &Section) -> Result<Hosts, PathError> {
    section.only(&["mtu", "congestion", "send_buffer_max", "receive_buffer_max"])?;
    let default = Hosts::default();
    let mtu = match section.integer("mtu")? {
        Some(mtu) => within(mtu, MTU, "an MTU", "Ethernet has 1500, jumbo frames 9000")? as u16,
        None => default.mtu,
    };
    let congestion = match section.text("congestion")? {
        Some(name) => congestion_name(name)?,
        None => default.congestion,
    };
    let buffer = |key, default| match section.quantity(key)? {
        Some(size) => within(size, BUFFER, "a socket buffer", "Linux ships 4MiB and 6MiB"),
        None => Ok(default),
    };
    Ok(Hosts {
        mtu,
        congestion,
        send_buffer_max: buffer("send_buffer_max", default.send_buffer_max)?,
        receive_buffer_max: buffer("receive_buffer_max", default.receive_buffer_max)?,
    })
}
