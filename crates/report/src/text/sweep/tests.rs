use record::SweepComparison;
use record::synthetic::{self, SweepCase};

use super::*;

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
    let Window::Bytes(asked) = recommended.at.setting.window else {
        panic!("{text}");
    };
    assert!(
        text.contains(&format!("windows of {}KiB", asked >> 10)),
        "{text}"
    );
    assert!(
        text.contains(&format!("doubles to {}KiB", asked >> 9)),
        "{text}"
    );
}

#[test]
fn a_curve_that_does_not_bend_has_no_knee() {
    let analysis = swept(7).analysis();
    let small = &analysis.directions[0].curves[0];
    assert_eq!(small.window, Window::Bytes(8 << 10));
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

#[test]
fn a_sweep_and_its_repeat_are_about_the_same() {
    let comparison = SweepComparison::new(&swept(7), &swept(8));
    let text = compared::sentences(&comparison).join(" ");
    assert!(text.contains("no setting by itself is sure"), "{text}");
    assert!(!text.contains("different paths"), "{text}");
}

#[test]
fn half_the_goodput_is_told_with_its_interval() {
    let mut slower = swept(8);
    for figures in slower
        .cells
        .iter_mut()
        .filter_map(|cell| cell.figures.as_mut())
    {
        figures.goodput_bits_per_second /= 2;
    }
    let comparison = SweepComparison::new(&swept(7), &slower);
    let text = compared::sentences(&comparison).join(" ");
    assert!(text.contains("Goodput fell, sending: -5"), "{text}");
    let (_, rows) = compared::rows(&comparison);
    assert_eq!(rows.len(), 24);
    assert!(rows.iter().all(|row| row[0] == "*"), "{rows:?}");
}

#[test]
fn sweeps_without_a_common_setting_say_so() {
    let mut other = swept(8);
    other.cells.retain(|cell| cell.setting.streams == 1);
    let mut one = swept(7);
    one.cells.retain(|cell| cell.setting.streams == 2);
    let text = compared::sentences(&SweepComparison::new(&one, &other)).join(" ");
    assert!(text.contains("No setting was measured in both"), "{text}");
    assert!(
        text.contains("4 settings were measured in the second sweep only"),
        "{text}"
    );
}
