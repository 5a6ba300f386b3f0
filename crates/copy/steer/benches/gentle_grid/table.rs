//! Rows to Markdown: quantiles, shares within the bounds, the worst cells.

use std::fmt::Write;

use crate::cell::{Cell, Run};
use crate::foreground::Foreground;

/// The aims.
const KEPT: f64 = 0.97;
const FIRST: f64 = 0.92;
const IDLE: f64 = 0.95;
/// Cells in the list of the worst.
const WORST: usize = 12;

/// What one cell showed beside each copy.
pub struct Row {
    cell: Cell,
    beside: Vec<Beside>,
}

struct Beside {
    kept: f64,
    first: f64,
    idle: f64,
    yields: Option<f64>,
}

impl Row {
    pub fn new(cell: Cell, alone: &Run, runs: Vec<Run>) -> Self {
        let beside = runs.into_iter().map(|run| {
            let (kept, first) = run.seen.kept(&alone.seen);
            let (idle, yields) = (run.idle, run.yields);
            Beside {
                kept,
                first,
                idle,
                yields,
            }
        });
        let beside = beside.collect();
        Row { cell, beside }
    }
}

/// All tables.
pub fn page(rows: &[Row], udp: bool) -> String {
    let mut text = String::new();
    let names: &[&str] = match udp {
        true => &["a copy over UDP", "a second CUBIC flow"],
        false => &["gentle copy", "LEDBAT++"],
    };
    let count = rows.first().map_or(0, |row| row.beside.len());
    let head = "| beside | cells | mean | 5 % | 25 % | median | 75 % | 95 % | within |";
    let _ = writeln!(text, "{head}\n|---|---|---|---|---|---|---|---|---|");
    for (at, name) in names.iter().enumerate().take(count) {
        for (what, aim, value) in FIGURES {
            let values = rows.iter().map(|row| value(&row.beside[at])).collect();
            let _ = writeln!(text, "| {name}: {what} | {} |", quantiles(values, aim));
        }
        for (what, within) in PARTS {
            let rows: Vec<&Row> = rows.iter().filter(|row| within(&row.cell)).collect();
            let kept = rows.iter().map(|row| row.beside[at].kept).collect();
            let first = rows.iter().map(|row| row.beside[at].first).collect();
            let _ = writeln!(text, "| {what}: keeps | {} |", quantiles(kept, KEPT));
            let _ = writeln!(text, "| {what}: first 10 s | {} |", quantiles(first, FIRST));
        }
        let all: Vec<(&Cell, &Beside)> = rows
            .iter()
            .map(|row| (&row.cell, &row.beside[at]))
            .collect();
        let _ = writeln!(text, "| {name}: below a quarter | {} |", yields(&all));
    }
    if udp && count == 2 {
        let beside = |row: &Row| row.beside[0].kept / row.beside[1].kept;
        let values = rows.iter().map(beside).collect();
        let _ = writeln!(
            text,
            "| the first over the second | {} |",
            quantiles(values, 1.0)
        );
    }
    worst(&mut text, rows);
    text
}

type Figure = (&'static str, f64, fn(&Beside) -> f64);
const FIGURES: [Figure; 3] = [
    ("others keep", KEPT, |one| one.kept),
    ("of their first 10 s", FIRST, |one| one.first),
    ("idle path used", IDLE, |one| one.idle),
];

type Part = (&'static str, fn(&Cell) -> bool);
const PARTS: [Part; 10] = [
    ("cubic", |cell| cell.foreground == Foreground::Cubic),
    ("bbr", |cell| cell.foreground == Foreground::Bbr),
    ("4 x cubic", |cell| cell.foreground == Foreground::FourCubic),
    ("web", |cell| cell.foreground == Foreground::Web),
    ("video", |cell| cell.foreground == Foreground::Video),
    ("queue below 0.3", |cell| cell.queue < 0.3),
    ("no loss", |cell| cell.loss == 0.0),
    ("0.1 % loss", |cell| cell.loss > 0.0),
    ("below 30 ms", |cell| cell.rtt < 30.0),
    ("100 Mbit/s and more", |cell| cell.rate >= 100.0),
];

fn quantiles(mut values: Vec<f64>, aim: f64) -> String {
    if values.is_empty() {
        return "0 | | | | | | | ".to_owned();
    }
    values.sort_by(f64::total_cmp);
    let quantile = |share: f64| values[(share * (values.len() - 1) as f64).round() as usize];
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    let within = values.iter().filter(|value| **value >= aim).count();
    let five = [0.05, 0.25, 0.5, 0.75, 0.95].map(|share| format!("{:.2}", quantile(share)));
    format!(
        "{} | {mean:.3} | {} | {:.0} % from {aim} on",
        values.len(),
        five.join(" | "),
        100.0 * within as f64 / values.len() as f64
    )
}

/// Of flows that fill a path, and without random losses, which keep them from filling it.
fn yields(all: &[(&Cell, &Beside)]) -> String {
    let fills = |cell: &Cell| {
        let is_short = [Foreground::Web, Foreground::Video].contains(&cell.foreground);
        cell.loss == 0.0 && !is_short
    };
    let all: Vec<_> = all.iter().filter(|(cell, _)| fills(cell)).collect();
    let in_time = all.iter().filter(|(cell, beside)| {
        let most = (10.0 * cell.rtt * 1e-3).max(1.0);
        beside.yields.is_some_and(|seconds| seconds <= most)
    });
    let share = 100.0 * in_time.count() as f64 / all.len().max(1) as f64;
    let seconds = all.iter().map(|(_, beside)| beside.yields.unwrap_or(99.0));
    let row = quantiles(seconds.collect(), f64::NEG_INFINITY);
    let row = row.rsplit_once('|').map_or("", |(row, _)| row);
    format!("{row}| {share:.0} % within ten round trips or 1 s")
}

/// The worst cells of the first copy by what others keep, and by what it takes alone.
fn worst(text: &mut String, rows: &[Row]) {
    let mut rows: Vec<&Row> = rows.iter().collect();
    for (what, value) in [
        ("others keep least", FIGURES[0].2),
        ("it takes least", FIGURES[2].2),
    ] {
        let figure = |row: &Row| value(&row.beside[0]);
        rows.sort_by(|a, b| figure(a).total_cmp(&figure(b)));
        let _ = writeln!(
            text,
            "\nCells where {what} (the first copy of the table):\n"
        );
        let head =
            "| Mbit/s | ms | queue | loss | foreground | keeps | first 10 s | idle | s to 1/4 |";
        let _ = writeln!(text, "{head}\n|---|---|---|---|---|---|---|---|---|");
        for row in rows.iter().take(WORST) {
            let (cell, beside) = (&row.cell, &row.beside[0]);
            let yields = beside
                .yields
                .map_or("never".to_owned(), |one| format!("{one:.2}"));
            let _ = writeln!(
                text,
                "| {:.0} | {:.0} | {:.2} | {} | {} | {:.2} | {:.2} | {:.2} | {yields} |",
                cell.rate,
                cell.rtt,
                cell.queue,
                cell.loss,
                cell.foreground.name(),
                beside.kept,
                beside.first,
                beside.idle,
            );
        }
    }
}
