//! Texts of simulations.

use comfy_table::{Attribute, Cell, Color};
use record::simulate::{Figures, SimulatedRun};
use record::{Campaign, Simulate, Window};

use super::Paint;
use super::layout::Page;
use super::table::{align, empty};
use crate::format::{self, RateUnit};
use crate::grid::{Grid, grids};
use crate::text::{self, simulated};

/// More runs than this are left to the document.
const RUNS_SHOWN: usize = 12;
/// Windows side by side that fit the page.
const WINDOWS_WIDE: usize = 7;
const BEST: &str = "*";
const KNEE: &str = "+";

/// The text of one simulated setting.
pub fn simulate(body: &Simulate, paint: Paint) -> String {
    let mut page = Page::new(paint);
    page.title(&format!(
        "{}: {}",
        text::plain(&body.path.name),
        simulated::setting(&body.setting)
    ));
    page.sentence(&text::plain(&body.path.description));
    page.sentence(&simulated::terms(&body.scenario));
    page.gap();
    page.facts(&facts(body));
    if body.runs.len() > 1 {
        page.gap();
        page.block(&runs(body, paint));
    }
    page.finish()
}

fn facts(body: &Simulate) -> Vec<(&'static str, String)> {
    let figures = &body.figures;
    let facts = [
        Some(("goodput", goodput(figures))),
        simulated::completion(figures, body.runs.len())
            .map(|text| (simulated::completion_name(figures), text)),
        cross(body).map(|text| ("cross", text)),
        simulated::taken(figures).map(|text| ("taken", text)),
        figures.jain.map(|jain| ("fairness", fairness(body, jain))),
        Some(("dropped", dropped(figures))),
        Some(("resent", resent(figures))),
        round_trip(figures).map(|text| ("round trip", text)),
        Some(("queue", queue(figures))),
        Some((
            "link",
            format!(
                "sending {} of the time",
                format::percent(figures.utilisation_ratio)
            ),
        )),
        Some((
            "cost",
            cost(
                body.cost.cpu_seconds,
                body.cost.cached_runs,
                body.runs.len(),
            ),
        )),
    ];
    facts.into_iter().flatten().collect()
}

fn goodput(figures: &Figures) -> String {
    let aggregate = &figures.aggregate;
    simulated::spread(
        aggregate.goodput_bits_per_second,
        aggregate.standard_deviation_bits_per_second,
    )
}

fn cross(body: &Simulate) -> Option<String> {
    let cross = &body.figures.cross;
    let goodput = simulated::spread(
        cross.goodput_bits_per_second,
        cross.standard_deviation_bits_per_second,
    );
    let share = format::or_absent(cross.share_ratio, format::percent);
    (!cross.groups.is_empty()).then(|| format!("{goodput}, {share} of all that was delivered"))
}

fn fairness(body: &Simulate, jain: f64) -> String {
    let streams = || body.runs.iter().flat_map(|run| &run.streams);
    let goodputs = || streams().map(|stream| stream.goodput.bits_per_second());
    let range = goodputs().min().zip(goodputs().max());
    let range = range
        .filter(|_| body.setting.streams > 1)
        .map(|(low, high)| {
            format!(
                "; streams got {} to {}",
                format::rate(low),
                format::rate(high)
            )
        });
    format!("{jain:.3} (Jain){}", range.unwrap_or_default())
}

fn dropped(figures: &Figures) -> String {
    let causes = &figures.drops_by_cause;
    let named = [
        (causes.queue_full, "queue full"),
        (causes.early, "early"),
        (causes.sojourn, "waited too long"),
        (causes.wire_loss, "lost on the wire"),
        (figures.marks, "marked instead"),
    ];
    let known = named.into_iter().filter(|(count, _)| *count > 0.0);
    let parts: Vec<String> = known
        .map(|(count, name)| format!("{} {name}", counted(count)))
        .collect();
    match parts.is_empty() {
        true => "no packet".to_owned(),
        false => format!("{}: {}", several(figures.drops, "packet"), parts.join(", ")),
    }
}

fn resent(figures: &Figures) -> String {
    format!(
        "{}; {}",
        several(figures.retransmitted, "segment"),
        several(figures.timeouts, "timeout")
    )
}

/// A mean count of something: `1 segment`, `1.5 segments`.
fn several(mean: f64, name: &str) -> String {
    match mean == 1.0 {
        true => format!("1 {name}"),
        false => format!("{} {name}s", counted(mean)),
    }
}

/// A mean count: whole where it is, else with a decimal.
fn counted(mean: f64) -> String {
    match mean.fract() == 0.0 || mean >= 100.0 {
        true => format!("{mean:.0}"),
        false => format!("{mean:.1}"),
    }
}

fn round_trip(figures: &Figures) -> Option<String> {
    let rtt = figures.rtt?;
    let ms = format::milliseconds;
    Some(format!(
        "{} ms mean; half below {}, 95 % below {}, 99 % below {}; {} to {} ms",
        ms(rtt.mean_seconds),
        ms(rtt.median_seconds),
        ms(rtt.p95_seconds),
        ms(rtt.p99_seconds),
        ms(rtt.min_seconds),
        ms(rtt.max_seconds)
    ))
}

fn queue(figures: &Figures) -> String {
    let mean = format::three_digits(figures.queue.mean_packets);
    format!(
        "{mean} packets on average, {} at the most",
        format::size(figures.queue.peak_bytes)
    )
}

fn cost(cpu_seconds: f64, cached: u64, runs: usize) -> String {
    let kept = match cached {
        0 => String::new(),
        _ => format!("; {cached} of {runs} runs were kept from before"),
    };
    format!("{} of processor time{kept}", format::time(cpu_seconds))
}

/// A table of runs; of many, the first dozen.
fn runs(body: &Simulate, paint: Paint) -> String {
    let top = body
        .runs
        .iter()
        .map(|run| run.goodput_bits_per_second)
        .max();
    let unit = RateUnit::fitting(top.unwrap_or(0) as f64);
    let columns: Vec<Column> = columns()
        .into_iter()
        .filter(|column| (column.shown)(body))
        .collect();
    let name = |column: &Column| column.name.unwrap_or(unit.name);
    let mut table = empty(paint);
    table.set_header(
        columns
            .iter()
            .map(|c| Cell::new(name(c)).add_attribute(Attribute::Bold)),
    );
    for run in body.runs.iter().take(RUNS_SHOWN) {
        table.add_row(columns.iter().map(|column| (column.text)(run, unit)));
    }
    align(&mut table, 0..columns.len());
    let more = match body.runs.len().checked_sub(RUNS_SHOWN) {
        None | Some(0) => String::new(),
        Some(more) => format!("\nand {more} more"),
    };
    format!("{}{more}", table.trim_fmt())
}

/// One column of a table of runs.
struct Column {
    /// Its heading; `None` for the unit of the goodput.
    name: Option<&'static str>,
    shown: fn(&Simulate) -> bool,
    text: fn(&SimulatedRun, RateUnit) -> String,
}

impl Column {
    fn new(name: &'static str, text: fn(&SimulatedRun, RateUnit) -> String) -> Self {
        Column {
            name: Some(name),
            shown: |_| true,
            text,
        }
    }
}

fn columns() -> [Column; 9] {
    [
        Column::new("seed", |run, _| run.seed.to_string()),
        Column {
            name: None,
            shown: |_| true,
            text: |run, unit| unit.number(run.goodput_bits_per_second as f64),
        },
        Column {
            name: Some("cross"),
            shown: |body| !body.path.cross.is_empty(),
            text: |run, unit| unit.number(run.cross_goodput_bits_per_second as f64),
        },
        Column::new("dropped", |run, _| run.drops.to_string()),
        Column::new("resent", |run, _| run.retransmitted.to_string()),
        Column::new("timeouts", |run, _| run.timeouts.to_string()),
        Column::new("Jain", |run, _| {
            format::or_absent(run.jain, |jain| format!("{jain:.3}"))
        }),
        Column::new("RTT ms", |run, _| {
            format::or_absent(run.rtt, |rtt| format::milliseconds(rtt.mean_seconds))
        }),
        Column {
            name: Some("done s"),
            shown: |body| body.figures.completion.unfinished_runs.is_some(),
            text: |run, _| format::or_absent(run.completion_seconds, format::three_digits),
        },
    ]
}

/// The text of many simulated settings.
pub fn campaign(body: &Campaign, paint: Paint) -> String {
    let mut page = Page::new(paint);
    page.title(&text::plain(&body.path.name));
    page.sentence(&text::plain(&body.path.description));
    page.sentence(&simulated::terms(&body.scenario));
    for grid in grids(body) {
        page.gap();
        page.strong(&format!(
            "{}: {} in {}; streams down, windows across",
            text::plain(grid.variant),
            simulated::measure(&body.scenario),
            grid.unit.name
        ));
        for windows in grid.windows.chunks(WINDOWS_WIDE) {
            page.block(&table(&grid, windows, paint));
        }
    }
    page.gap();
    page.sentence(&format!(
        "{BEST} best, {KNEE} knee: the fewest streams that reach 90 % of it"
    ));
    for choice in &body.choices {
        if let Some(text) = simulated::choice(body, choice) {
            page.strong(&text);
        }
    }
    let runs = body.cells.iter().map(|cell| cell.runs.len()).sum();
    page.facts(&[(
        "cost",
        cost(body.cost.cpu_seconds, body.cost.cached_runs, runs),
    )]);
    page.finish()
}

fn table(grid: &Grid<'_>, windows: &[Window], paint: Paint) -> String {
    let taken = only_window_taken_from(grid);
    let mut table = empty(paint);
    let mut names = vec!["streams".to_owned()];
    names.extend(
        windows
            .iter()
            .map(|window| format!("{}  ", format::window(*window))),
    );
    names.extend(taken.map(|_| "taken from cross".to_owned()));
    let columns = names.len();
    table.set_header(
        names
            .into_iter()
            .map(|name| Cell::new(name).add_attribute(Attribute::Bold)),
    );
    for &streams in &grid.streams {
        let mut row = vec![Cell::new(streams)];
        row.extend(windows.iter().map(|window| marked(grid, streams, *window)));
        row.extend(taken.map(|window| {
            Cell::new(format::or_absent(
                grid.taken(streams, window),
                simulated::taken_share,
            ))
        }));
        table.add_row(row);
    }
    align(&mut table, 0..columns);
    table.trim_fmt()
}

/// The window of a grid that has only one, where it is known what was taken from the cross traffic:
/// with more windows another column for each is wider than the page.
fn only_window_taken_from(grid: &Grid<'_>) -> Option<Window> {
    let [window] = grid.windows[..] else {
        return None;
    };
    let mut streams = grid.streams.iter();
    streams
        .any(|streams| grid.taken(*streams, window).is_some())
        .then_some(window)
}

/// A number with room for both marks, so that columns stay straight.
fn marked(grid: &Grid<'_>, streams: u32, window: Window) -> Cell {
    let (best, knee) = (grid.is_best(streams, window), grid.is_knee(streams, window));
    let mark = |is: bool, mark: &'static str| if is { mark } else { "" };
    let marks = format!("{}{}", mark(best, BEST), mark(knee, KNEE));
    let cell = Cell::new(format!("{}{marks:<2}", grid.number(streams, window)));
    match best || knee {
        true => cell.fg(Color::Green).add_attribute(Attribute::Bold),
        false => cell,
    }
}
