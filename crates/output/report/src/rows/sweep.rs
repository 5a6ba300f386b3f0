//! The visits of a sweep as comma-separated values (RFC 4180).

use record::sweep::{CellFigures, RoundTripFigures, SweepCell};
use record::{Limit, Sweep};
use units::{Bytes, Rate};

use super::{direction, known, table};

const NAMES: [&str; 40] = [
    "number",
    "cycle",
    "started",
    "run",
    "failed_because",
    "streams",
    "window_bytes",
    "direction",
    "congestion",
    "pacing_bits_per_second",
    "mss_bytes",
    "goodput_bits_per_second",
    "goodput_low_bits_per_second",
    "goodput_high_bits_per_second",
    "duration_seconds",
    "rtt_unloaded_min_seconds",
    "rtt_unloaded_quartile1_seconds",
    "rtt_unloaded_median_seconds",
    "rtt_unloaded_quartile3_seconds",
    "rtt_unloaded_mean_seconds",
    "rtt_unloaded_max_seconds",
    "rtt_unloaded_loss_ratio",
    "rtt_loaded_min_seconds",
    "rtt_loaded_quartile1_seconds",
    "rtt_loaded_median_seconds",
    "rtt_loaded_quartile3_seconds",
    "rtt_loaded_mean_seconds",
    "rtt_loaded_max_seconds",
    "rtt_loaded_loss_ratio",
    "retransmitted_ratio",
    "cpu_user_ratio",
    "cpu_kernel_ratio",
    "cpu_far_user_ratio",
    "cpu_far_kernel_ratio",
    "limit",
    "losses_together_ratio",
    "losses_together_by_chance_ratio",
    "stream_goodputs_bits_per_second",
    "stream_retransmits",
    "simulated_bits_per_second",
];

/// One line for each visit, in the order of the plan; figures of streams stand in one cell each,
/// apart by spaces. What is unknown is empty, and so is a window that was left to the kernel.
pub fn visits_csv(sweep: &Sweep) -> String {
    let simulated = |cell: &SweepCell| {
        let all = sweep.beside.iter();
        let mut found = all.filter_map(|one| one.simulated(&cell.setting, cell.duration_seconds));
        known(found.next_back())
    };
    let row = |cell| {
        let mut cells = cells(cell);
        cells.push(simulated(cell));
        cells
    };
    table(&NAMES, sweep.cells.iter().map(row))
}

fn cells(cell: &SweepCell) -> Vec<String> {
    let setting = &cell.setting;
    let window = setting.window.fixed().map(Bytes::get);
    let mut cells = vec![
        cell.number.to_string(),
        cell.cycle.to_string(),
        cell.started.clone(),
        known(cell.run),
        known(cell.failed_because.as_ref()),
        setting.streams.to_string(),
        known(window),
        direction(setting.direction).to_owned(),
        known(setting.congestion.as_ref()),
        known(setting.pacing.map(Rate::bits_per_second)),
        known(setting.mss),
    ];
    cells.extend(figures(cell.figures.as_ref()));
    cells
}

fn figures(figures: Option<&CellFigures>) -> Vec<String> {
    let interval = figures.and_then(|f| f.interval);
    let mut cells = vec![
        known(figures.map(|f| f.goodput_bits_per_second)),
        known(interval.map(|ends| ends.low.bits_per_second())),
        known(interval.map(|ends| ends.high.bits_per_second())),
        known(figures.map(|f| f.duration_seconds)),
    ];
    cells.extend(round_trips(figures.and_then(|f| f.rtt_unloaded)));
    cells.extend(round_trips(figures.and_then(|f| f.rtt_loaded)));
    cells.extend([
        known(figures.and_then(|f| f.retransmitted_ratio)),
        known(figures.and_then(|f| f.cpu_user_ratio)),
        known(figures.and_then(|f| f.cpu_kernel_ratio)),
        known(figures.and_then(|f| f.cpu_far_user_ratio)),
        known(figures.and_then(|f| f.cpu_far_kernel_ratio)),
        known(figures.and_then(|f| f.limit).map(Limit::name)),
        known(figures.and_then(|f| f.losses_together_ratio)),
        known(figures.and_then(|f| f.losses_together_by_chance_ratio)),
        streams(figures, |stream| stream.goodput_bits_per_second),
        streams(figures, |stream| stream.retransmits),
    ]);
    cells
}

fn round_trips(figures: Option<RoundTripFigures>) -> [String; 7] {
    let values: [fn(RoundTripFigures) -> f64; 7] = [
        |f| f.min,
        |f| f.quartile1,
        |f| f.median,
        |f| f.quartile3,
        |f| f.mean,
        |f| f.max,
        |f| f.loss,
    ];
    values.map(|value| known(figures.map(value)))
}

/// A figure of every stream; empty where one of them is unknown.
fn streams(
    figures: Option<&CellFigures>,
    value: impl Fn(&record::sweep::StreamFigures) -> Option<u64>,
) -> String {
    let streams = figures.map_or(&[][..], |figures| &figures.streams);
    let values: Option<Vec<String>> = streams
        .iter()
        .map(|stream| value(stream).map(|value| value.to_string()))
        .collect();
    values.unwrap_or_default().join(" ")
}
