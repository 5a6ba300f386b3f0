use std::sync::atomic::AtomicBool;

use changes::{Delay, SlowestLink, UnixTime, Unknown, VisitKind};
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
        // Months count it as a visit without an answer.
        let probes = visit.probes.unwrap();
        assert_eq!((probes.sent, probes.lost), (20, 20), "{}", kind.word());
    }
}

/// An error of a name, or of a visit that was ended, says nothing of the far host.
#[test]
fn only_probes_without_an_answer_say_that_a_host_was_silent() {
    let error = |fault, source: Option<std::io::ErrorKind>| TargetError {
        fault,
        what: String::new(),
        hint: None,
        source: source.map(|kind| std::io::Error::from(kind).into()),
    };
    let unknown = Some(std::io::ErrorKind::NotFound);
    assert!(ping::is_unanswered(&error(Fault::Run, None)));
    assert!(!ping::is_unanswered(&error(Fault::Run, unknown)));
    assert!(!ping::is_unanswered(&error(Fault::Cancelled, None)));
}

/// Its hops may be those up to where the path is cut.
#[test]
fn a_visit_that_failed_has_no_route() {
    let stop = AtomicBool::new(false);
    let mut target = Target::open("127.0.0.1:9", 1).unwrap();
    let begun = Visit::new(UnixTime::from_seconds(1_795_543_200), VisitKind::Throughput);
    let setting = Setting::new(StreamCount::ONE, Window::Auto);
    let order = order(Kind::Throughput, Some(setting));
    let mut deadline = Deadline::after(Span::from_secs(20), &stop);
    let visit = visit(&mut target, &order, begun, &mut deadline).shown.visit;
    assert!(visit.failure.is_some());
    assert_eq!(visit.route, None);
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

/// 45 Mbit/s each way: the slope of both is that of a link of 22.5.
#[test]
fn the_slowest_link_is_bounded_by_sizes() {
    let visit = made(&order(Kind::Ping, None)).shown.visit;
    let Some(SlowestLink::Slope(slope)) = visit.slowest_link else {
        panic!("{visit:?}");
    };
    let rates = [slope.low, slope.rate, slope.high].map(|rate| rate.as_f64() / 1e6);
    assert!(
        rates.is_sorted() && (20.0..23.0).contains(&rates[1]),
        "{rates:?}"
    );
    let visit = made(&order(Kind::OneWay, None)).shown.visit;
    assert_eq!(visit.slowest_link, None);
}

#[test]
fn losses_lie_in_periods() {
    let sent = |place: u64| units::Time::ZERO + Span::from_millis(50 * place);
    let rtts = [Some(9), None, None, Some(8), None].map(|ms| ms.map(Span::from_millis));
    let probes = (0..).zip(rtts).map(|(place, rtt)| observe::Probe {
        sent: sent(place),
        rtt,
    });
    let mut part = Part::new(Visit::new(UnixTime::from_seconds(7), VisitKind::Ping));
    part.probed(&ProbeSeries {
        method: observe::ProbeMethod::IcmpEcho,
        duplicated: 0,
        probes: probes.collect(),
    });
    let losses = part.shown.visit.losses.unwrap();
    assert_eq!((losses.periods, losses.distances), (vec![2, 1], vec![1, 2]));
}

/// A simulated path has no clocks that could be off.
#[test]
fn delays_each_way_are_unknown_without_clocks_and_losses_known() {
    let visit = made(&order(Kind::OneWay, None)).shown.visit;
    let both = visit.one_way.unwrap();
    for way in [both.forward, both.reverse] {
        // A third of 20 s, ten a second.
        assert_eq!(way.sent, 66);
        assert_eq!(way.delay, Delay::Unknown(Unknown::FarTellsNoTime));
        assert!(way.variation.is_some());
    }
    assert_eq!(visit.probes.unwrap().sent, 20 + 2 * 66);
    assert_eq!(visit.failure, None);
}

#[test]
fn datagrams_cross_a_simulated_path() {
    let rate = Rate::from_bits_per_second(8_000_000);
    let visit = made(&order(Kind::Udp { rate }, None)).shown.visit;
    assert_eq!(visit.failure, None);
    let goodput = visit.goodput.unwrap().as_f64() / 1e6;
    assert!((7.8..8.01).contains(&goodput), "{goodput}");
    let probes = visit.probes.unwrap();
    assert!(probes.lost < probes.sent / 50, "{probes:?}");
}

/// Both ends on this host, by its clock and its ports.
#[test]
fn datagrams_and_delays_are_measured_at_a_server() {
    let cancel = trunkline::Cancel::new();
    let options = trunkline::serve::ServeOptions {
        at: 0.into(),
        ..Default::default()
    };
    let server = trunkline::serve::Server::bind(&options, &cancel, std::sync::Arc::new(|_| ()));
    let server = server.unwrap();
    let at = format!("127.0.0.1:{}", server.address().port());
    let rate = Rate::from_bits_per_second(4_000_000);
    let wanted = [
        (Kind::Udp { rate }, Direction::Forward),
        (Kind::Udp { rate }, Direction::Reverse),
        (Kind::OneWay, Direction::Forward),
    ];
    let made = |(kind, direction)| {
        let stop = AtomicBool::new(false);
        let mut target = Target::open(&at, 1).unwrap();
        let begun = Visit::new(UnixTime::from_seconds(1_795_543_200), VisitKind::Udp);
        let order = Order {
            direction,
            duration: Span::from_secs(4),
            ..order(kind, None)
        };
        let mut deadline = Deadline::after(Span::from_secs(120), &stop);
        visit(&mut target, &order, begun, &mut deadline).shown.visit
    };
    let seen = std::thread::scope(|scope| {
        scope.spawn(|| server.run());
        let seen = wanted.map(made);
        cancel.cancel();
        seen
    });
    for seen in &seen[..2] {
        assert_eq!(seen.failure, None);
        assert!(seen.goodput.unwrap().as_f64() > 0.2e6, "{seen:?}");
        assert!(
            seen.jitter.is_some() && seen.probes.unwrap().sent > 50,
            "{seen:?}"
        );
    }
    let both = seen[2].one_way.unwrap();
    assert_eq!((both.forward.sent, both.reverse.sent), (13, 13));
    // One clock: nothing arrives before it left, whether it is kept right or not.
    let below = Delay::Unknown(Unknown::BelowZero);
    assert!(
        both.forward.delay != below && both.reverse.delay != below,
        "{both:?}"
    );
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
