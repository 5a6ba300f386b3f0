use observe::{HostLimits, Limit};
use units::{Bytes, Span};

use crate::testing::{at, changed_from, delayed, events, slowed};
use crate::{CauseKind, FarHost, Metric, Route, Share, Visit};

/// The causes of the one event that a change makes, in order.
fn causes(change: impl Fn(Visit) -> Visit) -> Vec<CauseKind> {
    let far = |visit: Visit| with_far_host(with_stolen(visit, 0.01), 6);
    let before = |visit: Visit| Visit {
        limit: visit.limit.or(Some(Limit::Link)),
        ..far(visit)
    };
    let visits = changed_from(700, 730, 21, |visit| visit);
    let visits = visits.into_iter().map(|visit| {
        let visit = before(visit);
        match visit.at >= at(700) {
            true => change(visit),
            false => visit,
        }
    });
    let found = events(visits);
    let event = found.first().expect("nothing was found");
    assert_eq!(event.first_visit, at(700));
    for cause in &event.causes {
        assert!((0.0..=1.0).contains(&cause.score), "{cause:?}");
        assert!(
            !cause.because.is_empty() && !cause.because.ends_with('.'),
            "{cause:?}"
        );
        assert!(!cause.visits.is_empty(), "{cause:?}");
        assert!(
            cause.visits.iter().all(|visit| *visit >= at(700)),
            "{cause:?}"
        );
    }
    event.causes.iter().map(|cause| cause.kind).collect()
}

fn with_stolen(visit: Visit, share: f64) -> Visit {
    Visit {
        stolen: Share::new(share),
        ..visit
    }
}

fn with_far_host(visit: Visit, mebibytes: u64) -> Visit {
    let most = Bytes::from_mib(mebibytes);
    Visit {
        far_host: Some(FarHost {
            kernel: Some("6.18".to_owned()),
            limits: Some(HostLimits {
                send_fixed_max: most,
                receive_fixed_max: most,
                send_auto_max: most,
                receive_auto_max: most,
            }),
        }),
        ..visit
    }
}

fn with_route(visit: Visit, hash: u64) -> Visit {
    Visit {
        route: Some(Route {
            hash,
            hops: Vec::new(),
        }),
        ..visit
    }
}

#[test]
fn a_new_route_stands_before_the_longer_way_that_it_is() {
    let found = causes(|visit| with_route(delayed(slowed(visit, 0.8), 5), 7));
    assert_eq!(found[..2], [CauseKind::Route, CauseKind::RoundTrip]);
}

#[test]
fn a_longer_way_without_another_route_is_a_longer_way() {
    assert_eq!(causes(|visit| delayed(visit, 5))[0], CauseKind::RoundTrip);
}

#[test]
fn others_on_our_processor_explain_less_goodput() {
    let found = causes(|visit| with_stolen(slowed(visit, 0.7), 0.3));
    assert_eq!(found[0], CauseKind::OwnProcessor);
}

#[test]
fn a_processor_given_back_does_not_explain_less_goodput() {
    let found = causes(|visit| with_stolen(slowed(visit, 0.7), 0.0));
    assert!(!found.contains(&CauseKind::OwnProcessor), "{found:?}");
}

#[test]
fn other_buffers_at_the_far_host_explain_less_goodput() {
    let found = causes(|visit| Visit {
        limit: Some(Limit::ReceiveBuffer),
        loaded: Some(Span::from_millis(21)),
        ..with_far_host(slowed(visit, 0.4), 1)
    });
    assert_eq!(found[..2], [CauseKind::FarHost, CauseKind::Limit]);
}

/// Losses keep the queue beside our streams empty; the queue went from 10 ms to 1.
#[test]
fn losses_with_an_empty_queue_are_the_cause() {
    let found = causes(|visit| Visit {
        resent: Share::new(1.1e-3),
        loaded: Some(Span::from_millis(21)),
        limit: Some(Limit::Loss),
        ..slowed(visit, 0.6)
    });
    assert_eq!(found[0], CauseKind::Loss);
}

/// A lower rate makes TCP lose more of its packets too, with the queue as full as before.
#[test]
fn losses_with_a_full_queue_come_from_a_lower_rate() {
    let found = causes(|visit| Visit {
        resent: Share::new(4e-4),
        loaded: Some(Span::from_millis(36)),
        ..slowed(visit, 0.6)
    });
    assert_eq!(found[0], CauseKind::PathRate);
    assert!(found.contains(&CauseKind::Loss), "{found:?}");
}

#[test]
fn another_limit_without_a_full_queue_stands_first() {
    let found = causes(|visit| Visit {
        loaded: Some(Span::from_millis(21)),
        limit: Some(Limit::Application),
        ..slowed(visit, 0.6)
    });
    assert_eq!(found[0], CauseKind::Limit);
}

#[test]
fn queues_that_are_there_without_us_are_a_cause() {
    let found = causes(|visit| {
        let mut visit = slowed(visit, 0.8);
        let trips = visit.round_trips.take().unwrap();
        let trips = trips.sorted().iter().enumerate();
        let waiting = |n: usize| Span::from_micros(600 * n as u64);
        let trips = trips.map(|(n, rtt)| *rtt + waiting(n));
        visit.round_trips = crate::RoundTrips::new(trips.collect());
        visit
    });
    assert!(found.contains(&CauseKind::Queue), "{found:?}");
    assert!(!found.contains(&CauseKind::RoundTrip), "{found:?}");
}

#[test]
fn more_goodput_has_causes_too() {
    let visits = changed_from(700, 730, 22, |visit| slowed(visit, 1.3));
    let found = events(visits);
    assert_eq!(found[0].metric(), Some(Metric::Goodput));
    assert!(found[0].shifts[0].size > 0.25);
    assert_eq!(found[0].causes[0].kind, CauseKind::PathRate);
}
