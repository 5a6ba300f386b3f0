use record::AnyDocument;
use record::synthetic::{self, Case, SweepCase};

use draw::Paint;
use draw::render::terminal::{self, COLUMNS};

use crate::page;

fn text(document: &AnyDocument, paint: Paint) -> String {
    crate::text(document, paint)
}

fn plain_text(document: impl Into<AnyDocument>) -> String {
    text(&document.into(), Paint::Plain)
}

fn documents() -> Vec<AnyDocument> {
    let measured = |n| AnyDocument::from(synthetic::measure(&Case::streams(n, 7)));
    vec![
        measured(1),
        measured(8),
        measured(128),
        AnyDocument::from(synthetic::tune(7)),
        AnyDocument::from(synthetic::demo(7)),
        AnyDocument::from(synthetic::simulate(8)),
        AnyDocument::from(synthetic::simulate(1000)),
        AnyDocument::from(synthetic::transfer(false)),
        AnyDocument::from(synthetic::transfer(true)),
        AnyDocument::from(synthetic::campaign()),
        AnyDocument::from(synthetic::characteristics()),
        AnyDocument::from(synthetic::responsiveness()),
        AnyDocument::from(synthetic::datagrams(false)),
        AnyDocument::from(synthetic::datagrams(true)),
        AnyDocument::from(synthetic::copy()),
        AnyDocument::from(synthetic::sweep(&swept(1))),
        AnyDocument::from(synthetic::sweep(&swept(8))),
    ]
}

/// Both directions, with visits that fail.
fn swept(cycles: u32) -> SweepCase {
    SweepCase {
        directions: vec![record::Direction::Forward, record::Direction::Reverse],
        streams: vec![1, 2, 4, 8, 16, 32, 128],
        durations: vec![20.0, 60.0],
        failing: 17,
        cycles,
        ..SweepCase::windows_against_streams(7)
    }
}

fn widest(text: &str) -> usize {
    text.lines()
        .map(|line| line.chars().count())
        .max()
        .unwrap_or(0)
}

#[test]
fn every_text_fits_eighty_columns() {
    for document in documents() {
        let text = text(&document, Paint::Plain);
        assert!(widest(&text) <= COLUMNS, "{}\n{text}", widest(&text));
        assert!(widest(&crate::origin(document.origin())) <= COLUMNS);
    }
}

#[test]
fn the_widest_figures_fit_too() {
    let mut document = synthetic::tune(7);
    for sample in &mut document.body.samples {
        let run = &mut sample.run;
        run.setting.streams = record::StreamCount::MAX;
        run.setting.window = record::Window::Fixed(units::Bytes::new(4_194_303));
        run.goodput_bits_per_second = 99_912_345_678;
        run.interval = Some(record::Interval::new(
            units::Rate::from_bits_per_second(1),
            units::Rate::from_bits_per_second(99_999_999_999),
        ));
        run.rtt.added_seconds = Some(-12.345);
        if let Some(verdict) = &mut run.verdict {
            verdict.limit = record::Limit::ReceiveBuffer;
        }
    }
    let text = plain_text(document);
    assert!(widest(&text) <= COLUMNS, "{}\n{text}", widest(&text));
}

#[test]
fn plain_text_has_no_escapes_and_painted_text_has() {
    for document in documents() {
        assert!(!text(&document, Paint::Plain).contains('\u{1b}'));
        assert!(text(&document, Paint::Ansi).contains("\u{1b}[1m"));
    }
}

#[test]
fn the_chosen_row_is_marked_and_the_others_are_not() {
    let text = plain_text(synthetic::tune(7));
    let marked: Vec<&str> = text
        .lines()
        .filter(|line| line.trim_start().starts_with('>'))
        .collect();
    assert_eq!(marked.len(), 1);
    assert!(marked[0].contains(" 8 "), "{}", marked[0]);
}

#[test]
fn marks_are_told_where_the_connections_had_ecn() {
    let mut document = synthetic::measure(&Case::streams(1, 7));
    assert!(!plain_text(document.clone()).contains("marked"));
    let tcp = &mut document.body.run.directions[0].tcp;
    (tcp.ecn, tcp.mark_echoed_share) = (Some(true), Some(0.012));
    let text = plain_text(document);
    assert!(text.contains("marked") && text.contains("1.2 %"), "{text}");
}

#[test]
fn escapes_in_a_document_do_not_reach_the_terminal() {
    let mut document = synthetic::demo(7);
    let evil = "\u{1b}[2J\u{7}";
    document.body.target.name = evil.to_owned();
    document.body.runs[0].label = evil.to_owned();
    let answer = document.body.tune.answer.as_mut().unwrap();
    answer.limit.because = evil.to_owned();
    answer.settings[0].command = evil.to_owned();
    answer.settings[0].note = Some(evil.to_owned());
    answer.sysctl[0].why = evil.to_owned();
    let text = plain_text(document);
    assert!(!text.contains(['\u{1b}', '\u{7}']));
}

#[test]
fn what_is_missing_shows_as_a_dash() {
    let mut document = synthetic::tune(7);
    for sample in &mut document.body.samples {
        sample.run.rtt = record::RoundTrips::default();
        sample.run.directions.clear();
        sample.run.interval = None;
    }
    let text = plain_text(document);
    let row = text
        .lines()
        .find(|line| line.trim_start().starts_with('>'))
        .unwrap();
    assert!(row.matches(" - ").count() >= 3, "{row}");
}

#[test]
fn many_windows_are_shown_in_several_tables() {
    let mut document = synthetic::campaign();
    let body = &mut document.body;
    let one = body.cells[0].clone();
    for kib in 1..=20 {
        let mut cell = one.clone();
        cell.setting.window = record::Window::Fixed(units::Bytes::new(kib * 1_048_576));
        cell.figures.aggregate.goodput_bits_per_second = 99_912_345_678;
        body.cells.push(cell);
    }
    let text = plain_text(document);
    assert!(widest(&text) <= COLUMNS, "{}\n{text}", widest(&text));
    assert!(text.contains("20MiB"), "{text}");
}

#[test]
fn escapes_in_a_simulation_do_not_reach_the_terminal() {
    let evil = "\u{1b}[2J\u{7}".to_owned();
    let mut one = synthetic::simulate(2);
    one.body.path.name.clone_from(&evil);
    one.body.path.description.clone_from(&evil);
    one.body.setting.variant.clone_from(&evil);
    let mut many = synthetic::campaign();
    many.body.path.description.clone_from(&evil);
    many.body
        .cells
        .iter_mut()
        .for_each(|cell| cell.setting.variant.clone_from(&evil));
    many.body.choices[0].variant.clone_from(&evil);
    many.body.choices[1].best_cell = 9_999;
    for document in [AnyDocument::from(one), AnyDocument::from(many)] {
        assert!(!text(&document, Paint::Plain).contains(['\u{1b}', '\u{7}']));
    }
}

#[test]
fn a_sweep_without_a_visit_has_a_text() {
    let mut document = synthetic::sweep(&swept(2));
    for cell in &mut document.body.cells {
        cell.figures = None;
        cell.failed_because = Some("\u{1b}[2Jno answer".to_owned());
    }
    document.body.cut_because = Some("\u{7}cancelled".to_owned());
    let shown = text(&document.clone().into(), Paint::Plain);
    assert!(shown.contains("112 visits failed"), "{shown}");
    assert!(!shown.contains(['\u{1b}', '\u{7}']));
    document.body.cells.clear();
    assert!(text(&document.into(), Paint::Plain).contains("0 visits"));
}

#[test]
fn the_recommended_setting_of_a_sweep_is_marked_once_in_each_direction() {
    let shown = text(&synthetic::sweep(&swept(8)).into(), Paint::Plain);
    let marked = shown.lines().filter(|line| line.starts_with('>'));
    assert_eq!(marked.count(), 2, "{shown}");
}

#[test]
fn compared_sweeps_fit_and_cannot_steer_the_terminal() {
    let before = synthetic::sweep(&swept(8)).body;
    let mut after = before.clone();
    after.target.name = "\u{1b}[2Jevil".to_owned();
    for figures in after
        .cells
        .iter_mut()
        .filter_map(|cell| cell.figures.as_mut())
    {
        figures.goodput_bits_per_second *= 2_000;
    }
    let comparison = record::SweepComparison::new(&before, &after);
    let shown = terminal::text(&page::comparing_sweeps(&comparison), Paint::Plain);
    assert!(widest(&shown) <= COLUMNS, "{}\n{shown}", widest(&shown));
    assert!(!shown.contains('\u{1b}'));
    assert!(shown.contains("different paths"), "{shown}");
}
