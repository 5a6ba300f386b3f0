use super::synthetic::*;
use super::*;
use proptest::prelude::*;

const LENGTHS: [usize; 3] = [50, 100, 300];

fn cut(rates: &[f64]) -> usize {
    match steady_state(rates) {
        Some(SteadyState::Settled { from }) => from,
        other => panic!("{other:?} for {rates:?}"),
    }
}

fn settles(rates: &[f64]) -> bool {
    matches!(steady_state(rates), Some(SteadyState::Settled { .. }))
}

/// Share of 100 seeded noisy versions that settle, and the median of where they do.
fn with_seeds(rates: &[f64], spread: f64) -> (f64, f64) {
    let verdicts =
        (0..100).filter_map(|seed| steady_state(&with_noise(rates.to_vec(), spread, seed)));
    let cuts: Vec<f64> = verdicts
        .filter_map(|verdict| match verdict {
            SteadyState::Settled { from } => Some(from as f64),
            SteadyState::NotSettled { .. } => None,
        })
        .collect();
    let middle = crate::median(&cuts).unwrap_or(f64::NAN);
    (cuts.len() as f64 / 100.0, middle)
}

#[test]
fn a_constant_keeps_everything() {
    for length in LENGTHS {
        assert_eq!(cut(&constant(length)), 0);
        let (settled, from) = with_seeds(&constant(length), 0.03);
        assert!(settled >= 0.99 && from == 0.0, "{length}: {settled} {from}");
    }
}

#[test]
fn a_silent_stream_is_steady_at_nothing() {
    assert_eq!(cut(&[0.0; 50]), 0);
}

#[test]
fn slow_start_is_cut_where_it_ends() {
    for length in LENGTHS {
        // The ramp lasts 14 intervals, or 23 with delayed acknowledgements; groups of five follow.
        assert_eq!(cut(&slow_start(length, 2.0)), 15, "{length}");
        assert_eq!(cut(&slow_start(length, 1.5)), 25, "{length}");
    }
}

#[test]
fn noise_does_not_hide_slow_start() {
    for length in LENGTHS {
        let (settled, from) = with_seeds(&slow_start(length, 2.0), 0.1);
        assert!(settled > 0.8, "{length}: {settled}");
        assert!((10.0..=20.0).contains(&from), "{length}: {from}");
    }
}

#[test]
fn a_late_dip_moves_nothing() {
    for length in LENGTHS {
        let rates = with_dip(slow_start(length, 2.0), length * 3 / 4);
        assert_eq!(cut(&rates), 15, "{length}");
    }
}

#[test]
fn a_dip_in_the_middle_does_not_unsettle() {
    for length in LENGTHS {
        assert!(
            settles(&with_dip(slow_start(length, 2.0), length * 45 / 100)),
            "{length}"
        );
    }
}

#[test]
fn a_saw_tooth_is_a_steady_state() {
    for length in LENGTHS {
        assert!(cut(&saw_tooth(length, 20)) <= 5, "{length}");
    }
    assert!(cut(&saw_tooth(300, 60)) <= 10);
}

#[test]
fn one_tooth_as_long_as_the_series_is_not() {
    assert!(!settles(&saw_tooth(50, 60)));
}

#[test]
fn congestion_avoidance_that_never_ends_does_not_settle() {
    for length in LENGTHS {
        assert!(!settles(&rising(length, 50.0, 100.0)), "{length}");
        let (settled, _) = with_seeds(&rising(length, 50.0, 100.0), 0.03);
        assert!(settled < 0.05, "{length}: {settled}");
    }
}

#[test]
fn a_creep_too_small_to_matter_settles() {
    for length in LENGTHS {
        assert!(settles(&rising(length, 97.0, 100.0)), "{length}");
    }
}

#[test]
fn nothing_but_slow_start_does_not_settle() {
    for length in LENGTHS {
        let rates: Vec<f64> = (0..length)
            .map(|i| 2_f64.powf(i as f64 * 10.0 / length as f64))
            .collect();
        assert!(!settles(&rates), "{length}");
    }
}

#[test]
fn an_overshoot_and_its_recovery_are_warm_up() {
    // The rate is back within 2 % of the full one 25 intervals after the fall at 15.
    assert!((25..=50).contains(&cut(&overshoot(100))));
    let (settled, from) = with_seeds(&overshoot(300), 0.03);
    assert!(
        settled >= 0.99 && (25.0..=60.0).contains(&from),
        "{settled} {from}"
    );
}

#[test]
fn bursts_do_not_pass_for_a_ramp() {
    for length in LENGTHS {
        let (settled, from) = with_seeds(&in_bursts(slow_start(length, 2.0)), 0.03);
        assert!(
            settled >= 0.99 && from == 15.0,
            "{length}: {settled} {from}"
        );
    }
}

#[test]
fn a_lasting_fall_is_seen() {
    let mut rates = constant(100);
    rates.iter_mut().skip(70).for_each(|rate| *rate = 60.0);
    assert!(
        matches!(steady_state(&rates), Some(SteadyState::NotSettled { drift }) if drift < -0.3)
    );
}

#[test]
fn too_little_is_not_judged() {
    assert_eq!(steady_state(&[]), None);
    assert_eq!(steady_state(&[1.0; 19]), None);
    assert!(steady_state(&[1.0; 20]).is_some());
    assert_eq!(steady_state(&[f64::NAN; 50]), None);
}

proptest! {
    #[test]
    fn any_series_gets_a_verdict_and_keeps_half(rates in prop::collection::vec(0.0..1e11, 20..200)) {
        match steady_state(&rates) {
            Some(SteadyState::Settled { from }) => prop_assert!(from <= rates.len() / 2),
            Some(SteadyState::NotSettled { drift }) => prop_assert!(drift.abs() > DRIFT_MAX),
            None => prop_assert!(false, "no verdict"),
        }
    }

    #[test]
    fn the_unit_of_the_rates_does_not_matter(rates in prop::collection::vec(1.0..1e4, 20..120)) {
        let scaled: Vec<f64> = rates.iter().map(|rate| rate * 1_048_576.0).collect();
        prop_assert_eq!(steady_state(&rates), steady_state(&scaled));
    }
}
