//! Where warm-up ends, as far as the rate alone tells, and how its mean scatters after that.

use stats::SteadyState;
use units::Rate;

use super::series::Series;
use super::{RateInterval, Steadiness, SteadyWindow};

/// The steady window of a series.
pub(super) fn window(series: &Series) -> SteadyWindow {
    let steady = first_steady(&series.rates);
    // What never settled is at least past its beginning in the later half.
    let from = steady.unwrap_or(series.rates.len() / 2);
    SteadyWindow {
        from: Series::time(from),
        to: Series::time(series.rates.len()),
        steadiness: match steady {
            Some(_) => Steadiness::Settled,
            None => Steadiness::NeverSettled,
        },
    }
}

/// Index of the first steady interval; `None` when the series never settles, is too short to tell
/// (less than two seconds), or nothing arrived.
fn first_steady(rates: &[f64]) -> Option<usize> {
    match stats::steady_state(rates)? {
        SteadyState::Settled { from } => stats::mean(&rates[from..])
            .filter(|mean| *mean > 0.0)
            .map(|_| from),
        SteadyState::NotSettled { .. } => None,
    }
}

/// Mean over the window, and how far the scatter within it leaves that open; `None` where it is too
/// short or not settled.
pub(super) fn mean(series: &Series, window: &SteadyWindow) -> (Rate, Option<RateInterval>) {
    let estimate = stats::mean_with_interval(series.from(window.from));
    let interval = estimate.and_then(|estimate| estimate.interval);
    let interval = interval.filter(|_| window.steadiness == Steadiness::Settled);
    let scatter = interval.map(|interval| {
        RateInterval::new(Rate::from_f64(interval.low), Rate::from_f64(interval.high))
    });
    (
        Rate::from_f64(estimate.map_or(0.0, |estimate| estimate.value)),
        scatter,
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settled(rates: Vec<f64>) -> Option<usize> {
        let window = window(&Series { rates });
        let from = window.from.as_nanos() / 100_000_000;
        (window.steadiness == Steadiness::Settled).then_some(from as usize)
    }

    #[test]
    fn two_seconds_are_the_least_that_can_be_steady() {
        let mut rates = vec![950.0; 20];
        rates[0] = 400.0;
        assert_eq!(settled(rates), Some(5));
        assert_eq!(settled(vec![950.0; 19]), None);
    }

    #[test]
    fn slow_start_that_fills_the_run_never_settles_and_has_no_interval() {
        for length in [20, 30, 60] {
            let rates: Vec<f64> = (0..length).map(|i| 1.1_f64.powi(i)).collect();
            let series = Series { rates };
            let window = window(&series);
            assert_eq!(window.steadiness, Steadiness::NeverSettled, "{length}");
            assert_eq!(mean(&series, &window).1, None, "{length}");
        }
    }

    #[test]
    fn a_silent_run_is_not_steady() {
        assert_eq!(settled(vec![0.0; 20]), None);
    }
}
