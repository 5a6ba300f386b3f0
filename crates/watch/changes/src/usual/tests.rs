use super::{Levels, Usual};
use crate::testing::Noise;

/// Values that wander by `step` each time, with `white` noise on top.
fn usual(step: f64, white: f64) -> Usual {
    let mut noise = Noise::new(1);
    let mut levels = Levels::default();
    let mut at = 0.0;
    let values: Vec<(f64, Levels)> = (0..480)
        .map(|_| {
            at += step * noise.normal();
            let value = at + white * noise.normal();
            levels = levels.with(value, 3.0);
            (value, levels)
        })
        .collect();
    Usual::of(&values, 1e-6)
}

#[test]
fn a_path_that_wanders_has_a_fast_level_and_one_that_does_not_a_slow_one() {
    assert_eq!(usual(1.0, 0.1).one.speed, 2);
    assert_eq!(usual(0.0, 1.0).one.speed, 0);
}

/// The median of three normal values has the standard deviation 0.67; the slow level adds to it.
#[test]
fn scatter_is_that_of_medians() {
    let usual = usual(0.0, 1.0);
    let (off, scatter) = usual.off(&[4.0, 4.1, 3.9], &Levels::at(0.0));
    assert_eq!(off, 4.0);
    assert!((0.6..0.95).contains(&scatter), "{scatter}");
}

#[test]
fn nothing_is_usual_without_values() {
    assert!(!Usual::of(&[], 1.0).is_known());
    assert!(!Usual::of(&[(1.0, Levels::at(1.0)); 5], 1.0).is_known());
    assert_eq!(Usual::default().score(5.0, &Levels::at(0.0)), 0.0);
}
