//! ANL to LBNL: throughput against streams.

use netpath::PathSpec;
use sim::Scenario;
use units::{Bytes, Span};

use super::base;
use crate::figure::{Figure, Line, Panel, Scale, Values};
use crate::finding::{Check, Finding, digits, list};
use crate::measure::goodput;
use crate::part::{Part, SetUpError};
use crate::sweep::{Curve, Seen, Sweep};

const WINDOWS: [(&str, Option<Bytes>); 4] = [
    ("64 KiB", Some(Bytes::from_kib(64))),
    ("256 KiB", Some(Bytes::from_kib(256))),
    ("1 MiB", Some(Bytes::from_mib(1))),
    ("no limit", None),
];
const STREAMS: [u32; 10] = [1, 2, 4, 6, 8, 12, 16, 24, 32, 64];

/// The path, over which real programs are run, too.
pub(crate) fn path() -> Result<PathSpec, SetUpError> {
    Ok(base("anl-lbnl")?.path)
}

/// The curve of a window.
pub(crate) fn label(window: &str) -> String {
    format!("window {window}")
}

pub(crate) fn part() -> Result<Part, SetUpError> {
    let mut base = base("anl-lbnl")?;
    base.duration = Span::from_secs(60);
    base.warmup = Span::from_secs(20);
    let curve = |(label, window): (&str, Option<Bytes>)| Curve {
        label: self::label(label),
        cells: STREAMS
            .iter()
            .map(|&streams| {
                let cell = Scenario {
                    streams,
                    window,
                    ..base.clone()
                };
                (f64::from(streams), cell)
            })
            .collect(),
    };
    Ok(Part {
        title: "ANL to LBNL: throughput against streams",
        assumed: "a queue of 1 MiB, SACK, every segment acknowledged, and windows: four sizes \
            stand for those of GridFTP and iperf, which are not printed. No one else sends.",
        sweeps: vec![Sweep::new(WINDOWS.into_iter().map(curve).collect())],
        read,
    })
}

fn read(seen: &[Seen<'_>]) -> Vec<Figure> {
    let [seen] = seen else {
        return Vec::new();
    };
    let lines = seen.lines(goodput);
    vec![Figure {
        ids: &["F8"],
        title: "ANL to LBNL".to_owned(),
        tables: Vec::new(),
        findings: vec![rises(&lines), tuned_first(&lines), axis(&lines)],
        panels: vec![Panel {
            name: "striping-streams",
            caption: "Throughput of all streams, a curve for each window.".to_owned(),
            x: Scale::doublings("streams"),
            y: Scale::even("throughput [Mbit/s]"),
            lines,
        }],
    }]
}

fn rises(lines: &[Line]) -> Finding {
    let in_step = || {
        let line = lines.first()?;
        let gain = line.at(16.0)? / line.at(1.0)?;
        let words = format!(
            "16 streams of 64 KiB carry {} times as much as one",
            digits(gain)
        );
        Some((gain >= 14.0, words))
    };
    let levels_off = || {
        let gain = |line: &Line| Some(line.last()? / line.at(32.0)?);
        let gains: Option<Vec<f64>> = lines[1..].iter().map(gain).collect();
        let gains = gains?;
        let words = format!(
            "with larger windows 64 streams carry {} times as much as 32",
            list(gains.iter().map(|gain| digits(*gain)))
        );
        Some((gains.iter().all(|gain| *gain <= 1.1), words))
    };
    Finding {
        claim: "Throughput rises with the streams while windows limit it, then levels off.",
        rule: "16 streams of 64 KiB carry at least 14 times as much as one; with larger windows 64 \
            streams carry at most 1.1 times as much as 32.",
        checks: vec![Check::of(in_step()), Check::of(levels_off())],
    }
}

/// Where the axes of the printed figure end.
fn axis(lines: &[Line]) -> Finding {
    let check = |line: &Line| {
        let most = line
            .up_to(35.0)
            .into_iter()
            .map(|place| place.1)
            .reduce(f64::max)?;
        let words = format!("{} carries up to {} Mbit/s", line.label, digits(most));
        Some((most <= 350.0, words))
    };
    let mut checks: Vec<_> = lines.iter().map(check).collect();
    if checks.is_empty() {
        checks.push(None);
    }
    Finding::new(
        "The figure ends at 350 Mbit/s and 35 streams.",
        "Up to 35 streams no window carries more: those that do were not what was measured, or \
            others had the rest of the link.",
        checks,
    )
}

fn tuned_first(lines: &[Line]) -> Finding {
    let seen = || {
        let (small, large) = (lines.first()?, lines.last()?);
        let (one, sixteen) = (large.at(1.0)?, small.at(16.0)?);
        let words = format!(
            "one stream without a limit carries {} Mbit/s, 16 of 64 KiB {} Mbit/s",
            digits(one),
            digits(sixteen)
        );
        Some((one >= sixteen, words))
    };
    Finding {
        claim: "Tuning the end systems first gains most.",
        rule: "One stream whose window is not limited carries at least as much as 16 of 64 KiB.",
        checks: vec![Check::of(seen())],
    }
}
