use super::*;
use proptest::prelude::*;
use stats::{CONFIDENCE, Interval};

fn mbit(rate: f64) -> Rate {
    Rate::from_f64(rate * 1e6)
}

/// Mbit/s with a margin to either side.
fn measured(streams: u32, rate: f64, margin: f64) -> Candidate {
    let interval = Interval {
        low: mbit(rate - margin),
        high: mbit(rate + margin),
        confidence: CONFIDENCE,
    };
    Candidate {
        streams,
        window_rank: 0,
        throughput: Estimate {
            value: mbit(rate),
            interval: Some(interval),
        },
        rtt_loaded: None,
        loss: None,
    }
}

fn loaded(streams: u32, rate: f64, rtt_ms: u64, loss: f64) -> Candidate {
    Candidate {
        rtt_loaded: Some(Span::from_millis(rtt_ms)),
        loss: Some(loss),
        ..measured(streams, rate, 0.0)
    }
}

/// The shape of SLAC to CERN in 2000-2001 (Cottrell et al.): slow growth, then a queue.
fn filling() -> Vec<Candidate> {
    vec![
        loaded(1, 20.0, 165, 0.0),
        loaded(4, 70.0, 167, 1e-4),
        loaded(8, 92.0, 185, 5e-4),
        loaded(16, 96.0, 240, 4e-3),
    ]
}

fn gentle(added_ms: u64, loss_max: f64) -> Objective {
    Objective::Gentle {
        rtt_unloaded: Span::from_millis(165),
        rtt_added_max: Span::from_millis(added_ms),
        loss_max,
    }
}

#[test]
fn each_objective_has_its_own_favourite() {
    let candidates = filling();
    assert_eq!(choose(&candidates, Objective::Max), Ok(3));
    assert_eq!(choose(&candidates, Objective::Knee(0.9)), Ok(2));
    // 92 / 0.185 = 497 beats 70 / 0.167 = 419 and 96 / 0.240 = 400.
    assert_eq!(choose(&candidates, Objective::Power), Ok(2));
    assert_eq!(choose(&candidates, gentle(5, 1e-3)), Ok(1));
}

#[test]
fn a_difference_within_chance_is_none() {
    // Margins of 4 and 3 allow for 5.
    let candidates = [measured(4, 95.0, 4.0), measured(8, 100.0, 3.0)];
    assert_eq!(choose(&candidates, Objective::Max), Ok(0));
    let candidates = [measured(4, 94.9, 4.0), measured(8, 100.0, 3.0)];
    assert_eq!(choose(&candidates, Objective::Max), Ok(1));
}

#[test]
fn among_equals_the_smaller_window_wins() {
    let wide = Candidate {
        window_rank: 3,
        ..measured(4, 100.0, 1.0)
    };
    let narrow = Candidate {
        window_rank: 1,
        ..measured(4, 100.0, 1.0)
    };
    assert_eq!(choose(&[wide, narrow], Objective::Max), Ok(1));
    assert_eq!(choose(&[wide, narrow], Objective::Knee(0.9)), Ok(1));
}

#[test]
fn the_knee_wants_the_lower_end_of_the_interval() {
    let sure = [measured(2, 92.0, 1.0), measured(8, 100.0, 1.0)];
    assert_eq!(choose(&sure, Objective::Knee(0.9)), Ok(0));
    let lucky = [measured(2, 92.0, 5.0), measured(8, 100.0, 1.0)];
    assert_eq!(choose(&lucky, Objective::Knee(0.9)), Ok(1));
}

#[test]
fn the_best_is_its_own_knee_however_unsure() {
    let candidates = [measured(2, 50.0, 1.0), measured(8, 100.0, 40.0)];
    assert_eq!(choose(&candidates, Objective::Knee(0.9)), Ok(1));
}

#[test]
fn an_absurd_fraction_still_chooses() {
    for fraction in [2.0, f64::NAN] {
        assert_eq!(
            choose(&filling(), Objective::Knee(fraction)),
            Ok(3),
            "{fraction}"
        );
    }
    assert_eq!(choose(&filling(), Objective::Knee(-1.0)), Ok(0));
}

#[test]
fn what_was_not_measured_is_not_within_the_budget() {
    let blind = Candidate {
        rtt_loaded: None,
        ..loaded(4, 90.0, 165, 0.0)
    };
    let careless = Candidate {
        loss: None,
        ..loaded(2, 80.0, 165, 0.0)
    };
    let candidates = [blind, careless, loaded(1, 20.0, 165, 0.0)];
    assert_eq!(choose(&candidates, gentle(5, 1e-3)), Ok(2));
}

#[test]
fn an_impossible_budget_says_what_it_was() {
    let error = choose(&filling()[2..], gentle(5, 1e-3)).unwrap_err();
    assert_eq!(
        error.to_string(),
        "none of 2 settings is known to stay within the budget; allow more than 5ms or more loss"
    );
}

#[test]
fn power_needs_round_trips() {
    let candidates = [measured(1, 5.0, 0.0), measured(2, 9.0, 0.0)];
    assert_eq!(
        choose(&candidates, Objective::Power),
        Err(ChoiceError::NoRoundTrips)
    );
    let nowhere = [loaded(1, 5.0, 0, 0.0)];
    assert_eq!(
        choose(&nowhere, Objective::Power),
        Err(ChoiceError::NoRoundTrips)
    );
}

#[test]
fn nothing_measured_is_no_choice() {
    for objective in [
        Objective::Max,
        Objective::default(),
        Objective::Power,
        gentle(5, 1e-3),
    ] {
        assert_eq!(choose(&[], objective), Err(ChoiceError::NoCandidates));
    }
}

fn any_candidates() -> impl Strategy<Value = Vec<Candidate>> {
    let candidate = (
        1_u32..64,
        1.0..1_000.0_f64,
        0.0..100.0_f64,
        1_u64..400,
        0.0..0.1_f64,
    );
    let candidate = candidate.prop_map(|(streams, rate, margin, rtt_ms, loss)| Candidate {
        rtt_loaded: Some(Span::from_millis(rtt_ms)),
        loss: Some(loss),
        ..measured(streams, rate, margin)
    });
    prop::collection::vec(candidate, 1..20)
}

proptest! {
    #[test]
    fn the_knee_never_gives_up_more_than_it_may(candidates in any_candidates(), fraction in 0.0..1.0_f64) {
        let chosen = &candidates[choose(&candidates, Objective::Knee(fraction)).unwrap()];
        let best = candidates.iter().map(|candidate| candidate.throughput.value).max().unwrap();
        prop_assert!(chosen.throughput.value.as_f64() >= fraction * best.as_f64() - 1.0);
    }

    #[test]
    fn a_higher_knee_never_takes_fewer_streams(candidates in any_candidates(), low in 0.0..1.0_f64, more in 0.0..0.5_f64) {
        let streams = |fraction| candidates[choose(&candidates, Objective::Knee(fraction)).unwrap()].streams;
        prop_assert!(streams(low) <= streams(low + more));
    }

    #[test]
    fn the_gentle_choice_keeps_its_budget(candidates in any_candidates(), added_ms in 0_u64..300, loss_max in 0.0..0.1_f64) {
        if let Ok(index) = choose(&candidates, gentle(added_ms, loss_max)) {
            prop_assert!(candidates[index].rtt_loaded.unwrap() <= Span::from_millis(165 + added_ms));
            prop_assert!(candidates[index].loss.unwrap() <= loss_max);
        }
    }

    #[test]
    fn order_does_not_decide(candidates in any_candidates()) {
        let reversed: Vec<Candidate> = candidates.iter().rev().copied().collect();
        for objective in [Objective::Max, Objective::default(), Objective::Power] {
            let there = candidates[choose(&candidates, objective).unwrap()];
            let back = reversed[choose(&reversed, objective).unwrap()];
            prop_assert_eq!(there.streams, back.streams, "{:?}", objective);
        }
    }
}
