//! Tests as kinds of visits.

use std::collections::BTreeMap;

use units::{Family, Rate, Span};

use super::iso::{Bound, bounded, seconds};
use crate::kind::{Kind, RATE};
use crate::read::DURATION;
use crate::schedule::Schedule;
use crate::section::{Field, Findings, Section};

/// What becomes of a test.
pub(super) struct Spec {
    pub kind: Kind,
    pub duration: Span,
    /// The interval of a test that runs all the time there.
    pub continuous: Option<Schedule>,
    pub ip: Option<Family>,
    /// Whether visits go from the second address to the first.
    pub is_turned: bool,
}

/// pScheduler's own durations where a test says none.
const THROUGHPUT: Span = Span::from_secs(10);
const LATENCY: Span = Span::from_secs(10);
/// iperf3's rate of datagrams where a test says none.
const UDP: Rate = Rate::from_bits_per_second(1_000_000);
/// How long `path --quick` may take.
const TRACE: Span = Span::from_secs(30);
/// How often a continuous test is visited.
const CONTINUOUS: Span = Span::from_secs(300);

/// The tests by name, `None` for those without a counterpart.
pub(super) fn specs(root: &Section, found: &mut Findings) -> BTreeMap<String, Option<Spec>> {
    let mut specs = BTreeMap::new();
    for (name, section) in root.named("tests", found) {
        specs.insert(name.to_owned(), spec(&section, found));
    }
    specs
}

fn spec(section: &Section, found: &mut Findings) -> Option<Spec> {
    super::no_counterpart(section, &["type", "spec"], found);
    let kind = section.text("type", found);
    let kind = section.required(
        "type",
        kind,
        "write `throughput`, `rtt`, `trace`, ...",
        found,
    )?;
    let inner = section.section("spec", found);
    let inner = section.required("spec", inner, "write an object, `{}` at the least", found)?;
    inner.once(found);
    let (spec, read): (Spec, &[&str]) = match kind.value {
        "throughput" => (
            throughput(&inner, found)?,
            &["duration", "udp", "bandwidth", "reverse"],
        ),
        "rtt" => (round_trips(&inner, found), &["count", "interval"]),
        "latency" => (visit(Kind::OneWay, LATENCY), &[]),
        "latencybg" => (continuous(&inner, found), &[]),
        "trace" => (visit(Kind::Path, TRACE), &[]),
        other => {
            let shown: String = other.chars().take(60).collect();
            found.notice(
                &kind.place,
                format!("the test `{shown}` has no counterpart"),
            );
            return None;
        }
    };
    for (key, place) in inner.others(&[read, &["source", "dest", "ip-version", "_meta"]].concat()) {
        let text = format!("`{key}` is not used; visits have settings of their own");
        found.notice(&place, text);
    }
    Some(Spec {
        ip: match inner.has("ip-version") {
            true => Some(ip_version(&inner, found)?),
            false => None,
        },
        is_turned: ends(&inner, found) != is_reverse(&inner, kind.value, found),
        ..spec
    })
}

/// 4 or 6, which has to be there.
pub(super) fn ip_version(section: &Section, found: &mut Findings) -> Option<Family> {
    let version = section.number("ip-version", found);
    let version = section.required("ip-version", version, "write 4 or 6", found)?;
    if version == 4.0 {
        return Some(Family::V4);
    }
    if version == 6.0 {
        return Some(Family::V6);
    }
    let problem = format!("{version} is no version of the internet protocol");
    found.refuse(&section.at("ip-version"), problem, "write 4 or 6");
    None
}

/// Whether data go from `dest` to `source`.
fn is_reverse(inner: &Section, kind: &str, found: &mut Findings) -> bool {
    kind == "throughput" && inner.boolean("reverse", found) == Some(true)
}

fn visit(kind: Kind, duration: Span) -> Spec {
    Spec {
        kind,
        duration,
        continuous: None,
        ip: None,
        is_turned: false,
    }
}

fn throughput(inner: &Section, found: &mut Findings) -> Option<Spec> {
    let kind = match inner.boolean("udp", found) {
        Some(true) => Kind::Udp {
            rate: bandwidth(inner, found)?,
        },
        _ => Kind::Throughput,
    };
    if kind == Kind::Throughput && inner.has("bandwidth") {
        let text = "`bandwidth` is not used: visits of TCP send as fast as they can";
        found.notice(&inner.at("bandwidth"), text);
    }
    let duration = match inner.has("duration") {
        true => bounded(&inner.text("duration", found)?, Bound::Duration, found)?,
        false => THROUGHPUT,
    };
    Some(visit(kind, duration))
}

/// A number of bits per second, or a text such as `100M`.
fn bandwidth(inner: &Section, found: &mut Findings) -> Option<Rate> {
    if !inner.has("bandwidth") {
        let text = format!("without `bandwidth`, datagrams are sent at {UDP}");
        found.notice(&inner.place, text);
        return Some(UDP);
    }
    let number = inner.number("bandwidth", &mut Findings::scratch());
    let rate = match number {
        Some(number) => Some(Field {
            value: Rate::from_f64(number),
            place: inner.at("bandwidth"),
        }),
        None => inner.parsed::<Rate>("bandwidth", found),
    };
    Some(rate?.within(RATE, found)?.value)
}

/// `count` packets, one each `interval`: five and a second where nothing is said.
fn round_trips(inner: &Section, found: &mut Findings) -> Spec {
    let count = if inner.has("count") {
        inner.number("count", found)
    } else {
        Some(5.0)
    };
    let interval = match inner.has("interval") {
        true => inner.text("interval", found).and_then(|text| {
            let seconds = seconds(text.value);
            if seconds.is_none() {
                bounded(&text, Bound::Duration, found);
            }
            seconds
        }),
        false => Some(1.0),
    };
    let all = (count.unwrap_or(0.0) * interval.unwrap_or(0.0))
        .ceil()
        .max(1.0);
    let duration = Span::from_secs_f64(all.min(DURATION.end().as_secs_f64()));
    visit(Kind::Ping, duration)
}

fn continuous(inner: &Section, found: &mut Findings) -> Spec {
    let text = format!("runs all the time there; here {LATENCY} each {CONTINUOUS}");
    found.notice(&inner.place, text);
    Spec {
        continuous: Some(Schedule::Every(CONTINUOUS)),
        ..visit(Kind::OneWay, LATENCY)
    }
}

/// Whether the test goes from the second address to the first.
fn ends(inner: &Section, found: &mut Findings) -> bool {
    let mut is_turned = false;
    for (key, usual, turned) in [
        ("source", "address[0]", "address[1]"),
        ("dest", "address[1]", "address[0]"),
    ] {
        let Some(text) = inner.text(key, found) else {
            continue;
        };
        if text.value.contains(turned) {
            is_turned = true;
        } else if !text.value.contains(usual) {
            let shown = units::printable(text.value, 60);
            let message = format!(
                "`{shown}` is no address of the pair; visits go from the first to the second"
            );
            found.notice(&text.place, message);
        }
    }
    is_turned
}
