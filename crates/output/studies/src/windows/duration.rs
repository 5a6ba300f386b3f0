//! How long a measurement lasts: F13.

use netpath::PathSpec;
use sim::Scenario;
use stats::mean;
use units::Span;

use crate::figure::{Figure, Line, Panel, Scale, Values};
use crate::finding::{Finding, digits};
use crate::measure::goodput;
use crate::part::{Part, SetUpError};
use crate::setup::{endless, granted};
use crate::sweep::{Curve, Seen, Sweep};

const SECONDS: [u64; 6] = [10, 20, 40, 80, 160, 320];
const SETTINGS: [(&str, &str, u32, u64); 4] = [
    ("CERN, 256 kB x 2", "slac-cern", 2, 256),
    ("CERN, 64 kB x 8", "slac-cern", 8, 64),
    ("Caltech, 256 kB x 2", "slac-caltech", 2, 256),
    ("Caltech, 64 kB x 8", "slac-caltech", 8, 64),
];

pub(crate) fn part() -> Result<Part, SetUpError> {
    let curve = |(label, path, streams, kib): &(&str, &str, u32, u64)| {
        let base = endless(PathSpec::load(path)?, 10, 0)?;
        let cell = |seconds: &u64| {
            let cell = Scenario {
                streams: *streams,
                window: Some(granted(*kib)),
                duration: Span::from_secs(*seconds),
                ..base.clone()
            };
            (*seconds as f64, cell)
        };
        Ok(Curve {
            label: (*label).to_owned(),
            cells: SECONDS.iter().map(cell).collect(),
        })
    };
    let curves: Result<Vec<Curve>, SetUpError> = SETTINGS.iter().map(curve).collect();
    Ok(Part {
        title: "Duration of a measurement",
        assumed: "the paths of T1; all counts from the start, as iperf counts. The document has \
            two runs of each duration.",
        sweeps: vec![Sweep::new(curves?).cycles(10)],
        read,
    })
}

fn read(seen: &[Seen<'_>]) -> Vec<Figure> {
    let lines: Vec<Line> = seen.iter().flat_map(|seen| seen.lines(goodput)).collect();
    let even = |line: &Line| {
        let all = mean(&line.points.iter().map(|point| point.y).collect::<Vec<_>>())?;
        let (low, high) = (line.lowest()? / all, line.highest()? / all);
        let words = format!("{}: {low:.2} to {high:.2} of its mean", line.label);
        Some((low >= 0.8 && high <= 1.2, words))
    };
    let mut checks: Vec<_> = lines.iter().map(even).collect();
    if checks.is_empty() {
        checks.push(None);
    }
    let ten = || {
        let first = lines.first()?;
        let words = format!(
            "256 kB x 2 to CERN carry {} Mbit/s in 10 s and {} in 40 s",
            digits(first.at(10.0)?),
            digits(first.at(40.0)?)
        );
        Some((first.at(10.0)? < first.at(40.0)?, words))
    };
    let findings = vec![
        Finding::new(
            "Throughput does not depend much on the duration, from 10 to 320 s.",
            "The mean of each duration is within 20 % of the mean of all, half of the \
                interquartile range that the document prints for the settings to CERN.",
            checks,
        ),
        Finding::new(
            "40 s, because a window of 256 kB has to grow first.",
            "Two streams of 256 kB carry less in 10 s than in 40 s.",
            [ten()],
        ),
    ];
    let panel = Panel::new(
        "windows-duration",
        "Throughput of all streams against how long it was measured.",
        (
            Scale::decades("duration [s]"),
            Scale::even("throughput [Mbit/s]"),
        ),
        lines,
    );
    vec![Figure::new(
        &["F13"],
        "Throughput against duration",
        vec![panel],
        findings,
    )]
}
