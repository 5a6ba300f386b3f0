//! The page with the tables.

use std::collections::BTreeMap;
use std::fmt::Write;

use observe::Limit;

use crate::cases::Case;
use crate::judge::{Judged, Outcome};

/// One line while the searches run.
pub fn progress(case: &Case, judged: Result<&Judged, &String>) -> String {
    match judged {
        Ok(judged) => format!(
            "{} (seed {}): {:?}, {}",
            case.name,
            case.seed,
            judged.outcome,
            said(judged)
        ),
        Err(error) => format!("{} (seed {}): left out: {error}", case.name, case.seed),
    }
}

/// Counts, the table of confusion and a line for each case.
pub fn page(judged: &[Judged], misses: bool) -> String {
    let mut page = String::new();
    let _ = write!(
        page,
        "{}\n{}\n{}",
        counts(judged),
        confusion(judged),
        by_name(judged)
    );
    if misses {
        page.push('\n');
        for one in judged.iter().filter(|one| one.outcome != Outcome::Right) {
            page.push_str(&miss(one));
        }
    }
    page
}

fn counts(judged: &[Judged]) -> String {
    let known: Vec<&Judged> = judged
        .iter()
        .filter(|one| one.outcome != Outcome::NoTruth)
        .collect();
    let count = |outcome| known.iter().filter(|one| one.outcome == outcome).count();
    let mut text = format!(
        "{} searches; {} of them on paths without a single truth, which do not count.\n\n\
         | verdict | searches | share |\n|---|---|---|\n",
        judged.len(),
        judged.len() - known.len()
    );
    let rows = [
        ("right", Outcome::Right),
        ("another named first, the truth beside it", Outcome::Listed),
        ("unknown or too short", Outcome::Open),
        ("wrong", Outcome::Wrong),
    ];
    for (name, outcome) in rows {
        let share = 100.0 * count(outcome) as f64 / known.len().max(1) as f64;
        let _ = writeln!(text, "| {name} | {} | {share:.1} % |", count(outcome));
    }
    text
}

/// Truths down, first-named verdicts across.
fn confusion(judged: &[Judged]) -> String {
    let mut cells: BTreeMap<(Limit, Limit), usize> = BTreeMap::new();
    for one in judged {
        if let Some(truth) = one.truth.limit {
            *cells.entry((truth, one.verdict.limit)).or_default() += 1;
        }
    }
    let said: Vec<Limit> = Limit::ALL
        .into_iter()
        .filter(|limit| cells.keys().any(|(_, said)| said == limit))
        .collect();
    let names: Vec<&str> = said.iter().map(|limit| limit.name()).collect();
    let mut text = format!("| truth \\ verdict | {} |\n|---|", names.join(" | "));
    text.push_str(&"---|".repeat(said.len()));
    text.push('\n');
    let truths = Limit::ALL
        .into_iter()
        .filter(|limit| cells.keys().any(|(truth, _)| truth == limit));
    for truth in truths {
        let row = said.iter().map(|said| cells.get(&(truth, *said)));
        let row: Vec<String> = row
            .map(|n| n.map_or(String::new(), usize::to_string))
            .collect();
        let _ = writeln!(text, "| {truth} | {} |", row.join(" | "));
    }
    text
}

/// A line for each preset, and for each limit and strength.
fn by_name(judged: &[Judged]) -> String {
    let mut text = "| path | truth | right | beside | open | wrong | no truth | said |\n\
                    |---|---|---|---|---|---|---|---|\n"
        .to_owned();
    let mut names: Vec<&str> = judged.iter().map(|one| one.case.name.as_str()).collect();
    names.dedup();
    for name in names {
        let these: Vec<&Judged> = judged.iter().filter(|one| one.case.name == name).collect();
        let count = |outcome| match these.iter().filter(|one| one.outcome == outcome).count() {
            0 => String::new(),
            n => n.to_string(),
        };
        let _ = writeln!(
            text,
            "| {name} | {} | {} | {} | {} | {} | {} | {} |",
            tally(
                these
                    .iter()
                    .map(|one| one.truth.limit.map_or("none", Limit::name).to_owned())
            ),
            count(Outcome::Right),
            count(Outcome::Listed),
            count(Outcome::Open),
            count(Outcome::Wrong),
            count(Outcome::NoTruth),
            tally(these.iter().map(|one| said(one))),
        );
    }
    text
}

/// Words with how often they came.
fn tally(words: impl Iterator<Item = String>) -> String {
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    words.for_each(|word| *counts.entry(word).or_default() += 1);
    let mut counts: Vec<_> = counts.into_iter().collect();
    counts.sort_by_key(|(_, n)| std::cmp::Reverse(*n));
    let parts = counts.iter().map(|(word, n)| match n {
        1 => word.clone(),
        n => format!("{word} ({n})"),
    });
    parts.collect::<Vec<_>>().join(", ")
}

fn said(judged: &Judged) -> String {
    let verdict = &judged.verdict;
    let all = std::iter::once(&verdict.limit).chain(&verdict.or);
    all.map(|limit| limit.name())
        .collect::<Vec<_>>()
        .join(" or ")
}

fn miss(judged: &Judged) -> String {
    let truth = &judged.truth;
    let without = truth.without.iter();
    let without: Vec<String> = without
        .map(|(limit, rate)| format!("{limit} {}", rate.human()))
        .collect();
    let mut text = format!(
        "- {} (seed {}): {:?}, {} said where {} is true\n  - {}\n  - one stream {}; without {}\n  - {}\n",
        judged.case.name,
        judged.case.seed,
        judged.outcome,
        said(judged),
        truth.limit.map_or("nothing single", Limit::name),
        judged.case.path,
        truth.default.human(),
        without.join(", "),
        judged.verdict.because,
    );
    for sample in &judged.samples {
        let _ = writeln!(text, "    - {sample}");
    }
    let _ = writeln!(text, "  - {:.0} s", judged.seconds);
    text
}
