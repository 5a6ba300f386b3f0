use record::Window;

use super::*;
use crate::rows::history as csv;
use draw::Paint;
use draw::render::html;
use draw::render::terminal::{self, Width};
use record::synthetic;
use record::{AnyDocument, Interval};

fn entry(id: i64, document: impl Into<AnyDocument>) -> Entry {
    let essence = Essence::of(&document.into()).unwrap();
    Entry { id, essence }
}

fn sweep_entry(id: i64) -> SweepEntry {
    let tune = entry(id, synthetic::tune(7)).essence;
    SweepEntry {
        id,
        schema: record::Schema::Sweep,
        created: tune.created,
        trunkline_version: tune.trunkline_version,
        host: tune.host,
        target: tune.target,
        settings: 80,
        cycles: 21,
        measured: 84,
        failed: 3,
        cut_because: Some("cancelled".to_owned()),
    }
}

fn entries() -> Vec<Listed> {
    let mut long = entry(123, synthetic::tune(7));
    long.essence.target.name = "a-very-long-name.of-a-host.example.org:5201".to_owned();
    long.essence.outcome.limit = Some("receive-buffer".to_owned());
    long.essence.outcome.setting.window = Window::Fixed(units::Bytes::new(1_500_000));
    let runs = vec![
        entry(1, synthetic::measure(&synthetic::Case::streams(2, 1))),
        entry(2, synthetic::demo(3)),
        entry(3, synthetic::simulate(4)),
        long,
    ];
    let sweep = Listed::Sweep(Box::new(sweep_entry(124)));
    let runs = runs.into_iter().map(Box::new).map(Listed::Run);
    runs.chain([sweep]).collect()
}

fn with_goodput(id: i64, rate: u64, half: Option<u64>) -> Entry {
    let mut entry = entry(id, synthetic::tune(7));
    let outcome = &mut entry.essence.outcome;
    outcome.goodput_bits_per_second = rate;
    outcome.interval = half.map(|half| {
        Interval::new(
            units::Rate::from_bits_per_second(rate - half),
            units::Rate::from_bits_per_second(rate + half),
        )
    });
    entry
}

#[test]
fn the_list_fits_eighty_columns_whatever_the_names() {
    let text = terminal::table(&list(&entries()), Paint::Plain, Width::Page);
    for line in text.lines() {
        assert!(line.chars().count() <= terminal::COLUMNS, "{line}");
    }
    assert!(text.contains("2026-03-14 15:09"), "{text}");
    assert!(text.contains("emu:slac-cern"), "{text}");
    assert!(text.contains("84 of 1680 "), "{text}");
    assert!(
        text.contains("simulate"),
        "what sought nothing says what it is: {text}"
    );
}

#[test]
fn every_line_of_the_csv_has_the_columns_of_its_head() {
    let mut entries = entries();
    if let Listed::Run(entry) = &mut entries[0] {
        entry.essence.target.name = "a, \"b\"".to_owned();
    }
    let text = csv(&entries);
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines.len(), 6);
    let columns = lines[0].split(',').count();
    assert_eq!(columns, 23);
    for line in &lines[2..] {
        assert_eq!(line.split(',').count(), columns, "{line}");
    }
    assert!(lines[1].contains("\"a, \"\"b\"\"\""), "{}", lines[1]);
}

#[test]
fn a_clear_difference_is_told_with_its_interval() {
    let (from, to) = (
        with_goodput(1, 26_800_000, Some(1_131_000)),
        with_goodput(2, 29_800_000, Some(1_131_000)),
    );
    let sentences = sentences(&Comparison::new(from, to));
    assert_eq!(
        sentences[0],
        "Run 2 carried 3.00 Mbit/s (11 %) more than run 1."
    );
    assert_eq!(
        sentences[1],
        "The 95 % interval of the difference is +1.51 to +4.49 Mbit/s; that there is one is sure \
            to more than 99.9 %."
    );
    assert_eq!(sentences.len(), 2);
}

#[test]
fn a_difference_within_the_noise_is_called_chance() {
    let (from, to) = (
        with_goodput(1, 26_800_000, Some(3_000_000)),
        with_goodput(2, 26_000_000, Some(3_000_000)),
    );
    let sentences = sentences(&Comparison::new(from, to));
    assert!(
        sentences[0].contains("800 kbit/s (3.0 %) less"),
        "{sentences:?}"
    );
    assert!(sentences[1].contains("it may be chance"), "{sentences:?}");
}

#[test]
fn without_an_interval_the_difference_is_not_sure() {
    let (from, mut to) = (
        with_goodput(1, 26_800_000, None),
        with_goodput(2, 26_800_000, Some(1)),
    );
    to.essence.target.name = "other".to_owned();
    let sentences = sentences(&Comparison::new(from, to));
    assert_eq!(sentences[0], "Run 2 carried as much as run 1.");
    assert!(
        sentences[1].contains("run 1 did not settle"),
        "{sentences:?}"
    );
    assert!(sentences[2].contains("different paths"), "{sentences:?}");
}

#[test]
fn a_comparison_shows_what_changed_in_text_and_page() {
    let from = with_goodput(1, 26_800_000, Some(1_131_000));
    let mut to = with_goodput(2, 29_800_000, None);
    to.essence.outcome.setting.streams = 16;
    let comparison = Comparison::new(from, to);
    let rows = rows(&comparison);
    let differing = rows.iter().filter(|row| row.standing == Standing::Differs);
    let differing: Vec<&str> = differing.map(|row| row.cells[0].text.as_str()).collect();
    assert_eq!(differing, ["setting", "goodput"]);
    let shown = crate::page::comparing(&comparison);
    let text = terminal::text(&shown, Paint::Plain);
    assert!(
        text.lines()
            .all(|line| line.chars().count() <= terminal::COLUMNS),
        "{text}"
    );
    assert!(text.contains("16 x auto"), "{text}");
    let page = html::html(&shown, &[]).unwrap();
    assert!(
        page.contains("16 x auto") && page.contains("Run 2 carried"),
        "{page}"
    );
}

#[test]
fn names_from_elsewhere_steer_neither_terminal_nor_page() {
    let mut from = with_goodput(1, 1, None);
    from.essence.target.name = "\u{1b}[2J<script>".to_owned();
    let listed = Listed::Run(Box::new(from.clone()));
    let text = terminal::table(&list(&[listed]), Paint::Plain, Width::Page);
    assert!(!text.contains('\u{1b}'), "{text}");
    let comparison = Comparison::new(from.clone(), from);
    let shown = crate::page::comparing(&comparison);
    assert!(!terminal::text(&shown, Paint::Plain).contains('\u{1b}'));
    assert!(!html::html(&shown, &[]).unwrap().contains("<script>"));
}

#[test]
fn goodputs_far_apart_are_told_as_multiples() {
    let goodputs = ["18.0 Gbit/s".to_owned(), "65.5 Mbit/s".to_owned()];
    assert_eq!(
        multiple((1, 2), 0.00364, &goodputs).unwrap(),
        "Run 1 carried 275 times what run 2 did: 18.0 Gbit/s, then 65.5 Mbit/s."
    );
    assert!(
        multiple((1, 2), 274.4, &goodputs)
            .unwrap()
            .starts_with("Run 2 carried 274 times what run 1 did")
    );
    assert_eq!(multiple((1, 2), 1.11, &goodputs), None);
    assert_eq!(multiple((1, 2), 0.0, &goodputs), None);
}
