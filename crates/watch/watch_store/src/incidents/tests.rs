use std::collections::BTreeMap;

use changes::{Cause, CauseKind, End, Event, Metric, Moved};

use super::*;

fn event(id: u64, pair: &str, kind: EventKind, first: u64, ended: Option<u64>) -> StoredEvent {
    let (from, to) = pair.split_once('-').unwrap();
    StoredEvent {
        pair: Pair {
            from: from.parse().unwrap(),
            to: to.parse().unwrap(),
        },
        task: "goodput".parse().unwrap(),
        event: Event {
            id,
            revision: 0,
            kind,
            first_visit: UnixTime::from_seconds(first),
            previous_visit: None,
            confirmed: UnixTime::from_seconds(first + 60),
            recovered: ended.map(UnixTime::from_seconds),
            end: None,
            shifts: Vec::new(),
            causes: Vec::new(),
            failures: BTreeMap::new(),
        },
    }
}

fn goodput(id: u64, pair: &str, first: u64, size: f64) -> StoredEvent {
    let mut stored = event(id, pair, EventKind::Step, first, None);
    stored.event.shifts = vec![Moved {
        metric: Metric::Goodput,
        before: 1e8,
        after: 1e8 * (1.0 + size),
        size,
        size_low: None,
        size_high: None,
        strength: 9.0,
        recovered: None,
    }];
    stored
}

#[test]
fn a_host_that_is_gone_is_one_incident_with_one_end() {
    let outage = |id, pair, first, end| event(id, pair, EventKind::NoData, first, end);
    let visited: Vec<Pair> = ["a-b", "b-a", "a-c", "c-a", "b-c", "c-b"]
        .map(|pair| event(0, pair, EventKind::NoData, 0, None).pair)
        .into();
    // A task that is rarely visited sees it long after the others.
    let mut rare = outage(4, "c-a", 10_000, Some(10_900));
    rare.event.previous_visit = Some(UnixTime::from_seconds(90));
    let found = incidents(vec![
        outage(1, "a-b", 100, Some(900)),
        outage(2, "b-a", 160, Some(960)),
        outage(3, "a-c", 220, Some(1000)),
        rare,
        outage(5, "c-a", 300, Some(20_000)),
    ]);
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(found[0].ended(), Some(UnixTime::from_seconds(20_000)));
    let hosts = found[0].silent_hosts(&visited);
    assert_eq!(hosts.len(), 1);
    assert!(hosts[0].sends_nothing && hosts[0].is_not_reached);
    assert_eq!(hosts[0].name.as_str(), "a");
}

#[test]
fn the_worst_event_stands_first_and_the_severest_incident() {
    let found = incidents(vec![
        goodput(1, "a-b", 100, -0.04),
        goodput(2, "a-c", 200, -0.3),
        goodput(3, "d-e", 90_000, -0.6),
        goodput(4, "f-g", 90_000, 0.4),
    ]);
    let worst: Vec<u64> = found
        .iter()
        .map(|one| one.worst().unwrap().event.id)
        .collect();
    assert_eq!(worst, [3, 2, 4]);
    assert_eq!(found[1].first().unwrap().event.id, 1);
    assert_eq!(found[1].severity(), Some(Severity::Warning));
    assert_eq!(found[2].severity(), None);
}

#[test]
fn one_cause_joins_pairs_without_a_common_host_and_time_parts_those_with_one() {
    let cause = |mut stored: StoredEvent| {
        stored.event.causes = vec![Cause {
            kind: CauseKind::Route,
            score: 0.9,
            because: "another route".to_owned(),
            visits: Vec::new(),
        }];
        stored
    };
    let (one, other) = (goodput(1, "a-b", 100, -0.3), goodput(2, "c-d", 700, -0.3));
    let apart = incidents(vec![one.clone(), other.clone()]);
    assert_eq!(apart.len(), 2);
    assert_eq!(incidents(vec![cause(one.clone()), cause(other)]).len(), 1);
    let later = goodput(3, "a-b", 100 + 3 * 3600, -0.3);
    assert_eq!(incidents(vec![one, later]).len(), 2);
}

/// Visits every 30 s in a ring, in which each pair shares a host with the next: four troubles.
#[test]
fn troubles_at_moments_that_visits_tell_apart_are_apart() {
    let every = |mut stored: StoredEvent| {
        let first = stored.event.first_visit.seconds();
        stored.event.previous_visit = Some(UnixTime::from_seconds(first - 30));
        stored
    };
    let outage = |id, pair, first| every(event(id, pair, EventKind::NoData, first, None));
    let found = incidents(vec![
        every(goodput(1, "a-b", 1000, -0.6)),
        every(goodput(2, "c-d", 1100, -0.4)),
        outage(3, "a-b", 1440),
        outage(4, "b-c", 1460),
        outage(5, "d-e", 1580),
        outage(6, "e-f", 1570),
        every(goodput(7, "e-f", 2570, -0.4)),
    ]);
    let mut groups: Vec<Vec<u64>> = found
        .iter()
        .map(|one| one.members().iter().map(|member| member.event.id).collect())
        .collect();
    groups.iter_mut().for_each(|ids| ids.sort_unstable());
    groups.sort();
    let expected: [&[u64]; 5] = [&[1], &[2], &[3, 4], &[5, 6], &[7]];
    assert_eq!(groups, expected);
}

/// A link between two sites takes all pairs across it, which no host has in common.
#[test]
fn a_link_that_is_cut_is_one_incident() {
    let cut = ["a-c", "a-d", "b-c", "b-d"].into_iter().enumerate();
    let events = cut.map(|(id, pair)| {
        let first = 1000 + 300 * id as u64;
        event(id as u64, pair, EventKind::NoData, first, Some(4000))
    });
    assert_eq!(incidents(events.collect()).len(), 1);
    // The first two have no host in common; the third joins them.
    let crossed = ["a-c", "b-d", "a-d", "b-c"].into_iter().enumerate();
    let events = crossed.map(|(id, pair)| {
        let first = 1000 + 300 * id as u64;
        event(id as u64, pair, EventKind::NoData, first, Some(4000))
    });
    assert_eq!(incidents(events.collect()).len(), 1);
    // One host explains events of any kind at one moment, and not those beside it.
    let mixed = vec![
        goodput(1, "a-b", 1000, -0.5),
        goodput(2, "a-c", 1200, -0.5),
        goodput(3, "b-c", 1300, -0.5),
    ];
    assert_eq!(incidents(mixed).len(), 2);
}

/// Whatever the order in which events come, the incidents are the same; those withdrawn are none.
#[test]
fn the_order_of_events_changes_nothing() {
    let pairs = ["a-b", "b-c", "c-d", "d-a", "a-c"];
    let mut state = 7_u64;
    let mut next = |most: u64| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (state >> 33) % most
    };
    for round in 0..200 {
        let mut events: Vec<StoredEvent> = (0..12)
            .map(|id| {
                let pair = pairs[next(5) as usize];
                let mut stored = goodput(id, pair, next(40_000), -0.1 * next(9) as f64);
                if next(3) == 0 {
                    stored.event.kind = EventKind::NoData;
                }
                if next(8) == 0 {
                    stored.event.end = Some(End::Withdrawn);
                    stored.event.recovered = Some(stored.event.first_visit);
                }
                stored
            })
            .collect();
        let first = incidents(events.clone());
        let count: usize = first.iter().map(|one| one.members().len()).sum();
        let withdrawn = events.iter().filter(|one| one.event.is_withdrawn()).count();
        assert_eq!(count, events.len() - withdrawn);
        for last in (1..events.len()).rev() {
            events.swap(last, next(last as u64 + 1) as usize);
        }
        let names = |found: &[Incident]| -> Vec<Vec<u64>> {
            let ids = |one: &Incident| {
                let mut ids: Vec<u64> = one.members().iter().map(|m| m.event.id).collect();
                ids.sort_unstable();
                ids
            };
            let mut names: Vec<Vec<u64>> = found.iter().map(ids).collect();
            names.sort();
            names
        };
        assert_eq!(names(&incidents(events)), names(&first), "round {round}");
    }
}
