use std::collections::BTreeSet;

use rand_core::{Rng, SeedableRng};
use rand_pcg::Pcg64;

use super::*;

/// Echoes over a path that takes `nanos` for each byte there and back, where each waits for some
/// microseconds of `noise` on the mean.
fn drawn(seed: u64, nanos: f64, noise: f64) -> Vec<SizedEcho> {
    let mut random = Pcg64::seed_from_u64(seed);
    let mut wait = || {
        let share = (random.next_u64() >> 11) as f64 / (1u64 << 53) as f64;
        -noise * 1e-6 * (1.0 - share).ln()
    };
    let rtt = |size: u16, wait: f64| 0.02 + f64::from(size) * nanos * 1e-9 + wait;
    let echo = |size| SizedEcho {
        size,
        rtt: Some(Span::from_secs_f64(rtt(size, wait()))),
    };
    sizes().into_iter().map(echo).collect()
}

#[test]
fn each_size_is_sent_as_often_and_never_beside_its_neighbour() {
    let sizes = sizes();
    let all: BTreeSet<u16> = sizes.iter().copied().collect();
    assert_eq!(all.len(), 10);
    for size in all {
        assert_eq!(sizes.iter().filter(|one| **one == size).count(), ROUNDS);
    }
    assert!(sizes.windows(2).all(|two| two[0].abs_diff(two[1]) > STEP));
}

/// 45 Mbit/s each way, hosts that take some microseconds: no link is slower than is said, but once
/// in forty, and the interval of Kendall's tau is on the safe side.
#[test]
fn the_slowest_link_is_not_slower_than_the_bound() {
    let each_way = 45e6;
    let (mut told, mut wrong) = (0, 0);
    for seed in 0..200 {
        let seen = slowest_link(&drawn(seed, 2.0 * 8e9 / each_way, 20.0));
        let Some(bound) = seen.at_least() else {
            continue;
        };
        told += 1;
        // Half of it, since the slope is that of both ways.
        wrong += usize::from(bound.as_f64() > each_way / 2.0);
        assert!(bound.as_f64() > each_way / 5.0, "seed {seed}: {bound:?}");
    }
    assert!(told > 150, "{told}");
    assert!(wrong * 20 <= told, "{wrong} of {told}");
}

#[test]
fn nothing_is_said_of_a_path_that_is_too_fast() {
    // 10 Gbit/s each way: 1.4 us over all sizes, beside 50 us of the hosts.
    let told = (0..200).filter(|seed| slowest_link(&drawn(*seed, 1.6, 50.0)).at_least().is_some());
    // A slope of noise alone is taken for one in few of the cases.
    let told = told.count();
    assert!(told <= 5, "{told}");
}

#[test]
fn silence_and_disorder_have_their_reasons() {
    let why = |echoes: &[SizedEcho]| slowest_link(echoes).unknown();
    assert_eq!(why(&[]), Some(NoSlope::Unanswered));
    let mut few = drawn(1, 400.0, 1.0);
    for echo in few.iter_mut().filter(|echo| echo.size > 700) {
        echo.rtt = None;
    }
    assert_eq!(why(&few), Some(NoSlope::Unanswered));
    let flat = drawn(2, 0.0, 0.0);
    assert_eq!(why(&flat), Some(NoSlope::NotGrowing));
    assert!(NoSlope::NotGrowing.words().contains("do not grow"));
}
