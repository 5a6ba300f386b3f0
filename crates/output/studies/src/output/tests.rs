use units::Span;

use super::*;
use crate::figure::{Line, Origin as From, Panel, Point, Scale};
use crate::finding::{Check, Finding};
use crate::study::Left;

fn panel(y: Scale, points: Vec<Point>) -> Panel {
    let runs = Line {
        label: "a <b>, \"c\"".to_owned(),
        origin: From::Runs,
        points,
    };
    let formula = Line::new(
        "formula",
        From::FormulaOf(0),
        vec![(1e-4, 50.0), (1e-2, 5.0)],
    );
    Panel {
        name: "made-up",
        caption: "A caption.".to_owned(),
        x: Scale::decades("share of packets lost"),
        y,
        lines: vec![runs, formula],
    }
}

fn point(x: f64, y: f64, spread: f64) -> Point {
    let spread = Some(spread);
    Point { x, y, spread }
}

fn study() -> Studied {
    let points = vec![point(1e-4, 40.0, 2.5), point(1e-2, 4.0, 0.0)];
    let check = |holds, words: &str| Check::new(holds, words.to_owned());
    let finding = Finding {
        claim: "It falls.",
        rule: "The last is less than the first.",
        checks: vec![check(true, "it falls to 4"), check(false, "not below 3")],
    };
    Studied {
        name: "made-up",
        title: "A study",
        source: "A source",
        parts: vec![Shown {
            title: "A part",
            assumed: "A set-up.",
            settings: vec!["6 settings.".to_owned()],
            figures: vec![Figure {
                ids: &["F1", "F2"],
                title: "A figure".to_owned(),
                tables: Vec::new(),
                panels: vec![panel(Scale::even("rate [Mbit/s]"), points)],
                findings: vec![finding],
            }],
            runs: 6,
            cpu: Span::from_millis(1_500),
        }],
        left: &[Left {
            id: "F3",
            what: "Another",
            why: "it is lost",
        }],
        seeds: 3,
    }
}

#[test]
fn a_table_has_a_line_for_each_point_and_quotes_what_has_commas() {
    let table = table::table(&study());
    let lines: Vec<&str> = table.lines().collect();
    assert_eq!(lines.len(), 5);
    assert_eq!(
        lines[1],
        "made-up,\"a <b>, \"\"c\"\"\",simulation,0.0001,share of packets lost,40,rate [Mbit/s],2.5"
    );
    assert!(lines[4].ends_with(",5,rate [Mbit/s],"), "{}", lines[4]);
}

#[test]
fn every_text_has_the_verdict_with_its_figures() {
    let seen = "it falls to 4; but not below 3";
    let origin = record::Origin::here(Vec::new(), Some(1));
    let studies = [study()];
    let page = html::html(&page::study(&studies[0]), &report::source(&origin)).unwrap();
    assert!(
        page.contains(seen) && page.contains("holds in part: ") && page.contains("a &lt;b&gt;")
    );
    assert!(page.contains("<svg") && !page.contains("a <b>"));
    let text = text::study(&studies[0], &origin);
    assert!(
        text.contains(seen) && text.contains("**holds in part**") && text.contains("(made-up.svg)"),
        "{text}"
    );
    assert!(
        text.contains("6 simulations, 1.50 s of processor time"),
        "{text}"
    );
    assert!(summary(&studies).contains("holds in part  It falls."));
}

#[test]
fn the_count_has_every_verdict() {
    let count = count(&[study()]);
    assert_eq!(
        count,
        "2 of 3 figures and tables are made again. Of 1 findings, 0 hold, 1 hold in part and 0 do \
            not hold."
    );
}
