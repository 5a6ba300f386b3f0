//! The state of a simulation over time, where it was recorded.

use trunkline::AnyDocument;
use trunkline::record::simulate::SeriesSample;

use super::Columns;

/// A moment of one stream.
struct Row<'a> {
    result: usize,
    seed: u64,
    stream: usize,
    sample: &'a SeriesSample,
}

/// A row for each stream at each recorded moment.
pub fn series(documents: &[(usize, &AnyDocument)]) -> Columns {
    let mut rows = Vec::new();
    for (result, document) in documents {
        let AnyDocument::Simulate(document) = document else {
            continue;
        };
        for run in &document.body.runs {
            for sample in &run.series {
                rows.extend((0..sample.windows.len()).map(|stream| Row {
                    result: *result,
                    seed: run.seed,
                    stream,
                    sample,
                }));
            }
        }
    }
    let mut columns = Columns::default();
    columns.u32("result", &rows, |row| u32::try_from(row.result).ok());
    // One setting is one visit.
    columns.u32("visit", &rows, |_| Some(0));
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
