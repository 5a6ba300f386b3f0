//! The list as comma-separated values (RFC 4180).

use archive::{Essence, Listed, Outcome, SweepEntry};
use units::{Bytes, Rate};

use super::{direction, known, table};
use crate::text;

const NAMES: [&str; 23] = [
    "id",
    "created",
    "kind",
    "target",
    "target_kind",
    "path_digest",
    "objective",
    "streams",
    "window_bytes",
    "direction",
    "congestion",
    "pacing_bits_per_second",
    "mss_bytes",
    "goodput_bits_per_second",
    "goodput_low_bits_per_second",
    "goodput_high_bits_per_second",
    "rtt_unloaded_seconds",
    "rtt_loaded_seconds",
    "retransmitted_ratio",
    "limit",
    "cut_because",
    "host",
    "trunkline_version",
];

/// One line for each entry, numbers in full. What is unknown is empty, and so is a window
/// that was left to the kernel.
pub fn csv(entries: &[Listed]) -> String {
    let rows = entries.iter().map(|entry| match entry {
        Listed::Run(entry) => {
            let mut row = vec![entry.id.to_string()];
            row.extend(cells(&entry.essence));
            row
        }
        Listed::Sweep(sweep) => sweep_cells(sweep),
    });
    table(&NAMES, rows)
}

/// The same line of one run that has no number in a list.
pub fn run_csv(run: &Essence) -> String {
    table(&NAMES[1..], [cells(run)])
}

/// A sweep has no figures of its own; how far it is stands in the list for people and in JSON.
fn sweep_cells(sweep: &SweepEntry) -> Vec<String> {
    let mut cells = vec![
        sweep.id.to_string(),
        sweep.created.clone(),
        "sweep".to_owned(),
        sweep.target.name.clone(),
        text::kind(sweep.target.kind).to_owned(),
        known(sweep.target.path_digest.as_ref()),
    ];
    // From the objective to the limit.
    cells.resize(NAMES.len() - 3, String::new());
    cells.extend([
        known(sweep.cut_because.as_ref()),
        known(sweep.host.as_ref()),
        sweep.trunkline_version.clone(),
    ]);
    cells
}

/// Everything but the number.
fn cells(essence: &Essence) -> Vec<String> {
    let mut cells = vec![
        essence.created.clone(),
        essence.schema.kind().to_owned(),
        essence.target.name.clone(),
        text::kind(essence.target.kind).to_owned(),
        known(essence.target.path_digest.as_ref()),
        known(essence.objective.as_ref()),
    ];
    cells.extend(outcome_cells(&essence.outcome));
    cells.extend([
        known(essence.cut_because.as_ref()),
        known(essence.host.as_ref()),
        essence.trunkline_version.clone(),
    ]);
    cells
}

fn outcome_cells(outcome: &Outcome) -> [String; 13] {
    let point = &outcome.setting;
    let window = point.window.fixed().map(Bytes::get);
    let ends = outcome.interval.map(|interval| {
        let (low, high) = (
            interval.low.bits_per_second(),
            interval.high.bits_per_second(),
        );
        (low, high)
    });
    [
        known((point.streams > 0).then_some(point.streams)),
        known(window),
        direction(point.direction).to_owned(),
        known(point.congestion.as_ref()),
        known(point.pacing.map(Rate::bits_per_second)),
        known(point.mss),
        outcome.goodput_bits_per_second.to_string(),
        known(ends.map(|(low, _)| low)),
        known(ends.map(|(_, high)| high)),
        known(outcome.rtt_unloaded_seconds),
        known(outcome.rtt_loaded_seconds),
        known(outcome.retransmitted_ratio),
        known(outcome.limit.as_ref()),
    ]
}
