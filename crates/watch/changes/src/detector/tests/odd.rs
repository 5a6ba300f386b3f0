//! Visits that fail, stop, repeat, or hold nonsense; stored detectors.

use super::new;
use crate::testing::{Noise, at, changed_from, delayed, events, goodput, quiet, slowed};
use crate::{Detector, Event, EventKind, Failure, Route, Share, UnixTime, Visit, VisitKind};

fn failed(number: u64, reason: &str) -> Visit {
    let mut visit = Visit::new(at(number), VisitKind::Throughput);
    visit.failure = Some(Failure {
        reason: reason.to_owned(),
    });
    visit
}

#[test]
fn no_data_is_an_event_with_its_reasons() {
    let mut visits: Vec<Visit> = (0..100).map(|number| goodput(number, 1e8)).collect();
    visits.extend([
        failed(100, "refused"),
        failed(101, "busy"),
        failed(102, "refused"),
    ]);
    visits.push(goodput(103, 1e8));
    let found = events(visits);
    assert_eq!(found.len(), 2, "{found:?}");
    assert_eq!(
        (found[0].kind, found[0].first_visit),
        (EventKind::NoData, at(100))
    );
    assert_eq!(found[0].failures.get("refused"), Some(&2));
    assert_eq!(
        (found[1].id, found[1].recovered),
        (found[0].id, Some(at(103)))
    );
}

#[test]
fn routers_that_answer_do_not_hide_a_host_that_does_not() {
    let visits = (0..103).map(|number| {
        let mut visit = match number < 100 {
            true => goodput(number, 1e8),
            false => failed(number, "refused"),
        };
        let hops = vec!["192.0.2.1".to_owned()];
        visit.route = Some(Route { hash: 1, hops });
        visit
    });
    let found = events(visits);
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(found[0].kind, EventKind::NoData);
}

#[test]
fn a_path_that_never_answers_is_one_event() {
    let found = events((0..500).map(|number| failed(number, "no route to host")));
    assert_eq!(found.len(), 1, "{found:?}");
}

#[test]
fn pings_that_work_do_not_hide_goodput_that_fails() {
    let mut noise = Noise::new(9);
    let visits = (0..120).map(|number| match (number % 2, number < 100) {
        (0, true) => goodput(number, 1e8),
        (0, false) => failed(number, "busy"),
        _ => {
            let mut visit = quiet(number, &mut noise);
            (visit.kind, visit.goodput) = (VisitKind::Ping, None);
            visit
        }
    });
    let found = events(visits);
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(found[0].kind, EventKind::NoData);
}

#[test]
fn silence_is_reported_once_and_ends_with_a_visit() {
    let mut detector = Detector::new();
    for number in 0..50 {
        detector.push(&goodput(number, 1e8));
    }
    assert_eq!(detector.check(at(53)), None);
    let silent = detector.check(at(54)).unwrap();
    assert_eq!(
        (silent.kind, silent.first_visit),
        (EventKind::NoData, at(49))
    );
    assert_eq!(detector.check(at(60)), None);
    let over = detector.push(&goodput(61, 1e8));
    assert_eq!((over[0].id, over[0].recovered), (silent.id, Some(at(61))));
}

#[test]
fn a_repeated_visit_counts_once_and_a_clock_may_go_back() {
    let mut detector = Detector::new();
    let mut twice = Detector::new();
    for visit in changed_from(2000, 300, 10, |visit| visit) {
        detector.push(&visit);
        twice.push(&visit);
        twice.push(&visit);
    }
    assert_eq!(detector, twice);
    let mut noise = Noise::new(11);
    for number in 0..400 {
        let mut visit = quiet(number, &mut noise);
        visit.at = UnixTime::from_seconds(1_000_000 + number * 1800);
        let found = detector.push(&visit);
        assert!(found.is_empty(), "visit {number}: {found:?}");
    }
}

#[test]
fn one_visit_of_a_clock_far_ahead_does_not_end_learning() {
    let mut visits = changed_from(700, 760, 14, |visit| slowed(visit, 0.8));
    visits[20].at = UnixTime::from_seconds(u64::MAX);
    let found = events(visits);
    assert_eq!(new(&found).len(), 1, "{found:?}");
    assert_eq!(found[0].first_visit, at(700));
}

#[test]
fn a_stored_detector_goes_on_as_if_it_had_not_been_stored() {
    let visits = changed_from(700, 800, 12, |visit| delayed(slowed(visit, 0.8), 3));
    let mut whole = Detector::new();
    let mut parts = Detector::new();
    for (number, visit) in visits.iter().enumerate() {
        if number % 97 == 0 {
            let text = serde_json::to_string(&parts).unwrap();
            parts = serde_json::from_str(&text).unwrap();
        }
        let (one, other) = (whole.push(visit), parts.push(visit));
        assert_eq!(one.len(), other.len(), "visit {number}");
        for (one, other) in one.iter().zip(&other) {
            assert_eq!(
                (one.id, one.kind, &one.first_visit),
                (other.id, other.kind, &other.first_visit)
            );
        }
    }
}

#[test]
fn events_and_visits_keep_their_values_in_json() {
    let visits = changed_from(700, 720, 13, |visit| delayed(visit, 9));
    for visit in &visits[690..] {
        let text = serde_json::to_string(visit).unwrap();
        assert_eq!(
            serde_json::from_str::<Visit>(&text).unwrap(),
            *visit,
            "{text}"
        );
    }
    let event = events(visits).remove(0);
    let text = serde_json::to_string(&event).unwrap();
    let back: Event = serde_json::from_str(&text).unwrap();
    assert_eq!((back.id, back.causes.len()), (event.id, event.causes.len()));
    assert!(serde_json::from_str::<Share>("1.2").is_err());
}

/// Extremes in any order, with anything missing: events may be nonsense then, but nothing panics,
/// and no event has a number that is not one.
#[test]
fn no_visits_make_it_panic() {
    for seed in 0..8 {
        let mut noise = Noise::new(5000 + seed);
        let mut detector = Detector::new();
        for number in 0..700 {
            for event in detector.push(&anything(number, &mut noise)) {
                let sizes = event
                    .shifts
                    .iter()
                    .flat_map(|one| [one.before, one.after, one.size]);
                assert!(
                    sizes.into_iter().all(f64::is_finite),
                    "seed {seed}: {event:?}"
                );
                assert!(serde_json::to_string(&event).is_ok(), "seed {seed}");
            }
            detector.check(at((noise.uniform() * 2000.0) as u64));
        }
        if let Some(forecast) = detector.forecast() {
            forecast.hours(48);
            let _ = forecast.finish(units::Bytes::new(u64::MAX), at(10));
        }
    }
}

fn anything(number: u64, noise: &mut Noise) -> Visit {
    let mut pick = |count: f64| (noise.uniform() * count) as u64;
    let time = match pick(20.0) {
        0 => UnixTime::from_seconds(u64::MAX),
        1 => UnixTime::from_seconds(0),
        2 => at(pick(5000.0)),
        _ => at(number),
    };
    let mut visit = Visit::new(time, VisitKind::ALL[pick(3.0) as usize]);
    let rates = [0, 1, 1_000_000, 1_000_000_000, u64::MAX];
    let spans = [0, 1, 20_000_000, 20_100_000, u64::MAX].map(units::Span::from_nanos);
    if pick(4.0) > 0 {
        visit.goodput = Some(units::Rate::from_bits_per_second(rates[pick(5.0) as usize]));
    }
    if pick(4.0) > 0 {
        let trips = (0..pick(5.0)).map(|_| spans[pick(5.0) as usize]).collect();
        visit.round_trips = crate::RoundTrips::new(trips);
    }
    if pick(2.0) > 0 {
        visit.resent = Share::new(pick(3.0) as f64 / 2.0);
        visit.stolen = Share::new(pick(3.0) as f64 / 2.0);
        visit.loaded = Some(spans[pick(5.0) as usize]);
        visit.limit = Some(observe::Limit::ALL[pick(23.0) as usize]);
    }
    if pick(2.0) > 0 {
        visit.probes = Some(crate::ProbeCount {
            sent: pick(3.0) as u32,
            lost: pick(4.0) as u32,
            duplicated: 0,
            reordered: 0,
        });
        visit.route = Some(Route {
            hash: pick(4.0),
            hops: Vec::new(),
        });
    }
    visit
}

/// Random sequences with gaps, repeats, clocks that go back, extremes, and thousands of visits in
/// one second; the detector is stored and read at random moments. Nothing panics, both give the
/// same events, revisions count up by one, and no metric has two open events with one first visit.
#[test]
fn random_sequences_give_the_same_events_with_restarts() {
    for seed in 0..12 {
        let mut noise = Noise::new(9000 + seed);
        let (mut whole, mut parts) = (Detector::new(), Detector::new());
        let mut revisions = std::collections::BTreeMap::new();
        let mut last = std::collections::BTreeMap::new();
        let (mut second, mut level) = (at(0).seconds(), 1.0);
        let is_crowded = seed % 4 == 3;
        for number in 0..1500 {
            if noise.uniform() < 0.01 {
                level = 0.1 + noise.uniform();
            }
            second = match (noise.uniform() * 60.0) as u64 {
                0 => second.saturating_sub((noise.uniform() * 90_000.0) as u64),
                1 => second + (noise.uniform() * 400_000.0) as u64,
                _ if is_crowded && number > 300 => second,
                _ => second + 1800,
            };
            let mut visit = match noise.uniform() < 0.03 {
                true => anything(number, &mut noise),
                false => slowed(quiet(number, &mut noise), level),
            };
            if is_crowded {
                visit.kind = VisitKind::ALL[number as usize % 2];
            }
            visit.at = UnixTime::from_seconds(second);
            if noise.uniform() < 0.02 {
                parts = serde_json::from_str(&serde_json::to_string(&parts).unwrap()).unwrap();
            }
            let (one, other) = (whole.push(&visit), parts.push(&visit));
            let repeated = (whole.push(&visit), parts.push(&visit));
            assert!(
                repeated.0.is_empty() && repeated.1.is_empty(),
                "seed {seed}, {number}"
            );
            let told = |events: &[Event]| -> Vec<_> {
                let events = events.iter();
                events
                    .map(|e| (e.id, e.revision, e.kind, e.first_visit, e.recovered))
                    .collect()
            };
            assert_eq!(told(&one), told(&other), "seed {seed}, visit {number}");
            for event in one {
                let next = revisions.entry(event.id).or_insert(0);
                assert_eq!(event.revision, *next, "seed {seed}: {event:?}");
                *next += 1;
                last.insert(event.id, event);
            }
        }
        let open: Vec<&Event> = last.values().filter(|e| e.recovered.is_none()).collect();
        for (index, one) in open.iter().enumerate() {
            for other in &open[..index] {
                let is_twin = one.first_visit == other.first_visit
                    && one.kind != EventKind::NoData
                    && one.metric() == other.metric()
                    && !is_crowded;
                assert!(!is_twin, "seed {seed}: {one:?} and {other:?}");
            }
        }
    }
}
