//! Events in sentences.

use changes::{EventKind, Metric, Moved};
use units::{Rate, Span};
use watch_store::StoredEvent;

/// An event in one line: where, what, how much, why.
pub(super) fn changed(stored: &StoredEvent) -> String {
    let event = &stored.event;
    let place = format!(
        "{} to {} ({})",
        stored.pair.from, stored.pair.to, stored.task
    );
    let what = match (event.kind, event.shifts.first()) {
        (EventKind::NoData, _) => {
            let reasons: Vec<&str> = event.failures.keys().map(String::as_str).collect();
            match reasons[..] {
                [] => "no data".to_owned(),
                _ => format!("no data: {}", reasons.join("; ")),
            }
        }
        (EventKind::Route, None) => "another route, and no figure shows it".to_owned(),
        (kind, Some(moved)) => format!("{}{}", shift(moved), manner(kind)),
        (_, None) => "changed".to_owned(),
    };
    let over = match event.recovered {
        _ if event.is_withdrawn() => ", taken back",
        Some(_) => ", over",
        None => "",
    };
    let cause = event
        .first_cause()
        .map(|cause| format!("; {}", cause.because));
    format!("{place}: {what}{over}{}", cause.unwrap_or_default())
}

fn manner(kind: EventKind) -> &'static str {
    match kind {
        EventKind::Drift => ", over days",
        EventKind::Flapping => ", to and fro",
        EventKind::Step | EventKind::Route | EventKind::NoData => "",
    }
}

/// `goodput 94.0 Mbit/s -> 70.1 Mbit/s`.
fn shift(moved: &Moved) -> String {
    let value = |value: f64| match moved.metric {
        Metric::Goodput => Rate::from_f64(value).human().to_string(),
        Metric::RoundTripMin | Metric::RoundTripMedian => {
            Span::from_secs_f64(value).human().to_string()
        }
        Metric::Loss | Metric::Resent => format!("{:.2} %", value * 100.0),
    };
    let by = match moved.metric {
        Metric::Goodput => format!(" ({:+.0} %)", moved.size * 100.0),
        _ => String::new(),
    };
    format!(
        "{} {} -> {}{by}",
        moved.metric.name(),
        value(moved.before),
        value(moved.after)
    )
}

#[cfg(test)]
mod tests {
    use changes::{End, Event};

    use super::*;

    #[test]
    fn what_was_nothing_is_taken_back_and_not_over() {
        let event = |end: &str| {
            let text = format!(
                r#"{{"id": 0, "revision": 1, "kind": "no-data", "first_visit_unix_seconds": 9,
                    "confirmed_unix_seconds": 9, "failures": {{"no visit was made": 1}}{end}}}"#
            );
            serde_json::from_str::<Event>(&text).unwrap()
        };
        let said = |event| {
            let name = |name: &str| name.parse().unwrap();
            changed(&StoredEvent {
                pair: watch_store::Pair {
                    from: name("a"),
                    to: name("b"),
                },
                task: name("t"),
                event,
            })
        };
        assert_eq!(said(event("")), "a to b (t): no data: no visit was made");
        let mut over = event(r#", "recovered_unix_seconds": 12"#);
        assert!(said(over.clone()).ends_with("no visit was made, over"));
        over.end = Some(End::Withdrawn);
        assert!(said(over).ends_with("no visit was made, taken back"));
    }
}
