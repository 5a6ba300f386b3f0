mod odd;

use crate::testing::{Noise, at, changed_from, delayed, events, goodput, quiet, slowed};
use crate::{CauseKind, Detector, Event, EventKind, Metric, Route, Share, Visit, VisitKind};

fn new(events: &[Event]) -> Vec<&Event> {
    events.iter().filter(|event| event.is_new()).collect()
}

#[test]
fn a_step_of_six_sigma_is_found_within_three_visits() {
    let mut late = Vec::new();
    for seed in 0..60 {
        // 8.6 % of goodput whose noise is 1.5 %.
        let mut noise = Noise::new(seed);
        let visits = (0..900).map(|number| {
            let level = if number < 800 { 1.0_f64 } else { 0.914 };
            goodput(number, 90e6 * level * (0.015 * noise.normal()).exp())
        });
        let found = events(visits);
        let hit = new(&found)
            .into_iter()
            .any(|event| event.first_visit >= at(798) && event.confirmed <= at(802));
        if !hit {
            late.push(seed);
        }
    }
    assert!(late.len() <= 3, "seeds {late:?} of 60 were late");
}

#[test]
fn a_step_of_four_sigma_is_nearly_always_found_within_a_day() {
    let mut missed = Vec::new();
    for seed in 0..60 {
        let mut noise = Noise::new(seed);
        let visits = (0..900).map(|number| {
            let level = if number < 800 { 1.0_f64 } else { 0.94 };
            goodput(number, 90e6 * level * (0.015 * noise.normal()).exp())
        });
        let found = events(visits);
        let hit = new(&found)
            .into_iter()
            .find(|event| event.confirmed >= at(800));
        let Some(event) = hit else {
            missed.push(seed);
            continue;
        };
        assert!(event.confirmed <= at(848), "seed {seed}: {event:?}");
        assert!(
            (event.shifts[0].size + 0.06).abs() < 0.03,
            "seed {seed}: {event:?}"
        );
    }
    assert!(missed.len() <= 3, "seeds {missed:?} of 60 were missed");
}

#[test]
fn noise_gives_few_events_and_shuffled_noise_no_more() {
    let mut count = [0, 0];
    for seed in 0..20 {
        let mut noise = Noise::new(1000 + seed);
        let mut values: Vec<f64> = (0..1440).map(|_| (0.02 * noise.normal()).exp()).collect();
        for kind in &mut count {
            let visits = (0_u64..)
                .zip(&values)
                .map(|(n, value)| goodput(n, 90e6 * value));
            *kind += new(&events(visits)).len();
            for last in (1..values.len()).rev() {
                values.swap(last, (noise.uniform() * (last + 1) as f64) as usize);
            }
        }
    }
    // Twenty months with one metric; the bar is one event a month with five.
    assert!(
        count.iter().all(|count| *count <= 6),
        "{count:?} events in 20 months each"
    );
}

#[test]
fn nothing_one_visit_and_equal_visits_are_no_event() {
    assert!(events(std::iter::empty()).is_empty());
    assert!(events([goodput(0, 1e6)]).is_empty());
    assert!(events((0..600).map(|number| goodput(number, 1e6))).is_empty());
    assert!(events((0..600).map(|number| goodput(number, 0.0))).is_empty());
    let bare = (0..600).map(|number| {
        let mut visit = Visit::new(at(number), VisitKind::Ping);
        visit.stolen = Share::new(0.5);
        visit.goodput = (number % 50 == 0).then_some(units::Rate::from_f64(1e9));
        visit
    });
    assert!(
        events(bare)
            .iter()
            .all(|event| event.kind == EventKind::NoData)
    );
}

/// After six visits a path at half its rate is told with the third visit that shows it; the first
/// five have nothing to be compared with.
#[test]
fn large_steps_of_the_first_hours_are_found_within_three_visits() {
    for seed in 0..40 {
        for changed in [6, 8, 12, 20, 40] {
            let visits = changed_from(changed, changed + 3, seed, |visit| slowed(visit, 0.5));
            let found = events(visits);
            let place = format!("seed {seed}, visit {changed}: {found:?}");
            assert_eq!(found.len(), 1, "{place}");
            assert_eq!(found[0].first_visit, at(changed), "{place}");
            assert_eq!(found[0].metric(), Some(Metric::Goodput), "{place}");
        }
        let early = changed_from(5, 8, seed, |visit| slowed(visit, 0.5));
        assert!(events(early).is_empty(), "seed {seed}");
    }
}

/// A change of a tenth may be the hour of the day as long as no whole day was seen.
#[test]
fn small_steps_of_the_first_day_are_not_reported() {
    for seed in 0..40 {
        let visits = changed_from(20, 44, seed, |visit| slowed(visit, 0.9));
        assert!(events(visits).is_empty(), "seed {seed}");
    }
}

#[test]
fn one_odd_visit_and_two_are_no_event() {
    for odd in 1..=2 {
        let mut visits = changed_from(2000, 600, 5, |visit| visit);
        for visit in &mut visits[500..500 + odd] {
            *visit = delayed(slowed(visit.clone(), 0.2), 50);
        }
        let found = events(visits);
        assert!(found.is_empty(), "{odd} odd visits: {found:?}");
    }
}

#[test]
fn what_several_metrics_show_is_one_event_with_one_first_cause() {
    let visits = changed_from(700, 760, 2, |visit| {
        let mut visit = delayed(slowed(visit, 0.7), 12);
        visit.route = Some(Route {
            hash: 2,
            hops: Vec::new(),
        });
        visit
    });
    let found = events(visits);
    let new = new(&found);
    assert_eq!(new.len(), 1, "{found:?}");
    let metrics: Vec<Metric> = new[0].shifts.iter().map(|moved| moved.metric).collect();
    assert!(metrics.contains(&Metric::Goodput), "{metrics:?}");
    assert!(metrics.contains(&Metric::RoundTripMin), "{metrics:?}");
    assert_eq!(new[0].first_visit, at(700));
    assert_eq!(
        new[0].first_cause().map(|cause| cause.kind),
        Some(CauseKind::Route)
    );
    assert!(new[0].causes[0].visits.contains(&at(700)));
}

#[test]
fn the_way_back_ends_the_event() {
    let mut noise = Noise::new(3);
    let visits = (0..900).map(|number| match number {
        600..800 => slowed(quiet(number, &mut noise), 0.6),
        _ => quiet(number, &mut noise),
    });
    let found = events(visits);
    assert_eq!(new(&found).len(), 1, "{found:?}");
    let last = found.last().unwrap();
    assert_eq!(
        (last.kind, last.recovered),
        (EventKind::Step, Some(at(800))),
        "{found:?}"
    );
}

#[test]
fn flapping_is_one_event() {
    let mut noise = Noise::new(4);
    let visits = (0..900).map(|number| {
        let down = (700..790).contains(&number) && (number - 700) / 6 % 2 == 0;
        slowed(quiet(number, &mut noise), if down { 0.6 } else { 1.0 })
    });
    let found = events(visits);
    // Two changes with their ends, and what goes on to and fro.
    assert_eq!(new(&found).len(), 3, "{found:?}");
    assert!(
        found.iter().any(|event| event.kind == EventKind::Flapping),
        "{found:?}"
    );
}

#[test]
fn short_excursions_again_and_again_are_flapping() {
    let mut noise = Noise::new(5);
    let visits = (0..760).map(|number| {
        let down = number >= 720 && number % 4 == 0;
        slowed(quiet(number, &mut noise), if down { 0.6 } else { 1.0 })
    });
    let found = events(visits);
    assert!(
        found.iter().any(|event| event.kind == EventKind::Flapping),
        "{found:?}"
    );
}

#[test]
fn a_slow_fall_is_a_drift() {
    let mut noise = Noise::new(6);
    let visits = (0..1900).map(|number| {
        let gone = (number as f64 - 900.0).clamp(0.0, 960.0) / 960.0;
        slowed(quiet(number, &mut noise), 1.0 - 0.25 * gone)
    });
    let found = events(visits);
    let first = found.first().unwrap();
    assert_eq!(
        (first.kind, first.metric()),
        (EventKind::Drift, Some(Metric::Goodput))
    );
    assert!(first.confirmed >= at(900), "{first:?}");
    assert!(first.shifts[0].size < 0.0, "{first:?}");
}

#[test]
fn another_route_alone_is_an_event_of_its_own_kind() {
    let visits = changed_from(500, 560, 7, |mut visit| {
        visit.route = Some(Route {
            hash: 9,
            hops: Vec::new(),
        });
        visit
    });
    let found = events(visits);
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(
        (found[0].kind, found[0].first_visit),
        (EventKind::Route, at(500))
    );
}

#[test]
fn routes_that_take_turns_are_no_event() {
    let mut noise = Noise::new(8);
    let visits = (0..600).map(|number| {
        let mut visit = quiet(number, &mut noise);
        visit.route = Some(Route {
            hash: (noise.uniform() * 4.0) as u64,
            hops: Vec::new(),
        });
        visit
    });
    assert!(events(visits).is_empty());
}

/// The last revision of the first event that flaps.
fn flapping(found: &[Event]) -> &Event {
    let first = found.iter().find(|event| event.kind == EventKind::Flapping);
    let id = first.expect("nothing flaps").id;
    found.iter().rev().find(|event| event.id == id).unwrap()
}

#[test]
fn flapping_is_over_after_a_quiet_time_that_follows_from_its_turns() {
    for (seed, every) in [(4, 4), (5, 6), (6, 8), (7, 12)] {
        let mut noise = Noise::new(seed);
        // Down and up in turns, up at the end.
        let end = 700 + 10 * every;
        let visits = (0..end + 120).map(|number| {
            let down = (700..end).contains(&number) && (number - 700) / every % 2 == 0;
            slowed(quiet(number, &mut noise), if down { 0.6 } else { 1.0 })
        });
        let found = events(visits);
        let last = flapping(&found);
        assert_eq!(last.kind, EventKind::Flapping, "{found:?}");
        let over = last
            .recovered
            .unwrap_or_else(|| panic!("{every}: {found:?}"));
        assert!(
            over >= at(end - every) && over <= at(end + 8),
            "{every}: {last:?}"
        );
    }
}

#[test]
fn flapping_that_ends_down_goes_on() {
    let mut noise = Noise::new(8);
    let visits = (0..900).map(|number| {
        let flaps = (700..760).contains(&number);
        let down = number >= 760 || (flaps && (number - 700) / 6 % 2 == 0);
        slowed(quiet(number, &mut noise), if down { 0.6 } else { 1.0 })
    });
    let found = events(visits);
    let last = flapping(&found);
    assert_eq!(
        (last.kind, last.recovered),
        (EventKind::Flapping, None),
        "{found:?}"
    );
}

#[test]
fn excursions_that_stop_are_over() {
    let mut noise = Noise::new(9);
    let visits = (0..900).map(|number| {
        let down = (720..780).contains(&number) && number % 4 == 0;
        slowed(quiet(number, &mut noise), if down { 0.6 } else { 1.0 })
    });
    let found = events(visits);
    let last = flapping(&found);
    let over = last.recovered.unwrap_or_else(|| panic!("{found:?}"));
    // One odd visit prolongs it.
    assert!(over >= at(770) && over <= at(800), "{last:?}");
}

#[test]
fn the_size_of_a_change_is_what_its_levels_say() {
    for seed in 0..30 {
        let visits = changed_from(700, 780, seed, |visit| delayed(slowed(visit, 0.8), 4));
        for event in events(visits) {
            for moved in &event.shifts {
                let size = match moved.metric {
                    Metric::Goodput => moved.after / moved.before - 1.0,
                    _ => moved.after - moved.before,
                };
                assert!((size - moved.size).abs() < 1e-9, "seed {seed}: {moved:?}");
            }
        }
    }
}

#[test]
fn visits_of_another_task_support_a_cause() {
    let route = |number: u64, hash: u64| {
        let mut visit = Visit::new(at(number), VisitKind::Path);
        visit.route = Some(Route {
            hash,
            hops: Vec::new(),
        });
        visit
    };
    let mut detector = Detector::new();
    let bare = |visit: Visit| Visit {
        route: None,
        ..visit
    };
    let mut found = Vec::new();
    for visit in changed_from(700, 704, 1, |visit| slowed(visit, 0.6)) {
        found.extend(detector.push(&bare(visit)));
    }
    let event = &found[0];
    assert_eq!(
        event.first_cause().map(|cause| cause.kind),
        Some(CauseKind::PathRate)
    );
    let before: Vec<Visit> = (0..8).map(|n| route(600 + 12 * n, 1)).collect();
    // The same route as before explains nothing.
    let same = route(702, 1);
    let others: Vec<&Visit> = before.iter().chain([&same]).collect();
    assert!(detector.support(&others, at(704)).is_empty());
    let other = route(702, 2);
    let others: Vec<&Visit> = before.iter().chain([&other]).collect();
    let revised = detector.support(&others, at(704));
    assert_eq!(revised.len(), 1, "{revised:?}");
    assert_eq!(
        (revised[0].id, revised[0].revision),
        (event.id, event.revision + 1)
    );
    let cause = revised[0].first_cause().unwrap();
    assert_eq!(
        (cause.kind, &cause.visits),
        (CauseKind::Route, &vec![at(702)])
    );
    // Told once, and not of a change that began more than a day ago.
    assert!(detector.support(&others, at(704)).is_empty());
    assert!(!detector.may_be_supported(at(760)));
}
