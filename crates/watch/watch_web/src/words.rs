//! Values and events in words.

use changes::{
    Delay, Event, EventKind, Metric, Moved, OneWay, SlowestLink, UnixTime, Visit, WayDelay,
};
use draw::format;
use maud::{Markup, html};
use units::{Rate, Span};
use watch_store::Pair;

/// What stands where nothing is known.
pub const ABSENT: &str = "–";

/// A path, each name apart: letters that run from right to left stay within it.
pub fn path(pair: &Pair) -> Markup {
    html! { bdi { (pair.from) } " → " bdi { (pair.to) } }
}

/// `12 min`, `5 h`, `3 d`: a length to one unit.
pub fn length(span: Span) -> String {
    let seconds = span.as_secs_f64();
    match seconds {
        _ if seconds < 90.0 => format!("{seconds:.0} s"),
        _ if seconds < 90.0 * 60.0 => format!("{:.0} min", seconds / 60.0),
        _ if seconds < 48.0 * 3600.0 => format!("{:.0} h", seconds / 3600.0),
        _ => format!("{:.0} days", seconds / 86_400.0),
    }
}

/// `12 min ago`.
pub fn ago(at: UnixTime, now: UnixTime) -> String {
    match at > now {
        true => "just now".to_owned(),
        false => format!("{} ago", length(now.since(at))),
    }
}

/// A rate with its unit.
pub fn rate(rate: Rate) -> String {
    format::rate(rate.bits_per_second())
}

/// A round trip with its unit.
pub fn round_trip(span: Span) -> String {
    format!("{} ms", milliseconds(span))
}

/// A round trip in milliseconds without the unit, to three digits or a hundredth.
pub fn milliseconds(span: Span) -> String {
    let value = span.as_secs_f64() * 1e3;
    match value {
        _ if value < 10.0 => format!("{value:.2}"),
        _ if value < 100.0 => format!("{value:.1}"),
        _ => format!("{value:.0}"),
    }
}

/// A value of a metric, in its unit.
pub fn value(metric: Metric, value: f64) -> String {
    match metric {
        Metric::Goodput => rate(Rate::from_f64(value)),
        Metric::RoundTripMin | Metric::RoundTripMedian => {
            round_trip(Span::from_secs_f64(value.max(0.0)))
        }
        Metric::Loss | Metric::Resent => format::percent(value),
    }
}

/// The size of a shift with its sign: of goodput a share, of the others in their unit.
pub fn size(metric: Metric, size: f64) -> String {
    let sign = if size < 0.0 { "−" } else { "+" };
    let much = size.abs();
    match metric {
        Metric::RoundTripMin | Metric::RoundTripMedian => format!("{sign}{:.1} ms", much * 1e3),
        _ => format!("{sign}{}", format::percent(much)),
    }
}

/// What happened, in some words, by what hurts most: `goodput −21 %`.
pub fn headline(event: &Event) -> String {
    let moved = event.worst();
    let moved =
        moved.map(|moved| format!("{} {}", moved.metric.name(), size(moved.metric, moved.size)));
    match (event.kind, moved) {
        (EventKind::NoData, _) => "no data".to_owned(),
        (EventKind::Route, None) => "another route".to_owned(),
        (EventKind::Route, Some(moved)) => format!("another route, {moved}"),
        (EventKind::Step, moved) => moved.unwrap_or_else(|| "a step".to_owned()),
        (EventKind::Drift, moved) => format!("slow drift: {}", moved.unwrap_or_default()),
        (EventKind::Flapping, moved) => format!("to and fro: {}", moved.unwrap_or_default()),
    }
}

/// Whether what hurts most is for the worse: less goodput, or more of anything else. A new route
/// is neither.
pub fn is_worse(event: &Event) -> bool {
    let worse = event.worst().is_some_and(Moved::is_worse);
    worse || matches!(event.kind, EventKind::NoData | EventKind::Flapping)
}

/// Its likeliest cause, in words; empty where there is none.
pub fn cause(event: &Event) -> String {
    let reasons = event.failures.iter().max_by_key(|(_, count)| **count);
    match (event.first_cause(), reasons) {
        (Some(cause), _) => cause.because.clone(),
        (None, Some((reason, _))) => reason.clone(),
        (None, None) => String::new(),
    }
}

/// What a visit showed, in one line.
pub fn visit(visit: &Visit) -> String {
    if let Some(failure) = &visit.failure {
        return format!("failed: {}", failure.reason);
    }
    let trips = visit.round_trips.as_ref();
    let loss = visit.probes.and_then(|probes| probes.loss());
    let slowest = visit.slowest_link.and_then(SlowestLink::at_least);
    let parts = [
        visit.goodput.map(rate),
        trips.map(|trips| round_trip(trips.median())),
        loss.filter(|loss| *loss > 0.0)
            .map(|loss| format!("{} lost", format::percent(loss))),
        visit
            .jitter
            .map(|jitter| format!("jitter {}", round_trip(jitter))),
        visit.one_way.as_ref().map(both_ways),
        slowest.map(|least| format!("slowest link \u{2265} {}", rate(least))),
    ];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    parts.join(", ")
}

/// `12.1 ms there, 14.2 ms back, each ± 0.4 ms`.
fn both_ways(both: &OneWay) -> String {
    let way = |way: &WayDelay| way.delay.known().map_or("unknown".to_owned(), round_trip);
    let delays = format!("{} there, {} back", way(&both.forward), way(&both.reverse));
    let ways = [&both.forward, &both.reverse];
    let is_known = ways.iter().any(|way| way.delay.known().is_some());
    match both.clock_error.filter(|_| is_known) {
        Some(error) => format!("{delays}, ± {} of the clocks", round_trip(error)),
        None => delays,
    }
}

/// A delay by the clocks of both hosts, or why it is unknown; loss and variation behind it.
pub fn one_way(way: &WayDelay, clock_error: Option<Span>) -> (String, String) {
    let said = match (way.delay, clock_error) {
        (Delay::Seconds(delay), Some(error)) => {
            format!("{} ± {}", round_trip(delay), round_trip(error))
        }
        (Delay::Seconds(delay), None) => round_trip(delay),
        (Delay::Unknown(_), _) => "unknown".to_owned(),
    };
    let why = match way.delay {
        Delay::Unknown(why) => Some(why.words().to_owned()),
        Delay::Seconds(_) => None,
    };
    let varies = way
        .variation
        .map(|span| format!("varies by {}", round_trip(span)));
    let lost = (way.sent > 0).then(|| format!("{} of {} lost", way.lost, way.sent));
    let parts: Vec<String> = [why, varies, lost].into_iter().flatten().collect();
    (said, format!(", {}", parts.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_have_one_unit() {
        let words = [12, 600, 7200, 400_000].map(|seconds| length(Span::from_secs(seconds)));
        assert_eq!(words, ["12 s", "10 min", "2 h", "5 days"]);
    }

    #[test]
    fn a_size_has_its_sign_and_interval() {
        let moved = Moved {
            metric: Metric::Goodput,
            before: 94e6,
            after: 75e6,
            size: -0.21,
            size_low: Some(-0.23),
            size_high: Some(-0.19),
            strength: 9.0,
            recovered: None,
        };
        assert_eq!(size(moved.metric, moved.size), "−21 %");
        assert_eq!(size(Metric::RoundTripMin, 0.0102), "+10.2 ms");
    }
}
