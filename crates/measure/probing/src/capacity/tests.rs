use super::*;

fn finding(rate: f64, dispersion: f64, doubt: Option<Doubt>) -> Finding {
    Finding {
        rate,
        dispersion,
        excess: 0.0,
        tick: 0.0,
        doubt,
        estimates: vec![Rate::from_f64(rate)],
    }
}

fn attempt(size: usize, findings: Vec<Finding>) -> Attempt {
    Attempt {
        size,
        findings,
        stamped: Stamped::ByKernel,
    }
}

#[test]
fn bulks_keep_no_time() {
    let spacing = Span::from_millis(10);
    let at: Vec<u64> = (0..40)
        .map(|bulk| departure(bulk, spacing).as_nanos())
        .collect();
    let gaps: Vec<u64> = at.windows(2).map(|two| two[1] - two[0]).collect();
    // Never more than a twentieth off, and several different gaps.
    assert!(
        gaps.iter().all(|gap| gap.abs_diff(10_000_000) < 500_000),
        "{gaps:?}"
    );
    assert!(gaps.iter().any(|gap| *gap > 10_200_000) && gaps.iter().any(|gap| *gap < 9_900_000));
}

#[test]
fn three_trains_have_to_agree() {
    let good = |rate| finding(rate, 120e-6, None);
    assert!(!attempt(2, vec![good(100e6); 2]).is_settled());
    assert!(attempt(2, vec![good(100e6); 3]).is_settled());
    let apart = attempt(2, vec![good(100e6), good(101e6), good(106e6)]);
    assert!(!apart.is_settled());
    assert!(
        apart
            .doubt()
            .unwrap()
            .contains("disagree: 100 Mbit/s to 106 Mbit/s")
    );
}

#[test]
fn a_few_lucky_trains_of_many_are_not_enough() {
    let bad = finding(80e6, 150e-6, Some(Doubt::Disturbed(0.3)));
    let mut findings = vec![finding(100e6, 120e-6, None); 3];
    findings.extend(vec![bad; 4]);
    let attempt = attempt(2, findings);
    assert!(!attempt.is_settled());
    // The estimate is that of those that passed all the same.
    assert_eq!(attempt.rate(), Some(100e6));
    assert!(attempt.doubt().unwrap().contains("3 of 7 trains"));
}

#[test]
fn what_stamps_can_tell_decides_over_agreement() {
    let close = attempt(2, vec![finding(600e6, 20e-6, None); 3]);
    let long = attempt(
        10,
        vec![finding(590e6, 180e-6, Some(Doubt::Disturbed(0.1)))],
    );
    assert!(long.is_better_than(&close));
    assert!(!close.is_better_than(&long));
    assert!(!close.is_enough());
}

#[test]
fn a_clock_that_ticks_asks_for_longer_bulks() {
    let mut ticking = finding(10e6, 1.2e-3, None);
    ticking.tick = 1e-3;
    let attempt = attempt(2, vec![ticking; 3]);
    assert!((attempt.dispersion_min() - 20e-3).abs() < 1e-9);
    assert!(!attempt.is_enough());
}

#[test]
fn every_doubt_is_a_sentence() {
    let of = |doubt| {
        attempt(10, vec![finding(1e8, 1e-3, Some(doubt))])
            .doubt()
            .unwrap()
    };
    assert_eq!(
        of(Doubt::Disturbed(0.07)),
        "others were in the way of every bulk of 10 packets, the least disturbed by 7 % of its \
            length"
    );
    assert!(of(Doubt::Batched(4.2)).contains("batches of about 4"));
    assert!(of(Doubt::SenderTooSlow).contains("no faster"));
}
