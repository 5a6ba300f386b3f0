//! Queue disciplines.

use units::Bytes;

use super::{kind, within};
use crate::PathError;
use crate::section::{Field, Section};
use crate::spec::{QueueLimit, QueueSpec};

/// A router with more memory for one queue does not exist.
const QUEUE_BYTES_MAX: Bytes = Bytes::from_mib(4096);
/// The same bound for packets of 1500 bytes, roughly.
const QUEUE_PACKETS_MAX: i64 = 3_000_000;

pub(super) fn queue(section: &Section, mtu: u16) -> Result<QueueSpec, PathError> {
    section.only(&["kind", "limit"])?;
    let kind = kind(section, &["drop-tail"])?;
    debug_assert_eq!(kind.value, "drop-tail");
    let limit = section.text("limit")?.ok_or_else(|| {
        section.missing(
            "limit",
            "say `limit = \"128KiB\"` or `limit = \"100packets\"`",
        )
    })?;
    let limit = match limit.value.trim_end().strip_suffix("packets") {
        Some(count) => QueueLimit::Packets(queue_packets(&limit, count)?),
        None => QueueLimit::Bytes(queue_bytes(section, mtu)?),
    };
    Ok(QueueSpec::DropTail(limit))
}

fn queue_packets(limit: &Field<&str>, count: &str) -> Result<u32, PathError> {
    let packets: i64 = count.trim().parse().map_err(|_| {
        limit.refuse(
            format!("`{}` is not a number of packets", limit.value),
            "write it like `100packets`".to_owned(),
        )
    })?;
    if !(1..=QUEUE_PACKETS_MAX).contains(&packets) {
        return Err(limit.refuse(
            format!(
                "a queue of {packets} packets is not between 1 and {QUEUE_PACKETS_MAX} packets"
            ),
            "one bandwidth-delay product is a usual size".to_owned(),
        ));
    }
    Ok(packets as u32)
}

fn queue_bytes(section: &Section, mtu: u16) -> Result<Bytes, PathError> {
    let limit: Field<Bytes> = section.required("limit", "say `limit = \"128KiB\"`")?;
    let packet = Bytes::new(u64::from(mtu));
    if limit.value < packet {
        return Err(limit.refuse(
            format!("a {packet} packet cannot pass a {} queue", limit.value),
            format!("raise `limit` to {packet} or more, or lower `hosts.mtu`"),
        ));
    }
    let bound = Bytes::ZERO..=QUEUE_BYTES_MAX;
    within(
        limit,
        bound,
        "a queue",
        "one bandwidth-delay product is a usual size",
    )
}
