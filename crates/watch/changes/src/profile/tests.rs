use super::Profile;
use crate::testing::{Noise, at};

fn daily(days: u64, seed: u64) -> Profile {
    let mut noise = Noise::new(seed);
    let value = |number: u64, noise: &mut Noise| {
        let phase = at(number).hour() / 24.0 * std::f64::consts::TAU;
        let weekend = if at(number).is_weekend() { 0.3 } else { 1.0 };
        (at(number), weekend * phase.cos() + 0.1 * noise.normal())
    };
    let values: Vec<_> = (0..days * 48)
        .map(|number| value(number, &mut noise))
        .collect();
    Profile::of(&values)
}

#[test]
fn a_season_is_found_to_within_its_noise() {
    let profile = daily(28, 1);
    for number in 0..7 * 48 {
        let phase = at(number).hour() / 24.0 * std::f64::consts::TAU;
        let weekend = if at(number).is_weekend() { 0.3 } else { 1.0 };
        let off = profile.center(at(number)) - weekend * phase.cos();
        assert!(off.abs() < 0.15, "{number}: {off}");
    }
}

#[test]
fn weekends_need_two_weeks_and_seasons_some_days() {
    assert!(!daily(3, 2).is_known());
    let week = daily(10, 3);
    assert!(week.is_known());
    // The sixth and the seventh day of a week that is not known to have a weekend are days.
    assert_eq!(week.center(at(2 * 48)), week.center(at(5 * 48)));
    let month = daily(28, 4);
    assert!((month.center(at(2 * 48)) - month.center(at(5 * 48))).abs() > 0.4);
}

#[test]
fn noise_is_no_season() {
    let mut noise = Noise::new(5);
    let values: Vec<_> = (0..20 * 48)
        .map(|number| (at(number), noise.normal()))
        .collect();
    assert!(!Profile::of(&values).is_known());
    assert_eq!(Profile::of(&[]), Profile::default());
}
