//! Every point as comma-separated values (RFC 4180).

use std::fmt::Write;

use lab::study::Studied;
use lab::study::figure::{Origin, Panel};

const HEAD: &str = "plot,curve,from,x,x_unit,y,y_unit,deviation,seeds\n";

/// One line for each point, numbers in full.
pub(super) fn csv(study: &Studied) -> String {
    let mut text = HEAD.to_owned();
    let panels = study.figures.iter().flat_map(|figure| &figure.panels);
    panels.for_each(|panel| rows(&mut text, panel, study.seeds));
    text
}

fn rows(text: &mut String, panel: &Panel, seeds: u64) {
    for line in &panel.lines {
        let (from, seeds) = match line.origin {
            Origin::Runs => ("simulation", seeds.to_string()),
            Origin::FormulaOf(_) | Origin::Formula => ("formula", String::new()),
        };
        let before = format!("{},{},{from}", panel.name, cell(&line.label));
        let (x_unit, y_unit) = (cell(panel.x.title), cell(panel.y.title));
        for point in &line.points {
            let spread = point.spread.map(|spread| spread.to_string());
            let spread = spread.unwrap_or_default();
            // Writing to a string cannot fail.
            let _ = writeln!(
                text,
                "{before},{},{x_unit},{},{y_unit},{spread},{seeds}",
                point.x, point.y
            );
        }
    }
}

/// Quoted where a comma or a quote stands in it.
fn cell(words: &str) -> String {
    match words.contains([',', '"', '\n']) {
        true => format!("\"{}\"", words.replace('"', "\"\"")),
        false => words.to_owned(),
    }
}
