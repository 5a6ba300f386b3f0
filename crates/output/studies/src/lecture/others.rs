//! What streams take from others: F13, and who is treated fairly.

use netpath::{Class, Cross, CrossTraffic, PathSpec, QueueLimit, QueueSpec};
use sim::Scenario;
use units::{Bytes, Span};

use crate::figure::{Figure, Line, Origin, Panel, Point, Scale, Values};
use crate::finding::{Finding, digits, list};
use crate::measure::{cross_goodput, goodput};
use crate::part::{Part, SetUpError};
use crate::setup::{Link, endless, over_streams};
use crate::sweep::{Cell, Curve, Seen, Sweep};

const GSFC: Link = Link {
    name: "slac-gsfc",
    mbit: 155.0,
    rtt_ms: 80.0,
    queue_kib: 512,
    loss: 0.0,
    mtu: 1500,
};
const COUNTS: [u32; 7] = [0, 1, 2, 4, 8, 16, 32];
/// The groups of others on that path, by the names of the lecture.
const GROUPS: [&str; 3] = ["HTTP", "SCP", "bbftp"];
/// What is added one way for the group that is further away, in ms.
const FURTHER: [u64; 4] = [0, 10, 30, 60];

fn group(traffic: CrossTraffic, extra_ms: u64) -> Cross {
    Cross {
        traffic,
        congestion: None,
        class: Class::BestEffort,
        extra_delay: Span::from_millis(extra_ms),
    }
}

fn streams(streams: u16, kib: u64) -> CrossTraffic {
    CrossTraffic::Streams {
        streams,
        window: Bytes::from_kib(kib),
    }
}

pub(crate) fn part() -> Result<Part, SetUpError> {
    let mut path = GSFC.path()?;
    let web = CrossTraffic::Transfers {
        per_second: 60.0,
        mean_size: Bytes::new(50_000),
        shape: 1.2,
        window: Bytes::from_kib(64),
    };
    path.cross = vec![
        group(web, 0),
        group(streams(4, 64), 0),
        group(streams(4, 512), 0),
    ];
    let usual = endless(path, 60, 15)?;
    let mut courteous = usual.clone();
    courteous.class = Class::Scavenger;
    courteous.path.forward.queue = QueueSpec::Weighted {
        limit: QueueLimit::Bytes(Bytes::from_kib(GSFC.queue_kib)),
        scavenger: 0.01,
        priority: 0.30,
    };
    let window = Some(Bytes::from_kib(512));
    let curve = |label: &str, base: &Scenario| over_streams(label, base, &COUNTS, window);
    Ok(Part {
        title: "What streams take from others",
        assumed: "SLAC to GSFC: rate, round trip and queue, and who sends: transfers of 50 kB in \
            the mean, 24 Mbit/s, as HTTP, four streams of 64 kB as SCP, four of 512 kB as bbftp, \
            and iperf with windows of 512 kB. For fairness the dumbbell of the third document with \
            four streams on each of two distances.",
        sweeps: vec![
            Sweep::new(vec![
                curve("iperf, best effort", &usual),
                curve("iperf, scavenger class", &courteous),
            ]),
            Sweep::new(vec![distances()?]),
        ],
        read,
    })
}

/// Four streams beside four that are further away.
fn distances() -> Result<Curve, SetUpError> {
    let base = PathSpec::load("dadc-dumbbell")?;
    let cell = |extra: u64| {
        let mut path = base.clone();
        path.cross = vec![group(streams(4, 4096), extra)];
        let near = path.base_rtt().as_secs_f64() * 1e3;
        let mut cell = endless(path, 120, 20)?;
        cell.streams = 4;
        cell.window = Some(Bytes::from_mib(4));
        Ok((1.0 + 2.0 * extra as f64 / near, cell))
    };
    let cells: Result<Vec<_>, SetUpError> = FURTHER.into_iter().map(cell).collect();
    Ok(Curve {
        label: "four near streams over four far ones".to_owned(),
        cells: cells?,
    })
}

fn read(seen: &[Seen<'_>]) -> Vec<Figure> {
    let [gsfc, distances] = seen else {
        return Vec::new();
    };
    vec![cross(gsfc), fairness(distances)]
}

/// What each group of others carries.
fn groups(seen: &Seen<'_>) -> Vec<Line> {
    let cells: Vec<Cell<'_>> = seen.cells().into_iter().next().unwrap_or_default();
    let line = |(index, label): (usize, &&str)| {
        let point = |cell: &Cell<'_>| {
            let rates =
                cell.values(|_, result| Some(result.cross.get(index)?.goodput.as_f64() / 1e6));
            let (x, spread) = (cell.x, None);
            let y = stats::mean(&rates?)?;
            Some(Point { x, y, spread })
        };
        Line {
            label: (*label).to_owned(),
            origin: Origin::Runs,
            points: cells.iter().filter_map(point).collect(),
        }
    };
    GROUPS.iter().enumerate().map(line).collect()
}

fn cross(seen: &Seen<'_>) -> Figure {
    let all = |scenario: &Scenario, result: &sim::RunResult| {
        Some(goodput(scenario, result)? + cross_goodput(scenario, result)?)
    };
    let (ours, others) = (seen.lines(goodput), seen.lines(cross_goodput));
    let first = |lines: Vec<Line>| lines.into_iter().next();
    let mut stack: Vec<Line> = first(seen.lines(all)).into_iter().collect();
    stack
        .iter_mut()
        .for_each(|line| line.label = "all TCP".to_owned());
    stack.extend(first(ours.clone()));
    stack.extend(groups(seen));
    let panel = |name, caption: &str, y, lines| {
        Panel::new(
            name,
            caption,
            (Scale::even("streams of iperf"), Scale::even(y)),
            lines,
        )
    };
    Figure::new(
        &["F13"],
        "Cross traffic and iperf, SLAC to GSFC",
        vec![
            panel(
                "lecture-gsfc",
                "What each kind of traffic carries, against the streams of iperf in best effort.",
                "throughput [Mbit/s]",
                stack,
            ),
            panel(
                "lecture-gsfc-others",
                "What all others carry together, iperf in best effort and in the scavenger class.",
                "throughput of the others [Mbit/s]",
                others.clone(),
            ),
        ],
        vec![others_suffer(&ours, &others)],
    )
}

fn others_suffer(ours: &[Line], others: &[Line]) -> Finding {
    let kept = |index: usize| {
        let line = others.get(index)?;
        Some(line.last()? / line.at(0.0)? * 100.0)
    };
    let taken = || {
        let kept = kept(0)?;
        let words = format!("beside 32 streams the others keep {} %", digits(kept));
        Some((kept <= 90.0, words))
    };
    let spared = || {
        let kept = kept(1)?;
        let carried = ours.get(1)?.last()?;
        let words = format!(
            "beside 32 streams of the scavenger class they keep {} %, and those carry {} Mbit/s",
            digits(kept),
            digits(carried)
        );
        Some((kept >= 95.0, words))
    };
    Finding::new(
        "Others suffer, so a service below best effort is needed.",
        "Beside 32 streams in best effort the others keep at most 90 % of what they have alone; in \
            the scavenger class at least 95 %.",
        [taken(), spared()],
    )
}

fn fairness(seen: &Seen<'_>) -> Figure {
    let lines = seen.lines(|scenario, result| {
        Some(goodput(scenario, result)? / cross_goodput(scenario, result)?)
    });
    let ratios = || {
        let line = lines.first()?;
        let words = format!(
            "round trips {} times as long leave the near streams {} times as much",
            list(line.points.iter().map(|point| digits(point.x))),
            list(line.points.iter().map(|point| digits(point.y)))
        );
        let (same, far) = (line.at(1.0)?, line.last()?);
        Some(((0.67..=1.5).contains(&same) && far >= 2.0, words))
    };
    let finding = Finding::new(
        "TCP is fair only among flows of like round trips.",
        "With equal round trips the shares are within 1.5 of each other; with the longest ones the \
            near streams carry at least twice as much.",
        [ratios()],
    );
    let panel = Panel::new(
        "lecture-fairness",
        "What four near streams carry over what four far ones carry, against their round trips.",
        (
            Scale::even("round trip, far over near"),
            Scale::even("throughput, near over far"),
        ),
        lines,
    );
    Figure::new(
        &[],
        "Fairness among round trips",
        vec![panel],
        vec![finding],
    )
}
