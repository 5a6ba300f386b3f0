//! The hosts at the ends.

use std::ops::RangeInclusive;

use super::{BUFFER, congestion_name, within};
use crate::PathError;
use crate::section::Section;
use crate::spec::{BufferMaxima, Hosts};

/// RFC 791: every host takes packets of 576 bytes; an IPv4 packet ends at 65,535.
pub(super) const MTU: RangeInclusive<i64> = 576..=65_535;

const SEND: &str = "send_buffer_max";
const RECEIVE: &str = "receive_buffer_max";

pub(super) fn hosts(section: &Section) -> Result<Hosts, PathError> {
    let known = ["mtu", "congestion", "ecn", "ipv6", SEND, RECEIVE, "far"];
    section.only(&known)?;
    let default = Hosts::default();
    let near = buffers(section, default.near())?;
    let mtu = match section.integer("mtu")? {
        Some(mtu) => within(mtu, MTU, "an MTU", "Ethernet has 1500, jumbo frames 9000")? as u16,
        None => default.mtu,
    };
    let congestion = match section.text("congestion")? {
        Some(name) => congestion_name(name)?,
        None => default.congestion,
    };
    let far = section.section("far")?;
    let far = far.map(|far| {
        far.only(&[SEND, RECEIVE])?;
        buffers(&far, near)
    });
    Ok(Hosts {
        mtu,
        congestion,
        send_buffer_max: near.send,
        receive_buffer_max: near.receive,
        far: far.transpose()?,
        ecn: section.boolean("ecn")?.unwrap_or(default.ecn),
        ipv6: section.boolean("ipv6")?.unwrap_or(default.ipv6),
    })
}

/// The MTU where the rest of the table may be wrong; `None` where it is wrong itself.
pub(super) fn mtu_alone(root: &Section) -> Option<u16> {
    let Ok(Some(section)) = root.section("hosts") else {
        return None;
    };
    match section.integer("mtu") {
        Ok(None) => Some(Hosts::default().mtu),
        Ok(Some(mtu)) => u16::try_from(mtu.value)
            .ok()
            .filter(|mtu| MTU.contains(&i64::from(*mtu))),
        Err(_) => None,
    }
}

fn buffers(section: &Section, default: BufferMaxima) -> Result<BufferMaxima, PathError> {
    let buffer = |key, default| match section.quantity(key)? {
        Some(size) => within(size, BUFFER, "a socket buffer", "Linux ships 4MiB and 6MiB"),
        None => Ok(default),
    };
    Ok(BufferMaxima {
        send: buffer(SEND, default.send)?,
        receive: buffer(RECEIVE, default.receive)?,
    })
}
