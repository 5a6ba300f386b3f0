//! The tables on standard output.

use steering_bench::shared_path::Shown;
use units::Span;

use crate::chooser::Rule;
use crate::outcome::Campaigned;
use crate::validate::{Pair, Scatter};
use crate::world::World;

/// Columns of campaigns: `to others` is what the other streams have over what they have alone.
pub const RUNS: [&str; 15] = [
    "seed",
    "rule",
    "took, h",
    "over least",
    "95 % of bytes, h",
    "streams",
    "where a host holds",
    "to others",
    "median link",
    "sent again",
    "by failures",
    "Jain",
    "over bounds",
    "killed",
    "processor s",
];
/// Columns of formulas beside packets; each pair has packets first.
pub const PAIRS: [&str; 11] = [
    "path",
    "rule",
    "rate: packets",
    "formulas",
    "apart",
    "streams: packets",
    "formulas",
    "the other: packets",
    "formulas",
    "sent again: packets",
    "formulas",
];
/// Columns of the scatter of one second's rates.
pub const SCATTER: [&str; 6] = [
    "path",
    "streams",
    "deviation",
    "times root of streams",
    "next second",
    "used",
];

fn line(cells: &[String]) {
    println!("| {} |", cells.join(" | "));
}

pub fn head(columns: &[&str]) {
    println!("| {} |", columns.join(" | "));
    println!("|{}", "---|".repeat(columns.len()));
}

fn hours(span: Span) -> String {
    format!("{:.2}", span.as_secs_f64() / 3_600.0)
}

fn percent(share: f64) -> String {
    format!("{:.3} %", 100.0 * share)
}

/// What was drawn, and the least time.
pub fn least(seed: u64, world: &World, least: Span, processor: f64) {
    let shards: usize = world.links.iter().map(|link| link.shards.len()).sum();
    let mut cells = vec![String::new(); RUNS.len()];
    cells[..4].clone_from_slice(&[
        seed.to_string(),
        "least time".to_owned(),
        hours(least),
        "1.000".to_owned(),
    ]);
    cells[5] = format!(
        "{} links, {} files, {:.1} TB, {shards} shards",
        world.links.len(),
        world.files(),
        world.bytes() / 1e12
    );
    cells[RUNS.len() - 1] = format!("{processor:.1}");
    line(&cells);
}

pub fn run(seed: u64, rule: Rule, shown: &Campaigned, least: Span, processor: f64) {
    line(&[
        seed.to_string(),
        rule.name(),
        hours(shown.took),
        format!("{:.3}", shown.took.as_secs_f64() / least.as_secs_f64()),
        hours(shown.nearly),
        format!("{:.1}", shown.streams),
        format!("{:.1}", shown.streams_held),
        format!("{:.3}", shown.others),
        format!("{:.3}", shown.others_median),
        percent(shown.again),
        percent(shown.again_for_failures),
        format!("{:.3}", shown.fairness),
        percent(shown.over_bound),
        shown.killed.to_string(),
        format!("{processor:.1}"),
    ]);
}

/// Prints a row, and returns how far apart the rates are, as a share.
pub fn pair(pair: &Pair) -> f64 {
    let (packets, formulas) = (Shown::mean(&pair.packets), Shown::mean(&pair.formulas));
    let apart = formulas.rate.as_f64() / packets.rate.as_f64() - 1.0;
    line(&[
        pair.path.clone(),
        pair.rule.clone(),
        packets.rate.human(),
        formulas.rate.human(),
        format!("{:+.1} %", 100.0 * apart),
        format!("{:.1}", packets.streams),
        format!("{:.1}", formulas.streams),
        packets.other.human(),
        formulas.other.human(),
        percent(packets.retransmitted),
        percent(formulas.retransmitted),
    ]);
    apart.abs()
}

/// How far apart the rates of all pairs are.
pub fn summary(apart: Vec<f64>) {
    let quantile = |share| 100.0 * stats::quantile(&apart, share).unwrap_or(f64::NAN);
    println!(
        "\nRates apart: median {:.1} %, nine of ten at most {:.1} %, all at most {:.1} %",
        quantile(0.5),
        quantile(0.9),
        quantile(1.0)
    );
}

pub fn scatter(path: &str, one: &Scatter) {
    line(&[
        path.to_owned(),
        one.streams.to_string(),
        format!("{:.3}", one.deviation),
        format!("{:.3}", one.deviation * f64::from(one.streams).sqrt()),
        format!("{:.2}", one.next),
        format!("{:.3}", one.used),
    ]);
}
