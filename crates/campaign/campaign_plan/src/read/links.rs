//! The links of a plan.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use units::{Dscp, Family, Rate, RateLimit, RateSchedule, Span};
use watch_plan::Quiet;
use watch_plan::section::{Findings, Section, parse};

use crate::model::{Gentle, Link};
use crate::names::LinkName;

/// Copies at a time of a link that says nothing: while one lists its files and closes its last
/// ones, the other one sends.
const COPIES: u16 = 2;
const COPIES_MAX: u32 = 256;
const STREAMS_MAX: u32 = 4_096;
/// The bounds of `trunkline copy --gentle`, and what it means alone.
const ADDED: RangeInclusive<Span> = Span::from_millis(1)..=Span::from_secs(1);
const ADDED_DEFAULT: Span = Span::from_millis(10);
/// The bounds of `trunkline copy --max-rate`.
const RATES: RangeInclusive<Rate> =
    Rate::from_bits_per_second(64_000)..=Rate::from_bits_per_second(1_000_000_000_000);

const KEYS: [&str; 7] = ["rate", "copies", "streams", "quiet", "gentle", "ip", "dscp"];

/// A link without bounds.
pub(super) fn unbounded() -> Link {
    Link {
        rate: None,
        copies: COPIES,
        streams: None,
        quiet: Vec::new(),
        gentle: Gentle::No,
        ip: None,
        dscp: None,
    }
}

pub(super) fn links(root: &Section, found: &mut Findings) -> BTreeMap<LinkName, Link> {
    let mut links = BTreeMap::new();
    for (name, section) in root.named("links", found) {
        section.only(&KEYS, found);
        let name = parse::<LinkName>(name, &section.place, found);
        let link = link(&section, found);
        if let Some(name) = name {
            links.insert(name, link);
        }
    }
    links
}

fn link(section: &Section, found: &mut Findings) -> Link {
    let copies = count(section, "copies", 1..=COPIES_MAX, found);
    let copies = copies.and_then(|count| u16::try_from(count).ok());
    let copies = copies.unwrap_or(COPIES);
    let streams = count(section, "streams", 1..=STREAMS_MAX, found);
    let streams = streams.and_then(|count| u16::try_from(count).ok());
    if let Some(streams) = streams.filter(|streams| *streams < copies) {
        let problem = format!("{streams} streams are fewer than {copies} copies");
        let hint = format!("each copy has one at least: write {copies} or more, or fewer `copies`");
        found.refuse(&section.at("streams"), problem, hint);
    }
    Link {
        rate: rate(section, found),
        copies,
        streams,
        quiet: quiet(section, found),
        gentle: gentle(section, found),
        ip: family(section, found),
        dscp: section.parsed::<Dscp>("dscp", found).map(|dscp| dscp.value),
    }
}

/// One for all times, or `08:00=50M,18:00=none`.
fn rate(section: &Section, found: &mut Findings) -> Option<RateLimit> {
    let text = section.has("rate").then(|| section.text("rate", found))??;
    if !text.value.contains('=') {
        let rate = section.parsed::<Rate>("rate", found)?;
        let rate = rate.within(RATES, found)?;
        return Some(RateLimit::Always(rate.value));
    }
    let within = |text: &str| {
        let rate = text.parse::<Rate>().map_err(|error| error.to_string())?;
        let (low, high) = (RATES.start().to_string(), RATES.end().to_string());
        match RATES.contains(&rate) {
            true => Ok(rate),
            false => Err(format!(
                "{rate} is not between {low} and {high}; write {low} to {high}"
            )),
        }
    };
    let read = RateSchedule::read(text.value, &within);
    read.map(RateLimit::ByClock)
        .map_err(|refusal| {
            let usual = "write it like `08:00=50M,18:00=none`";
            let (problem, hint) = refusal.split_once("; ").unwrap_or((&refusal, usual));
            found.refuse(&text.place, problem.to_owned(), hint);
        })
        .ok()
}

fn family(section: &Section, found: &mut Findings) -> Option<Family> {
    let text = section.has("ip").then(|| section.text("ip", found))??;
    match text.value {
        "4" => Some(Family::V4),
        "6" => Some(Family::V6),
        other => {
            let shown = units::printable(other, 60);
            let problem = format!("`{shown}` is no version of the internet protocol");
            found.refuse(&text.place, problem, "write \"4\" or \"6\"");
            None
        }
    }
}

fn quiet(section: &Section, found: &mut Findings) -> Vec<Quiet> {
    if !section.has("quiet") {
        return Vec::new();
    }
    let texts = section.texts("quiet", found).unwrap_or_default();
    let quiet = texts
        .iter()
        .filter_map(|text| parse::<Quiet>(text.value, &text.place, found));
    quiet.collect()
}

/// `true`, `false`, or the round trip that may be added.
fn gentle(section: &Section, found: &mut Findings) -> Gentle {
    if !section.has("gentle") {
        return Gentle::No;
    }
    let mut as_boolean = Findings::scratch();
    match section.boolean("gentle", &mut as_boolean) {
        Some(true) => Gentle::Adding(ADDED_DEFAULT),
        Some(false) => Gentle::No,
        None => {
            let span = section.parsed::<Span>("gentle", found);
            let span = span.and_then(|span| span.within(ADDED, found));
            span.map_or(Gentle::No, |span| Gentle::Adding(span.value))
        }
    }
}

/// A whole number within a bound.
pub(super) fn count(
    section: &Section,
    key: &str,
    bound: RangeInclusive<u32>,
    found: &mut Findings,
) -> Option<u32> {
    let number = section.number(key, found)?;
    let is_whole = number.fract() == 0.0;
    let fits = is_whole && number >= f64::from(*bound.start()) && number <= f64::from(*bound.end());
    if !fits {
        let (low, high) = (bound.start(), bound.end());
        let problem = format!("{number} is not a whole number between {low} and {high}");
        found.refuse(&section.at(key), problem, format!("write {low} to {high}"));
        return None;
    }
    Some(number as u32)
}
