//! What holds on every path: no surprise ends, bounds are kept, and what is recommended was
//! sampled.

use observe::{Fault, HostLimits};
use rand_core::{Rng, SeedableRng};
use rand_pcg::Pcg32;
use tune::{Budget, Ended, TuneError, tune_with};
use units::{Rate, Span};

use super::*;

const RUNS: u64 = 3;

fn between(noise: &mut Pcg32, low: f64, high: f64) -> f64 {
    low * (high / low).powf(f64::from(noise.next_u32()) / f64::from(u32::MAX))
}

fn buffer(noise: &mut Pcg32) -> Bytes {
    Bytes::new(between(noise, 2e5, 3e8) as u64)
}

fn any_path(noise: &mut Pcg32) -> Path {
    let limits = HostLimits {
        send_auto_max: buffer(noise),
        receive_auto_max: buffer(noise),
        send_fixed_max: buffer(noise),
        receive_fixed_max: buffer(noise),
    };
    let path = Path {
        limits,
        noise: between(noise, 0.001, 0.2),
        loss: between(noise, 1e-7, 1e-2),
        ..clean(between(noise, 1e6, 1e10), between(noise, 1e-3, 0.4))
    };
    Path {
        queue: path.product() * between(noise, 0.05, 4.0),
        ..path
    }
}

/// As the benchmark bounds them: time and samples, seldom bytes.
fn any_plan(noise: &mut Pcg32) -> TunePlan {
    let time = Span::from_secs_f64(between(noise, 5.0, 100.0));
    let bytes = Bytes::new(between(noise, 1e6, 1e10) as u64);
    let budget = Budget {
        time: noise.next_u32().is_multiple_of(2).then_some(time),
        bytes: noise.next_u32().is_multiple_of(4).then_some(bytes),
        samples: 1 + noise.next_u32() as usize % 20,
    };
    TunePlan {
        streams_max: count(1 + u64::from(noise.next_u32()) % 128),
        budget,
        ..TunePlan::default()
    }
}

/// Every baseline but the one that knows no budget.
fn bounded() -> impl Iterator<Item = Baseline> {
    let all = Baseline::ALL.into_iter();
    all.filter(|baseline| *baseline != Baseline::Exhaustive)
}

/// Would fail for a rule that forgets the budget, leaves `streams_max`, or asks for one cell for
/// ever.
#[test]
fn bounds_are_kept_on_any_path() {
    for seed in 0..RUNS {
        let mut noise = Pcg32::seed_from_u64(seed);
        let (path, plan) = (any_path(&mut noise), any_plan(&mut noise));
        for baseline in bounded() {
            let tuning = run(&baseline, path, &plan);
            let shown = format!("seed {seed}, {}: {:?}", baseline.name(), streams(&tuning));
            assert!(tuning.cut.is_none() && tuning.chosen.is_some(), "{shown}");
            assert!(tuning.samples.len() <= plan.budget.samples, "{shown}");
            let most = tuning.samples.iter().map(|sample| sample.setting.streams);
            assert!(most.max() <= Some(plan.streams_max), "{shown}");
            if let Some(time) = plan.budget.time {
                // Connecting is only known from the sample before.
                let slack = Span::from_secs(4);
                assert!(tuning.cost.elapsed <= time + slack, "{shown}");
            }
        }
    }
}

/// What the driver makes of a baseline's samples.
#[test]
fn what_is_recommended_was_sampled_and_is_promised_to_carry_something() {
    let mut noise = Pcg32::seed_from_u64(0);
    let (path, plan) = (any_path(&mut noise), any_plan(&mut noise));
    for baseline in [Baseline::Fixed4, Baseline::DoublingBisection] {
        let tuning = tune_with(&baseline, &mut Synthetic::new(path, 1), &plan, &mut ()).unwrap();
        assert!(matches!(tuning.ended, Ended::Found(_)));
        let recommended = &tuning.answer().unwrap().recommended;
        let chosen = &tuning.samples[recommended.sample];
        assert_eq!(chosen.setting, recommended.setting);
        assert!(recommended.promise.goodput > Rate::ZERO);
    }
}

/// 90 Mbit/s are 11.25 MB/s. No sample is faster than the first, and each takes as long to connect.
#[test]
fn no_sample_leaves_what_the_budget_leaves() {
    let (time, bytes) = (Span::from_secs(12), Bytes::new(90_000_000));
    for (time, bytes) in [
        (Some(time), None),
        (None, Some(bytes)),
        (Some(time), Some(bytes)),
    ] {
        let mut plan = unbounded();
        plan.budget = Budget {
            time,
            bytes,
            ..plan.budget
        };
        for baseline in bounded() {
            let mut target = Told::new(|_| 90e6);
            let tuning = Tuning::of(&baseline, &mut target, &plan);
            let shown = format!("{}: {:?}", baseline.name(), tuning.cost);
            assert!(tuning.cost.elapsed <= time.unwrap_or(Span::MAX), "{shown}");
            let slack = Bytes::new(tuning.cost.bytes.get() / 20);
            let most = bytes.map_or(tuning.cost.bytes, |bytes| bytes + slack);
            assert!(tuning.cost.bytes <= most, "{shown}");
            let name = baseline.name();
            let fixed = name.starts_with("fixed") || baseline == Baseline::Default;
            assert_eq!(tuning.samples.len() == 1, fixed, "{shown}");
        }
    }
}

/// Less time than any sample takes still shows something.
#[test]
fn the_first_sample_is_cut_to_the_time_there_is() {
    for baseline in bounded() {
        let mut plan = unbounded();
        plan.budget.time = Some(Span::from_secs(5));
        let tuning = Tuning::of(&baseline, &mut Told::new(|_| 90e6), &plan);
        assert_eq!(tuning.samples.len(), 1, "{}", baseline.name());
        let slack = Span::from_secs(1);
        let cost = tuning.cost.elapsed;
        assert!(
            cost <= Span::from_secs(5) + slack,
            "{}: {cost}",
            baseline.name()
        );
    }
}

/// Few streams, as a run of 30 s with 128 of them has many readings.
fn few_streams() -> TunePlan {
    TunePlan {
        streams_max: count(8),
        ..unbounded()
    }
}

/// Nothing ever arrives: each gives up after the samples of its own rule.
#[test]
fn a_dead_path_ends_every_search() {
    for baseline in Baseline::ALL {
        let mut target = Told::new(|_| 0.0);
        let failed = tune_with(&baseline, &mut target, &few_streams(), &mut ());
        let Err(TuneError::NothingDelivered { samples, .. }) = failed else {
            panic!("{}: {failed:?}", baseline.name());
        };
        assert!(
            (1..=48).contains(&samples),
            "{}: {samples}",
            baseline.name()
        );
    }
}

/// Some settings carry nothing, as where a firewall drops what has too many streams.
#[test]
fn settings_that_carry_nothing_are_survived_and_never_recommended() {
    for seed in 0..RUNS {
        let mut noise = Pcg32::seed_from_u64(seed);
        let salt = noise.next_u32();
        let carries = move |setting: &Setting| {
            let window = match setting.window {
                Window::Auto => 0,
                Window::Fixed(window) => window.get().trailing_zeros(),
            };
            let mixed = (u32::from(setting.streams.get()) * 31 + window).wrapping_mul(salt | 1);
            f64::from((mixed >> 16) % 3) * 1e8
        };
        for baseline in bounded() {
            let plan = any_plan(&mut noise);
            let tuning = Tuning::of(&baseline, &mut Told::new(carries), &plan);
            let shown = format!("seed {seed}, {}", baseline.name());
            assert!(tuning.cut.is_none(), "{shown}");
            let is_good = |chosen: &Setting| carries(chosen) > 0.0;
            assert!(tuning.chosen.as_ref().is_none_or(is_good), "{shown}");
        }
    }
}

/// The best of what was seen is recommended when the target goes away.
#[test]
fn a_target_that_fails_cuts_the_search_short() {
    let path = clean(1e8, 0.05);
    for baseline in Baseline::ALL {
        let whole = run(&baseline, path, &few_streams()).samples.len();
        for after in 0..8 {
            let mut target = Synthetic::new(path, 1);
            target.fails_after = Some((after, Fault::Run));
            let tuning = Tuning::of(&baseline, &mut target, &few_streams());
            let shown = format!("{} fails after {after}", baseline.name());
            assert_eq!(tuning.cut.is_some(), after < whole, "{shown}");
            assert_eq!(tuning.samples.len(), after.min(whole), "{shown}");
        }
    }
}

/// One sample alone is nothing to recommend from.
#[test]
fn what_the_driver_makes_of_a_search_that_is_cut_short() {
    let tuned = |after| {
        let mut target = Synthetic::new(clean(1e8, 0.05), 1);
        target.fails_after = Some((after, Fault::Run));
        tune_with(&Baseline::Exhaustive, &mut target, &few_streams(), &mut ())
    };
    assert!(matches!(tuned(0), Err(TuneError::Target(_))));
    assert!(matches!(tuned(1).unwrap().ended, Ended::Stopped(_)));
    let ended = tuned(2).unwrap().ended;
    assert!(matches!(ended, Ended::Cut(..)), "{ended:?}");
}

/// A strategy is a function of the history: half of one, taken up again, goes on the same way.
#[test]
fn the_next_sample_follows_from_the_history_alone() {
    let mut noise = Pcg32::seed_from_u64(7);
    let path = any_path(&mut noise);
    for baseline in bounded() {
        let tuning = run(&baseline, path, &unbounded());
        let mut history = tune::History::new(unbounded(), Synthetic::new(path, 1).describe());
        for sample in tuning.samples {
            let request = baseline.next(&history).unwrap();
            assert_eq!(request.setting, sample.setting, "{}", baseline.name());
            history.samples.push(sample);
        }
        assert_eq!(baseline.next(&history), None, "{}", baseline.name());
    }
}
