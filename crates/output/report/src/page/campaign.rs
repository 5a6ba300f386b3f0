//! The page of many simulated settings.

mod grid;
mod map;
mod streams;

use record::simulate::Cell as Setting;
use record::{Campaign, Kind, Window};

use super::file_part;
use super::simulate::{cost, jain};
use crate::text::{self, simulated};
use draw::format::{self, or_absent};
use draw::page::{Block, Cell, Column, Medium, Page, Row, Standing, Table};
use grid::{Grid, grids};

/// Windows side by side that fit a terminal.
const WINDOWS_WIDE: usize = 7;
/// A browser folds away the table of more settings than this.
const SETTINGS_OPEN: usize = 60;
const BEST: &str = "*";
const KNEE: &str = "+";

pub fn page(body: &Campaign) -> Page {
    let mut blocks = vec![
        Block::About(body.path.description.clone()),
        Block::About(simulated::terms(&body.scenario)),
    ];
    let choices = body.choices.iter();
    let choices = choices.filter_map(|choice| simulated::choice(body, choice));
    let mut leads: Vec<Block> = choices.map(Block::lead).collect();
    let believe = text::which_to_believe(Kind::Simulated);
    leads.extend(believe.map(|sentence| Block::Sentences(vec![sentence.to_owned()])));
    // A browser has them at the top, a terminal at the end.
    blocks.push(Block::Only(Medium::Browser, leads.clone()));
    let runs = body.cells.iter().map(|cell| cell.runs.len()).sum();
    let cost = cost(body.cost.cpu_seconds, body.cost.cached_runs, runs);
    let facts = Block::Facts(vec![cost]);
    blocks.push(Block::wide([facts.clone()]));
    blocks.extend(grids(body).iter().flat_map(|grid| variant(body, grid)));
    let marks = format!("{BEST} best, {KNEE} knee: the fewest streams that reach 90 % of it");
    let mut end = vec![Block::Sentences(vec![marks])];
    end.extend(leads);
    end.push(facts);
    blocks.push(Block::Only(Medium::Terminal, end));
    blocks.push(Block::wide([Block::details(
        "Every setting",
        body.cells.len(),
        SETTINGS_OPEN,
        vec![Block::Table(settings(body))],
    )]));
    Page::new("campaign", &body.path.name, blocks)
}

fn variant(body: &Campaign, grid: &Grid<'_>) -> Vec<Block> {
    let (variant, name) = (grid.variant, file_part(grid.variant));
    let measure = simulated::measure(&body.scenario);
    let title = simulated::title(&body.scenario);
    let tables = grid.windows.chunks(WINDOWS_WIDE);
    let tables = tables
        .map(|windows| Block::Table(table(grid, windows)))
        .collect();
    let mut blocks = vec![
        Block::heading(format!(
            "{variant}: {measure} in {}; streams down, windows across",
            grid.unit.name
        )),
        Block::Only(Medium::Terminal, tables),
    ];
    blocks.extend(streams::chart(grid, title).map(|chart| {
        let caption = format!(
            "{variant}: {measure} against the number of streams, mean over the seeds with its \
                standard deviation."
        );
        Block::figure(format!("streams-{name}"), caption, chart)
    }));
    blocks.extend(map::chart(grid, title).map(|chart| {
        let caption =
            format!("{variant}: {measure} of every setting; the deeper the colour, the more.");
        Block::figure(format!("heatmap-{name}"), caption, chart)
    }));
    blocks
}

fn table(grid: &Grid<'_>, windows: &[Window]) -> Table {
    let taken = only_window_taken_from(grid);
    let mut columns = vec![Column::number("streams")];
    let heading = |window: &Window| Column::number(format!("{}  ", window));
    columns.extend(windows.iter().map(heading));
    columns.extend(taken.map(|_| Column::number("taken from cross")));
    let row = |streams: &u32| {
        let mut cells = vec![Cell::from(streams.to_string())];
        cells.extend(windows.iter().map(|window| marked(grid, *streams, *window)));
        cells.extend(taken.map(|window| {
            let taken = grid.taken(*streams, window);
            Cell::from(or_absent(taken, simulated::taken_share))
        }));
        Row::new(cells)
    };
    Table::new(columns, grid.streams.iter().map(row))
}

/// The window of a grid that has only one, where it is known what was taken from the cross traffic:
/// with more windows another column for each is wider than the page.
fn only_window_taken_from(grid: &Grid<'_>) -> Option<Window> {
    let [window] = grid.windows[..] else {
        return None;
    };
    let mut streams = grid.streams.iter();
    let is_known = streams.any(|streams| grid.taken(*streams, window).is_some());
    is_known.then_some(window)
}

/// A number with room for both marks, so that columns stay straight.
fn marked(grid: &Grid<'_>, streams: u32, window: Window) -> Cell {
    let (best, knee) = (grid.is_best(streams, window), grid.is_knee(streams, window));
    let mark = |is: bool, mark: &'static str| if is { mark } else { "" };
    let marks = format!("{}{}", mark(best, BEST), mark(knee, KNEE));
    Cell {
        text: format!("{}{marks:<2}", grid.number(streams, window)),
        is_strong: best || knee,
        ..Cell::default()
    }
}

/// One column of the table of settings.
type SettingColumn = (Column, fn(&Setting) -> String);

fn settings(body: &Campaign) -> Table {
    let mut columns = setting_columns(body);
    columns.push((Column::words(""), |_| String::new()));
    let last = columns.len() - 1;
    let row = |(place, cell): (usize, &Setting)| {
        let marks = marks(body, place);
        let cells = columns.iter().take(last).map(|(_, text)| text(cell));
        let standing = Standing::chosen(!marks.is_empty());
        Row::new(cells.chain([marks])).standing(standing)
    };
    let rows: Vec<Row> = body.cells.iter().enumerate().map(row).collect();
    Table::new(columns.into_iter().map(|(column, _)| column), rows)
}

fn setting_columns(body: &Campaign) -> Vec<SettingColumn> {
    let has_taken = body
        .cells
        .iter()
        .any(|cell| cell.figures.cross.taken_ratio.is_some());
    let has_end = body.scenario.data_bytes(1).is_some();
    let number = Column::number;
    let all: [Option<SettingColumn>; 10] = [
        Some((Column::words("variant"), |cell| {
            cell.setting.variant.clone()
        })),
        Some((number("streams"), |cell| cell.setting.streams.to_string())),
        Some((number("window"), |cell| cell.setting.window.to_string())),
        Some((number("goodput"), |cell| {
            simulated::goodput(&cell.figures.aggregate)
        })),
        Some((number("cross traffic"), |cell| {
            format::rate(cell.figures.cross.goodput_bits_per_second)
        })),
        has_taken.then_some((number("taken from it"), |cell| {
            or_absent(cell.figures.cross.taken_ratio, simulated::taken_share)
        })),
        Some((number("dropped"), |cell| {
            format!("{:.0}", cell.figures.drops)
        })),
        Some((number("Jain"), |cell| jain(cell.figures.jain))),
        Some((number("mean RTT [ms]"), |cell| {
            or_absent(cell.figures.rtt, |rtt| {
                format::milliseconds(rtt.mean_seconds)
            })
        })),
        has_end.then_some((number("done in"), |cell| {
            or_absent(cell.figures.completion.completion_seconds, format::time)
        })),
    ];
    all.into_iter().flatten().collect()
}

fn marks(body: &Campaign, place: usize) -> String {
    let is_best = body.choices.iter().any(|choice| choice.best_cell == place);
    let is_knee = body.choices.iter().any(|choice| choice.knee_cell == place);
    let marks = [(is_best, "best"), (is_knee, "knee")].into_iter();
    let marks: Vec<&str> = marks.filter(|(is, _)| *is).map(|(_, name)| name).collect();
    marks.join(", ")
}
