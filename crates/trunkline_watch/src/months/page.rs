//! The months of a task as people read them.

use changes::{OfPairs, PingFigure, Trend, UnixTime};
use draw::format;
use draw::page::{Block, Cell, Column, Page, Row, Table};

use super::{GroupMonth, GroupMonths, Months, PairMonths, PingMonth, TRENDS, Trends};

const ABSENT: &str = "-";
/// What the headings mean.
const NOTE: &str = "RTT in ms: shortest, mean. loss: probes lost, of visits with an answer. IPDV: \
     quartile distance of the differences from probe to probe, ms. unpr.: unpredictability, 0 \
     to 1. CLP: conditional loss, of the probes behind a lost one. quiet: visits without a loss. \
     down: visits without an answer. Mbit/s: what one TCP stream carries by Mathis; > is a bound, \
     since no probe was lost. MOS: how a call sounds, 1 to 4.4.";
const SLOPE_NOTE: &str = "Slowest link: no link of the path, there or back, carries less, by how \
     much longer larger packets take; median of the visits that tell it.";
const GROUP_NOTE: &str = "Means over the paths; in parentheses how many have it, where not all \
     do. Paths whose host answered nothing in a month (behind the +) are in none of them, and \
     those without a lost probe not in Mbit/s.";
const TREND_NOTE: &str = "Change in a year: median slope of the logarithms of the months, from \
     twelve on, with where it lies (95 %); of several paths the median of theirs. None is said \
     where a month has 0.";

impl Months {
    /// As people read it: groups and the last month of each path, or all months of a single path.
    pub fn page(&self) -> Page {
        let mut blocks = Vec::new();
        match self.pairs.as_slice() {
            [pair] => blocks.extend(pair.blocks()),
            pairs => {
                self.groups
                    .iter()
                    .for_each(|group| blocks.extend(group.blocks()));
                blocks.push(Block::note(GROUP_NOTE));
                blocks.extend(last_months(pairs));
            }
        }
        blocks.push(Block::note(NOTE));
        let title = format!("Months of {}, in UTC", self.task);
        Page::new("watch-months", title, blocks)
    }

    /// The same with all months of each path.
    pub fn page_of_pairs(&self) -> Page {
        let mut page = self.page();
        page.blocks = self.pairs.iter().flat_map(PairMonths::blocks).collect();
        page.blocks.push(Block::note(NOTE));
        page
    }
}

impl PairMonths {
    fn blocks(&self) -> Vec<Block> {
        let mut columns = vec![Column::name("month")];
        columns.extend(figures(true).map(|figure| Column::number(heading(figure))));
        columns.insert(1, Column::number("visits"));
        let rows = self.months.iter().map(|month| {
            let mut cells = vec![name_of(month.start), probed(month)];
            cells.extend(figures(true).map(|figure| of_month(month, figure)));
            row(cells)
        });
        let mut blocks = vec![
            Block::heading(self.pair.to_string()),
            Block::Table(tight(columns, rows)),
        ];
        blocks.extend(trend_block(&self.trends));
        let links = self
            .months
            .iter()
            .map(|month| (name_of(month.start), month));
        blocks.extend(slowest_links("month", links));
        blocks
    }
}

impl GroupMonths {
    fn blocks(&self) -> Vec<Block> {
        let mut columns = vec![
            Column::name("month"),
            Column::number("paths"),
            Column::number("visits"),
        ];
        columns.extend(figures(false).map(|figure| Column::number(heading(figure))));
        let rows = self.months.iter().map(GroupMonth::row);
        let mut blocks = vec![
            Block::heading(self.group.clone()),
            Block::Table(tight(columns, rows)),
        ];
        blocks.extend(trend_block(&self.trends));
        blocks
    }
}

impl GroupMonth {
    fn row(&self) -> Row {
        let paths = match self.silent_pairs {
            0 => self.pairs.to_string(),
            silent => format!("{}+{silent}", self.pairs),
        };
        let mut cells = vec![name_of(self.start), paths, self.visits.to_string()];
        cells.extend(figures(false).map(|figure| {
            let value = self.figures.get(figure.name());
            value.map_or(ABSENT.to_owned(), |value| {
                of_pairs(figure, value, self.pairs)
            })
        }));
        row(cells)
    }
}

/// A mean, and how many paths have it where not all do.
fn of_pairs(figure: PingFigure, value: &OfPairs, all: u64) -> String {
    let words = short(figure, value.mean);
    match value.pairs == all {
        true => words,
        false => format!("{words} ({})", value.pairs),
    }
}

/// The last month of each path.
fn last_months(pairs: &[PairMonths]) -> Vec<Block> {
    let mut columns = vec![Column::name("path"), Column::number("month")];
    columns.extend(figures(false).map(|figure| Column::number(heading(figure))));
    let rows = pairs.iter().filter_map(|pair| {
        let month = pair.months.last()?;
        let mut cells = vec![pair.pair.to_string(), name_of(month.start)];
        cells.extend(figures(false).map(|figure| of_month(month, figure)));
        Some(row(cells))
    });
    let rows: Vec<Row> = rows.collect();
    let mut blocks = vec![
        Block::heading("The last month of each path"),
        Block::Table(tight(columns, rows)),
    ];
    let last = pairs.iter();
    let last = last.filter_map(|pair| Some((pair.pair.to_string(), pair.months.last()?)));
    blocks.extend(slowest_links("path", last));
    blocks
}

/// What the slowest link of a path carries at the least; nothing where no month says it.
fn slowest_links<'a>(
    what: &'static str,
    months: impl Iterator<Item = (String, &'a PingMonth)>,
) -> Vec<Block> {
    let known = months.filter_map(|(name, month)| {
        let value = month.figures.get(PingFigure::SlowestLink.name())?;
        let said = format!(">{}", short(PingFigure::SlowestLink, *value));
        Some(row(vec![name, said]))
    });
    let known: Vec<Row> = known.collect();
    match known.is_empty() {
        true => Vec::new(),
        false => vec![
            Block::Table(tight(
                vec![Column::name(what), Column::number("slowest link, Mbit/s")],
                known,
            )),
            Block::note(SLOPE_NOTE),
        ],
    }
}

/// The figures of a table; with those of single paths.
fn figures(is_single: bool) -> impl Iterator<Item = PingFigure> {
    let all = [
        PingFigure::Min,
        PingFigure::Mean,
        PingFigure::Loss,
        PingFigure::ConditionalLoss,
        PingFigure::Variation,
        PingFigure::Unpredictability,
        PingFigure::Quiescence,
        PingFigure::Unreachability,
        PingFigure::Derived,
        PingFigure::OpinionScore,
    ];
    let single = [PingFigure::Min, PingFigure::Quiescence];
    all.into_iter()
        .filter(move |figure| is_single || !single.contains(figure))
}

fn heading(figure: PingFigure) -> &'static str {
    match figure {
        PingFigure::Min => "min",
        PingFigure::Median => "median",
        PingFigure::Mean => "RTT",
        PingFigure::Variation => "IPDV",
        PingFigure::Loss => "loss",
        PingFigure::ConditionalLoss => "CLP",
        PingFigure::Unpredictability => "unpr.",
        PingFigure::Quiescence => "quiet",
        PingFigure::Unreachability => "down",
        PingFigure::Duplicates => "twice",
        PingFigure::Reordering => "overtaken",
        PingFigure::Derived => "Mbit/s",
        PingFigure::OpinionScore => "MOS",
        PingFigure::SlowestLink => "slowest link",
    }
}

/// A value without what the heading says of it.
fn short(figure: PingFigure, value: f64) -> String {
    match figure {
        PingFigure::Min | PingFigure::Median | PingFigure::Mean | PingFigure::Variation => {
            format::milliseconds(value)
        }
        PingFigure::Derived | PingFigure::SlowestLink => format::three_digits(value / 1e6),
        PingFigure::Duplicates | PingFigure::Reordering => format!("{value:.0}"),
        PingFigure::Unpredictability | PingFigure::OpinionScore => format!("{value:.2}"),
        _ => format::percent(value),
    }
}

fn of_month(month: &PingMonth, figure: PingFigure) -> String {
    let is_bound = figure == PingFigure::Derived && month.derived_is_bound == Some(true);
    let bound = if is_bound { ">" } else { "" };
    match month.figures.get(figure.name()) {
        Some(value) => format!("{bound}{}", short(figure, *value)),
        None => ABSENT.to_owned(),
    }
}

fn probed(month: &PingMonth) -> String {
    month
        .pings
        .map_or(month.visits, |pings| pings.visits)
        .to_string()
}

/// What the years changed; nothing where they say nothing.
fn trend_block(trends: &Trends) -> Vec<Block> {
    let known = TRENDS.iter().filter_map(|figure| {
        let trend = trends.get(figure.name())?;
        Some(format!("{} {}", long(*figure), in_a_year(trend)))
    });
    let known: Vec<String> = known.collect();
    match known.is_empty() {
        true => Vec::new(),
        false => vec![
            Block::Sentences(vec![format!("In a year: {}.", known.join("; "))]),
            Block::note(TREND_NOTE),
        ],
    }
}

fn long(figure: PingFigure) -> &'static str {
    match figure {
        PingFigure::Mean => "mean round trip",
        PingFigure::Derived => "derived throughput",
        figure => heading(figure),
    }
}

/// `-12 % (-18 to -6)`.
fn in_a_year(trend: &Trend) -> String {
    let percent = |ratio: f64| format!("{:+.0}", ratio * 100.0);
    let interval = trend.interval;
    let within = interval.map(|(low, high)| format!(" ({} to {})", percent(low), percent(high)));
    format!("{} %{}", percent(trend.year), within.unwrap_or_default())
}

/// `2026-11`.
fn name_of(start: UnixTime) -> String {
    let seconds = start.seconds().min(i64::MAX as u64).cast_signed();
    jiff::Timestamp::from_second(seconds)
        .map(|time| time.strftime("%Y-%m").to_string())
        .unwrap_or_default()
}

fn row(cells: Vec<String>) -> Row {
    Row::new(cells.into_iter().map(Cell::from))
}

fn tight(columns: Vec<Column>, rows: impl IntoIterator<Item = Row>) -> Table {
    Table::new(columns, rows).tight()
}
