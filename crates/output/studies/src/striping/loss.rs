//! Steady-state throughput of one stream against loss, on three links.

use models::{Acks, Conditions, mathis_with_window, pftk};
use netpath::{Loss, QueueLimit, QueueSpec};
use sim::Scenario;
use units::{Bytes, Rate, Span};

use super::{base, losses, tcp_of_2002};
use crate::figure::{Figure, Line, Origin, Panel, Scale, Values};
use crate::finding::{Check, Finding, digits, list};
use crate::measure::percent_of_link;
use crate::part::{Part, SetUpError};
use crate::sweep::{Curve, Seen, Sweep};

/// T3, OC-3 and OC-12.
const LINKS: [(&str, u64); 3] = [
    ("T3, 43.2 Mbit/s", 43_200_000),
    ("OC-3, 155 Mbit/s", 155_000_000),
    ("OC-12, 622 Mbit/s", 622_000_000),
];
const RTT: Span = Span::from_millis(80);
const MSS: Bytes = Bytes::new(1460);
/// One round trip and the least margin that Linux adds.
const TIMEOUT: Span = Span::from_millis(280);
/// Payload of a packet of 1500 bytes, in percent.
const FULL: f64 = 1460.0 / 1500.0 * 100.0;

pub(crate) fn part() -> Result<Part, SetUpError> {
    let base = base("oc3-80ms")?;
    let curve = |(label, rate): (&str, u64)| Curve {
        label: label.to_owned(),
        cells: losses()
            .map(|loss| (loss, cell(&base, rate, loss)))
            .collect(),
    };
    let curves = LINKS.into_iter().map(curve).collect();
    Ok(Part {
        title: "One stream against loss",
        assumed: "SACK, every segment acknowledged, no limit on the window, a queue of one \
            bandwidth-delay product, and that only data are lost.",
        sweeps: vec![Sweep::new(curves)],
        read,
    })
}

/// The queue holds one bandwidth-delay product, so that a stream alone fills the link.
fn cell(base: &Scenario, rate: u64, loss: f64) -> Scenario {
    let mut cell = base.clone();
    cell.duration = Span::from_secs(400);
    cell.warmup = Span::from_secs(100);
    let rate = Rate::from_bits_per_second(rate);
    cell.path.forward.rate = rate;
    cell.path.reverse.rate = rate;
    cell.path.forward.loss = Loss::Random { rate: loss };
    let queue = QueueSpec::DropTail(QueueLimit::Bytes(rate.bytes_in(RTT)));
    cell.path.forward.queue = queue;
    cell.path.reverse.queue = queue;
    cell.tcp = tcp_of_2002(&cell.path, false);
    cell
}

/// What the author used, in percent of a link: Mathis et al. with a largest window, here what path
/// and queue hold.
fn of_the_author(rate: u64, loss: f64) -> Option<f64> {
    let conditions = Conditions {
        segment: MSS,
        rtt: RTT,
        loss,
    };
    let window = Rate::from_bits_per_second(rate).bytes_in(RTT).times(2);
    let predicted = mathis_with_window(&conditions, window)?;
    Some((predicted.as_f64() / rate as f64 * 100.0).min(FULL))
}

/// PFTK's rate in percent of a link, at most what its packets carry.
fn formula(rate: u64, loss: f64) -> Option<f64> {
    let conditions = Conditions {
        segment: MSS,
        rtt: RTT,
        loss,
    };
    let predicted = pftk(&conditions, None, TIMEOUT, Acks::Every)?;
    Some((predicted.as_f64() / rate as f64 * 100.0).min(FULL))
}

fn read(seen: &[Seen<'_>]) -> Vec<Figure> {
    let [seen] = seen else {
        return Vec::new();
    };
    let simulated = seen.lines(percent_of_link);
    let of = |label: &str, formula| -> Vec<Line> {
        let links = LINKS.iter().enumerate();
        links
            .map(|(index, link)| predicted(index, link, label, formula))
            .collect()
    };
    let (pftk, author) = (of("PFTK", formula), of("Mathis", of_the_author));
    let findings = findings(&simulated, &pftk, &author);
    vec![Figure {
        ids: &["F1"],
        title: "Steady-state throughput of one stream".to_owned(),
        tables: Vec::new(),
        panels: vec![Panel {
            name: "striping-loss",
            caption:
                "Throughput of one stream in percent of the link, against random loss; dashed: the \
                    formulas of Padhye, Firoiu, Towsley and Kurose (PFTK), and of Mathis et al. \
                    with a largest window, which the author used; at most what full packets carry."
                    .to_owned(),
            x: Scale::decades("share of packets lost"),
            y: Scale::even("throughput [% of the link]"),
            lines: simulated.into_iter().chain(pftk).chain(author).collect(),
        }],
        findings,
    }]
}

fn predicted(
    index: usize,
    (label, rate): &(&str, u64),
    of: &str,
    formula: fn(u64, f64) -> Option<f64>,
) -> Line {
    let name = label.split(',').next().unwrap_or_default();
    let places = losses().filter_map(|loss| Some((loss, formula(*rate, loss)?)));
    let label = format!("{name}, {of}");
    Line::new(label, Origin::FormulaOf(index), places.collect())
}

fn findings(simulated: &[Line], predicted: &[Line], author: &[Line]) -> Vec<Finding> {
    vec![
        Finding {
            claim: "The throughput of one stream follows from loss and round-trip time alone, once \
                the loss keeps it below the link.",
            rule: "Where the formula gives less than 70 % of the link, the simulated throughput is \
                within 25 % of it, up to a loss of 1e-3; the same beyond 1e-3.",
            checks: vec![
                Check::of(follows(
                    simulated,
                    predicted,
                    |loss| loss <= 1.01e-3,
                    "up to a loss of 1e-3",
                )),
                Check::of(follows(
                    simulated,
                    predicted,
                    |loss| loss > 1.01e-3,
                    "beyond a loss of 1e-3",
                )),
            ],
        },
        Finding::new(
            "The author's formula says what a stream carries.",
            "The same of the formula of Mathis et al. with a largest window, which knows no \
                timeouts.",
            [
                follows(
                    simulated,
                    author,
                    |loss| loss <= 1.01e-3,
                    "up to a loss of 1e-3",
                ),
                follows(
                    simulated,
                    author,
                    |loss| loss > 1.01e-3,
                    "beyond a loss of 1e-3",
                ),
            ],
        ),
        Finding {
            claim: "The faster the link, the less loss one stream bears.",
            rule: "The loss at which throughput has fallen to half the link is at least four times \
                smaller on each faster link.",
            checks: vec![Check::of(halves(simulated))],
        },
    ]
}

fn follows(
    simulated: &[Line],
    predicted: &[Line],
    wanted: fn(f64) -> bool,
    place: &str,
) -> Option<(bool, String)> {
    let mut ratios = Vec::new();
    for (line, formula) in simulated.iter().zip(predicted) {
        for point in line.points.iter().filter(|point| wanted(point.x)) {
            let expected = formula.at(point.x)?;
            if expected < 70.0 {
                ratios.push(point.y / expected);
            }
        }
    }
    let low = ratios.iter().copied().reduce(f64::min)?;
    let high = ratios.iter().copied().reduce(f64::max)?;
    let words = format!(
        "{place} throughput is {} to {} times what the formula says",
        digits(low),
        digits(high)
    );
    Some((low >= 0.75 && high <= 1.25, words))
}

/// Where throughput falls through half the link, between points by logarithms.
fn halves(simulated: &[Line]) -> Option<(bool, String)> {
    let half = |line: &Line| {
        let pairs = line.points.windows(2);
        let mut falls = pairs.filter(|pair| pair[0].y >= 50.0 && pair[1].y < 50.0);
        let pair = falls.next()?;
        let share = (pair[0].y - 50.0) / (pair[0].y - pair[1].y);
        Some((pair[0].x.ln() + share * (pair[1].x / pair[0].x).ln()).exp())
    };
    let halves: Option<Vec<f64>> = simulated.iter().map(half).collect();
    let halves = halves?;
    let words = format!(
        "throughput falls to half the link at a loss of {} on {}",
        list(halves.iter().map(|loss| format!("{loss:.1e}"))),
        list(
            LINKS
                .iter()
                .map(|(label, _)| label.split(',').next().unwrap_or_default().to_owned())
        )
    );
    let holds = halves.windows(2).all(|pair| pair[0] >= 4.0 * pair[1]);
    Some((holds, words))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::finding::Verdict;

    /// The formula's curves with all values and losses scaled.
    fn lines(factor: f64, loss_factor: f64) -> Vec<Line> {
        let line = |(label, rate): (&str, u64)| {
            let value = |loss| Some((loss, formula(rate, loss * loss_factor)? * factor));
            Line::new(label, Origin::Formula, losses().filter_map(value).collect())
        };
        LINKS.into_iter().map(line).collect()
    }

    #[test]
    fn the_formula_agrees_with_itself_and_not_with_half_of_it() {
        let verdict =
            |factor| findings(&lines(factor, 1.0), &lines(1.0, 1.0), &lines(1.0, 1.0))[0].verdict();
        assert_eq!(verdict(1.2), Verdict::Holds);
        assert_eq!(verdict(0.5), Verdict::DoesNotHold);
    }

    #[test]
    fn half_the_link_is_where_mathis_puts_it() {
        // (1460 x 8 / 0.08 / 311e6)^2 x 1.5 = 3.3e-7 on the OC-12, between points half a decade
        // apart.
        let (holds, words) = halves(&lines(1.0, 1.0)).unwrap();
        assert!(holds && words.contains("e-7 on T3"), "{words}");
    }

    #[test]
    fn links_that_all_bear_the_same_loss_are_seen() {
        let same = vec![lines(1.0, 1.0)[0].clone(); 3];
        assert!(!halves(&same).unwrap().0);
    }
}
