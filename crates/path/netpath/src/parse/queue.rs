//! Queue disciplines.

use std::ops::RangeInclusive;

use units::{Bytes, Span};

use super::{kind, within};
use crate::PathError;
use crate::section::{Field, Section};
use crate::spec::{Class, CoDelSpec, QueueLimit, QueueSpec, RedSpec, Thresholds, WredSpec};

/// A router with more memory for one queue does not exist.
const QUEUE_BYTES_MAX: Bytes = Bytes::from_mib(4096);
/// The same bound for packets of 1500 bytes, roughly.
const QUEUE_PACKETS: RangeInclusive<i64> = 1..=3_000_000;
/// Below, the clocks that drive a link are too coarse; above, no path is that long.
const WAIT: RangeInclusive<Span> = Span::from_micros(1)..=Span::from_secs(10);
/// With less, a class waits for thousands of packets of others between two of its own.
const SHARE_MIN: f64 = 0.001;

pub(super) fn queue(section: &Section, mtu: u16) -> Result<QueueSpec, PathError> {
    let known = ["drop-tail", "red", "wred", "codel", "strict", "weighted"];
    match kind(section, &known)?.value {
        "drop-tail" => {
            section.only(&["kind", "limit"])?;
            Ok(QueueSpec::DropTail(limit(section, mtu)?))
        }
        "red" => red(section, mtu),
        "wred" => wred(section, mtu),
        "codel" => codel(section, mtu),
        "strict" => {
            section.only(&["kind", "limit"])?;
            let limit = limit(section, mtu)?;
            Ok(QueueSpec::Strict { limit })
        }
        _ => weighted(section, mtu),
    }
}

fn red(section: &Section, mtu: u16) -> Result<QueueSpec, PathError> {
    section.only(&[
        "kind",
        "limit",
        "min",
        "max",
        "probability",
        "weight",
        "gentle",
        "wait",
        "ecn",
    ])?;
    let limit = limit(section, mtu)?;
    let Thresholds {
        min,
        max,
        probability,
    } = thresholds(section, limit, mtu)?;
    Ok(QueueSpec::Red(RedSpec {
        limit,
        min,
        max,
        probability,
        weight: weight(section)?,
        gentle: section.boolean("gentle")?.unwrap_or(RedSpec::GENTLE),
        wait: section.boolean("wait")?.unwrap_or(false),
        ecn: ecn(section)?,
    }))
}

fn wred(section: &Section, mtu: u16) -> Result<QueueSpec, PathError> {
    let [worse, usual, better] = Class::ALL.map(Class::name);
    section.only(&[
        "kind", "limit", worse, usual, better, "weight", "gentle", "rio", "ecn",
    ])?;
    let limit = limit(section, mtu)?;
    let hint = "add `best-effort = { min = \"50packets\", max = \"150packets\" }`";
    let best_effort = section.required_section(usual, hint)?;
    let best_effort = class_thresholds(&best_effort, limit, mtu)?;
    let of_class = |name| match section.section(name)? {
        Some(of_class) => class_thresholds(&of_class, limit, mtu),
        None => Ok(best_effort),
    };
    let (scavenger, priority) = (of_class(worse)?, of_class(better)?);
    if !section.has(worse) && !section.has(better) {
        return Err(section.refuse_whole(
            format!("`{usual}` alone has thresholds, which is what `red` is"),
            "add `scavenger` or `priority` with others, or say `kind = \"red\"`",
        ));
    }
    Ok(QueueSpec::Wred(WredSpec {
        limit,
        scavenger,
        best_effort,
        priority,
        weight: weight(section)?,
        gentle: section.boolean("gentle")?.unwrap_or(false),
        rio: section.boolean("rio")?.unwrap_or(false),
        ecn: ecn(section)?,
    }))
}

fn class_thresholds(
    section: &Section,
    limit: QueueLimit,
    mtu: u16,
) -> Result<Thresholds, PathError> {
    section.only(&["min", "max", "probability"])?;
    thresholds(section, limit, mtu)
}

fn thresholds(section: &Section, limit: QueueLimit, mtu: u16) -> Result<Thresholds, PathError> {
    let min = threshold(section, "min", "add `min = \"50packets\"`")?;
    let max = threshold(section, "max", "add `max = \"150packets\"`")?;
    if min.value >= max.value {
        return Err(max.refuse(
            format!(
                "`max` of {} packets is not above `min` of {} packets",
                max.value, min.value
            ),
            "three times `min` is usual".to_owned(),
        ));
    }
    check_below_limit(&max, limit, mtu)?;
    let usual = RedSpec::PROBABILITY;
    Ok(Thresholds {
        min: min.value,
        max: max.value,
        probability: positive(section, "probability", usual, "0.1 is usual")?,
    })
}

fn weight(section: &Section) -> Result<f64, PathError> {
    let hint = "0.002 follows about 500 packets; 1 is no average at all";
    positive(section, "weight", RedSpec::WEIGHT, hint)
}

/// An average above the limit is never reached: RED would be drop-tail.
fn check_below_limit(max: &Field<u32>, limit: QueueLimit, mtu: u16) -> Result<(), PathError> {
    let packets = max.value;
    let problem = match limit {
        QueueLimit::Packets(limit) if packets > limit => {
            format!("`max` of {packets} packets is above the queue's limit of {limit} packets")
        }
        QueueLimit::Bytes(limit) if Bytes::new(u64::from(mtu)).times(packets.into()) > limit => {
            let mtu = Bytes::new(u64::from(mtu));
            format!("`max` of {packets} packets of {mtu} is above the queue's limit of {limit}")
        }
        _ => return Ok(()),
    };
    let hint = "raise `limit`, twice `max` is usual, or lower `max`";
    Err(max.refuse(problem, hint.to_owned()))
}

fn codel(section: &Section, mtu: u16) -> Result<QueueSpec, PathError> {
    section.only(&["kind", "limit", "target", "interval", "ecn"])?;
    let limit = limit(section, mtu)?;
    let wait = |key, default| match section.quantity(key)? {
        Some(span) => within(
            span,
            WAIT,
            "a wait",
            "RFC 8289 has a target of 5ms and an interval of 100ms",
        ),
        None => Ok(default),
    };
    let target = wait("target", CoDelSpec::TARGET)?;
    let interval = wait("interval", CoDelSpec::INTERVAL)?;
    if target >= interval {
        let key = if section.has("target") {
            "target"
        } else {
            "interval"
        };
        return Err(section.refuse(
            key,
            format!("a target of {target} is not below the interval of {interval}"),
            "RFC 8289: the interval is one round trip, the target 5 to 10 % of it",
        ));
    }
    Ok(QueueSpec::CoDel(CoDelSpec {
        limit,
        target,
        interval,
        ecn: ecn(section)?,
    }))
}

fn weighted(section: &Section, mtu: u16) -> Result<QueueSpec, PathError> {
    section.only(&["kind", "limit", "scavenger", "priority"])?;
    let limit = limit(section, mtu)?;
    let scavenger = share(section, "scavenger", "write 1 % as `scavenger = 0.01`")?;
    let priority = share(section, "priority", "write 30 % as `priority = 0.3`")?;
    let best_effort = 1.0 - scavenger.value - priority.value;
    // A sum of 0.999 is not exact in binary.
    if best_effort < SHARE_MIN * (1.0 - 1e-9) {
        return Err(priority.refuse(
            format!(
                "shares of {} for scavenger and {} for priority leave nothing for best effort",
                scavenger.value, priority.value
            ),
            format!("best effort gets the rest and needs {SHARE_MIN} or more"),
        ));
    }
    Ok(QueueSpec::Weighted {
        limit,
        scavenger: scavenger.value,
        priority: priority.value,
    })
}

fn share<'a>(section: &Section<'a>, key: &'a str, hint: &str) -> Result<Field<'a, f64>, PathError> {
    let share = section.number(key)?;
    let share = share.ok_or_else(|| section.missing(key, hint))?;
    let value = share.value;
    match (SHARE_MIN..1.0).contains(&value) {
        true => Ok(share),
        false => Err(share.refuse(
            format!("a share of {value} is not between {SHARE_MIN} and 1"),
            hint.to_owned(),
        )),
    }
}

fn ecn(section: &Section) -> Result<bool, PathError> {
    Ok(section.boolean("ecn")?.unwrap_or(false))
}

/// A probability or weight that may not be zero.
fn positive(section: &Section, key: &str, default: f64, hint: &str) -> Result<f64, PathError> {
    match section.probability(key)? {
        None => Ok(default),
        Some(field) if field.value > 0.0 => Ok(field.value),
        Some(field) => Err(field.refuse(
            format!("with a `{key}` of 0 the queue never drops early"),
            format!("{hint}; for no early drops say `kind = \"drop-tail\"`"),
        )),
    }
}

fn limit(section: &Section, mtu: u16) -> Result<QueueLimit, PathError> {
    let limit = section.text("limit")?.ok_or_else(|| {
        section.missing(
            "limit",
            "say `limit = \"128KiB\"` or `limit = \"100packets\"`",
        )
    })?;
    match limit.value.trim_end().strip_suffix("packets") {
        Some(count) => Ok(QueueLimit::Packets(packets(
            &limit,
            count,
            "a queue",
            "one bandwidth-delay product is a usual size",
        )?)),
        None if limit.value.trim().parse::<f64>().is_ok() => Err(limit.refuse(
            format!("a limit of `{}` may be bytes or packets", limit.value),
            format!(
                "write `{0}packets`, or with a unit of bytes, like `{0}B` or `{0}KiB`",
                limit.value.trim()
            ),
        )),
        None => Ok(QueueLimit::Bytes(bytes(section, mtu)?)),
    }
}

fn threshold<'a>(
    section: &Section<'a>,
    key: &str,
    hint: &str,
) -> Result<Field<'a, u32>, PathError> {
    let text = section.text(key)?;
    let text = text.ok_or_else(|| section.missing(key, hint))?;
    let count = text.value.trim_end().strip_suffix("packets");
    let count = count.ok_or_else(|| not_packets(&text))?;
    let count = packets(&text, count, "a threshold", "it cannot pass the limit")?;
    Ok(text.with(count))
}

fn packets(text: &Field<&str>, count: &str, what: &str, hint: &str) -> Result<u32, PathError> {
    let packets: i64 = count.trim().parse().map_err(|_| not_packets(text))?;
    let (low, high) = (QUEUE_PACKETS.start(), QUEUE_PACKETS.end());
    match QUEUE_PACKETS.contains(&packets) {
        true => Ok(packets as u32),
        false => Err(text.refuse(
            format!("{what} of {packets} packets is not between {low} and {high} packets"),
            hint.to_owned(),
        )),
    }
}

fn not_packets(text: &Field<&str>) -> PathError {
    text.refuse(
        format!("`{}` is not a number of packets", text.value),
        "write it like `100packets`".to_owned(),
    )
}

fn bytes(section: &Section, mtu: u16) -> Result<Bytes, PathError> {
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

#[cfg(test)]
mod tests;
