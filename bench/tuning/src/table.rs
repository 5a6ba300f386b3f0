//! The rows of all searches as tables for people, one for each objective.

use crate::score::Row;

/// A column: its heading and what it says of the rows of one strategy.
type Column = (&'static str, fn(&[&Row]) -> String);

const COMMON: [Column; 8] = [
    ("regret median", |rows| {
        percent(quantile(rows, 0.5, |row| row.regret))
    }),
    ("95 in 100 below", |rows| {
        percent(quantile(rows, 0.95, |row| row.regret))
    }),
    ("mean", |rows| percent(mean(rows, |row| row.regret))),
    ("worst", |rows| {
        percent(quantile(rows, 1.0, |row| row.regret))
    }),
    ("samples", |rows| {
        middle_and_most(rows, |row| row.samples(), 1.0)
    }),
    ("seconds", |rows| {
        middle_and_most(rows, |row| row.seconds(), 1.0)
    }),
    ("time over allowed", |rows| {
        middle_and_most(rows, |row| row.time_share, 1.0)
    }),
    ("MB", |rows| middle_and_most(rows, |row| row.bytes(), 1e-6)),
];

const MAX: [Column; 4] = [
    ("mean regret x mean seconds", |rows| {
        number(mean(rows, |row| row.regret) * mean(rows, |row| row.seconds()))
    }),
    ("mean of regret x seconds", |rows| {
        number(mean(rows, |row| row.regret * row.seconds()))
    }),
    ("streams over fewest for 95 %", |rows| {
        middle_and_p95(rows, |row| row.streams_over[0])
    }),
    ("within 2 %", |rows| share(rows, |row| row.regret <= 0.02)),
];

const KNEE: [Column; 5] = [
    ("88 % of best", |rows| share(rows, reaches_knee)),
    ("streams at most twice the fewest for 90 %", |rows| {
        share(rows, |row| row.streams_over[1] <= 2.0)
    }),
    ("... for 88 %", |rows| {
        share(rows, |row| row.streams_over[2] <= 2.0)
    }),
    ("88 % and twice those for 90 %", |rows| {
        share(rows, |row| reaches_knee(row) && row.streams_over[1] <= 2.0)
    }),
    ("88 % and twice those for 88 %", |rows| {
        share(rows, |row| reaches_knee(row) && row.streams_over[2] <= 2.0)
    }),
];

const GENTLE: [Column; 4] = [
    ("within 30 ms", |rows| share(rows, Row::is_gentle)),
    ("... where some cell is", |rows| {
        let possible: Vec<&Row> = rows
            .iter()
            .copied()
            .filter(|row| row.regret_gentle.is_some())
            .collect();
        share(&possible, Row::is_gentle)
    }),
    ("regret against the best within 30 ms, median", |rows| {
        percent(gentle_regret(rows, 0.5))
    }),
    ("... 95 in 100 below", |rows| {
        percent(gentle_regret(rows, 0.95))
    }),
];

const HARM: [Column; 4] = [
    ("more streams than packets", |rows| {
        share(rows, |row| row.crowded)
    }),
    ("added ms", |rows| {
        middle_and_p95(rows, |row| row.added * 1e3)
    }),
    ("taken from others", |rows| {
        let taken: Vec<f64> = rows.iter().filter_map(|row| row.taken).collect();
        percent(stats::median(&taken).unwrap_or(0.0))
    }),
    ("not found", |rows| {
        let lost = rows.iter().filter(|row| row.found.is_err()).count();
        lost.to_string()
    }),
];

fn reaches_knee(row: &Row) -> bool {
    row.regret <= 0.12
}

fn gentle_regret(rows: &[&Row], p: f64) -> f64 {
    let regrets: Vec<f64> = rows.iter().filter_map(|row| row.regret_gentle).collect();
    stats::quantile(&regrets, p).unwrap_or(0.0)
}

/// The table of one objective; `rows` may hold others too.
pub fn table(objective: &str, strategies: &[String], rows: &[Row]) -> String {
    let own: &[Column] = match objective {
        "knee" => &KNEE,
        "gentle" => &GENTLE,
        _ => &MAX,
    };
    let columns: Vec<&Column> = COMMON.iter().chain(own).chain(&HARM).collect();
    let headings: Vec<&str> = columns.iter().map(|(heading, _)| *heading).collect();
    let mut text = format!(
        "| strategy | {} |\n|{}\n",
        headings.join(" | "),
        "---|".repeat(columns.len() + 1)
    );
    for strategy in strategies {
        let is_ours =
            |row: &&Row| row.label.objective == objective && row.label.strategy == *strategy;
        let rows: Vec<&Row> = rows.iter().filter(is_ours).collect();
        let cells: Vec<String> = columns.iter().map(|(_, cell)| cell(&rows)).collect();
        text += &format!("| {strategy} | {} |\n", cells.join(" | "));
    }
    text
}

fn values(rows: &[&Row], of: fn(&Row) -> f64) -> Vec<f64> {
    rows.iter().map(|row| of(row)).collect()
}

fn quantile(rows: &[&Row], p: f64, of: fn(&Row) -> f64) -> f64 {
    stats::quantile(&values(rows, of), p).unwrap_or(0.0)
}

fn mean(rows: &[&Row], of: fn(&Row) -> f64) -> f64 {
    stats::mean(&values(rows, of)).unwrap_or(0.0)
}

fn middle_and_most(rows: &[&Row], of: fn(&Row) -> f64, scale: f64) -> String {
    let at = |p| number(scale * quantile(rows, p, of));
    format!("{} (most {})", at(0.5), at(1.0))
}

fn middle_and_p95(rows: &[&Row], of: fn(&Row) -> f64) -> String {
    let at = |p| number(quantile(rows, p, of));
    format!("{} (95 % below {})", at(0.5), at(0.95))
}

fn share(rows: &[&Row], is: impl Fn(&Row) -> bool) -> String {
    let those = rows.iter().filter(|row| is(row)).count();
    percent(those as f64 / rows.len().max(1) as f64)
}

pub fn percent(share: f64) -> String {
    format!("{:.1} %", share * 100.0)
}

/// Three digits.
pub fn number(value: f64) -> String {
    let digits = if value == 0.0 {
        0
    } else {
        value.abs().log10().floor() as i32
    };
    format!("{value:.*}", (2 - digits).clamp(0, 3) as usize)
}
