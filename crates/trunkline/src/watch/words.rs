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
    let over = event.recovered.map(|_| ", over again");
    let cause = event
        .first_cause()
        .map(|cause| format!("; {}", cause.because));
    format!(
        "{place}: {what}{}{}",
        over.unwrap_or_default(),
        cause.unwrap_or_default()
    )
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
