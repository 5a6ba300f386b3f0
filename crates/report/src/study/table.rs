//! Every point as comma-separated values (RFC 4180).

use campaign::study::Studied;
use campaign::study::figure::{Origin, Panel};

use crate::rows::table;

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

/// One line for each point, numbers in full.
pub(super) fn csv(study: &Studied) -> String {
    let panels = study.figures.iter().flat_map(|figure| &figure.panels);
    table(&NAMES, panels.flat_map(|panel| rows(panel, study.seeds)))
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
