//! Response functions: the window that a congestion control holds under a given loss.

use units::{Rate, Span};

use crate::{Acks, Conditions};

/// RFC 9438 section 5.1: the constant that scales CUBIC's growth, in segments per second cubed.
const CUBIC_C: f64 = 0.4;
/// RFC 9438 section 4.6: the share of its window that CUBIC keeps at a loss.
const CUBIC_BETA: f64 = 0.7;

/// A congestion control in steady state, without timeouts and without a limit on its window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Response {
    /// Reno: `W = K / sqrt(p)`, `K = sqrt(3/2)`, or `sqrt(3/4)` with delayed acknowledgements.
    ///
    /// Source: Mathis, Semke, Mahdavi and Ott, "The macroscopic behavior of the TCP congestion
    /// avoidance algorithm", ACM CCR 27(3), 1997, section 2.
    /// ```
    /// use models::{Acks, Conditions, Response};
    /// use units::{Bytes, Span};
    /// let path = Conditions { segment: Bytes::new(1460), rtt: Span::from_millis(165), loss: 1e-5 };
    /// let rate = Response::Reno(Acks::Every).rate(&path).unwrap();
    /// assert_eq!(rate.bits_per_second(), 27_416_028);
    /// ```
    Reno(Acks),
    /// CUBIC: `W = (C (3 + beta) / (4 (1 - beta)))^(1/4) (RTT/p)^(3/4)` with C = 0.4 and beta =
    /// 0.7, but never less than Reno's window.
    ///
    /// Source: RFC 9438 section 5 for the window, section 4.3 for the Reno-friendly region, whose
    /// average is `sqrt(3 / (2p))` for every beta by the choice of its slope.
    /// ```
    /// use models::Response;
    /// use units::Span;
    /// // 1.0538 x (0.165 / 1e-5)^(3/4), a rate of 108.60 Mbit/s at 1460 B.
    /// let window = Response::Cubic.window_segments(Span::from_millis(165), 1e-5).unwrap();
    /// assert!((window - 1534.2).abs() < 0.05);
    /// // On a short path Reno's window is the larger one: sqrt(1.5 / 1e-4).
    /// let window = Response::Cubic.window_segments(Span::from_millis(10), 1e-4).unwrap();
    /// assert!((window - 122.47).abs() < 0.01);
    /// ```
    Cubic,
    /// HighSpeed TCP: `W = 0.12 / p^0.835` above 38 segments, below it `1.2 / sqrt(p)`.
    ///
    /// The larger of the two is taken, so that the curve has no step: they meet at p = 1.04e-3.
    ///
    /// Source: RFC 3649 section 5.
    /// ```
    /// use models::Response;
    /// use units::Span;
    /// let window = Response::HighSpeed.window_segments(Span::from_millis(165), 1e-5).unwrap();
    /// assert!((window - 1795.5).abs() < 0.05);
    /// ```
    HighSpeed,
    /// Scalable TCP: `W = 0.08 / p`, and Reno's window where that is larger (p above 0.0043).
    ///
    /// Derived: each acknowledgement adds 0.01 segments and each loss takes an eighth of the
    /// window, so they balance at `0.01 = p W / 8`. Evenly spaced losses instead of random ones
    /// make 0.08/p the peak of the saw-tooth, and its mean 6.4 % lower.
    ///
    /// Source: Kelly, "Scalable TCP: improving performance in highspeed wide area networks", ACM
    /// CCR 33(2), 2003.
    /// ```
    /// use models::Response;
    /// use units::Span;
    /// let window = Response::Scalable.window_segments(Span::from_millis(165), 1e-5).unwrap();
    /// assert!((window - 8000.0).abs() < 1e-6);
    /// ```
    Scalable,
}

impl Response {
    /// Mean window in segments under `loss` events for each packet.
    ///
    /// Only CUBIC's depends on `rtt`: the others grow by round trips, CUBIC by the clock.
    /// `None` without loss, where nothing here bounds the window, and for a loss outside 0 to 1.
    pub fn window_segments(self, rtt: Span, loss: f64) -> Option<f64> {
        if !(loss > 0.0 && loss <= 1.0) {
            return None;
        }
        let reno = reno_window(Acks::Every, loss);
        Some(match self {
            Response::Reno(acks) => reno_window(acks, loss),
            Response::Cubic => cubic_window(rtt.as_secs_f64(), loss).max(reno),
            Response::HighSpeed => (0.12 / loss.powf(0.835)).max(1.2 / loss.sqrt()),
            Response::Scalable => (0.08 / loss).max(reno),
        })
    }

    /// Share of a window of so many segments that a stream keeps at a loss.
    ///
    /// Reno a half, CUBIC 0.7, Scalable seven eighths. HighSpeed from a half at 38 segments to 0.9
    /// at 83,000 by the logarithm between.
    ///
    /// Source: RFC 5681 section 3.1, RFC 9438 section 4.6, RFC 3649 section 5, and see
    /// [`Response::Scalable`].
    /// ```
    /// use models::Response;
    /// // The second row of RFC 3649's table: 118 segments, b(w) = 0.44.
    /// assert!((Response::HighSpeed.kept(118.0) - 0.56).abs() < 0.005);
    /// assert_eq!(Response::Cubic.kept(118.0), 0.7);
    /// ```
    pub fn kept(self, window_segments: f64) -> f64 {
        match self {
            Response::Reno(_) => 0.5,
            Response::Cubic => CUBIC_BETA,
            Response::HighSpeed => {
                let (low, high) = (38_f64, 83_000_f64);
                let way = (window_segments.clamp(low, high) / low).ln() / (high / low).ln();
                0.5 + 0.4 * way
            }
            Response::Scalable => 0.875,
        }
    }

    /// Mean rate of one stream: its window once a round trip.
    ///
    /// `None` where [`Response::window_segments`] has none, and for a segment or round trip of
    /// zero.
    pub fn rate(self, conditions: &Conditions) -> Option<Rate> {
        let window = self.window_segments(conditions.rtt, conditions.loss)?;
        conditions.rate_of(window)
    }
}

fn reno_window(acks: Acks, loss: f64) -> f64 {
    (1.5 / (acks.segments() * loss)).sqrt()
}

fn cubic_window(rtt_seconds: f64, loss: f64) -> f64 {
    let factor = CUBIC_C * (3.0 + CUBIC_BETA) / (4.0 * (1.0 - CUBIC_BETA));
    factor.powf(0.25) * (rtt_seconds / loss).powf(0.75)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use units::Bytes;

    const ALL: [Response; 5] = [
        Response::Reno(Acks::Every),
        Response::Reno(Acks::Delayed),
        Response::Cubic,
        Response::HighSpeed,
        Response::Scalable,
    ];

    const RTT: Span = Span::from_millis(165);

    fn window(response: Response, loss: f64) -> f64 {
        response.window_segments(RTT, loss).unwrap()
    }

    #[test]
    fn delayed_acknowledgements_cost_a_factor_of_root_two() {
        let ratio =
            window(Response::Reno(Acks::Every), 1e-4) / window(Response::Reno(Acks::Delayed), 1e-4);
        assert!((ratio - 2_f64.sqrt()).abs() < 1e-12);
    }

    #[test]
    fn a_loss_that_is_no_share_has_no_window() {
        for response in ALL {
            for loss in [0.0, -1e-3, 1.1, f64::NAN, f64::INFINITY] {
                assert_eq!(
                    response.window_segments(RTT, loss),
                    None,
                    "{response:?} {loss}"
                );
            }
        }
    }

    #[test]
    fn a_path_without_length_has_no_rate() {
        let path = Conditions {
            segment: Bytes::new(1460),
            rtt: Span::ZERO,
            loss: 1e-3,
        };
        assert_eq!(Response::Cubic.rate(&path), None);
        let path = Conditions {
            segment: Bytes::ZERO,
            rtt: RTT,
            loss: 1e-3,
        };
        assert_eq!(Response::Cubic.rate(&path), None);
    }

    #[test]
    fn highspeed_passes_through_the_points_that_define_it() {
        // RFC 3649 section 5: Low_Window at Low_P and High_Window at High_P; 0.12 and 0.835 are
        // rounded.
        for (loss, expected) in [(1e-3, 38.0), (1e-7, 83_000.0)] {
            let window = window(Response::HighSpeed, loss);
            assert!((window / expected - 1.0).abs() < 0.02, "{loss}: {window}");
        }
    }

    /// One saw-tooth of Scalable TCP with a loss after every `gap` packets: mean and peak window.
    fn scalable_saw_tooth(gap: f64) -> (f64, f64) {
        let (mut window, mut mean) = (0.08 * gap, 0.0);
        for _ in 0..200 {
            window *= 0.875;
            let (mut sent, mut rounds) = (0.0, 0.0);
            while sent < gap {
                let share = ((gap - sent) / window).min(1.0);
                sent += window * share;
                rounds += share;
                window *= 1.01_f64.powf(share);
            }
            mean = sent / rounds;
        }
        (mean, window)
    }

    #[test]
    fn scalables_window_is_the_peak_under_evenly_spaced_losses() {
        let (mean, peak) = scalable_saw_tooth(1e5);
        let model = window(Response::Scalable, 1e-5);
        assert!((peak / model - 1.0).abs() < 0.01, "{peak}");
        assert!((mean / model - 0.936).abs() < 0.01, "{mean}");
    }

    /// Reno with a loss after every `gap` packets: mean window over one saw-tooth.
    fn reno_saw_tooth(gap: f64) -> f64 {
        let (mut window, mut mean) = (100.0, 0.0);
        for _ in 0..200 {
            window /= 2.0;
            let (mut sent, mut rounds) = (0.0, 0.0);
            while sent < gap {
                sent += window;
                rounds += 1.0;
                window += 1.0;
            }
            mean = sent / rounds;
        }
        mean
    }

    #[test]
    fn renos_window_is_the_mean_of_its_saw_tooth() {
        let mean = reno_saw_tooth(1e5);
        let model = window(Response::Reno(Acks::Every), 1e-5);
        assert!((mean / model - 1.0).abs() < 0.02, "{mean} against {model}");
    }

    proptest! {
        #[test]
        fn more_loss_never_means_a_larger_window(exponent in -9.0..0.0_f64, more in 1.0..10.0_f64) {
            let loss = 10_f64.powf(exponent);
            for response in ALL {
                let larger = (loss * more).min(1.0);
                prop_assert!(window(response, larger) <= window(response, loss), "{response:?}");
            }
        }

        #[test]
        fn the_curves_have_no_steps(exponent in -8.0..-0.1_f64) {
            let loss = 10_f64.powf(exponent);
            for response in ALL {
                let change = window(response, loss) / window(response, loss * 1.0001);
                prop_assert!(change < 1.0002, "{response:?} at {loss}: {change}");
            }
        }

        #[test]
        fn no_response_is_gentler_than_reno(exponent in -9.0..0.0_f64, rtt_ms in 1_u64..500) {
            let loss = 10_f64.powf(exponent);
            let rtt = Span::from_millis(rtt_ms);
            let reno = Response::Reno(Acks::Every).window_segments(rtt, loss).unwrap();
            // HighSpeed's own Reno constant is 1.2, 2 % below sqrt(3/2).
            for response in [Response::Cubic, Response::HighSpeed, Response::Scalable] {
                prop_assert!(response.window_segments(rtt, loss).unwrap() >= reno * 0.979);
            }
        }

        #[test]
        fn a_longer_path_is_never_faster(exponent in -9.0..0.0_f64, rtt_ms in 1_u64..500) {
            let at = |rtt_ms| Conditions {
                segment: Bytes::new(1460),
                rtt: Span::from_millis(rtt_ms),
                loss: 10_f64.powf(exponent),
            };
            for response in ALL {
                prop_assert!(response.rate(&at(rtt_ms + 1)) <= response.rate(&at(rtt_ms)), "{response:?}");
            }
        }
    }
}
