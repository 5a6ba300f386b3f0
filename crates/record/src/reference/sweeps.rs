//! The keys of the analysis of a sweep and of two sweeps compared. What every median, shift and line has stands in a
//! section of its own.

use super::{Keys, documented, keys};
use crate::synthetic::{self, SweepCase};
use crate::{Direction, Sweep, SweepComparison, Window};

/// Every figure there can be: products of one size, several lengths, failures, both directions.
fn full() -> Sweep {
    let case = SweepCase {
        windows: [16, 64, 256].map(|kib| Window::Bytes(kib << 10)).into(),
        streams: vec![1, 2, 4, 8, 16, 32],
        directions: vec![Direction::Forward, Direction::Reverse],
        cycles: 8,
        durations: vec![20.0, 60.0],
        failing: 37,
        seed: 1,
    };
    let mut sweep = synthetic::sweep(&case).body;
    for cell in &mut sweep.cells {
        cell.setting.congestion = Some("cubic".to_owned());
        cell.setting.pacing_bits_per_second = Some(1);
        cell.setting.mss_bytes = Some(1448);
        if let Some(figures) = cell.figures.as_mut() {
            figures.losses_together_by_chance_ratio = figures.losses_together_ratio;
        }
    }
    sweep
}

/// Sorts `found` into keys of quantities and others; of a quantity the others keep its place.
fn sorted_out(found: Keys, quantities: &Keys) -> (Keys, Keys) {
    let (mut seen, mut rest) = (Keys::new(), Keys::new());
    for path in found {
        let (place, key) = path.rsplit_once('.').unwrap_or(("", &path));
        if place.ends_with("setting") || place.starts_with("only_") {
            rest.insert(place.to_owned());
        } else if quantities.contains(key) {
            seen.insert(key.to_owned());
            rest.insert(place.to_owned());
        } else {
            rest.insert(path);
        }
    }
    (seen, rest)
}

#[test]
fn every_key_of_an_analysis_and_of_a_comparison_is_documented_and_the_other_way_round() {
    let quantities = documented("Quantities of a sweep");
    let analysis = serde_json::to_string(&full().analyse()).unwrap();
    let (mut seen, found) = sorted_out(keys(&analysis), &quantities);
    assert_eq!(found, documented("The analysis of a sweep"));

    let mut one = full();
    let mut other = full();
    one.cells.retain(|cell| cell.setting.streams != 1);
    other.cells.retain(|cell| cell.setting.streams != 2);
    let comparison = SweepComparison::new(&one, &other).to_json();
    let (more, found) = sorted_out(keys(&comparison), &quantities);
    assert_eq!(found, documented("Two sweeps compared"));
    seen.extend(more);
    assert_eq!(seen, quantities);
}

#[test]
fn what_scripts_rely_on_in_an_analysis_is_where_it_was_promised() {
    let sweep = full().analysed();
    let json = serde_json::to_string(&sweep).unwrap();
    let at = |pointer: &str| super::at(&json, pointer);
    assert!(at("/analysis/directions/0/recommended/setting/streams").is_u64());
    assert!(at("/analysis/directions/0/recommended/window_granted_bytes").is_u64());
    assert!(at("/analysis/directions/0/curves/0/knee/streams").is_u64());
    assert!(at("/analysis/settings/0/goodput/median_bits_per_second").is_u64());
    assert!(at("/analysis/settings/0/rtt_added/median_seconds").is_f64());
    assert!(at("/analysis/directions_apart/shift/confidence").is_f64());
}
