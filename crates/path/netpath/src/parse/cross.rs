//! The traffic of others.

use std::ops::RangeInclusive;

use units::{Bytes, Rate, Span};

use super::{BUFFER, DELAY_MAX, RATE_MAX, RATE_MIN, congestion_name, kind, within};
use crate::PathError;
use crate::section::{Field, Section};
use crate::spec::{Class, Cross, CrossTraffic, LinkSpec};

/// More kinds of others' traffic than anybody describes by hand.
const GROUPS_MAX: usize = 64;
/// As many as one measurement may have.
const STREAMS: RangeInclusive<i64> = 1..=128;
/// Enough for their sum to be smooth.
const SOURCES: RangeInclusive<i64> = 1..=1000;
/// Shorter than a packet takes, or longer than a run lasts, says something else than what is meant.
const PERIOD: RangeInclusive<Span> = Span::from_micros(10)..=Span::from_secs(3600);
/// From one in a quarter of an hour to a busy server.
const PER_SECOND: RangeInclusive<f64> = 0.001..=100_000.0;
/// From one byte to a data set.
const SIZE: RangeInclusive<Bytes> = Bytes::new(1)..=Bytes::new(1_000_000_000_000);
/// At 1 and below the distribution has no mean; above 10 all transfers are of about one size.
const SHAPE: RangeInclusive<f64> = 1.01..=10.0;

/// All groups of a path with this forward link.
pub(super) fn all(sections: &[Section], forward: &LinkSpec) -> Result<Vec<Cross>, PathError> {
    if let Some(section) = sections.get(GROUPS_MAX) {
        return Err(section.refuse(
            "cross",
            format!(
                "{} groups of cross traffic are more than {GROUPS_MAX}",
                sections.len()
            ),
            "put flows of one kind into one group",
        ));
    }
    let mut load = Rate::ZERO;
    let mut groups = Vec::new();
    for section in sections {
        let group = cross(section)?;
        if let Some(more) = group.traffic.mean_load() {
            load = Rate::from_bits_per_second(load.bits_per_second() + more.bits_per_second());
            check_load(section, &group.traffic, load, forward)?;
        }
        groups.push(group);
    }
    Ok(groups)
}

/// Datagrams at the whole rate leave nothing for the streams that are measured; transfers at the
/// whole rate become more and more without end.
fn check_load(
    section: &Section,
    traffic: &CrossTraffic,
    load: Rate,
    forward: &LinkSpec,
) -> Result<(), PathError> {
    if load < forward.available() {
        return Ok(());
    }
    let beside = match forward.load {
        Some(_) => "what its load leaves of ",
        None => "",
    };
    let (key, hint) = match traffic {
        CrossTraffic::Transfers { .. } => ("per_second", "lower `per_second` or `mean_size`"),
        _ => ("rate", "lower `rate`, `sources` or `on`, or raise `off`"),
    };
    Err(section.refuse(
        key,
        format!(
            "cross traffic of {} on average fills {beside}the forward link of {}",
            load.human(),
            forward.rate
        ),
        hint,
    ))
}

fn cross(section: &Section) -> Result<Cross, PathError> {
    let traffic = match section.has("kind") {
        true => match kind(section, &["streams", "on-off", "transfers"])?.value {
            "streams" => streams(section)?,
            "on-off" => on_off(section)?,
            _ => transfers(section)?,
        },
        false => streams(section)?,
    };
    let congestion = match section.text("congestion")? {
        Some(name) => Some(congestion_name(name)?),
        None => None,
    };
    let extra_delay = match section.quantity("extra_delay")? {
        Some(delay) => within(delay, Span::ZERO..=DELAY_MAX, "a delay", "check its unit")?,
        None => Span::ZERO,
    };
    Ok(Cross {
        traffic,
        congestion,
        class: class(section)?,
        extra_delay,
    })
}

fn streams(section: &Section) -> Result<CrossTraffic, PathError> {
    section.only(&[
        "kind",
        "streams",
        "window",
        "congestion",
        "class",
        "extra_delay",
    ])?;
    Ok(CrossTraffic::Streams {
        streams: count(section, "streams", STREAMS, "a stream count")?,
        window: window(section)?,
    })
}

/// Datagrams have no congestion control, so the field is not known here.
fn on_off(section: &Section) -> Result<CrossTraffic, PathError> {
    section.only(&[
        "kind",
        "sources",
        "rate",
        "on",
        "off",
        "class",
        "extra_delay",
    ])?;
    let rate = section.required("rate", "add the rate of one source, `rate = \"1Mbit/s\"`")?;
    let period = |key, hint| {
        let span = section.required(key, hint)?;
        within(span, PERIOD, "a mean period", "check its unit")
    };
    Ok(CrossTraffic::OnOff {
        sources: count(section, "sources", SOURCES, "a source count")?,
        rate: within(rate, RATE_MIN..=RATE_MAX, "a rate", "check its unit")?,
        on: period("on", "add the mean time of sending, `on = \"500ms\"`")?,
        off: period("off", "add the mean time of silence, `off = \"500ms\"`")?,
    })
}

fn transfers(section: &Section) -> Result<CrossTraffic, PathError> {
    section.only(&[
        "kind",
        "per_second",
        "mean_size",
        "shape",
        "window",
        "congestion",
        "class",
        "extra_delay",
    ])?;
    let mean_size = section.required("mean_size", "add `mean_size = \"50kB\"`")?;
    Ok(CrossTraffic::Transfers {
        per_second: number(
            section,
            "per_second",
            PER_SECOND,
            "a count per second",
            "add `per_second = 10`",
        )?,
        mean_size: within(
            mean_size,
            SIZE,
            "a mean size",
            "web pages are tens of kilobytes",
        )?,
        shape: number(
            section,
            "shape",
            SHAPE,
            "a Pareto shape",
            "web transfers have about 1.2: `shape = 1.2`",
        )?,
        window: window(section)?,
    })
}

fn window(section: &Section) -> Result<Bytes, PathError> {
    let window = section.required("window", "add `window = \"64KiB\"`")?;
    within(window, BUFFER, "a window", "64KiB is a usual size")
}

fn class(section: &Section) -> Result<Class, PathError> {
    let Some(name) = section.text("class")? else {
        return Ok(Class::default());
    };
    name.value.parse().map_err(|error| {
        let names = Class::ALL.map(Class::name).join(", ");
        name.refuse(format!("{error}"), format!("known classes: {names}"))
    })
}

fn count(
    section: &Section,
    key: &str,
    bound: RangeInclusive<i64>,
    what: &str,
) -> Result<u16, PathError> {
    let count = section.integer(key)?;
    let count = count.ok_or_else(|| section.missing(key, &format!("add `{key} = 5`")))?;
    let hint = match count.value < *bound.start() {
        true => format!("give one of the {key} or more, or leave the whole `[[cross]]` out"),
        false => format!("give fewer {key}"),
    };
    Ok(within(count, bound, what, &hint)? as u16)
}

fn number(
    section: &Section,
    key: &str,
    bound: RangeInclusive<f64>,
    what: &str,
    hint: &str,
) -> Result<f64, PathError> {
    let number: Option<Field<f64>> = section.number(key)?;
    let number = number.ok_or_else(|| section.missing(key, hint))?;
    within(number, bound, what, hint)
}

#[cfg(test)]
mod tests;
