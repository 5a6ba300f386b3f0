//! One product of streams and window, parted in many ways.

use netpath::{PathSpec, QueueLimit, QueueSpec};
use sim::Scenario;
use stats::mean;

use crate::figure::{Figure, Panel, Scale, Values};
use crate::finding::{Finding, digits};
use crate::measure::goodput;
use crate::part::{Part, SetUpError};
use crate::setup::{endless, granted};
use crate::sweep::{Curve, Seen, Sweep};

const COUNTS: [u32; 5] = [1, 2, 4, 8, 16];

pub(crate) fn part() -> Result<Part, SetUpError> {
    let losing = endless(PathSpec::load("slac-cern")?, 120, 20)?;
    let mut small = losing.clone();
    small.path.forward.loss = netpath::Loss::None;
    small.path.forward.queue = QueueSpec::DropTail(QueueLimit::Packets(20));
    let curve = |label: &str, base: &Scenario, kib: u64| Curve {
        label: label.to_owned(),
        cells: COUNTS
            .iter()
            .map(|streams| {
                let cell = Scenario {
                    streams: *streams,
                    window: Some(granted(kib / u64::from(*streams))),
                    ..base.clone()
                };
                (f64::from(*streams), cell)
            })
            .collect(),
    };
    Ok(Part {
        title: "One product of streams and window",
        assumed: "the path to CERN, and for the small router the same without random loss and with \
            a queue of 20 packets; products of 512 and 2048 kB.",
        sweeps: vec![Sweep::new(vec![
            curve("512 kB, random loss", &losing, 512),
            curve("2048 kB, small router", &small, 2048),
        ])],
        read,
    })
}

fn read(seen: &[Seen<'_>]) -> Vec<Figure> {
    let lines: Vec<_> = seen.iter().flat_map(|seen| seen.lines(goodput)).collect();
    let gain = |index: usize, what: &str, holds: fn(f64) -> bool| {
        let line = lines.get(index)?;
        let two = mean(&[line.at(1.0)?, line.at(2.0)?])?;
        let gain = line.last()? / two;
        let words = format!(
            "{what} 16 streams carry {} times as much as one or two",
            digits(gain)
        );
        Some((holds(gain), words))
    };
    let findings = vec![
        Finding::new(
            "More streams beat larger windows of the same product, since a loss halves one of \
                many.",
            "With random loss 16 streams carry at least half as much again as the mean of one and \
                two.",
            [gain(0, "with random loss", |gain| gain >= 1.5)],
        ),
        Finding::new(
            "Where a small router limits, all streams lose at once and gain little.",
            "With a small queue and no random loss 16 streams carry less than half as much again \
                as the mean of one and two.",
            [gain(1, "beside a small router", |gain| gain < 1.5)],
        ),
    ];
    let panel = Panel::new(
        "windows-products",
        "Throughput of one product of streams and window, parted among more and more streams.",
        (
            Scale::doublings("streams"),
            Scale::even("throughput [Mbit/s]"),
        ),
        lines,
    );
    vec![Figure::new(
        &[],
        "More streams or larger windows",
        vec![panel],
        findings,
    )]
}
