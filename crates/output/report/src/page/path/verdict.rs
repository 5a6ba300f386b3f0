//! What a path comes down to, in one or two sentences.

use record::Characteristics;
use record::characteristics::{Load, Way};

use super::ms;
use crate::text;
use draw::format;

/// What this path is, and what limits a stream on it.
pub fn verdict(body: &Characteristics) -> String {
    format!("{} {}", what(body), limits(&body.loads))
}

/// `A path of 45.0 Mbit/s and 165 ms: 928 kB are under way where it is full.`
fn what(body: &Characteristics) -> String {
    let series = body.round_trips.as_ref().map(|seen| &seen.series);
    let rtt = series.and_then(|series| series.min_seconds);
    let rate = |way: Way| {
        let of_way = body.capacities.iter().find(|capacity| capacity.way == way);
        of_way.map(|capacity| capacity.rate.bits_per_second())
    };
    let rate = rate(Way::Forward).or_else(|| rate(Way::Reverse));
    match (rate, rtt) {
        (Some(rate), Some(rtt)) => format!(
            "A path of {} and {}: {} are under way where it is full.",
            format::rate(rate),
            ms(rtt),
            format::size((rate as f64 * rtt / 8.0) as u64)
        ),
        (Some(rate), None) => format!("A path of {}.", format::rate(rate)),
        (None, Some(rtt)) => format!("A path of {}, {}.", ms(rtt), hops(body)),
        (None, None) => {
            "Neither round trips nor capacity of this path could be measured.".to_owned()
        }
    }
}

fn hops(body: &Characteristics) -> String {
    let reached = body.traces.iter().filter(|trace| trace.reached);
    let count = reached.map(|trace| trace.hops.len()).max();
    count.map_or("its hops unknown".to_owned(), |count| {
        text::count(count as u64, "hop")
    })
}

/// Each direction with its own limit, or one for both.
fn limits(loads: &[Load]) -> String {
    let Some(first) = loads.first() else {
        return "What limits a stream was not measured.".to_owned();
    };
    let goodput = |load: &Load| {
        let rate = format::rate(load.one.goodput_bits_per_second);
        format!("{rate} {}", load.way.name())
    };
    let limit = |load: &Load| {
        let limit = load.one.limit().map(text::limit);
        limit.map_or(String::new(), |limit| format!(", limited by {limit}"))
    };
    let all_alike = loads
        .iter()
        .all(|load| load.one.limit() == first.one.limit());
    let part = |load: &Load| match all_alike {
        true => goodput(load),
        false => format!("{}{}", goodput(load), limit(load)),
    };
    let parts: Vec<String> = loads.iter().map(part).collect();
    let common = match all_alike {
        true => limit(first),
        false => String::new(),
    };
    format!("One stream gets {}{common}.", parts.join(" and "))
}

#[cfg(test)]
mod tests {
    use record::synthetic;

    use super::*;

    #[test]
    fn a_path_is_told_by_rate_round_trip_and_limit() {
        let mut body = synthetic::characteristics().body;
        body.loads[0].one.verdict.as_mut().unwrap().limit = record::Limit::Loss;
        let text = verdict(&body);
        assert!(
            text.starts_with("A path of ") && text.contains(" are under way"),
            "{text}"
        );
        assert!(
            text.contains("One stream gets ") && text.contains("limited by"),
            "{text}"
        );
    }

    #[test]
    fn what_was_not_measured_is_said() {
        let mut body = synthetic::characteristics().body;
        body.loads.clear();
        body.capacities.clear();
        let text = verdict(&body);
        assert!(
            text.ends_with("What limits a stream was not measured."),
            "{text}"
        );
        assert!(text.contains("hop"), "{text}");
        body.round_trips = None;
        assert!(verdict(&body).starts_with("Neither round trips nor capacity"));
    }
}
