//! A slope that outliers do not turn.

use statrs::distribution::{ContinuousCDF, Normal};

use crate::summary::sorted;
use crate::{CONFIDENCE, Interval, median};

/// The median of the slopes between all pairs of points.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MedianSlope {
    /// Change of `y` for each unit of `x`.
    pub slope: f64,
    /// Where the true slope lies; absent where the points are too few for 95 %.
    pub interval: Option<Interval<f64>>,
}

/// The slope of Theil and Sen through points `(x, y)`: up to 29 % of the points may be anything.
///
/// `None` for fewer than two points of different `x`, and for a coordinate that is not finite. The
/// interval is that of Kendall's tau without ties, so ties make it wider than it has to be.
///
/// Source: Sen, "Estimates of the regression coefficient based on Kendall's tau", Journal of the
/// American Statistical Association 63 (1968).
/// ```
/// // Points on y = 2 x, and one that is far away: six slopes of 2, four others.
/// let points = [(0.0, 0.0), (1.0, 2.0), (2.0, 4.0), (3.0, 6.0), (4.0, 100.0)];
/// assert_eq!(stats::median_slope(&points).unwrap().slope, 2.0);
/// // Ten points: 1.96 sqrt(10 x 9 x 25 / 18) = 21.9 of the 45 slopes, 11.5 from either end.
/// let line: Vec<(f64, f64)> = (0..10).map(|x| (f64::from(x), f64::from(x * x))).collect();
/// let found = stats::median_slope(&line).unwrap();
/// assert_eq!((found.slope, found.interval.unwrap().low), (9.0, 6.0));
/// ```
pub fn median_slope(points: &[(f64, f64)]) -> Option<MedianSlope> {
    if points.iter().any(|(x, y)| !x.is_finite() || !y.is_finite()) {
        return None;
    }
    let mut slopes = Vec::new();
    for (place, (x, y)) in points.iter().enumerate() {
        let others = points.iter().skip(place + 1);
        let others = others.filter(|(other, _)| other != x);
        slopes.extend(others.map(|(other, of_it)| (of_it - y) / (other - x)));
    }
    let slope = median(&slopes)?;
    let interval = interval(&sorted(&slopes), points.len() as f64);
    Some(MedianSlope { slope, interval })
}

/// Of sorted slopes between `n` points.
fn interval(slopes: &[f64], n: f64) -> Option<Interval<f64>> {
    let quantile = Normal::standard().inverse_cdf(0.5 + CONFIDENCE / 2.0);
    let width = quantile * (n * (n - 1.0) * (2.0 * n + 5.0) / 18.0).sqrt();
    let below = (slopes.len() as f64 - width) / 2.0;
    if below < 1.0 {
        return None;
    }
    let cut = below.floor() as usize - 1;
    Some(Interval {
        low: *slopes.get(cut)?,
        high: *slopes.get(slopes.len().checked_sub(1 + cut)?)?,
        confidence: CONFIDENCE,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fifth_of_outliers_does_not_turn_it() {
        let points = (0..30).map(|x| {
            let y = if x % 5 == 0 { 1e6 } else { -0.5 * f64::from(x) };
            (f64::from(x), y)
        });
        let found = median_slope(&points.collect::<Vec<_>>()).unwrap();
        assert!((found.slope + 0.5).abs() < 0.1, "{found:?}");
        let interval = found.interval.unwrap();
        assert!(interval.low <= -0.5 && -0.5 <= interval.high, "{found:?}");
    }

    #[test]
    fn nonsense_has_no_slope() {
        for points in [
            &[][..],
            &[(1.0, 1.0)],
            &[(1.0, 1.0), (1.0, 2.0)],
            &[(1.0, f64::NAN), (2.0, 1.0)],
        ] {
            assert_eq!(median_slope(points), None, "{points:?}");
        }
        let few = median_slope(&[(0.0, 0.0), (1.0, 1.0), (2.0, 2.0)]).unwrap();
        assert_eq!((few.slope, few.interval), (1.0, None));
    }
}
