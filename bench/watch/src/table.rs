//! The page.

use std::fmt::Write;

use crate::forecasts::{Forecasts, Kept};
use crate::pool::Pool;
use crate::score::{Alarm, Outcome};
use crate::series::{FIRST_HOURS, Fault, Series};

/// The name of trunkline's own detector in tables.
pub const OURS: &str = "trunkline";
/// "Changes twice the noise".
const TWICE: f64 = 2.0;

type Side<'a> = Vec<&'a Outcome>;

/// All tables.
pub fn page(outcomes: &[Outcome], kept: &Forecasts) -> String {
    let mut page = String::new();
    methods(&mut page, outcomes);
    let ours: Side<'_> = outcomes.iter().filter(|one| one.method == OURS).collect();
    let (count, days) = first_day_events(&ours);
    let _ = writeln!(
        page,
        "Of the false events of trunkline, {count} are of the first days of {days:.0} paths.\n"
    );
    by_size(&mut page, &ours);
    by_fault(&mut page, &ours);
    forecasts(&mut page, kept);
    page
}

/// The tables of faults in the first days of a watch.
pub fn first_days(outcomes: &[Outcome]) -> String {
    let mut page = String::new();
    let ours: Side<'_> = outcomes.iter().filter(|one| one.method == OURS).collect();
    let (count, days) = first_day_events(&ours);
    let _ = writeln!(
        page,
        "False events of the first day: {count} in {days:.0} paths.\n"
    );
    let _ = writeln!(
        page,
        "| the fault begins, of at least twice the noise | {FOUND}"
    );
    for (low, high) in FIRST_HOURS {
        let name = format!("{low:.0} to {high:.0} hours after the first visit");
        let begins = |o: &&Outcome| is_step(o, TWICE) && (low..high).contains(&o.hours);
        found(
            &mut page,
            &name,
            &ours.iter().copied().filter(begins).collect(),
        );
    }
    let all = ours.iter().copied().filter(|o| is_step(o, TWICE));
    found(&mut page, "all of these", &all.collect());
    let _ = writeln!(page);
    by_size(&mut page, &ours);
    by_fault(&mut page, &ours);
    page
}

fn first_day_events(side: &Side<'_>) -> (usize, f64) {
    let count = side.iter().map(|one| one.false_first_day).sum();
    (count, side.iter().map(|one| one.first_days).sum())
}

fn methods(page: &mut String, outcomes: &[Outcome]) {
    let _ = writeln!(
        page,
        "| detector | false events per path and month | of series without a change | changes \
         twice the noise | found within 3 visits | 24 visits | a week | first cause right |\n\
         |---|---|---|---|---|---|---|---|"
    );
    let mut names: Vec<&str> = Vec::new();
    for one in outcomes {
        if !names.contains(&one.method.as_str()) {
            names.push(&one.method);
        }
    }
    for name in names {
        let own: Side<'_> = outcomes.iter().filter(|one| one.method == name).collect();
        let quiet: Side<'_> = own
            .iter()
            .copied()
            .filter(|o| o.fault == Fault::None)
            .collect();
        let large: Side<'_> = own.iter().copied().filter(|o| is_step(o, TWICE)).collect();
        let _ = writeln!(
            page,
            "| {name} | {} | {} | {} | {} | {} | {} | {} |",
            false_rate(&own),
            false_rate(&quiet),
            large.len(),
            within(&large, 3),
            within(&large, 24),
            within(&large, usize::MAX),
            causes(&large)
        );
    }
    let _ = writeln!(page);
}

/// A lasting change of level of at least this size.
fn is_step(outcome: &Outcome, size: f64) -> bool {
    let step = !matches!(
        outcome.fault,
        Fault::None | Fault::Drift | Fault::Flapping | Fault::RouteOnly
    );
    step && outcome.size >= size
}

const FOUND: &str = "series | within 3 visits | 6 visits | 24 visits | a week | first cause right \
    |\n|---|---|---|---|---|---|---|";

fn by_size(page: &mut String, ours: &Side<'_>) {
    let _ = writeln!(page, "| size, in units of the noise before | {FOUND}");
    let bounds = [
        (0.0, 1.0, "below 1"),
        (1.0, 2.0, "1 to 2"),
        (2.0, 3.0, "2 to 3"),
        (3.0, 5.0, "3 to 5"),
        (5.0, f64::INFINITY, "5 and more"),
    ];
    for (low, high, name) in bounds {
        let row = ours
            .iter()
            .copied()
            .filter(|o| is_step(o, low) && o.size < high);
        found(page, name, &row.collect());
    }
    let _ = writeln!(page);
}

fn by_fault(page: &mut String, ours: &Side<'_>) {
    let _ = writeln!(page, "| fault | {FOUND}");
    for fault in Fault::ALL.into_iter().filter(|fault| *fault != Fault::None) {
        let row: Side<'_> = ours
            .iter()
            .copied()
            .filter(|one| one.fault == fault)
            .collect();
        if row.is_empty() {
            continue;
        }
        found(page, fault.name(), &row);
    }
    let _ = writeln!(page);
    for fault in [Fault::Drift, Fault::Flapping, Fault::RouteOnly] {
        let row = ours.iter().filter(|one| one.fault == fault);
        let kinds: Vec<_> = row.filter_map(|one| one.kind).collect();
        let right = kinds
            .iter()
            .filter(|kind| Some(**kind) == fault.kind())
            .count();
        let _ = writeln!(
            page,
            "Of {} found of \"{}\", {right} were first reported with that kind.",
            kinds.len(),
            fault.name()
        );
    }
    let _ = writeln!(page);
}

fn found(page: &mut String, name: &str, row: &Side<'_>) {
    let _ = writeln!(
        page,
        "| {name} | {} | {} | {} | {} | {} | {} |",
        row.len(),
        within(row, 3),
        within(row, 6),
        within(row, 24),
        within(row, usize::MAX),
        causes(row)
    );
}

/// With the 95 % interval that the number of events gives them.
fn false_rate(side: &Side<'_>) -> String {
    let months: f64 = side.iter().map(|one| one.months).sum();
    let count: usize = side.iter().map(|one| one.false_alarms).sum();
    let reach = 1.96 * (count as f64).sqrt() / months;
    format!("{:.2} +- {reach:.2}", count as f64 / months)
}

fn within(side: &Side<'_>, visits: usize) -> String {
    let found = side
        .iter()
        .filter(|one| one.delay.is_some_and(|delay| delay <= visits));
    share(found.count(), side.len())
}

fn causes(side: &Side<'_>) -> String {
    let found: Side<'_> = side
        .iter()
        .copied()
        .filter(|one| one.delay.is_some())
        .collect();
    if found.iter().all(|one| one.cause.is_none()) {
        return "-".to_owned();
    }
    let right = found.iter().filter(|one| one.cause == one.fault.cause());
    share(right.count(), found.len())
}

fn share(part: usize, whole: usize) -> String {
    match whole {
        0 => "-".to_owned(),
        _ => format!("{:.1} %", 100.0 * part as f64 / whole as f64),
    }
}

fn forecasts(page: &mut String, kept: &Forecasts) {
    let _ = writeln!(
        page,
        "| forecast, on series without a change | how many | within the 90 % interval | median |\n\
         |---|---|---|---|"
    );
    forecast(page, "from 5 and 10 days", &kept.young);
    forecast(page, "from 20 to 70 days", &kept.old);
}

fn forecast(page: &mut String, name: &str, kept: &Kept) {
    let percent = |values: &[f64]| 100.0 * stats::median(values).unwrap_or(0.0);
    let _ = writeln!(
        page,
        "| {name}: visits of the next 24 hours | {} | {} | interval {:.1} % wide |\n\
         | {name}: ends of copies of a tenth, three tenths and all of a day's worth | {} | {} | \
         off by {:.1} % of their time |",
        kept.visits,
        share(kept.visits_inside, kept.visits),
        percent(&kept.widths),
        kept.copies,
        share(kept.copies_inside, kept.copies),
        percent(&kept.off)
    );
}

/// The events of a series in one line, with days from the change.
pub fn list(pool: &Pool, fault: Fault, seed: u64, series: &Series, alarms: &[Alarm]) -> String {
    let size = crate::score::size(series);
    let mut line = format!("{}, {}, {seed}, size {size:.1}:", fault.name(), pool.path);
    for alarm in alarms {
        let days = alarm.at.seconds() as f64 - series.changed.seconds() as f64;
        let (metric, cause) = (alarm.metric, alarm.cause);
        let metric = metric.map_or("-", |metric| metric.name());
        let cause = cause.map_or("-", |cause| cause.name());
        let _ = write!(line, " [{:+.2} d {metric}: {cause}]", days / 86_400.0);
    }
    line
}
