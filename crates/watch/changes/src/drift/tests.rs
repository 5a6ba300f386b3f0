use super::trend;
use crate::Metric;
use crate::series::Series;
use crate::testing::{Noise, at};

fn series(slope_a_day: f64, seed: u64) -> Series {
    let mut noise = Noise::new(seed);
    let mut series = Series::new(Metric::Goodput);
    for number in 0..14 * 48 {
        let level = slope_a_day * number as f64 / 48.0 + 0.02 * noise.normal();
        series.push(at(number), number, 1e8 * level.exp());
    }
    series
}

#[test]
fn a_trend_is_measured() {
    let trend = trend(&series(-0.01, 1), 0, u64::MAX).unwrap();
    assert!(trend.strength < -3.0, "{trend:?}");
    // Twelve or fourteen days of one hundredth each.
    assert!((-0.15..-0.06).contains(&trend.total), "{trend:?}");
}

#[test]
fn noise_has_no_trend() {
    for seed in 0..20 {
        let trend = trend(&series(0.0, seed), 0, u64::MAX).unwrap();
        assert!(trend.strength.abs() < 3.0, "seed {seed}: {trend:?}");
    }
}

#[test]
fn a_week_is_too_short() {
    assert!(trend(&series(-0.01, 1), 7 * 48, u64::MAX).is_none());
}
