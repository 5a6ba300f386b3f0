//! ANL to LBNL: throughput against streams.

use sim::Scenario;
use units::{Bytes, Span};

use super::{SOURCE, base};
use crate::study::figure::{Figure, Line, Panel, Scale, Values};
use crate::study::finding::{Check, Finding, digits, list};
use crate::study::measure::goodput;
use crate::study::sweep::{Curve, Seen, Sweep};
use crate::study::{Study, StudyError};

const WINDOWS: [(&str, Option<Bytes>); 4] = [
    ("64 KiB", Some(Bytes::from_kib(64))),
    ("256 KiB", Some(Bytes::from_kib(256))),
    ("1 MiB", Some(Bytes::from_mib(1))),
    ("no limit", None),
];
const STREAMS: [u32; 10] = [1, 2, 4, 6, 8, 12, 16, 24, 32, 64];

pub(in crate::study) fn study() -> Result<Study, StudyError> {
    let mut base = base("anl-lbnl")?;
    base.duration = Span::from_secs(60);
    base.warmup = Span::from_secs(20);
    let curve = |(label, window): (&str, Option<Bytes>)| Curve {
        label: format!("window {label}"),
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
    Ok(Study {
        name: "striping-streams",
        title: "ANL to LBNL: throughput against streams",
        source: SOURCE,
        setup: "An OC-12 of 622 Mbit/s with a round trip of 56 ms and a queue of 1 MiB, a guess; \
            segments of 1460 bytes, every one acknowledged; SACK; 60 s, of which the first 20 do \
            not count. The document has GridFTP and iperf on the real path, with windows that are \
            not known here: four sizes stand for them. That throughput rises and levels off is \
            what its figure has to show.",
        sweeps: vec![Sweep {
            curves: WINDOWS.into_iter().map(curve).collect(),
        }],
        read,
    })
}

fn read(seen: &[Seen<'_>]) -> Vec<Figure> {
    let [seen] = seen else {
        return Vec::new();
    };
    let lines = seen.lines(goodput);
    vec![Figure {
        title: "ANL to LBNL".to_owned(),
        findings: vec![rises(&lines), tuned_first(&lines)],
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
