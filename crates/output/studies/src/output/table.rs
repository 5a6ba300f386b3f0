//! Every point as comma-separated values (RFC 4180).

use crate::figure::{Origin, Panel};
use crate::study::Studied;

const NAMES: [&str; 8] = [
    "plot", "curve", "from", "x", "x_unit", "y", "y_unit", "spread",
];

/// A line for each point of a study, numbers in full.
pub(super) fn table(study: &Studied) -> String {
    let mut writer = csv::Writer::from_writer(Vec::new());
    // Writing to memory cannot fail.
    let _ = writer.write_record(NAMES);
    for row in study
        .figures()
        .flat_map(|figure| &figure.panels)
        .flat_map(rows)
    {
        let _ = writer.write_record(row);
    }
    let bytes = writer.into_inner().unwrap_or_default();
    String::from_utf8_lossy(&bytes).into_owned()
}

fn rows(panel: &Panel) -> impl Iterator<Item = Vec<String>> {
    panel.lines.iter().flat_map(move |line| {
        let from = match line.origin {
            Origin::Runs | Origin::Scatter => "simulation",
            Origin::Measured => "program",
            Origin::FormulaOf(_) | Origin::Formula => "formula",
            Origin::Published => "document",
        };
        line.points.iter().map(move |point| {
            let spread = point.spread.map(|spread| spread.to_string());
            vec![
                panel.name.to_string(),
                line.label.to_string(),
                from.to_owned(),
                point.x.to_string(),
                panel.x.title.to_string(),
                point.y.to_string(),
                panel.y.title.to_string(),
                spread.unwrap_or_default(),
            ]
        })
    })
}
