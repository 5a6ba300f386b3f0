//! Where warm-up ends, and the goodput after it.

use stats::SteadyState;
use units::Rate;

use super::series::Series;
use super::{Goodput, RateInterval, Steadiness, SteadyWindow};

/// The steady window of a series and the goodput over it.
pub(super) fn goodput(series: &Series) -> (SteadyWindow, Goodput) {
    let steady = first_steady(&series.rates);
    // What never settled is at least past its beginning in the later half.
    let from = steady.unwrap_or(series.rates.len() / 2);
    let window = SteadyWindow {
        from: Series::time(from),
        to: Series::time(series.rates.len()),
        steadiness: match steady {
            Some(_) => Steadiness::Settled,
            None => Steadiness::NeverSettled,
        },
    };
    (window, mean(&series.rates[from..], window.steadiness))
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

fn mean(rates: &[f64], steadiness: Steadiness) -> Goodput {
    let estimate = stats::mean_with_interval(rates);
    let interval = estimate.and_then(|estimate| estimate.interval);
    let interval = interval.filter(|_| steadiness == Steadiness::Settled);
    Goodput {
        mean: Rate::from_f64(estimate.map_or(0.0, |estimate| estimate.value)),
        interval: interval.map(|interval| RateInterval {
            low: Rate::from_f64(interval.low),
            high: Rate::from_f64(interval.high),
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settled(rates: Vec<f64>) -> Option<usize> {
        let (window, _) = goodput(&Series { rates });
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
            let (window, goodput) = goodput(&Series { rates });
            assert_eq!(window.steadiness, Steadiness::NeverSettled, "{length}");
            assert_eq!(goodput.interval, None, "{length}");
        }
    }

    #[test]
    fn a_silent_run_is_not_steady() {
        assert_eq!(settled(vec![0.0; 20]), None);
    }
}
