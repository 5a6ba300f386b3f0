//! Streams against windows to three sites: F3 to F9.

use netpath::PathSpec;
use sim::Scenario;
use stats::{fit_line, interquartile_range, mean};

use crate::figure::{Figure, Line, Panel, Point, Scale, Values};
use crate::finding::{Finding, digits, list};
use crate::measure::{added, goodput, ping_loss, pings, variability};
use crate::part::{Part, SetUpError};
use crate::setup::{Link, granted, over_streams, pinged};
use crate::sweep::{Seen, Sweep};

/// The document's counts of set-up B; it visits each about 21 times.
pub(super) const COUNTS: [u32; 14] = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 15, 20];
const CYCLES: u64 = 7;

const DARESBURY: Link = Link {
    name: "daresbury-slac",
    mbit: 25.0,
    rtt_ms: 150.0,
    queue_kib: 128,
    loss: 1e-4,
    mtu: 1500,
};

pub(crate) fn part() -> Result<Part, SetUpError> {
    let cern = pinged(PathSpec::load("slac-cern")?, 20)?;
    let lyon = pinged(PathSpec::load("slac-in2p3")?, 20)?;
    let daresbury = pinged(DARESBURY.path()?, 20)?;
    Ok(Part {
        title: "Streams against windows to three sites",
        assumed: "the paths: that to CERN is fitted to T1, that to IN2P3 to the best of about 20 \
            Mbit/s, of Daresbury only the distance is known. No one else sends. Windows are \
            granted as Linux does, 1.25 times what is asked. A ping sees what waits in the queue \
            once a second.",
        sweeps: vec![
            sweep(&cern, &[8, 16, 55]),
            sweep(&lyon, &[8, 16, 55, 256, 1024]),
            sweep(&daresbury, &[55]),
        ],
        read,
    })
}

fn sweep(base: &Scenario, windows: &[u64]) -> Sweep {
    let curve = |kib: &u64| {
        let window = Some(granted(*kib));
        over_streams(format!("{kib} kB"), base, &COUNTS, window)
    };
    Sweep::new(windows.iter().map(curve).collect()).cycles(CYCLES)
}

/// The names of a site's three plots.
type Names = [&'static str; 3];

fn read(seen: &[Seen<'_>]) -> Vec<Figure> {
    let [cern, lyon, daresbury] = seen else {
        return Vec::new();
    };
    vec![
        Figure::new(
            &["F3", "F4", "F5"],
            "SLAC to CERN, windows of 8, 16 and 55 kB",
            panels(
                cern,
                ["windows-cern", "windows-cern-delay", "windows-cern-rv"],
            ),
            vec![linear(cern), delay_rises(cern), loss(cern), optimum(cern)],
        ),
        Figure::new(
            &["F6"],
            "SLAC to IN2P3",
            panels(
                lyon,
                ["windows-lyon", "windows-lyon-delay", "windows-lyon-rv"],
            ),
            vec![best(lyon), both_help(lyon)],
        ),
        Figure::new(
            &["F7"],
            "Daresbury to SLAC, windows of 55 kB",
            panels(
                daresbury,
                [
                    "windows-daresbury",
                    "windows-daresbury-delay",
                    "windows-daresbury-rv",
                ],
            ),
            vec![linear(daresbury), delay_rises(daresbury)],
        ),
        against(
            "F8",
            "windows-lyon-against",
            "SLAC to IN2P3, 256 kB",
            lyon,
            3,
        ),
        against(
            "F9",
            "windows-daresbury-against",
            "Daresbury to SLAC, 55 kB",
            daresbury,
            0,
        ),
    ]
}

fn panels(seen: &Seen<'_>, [rate, delay, rv]: Names) -> Vec<Panel> {
    let streams = Scale::even("streams");
    let added_range = seen.lines_of(|cell| {
        let all: Vec<f64> = cell
            .runs
            .iter()
            .flat_map(|ran| pings(cell.scenario, &ran.result))
            .collect();
        Some((mean(&cell.values(added)?)?, interquartile_range(&all)))
    });
    vec![
        Panel::new(
            rate,
            "Throughput of all streams, a curve for each window.",
            (streams, Scale::even("throughput [Mbit/s]")),
            seen.lines(goodput),
        ),
        Panel::new(
            delay,
            "Round trips beside the streams less the idle ones (dRTT), mean; whiskers: \
                interquartile range of the pings.",
            (streams, Scale::even("dRTT [ms]")),
            added_range,
        ),
        Panel::new(
            rv,
            "Rate variability of each visit, 1 - min(RTT)/avg(RTT), mean over the visits.",
            (streams, Scale::even("RV [%]")),
            seen.lines(variability),
        ),
    ]
}

fn linear(seen: &Seen<'_>) -> Finding {
    let checks = seen.lines(goodput).into_iter().map(|line| {
        let fit = fit_line(&line.up_to(10.0))?;
        let share = fit.r_squared?;
        let words = format!(
            "{}: each stream adds {} Mbit/s (R2 {share:.2})",
            line.label,
            digits(fit.slope)
        );
        Some((share >= 0.95, words))
    });
    Finding::new(
        "Throughput grows about linearly from 1 to about 10 streams.",
        "A line through the points from 1 to 10 streams has R2 of at least 0.95, each window by \
            itself.",
        checks,
    )
}

fn delay_rises(seen: &Seen<'_>) -> Finding {
    let means = |line: &Line| {
        let few: Vec<f64> = line.up_to(7.0).iter().map(|place| place.1).collect();
        let many = line.points.iter().filter(|point| point.x > 7.0);
        let many: Vec<f64> = many.map(|point| point.y).collect();
        Some((mean(&few)?, mean(&many)?))
    };
    let rises = |line: &Line, what: &str| {
        let (few, many) = means(line)?;
        let words = format!(
            "{what} with {}: {} up to 7 streams and {} above",
            line.label,
            digits(few),
            digits(many)
        );
        Some((many > few * 1.1, words))
    };
    let spreads =
        seen.lines_of(|cell| Some((stats::standard_deviation(&cell.values(goodput)?)?, None)));
    let (delay, spread) = (seen.lines(added), spreads);
    let last = |lines: &[Line], what: &str| rises(lines.last()?, what);
    Finding::new(
        "Above 7 streams dRTT and the spread of throughput grow.",
        "With the largest window the mean dRTT, and the mean deviation of throughput over the \
            visits, are at least a tenth larger above 7 streams than up to 7.",
        [
            last(&delay, "dRTT [ms]"),
            last(&spread, "deviation of throughput [Mbit/s]"),
        ],
    )
}

fn loss(seen: &Seen<'_>) -> Finding {
    let worst = || {
        let lines = seen.lines(ping_loss);
        let worst = lines.iter().filter_map(Line::highest).reduce(f64::max)?;
        let words = format!(
            "in the worst setting {} % of the pings find no room",
            digits(worst)
        );
        Some((worst <= 2.0, words))
    };
    Finding::new(
        "Loss of pings hardly depends on throughput.",
        "In no setting do more than 2 % of the pings find the queue full.",
        [worst()],
    )
}

/// Throughput of each point, and what it adds to the round trip, by rising number of streams.
fn pairs(seen: &Seen<'_>, index: usize) -> Option<Vec<(f64, f64, f64)>> {
    let rate = seen.lines(goodput).into_iter().nth(index)?;
    let delay = seen.lines(added).into_iter().nth(index)?;
    let pairs = rate.points.iter().zip(&delay.points);
    Some(
        pairs
            .map(|(rate, delay)| (rate.x, rate.y, delay.y))
            .collect(),
    )
}

fn optimum(seen: &Seen<'_>) -> Finding {
    let inner = || {
        let pairs = pairs(seen, 2)?;
        let best = pairs.iter().map(|pair| pair.1).reduce(f64::max)?;
        let good = pairs.iter().filter(|pair| pair.1 >= 0.9 * best);
        let least = good
            .clone()
            .min_by(|a, b| (a.2 / a.1).total_cmp(&(b.2 / b.1)))?;
        let most = good.max_by(|a, b| (a.2 / a.1).total_cmp(&(b.2 / b.1)))?;
        let words = format!(
            "with 55 kB {} streams carry {} Mbit/s at {} ms more, {} streams {} at {}",
            least.0,
            digits(least.1),
            digits(least.2),
            most.0,
            digits(most.1),
            digits(most.2)
        );
        Some((least.0 < most.0 && least.2 * 1.5 < most.2, words))
    };
    Finding::new(
        "There is an optimum, as of the least dRTT for the throughput.",
        "Of the settings of 55 kB that reach 90 % of the best, the one with the least dRTT per \
            Mbit/s has fewer streams than the one with the most, and two thirds of its dRTT at \
            most.",
        [inner()],
    )
}

fn best(seen: &Seen<'_>) -> Finding {
    let best = || {
        let lines = seen.lines(goodput);
        let best = lines.iter().filter_map(Line::highest).reduce(f64::max)?;
        Some(crate::finding::beside(
            "the best setting carries",
            "Mbit/s",
            best,
            20.0,
            2.0,
        ))
    };
    Finding::new(
        "At best about 20 Mbit/s.",
        "Within a tenth of it; the rate of the path was chosen for it.",
        [best()],
    )
}

fn both_help(seen: &Seen<'_>) -> Finding {
    let streams = || {
        let line = seen.lines(goodput).into_iter().nth(2)?;
        let (one, most) = (line.at(1.0)?, line.highest()?);
        let words = format!(
            "55 kB: {} Mbit/s with one stream, at best {}",
            digits(one),
            digits(most)
        );
        Some((most >= 1.5 * one, words))
    };
    let windows = || {
        let lines = seen.lines(goodput);
        let one: Option<Vec<f64>> = lines.iter().map(|line| line.at(1.0)).collect();
        let one = one?;
        let words = format!(
            "one stream of 8, 16, 55, 256 and 1024 kB: {} Mbit/s",
            list(one.iter().map(|rate| digits(*rate)))
        );
        Some((*one.last()? >= 1.5 * one.first()?, words))
    };
    Finding::new(
        "Streams and windows both help.",
        "The best number of streams carries at least half as much again as one; and one stream of \
            the largest window as much more than one of the smallest.",
        [streams(), windows()],
    )
}

/// What throughput costs: dRTT and RV over throughput instead of streams.
fn against(
    id: &'static str,
    name: &'static str,
    title: &str,
    seen: &Seen<'_>,
    index: usize,
) -> Figure {
    let rate = seen.lines(goodput).into_iter().nth(index);
    let over = |lines: Vec<Line>, label: &str| {
        let (rate, line) = (rate.as_ref()?, lines.into_iter().nth(index)?);
        let pairs = rate.points.iter().zip(&line.points);
        let point = |(rate, point): (&Point, &Point)| Point {
            x: rate.y,
            ..*point
        };
        let mut points: Vec<Point> = pairs.map(point).collect();
        points.sort_by(|a, b| a.x.total_cmp(&b.x));
        let label = label.to_owned();
        Some(Line {
            label,
            points,
            ..line
        })
    };
    let delay = over(seen.lines(added), "dRTT [ms]");
    let rv = over(seen.lines(variability), "RV [%]");
    let ids: &'static [&'static str] = match id {
        "F8" => &["F8"],
        _ => &["F9"],
    };
    let findings = vec![tracks(delay.as_ref(), rv.as_ref()), steep(delay.as_ref())];
    let panel = Panel::new(
        name,
        "dRTT and RV of each number of streams against what it carries.",
        (
            Scale::even("throughput [Mbit/s]"),
            Scale::even("dRTT [ms], RV [%]"),
        ),
        delay.into_iter().chain(rv).collect(),
    );
    Figure::new(ids, title, vec![panel], findings)
}

fn tracks(delay: Option<&Line>, rv: Option<&Line>) -> Finding {
    let seen = || {
        let pairs = delay?.points.iter().zip(&rv?.points);
        let places: Vec<(f64, f64)> = pairs.map(|(a, b)| (a.y, b.y)).collect();
        let share = fit_line(&places)?.r_squared?;
        Some((
            share >= 0.6,
            format!("a line through RV over dRTT has R2 {share:.2}"),
        ))
    };
    Finding::new(
        "dRTT and RV track each other.",
        "R2 of a line through them is at least 0.6, which the document prints for another path.",
        [seen()],
    )
}

fn steep(delay: Option<&Line>) -> Finding {
    let slopes = || {
        let points = || delay.into_iter().flat_map(|line| &line.points);
        let slope = |above: bool| {
            let part = points().filter(|point| (point.x > 13.0) == above);
            let mut places: Vec<(f64, f64)> = part.map(|point| (point.x, point.y)).collect();
            // The idle path.
            places.extend((!above).then_some((0.0, 0.0)));
            Some(fit_line(&places)?.slope)
        };
        let (below, above) = (slope(false)?, slope(true)?);
        let words = format!(
            "each Mbit/s adds {} ms up to 13 Mbit/s and {} ms above",
            digits(below),
            digits(above)
        );
        Some((above >= 2.0 * below && above > 0.0, words))
    };
    Finding::new(
        "Both rise with throughput, steeply past 13 Mbit/s.",
        "dRTT rises at least twice as fast above 13 Mbit/s as from the idle path to there. Which \
            of the two paths the 13 are of, the document does not say.",
        [slopes()],
    )
}
