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
        goodput: Estimate {
            value: mbit(rate),
            interval: Some(interval),
        },
        rtt_loaded: None,
        cost: None,
    }
}

fn loaded(streams: u32, rate: f64, rtt_ms: u64) -> Candidate {
    Candidate {
        rtt_loaded: Some(Span::from_millis(rtt_ms)),
        ..measured(streams, rate, 0.0)
    }
}

/// The fewest streams of a window, and the delay that they add.
fn costing(streams: u32, window_rank: u32, rate: f64, added: f64) -> Candidate {
    Candidate {
        window_rank,
        cost: Some(Cost {
            added,
            resolution: 1e-3,
        }),
        ..measured(streams, rate, 0.0)
    }
}

/// The shape of SLAC to CERN in 2000-2001 (Cottrell et al.): slow growth, then a queue.
fn filling() -> Vec<Candidate> {
    vec![
        loaded(1, 20.0, 165),
        loaded(4, 70.0, 167),
        loaded(8, 92.0, 185),
        loaded(16, 96.0, 240),
    ]
}

fn index(candidates: &[Candidate], objective: Rule) -> usize {
    choose(candidates, objective).unwrap().index
}

fn because(candidates: &[Candidate], objective: Rule) -> String {
    let choice = choose(candidates, objective).unwrap();
    choice.because(candidates, |index| format!("row {index}"))
}

#[test]
fn each_objective_has_its_own_favourite() {
    let candidates = filling();
    assert_eq!(index(&candidates, Rule::Max), 3);
    assert_eq!(index(&candidates, Rule::Knee(0.9)), 2);
    // 92 / 0.185 = 497 beats 70 / 0.167 = 419 and 96 / 0.240 = 400.
    assert_eq!(index(&candidates, Rule::Power), 2);
    assert_eq!(index(&candidates, Rule::LeastDelay), 0);
}

#[test]
fn a_hundredth_less_than_the_highest_counts_as_equal() {
    let candidates = [measured(4, 99.1, 0.0), measured(8, 100.0, 0.0)];
    assert_eq!(index(&candidates, Rule::Max), 0);
    let words = because(&candidates, Rule::Max);
    assert!(
        words.starts_with("within 1 % of the highest goodput, 100 Mbit/s with row 1"),
        "{words}"
    );
    let candidates = [measured(4, 98.9, 5.0), measured(8, 100.0, 5.0)];
    assert_eq!(index(&candidates, Rule::Max), 1);
    assert_eq!(
        because(&candidates, Rule::Max),
        "the highest goodput of all that count"
    );
}

#[test]
fn among_equals_the_window_that_comes_first_wins() {
    let wide = Candidate {
        window_rank: 3,
        ..measured(4, 100.0, 1.0)
    };
    let narrow = Candidate {
        window_rank: 1,
        ..measured(4, 100.0, 1.0)
    };
    assert_eq!(index(&[wide, narrow], Rule::Max), 1);
    assert_eq!(index(&[wide, narrow], Rule::Knee(0.9)), 1);
}

#[test]
fn the_knee_names_what_decided() {
    assert_eq!(
        because(&filling(), Rule::Knee(0.9)),
        "the fewest streams that reach 90 % of the highest goodput, 96.0 Mbit/s with row 3; with \
            fewer, row 1 carried most: 70.0 Mbit/s"
    );
    assert_eq!(
        because(&filling()[..2], Rule::Knee(0.9)),
        "the highest goodput of all that count, and no fewer streams reach 90 % of it; with fewer, \
            row 0 carried most: 20.0 Mbit/s"
    );
}

#[test]
fn a_knee_that_its_interval_does_not_bear_out_is_told_as_one() {
    let sure = [measured(2, 92.0, 1.0), measured(8, 100.0, 1.0)];
    assert!(!because(&sure, Rule::Knee(0.9)).contains("interval"));
    let lucky = [measured(2, 92.0, 5.0), measured(8, 100.0, 1.0)];
    assert_eq!(index(&lucky, Rule::Knee(0.9)), 0);
    let words = because(&lucky, Rule::Knee(0.9));
    assert!(
        words.ends_with("its interval goes down to 87.0 Mbit/s, which is less than 90 % of that"),
        "{words}"
    );
}

#[test]
fn where_every_cost_is_known_the_window_that_costs_least_is_taken() {
    let mut candidates = vec![
        costing(4, 0, 95.0, 0.012),
        costing(8, 0, 96.0, 0.001),
        costing(14, 1, 94.0, 0.002),
        costing(2, 2, 50.0, 0.0),
    ];
    assert_eq!(index(&candidates, Rule::Knee(0.9)), 2);
    // A difference within the resolution is none.
    candidates[0].cost = Some(Cost {
        added: 0.0025,
        resolution: 1e-3,
    });
    assert_eq!(index(&candidates, Rule::Knee(0.9)), 0);
    candidates[0].cost = None;
    assert_eq!(index(&candidates, Rule::Knee(0.9)), 0);
}

#[test]
fn an_absurd_fraction_still_chooses() {
    for fraction in [2.0, f64::NAN] {
        assert_eq!(index(&filling(), Rule::Knee(fraction)), 3, "{fraction}");
    }
    assert_eq!(index(&filling(), Rule::Knee(-1.0)), 0);
}

#[test]
fn power_and_delay_need_round_trips() {
    let candidates = [measured(1, 5.0, 0.0), measured(2, 9.0, 0.0)];
    for objective in [Rule::Power, Rule::LeastDelay] {
        assert_eq!(
            choose(&candidates, objective),
            Err(ChoiceError::NoRoundTrips)
        );
    }
    let nowhere = [loaded(1, 5.0, 0)];
    assert_eq!(
        choose(&nowhere, Rule::Power),
        Err(ChoiceError::NoRoundTrips)
    );
}

const ALL: [Rule; 4] = [Rule::Max, Rule::Knee(0.9), Rule::Power, Rule::LeastDelay];

#[test]
fn nothing_that_carried_data_is_no_choice() {
    for objective in ALL {
        assert_eq!(choose(&[], objective), Err(ChoiceError::NoCandidates));
        let nothing = [loaded(1, 0.0, 10)];
        assert_eq!(choose(&nothing, objective), Err(ChoiceError::NoCandidates));
    }
}

fn any_candidates() -> impl Strategy<Value = Vec<Candidate>> {
    let candidate = (
        1_u32..64,
        0_u32..4,
        1.0..1_000.0_f64,
        0.0..100.0_f64,
        1_u64..400,
    );
    let candidate = candidate.prop_map(|(streams, window_rank, rate, margin, rtt_ms)| Candidate {
        window_rank,
        rtt_loaded: Some(Span::from_millis(rtt_ms)),
        ..measured(streams, rate, margin)
    });
    prop::collection::vec(candidate, 1..20)
}

proptest! {
    #[test]
    fn no_fewer_streams_reach_the_knee(candidates in any_candidates(), share in 0.0..1.0_f64) {
        let chosen = candidates[index(&candidates, Rule::Knee(share))];
        let highest = candidates.iter().map(Candidate::rate).fold(0.0, f64::max);
        prop_assert!(chosen.rate() >= share * highest);
        for other in candidates.iter().filter(|other| other.streams < chosen.streams) {
            prop_assert!(other.rate() < share * highest, "{:?} and {:?}", chosen, other);
        }
    }

    #[test]
    fn a_higher_knee_never_takes_fewer_streams(candidates in any_candidates(), low in 0.0..1.0_f64, more in 0.0..0.5_f64) {
        let streams = |share| candidates[index(&candidates, Rule::Knee(share))].streams;
        prop_assert!(streams(low) <= streams(low + more));
    }

    #[test]
    fn order_does_not_decide(candidates in any_candidates()) {
        let reversed: Vec<Candidate> = candidates.iter().rev().copied().collect();
        for objective in ALL {
            let there = candidates[index(&candidates, objective)];
            let back = reversed[index(&reversed, objective)];
            prop_assert_eq!(there.streams, back.streams, "{:?}", objective);
        }
    }

    #[test]
    fn what_the_reason_names_is_what_it_says(candidates in any_candidates()) {
        let highest = candidates.iter().map(Candidate::rate).fold(0.0, f64::max);
        for objective in ALL {
            let choice = choose(&candidates, objective).unwrap();
            prop_assert_eq!(candidates[choice.highest].rate(), highest);
            match choice.reason {
                Reason::Highest => prop_assert_eq!(candidates[choice.index].rate(), highest),
                Reason::EqualsHighest => prop_assert!(candidates[choice.index].rate() < highest),
                Reason::Reaches { fewer, .. } => {
                    let fewer = fewer.map(|fewer| candidates[fewer].streams);
                    prop_assert!(fewer < Some(candidates[choice.index].streams));
                }
                Reason::Power | Reason::LeastDelay => {}
            }
        }
    }
}
