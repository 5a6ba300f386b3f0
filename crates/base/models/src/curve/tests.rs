use super::*;
use proptest::prelude::*;

fn mbit(rate: f64) -> Rate {
    Rate::from_f64(rate * 1e6)
}

fn of(curve: &Curve, streams: &[u32]) -> Vec<(u32, Rate)> {
    streams.iter().map(|n| (*n, curve.throughput(*n))).collect()
}

fn through(form: Form, samples: &[(u32, f64)]) -> Result<Curve, CurveError> {
    let samples: Vec<_> = samples.iter().map(|(n, rate)| (*n, mbit(*rate))).collect();
    Curve::through(form, &samples)
}

/// A curve of `form` that takes 1000 streams to carry nothing: all bounds hold.
fn curve(form: Form, peak: f64, height: f64, power: f64) -> Curve {
    // With R = n^2/T^2 at the peak and R' n = 2 R there.
    let y = (peak / height).powi(2);
    match form {
        Form::PartialSecondOrder => Curve::PartialSecondOrder {
            a: height.powi(-2),
            b: (peak / height).powi(2),
        },
        Form::Logarithmic => Curve::Logarithmic {
            a: height / peak,
            b: height / 10.0,
        },
        Form::Newton => Curve::Newton {
            a: 2.0 * y / power / peak.powf(power),
            b: y * (1.0 - 2.0 / power),
            c: power,
        },
        // R = y + s (n - peak)^2 / peak^2 + 2 y (n - peak) / peak, with s above y.
        Form::FullSecondOrder => Curve::FullSecondOrder {
            a: 3.0 * y / peak.powi(2),
            b: -4.0 * y / peak,
            c: 2.0 * y,
        },
        Form::FullC => {
            let d = -0.3 * y / peak;
            let a = 2.3 * y / power / peak.powf(power);
            Curve::FullC {
                a,
                b: y - d * peak - a * peak.powf(power),
                c: power,
                d,
            }
        }
    }
}

#[test]
fn streams_that_do_not_help_saturate_at_once() {
    let flat = through(Form::PartialSecondOrder, &[(1, 94.0), (8, 94.0)]).unwrap();
    assert_eq!(flat.limit(), Some(mbit(94.0)));
    assert_eq!(flat.knee(0.9, 128), Some(1.0));
}

#[test]
fn growth_in_proportion_has_no_limit() {
    let growing = through(Form::PartialSecondOrder, &[(1, 5.0), (4, 20.0)]);
    assert_eq!(growing, Err(CurveError::NoLimit { streams: 4 }));
    // Rounding to whole bits bends the line by parts in a million.
    let rounded = [
        (1, Rate::from_bits_per_second(3_333_333)),
        (3, Rate::from_bits_per_second(9_999_998)),
    ];
    let rounded = Curve::through(Form::PartialSecondOrder, &rounded);
    assert_eq!(rounded, Err(CurveError::NoLimit { streams: 3 }));
}

#[test]
fn falling_throughput_is_not_followed_by_forms_without_a_peak() {
    for form in [Form::PartialSecondOrder, Form::Logarithmic] {
        let falling = through(form, &[(1, 90.0), (8, 60.0)]);
        assert_eq!(falling, Err(CurveError::Falling { form }));
    }
}

#[test]
fn samples_that_say_nothing_are_refused() {
    for form in Form::ALL {
        let none = CurveError::TooFewSamples { form, distinct: 0 };
        assert_eq!(through(form, &[]), Err(none));
        let alike = CurveError::TooFewSamples { form, distinct: 1 };
        assert_eq!(
            through(form, &[(4, 5.0), (4, 6.0), (4, 7.0), (4, 8.0)]),
            Err(alike)
        );
        let empty = CurveError::EmptySample {
            streams: 2,
            throughput: Rate::ZERO,
        };
        assert_eq!(through(form, &[(1, 5.0), (2, 0.0)]), Err(empty));
        let many = [(1, 5.0), (2, 6.0), (3, 7.0), (4, 8.0), (5, 8.0)];
        let given = CurveError::TooManySamples { form, given: 5 };
        assert_eq!(through(form, &many), Err(given));
    }
}

#[test]
fn samples_without_a_peak_break_a_bound_of_the_forms_with_one() {
    // A partial second order, 64 / sqrt(1 + 40/n^2), with a little more at 16 streams.
    let rising = [(1, 9.995), (4, 34.211), (16, 59.6)];
    let newton = through(Form::Newton, &rising).unwrap_err();
    let CurveError::OutOfBounds {
        bound: "c - 2 > 0",
        value,
        ..
    } = newton
    else {
        panic!("{newton}");
    };
    assert!((-0.1..0.0).contains(&value), "{value}");
    let full = through(Form::FullSecondOrder, &[(1, 10.0), (4, 30.0), (16, 70.0)]).unwrap_err();
    assert!(matches!(full, CurveError::OutOfBounds { .. }), "{full}");
}

#[test]
fn a_message_names_the_bound_and_the_way_out() {
    let error = through(Form::FullSecondOrder, &[(1, 10.0), (4, 30.0), (16, 70.0)]).unwrap_err();
    let text = error.to_string();
    assert!(
        text.starts_with("the full second order curve needs -b > 0, and the samples give -"),
        "{text}"
    );
    assert!(
        text.ends_with("use the knee of a form without one"),
        "{text}"
    );
}

#[test]
fn a_knee_needs_a_share() {
    let lu = through(Form::PartialSecondOrder, &[(1, 9.45), (8, 50.0)]).unwrap();
    for fraction in [0.0, 1.1, -0.5, f64::NAN] {
        assert_eq!(lu.knee(fraction, 128), None, "{fraction}");
    }
    assert_eq!(lu.knee(0.9, 0), None);
    let all = lu.knee(1.0, 128).unwrap();
    assert!((all - 128.0).abs() < 1e-9, "{all}");
}

#[test]
fn nothing_comes_of_no_streams() {
    for form in Form::ALL {
        assert_eq!(curve(form, 20.0, 100.0, 2.5).throughput(0), Rate::ZERO);
    }
}

proptest! {
    #[test]
    fn a_curve_through_samples_of_a_curve_is_that_curve(
        peak in 4.0..40.0_f64,
        height in 10.0..10_000.0_f64,
        power in 2.2..5.0_f64,
        first in 1_u32..3,
    ) {
        for form in Form::ALL {
            let original = curve(form, peak, height, power).delimited(64).unwrap();
            let streams = [first, first * 4, first * 10, first * 25];
            let samples = of(&original, &streams[..form.coefficients()]);
            let found = Curve::through(form, &samples).unwrap();
            for (n, rate) in &samples {
                let off = found.throughput(*n).as_f64() / rate.as_f64() - 1.0;
                prop_assert!(off.abs() < 1e-6, "{original:?} gave {found:?} at {n}: {off}");
            }
            // Beyond the last sample a curve of another power may part from it: rates are whole
            // bits.
            let last = samples.last().map_or(0, |(n, _)| *n);
            for n in [2, 7, 20, 50].into_iter().filter(|n| *n <= last) {
                let off = found.throughput(n).as_f64() / original.throughput(n).as_f64() - 1.0;
                prop_assert!(off.abs() < 0.01, "{original:?} gave {found:?} at {n}: {off}");
            }
        }
    }

    #[test]
    fn the_peak_is_the_highest_point(peak in 2.0..60.0_f64, height in 1.0..1e5_f64, power in 2.2..6.0_f64) {
        for form in [Form::Newton, Form::FullSecondOrder, Form::FullC] {
            let curve = curve(form, peak, height, power).delimited(64).unwrap();
            prop_assert!((curve.peak().unwrap() / peak - 1.0).abs() < 1e-9, "{curve:?}");
            let top = curve.mbit(peak);
            prop_assert!((top / height - 1.0).abs() < 1e-9);
            for n in [0.5, 0.9, 0.99, 1.01, 1.1, 2.0] {
                prop_assert!(curve.mbit(peak * n) < top, "{curve:?} at {n}");
            }
        }
    }

    #[test]
    fn the_slope_is_that_of_the_curve(peak in 2.0..60.0_f64, power in 2.2..6.0_f64, n in 1.0..100.0_f64) {
        for form in Form::ALL {
            let curve = curve(form, peak, 100.0, power);
            let step = n * 1e-6;
            let slope = (curve.mbit(n + step) - curve.mbit(n - step)) / (2.0 * step);
            prop_assert!((curve.slope_mbit(n) - slope).abs() < 1e-4 * (slope.abs() + 0.1), "{curve:?} at {n}: {slope}");
        }
    }

    #[test]
    fn the_knee_reaches_its_fraction_and_no_fewer_streams_do(
        peak in 2.0..60.0_f64, power in 2.2..6.0_f64, fraction in 0.3..0.999_f64, streams_max in 2_u32..200,
    ) {
        for form in Form::ALL {
            let curve = curve(form, peak, 100.0, power);
            let knee = curve.knee(fraction, streams_max).unwrap();
            let highest = curve.mbit(curve.best(streams_max));
            prop_assert!(curve.mbit(knee) >= fraction * highest * (1.0 - 1e-9), "{curve:?}");
            prop_assert!(knee == 1.0 || curve.mbit(knee * 0.999) < fraction * highest, "{curve:?}");
            prop_assert!((1.0..=f64::from(streams_max)).contains(&knee));
        }
    }

    #[test]
    fn a_curve_through_anything_has_values_or_an_error(rates in prop::array::uniform4(0.0..100.0_f64)) {
        let samples: Vec<_> = [1, 3, 9, 27].into_iter().zip(rates.map(mbit)).collect();
        for form in Form::ALL {
            if let Ok(curve) = Curve::through(form, &samples[..form.coefficients()]) {
                prop_assert!((1..200).all(|n| curve.mbit(f64::from(n)) > 0.0), "{curve:?}");
                // Newton's published bounds let a curve peak before its first stream: it only
                // falls.
                let after = if form == Form::Newton { 0.0 } else { 1.0 };
                let peak = curve.peak();
                prop_assert!(peak.is_none_or(|peak| peak > after), "{curve:?}: {peak:?}");
            }
        }
    }
}
