use proptest::prelude::*;
use rand_core::{Rng, SeedableRng};
use rand_pcg::Pcg64;

use super::*;

fn noise(seed: u64, count: usize) -> Vec<f64> {
    let mut random = Pcg64::seed_from_u64(seed);
    let mut draw = || (random.next_u64() >> 11) as f64 / (1u64 << 53) as f64;
    (0..count).map(|_| draw()).collect()
}

#[test]
fn the_square_root_of_the_packets_is_the_number_of_groups() {
    let groups = |packets: usize| group_medians(&noise(1, packets)).len();
    assert_eq!(groups(100), 10);
    assert_eq!(groups(25), 5);
    // 24 would make four groups: too few to say anything.
    assert_eq!(groups(24), 0);
    assert_eq!(groups(300), 17);
}

#[test]
fn every_delay_is_in_a_group() {
    // 103 delays in ten groups: the last group ends with the last delay.
    let delays: Vec<f64> = (0..103).map(f64::from).collect();
    let medians = group_medians(&delays);
    assert_eq!(medians.len(), 10);
    assert_eq!(medians[9], 97.0); // 92 to 102
}

#[test]
fn thresholds_are_the_published_ones() {
    assert_eq!(PCT.judge(0.61), Trend::Increasing);
    assert_eq!(PCT.judge(0.605), Trend::Grey);
    assert_eq!(PCT.judge(0.495), Trend::Grey);
    assert_eq!(PCT.judge(0.49), Trend::NotIncreasing);
    assert_eq!(PDT.judge(0.45), Trend::Increasing);
    assert_eq!(PDT.judge(0.44), Trend::Grey);
    assert_eq!(PDT.judge(0.36), Trend::Grey);
    assert_eq!(PDT.judge(0.35), Trend::NotIncreasing);
}

#[test]
fn a_single_step_is_a_contradiction() {
    // One of nine steps rises, so few do; but all movement is a rise.
    let step: Vec<f64> = (0..100).map(|at| f64::from(u8::from(at >= 50))).collect();
    let medians = group_medians(&step);
    assert_eq!(pct(&medians), Some(1.0 / 9.0));
    assert_eq!(pdt(&medians), Some(1.0));
    assert_eq!(of(&step), Some(Trend::Grey));
}

#[test]
fn a_burst_of_others_in_the_middle_is_no_trend() {
    // Up by 40 and down again.
    let hill: Vec<f64> = (0..100)
        .map(|at| 40.0 - f64::from((at - 50i32).abs()))
        .collect();
    assert_eq!(of(&hill), Some(Trend::NotIncreasing));
}

#[test]
fn noise_alone_rarely_seems_to_grow() {
    let increasing = (0..1000).filter(|seed| of(&noise(*seed, 100)) == Some(Trend::Increasing));
    let increasing = increasing.count();
    // Both tests would have to be wrong at once.
    assert!(increasing < 50, "{increasing} of 1000");
}

#[test]
fn a_rise_is_seen_through_noise_as_large_as_itself() {
    let rising = |seed| {
        let noise = noise(seed, 100);
        let delays = noise.iter().enumerate();
        let delays: Vec<f64> = delays
            .map(|(at, noise)| at as f64 / 100.0 + noise)
            .collect();
        of(&delays) == Some(Trend::Increasing)
    };
    let seen = (0..1000).filter(|seed| rising(*seed)).count();
    assert!(seen > 800, "{seen} of 1000");
}

#[test]
fn few_packets_say_nothing() {
    assert_eq!(of(&[1.0; 24]), None);
    assert_eq!(of(&[]), None);
    assert_eq!(pct(&[1.0]), None);
    assert_eq!(pdt(&[1.0]), None);
}

proptest! {
    #[test]
    fn a_line_is_what_its_slope_says(slope in 1e-6f64..1e3, start in -1e3f64..1e3, packets in 25usize..500) {
        let line = |sign: f64| -> Vec<f64> {
            (0..packets).map(|at| start + sign * slope * at as f64).collect()
        };
        prop_assert_eq!(of(&line(1.0)), Some(Trend::Increasing));
        prop_assert_eq!(of(&line(-1.0)), Some(Trend::NotIncreasing));
    }

    #[test]
    fn neither_unit_nor_zero_of_the_clock_matters(seed in 0u64..1000, shift in -1e3f64..1e3, power in -3i32..8) {
        let delays = noise(seed, 100);
        let other: Vec<f64> = delays.iter().map(|delay| (delay + shift) * 10f64.powi(power)).collect();
        let (one, two) = (group_medians(&delays), group_medians(&other));
        prop_assert_eq!(pct(&one), pct(&two));
        prop_assert!((pdt(&one).unwrap() - pdt(&two).unwrap()).abs() < 1e-9);
    }

    #[test]
    fn both_shares_stay_within_their_bounds(medians in prop::collection::vec(-1e6f64..1e6, 2..40)) {
        prop_assert!((0.0..=1.0).contains(&pct(&medians).unwrap()));
        prop_assert!((-1.0..=1.0).contains(&pdt(&medians).unwrap()));
    }
}
