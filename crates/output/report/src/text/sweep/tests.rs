use record::synthetic::{self, SweepCase};

use super::*;
use units::Bytes;

fn swept(seed: u64) -> Sweep {
    let case = SweepCase {
        streams: vec![1, 2, 4, 8, 16, 32],
        cycles: 8,
        ..SweepCase::windows_against_streams(seed)
    };
    synthetic::sweep(&case).body
}

#[test]
fn the_recommendation_names_the_window_as_asked_for_and_as_granted() {
    let analysis = swept(7).analysis();
    let recommended = analysis.directions[0].recommended.clone().unwrap();
    let text = recommendation(&recommended);
    let Window::Fixed(asked) = recommended.at.setting.window else {
        panic!("{text}");
    };
    assert!(
        text.contains(&format!("windows of {}KiB", asked.get() >> 10)),
        "{text}"
    );
    assert!(
        text.contains(&format!("doubles to {}KiB", asked.get() >> 9)),
        "{text}"
    );
}

#[test]
fn a_curve_that_does_not_bend_has_no_knee() {
    let analysis = swept(7).analysis();
    let small = &analysis.directions[0].curves[0];
    assert_eq!(small.window, Window::Fixed(Bytes::from_kib(8)));
    let text = curve(small).join(" ");
    assert!(text.starts_with("No knee up to 32 streams"), "{text}");
    let large = curve(&analysis.directions[0].curves[3]).join(" ");
    assert!(large.starts_with("The knee is at "), "{large}");
}

#[test]
fn one_direction_is_not_compared() {
    assert_eq!(directions(&swept(7).analysis()), None);
}

#[test]
fn few_cycles_say_what_more_would_bring() {
    let mut few = swept(7);
    assert!(!visited(&few).join(" ").contains("intervals"));
    few.plan.cycles = 3;
    assert!(visited(&few).join(" ").contains("With 6 cycles or more"));
}
