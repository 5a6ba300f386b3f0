use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use netpath::PathSpec;
use sim::{
    CrossResult, Drops, QueueUse, RoundTrips, Sample, Scenario, StreamResult, Variant, WorkDone,
};
use units::{Bytes, Rate, Time};

use super::workers::{longest_first, run_with};
use super::*;

pub(super) fn scenario() -> Scenario {
    Scenario::new(PathSpec::load("slac-cern").unwrap()).unwrap()
}

/// A result in which every field says something.
pub(super) fn made_up(scenario: &Scenario) -> RunResult {
    let odd = 1.0 / 3.0 + scenario.seed as f64;
    let stream = |number| StreamResult {
        goodput: Rate::from_bits_per_second(1_000_003 * u64::from(number)),
        acknowledged: Bytes::new(4_711),
        retransmitted: 3,
        timeouts: 2,
        completed: Some(Span::from_nanos(1_234_567_891)),
    };
    RunResult {
        seed: scenario.seed,
        measured: Span::from_millis(25_001),
        streams: (1..=scenario.streams).map(stream).collect(),
        cross: vec![CrossResult {
            goodput: Rate::from_bits_per_second(5_000_001),
            transfers: 17,
            turned_away: 3,
        }],
        drops: Drops {
            queue_full: 1,
            early: 2,
            sojourn: 3,
            policed: 7,
            wire_loss: 4,
        },
        marks: 5,
        queue: QueueUse {
            mean_packets: odd,
            peak_bytes: Bytes::from_kib(128),
        },
        utilisation: 0.1 + 0.2,
        round_trips: Some(RoundTrips {
            samples: 6,
            min: Span::from_nanos(1),
            mean: Span::from_nanos(2),
            median: Span::from_nanos(3),
            p95: Span::from_nanos(4),
            p99: Span::from_nanos(5),
            max: Span::from_nanos(6),
        }),
        completion: Some(Span::from_secs(9)),
        series: vec![Sample {
            at: Time::from_nanos(8),
            queue_packets: 7,
            windows: vec![odd, 1e-300, 2.0],
            acknowledged: Bytes::new(9),
            cross_delivered: Bytes::new(10),
        }],
        work: WorkDone {
            data_packets: 11,
            events: 12,
        },
    }
}

fn grid(streams: &[u32], seeds: u64) -> Grid {
    Grid {
        base: scenario(),
        variants: vec![Variant::Sack],
        streams: streams.to_vec(),
        windows: vec![None],
        seed: 1,
        seeds,
    }
}

type Outcome = Result<Option<RunResult>, ScenarioError>;

/// Every other run takes longer, so that they finish out of order.
fn uneven(scenario: &Scenario, look: &mut dyn FnMut(f64) -> ControlFlow<()>) -> Outcome {
    let steps = if scenario.streams.is_multiple_of(2) {
        1
    } else {
        2_000
    };
    for step in 0..steps {
        if look(f64::from(step) / f64::from(steps)).is_break() {
            return Ok(None);
        }
    }
    Ok(Some(made_up(scenario)))
}

#[test]
fn cells_come_by_variant_streams_and_window_with_their_seeds_together() {
    let grid = Grid {
        variants: vec![Variant::Sack, Variant::Cubic],
        windows: vec![None, Some(Bytes::from_kib(64))],
        seed: 5,
        ..grid(&[1, 8], 2)
    };
    let short = |s: &Scenario| (s.variant, s.streams, s.window.is_some(), s.seed);
    let runs: Vec<_> = grid.runs().unwrap().iter().map(short).collect();
    assert_eq!(runs.len(), 16);
    assert_eq!(
        runs[..5],
        [
            (Variant::Sack, 1, false, 5),
            (Variant::Sack, 1, false, 6),
            (Variant::Sack, 1, true, 5),
            (Variant::Sack, 1, true, 6),
            (Variant::Sack, 8, false, 5),
        ]
    );
    assert_eq!(grid.cells().len(), 8);
}

#[test]
fn a_slip_in_the_number_of_runs_is_refused_before_memory_is_spent() {
    let error = grid(&[1, 2], u64::MAX).runs().unwrap_err();
    assert!(error.to_string().contains("more than 100000"), "{error}");
}

#[test]
fn seeds_that_would_begin_again_at_zero_are_refused() {
    let last = Grid {
        seed: u64::MAX,
        ..grid(&[1], 1)
    };
    assert_eq!(last.runs().unwrap()[0].seed, u64::MAX);
    let beyond = Grid { seeds: 2, ..last };
    let error = beyond.runs().unwrap_err();
    assert!(
        error.to_string().contains("go beyond 18446744073709551615"),
        "{error}"
    );
}

#[test]
fn a_series_that_would_fill_the_memory_is_refused() {
    let recorded = |streams: u32, seeds, interval| {
        let mut grid = grid(&[streams], seeds);
        grid.base.series_interval = Some(interval);
        grid.runs().map(|runs| runs.len())
    };
    let second = Span::from_secs(1);
    assert_eq!(recorded(1_000, 3, second).unwrap(), 3);
    // 30 s in steps of 10 us and the beginning, with 1000 windows and four numbers more.
    let error = recorded(1_000, 1, Span::from_micros(10)).unwrap_err();
    let text = error.to_string();
    assert!(
        text.contains("3012001004 recorded numbers are more than 20000000"),
        "{text}"
    );
    assert!(recorded(1_000, 10_000, second).is_err());
    assert!(recorded(u32::MAX, u64::from(u32::MAX), Span::ZERO).is_err());
}

#[test]
fn runs_that_left_data_are_counted_where_there_was_an_end() {
    let ran = |completion| Ran {
        result: RunResult {
            completion,
            ..made_up(&scenario())
        },
        cpu: Span::ZERO,
        cached: false,
    };
    let runs = [ran(None), ran(Some(Span::from_secs(1)))];
    let transfer = Scenario {
        work: sim::Work::Striped(Bytes::from_mib(1)),
        ..scenario()
    };
    assert_eq!(unfinished(&transfer, &runs), 1);
    assert_eq!(unfinished(&scenario(), &runs), 0);
}

#[test]
fn results_come_in_the_order_asked_for_and_progress_only_grows() {
    let runs = grid(&[1, 2, 3, 4, 5, 6], 3).runs().unwrap();
    let mut seen = Vec::new();
    let finished = run_with(
        &uneven,
        &runs,
        None,
        &AtomicBool::new(false),
        &mut |progress| {
            seen.push(*progress);
        },
    );
    let finished = finished.unwrap();
    let order = |result: &RunResult| (result.streams.len(), result.seed);
    let order: Vec<_> = finished.runs.iter().map(|ran| order(&ran.result)).collect();
    let asked = runs.iter().map(|s| (s.streams as usize, s.seed));
    assert_eq!(order, asked.collect::<Vec<_>>());
    assert!(seen.windows(2).all(|pair| pair[0].done <= pair[1].done));
    let last = seen.last().unwrap();
    assert_eq!((last.done, last.runs), (18, 18));
    assert!((last.share - 1.0).abs() < 1e-9, "{}", last.share);
}

#[test]
fn what_was_cancelled_goes_on_where_it_stopped() {
    let folder = tempfile::tempdir().unwrap();
    let cache = Cache::open(folder.path()).unwrap();
    let runs = grid(&[1, 2, 3, 4, 5, 6, 7, 8], 1).runs().unwrap();
    let cancel = AtomicBool::new(false);
    // The first four that are begun come to an end, whichever they are.
    let begun = AtomicUsize::new(0);
    let stuck = |scenario: &Scenario, look: &mut dyn FnMut(f64) -> ControlFlow<()>| {
        if begun.fetch_add(1, Ordering::Relaxed) < 4 {
            return uneven(scenario, look);
        }
        while look(0.5).is_continue() {
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
        Ok(None)
    };
    let error = run_with(&stuck, &runs, Some(&cache), &cancel, &mut |progress| {
        cancel.store(progress.done == 4, Ordering::Relaxed);
    });
    let GridFailure::Cancelled {
        done: done @ 4,
        runs: 8,
        kept: true,
    } = error.unwrap_err()
    else {
        panic!("a campaign that was cancelled with four runs done");
    };
    let computed = AtomicUsize::new(0);
    let counting = |scenario: &Scenario, look: &mut dyn FnMut(f64) -> ControlFlow<()>| {
        computed.fetch_add(1, Ordering::Relaxed);
        uneven(scenario, look)
    };
    let again = run_with(
        &counting,
        &runs,
        Some(&cache),
        &AtomicBool::new(false),
        &mut |_| {},
    );
    let again = again.unwrap();
    assert_eq!(computed.load(Ordering::Relaxed), 8 - done);
    assert_eq!(again.runs.iter().filter(|ran| ran.cached).count(), done);
    let straight = run_with(&uneven, &runs, None, &AtomicBool::new(false), &mut |_| {}).unwrap();
    let results = |finished: &Finished| -> Vec<RunResult> {
        finished.runs.iter().map(|ran| ran.result.clone()).collect()
    };
    assert_eq!(results(&again), results(&straight));
}

#[test]
fn a_scenario_that_cannot_be_run_ends_the_campaign() {
    let refusing = |scenario: &Scenario, _: &mut dyn FnMut(f64) -> ControlFlow<()>| {
        Err(ScenarioError {
            problem: format!("{} streams", scenario.streams),
            hint: "fewer".to_owned(),
        })
    };
    let runs = grid(&[1, 2, 3], 1).runs().unwrap();
    let error = run_with(&refusing, &runs, None, &AtomicBool::new(false), &mut |_| {});
    let error = error.unwrap_err();
    assert!(error.to_string().ends_with(" streams"), "{error}");
    assert_eq!(error.hint().as_deref(), Some("fewer"));
}

#[test]
fn a_folder_that_went_away_costs_no_result() {
    let folder = tempfile::tempdir().unwrap();
    let cache = Cache::open(&folder.path().join("gone")).unwrap();
    std::fs::remove_dir_all(folder.path().join("gone")).unwrap();
    let runs = grid(&[2], 1).runs().unwrap();
    let finished = run_with(
        &uneven,
        &runs,
        Some(&cache),
        &AtomicBool::new(false),
        &mut |_| {},
    );
    let finished = finished.unwrap();
    assert_eq!(finished.runs.len(), 1);
    assert!(finished.not_kept.is_some());
}

#[test]
fn every_run_is_computed_once() {
    let seen = Mutex::new(BTreeSet::new());
    let once = |scenario: &Scenario, look: &mut dyn FnMut(f64) -> ControlFlow<()>| {
        let new = seen
            .lock()
            .unwrap()
            .insert((scenario.streams, scenario.seed));
        assert!(new, "{} streams, seed {}", scenario.streams, scenario.seed);
        uneven(scenario, look)
    };
    let runs = grid(&[1, 2, 3, 4], 10).runs().unwrap();
    run_with(&once, &runs, None, &AtomicBool::new(false), &mut |_| {}).unwrap();
    assert_eq!(seen.lock().unwrap().len(), 40);
}

#[test]
fn those_that_take_longest_come_first_and_equal_ones_in_their_order() {
    let runs = grid(&[1, 64, 8, 2], 1).runs().unwrap();
    let costs: Vec<f64> = runs.iter().map(cost::expected).collect();
    assert_eq!(longest_first(&costs), [1, 2, 3, 0]);
    assert_eq!(longest_first(&[1.0, 2.0, 1.0, 2.0]), [1, 3, 0, 2]);
    assert!(longest_first(&[]).is_empty());
}

#[test]
fn looking_at_a_run_on_the_way_changes_nothing() {
    let runs = Grid {
        base: Scenario {
            duration: Span::from_millis(4_321),
            ..scenario()
        },
        ..grid(&[1, 3], 2)
    };
    let runs = runs.runs().unwrap();
    let finished = run(&runs, None, &AtomicBool::new(false), &mut |_| {}).unwrap();
    for (scenario, ran) in runs.iter().zip(&finished.runs) {
        assert_eq!(sim::run(scenario).unwrap(), ran.result);
    }
}

#[test]
fn processor_time_grows() {
    let before = process_cpu();
    let sum: f64 = (0..2_000_000).map(|n| f64::from(n).sqrt()).sum();
    assert!(sum > 0.0 && process_cpu() > before);
}
