use super::*;
use crate::synthetic;

#[test]
fn figures_are_means_over_the_seeds() {
    let body = synthetic::simulate(8).body;
    let goodputs = body.runs.iter().map(|run| run.goodput_bits_per_second);
    let goodputs: Vec<f64> = goodputs.map(|rate| rate as f64).collect();
    let mean = goodputs.iter().sum::<f64>() / 3.0;
    let figures = &body.figures;
    assert!((figures.aggregate.goodput_bits_per_second as f64 - mean).abs() <= 0.5);
    assert!(
        figures
            .aggregate
            .standard_deviation_bits_per_second
            .is_some()
    );
    let drops = body.runs.iter().map(|run| run.drops).sum::<u64>();
    assert!((figures.drops * 3.0 - drops as f64).abs() < 1e-9);
    assert_eq!(figures.completion, Completion::default());
}

#[test]
fn a_single_seed_has_no_spread() {
    let result = synthetic::results(&synthetic::scenario(), 1).remove(0);
    let run = Ran {
        result,
        cpu: units::Span::ZERO,
        cached: false,
    };
    let body = Simulate::new(&synthetic::scenario(), &[run], &[], units::Span::ZERO);
    assert_eq!(body.figures.drops_standard_deviation, None);
    assert_eq!(
        body.figures.aggregate.standard_deviation_bits_per_second,
        None
    );
}

#[test]
fn data_that_was_left_has_no_mean_completion_but_a_count() {
    let done = synthetic::transfer(false).body.figures.completion;
    assert!(done.completion_seconds.is_some());
    assert!(done.completion_streams_standard_deviation_seconds.is_some());
    assert_eq!(done.unfinished_runs, Some(0));
    let left = synthetic::transfer(true).body.figures.completion;
    assert_eq!(left.completion_seconds, None);
    assert_eq!(left.unfinished_runs, Some(1));
}

#[test]
fn the_knee_has_the_fewest_streams_near_the_best() {
    let campaign = synthetic::campaign().body;
    let throughput = |place: usize| {
        let cell: &Cell = &campaign.cells[place];
        cell.throughput_bits_per_second(&campaign.scenario).unwrap()
    };
    for choice in &campaign.choices {
        let (best, knee) = (throughput(choice.best_cell), throughput(choice.knee_cell));
        assert!(knee >= 0.9 * best, "{choice:?}");
        let knee_streams = campaign.cells[choice.knee_cell].setting.streams;
        for (place, cell) in campaign.cells.iter().enumerate() {
            let same = cell.setting.variant == choice.variant;
            assert!(!same || throughput(place) <= best);
            let fewer = same && cell.setting.streams < knee_streams;
            assert!(!fewer || throughput(place) < 0.9 * best);
        }
    }
    assert_eq!(campaign.choices.len(), 2);
}

#[test]
fn a_campaign_of_data_is_compared_by_time() {
    let mut campaign = synthetic::campaign().body;
    campaign.scenario.bytes = Some(1_000_000);
    let cell = &mut campaign.cells[0];
    cell.figures.completion.completion_seconds = Some(4.0);
    // 8 Mbit in 4 s.
    assert_eq!(
        cell.throughput_bits_per_second(&campaign.scenario),
        Some(2e6)
    );
    cell.figures.completion.completion_seconds = None;
    assert_eq!(cell.throughput_bits_per_second(&campaign.scenario), None);
}

#[test]
fn campaigns_leave_out_what_grows_with_streams_and_time() {
    let campaign = synthetic::campaign().body;
    let runs = campaign.cells.iter().flat_map(|cell| &cell.runs);
    assert!(
        runs.clone()
            .all(|run| run.streams.is_empty() && run.series.is_empty())
    );
    assert!(runs.clone().all(|run| run.cross_groups.len() == 1));
}

#[test]
fn what_the_streams_took_is_the_share_that_is_missing() {
    let cross = synthetic::simulate(8).body.figures.cross;
    let (alone, taken) = (
        cross.alone_bits_per_second.unwrap(),
        cross.taken_ratio.unwrap(),
    );
    let got = cross.goodput_bits_per_second as f64;
    assert!((got + taken * alone as f64 - alone as f64).abs() < 1.0);
    // Of data with an end it is not known.
    assert_eq!(
        synthetic::transfer(false).body.figures.cross.taken_ratio,
        None
    );
}
