use super::Series;
use crate::Metric;
use crate::testing::{Noise, at};

#[test]
fn a_candidate_begins_where_the_shift_does() {
    let mut noise = Noise::new(1);
    let mut series = Series::new(Metric::Goodput);
    for number in 0..603 {
        let level = if number < 600 { 1.0_f64 } else { 0.8 };
        series.push(
            at(number),
            number,
            1e8 * level * (0.01 * noise.normal()).exp(),
        );
    }
    let candidate = series.candidate().unwrap();
    assert_eq!(candidate.visit, 600);
    assert!(candidate.strength < -8.0, "{candidate:?}");
}

#[test]
fn an_accepted_shift_is_the_new_level() {
    let mut noise = Noise::new(2);
    let mut series = Series::new(Metric::RoundTripMin);
    for number in 0..660 {
        let level = if number < 600 { 0.020 } else { 0.030 };
        series.push(at(number), number, level + 20e-6 * noise.normal());
        if number == 602 {
            series.depart(0, 600);
        }
    }
    let (before, after) = series.sides(640);
    let shift = stats::shift(&before, &after).unwrap();
    assert!(shift.value.abs() < 1e-4, "{shift:?}");
    let strength = series.candidate().unwrap().strength;
    assert!(strength.abs() < 4.0, "{strength}");
}

/// Memory and work of a push do not grow with the years.
#[test]
fn old_points_are_forgotten() {
    let mut series = Series::new(Metric::Loss);
    for number in 0..3000 {
        series.push(at(number), number, 0.0);
    }
    assert_eq!(series.points().len(), super::POINTS_MAX);
}
