use std::sync::atomic::AtomicBool;

use changes::{UnixTime, VisitKind};
use observe::{Fault, StreamCount, Window};

use super::*;

fn order(kind: Kind, setting: Option<Setting>) -> Order<'static> {
    Order {
        kind,
        direction: Direction::Forward,
        duration: Span::from_secs(20),
        is_gentle: false,
        rate_max: None,
        setting,
        files: None,
        folder: PathBuf::new(),
    }
}

fn made(order: &Order<'_>) -> Visited {
    let stop = AtomicBool::new(false);
    let mut target = Target::open("sim:slac-cern", 1).unwrap();
    let begun = Visit::new(UnixTime::from_seconds(1_795_543_200), VisitKind::Throughput);
    visit(&mut target, order, begun, &mut Deadline::never(&stop))
}

#[test]
fn a_visit_without_a_setting_searches_for_one_and_the_next_uses_it() {
    let first = made(&order(Kind::Throughput, None));
    let found = first.found.unwrap();
    assert!(found.streams.get() > 1, "{found:?}");
    assert!(first.shown.document.unwrap().contains("trunkline/tune"));
    assert!(first.shown.visit.round_trips.is_some());
    let next = made(&order(Kind::Throughput, Some(found)));
    assert!(next.found.is_none());
    let visit = next.shown.visit;
    assert!(visit.goodput.unwrap().as_f64() > 20e6, "{visit:?}");
    assert!(visit.probes.unwrap().sent >= 19);
    assert!(next.shown.rates.unwrap().len() > 100);
}

#[test]
fn a_budget_bounds_the_rate_over_all_streams() {
    let four = Setting::new(StreamCount::new(4).unwrap(), Window::Auto);
    let bounded = Order {
        rate_max: Some(Rate::from_bits_per_second(8_000_000)),
        ..order(Kind::Throughput, Some(four))
    };
    let visit = made(&bounded).shown.visit;
    let goodput = visit.goodput.unwrap().as_f64();
    assert!((6.5e6..8.1e6).contains(&goodput), "{goodput}");
}

/// Not at one stream either, which alone would take 5 Mbit/s of this path. The first windows of
/// eight streams come unpaced.
#[test]
fn a_search_keeps_to_the_rate_in_each_sample() {
    let bounded = Order {
        rate_max: Some(Rate::from_bits_per_second(2_000_000)),
        is_gentle: true,
        ..order(Kind::Tune, None)
    };
    let visited = made(&bounded);
    let document: serde_json::Value =
        serde_json::from_str(&visited.shown.document.unwrap()).unwrap();
    assert!(document["objective"].to_string().contains("gentle"));
    let samples = document["samples"].as_array().unwrap().iter();
    let rates = samples.map(|sample| sample["goodput_bits_per_second"].as_f64().unwrap());
    let rates: Vec<f64> = rates.collect();
    assert!(rates.len() > 1, "{document:#}");
    assert!(rates.iter().all(|rate| *rate < 2.3e6), "{rates:?}");
    assert_eq!(visited.found.unwrap().pacing, None);
}

/// Nothing answers at an address of the prefix that is discarded (RFC 6666).
#[test]
fn a_host_that_answers_nothing_is_a_visit_that_failed() {
    for kind in [Kind::Ping, Kind::Path] {
        let stop = AtomicBool::new(false);
        let mut target = Target::open("[100::1]:5201", 1).unwrap();
        let begun = Visit::new(UnixTime::from_seconds(1_795_543_200), VisitKind::Path);
        let mut deadline = Deadline::after(Span::from_secs(8), &stop);
        let visit = visit(&mut target, &order(kind, None), begun, &mut deadline)
            .shown
            .visit;
        let why = visit.failure.unwrap().reason;
        assert!(why.contains("answers neither"), "{}: {why}", kind.word());
        assert_eq!(visit.round_trips, None);
    }
}

/// The kernel of a host without a server refuses connections, which is an answer.
#[test]
fn a_host_without_a_server_still_has_round_trips() {
    for kind in [Kind::Ping, Kind::Path] {
        let stop = AtomicBool::new(false);
        let mut target = Target::open("127.0.0.1:9", 1).unwrap();
        let begun = Visit::new(UnixTime::from_seconds(1_795_543_200), VisitKind::Path);
        let mut deadline = Deadline::after(Span::from_secs(8), &stop);
        let visit = visit(&mut target, &order(kind, None), begun, &mut deadline)
            .shown
            .visit;
        assert_eq!(visit.failure, None, "{}", kind.word());
        assert!(visit.round_trips.is_some());
    }
}

#[test]
fn small_packets_are_counted_in_both_sizes() {
    let visit = made(&order(Kind::Ping, None)).shown.visit;
    // Twenty small ones, and ten large ones each way.
    assert_eq!(visit.probes.unwrap().sent, 40);
    assert_eq!(visit.failure, None);
}

#[test]
fn a_copy_without_a_token_says_what_the_plan_lacks() {
    let copy = Kind::Copy {
        size: Bytes::new(1_000),
    };
    let failure = made(&order(copy, None)).shown.visit.failure.unwrap();
    assert!(
        failure.reason.contains("names no token"),
        "{}",
        failure.reason
    );
}

#[test]
fn streams_run_in_what_hops_have_left_of_the_time() {
    let stop = AtomicBool::new(false);
    let of = |duration, left| {
        let deadline = Deadline::after(Span::from_millis(left), &stop);
        running_time(Span::from_secs(duration), &deadline).as_secs_f64()
    };
    assert_eq!(of(20, 19_000), 15.0);
    assert!((12.0..=12.5).contains(&of(20, 15_000)));
    assert_eq!(of(20, 0), 1.0);
    let never = running_time(Span::from_secs(8), &Deadline::never(&stop));
    assert_eq!(never.as_secs_f64(), 4.0);
}

#[test]
fn a_failure_has_the_same_words_for_the_same_reason() {
    let stop = AtomicBool::new(true);
    let error = TargetError {
        fault: Fault::Cancelled,
        what: "cancelled".to_owned(),
        hint: None,
        source: None,
    };
    let order = order(Kind::Ping, None);
    let stopped = failure(&error, &order, &Deadline::never(&stop));
    assert_eq!(stopped, "the agent was stopped during the visit");
    let over = Deadline::after(Span::ZERO, &stop);
    assert_eq!(
        failure(&error, &order, &over),
        "it was not done within 20.0 s"
    );
}
