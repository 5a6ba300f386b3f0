//! The state of a simulation over time, where it was recorded.

use trunkline::AnyDocument;
use trunkline::record::simulate::{SeriesSample, SimulatedRun};

use super::Columns;

/// A moment of one stream.
struct Row<'a> {
    result: usize,
    visit: usize,
    seed: u64,
    stream: usize,
    sample: &'a SeriesSample,
}

fn runs_of(document: &AnyDocument) -> Vec<(usize, &SimulatedRun)> {
    match document {
        AnyDocument::Simulate(document) => document.body.runs.iter().map(|run| (0, run)).collect(),
        AnyDocument::Campaign(document) => {
            let cells = document.body.cells.iter().enumerate();
            let runs =
                cells.flat_map(|(visit, cell)| cell.runs.iter().map(move |run| (visit, run)));
            runs.collect()
        }
        _ => Vec::new(),
    }
}

/// A row for each stream at each recorded moment.
pub fn series(documents: &[(usize, &AnyDocument)]) -> Columns {
    let mut rows = Vec::new();
    for (result, document) in documents {
        for (visit, run) in runs_of(document) {
            for sample in &run.series {
                rows.extend((0..sample.windows.len()).map(|stream| Row {
                    result: *result,
                    visit,
                    seed: run.seed,
                    stream,
                    sample,
                }));
            }
        }
    }
    let mut columns = Columns::default();
    columns.u32("result", &rows, |row| u32::try_from(row.result).ok());
    columns.u32("visit", &rows, |row| u32::try_from(row.visit).ok());
    columns.u64("seed", &rows, |row| Some(row.seed));
    columns.u32("stream", &rows, |row| u32::try_from(row.stream + 1).ok());
    columns.f64("at_seconds", &rows, |row| Some(row.sample.at.as_secs_f64()));
    columns.f64("window_segments", &rows, |row| {
        row.sample.windows.get(row.stream).copied()
    });
    columns.u64("queue_packets", &rows, |row| Some(row.sample.queue_packets));
    columns.u64("acknowledged_bytes", &rows, |row| {
        Some(row.sample.acknowledged.get())
    });
    columns
}
