//! The cross traffic of a path without any streams.

use netpath::PathSpec;
use sim::{Scenario, Simulation};
use units::{Span, Time};

fn alone(path: &str) -> Scenario {
    Scenario {
        streams: 0,
        duration: Span::from_secs(20),
        warmup: Span::from_secs(5),
        ..Scenario::new(PathSpec::load(path).unwrap()).unwrap()
    }
}

#[test]
fn it_runs_for_the_whole_duration_and_gets_more_than_beside_streams() {
    let mut scenario = alone("dadc-dumbbell-cross5");
    let run = sim::run(&scenario).unwrap();
    assert_eq!(run.measured, Span::from_secs(15));
    assert!(run.streams.is_empty() && run.round_trips.is_none());
    assert_eq!(run.completion, None);
    scenario.streams = 8;
    let beside = sim::run(&scenario).unwrap();
    assert!(beside.cross[0].goodput < run.cross[0].goodput);
}

#[test]
fn it_can_be_looked_at_on_the_way() {
    let mut simulation = Simulation::new(&alone("dadc-dumbbell-cross5")).unwrap();
    assert!(!simulation.advance(Time::ZERO + Span::from_secs(1)));
    assert_eq!(simulation.now(), Time::ZERO + Span::from_secs(1));
    assert!(simulation.advance(simulation.end()));
}

#[test]
fn a_path_where_nothing_would_happen_is_refused() {
    let error = sim::run(&alone("lan")).unwrap_err();
    assert!(error.problem.contains("no streams"), "{error}");
    assert!(error.hint.contains("at least one"), "{}", error.hint);
}
