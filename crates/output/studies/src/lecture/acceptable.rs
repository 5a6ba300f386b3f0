//! What formulas say: acceptable loss, F20, and how long transfers take.

use netpath::Loss;
use sim::Scenario;

use crate::figure::{Figure, Line, Origin, Panel, Scale, Values};
use crate::finding::{Finding, beside, digits};
use crate::measure::goodput;
use crate::part::{Part, SetUpError};
use crate::setup::{Link, endless};
use crate::sweep::{Curve, Seen, Sweep};

/// The largest segment that the lecture has.
const MSS_BITS: f64 = 1460.0 * 8.0;
const RTTS_MS: [f64; 5] = [10.0, 20.0, 50.0, 100.0, 200.0];
/// Where the formula is asked of the simulator: rates in Mbit/s at a round trip of 50 ms.
const TRIED: [f64; 3] = [10.0, 30.0, 100.0];
const TRIED_RTT_MS: f64 = 50.0;

/// The share of packets that may be lost for a rate, after Mathis et al. with a constant of 1.
fn acceptable(mbit: f64, rtt_ms: f64) -> f64 {
    (MSS_BITS / (rtt_ms / 1e3 * mbit * 1e6)).powi(2)
}

pub(crate) fn part() -> Result<Part, SetUpError> {
    let cell = |mbit: f64| {
        let link = Link {
            name: "four-times-as-fast",
            mbit: mbit * 4.0,
            rtt_ms: TRIED_RTT_MS,
            queue_kib: 4096,
            loss: 0.0,
            mtu: 1500,
        };
        let mut cell: Scenario = endless(link.path()?, 400, 100)?;
        cell.path.forward.loss = Loss::Random {
            rate: acceptable(mbit, TRIED_RTT_MS),
        };
        Ok((mbit, cell))
    };
    let cells: Result<Vec<_>, SetUpError> = TRIED.into_iter().map(cell).collect();
    Ok(Part {
        title: "What formulas say",
        assumed: "round trips and rates of the plot; losses of packets and not of bits. The \
            simulated stream has a link four times as fast, so that loss alone holds it back.",
        sweeps: vec![Sweep::new(vec![Curve {
            label: "simulated".to_owned(),
            cells: cells?,
        }])],
        read,
    })
}

fn read(seen: &[Seen<'_>]) -> Vec<Figure> {
    let lines: Vec<Line> = seen.iter().flat_map(|seen| seen.lines(goodput)).collect();
    vec![loss(&lines)]
}

fn loss(simulated: &[Line]) -> Figure {
    let curve = |rtt_ms: f64| {
        let rates = (0..=8).map(|half| 10_f64.powf(f64::from(half) / 2.0));
        let places = rates.map(|mbit| (mbit, acceptable(mbit, rtt_ms)));
        Line::new(format!("{rtt_ms} ms"), Origin::Runs, places.collect())
    };
    let mut lines: Vec<Line> = RTTS_MS.into_iter().map(curve).collect();
    lines
        .iter_mut()
        .enumerate()
        .for_each(|(index, line)| line.origin = Origin::FormulaOf(index));
    let check = |mbit: f64| {
        let ours = simulated.first()?.at(mbit)?;
        let loss = acceptable(mbit, TRIED_RTT_MS);
        let words = format!(
            "at a loss of {loss:.1e} one stream carries {} Mbit/s for {mbit:.0}",
            digits(ours)
        );
        Some(((0.75..=1.5).contains(&(ours / mbit)), words))
    };
    let finding = Finding::new(
        "One stream reaches a rate while loss stays below (MSS / (RTT rate))^2.",
        "At that loss a simulated stream carries 0.75 to 1.5 times the rate: published constants \
            of the formula are 0.87 to 1.31.",
        TRIED.map(check),
    );
    let panel = Panel::new(
        "lecture-acceptable-loss",
        "The largest share of lost packets at which one stream reaches a rate, by round trip.",
        (
            Scale::decades("rate [Mbit/s]"),
            Scale::decades("share of packets lost"),
        ),
        lines,
    );
    Figure::new(&["F20"], "Acceptable loss", vec![panel], vec![finding])
}

pub(crate) fn times_part() -> Part {
    Part {
        title: "How long transfers take",
        assumed: "nothing.",
        sweeps: Vec::new(),
        read: |_| vec![times()],
    }
}

const DAY: f64 = 86_400.0;

/// How long transfers take at 75 % of 1 Gbit/s: what, bytes, printed seconds.
const TRANSFERS: [(&str, f64, f64); 3] = [
    ("1 GB", 1e9, 11.0),
    ("1 TB", 1e12, 3.0 * 3600.0),
    ("1 PB", 1e15, 4.0 * 30.4 * DAY),
];

fn times() -> Figure {
    let seconds = |bytes: f64| bytes * 8.0 / 0.75e9;
    let checks = TRANSFERS.map(|(what, bytes, printed)| {
        Some(beside(what, "s", seconds(bytes), printed, printed * 0.05))
    });
    let day = |what: &str, mbit: f64, printed: f64| {
        let gigabytes = mbit * 1e6 / 8.0 * DAY / 1e9;
        Some(beside(what, "GB a day", gigabytes, printed, printed * 0.1))
    };
    let findings = vec![
        Finding::new(
            "At 75 % of 1 Gbit/s 1 GB takes 11 s, 1 TB 3 h, 1 PB 4 months.",
            "Within 5 % of what is printed.",
            checks,
        ),
        Finding::new(
            "100 GB a day are 10 Mbit/s; 20 MB/s are 200 GB a day.",
            "Within 10 % of what is printed.",
            [day("10 Mbit/s", 10.0, 100.0), day("20 MB/s", 160.0, 200.0)],
        ),
    ];
    let rows = TRANSFERS.map(|(what, bytes, printed)| {
        vec![what.to_owned(), digits(printed), digits(seconds(bytes))]
    });
    Figure::new(&[], "Transfer times", Vec::new(), findings)
        .with(["amount", "printed [s]", "computed [s]"], rows.to_vec())
}
