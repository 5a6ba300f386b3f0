//! A row for each simulated setting.

use record::simulate::{Figures, SimulatedSetting};
use record::{Campaign, FluidSimulation, Simulate};
use units::Bytes;

use super::{known, table};

const NAMES: [&str; 22] = [
    "path",
    "streams",
    "window_bytes",
    "variant",
    "seeds",
    "goodput_bits_per_second",
    "goodput_standard_deviation_bits_per_second",
    "cross_goodput_bits_per_second",
    "drops",
    "retransmitted",
    "timeouts",
    "jain",
    "utilisation_ratio",
    "queue_mean_packets",
    "queue_peak_bytes",
    "rtt_min_seconds",
    "rtt_mean_seconds",
    "rtt_median_seconds",
    "rtt_p95_seconds",
    "rtt_max_seconds",
    "completion_seconds",
    "unfinished_runs",
];

pub(super) fn simulate(body: &Simulate) -> String {
    let row = row(
        &body.path.name,
        &body.setting,
        &body.figures,
        body.runs.len(),
    );
    table(&NAMES, [row])
}

pub(super) fn campaign(body: &Campaign) -> String {
    let path = &body.path.name;
    let rows = body
        .cells
        .iter()
        .map(|cell| row(path, &cell.setting, &cell.figures, cell.runs.len()));
    table(&NAMES, rows)
}

/// What the model does not say is empty.
pub(super) fn fluid(body: &FluidSimulation) -> String {
    let setting = &body.setting;
    let cell = |name: &&str| match *name {
        "path" => body.path.name.clone(),
        "streams" => setting.streams.to_string(),
        "window_bytes" => known(setting.window.fixed().map(Bytes::get)),
        "variant" => setting.variant.clone(),
        "seeds" => body.scenario.seeds.len().to_string(),
        "goodput_bits_per_second" => known(body.aggregate.goodput_bits_per_second),
        "cross_goodput_bits_per_second" => known(body.cross.goodput_bits_per_second),
        "queue_mean_packets" => known(body.queue.map(|queue| queue.mean_packets)),
        "rtt_mean_seconds" => known(body.rtt.map(|rtt| rtt.mean_seconds)),
        _ => String::new(),
    };
    table(&NAMES, [NAMES.iter().map(cell).collect()])
}

fn row(path: &str, setting: &SimulatedSetting, figures: &Figures, seeds: usize) -> Vec<String> {
    let window = setting.window.fixed().map(Bytes::get);
    let mut cells = vec![
        path.to_owned(),
        setting.streams.to_string(),
        known(window),
        setting.variant.clone(),
        seeds.to_string(),
    ];
    cells.extend(counted(figures));
    cells.extend(timed(figures));
    cells
}

fn counted(figures: &Figures) -> [String; 10] {
    let aggregate = &figures.aggregate;
    [
        aggregate.goodput_bits_per_second.to_string(),
        known(aggregate.standard_deviation_bits_per_second),
        figures.cross.goodput_bits_per_second.to_string(),
        figures.drops.to_string(),
        figures.retransmitted.to_string(),
        figures.timeouts.to_string(),
        known(figures.jain),
        figures.utilisation_ratio.to_string(),
        figures.queue.mean_packets.to_string(),
        figures.queue.peak_bytes.to_string(),
    ]
}

fn timed(figures: &Figures) -> [String; 7] {
    let rtt = figures.rtt;
    [
        known(rtt.map(|rtt| rtt.min_seconds)),
        known(rtt.map(|rtt| rtt.mean_seconds)),
        known(rtt.map(|rtt| rtt.median_seconds)),
        known(rtt.map(|rtt| rtt.p95_seconds)),
        known(rtt.map(|rtt| rtt.max_seconds)),
        known(figures.completion.completion_seconds),
        known(figures.completion.unfinished_runs),
    ]
}
