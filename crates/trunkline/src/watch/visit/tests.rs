use std::sync::atomic::AtomicBool;

use changes::{UnixTime, VisitKind};
use observe::{Fault, StreamCount, Window};

use super::*;

fn order(kind: Kind, setting: Option<Setting>) -> Order<'static> {
    Order {
        kind,
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
