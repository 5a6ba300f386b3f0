//! Products of window and streams: T2 and F1.

use netpath::PathSpec;
use sim::Scenario;
use units::Bytes;

use crate::figure::{Figure, Line, Panel, Point, Scale, Values};
use crate::finding::{Finding, digits};
use crate::measure::goodput;
use crate::part::{Part, SetUpError};
use crate::setup::endless;
use crate::sweep::{Curve, Seen, Sweep};

const STREAMS: [u32; 7] = [2, 4, 8, 16, 32, 64, 126];
/// Millions of bytes.
const PRODUCTS: [f64; 8] = [5.0, 7.5, 10.0, 12.5, 18.5, 25.0, 37.5, 50.0];

pub(crate) fn part() -> Result<Part, SetUpError> {
    // From Taiwan to SLAC.
    let path = PathSpec::load("slac-twaren")?.exchanged();
    let long = sweep(&endless(path.clone(), 60, 0)?, 1.0).cycles(1);
    let short = sweep(&endless(path, 20, 0)?, 0.5);
    Ok(Part {
        title: "Products of window and streams, Taiwan to SLAC",
        assumed: "the path of the other way, with no one else on it; one simulated TCP for iperf \
            and thrulay alike, which differ in what they count and not in how they send; 60 s for \
            the 300 s of the first grid. Linux grants twice what is asked and offers 160/256 of \
            it; the second grid asks for half.",
        sweeps: vec![long, short],
        read,
    })
}

fn sweep(base: &Scenario, asked: f64) -> Sweep {
    let curve = |product: &f64| Curve {
        label: format!("{product} MB"),
        cells: STREAMS
            .iter()
            .map(|streams| {
                let window = product * 1e6 / f64::from(*streams) * asked * 1.25;
                let cell = Scenario {
                    streams: *streams,
                    window: Some(Bytes::new(window as u64)),
                    ..base.clone()
                };
                (f64::from(*streams), cell)
            })
            .collect(),
    };
    Sweep::new(PRODUCTS.iter().map(curve).collect())
}

fn read(seen: &[Seen<'_>]) -> Vec<Figure> {
    let [long, short] = seen else {
        return Vec::new();
    };
    let (long, short) = (long.lines(goodput), short.lines(goodput));
    let panel = |name, caption: &str, lines: &[Line]| {
        let scales = (
            Scale::doublings("streams"),
            Scale::even("throughput [Mbit/s]"),
        );
        Panel::new(name, caption, scales, lines.to_vec())
    };
    vec![
        Figure::new(
            &["T2"],
            "56 settings, the longer grid",
            vec![panel(
                "taiwan-grid",
                "Throughput against streams, a curve for each product of both.",
                &long,
            )],
            vec![best(&long)],
        ),
        Figure::new(
            &["F1"],
            "The same in 20 s with half of the windows",
            vec![panel(
                "taiwan-grid-short",
                "Throughput in 20 s against streams, windows asked for half of the product.",
                &short,
            )],
            vec![knee(&short), unsteady(&short)],
        ),
    ]
}

/// The setting that carries most: product, streams and Mbit/s.
fn most(lines: &[Line]) -> Option<(f64, f64, f64)> {
    let points = lines.iter().zip(PRODUCTS).flat_map(|(line, product)| {
        line.points
            .iter()
            .map(move |point| (product, point.x, point.y))
    });
    points.max_by(|a, b| a.2.total_cmp(&b.2))
}

fn best(lines: &[Line]) -> Finding {
    let product = || {
        let (product, streams, rate) = most(lines)?;
        let words = format!(
            "the best is {product} MB with {streams} streams, {} Mbit/s",
            digits(rate)
        );
        Some(((9.25..=50.0).contains(&product), words))
    };
    let chosen = || {
        let (_, _, top) = most(lines)?;
        let at = |product: f64, streams: f64| {
            let index = PRODUCTS.iter().position(|known| *known == product)?;
            lines.get(index)?.at(streams)
        };
        let (iperf, thrulay) = (at(18.5, 16.0)?, at(25.0, 64.0)?);
        let words = format!(
            "18.5 MB with 16 streams carry {} % of it, 25 MB with 64 {} %",
            digits(iperf / top * 100.0),
            digits(thrulay / top * 100.0)
        );
        Some((iperf.min(thrulay) >= 0.9 * top, words))
    };
    Finding::new(
        "iperf is best with 18.5 MB (8 or 16 streams), thrulay with 25 MB (32 to 126).",
        "The best product is half of 18.5 to twice 25 MB; both choices carry at least 90 % of the \
            best.",
        [product(), chosen()],
    )
}

fn at(lines: &[Line], product: f64) -> Option<&Line> {
    let index = PRODUCTS.iter().position(|known| *known == product)?;
    lines.get(index)
}

fn knee(lines: &[Line]) -> Finding {
    let many = || {
        let (_, _, top) = most(lines)?;
        let ours = at(lines, 37.5)?.at(126.0)?;
        let share = ours / top * 100.0;
        Some((
            share >= 95.0,
            format!("126 streams of 149K carry {} % of the best", digits(share)),
        ))
    };
    let few = || {
        let (_, _, top) = most(lines)?;
        let share = at(lines, 37.5)?.at(32.0)? / top * 100.0;
        Some((
            share >= 85.0,
            format!("32 streams carry {} % of the best", digits(share)),
        ))
    };
    let knee = || {
        let line = at(lines, 37.5)?;
        let (low, high) = (
            line.at(8.0)? / line.at(2.0)?,
            line.at(126.0)? / line.at(32.0)?,
        );
        let words = format!(
            "from 2 to 8 streams throughput grows {} times, from 32 to 126 {} times",
            digits(low),
            digits(high)
        );
        Some((low > high && high <= 1.15, words))
    };
    Finding::new(
        "Best are 126 streams of 149K; 32 are near the knee and carry about 90 %.",
        "With 37.5 MB 126 streams carry at least 95 % and 32 at least 85 % of the best of all, and \
            the curve flattens: from 32 to 126 streams it grows by at most 15 %, and less than \
            from 2 to 8.",
        [many(), few(), knee()],
    )
}

fn unsteady(lines: &[Line]) -> Finding {
    let seen = || {
        let spread = |streams: f64| {
            let points = lines.iter().flat_map(|line| &line.points);
            let of = points.filter(|point: &&Point| point.x == streams);
            let shares: Option<Vec<f64>> = of.map(|point| Some(point.spread? / point.y)).collect();
            stats::mean(&shares?)
        };
        let (few, many) = (spread(32.0)? * 100.0, spread(126.0)? * 100.0);
        let words = format!(
            "over seeds throughput deviates by {} % with 126 streams and {} % with 32",
            digits(many),
            digits(few)
        );
        Some((many > few, words))
    };
    Finding::new(
        "At 120 streams throughput varies much, at 32 less.",
        "The mean deviation over seeds is larger with 126 streams than with 32.",
        [seen()],
    )
}
