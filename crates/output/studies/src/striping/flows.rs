//! Half a gigabyte striped over 1 to 1000 flows.

use netpath::Loss;
use sim::{Scenario, Work};
use units::{Bytes, Span};

use super::base;
use crate::figure::{Figure, Line, Origin, Panel, Scale, Values};
use crate::finding::{Check, Finding, digits};
use crate::measure::{completion, completion_deviation, fastest_tenth, thousand_drops};
use crate::part::{Part, SetUpError};
use crate::sweep::{Curve, Seen, Sweep};

const FLOWS: [u32; 10] = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000];
const LOSSES: [(&str, Loss); 2] = [
    ("no loss", Loss::None),
    ("0.1 % loss", Loss::Random { rate: 1e-3 }),
];
const DATA: Bytes = Bytes::new(500_000_000);
/// 155 Mbit/s for 80 ms in packets of 9040 bytes.
const PIPE_PACKETS: f64 = 155e6 * 0.08 / 8.0 / 9040.0;
/// What the data takes at the rate of the link, and one round trip: 25.9 s.
const IDEAL_SECONDS: f64 = 500e6 * 8.0 / 155e6 + 0.08;

pub(crate) fn part() -> Result<Part, SetUpError> {
    let base = base("oc3-striping")?;
    Ok(Part {
        title: "Half a gigabyte over 1 to 1000 flows",
        assumed: "SACK, a queue of 171 packets, which is what the pipe holds, and flows that begin \
            within 10 ms. How the link is shared is asked of endless flows for 26 s, the time that \
            the transfer takes at best.",
        sweeps: vec![
            sweep(&base, Work::Striped(DATA), Span::from_secs(86_400)),
            sweep(&base, Work::Endless, Span::from_secs(26)),
        ],
        read,
    })
}

fn sweep(base: &Scenario, work: Work, duration: Span) -> Sweep {
    let cell = |streams: u32, loss: Loss| {
        let mut cell = Scenario {
            streams,
            work,
            duration,
            ..base.clone()
        };
        cell.path.forward.loss = loss;
        (f64::from(streams), cell)
    };
    let curve = |(label, loss): (&str, Loss)| Curve {
        label: label.to_owned(),
        cells: FLOWS.iter().map(|flows| cell(*flows, loss)).collect(),
    };
    Sweep::new(LOSSES.into_iter().map(curve).collect())
}

fn read(seen: &[Seen<'_>]) -> Vec<Figure> {
    let [striped, endless] = seen else {
        return Vec::new();
    };
    let times = striped.lines(completion);
    let drops = striped.lines(thousand_drops);
    let deviations = striped.lines(completion_deviation);
    let shares = endless.lines(fastest_tenth);
    let findings = vec![
        few_take_all(&shares),
        many_drops(&drops),
        fewer_than_the_pipe(&times, &drops),
        striping_helps(&times),
        axes(&drops, &deviations),
    ];
    vec![Figure {
        ids: &["F4", "F5", "F6", "F7"],
        title: "Striping over many flows".to_owned(),
        tables: Vec::new(),
        panels: vec![
            time(times),
            panel(
                "striping-flows-deviation",
                "How far apart the flows of a transfer end: standard deviation over the flows.",
                "deviation [s]",
                deviations,
            ),
            panel(
                "striping-flows-drops",
                "Packets dropped during a transfer, by the queue and by the link's loss.",
                "drops [thousand packets]",
                drops,
            ),
            share(shares),
        ],
        findings,
    }]
}

fn panel(name: &'static str, caption: &str, y: &'static str, lines: Vec<Line>) -> Panel {
    Panel {
        name,
        caption: caption.to_owned(),
        x: Scale::decades("flows"),
        y: Scale::even(y),
        lines,
    }
}

fn level(label: &str, value: f64) -> Line {
    let places = FLOWS.iter().map(|flows| (f64::from(*flows), value));
    Line::new(label, Origin::Formula, places.collect())
}

fn time(mut lines: Vec<Line>) -> Panel {
    lines.push(level("ideal", IDEAL_SECONDS));
    let caption = "Time until the last flow has ended; ideal: the data at the rate of the link.";
    panel("striping-flows-time", caption, "transfer time [s]", lines)
}

fn share(mut lines: Vec<Line>) -> Panel {
    let even = |flows: &u32| {
        let tenth = f64::from(flows.div_ceil(10)) / f64::from(*flows);
        (f64::from(*flows), tenth * 100.0)
    };
    let even: Vec<(f64, f64)> = FLOWS.iter().map(even).collect();
    lines.push(Line::new("equal shares", Origin::Formula, even));
    panel(
        "striping-flows-share",
        "What the fastest tenth of endless flows carry in 26 s, at least one flow.",
        "fastest tenth [% of the data]",
        lines,
    )
}

/// Where the axes of the printed figures end.
fn axes(drops: &[Line], deviations: &[Line]) -> Finding {
    let most = |lines: &[Line]| lines.iter().filter_map(Line::highest).reduce(f64::max);
    let check = |lines: &[Line], what: &str, end: f64| {
        let most = most(lines)?;
        let words = format!(
            "{what} up to {}, the axis ends at {}",
            digits(most),
            digits(end)
        );
        Some((most <= end, words))
    };
    Finding::new(
        "The figures end at 6000 dropped packets and a deviation of 12 s.",
        "No setting is beyond the end of its axis. Queue, initial window and how flows begin are \
            not printed, and another simulator (ns-2, the same settings) drops still more.",
        [
            check(drops, "thousands of packets dropped", 6.0),
            check(deviations, "seconds of deviation", 12.0),
        ],
    )
}

fn few_take_all(shares: &[Line]) -> Finding {
    let most = || {
        let (clean, lossy) = (shares.first()?.last()?, shares.get(1)?.last()?);
        let words = format!(
            "the fastest 100 of 1000 flows carry {} % of the data without loss and {} % with 0.1 % \
                loss",
            digits(clean),
            digits(lossy)
        );
        Some((clean.min(lossy), words))
    };
    let almost_all = most().map(|(share, _)| {
        let words = format!(
            "{} % against the 80 % that almost all would be",
            digits(share)
        );
        (share >= 80.0, words)
    });
    Finding {
        claim: "With many flows, few of them take almost all of the bandwidth.",
        rule: "The fastest tenth of 1000 endless flows carry at least 50 % of the data, with loss \
            and without; they carry at least 80 %.",
        checks: vec![
            Check::of(most().map(|(share, words)| (share >= 50.0, words))),
            Check::of(almost_all),
        ],
    }
}

fn many_drops(drops: &[Line]) -> Finding {
    let seen = || {
        let line = drops.first()?;
        let (ten, most) = (line.at(10.0)?, line.last()?);
        let words = format!(
            "without loss {} thousand packets are dropped with 1000 flows and {} thousand with 10",
            digits(most),
            digits(ten)
        );
        Some((most >= 5.0 * ten && most > 0.0, words))
    };
    Finding {
        claim: "Many packets are dropped with many flows.",
        rule: "Without loss of the link's own, 1000 flows have at least five times the drops of \
            10.",
        checks: vec![Check::of(seen())],
    }
}

fn fewer_than_the_pipe(times: &[Line], drops: &[Line]) -> Finding {
    let no_faster = || {
        let line = times.first()?;
        let (within, beyond) = best_within_and_beyond(line)?;
        let words = format!(
            "the pipe holds {PIPE_PACKETS:.0} packets: with fewer flows the best time is {} s, \
                with more {} s",
            digits(within),
            digits(beyond)
        );
        Some((within <= beyond, words))
    };
    let more_dropped = || {
        let line = drops.first()?;
        let (below, beyond) = (line.at(100.0)?, line.at(500.0)?);
        let words = format!(
            "{} thousand packets are dropped with 500 flows, {} thousand with 100",
            digits(beyond),
            digits(below)
        );
        Some((beyond >= 1.5 * below, words))
    };
    Finding {
        claim: "There should be fewer flows than the pipe holds packets.",
        rule: "Without loss, no number of flows beyond 171 is faster than the best below; 500 \
            flows have at least 1.5 times the drops of 100.",
        checks: vec![Check::of(no_faster()), Check::of(more_dropped())],
    }
}

fn best_within_and_beyond(line: &Line) -> Option<(f64, f64)> {
    let best = |within: bool| {
        let points = line.points.iter();
        let ours = points.filter(|point| (point.x < PIPE_PACKETS) == within);
        ours.map(|point| point.y).reduce(f64::min)
    };
    Some((best(true)?, best(false)?))
}

fn striping_helps(times: &[Line]) -> Finding {
    let seen = || {
        let line = times.get(1)?;
        let (one, best) = (line.at(1.0)?, line.lowest()?);
        let words = format!(
            "with 0.1 % loss one flow takes {} s and the best number of flows {} s, the ideal is \
                {} s",
            digits(one),
            digits(best),
            digits(IDEAL_SECONDS)
        );
        Some((one >= 2.0 * best, words))
    };
    Finding {
        claim: "Where the link loses much, striping is effective.",
        rule: "With 0.1 % loss the best number of flows is at least twice as fast as one flow.",
        checks: vec![Check::of(seen())],
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::finding::Verdict;

    fn curve(value: impl Fn(f64) -> f64) -> Line {
        let places = FLOWS
            .iter()
            .map(|flows| (f64::from(*flows), value(f64::from(*flows))));
        Line::new("made up", Origin::Formula, places.collect())
    }

    #[test]
    fn half_of_the_data_is_not_almost_all() {
        let verdict = |share: f64| few_take_all(&[curve(|_| share), curve(|_| share)]).verdict();
        assert_eq!(verdict(10.0), Verdict::DoesNotHold);
        assert_eq!(verdict(55.0), Verdict::InPart);
        assert_eq!(verdict(90.0), Verdict::Holds);
    }

    #[test]
    fn drops_that_do_not_grow_hold_nothing() {
        let verdict = |line: Line| many_drops(&[line]).verdict();
        assert_eq!(verdict(curve(|flows| flows)), Verdict::Holds);
        assert_eq!(verdict(curve(|_| 0.0)), Verdict::DoesNotHold);
    }

    #[test]
    fn the_pipe_bounds_the_flows_only_where_more_are_no_faster() {
        let more_drops = [curve(|flows| flows)];
        let verdict = |times: Line, drops: &[Line]| fewer_than_the_pipe(&[times], drops).verdict();
        assert_eq!(
            verdict(curve(|flows| 26.0 + flows / 10.0), &more_drops),
            Verdict::Holds
        );
        assert_eq!(
            verdict(curve(|flows| 1000.0 / flows), &more_drops),
            Verdict::InPart
        );
        assert_eq!(
            verdict(curve(|flows| 1000.0 / flows), &[curve(|_| 1.0)]),
            Verdict::DoesNotHold
        );
    }

    #[test]
    fn striping_helps_where_it_halves_the_time() {
        let verdict = |line: Line| striping_helps(&[curve(|_| 26.0), line]).verdict();
        assert_eq!(verdict(curve(|flows| 26.0 + 100.0 / flows)), Verdict::Holds);
        assert_eq!(verdict(curve(|_| 26.0)), Verdict::DoesNotHold);
    }
}
