//! The document's open question: can ECN with large buffers tell congestion without drops?

use netpath::{CoDelSpec, Loss, QueueLimit, QueueSpec, RedSpec};
use sim::{RunResult, Scenario};
use units::Span;

use super::base;
use crate::figure::{Figure, Line, Panel, Scale};
use crate::finding::{Finding, digits};
use crate::measure::goodput;
use crate::part::{Part, SetUpError};
use crate::setup::over_streams;
use crate::sweep::{Seen, Sweep};

const COUNTS: [u32; 7] = [1, 2, 5, 10, 25, 50, 100];
/// What the pipe holds, and eight times that.
const PIPE: u32 = 171;
const LARGE: u32 = 8 * PIPE;
const LOSSY: f64 = 1e-3;

const TAIL: usize = 0;
const LARGE_TAIL: usize = 1;
const MARKED: [usize; 2] = [2, 3];

pub(crate) fn part() -> Result<Part, SetUpError> {
    let mut base = base("oc3-striping")?;
    base.duration = Span::from_secs(60);
    base.warmup = Span::from_secs(20);
    let limit = QueueLimit::Packets(LARGE);
    let red = RedSpec {
        limit,
        min: PIPE / 4,
        max: PIPE * 3 / 4,
        probability: RedSpec::PROBABILITY,
        weight: RedSpec::WEIGHT,
        gentle: RedSpec::GENTLE,
        wait: false,
        ecn: true,
    };
    let codel = CoDelSpec {
        limit,
        target: CoDelSpec::TARGET,
        interval: CoDelSpec::INTERVAL,
        ecn: true,
    };
    let queues = [
        (
            "drop-tail of one pipe",
            QueueSpec::DropTail(QueueLimit::Packets(PIPE)),
        ),
        ("drop-tail of eight pipes", QueueSpec::DropTail(limit)),
        ("RED with ECN, eight pipes", QueueSpec::Red(red)),
        ("CoDel with ECN, eight pipes", QueueSpec::CoDel(codel)),
    ];
    let sweep = |loss: Loss| {
        let curve = |(label, queue): &(&str, QueueSpec)| {
            let mut base: Scenario = base.clone();
            base.path.forward.queue = *queue;
            base.path.forward.loss = loss;
            base.tcp.ecn = true;
            over_streams(*label, &base, &COUNTS, None)
        };
        Sweep::new(queues.iter().map(curve).collect())
    };
    Ok(Part {
        title: "ECN with large buffers",
        assumed: "the OC-3 of the striped transfers with endless flows of SACK; RED after the pipe \
            and CoDel with its own defaults.",
        sweeps: vec![sweep(Loss::None), sweep(Loss::Random { rate: LOSSY })],
        read,
    })
}

/// Packets that queues dropped, for whatever reason.
fn dropped(_: &Scenario, result: &RunResult) -> Option<f64> {
    let drops = &result.drops;
    Some((drops.queue_full + drops.early + drops.sojourn) as f64)
}

fn round_trip(_: &Scenario, result: &RunResult) -> Option<f64> {
    Some(result.round_trips?.mean.as_secs_f64() * 1e3)
}

fn read(seen: &[Seen<'_>]) -> Vec<Figure> {
    let [clean, lossy] = seen else {
        return Vec::new();
    };
    let rates = clean.lines(goodput);
    let (drops, trips) = (clean.lines(dropped), clean.lines(round_trip));
    let findings = vec![
        without_drops(&drops),
        rates_kept(&rates),
        short(&trips),
        tells_link_loss(&lossy.lines(goodput)),
    ];
    let panel = |name, caption: &str, y, lines: &[Line]| {
        Panel::new(name, caption, (Scale::decades("flows"), y), lines.to_vec())
    };
    let panels = vec![
        panel(
            "striping-ecn-throughput",
            "Throughput of endless flows, a curve for each queue.",
            Scale::even("throughput [Mbit/s]"),
            &rates,
        ),
        panel(
            "striping-ecn-round-trips",
            "Mean round trips as the flows see them.",
            Scale::even("round trip [ms]"),
            &trips,
        ),
        panel(
            "striping-ecn-drops",
            "Packets that the queue drops in 40 s.",
            Scale::even("dropped packets"),
            &drops,
        ),
    ];
    let title = "Can ECN with large buffers tell congestion without drops?";
    vec![Figure::new(&[], title, panels, findings)]
}

fn sum(line: &Line) -> f64 {
    line.points.iter().map(|point| point.y).sum()
}

fn without_drops(drops: &[Line]) -> Finding {
    let check = |index: usize| {
        let (marked, tail) = (drops.get(index)?, drops.get(TAIL)?);
        let words = format!(
            "{} drops {:.0} packets over all settings, {} {:.0}",
            marked.label,
            sum(marked),
            tail.label,
            sum(tail)
        );
        (!tail.points.is_empty()).then(|| (sum(marked) <= 0.01 * sum(tail), words))
    };
    Finding::new(
        "Open question: ECN with large buffers tells congestion without drops.",
        "Over all numbers of flows a queue that marks drops at most 1 % of what drop-tail drops.",
        MARKED.map(check),
    )
}

/// The least of `index` over another curve, by number of flows.
fn least_share(lines: &[Line], index: usize, other: usize) -> Option<f64> {
    let pairs = lines
        .get(index)?
        .points
        .iter()
        .zip(&lines.get(other)?.points);
    pairs.map(|(ours, other)| ours.y / other.y).reduce(f64::min)
}

fn rates_kept(rates: &[Line]) -> Finding {
    let check = |index: usize| {
        let share = least_share(rates, index, TAIL)? * 100.0;
        let label = &rates.get(index)?.label;
        let words = format!(
            "{label} carries at least {} % of what drop-tail does",
            digits(share)
        );
        Some((share >= 95.0, words))
    };
    Finding::new(
        "Open question: it keeps the throughput.",
        "At each number of flows it carries at least 95 % of what drop-tail of one pipe carries.",
        MARKED.map(check),
    )
}

fn short(trips: &[Line]) -> Finding {
    let check = |index: usize| {
        let share = least_share(trips, LARGE_TAIL, index)?;
        let label = &trips.get(index)?.label;
        let words = format!(
            "drop-tail of eight pipes makes round trips at least {} times as long as {label}",
            digits(share)
        );
        Some((share >= 1.0, words))
    };
    Finding::new(
        "Open question: the large buffer costs no delay.",
        "At each number of flows drop-tail with the same buffer has no shorter round trips.",
        MARKED.map(check),
    )
}

fn tells_link_loss(rates: &[Line]) -> Finding {
    let check = |index: usize| {
        let (marked, tail) = (rates.get(index)?, rates.get(TAIL)?);
        let (ours, other) = (marked.points.first()?.y, tail.points.first()?.y);
        let words = format!(
            "with 0.1 % loss one flow carries {} Mbit/s with {} and {} with {}",
            digits(ours),
            marked.label,
            digits(other),
            tail.label
        );
        Some((ours >= 1.5 * other, words))
    };
    Finding::new(
        "Open question: feedback then tells link loss from congestion.",
        "With 0.1 % loss of the link one flow carries at least 1.5 times as much as with \
            drop-tail. It cannot unless the sender stops taking each loss for congestion.",
        MARKED.map(check),
    )
}
