use changes::Event;
use watch_store::Pair;

use super::*;

fn moved(metric: Metric, before: f64, after: f64, size: f64) -> Moved {
    Moved {
        metric,
        before,
        after,
        size,
        size_low: None,
        size_high: None,
        strength: 7.0,
        recovered: None,
    }
}

fn stored(kind: EventKind, shifts: Vec<Moved>) -> StoredEvent {
    StoredEvent {
        pair: Pair {
            from: "a".parse().unwrap(),
            to: "b/c".parse().unwrap(),
        },
        task: "~x".parse().unwrap(),
        event: Event {
            id: 3,
            revision: 0,
            kind,
            first_visit: UnixTime::from_seconds(0),
            previous_visit: None,
            confirmed: UnixTime::from_seconds(0),
            recovered: None,
            end: None,
            shifts,
            causes: Vec::new(),
            failures: Default::default(),
        },
    }
}

#[test]
fn each_kind_of_event_has_its_sentence() {
    let goodput = moved(Metric::Goodput, 1e9, 0.8e9, -0.2);
    let trip = moved(Metric::RoundTripMin, 0.165, 0.175, 0.010);
    let loss = moved(Metric::Loss, 0.0, 0.001, 0.001);
    for (kind, shifts, sentence) in [
        (
            EventKind::Step,
            vec![goodput],
            "Goodput from a to b/c fell by 20 %, 1.00 Gbit/s -> 800 Mbit/s",
        ),
        (
            EventKind::Drift,
            vec![goodput],
            "Goodput from a to b/c drifts down by 20 %, 1.00 Gbit/s -> 800 Mbit/s",
        ),
        (
            EventKind::Flapping,
            vec![trip],
            "Minimum round trip from a to b/c goes to and fro by 10.0 ms, 165 ms -> 175 ms",
        ),
        (
            EventKind::Step,
            vec![loss],
            "Loss from a to b/c grew by 0.1 %, 0.0 % -> 0.1 %",
        ),
        // The worse of two, whichever is more conspicuous.
        (
            EventKind::Step,
            vec![loss, trip],
            "Minimum round trip from a to b/c grew by 10.0 ms, 165 ms -> 175 ms",
        ),
        (EventKind::NoData, vec![], "No data from a to b/c"),
        (
            EventKind::Route,
            vec![],
            "Packets from a to b/c take another route",
        ),
    ] {
        assert_eq!(headline(&stored(kind, shifts)), sentence);
    }
}

#[test]
fn links_are_those_of_the_pages() {
    let link = link("https://w", &stored(EventKind::Step, Vec::new()));
    assert_eq!(link, "https://w/incident/~~x/a/b%2Fc/3");
}

#[test]
fn text_from_elsewhere_stays_on_one_short_line() {
    assert_eq!(clean("a\r\nBcc: \u{202e}b"), "a  Bcc: \u{fffd}b");
    assert_eq!(clean(&"x".repeat(5000)).len(), LONGEST);
}

#[test]
fn times_are_those_of_the_calendar() {
    assert_eq!(
        time(UnixTime::from_seconds(1_795_543_200)),
        "2026-11-24 18:00 UTC"
    );
    assert_eq!(rfc3339(UnixTime::from_seconds(0)), "1970-01-01T00:00:00Z");
    // A time beyond the calendar is its end, not an error.
    assert!(time(UnixTime::from_seconds(u64::MAX)).starts_with("9999"));
}
