//! From TOML to a checked path.

use toml::de::DeTable;
use units::{Bytes, Rate, Span};

use crate::PathError;
use crate::section::{Field, Section, Source};
use crate::spec::{Cross, Hosts, LinkSpec, Loss, PathSpec, QueueLimit, QueueSpec};

/// Slower than a modem of 1962: surely a slip of the unit.
const RATE_MIN: Rate = Rate::from_bits_per_second(300);
/// Faster than any path that one program can carry packet by packet.
const RATE_MAX: Rate = Rate::from_bits_per_second(1_000_000_000_000);
/// Twice the distance to the Moon and back.
const DELAY_MAX: Span = Span::from_secs(10);
/// A router with more memory for one queue does not exist.
const QUEUE_BYTES_MAX: Bytes = Bytes::from_mib(4096);
/// The same bound for packets of 1500 bytes, roughly.
const QUEUE_PACKETS_MAX: i64 = 3_000_000;
/// RFC 791: every host takes packets of 576 bytes; an IPv4 packet ends at 65,535.
const MTU: std::ops::RangeInclusive<i64> = 576..=65_535;
/// Below one page Linux does not go; above 2 GiB its types end.
const BUFFER: std::ops::RangeInclusive<Bytes> = Bytes::new(4096)..=Bytes::new(i32::MAX as u64);
/// As many as one measurement may have.
const CROSS_STREAMS: std::ops::RangeInclusive<i64> = 1..=128;

pub(crate) fn parse(name: &str, file: &str, text: &str) -> Result<PathSpec, PathError> {
    let source = Source { file, text };
    let root = DeTable::parse(text).map_err(|error| PathError::Syntax {
        file: file.to_owned(),
        line: source.line_of(&error.span().unwrap_or(0..0)),
        message: error.message().to_owned(),
    })?;
    let root = Section::new(source, "", root.span(), root.get_ref());
    root.only(&["forward", "reverse", "hosts", "cross"])?;
    let hosts = match root.section("hosts")? {
        Some(section) => hosts(&section)?,
        None => Hosts::default(),
    };
    let forward =
        root.required_section("forward", "add `[forward]` with `rate`, `delay`, `queue`")?;
    let forward = link(&forward, hosts.mtu)?;
    let reverse = match root.section("reverse")? {
        Some(section) => link(&section, hosts.mtu)?,
        None => LinkSpec {
            loss: Loss::None,
            ..forward.clone()
        },
    };
    let cross = root.sections("cross")?;
    Ok(PathSpec {
        name: name.to_owned(),
        forward,
        reverse,
        hosts,
        cross: cross.iter().map(cross_traffic).collect::<Result<_, _>>()?,
    })
}

fn link(section: &Section, mtu: u16) -> Result<LinkSpec, PathError> {
    section.only(&["rate", "delay", "queue", "loss"])?;
    let rate = section.required("rate", "add `rate = \"45Mbit/s\"`")?;
    let delay = section.required("delay", "add the one-way delay, `delay = \"82.5ms\"`")?;
    let queue = section.required_section(
        "queue",
        "add `queue = { kind = \"drop-tail\", limit = \"128KiB\" }`",
    )?;
    let loss = match section.section("loss")? {
        Some(section) => loss(&section)?,
        None => Loss::None,
    };
    Ok(LinkSpec {
        rate: within(rate, RATE_MIN..=RATE_MAX, "a rate", "check its unit")?,
        delay: within(delay, Span::ZERO..=DELAY_MAX, "a delay", "check its unit")?,
        queue: queue_spec(&queue, mtu)?,
        loss,
    })
}

fn queue_spec(section: &Section, mtu: u16) -> Result<QueueSpec, PathError> {
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

fn loss(section: &Section) -> Result<Loss, PathError> {
    match kind(section, &["random", "gilbert-elliott"])?.value {
        "random" => random_loss(section),
        _ => bursty_loss(section),
    }
}

fn random_loss(section: &Section) -> Result<Loss, PathError> {
    section.only(&["kind", "rate"])?;
    let rate = section.probability("rate")?;
    let rate = rate.ok_or_else(|| section.missing("rate", "write 1 % as `rate = 0.01`"))?;
    match rate.value {
        1.0 => Err(rate.refuse(
            "a link that loses every packet carries nothing".to_owned(),
            "give a rate below 1".to_owned(),
        )),
        rate => Ok(Loss::Random { rate }),
    }
}

fn bursty_loss(section: &Section) -> Result<Loss, PathError> {
    section.only(&["kind", "enter", "leave", "loss_bad", "loss_good"])?;
    let positive = |key: &str, hint: &str| {
        let field = section.probability(key)?;
        let field = field.ok_or_else(|| section.missing(key, hint))?;
        match field.value {
            0.0 => Err(field.refuse(
                format!("`{key}` of 0 never changes the state"),
                hint.to_owned(),
            )),
            value => Ok(value),
        }
    };
    let enter = positive(
        "enter",
        "the probability per packet that a burst begins, like 0.001",
    )?;
    let leave = positive(
        "leave",
        "the probability per packet that a burst ends, like 0.2",
    )?;
    let state = |key, default| Ok(section.probability(key)?.map_or(default, |f| f.value));
    Ok(Loss::GilbertElliott {
        enter,
        leave,
        loss_bad: state("loss_bad", 1.0)?,
        loss_good: state("loss_good", 0.0)?,
    })
}

fn hosts(section: &Section) -> Result<Hosts, PathError> {
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

fn congestion_name(name: Field<&str>) -> Result<String, PathError> {
    let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_' || c == '-';
    // The kernel's TCP_CA_NAME_MAX is 16 with the closing zero.
    if name.value.is_empty() || name.value.len() > 15 || !name.value.chars().all(plain) {
        return Err(name.refuse(
            format!("`{}` is not the name of a congestion control", name.value),
            "kernel names are like `cubic`, `reno`, `bbr`".to_owned(),
        ));
    }
    Ok(name.value.to_owned())
}

fn cross_traffic(section: &Section) -> Result<Cross, PathError> {
    section.only(&["streams", "window"])?;
    let streams = section.integer("streams")?;
    let streams = streams.ok_or_else(|| section.missing("streams", "add `streams = 5`"))?;
    let window = section.required("window", "add `window = \"64KiB\"`")?;
    Ok(Cross {
        streams: within(
            streams,
            CROSS_STREAMS,
            "a stream count",
            "give fewer streams",
        )? as u16,
        window: within(window, BUFFER, "a window", "64KiB is a usual size")?,
    })
}

fn kind<'a>(section: &Section<'a>, known: &[&str]) -> Result<Field<'a, &'a str>, PathError> {
    let names = known.join(", ");
    let kind = section.text("kind")?;
    let kind = kind.ok_or_else(|| section.missing("kind", &format!("known kinds: {names}")))?;
    match known.contains(&kind.value) {
        true => Ok(kind),
        false => Err(kind.refuse(
            format!("`{}` is not a known kind", kind.value),
            format!("known kinds: {names}"),
        )),
    }
}

fn within<T: PartialOrd + Copy + std::fmt::Display>(
    field: Field<T>,
    bound: std::ops::RangeInclusive<T>,
    what: &str,
    hint: &str,
) -> Result<T, PathError> {
    if bound.contains(&field.value) {
        return Ok(field.value);
    }
    let (low, high) = (bound.start(), bound.end());
    let problem = format!("{what} of {} is not between {low} and {high}", field.value);
    Err(field.refuse(problem, hint.to_owned()))
}

#[cfg(test)]
mod tests;
