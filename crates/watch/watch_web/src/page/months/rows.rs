//! The rows of monthly tables.

use std::collections::{BTreeMap, BTreeSet};

use changes::{Trend, UnixTime, mean_of_pairs, trend, trend_of_pairs};
use draw::page::{Cell, Column, Row, Table};
use watch_plan::Plan;
use watch_store::{Month, Pair};

use super::figure::Figure;
use crate::{calendar, words};

/// Months of one row.
#[derive(Debug, Clone, Default)]
pub struct Values {
    /// What stands in the cells, by the beginning of the month.
    cells: BTreeMap<UnixTime, Value>,
    /// What the years changed.
    trend: Option<Trend>,
}

/// One cell.
#[derive(Debug, Clone, Copy)]
struct Value {
    value: f64,
    is_bound: bool,
    pairs: u64,
    visits: u64,
}

impl Values {
    /// Of the months of one pair.
    pub fn of_pair<'a>(figure: Figure, months: impl Iterator<Item = &'a Month>) -> Self {
        let cell = |month: &'a Month| {
            let value = Value {
                value: figure.of(&month.figures)?,
                is_bound: figure.is_bound(&month.figures),
                pairs: 1,
                visits: month.figures.visits,
            };
            Some((month.figures.start, value))
        };
        let cells: BTreeMap<UnixTime, Value> = months.filter_map(cell).collect();
        let measured = cells.iter().filter(|(_, cell)| !cell.is_bound);
        let places: Vec<_> = measured.map(|(at, cell)| (*at, cell.value)).collect();
        Values {
            trend: trend(&places),
            cells,
        }
    }

    /// Of the months of some pairs: the mean of what probes showed, the median of other figures.
    pub fn of_group<'a>(figure: Figure, months: impl Iterator<Item = &'a Month>) -> Self {
        let mut by_month: BTreeMap<UnixTime, Vec<&Month>> = BTreeMap::new();
        let mut by_pair: BTreeMap<&Pair, Vec<&Month>> = BTreeMap::new();
        for month in months {
            by_pair.entry(&month.pair).or_default().push(month);
            let start = month.figures.start;
            by_month.entry(start).or_default().push(month);
        }
        let cells = by_month.into_iter();
        let cells = cells.filter_map(|(start, months)| Some((start, together(figure, &months)?)));
        let trends = by_pair.into_values();
        let trends = trends.filter_map(|own| Values::of_pair(figure, own.into_iter()).trend);
        Values {
            cells: cells.collect(),
            trend: trend_of_pairs(&trends.collect::<Vec<_>>()),
        }
    }

    /// All months with their values times `factor`, without bounds.
    pub fn places(&self, factor: f64) -> Vec<(f64, f64)> {
        let measured = self.cells.iter().filter(|(_, cell)| !cell.is_bound);
        measured
            .map(|(at, cell)| (at.seconds() as f64, cell.value * factor))
            .collect()
    }
}

fn together(figure: Figure, months: &[&Month]) -> Option<Value> {
    if let Figure::Probes(figure) = figure {
        let pings = months
            .iter()
            .filter_map(|month| month.figures.pings.as_ref());
        let mean = mean_of_pairs(figure, pings)?;
        return Some(Value {
            value: mean.mean,
            is_bound: false,
            pairs: mean.pairs,
            visits: mean.visits,
        });
    }
    let known = months
        .iter()
        .filter_map(|month| Some((figure.of(&month.figures)?, month.figures.visits)));
    let (values, visits): (Vec<f64>, Vec<u64>) = known.unzip();
    Some(Value {
        value: stats::median(&values)?,
        is_bound: false,
        pairs: values.len() as u64,
        visits: visits.iter().sum(),
    })
}

/// The months of `year` of rows with their names, and what all years changed.
pub fn table(what: &str, figure: Figure, year: i16, rows: &[(Cell, Values)]) -> Table {
    let months = months_of(year, rows);
    let mut columns = vec![Column::name(what)];
    let has_trends = rows.iter().any(|(_, values)| values.trend.is_some());
    if has_trends {
        columns.push(Column::number("in a year"));
    }
    columns.extend(headings(&months));
    let row = |(name, values): &(Cell, Values)| {
        let mut cells = vec![name.clone()];
        if has_trends {
            let trend = values.trend.map(in_a_year);
            cells.push(trend.unwrap_or_else(|| words::ABSENT.to_owned()).into());
        }
        cells.extend(months.iter().map(|month| {
            let value = values.cells.get(month);
            Cell::from(value.map_or(words::ABSENT.to_owned(), |value| value.words(figure)))
        }));
        Row::new(cells)
    };
    Table::new(columns, rows.iter().map(row))
}

fn headings(months: &BTreeSet<UnixTime>) -> impl Iterator<Item = Column> {
    months
        .iter()
        .map(|month| Column::number(calendar::month(*month)))
}

/// How many paths and visits each cell of a table of groups has.
pub fn counts(year: i16, rows: &[(Cell, Values)]) -> Table {
    let months = months_of(year, rows);
    let mut columns = vec![Column::name("group")];
    columns.extend(headings(&months));
    let row = |(name, values): &(Cell, Values)| {
        let mut cells = vec![name.clone()];
        cells.extend(months.iter().map(|month| {
            let count = |value: &Value| format!("{} / {}", value.pairs, value.visits);
            let value = values.cells.get(month);
            Cell::from(value.map_or(words::ABSENT.to_owned(), count))
        }));
        Row::new(cells)
    };
    Table::new(columns, rows.iter().map(row))
}

fn months_of(year: i16, rows: &[(Cell, Values)]) -> BTreeSet<UnixTime> {
    let all = rows.iter().flat_map(|(_, values)| values.cells.keys());
    let of_year = all.filter(|month| calendar::year(**month) == year);
    of_year.copied().collect()
}

impl Value {
    fn words(&self, figure: Figure) -> String {
        let bound = if self.is_bound { "\u{2265} " } else { "" };
        format!("{bound}{}", figure.words(self.value))
    }
}

/// `−12 % (−18 to −6)`.
fn in_a_year(trend: Trend) -> String {
    let percent = |ratio: f64| format!("{:+.0}", ratio * 100.0).replace('-', "\u{2212}");
    let interval = trend.interval;
    let within = interval.map(|(low, high)| format!(" ({} to {})", percent(low), percent(high)));
    format!("{} %{}", percent(trend.year), within.unwrap_or_default())
}

/// The pairs of each group of the plan.
pub fn group_pairs(plan: &Plan) -> BTreeMap<String, BTreeSet<(String, String)>> {
    let names = |pair: watch_plan::Pair| (pair.from.to_string(), pair.to.to_string());
    let groups = plan.groups().iter();
    groups
        .map(|(name, group)| {
            (
                name.to_string(),
                group.pairs().into_iter().map(names).collect(),
            )
        })
        .collect()
}

/// The months of a group's pairs.
pub fn is_of(pairs: &BTreeSet<(String, String)>, pair: &Pair) -> bool {
    pairs.contains(&(pair.from.to_string(), pair.to.to_string()))
}
