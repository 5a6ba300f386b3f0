use observe::Direction;

use super::fixtures::{IDLE, Truth, made, round_trips, setting, toy};
use super::*;
use crate::Outcome;

const STREAMS: [u16; 10] = [1, 2, 3, 4, 6, 8, 10, 12, 16, 20];

fn grid(windows: &[u64]) -> Vec<(u16, u64)> {
    let with = |window: &u64| STREAMS.map(|streams| (streams, *window));
    windows.iter().flat_map(with).collect()
}

fn close(found: f64, truth: f64, tolerance: f64) {
    let off = (found - truth).abs();
    assert!(off <= tolerance * truth.abs(), "{found} is not {truth}");
}

#[test]
fn nothing_shows_nothing() {
    let analysis = analyse(&[], 1);
    assert!(analysis.settings.is_empty() && analysis.directions.is_empty());
    assert_eq!(analysis.directions_apart, None);
}

#[test]
fn the_curve_gives_back_its_slope_and_its_knee() {
    for seed in 1..=10 {
        let cells = made(seed).cells(&grid(&[64]), toy);
        let analysis = analyse(&cells, seed);
        let curve = &analysis.directions[0].curves[0];
        assert_eq!(curve.streams, STREAMS);
        let linear = curve.linear.unwrap();
        // 3 % of noise on 21 visits of six settings: the slope's error is about 1 %.
        close(linear.fit.slope, 5e6, 0.04);
        assert!(
            linear.fit.r_squared.unwrap() > 0.98,
            "seed {seed}: {linear:?}"
        );
        assert_eq!(
            (linear.until_streams, linear.ends),
            (8, true),
            "seed {seed}"
        );
        // 8 streams carry 40; 6 carry 30, which is 75 %.
        let knee = curve.knee.unwrap();
        assert_eq!((knee.streams, knee.at_edge), (8, false), "seed {seed}");
        close(knee.highest_bits_per_second as f64, 40e6, 0.03);
        let ends = (knee.low_streams, knee.high_streams);
        assert_eq!(ends, (Some(8), Some(8)), "seed {seed}");
        // dRTT grows beyond 8 streams and the throughput does not.
        assert!(
            [6, 8].contains(&curve.gentlest_streams.unwrap()),
            "seed {seed}"
        );
    }
}

/// The grid is dense and the noise large: 7 streams carry 87.5 % and 8 all, so that some draws of
/// the cycles reach 90 % of the highest at 7 and others only later.
#[test]
fn a_noisy_knee_has_an_interval_that_holds_it() {
    let streams: Vec<(u16, u64)> = (1..=14).map(|streams| (streams, 64)).collect();
    let mut held = 0;
    let mut wide = 0;
    for seed in 1..=20 {
        let mut path = made(seed);
        path.noise = 0.25;
        let cells = path.cells(&streams, toy);
        let knee = analyse(&cells, seed).directions[0].curves[0].knee.unwrap();
        let (low, high) = (knee.low_streams.unwrap(), knee.high_streams.unwrap());
        assert!(low <= knee.streams && knee.streams <= high);
        held += u32::from((low..=high).contains(&8));
        wide += u32::from(low < high);
    }
    assert!(held >= 17, "{held} of 20");
    assert!(wide >= 15, "{wide} of 20");
}

#[test]
fn few_cycles_have_a_knee_without_an_interval() {
    let mut path = made(1);
    path.cycles = 4;
    let cells = path.cells(&grid(&[64]), toy);
    let knee = analyse(&cells, 1).directions[0].curves[0].knee.unwrap();
    assert_eq!((knee.streams, knee.low_streams), (8, None));
}

#[test]
fn a_curve_that_still_rises_says_so() {
    let cells = made(1).cells(&[(1, 64), (2, 64), (4, 64)], toy);
    let curve = &analyse(&cells, 1).directions[0].curves[0];
    assert!(curve.knee.unwrap().at_edge);
    assert!(!curve.linear.unwrap().ends);
    let cells = made(1).cells(&[(4, 64)], toy);
    let curve = &analyse(&cells, 1).directions[0].curves[0];
    assert_eq!((curve.knee, curve.linear), (None, None));
}

#[test]
fn the_same_seed_draws_the_same_knee() {
    let mut path = made(3);
    path.noise = 0.2;
    let cells = path.cells(&grid(&[64]), toy);
    assert_eq!(analyse(&cells, 9), analyse(&cells, 9));
}

#[test]
fn medians_of_a_setting_are_those_of_its_visits() {
    let mut cells = made(1).cells(&[(8, 64)], toy);
    cells[3].outcome = Outcome::Failed("the server is busy".to_owned());
    let analysis = analyse(&cells, 1);
    let figures = &analysis.settings[0];
    assert_eq!((figures.visits, figures.failures), (20, 1));
    close(
        figures.goodput.unwrap().median_bits_per_second as f64,
        40e6,
        0.02,
    );
    // Loaded mean IDLE + 5 ms, unloaded IDLE + 0.5 ms.
    close(figures.rtt_added.unwrap().median_seconds, 0.0045, 0.05);
    close(
        figures.rate_variability_loaded.unwrap().median_ratio,
        0.005 / (IDLE + 0.005),
        0.05,
    );
    assert_eq!(figures.fairness.unwrap().median_ratio, 1.0);
    assert_eq!(figures.starvation.unwrap().visits_ratio, 0.0);
    assert_eq!(figures.losses_together_ratio, Some(0.8));
    assert_eq!(figures.limit, Some(observe::Limit::Link));
}

#[test]
fn visits_that_went_wrong_move_no_median() {
    let mut cells = made(1).cells(&[(8, 64)], toy);
    for cell in &mut cells[..5] {
        if let Outcome::Measured(figures) = &mut cell.outcome {
            figures.goodput_bits_per_second = 1;
        }
    }
    let goodput = analyse(&cells, 1).settings[0].goodput.unwrap();
    close(goodput.median_bits_per_second as f64, 40e6, 0.03);
    assert!(
        goodput.low_bits_per_second.unwrap() > 35_000_000,
        "{goodput:?}"
    );
}

/// Near the top of the knee: not the most streams, not the window that carries a little more over a
/// long queue, and not the setting at which a stream starves.
#[test]
fn the_recommendation_is_near_the_top_and_gentle() {
    let truth = |streams: u16, window: u64| {
        let few = toy(streams, window);
        match window {
            64 => few,
            // Full with two streams, five per cent more, and a queue of 100 ms.
            1024 => Truth {
                goodput: 42e6 * f64::from(streams.min(2)) / 2.0,
                added: 0.1,
                last: 1.0,
            },
            // As gentle and with fewer streams, but one starves.
            _ => Truth {
                goodput: if streams > 1 { 39e6 } else { few.goodput },
                added: 0.0005,
                last: 0.2,
            },
        }
    };
    let cells = made(2).cells(&grid(&[64, 256, 1024]), truth);
    let way = &analyse(&cells, 1).directions[0];
    let recommended = way.recommended.as_ref().unwrap();
    assert_eq!(recommended.at.setting, setting(8, 64, Direction::Forward));
    close(recommended.share_of_highest_ratio, 40.0 / 42.0, 0.03);
    assert_eq!(recommended.passed_over, 9);
    let highest = way.highest.as_ref().unwrap();
    assert_eq!(
        highest.setting.window,
        setting(1, 1024, Direction::Forward).window
    );
}

/// RV drawn from an exponential with a mean of 7 %, as loaded paths from SLAC had it.
#[test]
fn the_distribution_of_variability_gives_back_its_scale() {
    let mut path = made(4);
    let mut cells = path.cells(&grid(&[64, 128]), toy);
    for cell in &mut cells {
        let rv = -0.07 * path.uniform().ln();
        if let Outcome::Measured(figures) = &mut cell.outcome {
            let mean = IDLE / (1.0 - rv.min(0.9));
            figures.rtt_loaded = Some(round_trips(IDLE, mean - IDLE));
        }
    }
    let way = &analyse(&cells, 1).directions[0];
    let loaded = way.rate_variability_loaded.as_ref().unwrap();
    // 420 visits: the mean's error is 5 %.
    close(loaded.mean_ratio, 0.07, 0.15);
    close(loaded.standard_deviation_ratio, 0.07, 0.2);
    close(loaded.spread.median_ratio, 0.07 * 2_f64.ln(), 0.2);
    close(
        loaded.at_most_tenth_ratio,
        1.0 - (-0.1_f64 / 0.07).exp(),
        0.08,
    );
    let exponential = loaded.exponential.unwrap();
    close(exponential.scale_ratio, 0.07, 0.15);
    assert!(exponential.r_squared.unwrap() > 0.85, "{exponential:?}");
    assert!(loaded.logarithm.unwrap().slope > 0.0);
    // RV = d / (IDLE + d) is nearly a line in d.
    assert!(way.variability_against_added.unwrap().r_squared.unwrap() > 0.9);
}

#[test]
fn a_handful_of_visits_has_no_form() {
    let mut path = made(4);
    path.cycles = 1;
    let cells = path.cells(&grid(&[64]), toy);
    let loaded = analyse(&cells, 1).directions[0]
        .rate_variability_loaded
        .clone();
    let loaded = loaded.unwrap();
    assert_eq!(
        (loaded.exponential, loaded.logarithm, loaded.bin_width_ratio),
        (None, None, None)
    );
}

#[test]
fn processor_time_gives_back_its_share_per_throughput() {
    let cells = made(5).cells(&grid(&[64]), toy);
    let way = &analyse(&cells, 1).directions[0];
    let cpu = way.cpu_against_goodput.unwrap();
    close(cpu.slope, 1.5e-9, 0.001);
    assert!(cpu.r_squared.unwrap() > 0.999);
    close(way.kernel_to_user_ratio.unwrap(), 10.0, 0.001);
    assert!(way.products.is_empty());
}

/// 512 KiB in 2, 4, 8 and 16 parts: kernel time grows by 1 % a stream, user time does not.
#[test]
fn kernel_time_of_one_product_grows_with_its_streams() {
    let grid = [(2, 256), (4, 128), (8, 64), (16, 32), (3, 100)];
    let mut cells = made(6).cells(&grid, toy);
    for cell in &mut cells {
        let streams = f64::from(cell.setting.streams.get());
        if let Outcome::Measured(figures) = &mut cell.outcome {
            figures.cpu_kernel_ratio = Some(0.1 + 0.01 * streams);
            figures.cpu_user_ratio = Some(0.02);
        }
    }
    let products = &analyse(&cells, 1).directions[0].products;
    assert_eq!(products.len(), 1);
    let product = &products[0];
    assert_eq!(
        (product.product_bytes, &product.streams[..]),
        (524_288, &[2, 4, 8, 16][..])
    );
    close(product.kernel.unwrap().slope, 0.01, 1e-6);
    assert_eq!(product.user.unwrap().slope, 0.0);
}

/// Loaded round trips whose quartiles lie 1 ms / (1 - L) apart.
#[test]
fn the_spread_of_round_trips_gives_back_its_growth_with_load() {
    let mut path = made(7);
    path.noise = 0.0;
    let truth = |streams: u16, _| {
        let load = f64::from(streams) / 20.0;
        let range = 0.001 / (1.0 - load.min(0.99));
        Truth {
            goodput: 40e6 * load,
            added: range / 3_f64.ln(),
            last: 1.0,
        }
    };
    let cells = path.cells(&grid(&[64]), truth);
    let load = analyse(&cells, 1).directions[0]
        .rtt_spread_against_load
        .unwrap();
    assert_eq!(load.reference_bits_per_second, 40_000_000);
    // All but the fullest.
    assert_eq!(load.fit.count, STREAMS.len() as u64 - 1);
    close(load.fit.slope, 0.001, 0.001);
    assert!(load.fit.r_squared.unwrap() > 0.999);
}

#[test]
fn the_length_of_a_visit_is_compared_where_there_are_several() {
    let mut cells = made(8).cells(&grid(&[64]), toy);
    assert!(analyse(&cells, 1).directions[0].durations.is_empty());
    for cell in cells.iter_mut().filter(|cell| cell.cycle % 2 == 0) {
        if let Outcome::Measured(figures) = &mut cell.outcome {
            figures.duration_seconds = 60.02;
        }
    }
    let durations = &analyse(&cells, 1).directions[0].durations;
    let lengths: Vec<f64> = durations
        .iter()
        .map(|figures| figures.duration_seconds)
        .collect();
    assert_eq!(lengths, [20.0, 60.0]);
    // The length has no effect in the formula.
    for figures in durations {
        close(figures.relative_goodput.median_ratio, 1.0, 0.02);
    }
}

/// 10 Mbit/s one way and 372 the other, as between Taipei and Prague in 2006.
#[test]
fn directions_that_differ_are_told_apart() {
    let scaled = |factor: f64| {
        move |streams, window| Truth {
            goodput: factor * toy(streams, window).goodput,
            ..toy(streams, window)
        }
    };
    let mut cells = made(9).cells(&grid(&[64]), scaled(0.25));
    let mut back = made(10);
    back.direction = Direction::Reverse;
    cells.extend(back.cells(&grid(&[64]), scaled(9.3)));
    let analysis = analyse(&cells, 1);
    assert_eq!(analysis.directions.len(), 2);
    let apart = analysis.directions_apart.unwrap();
    close(apart.forward_bits_per_second as f64, 10e6, 0.03);
    close(apart.reverse_bits_per_second as f64, 372e6, 0.03);
    close(apart.shift.difference_bits_per_second, 362e6, 0.03);
    assert!(apart.shift.confidence > 0.999);
}

#[test]
fn directions_alike_are_not_told_apart() {
    let mut wrong = 0;
    for seed in 1..=20 {
        // One setting each: of the best of ten, the one that chance favours would be chosen.
        let mut cells = made(seed).cells(&[(8, 64)], toy);
        let mut back = made(seed + 100);
        back.direction = Direction::Reverse;
        cells.extend(back.cells(&[(8, 64)], toy));
        let apart = analyse(&cells, 1).directions_apart.unwrap();
        wrong += u32::from(apart.shift.confidence > 0.95);
    }
    assert!(wrong <= 4, "{wrong} of 20");
}

/// A bare sweep against a foreign server: goodput and nothing else.
#[test]
fn what_was_not_seen_is_absent() {
    let mut cells = made(1).cells(&grid(&[64]), toy);
    for cell in &mut cells {
        if let Outcome::Measured(figures) = &mut cell.outcome {
            (figures.rtt_unloaded, figures.rtt_loaded) = (None, None);
            (figures.cpu_user_ratio, figures.cpu_kernel_ratio) = (None, None);
            figures.streams.clear();
        }
    }
    let analysis = analyse(&cells, 1);
    let figures = &analysis.settings[5];
    assert_eq!(
        (figures.rtt_added, figures.rate_variability_loaded),
        (None, None)
    );
    assert_eq!((figures.fairness, figures.starvation), (None, None));
    let way = &analysis.directions[0];
    assert_eq!(
        (&way.gentlest, &way.rate_variability_loaded),
        (&None, &None)
    );
    assert_eq!(
        (way.cpu_against_goodput, way.kernel_to_user_ratio),
        (None, None)
    );
    assert_eq!(way.rtt_spread_against_load, None);
    let recommended = way.recommended.as_ref().unwrap();
    assert_eq!(recommended.at.setting.streams.get(), 8);
}
