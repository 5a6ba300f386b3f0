mod odd;

use crate::testing::{Noise, at, changed_from, delayed, events, goodput, quiet, slowed};
use crate::{CauseKind, Event, EventKind, Metric, Route, Share, Visit, VisitKind};

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
fn a_step_of_four_sigma_is_always_found_within_a_day() {
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
        let event = hit.unwrap_or_else(|| panic!("seed {seed}: nothing was found"));
        assert!(event.confirmed <= at(848), "seed {seed}: {event:?}");
        assert!(
            (event.shifts[0].size + 0.06).abs() < 0.03,
            "seed {seed}: {event:?}"
        );
    }
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

#[test]
fn the_first_day_has_no_steps() {
    let visits = changed_from(20, 44, 1, |visit| slowed(visit, 0.5));
    assert!(events(visits).is_empty());
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
        (last.revision, last.recovered),
        (1, Some(at(800))),
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
    let goodput = new(&found);
    assert!(goodput.len() <= 2, "{found:?}");
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
