//! How long 100 MB and 1 GB take over an OC-12, against loss and how the end systems are set up.

use netpath::Loss;
use sim::{Scenario, Variant, Work};
use units::{Bytes, Span};

use super::{SOURCE, base, losses, tcp_of_2002};
use crate::study::figure::{Figure, Line, Origin, Panel, Scale, Values};
use crate::study::finding::{Check, Finding, digits, list};
use crate::study::measure::completion;
use crate::study::sweep::{Curve, Seen, Sweep};
use crate::study::{Study, StudyError};

const LABELS: [&str; 6] = [
    "64 KiB window",
    "large window",
    "MSS 9000",
    "FACK",
    "5 flows",
    "25 flows",
];
const FIRST: usize = 0;
/// The last step that is not striping.
const TUNED: usize = 3;
const STRIPED: usize = 5;
const SIZES: [u64; 2] = [100_000_000, 1_000_000_000];
const RATE: f64 = 622e6;
const RTT: f64 = 0.1;

pub(in crate::study) fn study() -> Result<Study, StudyError> {
    let steps = steps()?;
    let sweep = |bytes: u64| Sweep {
        curves: LABELS
            .iter()
            .zip(&steps)
            .map(|(label, step)| curve(label, step, bytes))
            .collect(),
    };
    Ok(Study {
        name: "striping-time",
        title: "Time to move 100 MB and 1 GB",
        source: SOURCE,
        setup: "An OC-12 of 622 Mbit/s with a round trip of 100 ms and a queue of 4 MiB, half of \
            what is in flight; random loss of data packets only; delayed acknowledgements \
            throughout. Each curve keeps what the ones before it changed: NewReno with a window of \
            64 KiB and segments of 1460 bytes; a window that limits nothing; segments of 9000 \
            bytes; FACK; 5 flows; 25 flows.",
        sweeps: SIZES.into_iter().map(sweep).collect(),
        read,
    })
}

/// Each keeps what those before it changed.
fn steps() -> Result<[Scenario; 6], StudyError> {
    let mut first = base("oc12-100ms")?;
    first.tcp = tcp_of_2002(&first.path, true);
    first.variant = Variant::NewReno;
    first.window = Some(Bytes::from_kib(64));
    let scaled = Scenario {
        window: None,
        ..first.clone()
    };
    let mut jumbo = scaled.clone();
    jumbo.path.hosts.mtu = 9040;
    jumbo.tcp = tcp_of_2002(&jumbo.path, true);
    let fack = Scenario {
        variant: Variant::Fack,
        ..jumbo.clone()
    };
    let striped = |streams| Scenario {
        streams,
        ..fack.clone()
    };
    let (five, many) = (striped(5), striped(25));
    Ok([first, scaled, jumbo, fack, five, many])
}

fn curve(label: &str, step: &Scenario, bytes: u64) -> Curve {
    let cell = |loss| {
        let mut cell = step.clone();
        cell.path.forward.loss = Loss::Random { rate: loss };
        cell.work = Work::Striped(Bytes::new(bytes));
        cell.duration = Span::from_secs(86_400);
        (loss, cell)
    };
    Curve {
        label: label.to_owned(),
        cells: losses().map(cell).collect(),
    }
}

fn read(seen: &[Seen<'_>]) -> Vec<Figure> {
    let [small, large] = seen else {
        return Vec::new();
    };
    let (small, large) = (small.lines(completion), large.lines(completion));
    let findings = vec![tuning(&large), striping(&large)];
    vec![Figure {
        title: "Transfer time against loss".to_owned(),
        panels: vec![
            panel("striping-time-100mb", "100 MB", SIZES[0], small),
            panel("striping-time-1gb", "1 GB", SIZES[1], large),
        ],
        findings,
    }]
}

fn panel(name: &'static str, size: &str, bytes: u64, mut lines: Vec<Line>) -> Panel {
    let ideal = bytes as f64 * 8.0 / RATE + RTT;
    let places = losses().map(|loss| (loss, ideal)).collect();
    lines.push(Line::new("ideal", Origin::Formula, places));
    Panel {
        name,
        caption: format!(
            "Time to move {size} against random loss; each curve keeps what the ones before it \
            changed; ideal: the size at the rate of the link, and one round trip."
        ),
        x: Scale::decades("share of packets lost"),
        y: Scale::decades("transfer time [s]"),
        lines,
    }
}

/// How many times as fast `later` is as `earlier`, at each loss.
fn gains(lines: &[Line], earlier: usize, later: usize) -> Option<Vec<(f64, f64)>> {
    let (earlier, later) = (lines.get(earlier)?, lines.get(later)?);
    let gain = |point: &crate::study::figure::Point| Some((point.x, point.y / later.at(point.x)?));
    earlier.points.iter().map(gain).collect()
}

fn tuning(lines: &[Line]) -> Finding {
    Finding {
        claim: "Tuning the end systems first gains most.",
        rule: "For 1 GB the tuned single flow (large window, jumbo frames, FACK) gains more over \
            the untuned one than 25 flows gain over the tuned one: for every loss up to 1e-5; and \
            for every loss above.",
        checks: vec![
            Check::of(tuning_wins(
                lines,
                |loss| loss <= 1.01e-5,
                "up to a loss of 1e-5",
            )),
            Check::of(tuning_wins(lines, |loss| loss > 1.01e-5, "above")),
        ],
    }
}

fn tuning_wins(lines: &[Line], wanted: fn(f64) -> bool, place: &str) -> Option<(bool, String)> {
    let tuning = gains(lines, FIRST, TUNED)?;
    let striping = gains(lines, TUNED, STRIPED)?;
    let pairs: Vec<(f64, f64)> = tuning
        .iter()
        .zip(&striping)
        .filter(|((loss, _), _)| wanted(*loss))
        .map(|((_, tuning), (_, striping))| (*tuning, *striping))
        .collect();
    let range = |values: &mut dyn Iterator<Item = f64>| {
        let (low, high) = values.fold((f64::MAX, 0.0_f64), |(low, high), value| {
            (low.min(value), high.max(value))
        });
        format!("{} to {}", digits(low), digits(high))
    };
    let words = format!(
        "{place} tuning makes the transfer {} times as fast, 25 flows then {} times",
        range(&mut pairs.iter().map(|pair| pair.0)),
        range(&mut pairs.iter().map(|pair| pair.1))
    );
    let holds = !pairs.is_empty() && pairs.iter().all(|(tuning, striping)| tuning > striping);
    Some((holds, words))
}

fn striping(lines: &[Line]) -> Finding {
    Finding {
        claim: "Where the link loses much, striping is effective.",
        rule: "For 1 GB and a loss of 1e-3 or more, 25 flows are at least five times as fast as \
            the tuned single flow.",
        checks: vec![Check::of(striping_wins(lines))],
    }
}

fn striping_wins(lines: &[Line]) -> Option<(bool, String)> {
    let gains = gains(lines, TUNED, STRIPED)?;
    let high: Vec<(f64, f64)> = gains
        .into_iter()
        .filter(|(loss, _)| *loss >= 0.99e-3)
        .collect();
    let words = format!(
        "25 flows are {} times as fast as one at a loss of {}",
        list(high.iter().map(|(_, gain)| digits(*gain))),
        list(high.iter().map(|(loss, _)| format!("{loss:.1e}")))
    );
    Some((
        !high.is_empty() && high.iter().all(|(_, gain)| *gain >= 5.0),
        words,
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::study::Verdict;

    /// Curves with the time of each step at a loss.
    fn curves(time: impl Fn(usize, f64) -> f64) -> Vec<Line> {
        let line = |step: usize| {
            let places = losses().map(|loss| (loss, time(step, loss))).collect();
            Line::new(LABELS[step], Origin::Formula, places)
        };
        (0..LABELS.len()).map(line).collect()
    }

    #[test]
    fn each_range_of_losses_is_judged_by_itself() {
        let tuned = curves(|step, _| if step < TUNED { 1000.0 } else { 20.0 });
        assert_eq!(tuning(&tuned).verdict(), Verdict::Holds);
        assert_eq!(striping(&tuned).verdict(), Verdict::DoesNotHold);
        let lossy = curves(|step, loss| match step {
            STRIPED => 20.0,
            TUNED.. if loss < 2e-5 => 20.0,
            _ => 1000.0,
        });
        assert_eq!(tuning(&lossy).verdict(), Verdict::InPart);
        assert_eq!(striping(&lossy).verdict(), Verdict::Holds);
    }
}
