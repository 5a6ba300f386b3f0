//! What was measured before and after tuning, and the pings: T1 and the text.

use netpath::PathSpec;
use sim::{RunResult, Scenario};
use stats::mean;
use units::{Bytes, Span};

use crate::figure::{Figure, Line, Origin, Panel, Scale};
use crate::finding::{Finding, beside, digits};
use crate::measure::{goodput, pings};
use crate::part::{Part, SetUpError};
use crate::setup::endless;
use crate::sweep::{Cell, Curve, Seen, Sweep};

/// iperf reports every 5 s.
const STEP: Span = Span::from_secs(5);
/// `-P 40 -w 500k`.
const STREAMS: u32 = 40;
/// What the kernel offers of a receive buffer, in 256ths, with packets of 1500 bytes.
const OFFERED: u64 = 160;

pub(crate) fn part() -> Result<Part, SetUpError> {
    Ok(Part {
        title: "One way and the other, before and after",
        assumed: "rates, queues and hosts. Prague to Academia Sinica and TWAREN to CESnet are \
            hosts of two sites in Taiwan: the round trip of the second stands for the first, one \
            stream of untuned buffers for its tool, and only the receiver at one end differs. \
            Windows are granted as Linux does. No one else sends; pathload's 600 and pathchirp's \
            475 Mbit/s are those of the paths.",
        sweeps: vec![
            Sweep::new(vec![
                before("from Taipei", false)?,
                before("to Taipei", true)?,
            ]),
            Sweep::new(vec![
                forty("SLAC to TWAREN", "slac-twaren")?,
                forty("TWAREN to CESnet", "twaren-cesnet")?,
            ]),
        ],
        read,
    })
}

/// One stream whose receiver has the buffers of its host, then forty.
fn before(label: &str, exchanged: bool) -> Result<Curve, SetUpError> {
    let path = PathSpec::load("taipei-prague")?;
    let path = match exchanged {
        true => path.exchanged(),
        false => path,
    };
    let offered = path.hosts.forward().receive.times(OFFERED).get() / 256;
    let mut cell = endless(path, 60, 20)?;
    cell.window = Some(Bytes::new(offered));
    Ok(Curve {
        label: label.to_owned(),
        cells: vec![(1.0, cell)],
    })
}

fn forty(label: &str, path: &str) -> Result<Curve, SetUpError> {
    let mut cell = endless(PathSpec::load(path)?, 360, 0)?;
    cell.streams = STREAMS;
    // Twice 500k, of which 160/256 are offered.
    cell.window = Some(Bytes::new(2 * 500_000 * OFFERED / 256));
    cell.series_interval = Some(STEP);
    Ok(Curve {
        label: label.to_owned(),
        cells: vec![(f64::from(STREAMS), cell)],
    })
}

/// Mbit/s of each step of 5 s.
fn steps(result: &RunResult) -> Vec<(f64, f64)> {
    let pairs = result.series.windows(2);
    let step = |pair: &[sim::Sample]| {
        let bits = (pair[1].acknowledged.as_f64() - pair[0].acknowledged.as_f64()) * 8.0;
        let seconds = pair[1].at.as_secs_f64() - pair[0].at.as_secs_f64();
        (pair[1].at.as_secs_f64(), bits / seconds / 1e6)
    };
    pairs.map(step).collect()
}

fn read(seen: &[Seen<'_>]) -> Vec<Figure> {
    let [before, after] = seen else {
        return Vec::new();
    };
    let cell = |seen: &Seen<'_>, index: usize| {
        let curve = seen.cells().into_iter().nth(index)?;
        curve
            .into_iter()
            .next()
            .and_then(|cell| cell.values(goodput))
    };
    let near = |index: usize, what: &str, printed: f64, share: f64| {
        let ours = mean(&cell(before, index)?)?;
        Some(beside(what, "Mbit/s", ours, printed, share * printed))
    };
    let cause = || {
        let (slow, tuned) = (mean(&cell(before, 0)?)?, mean(&cell(after, 1)?)?);
        let words = format!(
            "forty streams of 500k carry {} times as much",
            digits(tuned / slow)
        );
        Some((tuned >= 10.0 * slow, words))
    };
    let first = Figure::new(
        &[],
        "Prague and Taipei, one way and the other",
        Vec::new(),
        vec![
            Finding::new(
                "10 Mbit/s from Taipei, up to 372 Mbit/s to it.",
                "Within a tenth of both; the slow way was made to carry 10.",
                [
                    near(0, "from Taipei", 10.0, 0.1),
                    near(1, "to Taipei", 372.0, 0.1),
                ],
            ),
            Finding::new(
                "The cause: windows and streams were not set well.",
                "Forty streams of 500k carry at least ten times as much over the like path between \
                    tuned hosts.",
                [cause()],
            ),
        ],
    );
    vec![first, forty_streams(after), round_trips(after)]
}

/// A line of the 5 s steps of the first seed.
fn over_time(seen: &Seen<'_>) -> Vec<Line> {
    let cells = seen.cells().into_iter().flatten();
    let lines = seen.sweep.curves.iter().zip(cells);
    let line = |(curve, cell): (&Curve, Cell<'_>)| {
        let first = cell.runs.first()?;
        Some(Line::new(&curve.label, Origin::Runs, steps(&first.result)))
    };
    lines.filter_map(line).collect()
}

fn level(label: &str, mbit: f64) -> Line {
    Line::new(label, Origin::Formula, vec![(0.0, mbit), (360.0, mbit)])
}

fn forty_streams(seen: &Seen<'_>) -> Figure {
    let highest = |_: &Scenario, result: &RunResult| {
        steps(result)
            .into_iter()
            .map(|step| step.1)
            .reduce(f64::max)
    };
    let of = |index: usize, peak: bool| {
        let cell = seen.cells().into_iter().nth(index)?.into_iter().next()?;
        let values = match peak {
            true => cell.values(highest),
            false => cell.values(goodput),
        };
        mean(&values?)
    };
    let check = |index: usize, peak: bool, what: &str, printed: f64, within: f64| {
        Some(beside(what, "Mbit/s", of(index, peak)?, printed, within))
    };
    let findings = vec![
        Finding::new(
            "SLAC to TWAREN: about 420 Mbit/s over 6 min, 550 in the best 5 s.",
            "Each within the 130 Mbit/s by which the best 5 s are above the average.",
            [
                check(0, false, "average", 420.0, 130.0),
                check(0, true, "best 5 s", 550.0, 130.0),
            ],
        ),
        Finding::new(
            "TWAREN to CESnet: 465 Mbit/s on average, 518 in the best 5 s.",
            "Each within the 53 Mbit/s by which the best 5 s are above the average.",
            [
                check(1, false, "average", 465.0, 53.0),
                check(1, true, "best 5 s", 518.0, 53.0),
            ],
        ),
    ];
    let panel = Panel::new(
        "taiwan-forty",
        "Forty streams in steps of 5 s, first seed; the averages were 420 and 465 Mbit/s.",
        (Scale::even("time [s]"), Scale::even("throughput [Mbit/s]")),
        over_time(seen)
            .into_iter()
            .chain([
                level("printed average, TWAREN", 420.0),
                level("printed average, CESnet", 465.0),
            ])
            .collect(),
    );
    Figure::new(&[], "Forty streams for six minutes", vec![panel], findings)
}

fn round_trips(seen: &Seen<'_>) -> Figure {
    let cell = seen
        .cells()
        .into_iter()
        .nth(1)
        .and_then(|cells| cells.into_iter().next());
    let idle = cell
        .as_ref()
        .map(|cell| cell.scenario.path.base_rtt().as_secs_f64() * 1e3);
    let near = || {
        let idle = idle?;
        let words = format!("the empty path takes {idle:.3} ms, printed 358.754 in the mean");
        Some(((idle - 358.754).abs() <= 0.389, words))
    };
    let loaded = cell.as_ref().and_then(|cell| {
        let all: Vec<f64> = cell
            .runs
            .iter()
            .flat_map(|ran| pings(cell.scenario, &ran.result))
            .collect();
        Some((
            all.iter().copied().reduce(f64::min)?,
            mean(&all)?,
            all.iter().copied().reduce(f64::max)?,
        ))
    });
    let finding = Finding::new(
        "Pings TWAREN to CESnet take 358.634, 358.754 and 358.858 ms.",
        "The round trip of the path is within the printed deviation of 0.389 ms of the mean. The \
            path has 358 ms, which the text prints.",
        [near()],
    );
    let mut rows = vec![
        ["printed, idle", "358.634", "358.754", "358.858"]
            .map(str::to_owned)
            .to_vec(),
    ];
    if let Some((least, average, most)) = loaded {
        let numbers = [least, average, most].map(|value| format!("{value:.1}"));
        rows.push(
            ["here, beside forty streams".to_owned()]
                .into_iter()
                .chain(numbers)
                .collect(),
        );
    }
    Figure::new(&["T1"], "Pings", Vec::new(), vec![finding])
        .with(["RTT [ms]", "min", "avg", "max"], rows)
}
