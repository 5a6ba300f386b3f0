//! Every point as comma-separated values (RFC 4180).

use crate::study::Studied;
use crate::study::figure::{Origin, Panel};

const NAMES: [&str; 9] = [
    "plot",
    "curve",
    "from",
    "x",
    "x_unit",
    "y",
    "y_unit",
    "deviation",
    "seeds",
];

/// A line for each point of a study, numbers in full, with the name of its file.
pub fn file(study: &Studied) -> (String, String) {
    let mut writer = csv::Writer::from_writer(Vec::new());
    // Writing to memory cannot fail.
    let _ = writer.write_record(NAMES);
    let panels = study.figures.iter().flat_map(|figure| &figure.panels);
    for row in panels.flat_map(|panel| rows(panel, study.seeds)) {
        let _ = writer.write_record(row);
    }
    let bytes = writer.into_inner().unwrap_or_default();
    let text = String::from_utf8_lossy(&bytes).into_owned();
    (format!("{}.csv", study.name), text)
}

fn rows(panel: &Panel, seeds: u64) -> impl Iterator<Item = Vec<String>> {
    panel.lines.iter().flat_map(move |line| {
        let (from, seeds) = match line.origin {
            Origin::Runs => ("simulation", seeds.to_string()),
            Origin::FormulaOf(_) | Origin::Formula => ("formula", String::new()),
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
                seeds.clone(),
            ]
        })
    })
}
