//! Two settings in turn, cycle by cycle: F1, F2 and T1.

use netpath::PathSpec;
use sim::{RunResult, Scenario};
use stats::{mean, median, spread};

use crate::figure::{Figure, Line, Origin, Panel, Scale};
use crate::finding::{Finding, beside, digits};
use crate::measure::{goodput, pings};
use crate::part::{Part, SetUpError};
use crate::setup::{granted, over_streams, pinged};
use crate::sweep::{Cell, Seen, Sweep};

/// The document has a couple of hundred; medians of thirty are known to a sixth of their spread.
const CYCLES: u64 = 30;

/// A row of T1 as it is printed: Mbit/s and ms.
struct Row {
    site: &'static str,
    path: &'static str,
    kib: u64,
    streams: u32,
    aggregate: f64,
    range: f64,
    loaded: (f64, f64),
    unloaded: (f64, f64),
}

const ROWS: [Row; 4] = [
    Row {
        site: "CERN",
        path: "slac-cern",
        kib: 256,
        streams: 2,
        aggregate: 9.45,
        range: 4.63,
        loaded: (165.0, 167.0),
        unloaded: (165.0, 165.0),
    },
    Row {
        site: "CERN",
        path: "slac-cern",
        kib: 64,
        streams: 8,
        aggregate: 26.8,
        range: 10.6,
        loaded: (164.0, 181.0),
        unloaded: (165.0, 165.4),
    },
    Row {
        site: "Caltech",
        path: "slac-caltech",
        kib: 256,
        streams: 2,
        aggregate: 46.5,
        range: 1.7,
        loaded: (16.0, 21.0),
        unloaded: (15.0, 17.0),
    },
    Row {
        site: "Caltech",
        path: "slac-caltech",
        kib: 64,
        streams: 8,
        aggregate: 63.5,
        range: 4.6,
        loaded: (17.0, 30.0),
        unloaded: (16.0, 18.0),
    },
];

impl Row {
    fn name(&self) -> String {
        format!("{}, {} kB x {}", self.site, self.kib, self.streams)
    }
}

pub(crate) fn part() -> Result<Part, SetUpError> {
    let curve = |row: &Row| {
        let base = pinged(PathSpec::load(row.path)?, 40)?;
        let window = Some(granted(row.kib));
        Ok(over_streams(row.name(), &base, &[row.streams], window))
    };
    let curves: Result<Vec<_>, SetUpError> = ROWS.iter().map(curve).collect();
    Ok(Part {
        title: "Two settings in turn, to two sites",
        assumed: "rates, queues and random loss of both paths, chosen so that the printed \
            aggregates come out: those of T1 are no test of the simulator, all else is. No one \
            else sends. A window of 64 kB is granted as 80 KiB, as Linux does. A ping sees what \
            waits in the queue once a second.",
        sweeps: vec![Sweep::new(curves?).cycles(CYCLES)],
        read,
    })
}

fn read(seen: &[Seen<'_>]) -> Vec<Figure> {
    let cells: Vec<Cell<'_>> = seen.iter().flat_map(Seen::cells).flatten().collect();
    let cell = |row: usize| cells.get(row);
    let panel = |name, row: usize| {
        let caption = format!(
            "Throughput of the streams upon each other, cycle by cycle: {}.",
            ROWS[row].name()
        );
        let scales = (Scale::even("cycle"), Scale::even("throughput [Mbit/s]"));
        Panel::new(
            name,
            caption,
            scales,
            cell(row).map(stack).unwrap_or_default(),
        )
    };
    vec![
        Figure::new(
            &["F1"],
            "Eight streams of 64 kB to CERN",
            vec![panel("windows-cycles-8", 1)],
            vec![in_range(cell(1)), shares(cell(1))],
        ),
        Figure::new(
            &["F2"],
            "Two streams of 256 kB to CERN",
            vec![panel("windows-cycles-2", 0)],
            vec![shares(cell(0)), per_stream(cell(0), cell(1))],
        ),
        summary(&cells),
    ]
}

/// A line for the first stream, the first two, and so on.
fn stack(cell: &Cell<'_>) -> Vec<Line> {
    let upto = |count: usize| {
        let sum = |result: &RunResult| {
            let rates = result.streams.iter().take(count);
            rates.map(|stream| stream.goodput.as_f64()).sum::<f64>() / 1e6
        };
        let places = cell.runs.iter().enumerate();
        let places = places.map(|(cycle, ran)| (cycle as f64 + 1.0, sum(&ran.result)));
        let label = match count {
            1 => "stream 1".to_owned(),
            count => format!("streams 1 to {count}"),
        };
        Line::new(label, Origin::Runs, places.collect())
    };
    (1..=cell.scenario.streams as usize).map(upto).collect()
}

fn aggregates(cell: Option<&Cell<'_>>) -> Option<Vec<f64>> {
    cell?.values(goodput)
}

fn in_range(cell: Option<&Cell<'_>>) -> Finding {
    let seen = || {
        let rates = aggregates(cell)?;
        let inside = rates.iter().filter(|rate| (10.0..=30.0).contains(*rate));
        let share = inside.count() as f64 / rates.len() as f64 * 100.0;
        let words = format!(
            "{} % of the cycles are between 10 and 30 Mbit/s",
            digits(share)
        );
        Some((share >= 90.0, words))
    };
    Finding::new(
        "The aggregate is between 10 and 30 Mbit/s.",
        "So it is in at least 90 % of the cycles.",
        [seen()],
    )
}

/// The largest and the smallest mean share of a stream, in percent of an equal one.
fn shares(cell: Option<&Cell<'_>>) -> Finding {
    let seen = || {
        let cell = cell?;
        let of = |stream: usize| {
            let rates = cell
                .values(|_, result: &RunResult| Some(result.streams.get(stream)?.goodput.as_f64()));
            mean(&rates?)
        };
        let rates: Option<Vec<f64>> = (0..cell.scenario.streams as usize).map(of).collect();
        let rates = rates?;
        let equal = mean(&rates)?;
        let low = rates.iter().copied().reduce(f64::min)? / equal * 100.0;
        let high = rates.iter().copied().reduce(f64::max)? / equal * 100.0;
        let words = format!(
            "over all cycles a stream carries {} to {} % of an equal share",
            digits(low),
            digits(high)
        );
        Some((low >= 80.0 && high <= 120.0, words))
    };
    Finding::new(
        "The streams carry about equal parts.",
        "Over all cycles each stream carries 80 to 120 % of an equal share.",
        [seen()],
    )
}

fn per_stream(two: Option<&Cell<'_>>, eight: Option<&Cell<'_>>) -> Finding {
    let medians = || Some((median(&aggregates(two)?)?, median(&aggregates(eight)?)?));
    let aggregate = medians().map(|(two, eight)| {
        let ratio = two / eight;
        // From 9.45 / 26.8 by the quartiles of both.
        beside(
            "the aggregate is",
            "of that of eight streams",
            ratio,
            0.353,
            0.18,
        )
    });
    let each = medians().map(|(two, eight)| {
        let ratio = (two / 2.0) / (eight / 8.0);
        beside(
            "each carries",
            "times as much as one of eight",
            ratio,
            1.41,
            0.7,
        )
    });
    Finding::new(
        "The aggregate is about a third of that of eight streams; a stream carries more.",
        "Both ratios are within half of those of the printed medians: the interquartile ranges are \
            49 and 40 % of them.",
        [aggregate, each],
    )
}

fn summary(cells: &[Cell<'_>]) -> Figure {
    let pairs = || ROWS.iter().zip(cells);
    let figure = Figure::new(
        &["T1"],
        "Summary of both sites",
        Vec::new(),
        vec![
            Finding::new(
                "Medians of the aggregate.",
                "Each is within the printed interquartile range of the printed median. The paths \
                    were made for it.",
                seen(pairs().map(|(row, cell)| {
                    let ours = median(&aggregates(Some(cell))?)?;
                    Some(beside(
                        &row.name(),
                        "Mbit/s",
                        ours,
                        row.aggregate,
                        row.range,
                    ))
                })),
            ),
            Finding::new(
                "Spread of the aggregate.",
                "The interquartile range is half to twice the printed one.",
                seen(pairs().map(|(row, cell)| {
                    let ours = spread(&aggregates(Some(cell))?)?.interquartile_range();
                    let (_, words) = beside(&row.name(), "Mbit/s", ours, row.range, 0.0);
                    Some(((0.5..=2.0).contains(&(ours / row.range)), words))
                })),
            ),
            Finding::new(
                "Mean round trip beside the streams.",
                "What the streams add is half to twice what is printed, or within the 2 ms by \
                    which the printed idle ones differ.",
                seen(pairs().map(|(row, cell)| loaded(row, cell))),
            ),
            one_product(cells),
        ],
    );
    let rows = pairs()
        .filter_map(|(row, cell)| cells_of(row, cell))
        .collect();
    let columns = [
        "setting",
        "aggregate, printed [Mbit/s]",
        "here",
        "IQR, printed",
        "here",
        "loaded RTT min/avg, printed [ms]",
        "here",
        "unloaded, printed",
        "here",
    ];
    figure.with(columns, rows)
}

/// Nothing seen is one thing not seen.
fn seen(checks: impl Iterator<Item = Option<(bool, String)>>) -> Vec<Option<(bool, String)>> {
    let checks: Vec<Option<(bool, String)>> = checks.collect();
    match checks.is_empty() {
        true => vec![None],
        false => checks,
    }
}

fn round_trips(cell: &Cell<'_>) -> Option<(f64, f64)> {
    let all = |scenario: &Scenario, result: &RunResult| {
        let pings = pings(scenario, result);
        Some((pings.iter().copied().reduce(f64::min)?, mean(&pings)?))
    };
    let least = median(&cell.values(|s, r| Some(all(s, r)?.0))?)?;
    Some((least, median(&cell.values(|s, r| Some(all(s, r)?.1))?)?))
}

fn loaded(row: &Row, cell: &Cell<'_>) -> Option<(bool, String)> {
    let ours = round_trips(cell)?.1 - idle(cell);
    let theirs = row.loaded.1 - row.unloaded.1;
    let (near, words) = beside(&row.name(), "ms more", ours, theirs, 2.0);
    Some((near || (0.5..=2.0).contains(&(ours / theirs)), words))
}

fn idle(cell: &Cell<'_>) -> f64 {
    cell.scenario.path.base_rtt().as_secs_f64() * 1e3
}

fn one_product(cells: &[Cell<'_>]) -> Finding {
    let gain = |site: &str, few: usize, many: usize, printed: f64| {
        let median = |index: usize| median(&aggregates(cells.get(index))?);
        let gain = median(many)? / median(few)?;
        let words = format!("{site} {} times, printed {}", digits(gain), digits(printed));
        Some((gain > 1.0, words))
    };
    let delay = || {
        let added = |index: usize| Some(round_trips(cells.get(index)?)?.1);
        let more = [added(1)? - added(0)?, added(3)? - added(2)?];
        let words = format!(
            "eight streams add {} and {} ms more than two",
            digits(more[0]),
            digits(more[1])
        );
        Some((more.iter().all(|more| *more > 0.0), words))
    };
    Finding::new(
        "For one product more streams carry more and add more delay.",
        "Eight streams of 64 kB carry more than two of 256 kB to both sites; their mean round trip \
            is longer to both.",
        [
            gain("CERN", 0, 1, 2.84),
            gain("Caltech", 2, 3, 1.37),
            delay(),
        ],
    )
}

fn cells_of(row: &Row, cell: &Cell<'_>) -> Option<Vec<String>> {
    let rates = aggregates(Some(cell))?;
    let (least, average) = round_trips(cell)?;
    let pair = |(low, high): (f64, f64)| format!("{low} / {high}");
    Some(vec![
        row.name(),
        row.aggregate.to_string(),
        digits(median(&rates)?),
        row.range.to_string(),
        digits(spread(&rates)?.interquartile_range()),
        pair(row.loaded),
        format!("{} / {}", digits(least), digits(average)),
        pair(row.unloaded),
        format!("{0} / {0}", digits(idle(cell))),
    ])
}
