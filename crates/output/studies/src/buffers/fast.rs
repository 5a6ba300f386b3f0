//! 10 Gbit/s, buffer first and streams first: F4, F9, F10.

use sim::Scenario;
use units::Bytes;

use crate::figure::{Figure, Line, Panel, Scale, Values, printed};
use crate::finding::{Finding, beside, digits};
use crate::measure::goodput;
use crate::part::{Part, SetUpError};
use crate::setup::{Link, endless, over_streams};
use crate::sweep::{Curve, Seen, Sweep};

/// What the hosts reach stands for the link: the document's best is 2 Gbit/s of 10.
const LINK: Link = Link {
    name: "ten-gigabit-hosts",
    mbit: 2_200.0,
    rtt_ms: 9.0,
    queue_kib: 1_024,
    loss: 1e-6,
    mtu: 1500,
};
const KIB: [u64; 9] = [16, 32, 64, 128, 256, 512, 1_024, 2_048, 4_096];
/// The most that the hosts grant, and what they begin with.
const GRANTED_KIB: u64 = 1_024;
const DEFAULT_KIB: u64 = 128;
const COUNTS: [u32; 14] = [1, 2, 3, 4, 5, 6, 8, 10, 12, 14, 16, 18, 20, 24];
const FIRST: u32 = 14;

pub(crate) fn part() -> Result<Part, SetUpError> {
    let base = endless(LINK.path()?, 20, 5)?;
    let window = |kib: u64| Some(Bytes::from_kib(kib.min(GRANTED_KIB)));
    let buffers = |streams: u32| Curve {
        label: format!("{streams} streams"),
        cells: KIB
            .iter()
            .map(|kib| {
                let cell = Scenario {
                    streams,
                    window: window(*kib),
                    ..base.clone()
                };
                (*kib as f64, cell)
            })
            .collect(),
    };
    let streams = |kib: u64, label: &str| over_streams(label, &base, &COUNTS, window(kib));
    Ok(Part {
        title: "10 Gbit/s, streams first and buffer first",
        assumed: "everything, and chosen so that the printed figures come out, which F4, F9 and \
            F10 therefore hardly test: a round trip of 9 ms, at which 1 MB are 900 Mbit/s; hosts \
            that together reach 2.2 Gbit/s and grant at most 1 MB; 128 kB as the default.",
        sweeps: vec![
            Sweep::new(vec![buffers(1), buffers(FIRST)]),
            Sweep::new(vec![
                streams(DEFAULT_KIB, "default buffer"),
                streams(GRANTED_KIB, "1 MB"),
            ]),
        ],
        read,
    })
}

fn read(seen: &[Seen<'_>]) -> Vec<Figure> {
    let [buffers, streams] = seen else {
        return Vec::new();
    };
    let (buffers, streams) = (buffers.lines(goodput), streams.lines(goodput));
    let of =
        |lines: &[Line], index: usize| lines.get(index).cloned().into_iter().collect::<Vec<_>>();
    let with = |lines: Vec<Line>, mark: (f64, f64)| -> Vec<Line> {
        lines.into_iter().chain([printed([mark])]).collect()
    };
    let caption = "Throughput of one stream against its buffer.";
    vec![
        Figure::new(
            &["F4"],
            "Throughput against buffer size",
            vec![over_buffers(
                "buffers-size",
                caption,
                &with(of(&buffers, 0), (1_024.0, 900.0)),
            )],
            vec![stable(&buffers)],
        ),
        Figure::new(
            &["F9"],
            "Streams first, then the buffer",
            vec![
                over_counts(
                    "buffers-streams-first",
                    "Throughput against streams with the default buffer.",
                    &with(of(&streams, 0), (14.0, 1_700.0)),
                ),
                over_buffers(
                    "buffers-streams-first-size",
                    "Throughput of 14 streams against their buffers.",
                    &of(&buffers, 1),
                ),
            ],
            vec![streams_first(&streams, &buffers)],
        ),
        Figure::new(
            &["F10"],
            "Buffer first, then streams",
            vec![over_counts(
                "buffers-buffer-first",
                "Throughput against streams with a buffer of 1 MB.",
                &with(of(&streams, 1), (4.0, 2_000.0)),
            )],
            vec![buffer_first(&streams, &buffers), gain(&streams)],
        ),
    ]
}

fn over_buffers(name: &'static str, caption: &str, lines: &[Line]) -> Panel {
    let scales = (
        Scale::doublings("buffer [KiB]"),
        Scale::even("throughput [Mbit/s]"),
    );
    Panel::new(name, caption, scales, lines.to_vec())
}

fn over_counts(name: &'static str, caption: &str, lines: &[Line]) -> Panel {
    let scales = (Scale::even("streams"), Scale::even("throughput [Mbit/s]"));
    Panel::new(name, caption, scales, lines.to_vec())
}

fn stable(buffers: &[Line]) -> Finding {
    let seen = || {
        let line = buffers.first()?;
        let (half, one, last) = (line.at(512.0)?, line.at(1024.0)?, line.last()?);
        let words = format!(
            "512 KiB carry {} Mbit/s, 1 MiB {}, 4 MiB {}",
            digits(half),
            digits(one),
            digits(last)
        );
        Some(((last / one - 1.0).abs() <= 0.05 && half < 0.9 * one, words))
    };
    Finding::new(
        "Throughput is stable from a buffer of about 1M on.",
        "4 MiB carry within 5 % of what 1 MiB carries, and 512 KiB less than 90 % of it. That the \
            hosts grant no more was assumed.",
        [seen()],
    )
}

fn streams_first(streams: &[Line], buffers: &[Line]) -> Finding {
    let peak = || {
        let line = streams.first()?;
        let peak = line.peak(0.02)?;
        Some((
            (7.0..=28.0).contains(&peak),
            format!("the best is at {peak} streams, printed 14"),
        ))
    };
    let rate = || {
        let ours = streams.first()?.at(f64::from(FIRST))?;
        Some(beside("14 streams carry", "Mbit/s", ours, 1_700.0, 340.0))
    };
    let buffer = || {
        let best = buffers.get(1)?.peak(0.02)?;
        Some((
            (128.0..=512.0).contains(&best),
            format!("their best buffer is {best} KiB, printed 256"),
        ))
    };
    Finding::new(
        "Streams first: 14 are best with 1.7 Gbit/s, then a buffer of 256.",
        "The best number of streams and the best buffer are half to twice what is printed; 14 \
            streams carry within 20 % of it.",
        [peak(), rate(), buffer()],
    )
}

fn buffer_first(streams: &[Line], buffers: &[Line]) -> Finding {
    let one = || {
        let line = buffers.first()?;
        let ours = line.at(1024.0)?;
        Some(beside(
            "one stream with 1 MB carries",
            "Mbit/s",
            ours,
            900.0,
            90.0,
        ))
    };
    let peak = || {
        let line = streams.get(1)?;
        let peak = line.peak(0.05)?;
        let words = format!("within 5 % of the best from {peak} streams on, printed 4");
        Some(((2.0..=8.0).contains(&peak), words))
    };
    let rate = || {
        let ours = streams.get(1)?.at(4.0)?;
        Some(beside("four streams carry", "Mbit/s", ours, 2_000.0, 400.0))
    };
    Finding::new(
        "Buffer first: one stream with 1M carries 900 Mbit/s; then 4 streams carry 2 Gbit/s.",
        "One stream within 10 % of what is printed; the number of streams half to twice; four \
            streams within 20 %.",
        [one(), peak(), rate()],
    )
}

fn gain(streams: &[Line]) -> Finding {
    let seen = || {
        let (first, tuned) = (
            streams.first()?.at(f64::from(FIRST))?,
            streams.get(1)?.at(4.0)?,
        );
        let words = format!(
            "four streams of 1 MB carry {} times as much as 14 of the default",
            digits(tuned / first)
        );
        Some((tuned > first, words))
    };
    Finding::new(
        "Streams on a tuned buffer gain most.",
        "Four streams of 1 MB carry more than 14 of the default; printed are 2 and 1.7 Gbit/s.",
        [seen()],
    )
}
