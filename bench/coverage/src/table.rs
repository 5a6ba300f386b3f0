//! The page with the tables.

use std::fmt::Write;

use crate::cases::Case;
use crate::judge::{Judged, LENGTHS};
use crate::truth::Truth;

const HEAD: &str =
    "runs | gave an interval | of those, hold the truth | half width, median | largest miss";

/// By kind, by length, by case.
pub fn page(judged: &[Judged], truths: &[Truth]) -> String {
    let mut page = String::new();
    table(&mut page, "kind", &by_kind(judged));
    table(&mut page, "length", &by_length(judged));
    let _ = writeln!(
        page,
        "| setting | truth, Mbit/s | its standard error | {HEAD} |"
    );
    let _ = writeln!(page, "|---|---|---|---|---|---|---|---|");
    for truth in truths {
        let own: Vec<&Judged> = of_case(judged, &truth.case).collect();
        let (mean, error) = (truth.mean / 1e6, truth.error / 1e6);
        let _ = writeln!(
            page,
            "| {} | {mean:.3} | {error:.3} | {} |",
            truth.case.name(),
            columns(&own)
        );
    }
    page
}

/// One run in one line.
pub fn line(judged: &Judged) -> String {
    let trial = &judged.trial;
    let said = match (&judged.interval, &judged.unsettled) {
        (Some(given), _) => format!(
            "+- {:.3} {}",
            given.half_width,
            if given.holds { "holds" } else { "MISSES" }
        ),
        (None, Some(why)) => format!("not settled: {why}"),
        (None, None) => "no interval".to_owned(),
    };
    format!(
        "{} | {} s | {:.3} of the truth | {said}",
        trial.case.name(),
        trial.seconds,
        judged.mean
    )
}

type Row<'a> = (String, Vec<&'a Judged>);

fn table(page: &mut String, first: &str, rows: &[Row]) {
    let _ = writeln!(page, "| {first} | {HEAD} |\n|---|---|---|---|---|---|");
    for (name, judged) in rows {
        let _ = writeln!(page, "| {name} | {} |", columns(judged));
    }
    page.push('\n');
}

fn by_kind(judged: &[Judged]) -> Vec<Row<'_>> {
    let mut kinds: Vec<_> = judged.iter().map(|one| one.trial.case.kind).collect();
    kinds.sort();
    kinds.dedup();
    let of = |kind| judged.iter().filter(move |one| one.trial.case.kind == kind);
    let mut rows: Vec<Row> = kinds
        .into_iter()
        .map(|kind| (kind.to_string(), of(kind).collect()))
        .collect();
    rows.push(("all".to_owned(), judged.iter().collect()));
    rows
}

fn by_length(judged: &[Judged]) -> Vec<Row<'_>> {
    let of = |seconds| {
        judged
            .iter()
            .filter(move |one| one.trial.seconds == seconds)
    };
    LENGTHS
        .into_iter()
        .map(|seconds| (format!("{seconds} s"), of(seconds).collect()))
        .collect()
}

fn of_case<'a>(judged: &'a [Judged], case: &Case) -> impl Iterator<Item = &'a Judged> {
    judged.iter().filter(move |one| one.trial.case == *case)
}

fn columns(judged: &[&Judged]) -> String {
    let given = || judged.iter().filter_map(|one| one.interval);
    let count = given().count();
    let held = given().filter(|given| given.holds).count();
    let widths: Vec<f64> = given().map(|given| given.half_width).collect();
    let miss = judged.iter().filter_map(|one| one.misses_by());
    format!(
        "{} | {} | {} | {} | {}",
        judged.len(),
        share(count, judged.len()),
        share(held, count),
        stats::median(&widths).map_or("-".to_owned(), |half| format!("{:.1} %", half * 100.0)),
        miss.reduce(f64::max)
            .map_or("-".to_owned(), |times| format!("{times:.1} half widths")),
    )
}

fn share(part: usize, whole: usize) -> String {
    match whole {
        0 => "-".to_owned(),
        _ => format!("{:.1} %", part as f64 / whole as f64 * 100.0),
    }
}

impl Judged {
    /// Distance from the truth in half widths of an interval that does not hold it.
    fn misses_by(&self) -> Option<f64> {
        let given = self.interval.filter(|given| !given.holds)?;
        (given.half_width > 0.0).then(|| (self.mean - 1.0).abs() / given.half_width)
    }
}
