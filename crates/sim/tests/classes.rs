//! Classes of service, as in the field test of 2001 that the named path `classes-ds3` describes: the
//! scavenger class has 1 % of the link for itself, priority 30 %; what one class leaves, others get.

use path::{Class, Cross, CrossTraffic, PathSpec};
use sim::{RunResult, Scenario};
use units::{Bytes, Span};

/// Eight streams of `class` against eight of `cross`, or against nobody.
fn run(class: Class, cross: Option<Class>) -> RunResult {
    let mut path = PathSpec::load("classes-ds3").unwrap();
    path.cross = cross.map(crowd).into_iter().collect();
    let scenario = Scenario {
        class,
        streams: 8,
        duration: Span::from_secs(60),
        warmup: Span::from_secs(20),
        ..Scenario::new(path).unwrap()
    };
    sim::run(&scenario).unwrap()
}

fn crowd(class: Class) -> Cross {
    Cross {
        traffic: CrossTraffic::Streams {
            streams: 8,
            window: Bytes::from_mib(1),
        },
        congestion: None,
        class,
        extra_delay: Span::ZERO,
    }
}

/// What the streams got, of all that was delivered.
fn share(run: &RunResult) -> f64 {
    let own: f64 = run
        .streams
        .iter()
        .map(|stream| stream.goodput.as_f64())
        .sum();
    let cross: f64 = run.cross.iter().map(|cross| cross.goodput.as_f64()).sum();
    own / (own + cross)
}

#[test]
fn a_scavenger_gets_next_to_nothing_beside_best_effort() {
    let share = share(&run(Class::Scavenger, Some(Class::BestEffort)));
    // Its 1 %, and what best effort leaves while its eight windows recover.
    assert!((0.002..0.05).contains(&share), "{share}");
}

#[test]
fn a_scavenger_alone_has_the_whole_link() {
    let run = run(Class::Scavenger, None);
    assert!(run.utilisation > 0.95, "{}", run.utilisation);
}

#[test]
fn priority_has_its_share_beside_best_effort() {
    let share = share(&run(Class::Priority, Some(Class::BestEffort)));
    assert!(share > 0.29, "{share}");
}

#[test]
fn best_effort_keeps_the_rest_beside_priority_and_nearly_all_beside_scavengers() {
    let beside_priority = share(&run(Class::BestEffort, Some(Class::Priority)));
    assert!(
        beside_priority > 0.25 && beside_priority < 0.72,
        "{beside_priority}"
    );
    let beside_scavengers = share(&run(Class::BestEffort, Some(Class::Scavenger)));
    assert!(beside_scavengers > 0.95, "{beside_scavengers}");
}
