//! The load of others on a link.

use std::ops::RangeInclusive;

use units::{Bytes, Rate};

use super::{RATE_MAX, RATE_MIN, within};
use crate::PathError;
use crate::section::Section;
use crate::spec::{Arrivals, Load, PacketShare};

/// An IPv4 header and a UDP header: a datagram without data.
const SIZE_MIN: u64 = 28;
/// More sizes than anybody tells apart.
const SIZES_MAX: usize = 16;
/// Below one in a thousand a size hardly ever comes.
const SHARE: RangeInclusive<f64> = 0.001..=1.0;
/// How far from 1 rounded shares may be.
const ROUNDING: f64 = 1e-3;

/// The load of a link with this rate and MTU.
pub(super) fn load(section: &Section, link: Rate, mtu: u16) -> Result<Load, PathError> {
    section.only(&["rate", "arrivals", "packets"])?;
    let rate = section.required("rate", "add the mean rate of others, `rate = \"30Mbit/s\"`")?;
    let rate = within(rate, RATE_MIN..=RATE_MAX, "a load", "check its unit")?;
    if rate >= link {
        return Err(section.refuse(
            "rate",
            format!("a load of {rate} leaves nothing of a link of {link}"),
            "lower it: a run can use only the rate that loads leave free",
        ));
    }
    Ok(Load {
        rate,
        arrivals: arrivals(section)?,
        packets: packets(section, mtu)?,
    })
}

fn arrivals(section: &Section) -> Result<Arrivals, PathError> {
    let Some(name) = section.text("arrivals")? else {
        return Ok(Arrivals::default());
    };
    name.value.parse().map_err(|error| {
        let names = Arrivals::ALL.map(Arrivals::name).join(", ");
        name.refuse(format!("{error}"), format!("known here: {names}"))
    })
}

/// One size, a mix, or nothing, which is packets as large as the link takes.
fn packets(section: &Section, mtu: u16) -> Result<Vec<PacketShare>, PathError> {
    let one = |size| vec![PacketShare { size, share: 1.0 }];
    if section.is_array("packets") {
        return mix(section, mtu);
    }
    match section.has("packets") {
        true => Ok(one(size(section, "packets", mtu)?)),
        false => Ok(one(Bytes::new(mtu.into()))),
    }
}

fn mix(section: &Section, mtu: u16) -> Result<Vec<PacketShare>, PathError> {
    let parts = section.sections("packets")?;
    if parts.is_empty() || parts.len() > SIZES_MAX {
        let problem = format!(
            "a mix of {} sizes is not between 1 and {SIZES_MAX}",
            parts.len()
        );
        return Err(section.refuse("packets", problem, EXAMPLE));
    }
    let mut packets = Vec::new();
    for part in &parts {
        part.only(&["size", "share"])?;
        let share = part.number("share")?;
        let share = share.ok_or_else(|| part.missing("share", EXAMPLE))?;
        packets.push(PacketShare {
            size: size(part, "size", mtu)?,
            share: within(share, SHARE, "a share", EXAMPLE)?,
        });
    }
    let sum: f64 = packets.iter().map(|packet| packet.share).sum();
    if (sum - 1.0).abs() > ROUNDING {
        let problem = format!("the shares of the packets sum to {sum:.3} and not to 1");
        return Err(section.refuse("packets", problem, EXAMPLE));
    }
    for packet in &mut packets {
        packet.share /= sum;
    }
    Ok(packets)
}

const EXAMPLE: &str =
    "write `packets = [{ size = \"40B\", share = 0.5 }, { size = \"1500B\", share = 0.5 }]`";

fn size(section: &Section, key: &str, mtu: u16) -> Result<Bytes, PathError> {
    let size = section.required(key, EXAMPLE)?;
    let bound = Bytes::new(SIZE_MIN)..=Bytes::new(mtu.into());
    let hint = "headers alone have 28 bytes; the link's MTU is the most that fits";
    within(size, bound, "a packet", hint)
}
