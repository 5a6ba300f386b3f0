//! What each does on a path where its rule leaves no doubt.

use observe::HostLimits;
use units::Span;

use super::*;
use crate::baselines::falcon::falcon_utility;

const MBIT: f64 = 1e6;

/// Buffers of 256 KiB that do not grow: throughput is in proportion to the streams up to the
/// capacity.
fn small_buffers(path: Path) -> Path {
    let limits = HostLimits {
        send_auto_max: Bytes::from_kib(512),
        receive_auto_max: Bytes::from_kib(512),
        ..Path::AMPLE
    };
    Path { limits, ..path }
}

#[test]
fn fixed_streams_are_sampled_once_and_recommended() {
    let all = [
        (Baseline::Default, 1),
        (Baseline::Fixed4, 4),
        (Baseline::Fixed8, 8),
        (Baseline::Fixed16, 16),
    ];
    for (baseline, expected) in all {
        let tuning = run(&baseline, clean(100.0 * MBIT, 0.05), &unbounded());
        assert_eq!(streams(&tuning), [expected]);
        assert_eq!(tuning.recommended().streams.get(), expected);
        assert_eq!(tuning.recommended().window, Window::Auto);
    }
}

/// One stream carries 256 KiB in 50 ms = 41.9 Mbit/s; the link of 150 Mbit/s is full with 3.6 of
/// them.
#[test]
fn doubling_stops_at_the_first_that_brings_nothing_and_bisects_below_it() {
    let path = small_buffers(clean(150.0 * MBIT, 0.05));
    let tuning = run(&DoublingBisection, path, &unbounded());
    // 4 to 8 brings nothing, so the best may lie between: 6, then 5, which is next to 4.
    assert_eq!(streams(&tuning), [1, 2, 4, 8, 6, 5]);
    assert!(
        windows(&tuning)
            .iter()
            .all(|window| *window == Window::Auto)
    );
}

/// Throughput keeps growing in proportion: no doubling is the last but that which the plan ends.
#[test]
fn doubling_ends_at_the_most_streams() {
    let path = small_buffers(clean(100_000.0 * MBIT, 0.05));
    let plan = TunePlan {
        streams_max: count(24),
        ..unbounded()
    };
    let tuning = run(&DoublingBisection, path, &plan);
    assert_eq!(streams(&tuning), [1, 2, 4, 8, 16]);
    assert_eq!(tuning.recommended().streams.get(), 16);
}

/// Streams beyond the fourth bring less than 2 % each.
#[test]
fn falcon_settles_where_a_stream_no_longer_pays() {
    let path = small_buffers(clean(160.0 * MBIT, 0.05));
    let tuning = run(&Falcon, path, &unbounded());
    // 2 doubles throughput: one step of ceil(2 x 0.96). 4 again: two steps of ceil(4 x 0.42).
    assert_eq!(streams(&tuning)[..4], [1, 2, 4, 8]);
    assert_eq!(tuning.recommended().streams.get(), 4);
    let length = |sample: &tune::Sample| sample.observation.duration;
    assert!(
        tuning
            .samples
            .iter()
            .all(|sample| length(sample) == Span::from_secs(3))
    );
}

/// Throughput in proportion to the streams makes the utility highest at 1 / ln 1.02 = 50.5 of them.
/// The steps may look beyond it, by ten streams at most, but nothing beyond is better.
#[test]
fn falcon_goes_to_fifty_streams_where_throughput_grows_in_proportion() {
    let path = small_buffers(clean(100_000.0 * MBIT, 0.05));
    let tuning = run(&Falcon, path, &unbounded());
    let shown = format!("{:?}", streams(&tuning));
    assert!(streams(&tuning).iter().all(|n| *n <= 60), "{shown}");
    // 50 and 51 are as good as each other: 51/50 = 1.02.
    let recommended = tuning.recommended().streams.get();
    assert!((45..=51).contains(&recommended), "{recommended} of {shown}");
}

/// Eight products of 160 Mbit/s x 50 ms are 8 MB: 64 KiB to 8 MiB, and automatic windows.
#[test]
fn the_grid_has_every_cell_that_makes_a_difference_once() {
    let path = small_buffers(clean(160.0 * MBIT, 0.05));
    let tuning = run(&Exhaustive, path, &TunePlan::default());
    let mut cells: Vec<_> = streams(&tuning).into_iter().zip(windows(&tuning)).collect();
    cells.sort();
    cells.dedup();
    assert_eq!(tuning.samples.len(), 8 * 9);
    assert_eq!(cells.len(), 8 * 9);
    assert_eq!(cells[0], (1, Window::Auto));
    assert_eq!(cells[71], (128, fixed(8 * 1024)));
    let length = |sample: &tune::Sample| sample.observation.duration;
    assert!(
        tuning
            .samples
            .iter()
            .all(|sample| length(sample) == Span::from_secs(30))
    );
    // 1 MiB in 50 ms is the first window to fill the link with one stream.
    let recommended = tuning.recommended();
    assert_eq!(
        (recommended.streams.get(), recommended.window),
        (1, fixed(1024))
    );
}

/// A tenth of the throughput lost costs all of it; the published charge is ten times the loss.
#[test]
fn falcon_charges_ten_times_the_loss() {
    let rate = units::Rate::from_bits_per_second(1_000_000);
    let free = falcon_utility(rate, 8, 0.0);
    assert!((falcon_utility(rate, 8, 0.01) - (free - 1e5)).abs() < 1e-6);
    assert!(falcon_utility(rate, 8, 0.1) < 0.0);
}

/// `n / sqrt(a n^power + linear n + constant)`, in bit/s of coefficients for Mbit/s.
fn curve(setting: &Setting, a: f64, power: f64, linear: f64, constant: f64) -> f64 {
    let n = f64::from(setting.streams.get());
    MBIT * n / (a * n.powf(power) + linear * n + constant).sqrt()
}

fn told(strategy: &dyn Strategy, rate: impl Fn(&Setting) -> f64) -> Tuning {
    Tuning::of(strategy, &mut Told::new(rate), &unbounded())
}

/// The worked triple of Newton's model peaks at 22.644 streams; 16 to 32 brings 0.05 Mbit/s for
/// each stream where one carries 7.
#[test]
fn streams_are_doubled_until_they_bring_little_and_then_the_peak_is_sampled() {
    let model = StreamModel::Newton;
    let rate = |setting: &Setting| curve(setting, 2e-5, 2.6, 0.0, 0.02);
    let tuning = told(&StreamsThenBuffer { model }, rate);
    assert_eq!(streams(&tuning)[..7], [1, 2, 4, 8, 16, 32, 23]);
    assert_eq!(tuning.recommended().streams.get(), 23);
}

/// a = 1e-4, b = -2e-3, c = 0.012 peak at -2c/b = 12 streams, and 32 carry less than 16. No buffer
/// does better than the default, so two are enough to see it.
#[test]
fn the_full_second_order_model_finds_its_peak_and_buffers_follow_at_so_many_streams() {
    let model = StreamModel::SecondOrder;
    let rate = |setting: &Setting| curve(setting, 1e-4, 2.0, -2e-3, 0.012);
    let tuning = told(&StreamsThenBuffer { model }, rate);
    assert_eq!(streams(&tuning), [1, 2, 4, 8, 16, 32, 12, 12, 12]);
    assert_eq!(
        windows(&tuning)[6..],
        [Window::Auto, fixed(256), fixed(512)]
    );
    let recommended = tuning.recommended();
    assert_eq!(
        (recommended.streams.get(), recommended.window),
        (12, Window::Auto)
    );
}

/// As in the paper's testbed, one stream on the default buffer is slow, and 1 MB is as good as any
/// larger.
fn by_buffer(setting: &Setting) -> f64 {
    let window = match setting.window {
        Window::Auto => 0.2,
        Window::Fixed(window) => (window.as_f64() / 1_048_576.0).min(1.0),
    };
    window * curve(setting, 1e-4, 2.0, -2e-3, 0.012)
}

#[test]
fn buffers_are_doubled_until_they_flatten_and_streams_follow_on_the_best() {
    let model = StreamModel::SecondOrder;
    let tuning = told(&BufferThenStreams { model }, by_buffer);
    assert_eq!(streams(&tuning), [1, 1, 1, 1, 1, 2, 4, 8, 16, 32, 12]);
    let one_stream = [
        Window::Auto,
        fixed(256),
        fixed(512),
        fixed(1024),
        fixed(2048),
    ];
    assert_eq!(windows(&tuning)[..5], one_stream);
    assert!(
        windows(&tuning)[5..]
            .iter()
            .all(|window| *window == fixed(1024))
    );
    let recommended = tuning.recommended();
    assert_eq!(
        (recommended.streams.get(), recommended.window),
        (12, fixed(1024))
    );
}

/// Throughput in proportion has no peak, so no model is effective: the best of the samples stands.
#[test]
fn without_a_peak_the_best_sampled_number_is_taken() {
    for model in [StreamModel::SecondOrder, StreamModel::Newton] {
        let rate = |setting: &Setting| MBIT * f64::from(setting.streams.get());
        let tuning = told(&StreamsThenBuffer { model }, rate);
        assert_eq!(streams(&tuning)[..8], [1, 2, 4, 8, 16, 32, 64, 128]);
        assert_eq!(tuning.recommended().streams.get(), 128);
    }
}

/// A full link: 2 and 4 streams bring nothing, and three samples are the least that a model takes.
#[test]
fn a_full_link_is_known_after_three_samples_of_streams() {
    let model = StreamModel::SecondOrder;
    let tuning = told(&StreamsThenBuffer { model }, |_| 90.0 * MBIT);
    assert_eq!(streams(&tuning), [1, 2, 4, 1, 1]);
    assert_eq!(tuning.recommended().streams.get(), 1);
}
