use proptest::prelude::*;

use super::*;

const C: f64 = 100e6;

/// Runs the search against a truth: `grey` on both sides of it nothing is clear.
fn close_in(truth: f64, grey: f64, guess: f64) -> (Search, usize) {
    let mut search = Search::new(C, guess, 1.3 * C);
    let mut fleets = 0;
    while let Some(rate) = search.next() {
        let verdict = match rate - truth {
            above if above > grey => Trend::Increasing,
            below if below < -grey => Trend::NotIncreasing,
            _ => Trend::Grey,
        };
        search.on_verdict(rate, verdict, grey == 0.0);
        fleets += 1;
        assert!(fleets <= FLEETS_MAX);
    }
    (search, fleets)
}

#[test]
fn a_sharp_bound_is_found_to_two_percent() {
    let (search, fleets) = close_in(70.3e6, 0.0, 72e6);
    let (low, high) = search.range().unwrap();
    assert!(low < 70.3e6 && 70.3e6 < high);
    assert!(high - low <= 0.02 * C, "{low} {high}");
    assert!(fleets <= 6, "{fleets}");
}

#[test]
fn grey_stays_inside_the_range() {
    let (search, _) = close_in(70e6, 3e6, 70e6);
    let (low, high) = search.range().unwrap();
    assert!(low <= 67e6 && high >= 73e6);
    assert!(high - low <= 6e6 + 0.1 * C, "{low} {high}");
}

#[test]
fn contradictions_count_as_doubt() {
    let mut search = Search::new(C, 50e6, 1.3 * C);
    for (rate, verdict) in [
        (40e6, Trend::NotIncreasing),
        (60e6, Trend::Increasing),
        (48e6, Trend::Increasing),
        (52e6, Trend::NotIncreasing),
    ] {
        search.on_verdict(rate, verdict, false);
    }
    // 48 was too fast and 52 was not: the load changed between them.
    assert_eq!(search.range(), Some((40e6, 60e6)));
}

#[test]
fn without_an_end_there_is_no_range() {
    let mut search = Search::new(C, 50e6, 1.3 * C);
    while let Some(rate) = search.next() {
        search.on_verdict(rate, Trend::Increasing, true);
    }
    assert_eq!((search.low(), search.range()), (None, None));
    let mut search = Search::new(C, 50e6, 1.3 * C);
    while let Some(rate) = search.next() {
        search.on_verdict(rate, Trend::NotIncreasing, true);
    }
    assert_eq!(search.high(), None);
    // It did try the fastest.
    assert_eq!(search.low(), Some(1.3 * C));
}

#[test]
fn scatter_lowers_the_lower_end() {
    let mut search = Search::new(C, 50e6, 1.3 * C);
    search.on_verdict(50e6, Trend::NotIncreasing, true);
    search.on_verdict(52e6, Trend::Increasing, true);
    search.on_blur(0.01);
    assert_eq!(search.range(), Some((49e6, 52e6)));
}

proptest! {
    #[test]
    fn the_truth_is_always_inside(
        truth in 0.03f64..1.2, grey in prop::sample::select(vec![0.0, 0.01, 0.05]), guess in 0.0f64..1.5
    ) {
        let (search, _) = close_in(truth * C, grey * C, guess * C);
        let range = search.range();
        // A grey region that reaches the slowest rate leaves no lower end.
        prop_assume!(truth - grey > SLOWEST);
        let (low, high) = range.expect("both ends can be found");
        prop_assert!(low <= truth * C && truth * C <= high, "{} {}", low, high);
    }
}
