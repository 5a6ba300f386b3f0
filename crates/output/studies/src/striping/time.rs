//! How long 1 GB takes over an OC-12 and 100 MB over an OC-3, against loss and how the end systems
//! are set up: F2 and F3.

use netpath::Loss;
use sim::{Scenario, Variant, Work};
use units::{Bytes, Span};

use super::{base, losses, tcp_of_2002};
use crate::figure::{Figure, Line, Origin, Panel, Scale, Values};
use crate::finding::{Check, Finding, digits, list};
use crate::measure::completion;
use crate::part::{Part, SetUpError};
use crate::sweep::{Curve, Seen, Sweep};

/// The labels of the document, in their order, and beside them what does not slow down for losses.
const LABELS: [&str; 9] = [
    "MSS 1460, DelAck, huge window",
    "MSS 1460, DelAck, window ok",
    "MSS 1460, window ok",
    "MSS 9000",
    "MSS 9000, FACK",
    "MSS 9000, FACK, 5 flows",
    "MSS 9000, FACK, 25 flows",
    "NETBLT",
    "UDT",
];
const FIRST: usize = 0;
const DELAYED: usize = 1;
const AT_ONCE: usize = 2;
/// The last step that is not striping.
const TUNED: usize = 4;
const STRIPED: usize = 6;
const RATE_BASED: [usize; 2] = [7, 8];

/// What is moved over which path.
struct Job {
    path: &'static str,
    bytes: u64,
    rate: f64,
    rtt: f64,
}

const LARGE: Job = Job {
    path: "oc12-100ms",
    bytes: 1_000_000_000,
    rate: 622e6,
    rtt: 0.1,
};
const SMALL: Job = Job {
    path: "oc3-80ms",
    bytes: 100_000_000,
    rate: 155e6,
    rtt: 0.08,
};

pub(crate) fn part() -> Result<Part, SetUpError> {
    Ok(Part {
        title: "Time to move 1 GB and 100 MB",
        assumed: "which figure belongs to which link, by exclusion: 1 GB to the OC-12, 100 MB to \
            the OC-3; queues; NewReno before FACK; a huge window limits nothing, one that is ok is \
            what the path holds, the same for each flow; data are lost and acknowledgements are \
            not. Each curve keeps what the ones before it changed; the last two send at the rate \
            of the link, in packets of 9000 bytes.",
        sweeps: vec![sweep(&LARGE)?, sweep(&SMALL)?],
        read,
    })
}

fn sweep(job: &Job) -> Result<Sweep, SetUpError> {
    let steps = steps(job)?;
    let curves = LABELS.iter().zip(&steps);
    let curves = curves.map(|(label, step)| curve(label, step, job.bytes));
    Ok(Sweep::new(curves.collect()))
}

/// Each but the last two keeps what those before it changed.
fn steps(job: &Job) -> Result<[Scenario; 9], SetUpError> {
    let mut first = base(job.path)?;
    first.tcp = tcp_of_2002(&first.path, true);
    first.variant = Variant::NewReno;
    let fitting = Scenario {
        window: Some(Bytes::new((job.rate * job.rtt / 8.0) as u64)),
        ..first.clone()
    };
    let mut at_once = fitting.clone();
    at_once.tcp.delayed_ack = None;
    let mut jumbo = at_once.clone();
    jumbo.path.hosts.mtu = 9040;
    jumbo.tcp = tcp_of_2002(&jumbo.path, false);
    let fack = Scenario {
        variant: Variant::Fack,
        ..jumbo.clone()
    };
    let striped = |streams| Scenario {
        streams,
        ..fack.clone()
    };
    let rated = |variant| Scenario {
        variant,
        window: None,
        ..fack.clone()
    };
    let (five, many) = (striped(5), striped(25));
    let (netblt, udt) = (rated(Variant::Netblt), rated(Variant::Udt));
    Ok([
        first, fitting, at_once, jumbo, fack, five, many, netblt, udt,
    ])
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
    let [large, small] = seen else {
        return Vec::new();
    };
    let figure = |ids, title: &str, name, job: &Job, seen: &Seen<'_>| {
        let lines = seen.lines(completion);
        let findings = vec![
            tuning(&lines),
            at_once(&lines),
            striping(&lines),
            rate_based(&lines),
        ];
        Figure::new(ids, title, vec![panel(name, job, lines)], findings)
    };
    let title = "1 GB over an OC-12 of 100 ms";
    vec![
        figure(&["F2"], title, "striping-time-1gb", &LARGE, large),
        figure(
            &["F3"],
            "100 MB over an OC-3 of 80 ms",
            "striping-time-100mb",
            &SMALL,
            small,
        ),
    ]
}

fn panel(name: &'static str, job: &Job, mut lines: Vec<Line>) -> Panel {
    let ideal = job.bytes as f64 * 8.0 / job.rate + job.rtt;
    let places = losses().map(|loss| (loss, ideal)).collect();
    lines.push(Line::new("ideal", Origin::Formula, places));
    let caption = "Transfer time against random loss; each curve but the last two keeps what the \
        ones before it changed; ideal: the size at the rate of the link, and one round trip.";
    let scales = (
        Scale::decades("share of packets lost"),
        Scale::decades("transfer time [s]"),
    );
    Panel::new(name, caption, scales, lines)
}

/// How many times as fast `later` is as `earlier`, at each loss.
fn gains(lines: &[Line], earlier: usize, later: usize) -> Option<Vec<(f64, f64)>> {
    let (earlier, later) = (lines.get(earlier)?, lines.get(later)?);
    let gain = |point: &crate::figure::Point| Some((point.x, point.y / later.at(point.x)?));
    earlier.points.iter().map(gain).collect()
}

fn tuning(lines: &[Line]) -> Finding {
    Finding {
        claim: "Tuning the end systems first gains most.",
        rule: "The tuned single flow (fitting window, no delayed ACKs, jumbo frames, FACK) gains \
            more over the untuned one than 25 flows gain over the tuned one: for every loss up to \
            1e-5; and for every loss above.",
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
    let check = |(loss, gain): (f64, f64)| {
        let words = format!(
            "at a loss of {loss:.1e} they are {} times as fast",
            digits(gain)
        );
        (gain >= 5.0, words)
    };
    let high = gains(lines, TUNED, STRIPED).unwrap_or_default().into_iter();
    let mut checks: Vec<_> = high
        .filter(|(loss, _)| *loss >= 0.99e-3)
        .map(|pair| Some(check(pair)))
        .collect();
    if checks.is_empty() {
        checks.push(None);
    }
    Finding::new(
        "Where the link loses much, striping is effective.",
        "25 flows are at least five times as fast as the tuned single flow: at each loss of 1e-3 \
            or more.",
        checks,
    )
}

fn at_once(lines: &[Line]) -> Finding {
    let seen = || {
        let gains = gains(lines, DELAYED, AT_ONCE)?;
        let held = gains
            .into_iter()
            .filter(|(loss, _)| (0.99e-5..1.01e-3).contains(loss));
        let held: Vec<f64> = held.map(|(_, gain)| gain).collect();
        let mean = stats::mean(&held)?;
        let words = format!(
            "at losses from 1e-5 to 1e-3 it is {} times as fast without them",
            list(held.iter().map(|gain| digits(*gain)))
        );
        Some((mean >= 1.1, words))
    };
    Finding::new(
        "Delayed acknowledgements should be off.",
        "From a loss of 1e-5 to 1e-3, where losses hold a flow back, it is at least 1.1 times as \
            fast without them in the mean.",
        [seen()],
    )
}

fn rate_based(lines: &[Line]) -> Finding {
    let check = |index: usize| {
        let gains = gains(lines, STRIPED, index)?;
        let best = gains.iter().map(|(_, gain)| *gain).reduce(f64::max)?;
        let low = gains
            .iter()
            .find(|(loss, _)| (0.99e-5..1.01e-5).contains(loss))?
            .1;
        let words = format!(
            "{} is {} times as fast as 25 flows at a loss of 1e-5, at most {} times",
            LABELS[index],
            digits(low),
            digits(best)
        );
        Some((best <= 1.1, words))
    };
    Finding::new(
        "That rate-based protocols are faster is unproven.",
        "At no loss are NETBLT and UDT more than 1.1 times as fast as 25 tuned flows of TCP.",
        RATE_BASED.map(check),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::finding::Verdict;

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
