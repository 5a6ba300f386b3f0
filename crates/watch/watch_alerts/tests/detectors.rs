//! Real detectors and the alerts of what they report: a mesh of six hosts, visited each half hour.

mod common;

use std::collections::BTreeMap;

use changes::{Detector, Failure, Route, UnixTime, Visit, VisitKind};
use common::alerting;
use rand_core::{Rng, SeedableRng};
use rand_pcg::Pcg64;
use units::{Rate, Span};
use watch_alerts::{Alerting, Alerts, Notification, Situation, State};
use watch_store::{Pair, StoredEvent};

const HOSTS: [&str; 6] = ["bonn", "cern", "fnal", "kek", "slac", "triumf"];
const START: u64 = 1_795_543_200;
/// Visits to each pair before anything happens, while it lasts, and in all.
const BEFORE: u64 = 160;
const LASTS: u64 = 12;
const ALL: u64 = 220;

fn pairs() -> Vec<Pair> {
    let pairs = HOSTS
        .iter()
        .flat_map(|from| HOSTS.iter().map(move |to| (from, to)));
    let pairs = pairs.filter(|(from, to)| from != to);
    pairs
        .map(|(from, to)| Pair {
            from: from.parse().unwrap(),
            to: to.parse().unwrap(),
        })
        .collect()
}

/// What a visit to a pair that is well shows.
fn well(at: UnixTime, draws: &mut Pcg64) -> Visit {
    let mut visit = Visit::new(at, VisitKind::Throughput);
    visit.goodput = Some(Rate::from_bits_per_second(
        900_000_000 + draws.next_u64() % 20_000_000,
    ));
    visit.route = Some(Route {
        hash: 1,
        hops: Vec::new(),
    });
    visit
}

/// All that is told while `trouble` changes visits of the pairs that it concerns.
fn told(seed: u64, trouble: impl Fn(&Pair, &mut Visit)) -> Vec<Notification> {
    println!("seed {seed}");
    let mut draws = Pcg64::seed_from_u64(seed);
    let alerting: Alerting = alerting("[[alertmanager]]\nurl = \"http://localhost:9093\"\n");
    let pairs = pairs();
    let mut detectors: BTreeMap<Pair, Detector> = BTreeMap::new();
    let (mut alerts, mut told) = (Alerts::default(), Vec::new());
    for number in 0..ALL {
        // One pair a minute, in the order of the plan.
        for (minute, pair) in (0..).zip(&pairs) {
            let now = UnixTime::from_seconds(START + number * 1800 + minute * 60);
            let mut visit = well(now, &mut draws);
            if (BEFORE..BEFORE + LASTS).contains(&number) {
                trouble(pair, &mut visit);
            }
            let situation = Situation {
                alerting: &alerting,
                pairs: &pairs,
                now,
            };
            for event in detectors.entry(pair.clone()).or_default().push(&visit) {
                let stored = StoredEvent {
                    pair: pair.clone(),
                    task: "goodput".parse().unwrap(),
                    event,
                };
                alerts.insert(&stored, &situation);
            }
            told.extend(alerts.advance(&situation));
        }
    }
    told
}

fn states(told: &[Notification]) -> Vec<State> {
    told.iter().map(|one| one.state).collect()
}

#[test]
fn an_outage_of_a_host_is_told_once_and_its_end_once() {
    for seed in 0..3 {
        let told = told(seed, |pair, visit| {
            if pair.from.as_str() == "cern" || pair.to.as_str() == "cern" {
                *visit = Visit::new(visit.at, VisitKind::Throughput);
                visit.failure = Some(Failure {
                    reason: "no answer within 5 s".to_owned(),
                });
            }
        });
        assert_eq!(states(&told), [State::Began, State::Over], "{told:#?}");
        assert!(
            told[0]
                .headline
                .starts_with("Host cern sends nothing and is not reached, since "),
            "{}",
            told[0].headline
        );
        assert_eq!((told[0].pairs, told[1].pairs), (10, 10));
        let lasted = told[1].recovered.unwrap().since(told[0].since);
        let spread = Span::from_secs(1800);
        assert!(lasted >= spread.times(LASTS - 1) && lasted <= spread.times(LASTS + 1));
    }
}

#[test]
fn another_route_for_some_pairs_is_told_once_with_its_cause() {
    for seed in 10..13 {
        let told = told(seed, |pair, visit| {
            if pair.to.as_str() == "kek" || pair.to.as_str() == "slac" {
                let goodput = visit.goodput.unwrap().as_f64();
                visit.goodput = Some(Rate::from_f64(0.6 * goodput));
                visit.route = Some(Route {
                    hash: 2,
                    hops: Vec::new(),
                });
            }
        });
        assert_eq!(states(&told), [State::Began, State::Over], "{told:#?}");
        assert_eq!(told[0].pairs, 10, "{}", told[0].text());
        let cause = told[0].cause.as_ref().unwrap();
        assert_eq!(cause.name, "route");
        assert!(
            told[0].headline.contains(" fell by "),
            "{}",
            told[0].headline
        );
    }
}

#[test]
fn a_quiet_mesh_tells_nothing() {
    assert_eq!(told(20, |_, _| {}), []);
}
