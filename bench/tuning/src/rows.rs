//! All rows as CSV, for whoever wants to look at them otherwise.

use crate::grid::Grid;
use crate::misses::name;
use crate::score::Row;

const HEADINGS: &str = "seed,objective,strategy,recommended,given_bits_per_second,best,best_bits_per_second,\
regret,regret_gentle,streams_over_95,streams_over_90,streams_over_88,samples,seconds,time_share,bytes,\
added_seconds,resent,taken,limit,error";

/// A line for each row under a line of headings.
pub fn csv(rows: &[Row], grids: &[Grid]) -> String {
    let mut text = format!("{HEADINGS}\n");
    for row in rows {
        if let Some(grid) = grids.get(row.label.place) {
            text += &(fields(row, grid).join(",") + "\n");
        }
    }
    text
}

fn fields(row: &Row, grid: &Grid) -> Vec<String> {
    let optional = |value: Option<f64>| value.map_or(String::new(), |value| format!("{value:.5}"));
    let found = row.found.as_ref();
    let mut fields = vec![
        row.label.seed.to_string(),
        row.label.objective.to_owned(),
        row.label.strategy.clone(),
    ];
    fields.push(found.map_or(String::new(), |found| name(&found.setting)));
    fields.push(format!("{:.0}", row.given.goodput));
    fields.push(name(&grid.best.setting));
    fields.push(format!("{:.0}", grid.best.outcome.goodput));
    fields.push(format!("{:.5}", row.regret));
    fields.push(optional(row.regret_gentle));
    fields.extend(row.streams_over.map(|over| over.to_string()));
    fields.push(row.samples().to_string());
    fields.push(format!("{:.3}", row.seconds()));
    fields.push(format!("{:.4}", row.time_share));
    fields.push(format!("{:.0}", row.bytes()));
    fields.push(format!("{:.6}", row.added));
    fields.push(format!("{:.6}", row.given.resent));
    fields.push(optional(row.taken));
    fields.push(found.map_or(String::new(), |found| {
        found.limits.limits[0].name().to_owned()
    }));
    fields.push(
        found
            .err()
            .map_or(String::new(), |error| error.replace([',', '\n'], ";")),
    );
    fields
}
