//! The page of one objective, and all rows as CSV.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::fmt::Write;

use observe::Limit;

use super::Place;
use super::score::{Judged, KEPT, Kept, MAX, Row, Scored, Verdict};
use crate::misses::{details, name};
use crate::search::Promise;
use crate::table::{number, percent};

/// A verdict that is said to be likelier is said with confidence.
const SURE: f64 = 0.8;
/// How many of the worst promises are told.
const WORST: usize = 10;

/// A column: its heading and what it says of some answers.
type Column = (&'static str, fn(&[&Scored]) -> String);

const PROMISES: [Column; 10] = [
    ("promise kept to 0.9", |rows| kept(&recommended(rows))),
    ("truth in its interval", |rows| holds(&recommended(rows))),
    ("least, most carried of it", |rows| {
        extremes(&recommended(rows))
    }),
    ("default row kept", |rows| kept(&default(rows))),
    ("in its interval", |rows| holds(&default(rows))),
    ("promised below half", |rows| {
        share(&default(rows), |kept| kept.ratio() > 2.0)
    }),
    ("all rows kept", |rows| kept(&every(rows))),
    ("in their intervals", |rows| holds(&every(rows))),
    ("least, most", |rows| extremes(&every(rows))),
    ("default promised away", |rows| {
        share(rows, |row| row.promised_away)
    }),
];

const COSTS: [Column; 5] = [
    ("seconds", |rows| {
        middle_and_p90(rows, |row| row.found.seconds)
    }),
    ("round trips", |rows| {
        middle_and_p90(rows, |row| row.round_trips)
    }),
    ("samples", |rows| {
        middle_and_p90(rows, |row| row.found.tried.len() as f64)
    }),
    ("MB", |rows| {
        middle_and_p90(rows, |row| row.found.bytes / 1e6)
    }),
    ("processor ms of the search", |rows| {
        middle_and_p90(rows, |row| row.found.own * 1e3)
    }),
];

const VERDICTS: [Column; 2] = [
    ("verdict right, wrong, wrong above 80 %", |rows| {
        verdicts(rows, |row| &row.limit)
    }),
    ("of the default", |rows| {
        verdicts(rows, |row| &row.limit_default)
    }),
];

/// The column of the objective itself.
fn aim(objective: &str) -> Column {
    match objective {
        "knee" => (
            "88 % of the best, at most twice the fewest streams",
            |rows| share(rows, |row| row.knee),
        ),
        _ => ("98 % of the best", |rows| {
            share(rows, |row| row.regret <= 1.0 - MAX)
        }),
    }
}

/// The tables over all and by family, and the worst promises.
pub fn page(objective: &str, families: &[String], rows: &[Row]) -> String {
    let of_objective = rows.iter().filter(|row| row.objective == objective);
    let rows: Vec<&Row> = of_objective.collect();
    let goal = [aim(objective)];
    let mut page = format!("## {objective}\n\n");
    for columns in [
        [&PROMISES[..], &[]],
        [&goal, &[&COSTS[..], &VERDICTS].concat()],
    ] {
        page += &table(&columns.concat(), families, &rows);
        page.push('\n');
    }
    page += &wrong("the recommended setting", &rows, |row| &row.limit);
    page += &wrong("one default stream", &rows, |row| &row.limit_default);
    page += &format!("The {WORST} promises that are kept least:\n\n");
    worst(&rows).into_iter().for_each(|row| page += &miss(row));
    let failed = rows
        .iter()
        .filter_map(|row| Some((row, row.scored.as_ref().err()?)));
    for (row, error) in failed {
        let _ = writeln!(page, "- {} {}: no answer: {error}", row.family, row.seed);
    }
    page
}

fn table(columns: &[Column], families: &[String], rows: &[&Row]) -> String {
    let headings: Vec<&str> = columns.iter().map(|(heading, _)| *heading).collect();
    let mut text = format!(
        "| family | searches | {} |\n|{}\n",
        headings.join(" | "),
        "---|".repeat(columns.len() + 2)
    );
    let mut line = |name: &str, rows: Vec<&Scored>| {
        let cells: Vec<String> = columns.iter().map(|(_, cell)| cell(&rows)).collect();
        let _ = writeln!(text, "| {name} | {} | {} |", rows.len(), cells.join(" | "));
    };
    line(
        "all",
        rows.iter()
            .filter_map(|row| row.scored.as_ref().ok())
            .collect(),
    );
    for family in families {
        let of = rows.iter().filter(|row| row.family == *family);
        line(
            family,
            of.filter_map(|row| row.scored.as_ref().ok()).collect(),
        );
    }
    text
}

fn recommended<'a>(rows: &[&'a Scored]) -> Vec<&'a Kept> {
    rows.iter().map(|row| &row.recommended).collect()
}

fn default<'a>(rows: &[&'a Scored]) -> Vec<&'a Kept> {
    rows.iter().filter_map(|row| row.default.as_ref()).collect()
}

fn every<'a>(rows: &[&'a Scored]) -> Vec<&'a Kept> {
    rows.iter().flat_map(|row| &row.rows).collect()
}

fn kept(promises: &[&Kept]) -> String {
    share(promises, |kept| kept.ratio() >= KEPT)
}

/// Of the promises that have an interval, and how many have.
fn holds(promises: &[&Kept]) -> String {
    let held: Vec<bool> = promises.iter().filter_map(|kept| kept.holds()).collect();
    format!("{} of {}", share(&held, |holds| *holds), held.len())
}

fn extremes(promises: &[&Kept]) -> String {
    let ratios = || promises.iter().map(|kept| kept.ratio());
    let least = ratios().fold(f64::INFINITY, f64::min);
    format!("{least:.2}, {:.2}", ratios().fold(0.0, f64::max))
}

fn verdicts(rows: &[&Scored], of: fn(&Scored) -> &Judged) -> String {
    let judged = rows.iter().map(|row| of(row).verdict());
    let judged: Vec<Verdict> = judged.filter(|one| *one != Verdict::NoTruth).collect();
    let right = share(&judged, |one| *one == Verdict::Right);
    let wrong = share(&judged, |one| *one == Verdict::Wrong);
    let sure = rows.iter().map(|row| of(row));
    let sure = sure.filter(|one| one.is_wrong_above(SURE)).count();
    format!("{right}, {wrong}, {sure} of {}", judged.len())
}

/// The wrong verdicts, the frequent ones first.
fn wrong(what: &str, rows: &[&Row], of: fn(&Scored) -> &Judged) -> String {
    let judged = rows.iter().filter_map(|row| row.scored.as_ref().ok());
    let judged = judged.map(of);
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for one in judged.filter(|one| one.verdict() == Verdict::Wrong) {
        *counts.entry(words(one)).or_default() += 1;
    }
    let mut counts: Vec<(String, usize)> = counts.into_iter().collect();
    counts.sort_by_key(|(_, count)| Reverse(*count));
    let parts = counts
        .iter()
        .map(|(words, count)| format!("{count} x {words}"));
    let parts: Vec<String> = parts.collect();
    format!("Wrong verdicts on {what}: {}.\n\n", parts.join("; "))
}

fn middle_and_p90(rows: &[&Scored], of: fn(&Scored) -> f64) -> String {
    let values: Vec<f64> = rows.iter().map(|row| of(row)).collect();
    let at = |p| number(stats::quantile(&values, p).unwrap_or(0.0));
    format!("{} (90 % below {})", at(0.5), at(0.9))
}

fn share<T>(all: &[T], is: impl Fn(&T) -> bool) -> String {
    match all.len() {
        0 => "-".to_owned(),
        count => percent(all.iter().filter(|one| is(one)).count() as f64 / count as f64),
    }
}

fn worst<'a>(rows: &[&'a Row]) -> Vec<(&'a Row, &'a Scored)> {
    let scored = rows
        .iter()
        .filter_map(|row| Some((*row, row.scored.as_ref().ok()?)));
    let mut scored: Vec<(&Row, &Scored)> = scored.collect();
    scored.sort_by(|(_, a), (_, b)| a.recommended.ratio().total_cmp(&b.recommended.ratio()));
    scored.truncate(WORST);
    scored
}

fn miss((row, scored): (&Row, &Scored)) -> String {
    let default = scored.default.as_ref();
    let default = default.map_or("no row".to_owned(), figures);
    format!(
        "- {} {} ({}): {} {}; default {default}; {}; default {}\n",
        row.family,
        row.seed,
        scored.path,
        name(&scored.recommended.setting),
        figures(&scored.recommended),
        words(&scored.limit),
        words(&scored.limit_default),
    )
}

fn figures(kept: &Kept) -> String {
    let mbit = |rate: f64| number(rate / 1e6);
    let Promise { goodput, interval } = kept.promise;
    let ends = |(low, high)| format!(" ({} to {})", mbit(low), mbit(high));
    let ends = interval.map_or(String::new(), ends);
    format!(
        "promised {}{ends}, carries {} Mbit/s",
        mbit(goodput),
        mbit(kept.truth.mean)
    )
}

fn limits(limits: &[Limit]) -> String {
    let names: Vec<&str> = limits.iter().map(|limit| limit.name()).collect();
    names.join(" or ")
}

fn words(judged: &Judged) -> String {
    let right = match judged.right.is_empty() {
        true => "nothing single".to_owned(),
        false => limits(&judged.right),
    };
    format!("{} said, {right} true", limits(&judged.said.limits))
}

/// The `count` answers of an objective that give up most, with all that was seen.
pub fn misses(objective: &str, rows: &[Row], places: &[Place], count: usize) -> String {
    let of_objective = rows.iter().filter(|row| row.objective == objective);
    let scored = of_objective.filter_map(|row| Some((row, row.scored.as_ref().ok()?)));
    let mut scored: Vec<(&Row, &Scored)> = scored.collect();
    scored.sort_by(|(_, a), (_, b)| b.regret.total_cmp(&a.regret));
    let one = |(row, scored): (&Row, &Scored)| {
        let grid = &places[scored.place].grid;
        let regret = 100.0 * scored.regret;
        let given = scored.recommended.truth.mean;
        let details = details(grid, &scored.found, given);
        format!("{}  regret {regret:.1} %\n{details}", miss((row, scored)))
    };
    scored.into_iter().take(count).map(one).collect()
}

const HEADINGS: &str = "family,seed,objective,recommended,promised_bits_per_second,low,high,\
carried,carried_error,default_promised,default_low,default_high,default_carried,promised_away,\
rows,rows_kept,regret,knee,samples,seconds,round_trips,bytes,processor_seconds,limit,limit_true,\
limit_default,limit_default_true,path,error";

/// A line for each row under a line of headings.
pub fn csv(rows: &[Row]) -> String {
    let mut text = format!("{HEADINGS}\n");
    for row in rows {
        let mut fields = vec![
            row.family.clone(),
            row.seed.to_string(),
            row.objective.to_owned(),
        ];
        fields.extend(match &row.scored {
            Ok(scored) => answer(scored),
            Err(error) => {
                let empty = HEADINGS.split(',').count() - fields.len() - 1;
                let error = error.replace([',', '\n'], ";");
                std::iter::repeat_n(String::new(), empty)
                    .chain([error])
                    .collect()
            }
        });
        text += &(fields.join(",") + "\n");
    }
    text
}

fn answer(scored: &Scored) -> Vec<String> {
    let mut fields = vec![name(&scored.recommended.setting)];
    fields.extend(promise(&scored.recommended));
    fields.push(format!("{:.0}", scored.recommended.truth.error));
    let default = scored.default.as_ref();
    fields.extend(default.map_or([const { String::new() }; 4], promise));
    let kept = scored.rows.iter().filter(|row| row.ratio() >= KEPT).count();
    fields.extend([
        scored.promised_away.to_string(),
        scored.rows.len().to_string(),
        kept.to_string(),
        format!("{:.5}", scored.regret),
        scored.knee.to_string(),
        scored.found.tried.len().to_string(),
        format!("{:.3}", scored.found.seconds),
        format!("{:.1}", scored.round_trips),
        format!("{:.0}", scored.found.bytes),
        format!("{:.6}", scored.found.own),
        limits(&scored.limit.said.limits),
        limits(&scored.limit.right),
        limits(&scored.limit_default.said.limits),
        limits(&scored.limit_default.right),
        scored.path.replace(',', ";"),
        String::new(),
    ]);
    fields
}

fn promise(kept: &Kept) -> [String; 4] {
    let bits = |rate: f64| format!("{rate:.0}");
    let end = |of: fn((f64, f64)) -> f64| {
        let ends = kept.promise.interval;
        ends.map_or(String::new(), |ends| bits(of(ends)))
    };
    [
        bits(kept.promise.goodput),
        end(|(low, _)| low),
        end(|(_, high)| high),
        bits(kept.truth.mean),
    ]
}
