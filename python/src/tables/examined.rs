//! The hops of an examined path.

use trunkline::AnyDocument;
use trunkline::record::characteristics::{Hop, Trace};

use super::Columns;

/// A hop and the trace that it belongs to.
struct Row<'a> {
    result: usize,
    number: usize,
    trace: &'a Trace,
    hop: &'a Hop,
}

/// A row for each hop of each trace.
pub fn hops(documents: &[(usize, &AnyDocument)]) -> Columns {
    let mut rows = Vec::new();
    for (result, document) in documents {
        let AnyDocument::Characteristics(document) = document else {
            continue;
        };
        for (number, trace) in document.body.traces.iter().enumerate() {
            rows.extend(trace.hops.iter().map(|hop| Row {
                result: *result,
                number,
                trace,
                hop,
            }));
        }
    }
    let mut columns = Columns::default();
    columns.u32("result", &rows, |row| u32::try_from(row.result).ok());
    columns.u32("trace", &rows, |row| u32::try_from(row.number).ok());
    columns.text("protocol", &rows, |row| {
        let word = serde_json::to_value(row.trace.protocol).ok();
        word.and_then(|word| word.as_str().map(str::to_owned))
    });
    columns.u32("distance", &rows, |row| Some(row.hop.distance.into()));
    columns.text("addresses", &rows, |row| Some(row.hop.addresses.join(" ")));
    columns.f64("rtt_min_seconds", &rows, |row| row.hop.min_seconds);
    columns.f64("rtt_median_seconds", &rows, |row| row.hop.median_seconds);
    columns.f64("loss_ratio", &rows, |row| row.hop.loss_ratio);
    columns.u32("probes", &rows, |row| {
        u32::try_from(row.hop.probes.len()).ok()
    });
    columns
}
