//! Buffer size against parallel streams, three times: alone, beside others that leave room, and
//! beside others that leave none.

mod rules;

use netpath::PathSpec;
use sim::{Scenario, TcpSettings, Variant};
use units::{Bytes, Span};

use crate::figure::{Figure, Line, Panel, Scale};
use crate::finding::Finding;
use crate::measure::{cross_goodput, goodput};
use crate::part::{Part, SetUpError};
use crate::sweep::{Curve, Seen, Sweep};

/// The last is larger than what the path and its queue hold, 633 KiB.
const KIB: [u64; 7] = [16, 32, 64, 128, 256, 512, 1024];
/// How many of them fit into the path and its queue.
const FITTING: usize = 6;
/// The round trip of the paths, in seconds.
const RTT: f64 = 0.04;
const STREAMS_MAX: u32 = 40;

pub(crate) fn part() -> Result<Part, SetUpError> {
    let paths = [
        "dadc-dumbbell",
        "dadc-dumbbell-cross5",
        "dadc-dumbbell-cross12",
    ];
    let sweeps: Result<Vec<Sweep>, SetUpError> = paths.into_iter().map(sweep).collect();
    Ok(Part {
        title: "Buffer size against parallel streams",
        assumed: "rate, delay, queue and how TCP is set up (as ns-2 has it); those of the \
            document's simulations are not printed.",
        sweeps: sweeps?,
        read,
    })
}

fn sweep(path: &str) -> Result<Sweep, SetUpError> {
    let path = PathSpec::load(path)?;
    let mut base = Scenario::new(path)?;
    base.tcp = TcpSettings::ns2(&base.path);
    base.variant = Variant::Sack;
    base.duration = Span::from_secs(100);
    base.warmup = Span::from_secs(20);
    let curve = |kib: u64| Curve {
        label: format!("{kib} KiB buffer"),
        cells: (1..=STREAMS_MAX)
            .map(|streams| {
                let cell = Scenario {
                    streams,
                    window: Some(Bytes::from_kib(kib)),
                    ..base.clone()
                };
                (f64::from(streams), cell)
            })
            .collect(),
    };
    Ok(Sweep::new(KIB.into_iter().map(curve).collect()))
}

fn read(seen: &[Seen<'_>]) -> Vec<Figure> {
    let [alone, room, none] = seen else {
        return Vec::new();
    };
    let free = alone.lines(goodput);
    let with_room = (room.lines(goodput), room.lines(cross_goodput));
    let without = (none.lines(goodput), none.lines(cross_goodput));
    vec![
        Figure {
            ids: &["F6"],
            title: "No cross traffic".to_owned(),
            tables: Vec::new(),
            findings: rules::alone(&free),
            panels: vec![ours("balancing-alone", "on an empty path", free.clone())],
        },
        beside(
            &["F7"],
            "Cross traffic that leaves room: five streams of 64 KiB",
            ["balancing-room", "balancing-room-cross"],
            rules::room(&free, &with_room.0, &with_room.1),
            with_room,
        ),
        beside(
            &["F8"],
            "Cross traffic that fills the path: twelve streams of 64 KiB",
            ["balancing-full", "balancing-full-cross"],
            rules::full(&without.0, &without.1),
            without,
        ),
    ]
}

fn beside(
    ids: &'static [&'static str],
    title: &str,
    [name, cross_name]: [&'static str; 2],
    findings: Vec<Finding>,
    (lines, cross): (Vec<Line>, Vec<Line>),
) -> Figure {
    let caption = "What is left to the cross traffic.";
    Figure {
        ids,
        title: title.to_owned(),
        tables: Vec::new(),
        panels: vec![
            ours(name, "beside the cross traffic", lines),
            panel(cross_name, caption, "cross traffic [Mbit/s]", cross),
        ],
        findings,
    }
}

fn ours(name: &'static str, place: &str, lines: Vec<Line>) -> Panel {
    let caption = format!("Throughput of all streams {place}, a curve for each buffer size.");
    panel(name, &caption, "throughput [Mbit/s]", lines)
}

fn panel(name: &'static str, caption: &str, y: &'static str, lines: Vec<Line>) -> Panel {
    Panel {
        name,
        caption: caption.to_owned(),
        x: Scale::even("streams"),
        y: Scale::even(y),
        lines,
    }
}
