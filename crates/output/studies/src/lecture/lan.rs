//! Two fast paths of 2000: F5 and F6.

use sim::Scenario;
use units::Bytes;

use crate::figure::{Figure, Line, Origin, Panel, Scale, Values};
use crate::finding::{Finding, beside, digits};
use crate::measure::goodput;
use crate::part::{Part, SetUpError};
use crate::setup::{Link, endless, over_streams};
use crate::sweep::{Curve, Seen, Sweep};

const NTON: Link = Link {
    name: "slac-caltech-nton",
    mbit: 622.0,
    rtt_ms: 12.0,
    queue_kib: 512,
    loss: 0.0,
    mtu: 1500,
};
const DALLAS: [Link; 2] = [
    Link {
        name: "dallas-slac-nton",
        mbit: 1000.0,
        rtt_ms: 48.0,
        queue_kib: 1024,
        loss: 0.0,
        mtu: 1500,
    },
    Link {
        name: "dallas-slac-internet2",
        mbit: 622.0,
        rtt_ms: 48.0,
        queue_kib: 1024,
        loss: 1e-5,
        mtu: 1500,
    },
];
const KIB: [u64; 6] = [64, 128, 256, 512, 1024, 2048];
const COUNTS: [u32; 7] = [1, 2, 4, 8, 16, 24, 32];

pub(crate) fn part() -> Result<Part, SetUpError> {
    let nton = endless(NTON.path()?, 30, 10)?;
    let cell = |kib: &u64| {
        let cell = Scenario {
            window: Some(Bytes::from_kib(*kib)),
            ..nton.clone()
        };
        (*kib as f64, cell)
    };
    let one = Curve {
        label: "one stream".to_owned(),
        cells: KIB.iter().map(cell).collect(),
    };
    let dallas = |link: &Link| {
        let base = endless(link.path()?, 30, 10)?;
        let curve = |kib: u64| {
            let window = Some(Bytes::from_kib(kib));
            over_streams(format!("{}, {kib} KiB", link.name), &base, &COUNTS, window)
        };
        Ok([curve(64), curve(256), curve(1024)])
    };
    let curves: Result<Vec<_>, SetUpError> = DALLAS.iter().map(dallas).collect();
    Ok(Part {
        title: "Fast paths of 2000",
        assumed: "to Caltech over NTON a round trip of 12 ms; from Dallas over NTON the one \
            interface of Gigabit Ethernet that the hosts had each, over Internet2 an OC-12 and a \
            loss of 1e-5; windows, streams and times of both; hosts that are never too slow.",
        sweeps: vec![
            Sweep::new(vec![one]),
            Sweep::new(curves?.into_iter().flatten().collect()),
        ],
        read,
    })
}

fn read(seen: &[Seen<'_>]) -> Vec<Figure> {
    let [nton, dallas] = seen else {
        return Vec::new();
    };
    let (nton, dallas) = (nton.lines(goodput), dallas.lines(goodput));
    vec![one_stream(nton), streams(dallas)]
}

fn level(label: &str, xs: [f64; 2], value: f64) -> Line {
    let places = xs.map(|x| (x, value)).to_vec();
    Line::new(label, Origin::Formula, places)
}

fn one_stream(lines: Vec<Line>) -> Figure {
    let seen = || {
        let best = lines.first()?.highest()?;
        Some(beside(
            "the best window carries",
            "Mbit/s",
            best,
            500.0,
            100.0,
        ))
    };
    let finding = Finding::new(
        "One stream carries about 500 Mbit/s over OC-12.",
        "Within 100 Mbit/s of it with the best of six windows.",
        [seen()],
    );
    let mark = level("printed: about 500", [KIB[0] as f64, KIB[5] as f64], 500.0);
    let panel = Panel::new(
        "lecture-nton",
        "Throughput of one stream over OC-12 against its window.",
        (
            Scale::doublings("window [KiB]"),
            Scale::even("throughput [Mbit/s]"),
        ),
        lines.into_iter().chain([mark]).collect(),
    );
    Figure::new(
        &["F5"],
        "SLAC to Caltech over NTON",
        vec![panel],
        vec![finding],
    )
}

fn streams(lines: Vec<Line>) -> Figure {
    let nearest = |from: usize, printed: f64, what: &str, share: f64| {
        let lines = lines.get(from..from + 3)?;
        let points = lines.iter().flat_map(|line| &line.points);
        let near = points.min_by(|a, b| (a.y - printed).abs().total_cmp(&(b.y - printed).abs()))?;
        let words = format!(
            "{what}: {} streams carry {} Mbit/s, printed {printed:.0}",
            near.x,
            digits(near.y)
        );
        Some(((near.y - printed).abs() <= share * printed, words))
    };
    let finding = Finding::new(
        "From Dallas 960 Mbit/s over NTON and 300 Mbit/s over Internet2.",
        "Some setting of each path is within 5 % of the first and 10 % of the second.",
        [
            nearest(0, 960.0, "NTON", 0.05),
            nearest(3, 300.0, "Internet2", 0.1),
        ],
    );
    let ends = [1.0, 32.0];
    let marks = [
        level("printed: 960, NTON", ends, 960.0),
        level("printed: 300, Internet2", ends, 300.0),
    ];
    let panel = Panel::new(
        "lecture-dallas",
        "Throughput from Dallas to SLAC against streams, two paths, a curve for each window.",
        (
            Scale::doublings("streams"),
            Scale::even("throughput [Mbit/s]"),
        ),
        lines.into_iter().chain(marks).collect(),
    );
    Figure::new(
        &["F6"],
        "SC2000 in Dallas to SLAC",
        vec![panel],
        vec![finding],
    )
}
