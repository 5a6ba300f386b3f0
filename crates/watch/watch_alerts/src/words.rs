//! The sentences of notifications.

use changes::{End, Event, EventKind, Metric, Moved, UnixTime};
use jiff::Timestamp;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use units::{Rate, Span, printable};
use watch_store::{SilentHost, StoredEvent};

/// Longest text from elsewhere that a sentence takes over, in characters.
const LONGEST: usize = 200;

/// A point in time as `2026-11-24 18:00 UTC`.
pub(crate) fn time(at: UnixTime) -> String {
    let stamp = stamp(at);
    stamp.strftime("%Y-%m-%d %H:%M UTC").to_string()
}

/// A point in time of RFC 3339.
pub(crate) fn rfc3339(at: UnixTime) -> String {
    stamp(at).to_string()
}

fn stamp(at: UnixTime) -> Timestamp {
    let seconds = i64::try_from(at.seconds()).ok();
    let stamp = seconds.and_then(|seconds| Timestamp::from_second(seconds).ok());
    stamp.unwrap_or(Timestamp::MAX)
}

/// What happened to a pair, as the beginning of a sentence.
pub(crate) fn headline(stored: &StoredEvent) -> String {
    let (event, pair) = (&stored.event, &stored.pair);
    match (event.kind, event.worst()) {
        (EventKind::NoData, _) => format!("No data from {pair}"),
        (EventKind::Route, _) | (_, None) => format!("Packets from {pair} take another route"),
        (kind, Some(moved)) => {
            let name = capitalised(moved.metric.name());
            let turns = turns(kind, moved);
            let values = values(moved);
            format!("{name} from {pair} {turns}, {values}")
        }
    }
}

/// What changed, without the pair.
pub(crate) fn what(event: &Event) -> String {
    match (event.kind, event.worst()) {
        (EventKind::NoData, _) => match reason(event) {
            Some(reason) => format!("no data ({reason})"),
            None => "no data".to_owned(),
        },
        (EventKind::Route, _) | (_, None) => "another route".to_owned(),
        (kind, Some(moved)) => {
            let turns = turns(kind, moved);
            format!("{} {turns}, {}", moved.metric.name(), values(moved))
        }
    }
}

/// How an incident ended, as the beginning of a sentence.
pub(crate) fn ended<'a>(
    mut events: impl Iterator<Item = &'a Event> + Clone,
    recovered: Option<UnixTime>,
) -> String {
    let since = recovered.map_or_else(String::new, |at| format!(" since {}", time(at)));
    if events.clone().all(Event::is_withdrawn) {
        return "Withdrawn, later visits explain it".to_owned();
    }
    match events.any(|event| event.end == Some(End::Usual)) {
        true => format!("The usual state{since}, after four weeks"),
        false => format!("Over{since}"),
    }
}

/// Silent hosts, as the beginning of a sentence.
pub(crate) fn hosts(hosts: &[SilentHost]) -> String {
    match hosts {
        [host] => {
            let name = &host.name;
            match (host.sends_nothing, host.is_not_reached) {
                (true, true) => format!("Host {name} sends nothing and is not reached"),
                (true, false) => format!("Host {name} sends nothing"),
                _ => format!("Host {name} is not reached"),
            }
        }
        hosts => {
            let names = hosts.iter().take(10).map(|one| one.name.to_string());
            let names: Vec<String> = names.collect();
            format!("{} hosts have no data: {}", hosts.len(), names.join(", "))
        }
    }
}

/// Why most visits failed.
pub(crate) fn reason(event: &Event) -> Option<String> {
    let most = event.failures.iter().max_by_key(|(_, count)| **count)?;
    Some(clean(most.0))
}

/// Larger for what matters more, within one severity: the share of goodput that is lost, or the
/// strength of another shift.
pub(crate) fn size(event: &Event) -> f64 {
    match event.worst() {
        Some(moved) if moved.metric == Metric::Goodput => 1e6 * -moved.size,
        Some(moved) => moved.strength.abs(),
        None => f64::INFINITY,
    }
}

fn turns(kind: EventKind, moved: &Moved) -> String {
    let by = match moved.metric {
        Metric::Goodput => format!("{:.0} %", 100.0 * moved.size.abs()),
        metric => value(metric, moved.size.abs()),
    };
    let grows = moved.size > 0.0;
    match (kind, grows) {
        (EventKind::Flapping, _) => format!("goes to and fro by {by}"),
        (EventKind::Drift, true) => format!("drifts up by {by}"),
        (EventKind::Drift, false) => format!("drifts down by {by}"),
        (_, true) => format!("grew by {by}"),
        (_, false) => format!("fell by {by}"),
    }
}

fn values(moved: &Moved) -> String {
    let (before, after) = (moved.before, moved.after);
    format!(
        "{} -> {}",
        value(moved.metric, before),
        value(moved.metric, after)
    )
}

fn value(metric: Metric, value: f64) -> String {
    match metric {
        Metric::Goodput => Rate::from_f64(value).human(),
        Metric::RoundTripMin | Metric::RoundTripMedian => Span::from_secs_f64(value).human(),
        Metric::Loss | Metric::Resent => match 100.0 * value {
            small if small != 0.0 && small < 0.1 => format!("{small:.3} %"),
            percent => format!("{percent:.1} %"),
        },
    }
}

/// A text from elsewhere on one line of bounded length.
pub(crate) fn clean(text: &str) -> String {
    printable(&text.replace(char::is_whitespace, " "), LONGEST)
}

fn capitalised(text: &str) -> String {
    let mut rest = text.chars();
    let first = rest.next().map(|first| first.to_ascii_uppercase());
    first.into_iter().chain(rest).collect()
}

/// A headline after a colon.
pub(crate) fn in_sentence(headline: &str) -> String {
    let mut rest = headline.chars();
    let first = rest.next().map(|first| first.to_ascii_lowercase());
    first.into_iter().chain(rest).collect()
}

/// Everything but letters, digits and what RFC 3986 (section 2.3) leaves unreserved.
const RESERVED: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'.')
    .remove(b'_')
    .remove(b'~');

/// The page of the incident that an event is of: `BASE/incident/TASK/FROM/TO/NUMBER`, as the pages
/// of a watch have it.
pub(crate) fn link(base: &str, stored: &StoredEvent) -> String {
    let parts = [&stored.task, &stored.pair.from, &stored.pair.to];
    let parts = parts.map(|name| segment(name.as_str())).join("/");
    format!("{base}/incident/{parts}/{}", stored.event.id)
}

/// A name as one segment of a path. Browsers take `.` and `..` as steps, even encoded: such names,
/// and those that begin with the mark, have the mark `~` in front.
fn segment(name: &str) -> String {
    let mark = match matches!(name, "." | "..") || name.starts_with('~') {
        true => "~",
        false => "",
    };
    format!("{mark}{}", utf8_percent_encode(name, RESERVED))
}

#[cfg(test)]
mod tests;
