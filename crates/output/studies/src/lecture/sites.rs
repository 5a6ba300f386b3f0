//! Streams and windows to seven sites: F3, F4, F14.

use netpath::PathSpec;
use sim::Scenario;
use stats::fit_line;

use crate::figure::{Figure, Line, Panel, Scale, Values};
use crate::finding::{Finding, digits, list};
use crate::measure::{added, goodput, ping_loss};
use crate::part::{Part, SetUpError};
use crate::setup::{Link, granted, over_streams, pinged};
use crate::sweep::{Seen, Sweep};

const COUNTS: [u32; 11] = [1, 2, 3, 4, 5, 6, 8, 10, 12, 15, 20];
const KIB: [u64; 6] = [8, 16, 32, 64, 100, 1024];

/// Distances by the map; of the rest only the names are printed.
const LINKS: [Link; 4] = [
    Link {
        name: "slac-anl",
        mbit: 155.0,
        rtt_ms: 55.0,
        queue_kib: 256,
        loss: 1e-4,
        mtu: 1500,
    },
    Link {
        name: "slac-colorado",
        mbit: 100.0,
        rtt_ms: 30.0,
        queue_kib: 256,
        loss: 1e-4,
        mtu: 1500,
    },
    Link {
        name: "slac-infn",
        mbit: 34.0,
        rtt_ms: 180.0,
        queue_kib: 128,
        loss: 1e-4,
        mtu: 1500,
    },
    Link {
        name: "slac-daresbury",
        mbit: 25.0,
        rtt_ms: 150.0,
        queue_kib: 128,
        loss: 1e-4,
        mtu: 1500,
    },
];
const NAMES: [&str; 7] = [
    "lecture-cern",
    "lecture-caltech",
    "lecture-in2p3",
    "lecture-anl",
    "lecture-colorado",
    "lecture-infn",
    "lecture-daresbury",
];

pub(crate) fn part() -> Result<Part, SetUpError> {
    let named = ["slac-cern", "slac-caltech", "slac-in2p3"].map(PathSpec::load);
    let named = named.into_iter().map(|path| Ok(path?));
    let paths: Result<Vec<PathSpec>, SetUpError> =
        named.chain(LINKS.iter().map(Link::path)).collect();
    let bases: Result<Vec<Scenario>, SetUpError> =
        paths?.into_iter().map(|path| pinged(path, 10)).collect();
    let sweep = |base: &Scenario| {
        let curve =
            |kib: &u64| over_streams(format!("{kib} kB"), base, &COUNTS, Some(granted(*kib)));
        Sweep::new(KIB.iter().map(curve).collect())
    };
    Ok(Part {
        title: "Streams and windows to seven sites",
        assumed: "paths: to CERN, Caltech and IN2P3 those of the first document, of the other four \
            the round trip by distance and the rate by what such sites had; no one else sends. Ten \
            seconds with pings, as in the lecture. Windows are granted as Linux does.",
        sweeps: bases?.iter().map(sweep).collect(),
        read,
    })
}

fn read(seen: &[Seen<'_>]) -> Vec<Figure> {
    let sites: Vec<(&str, Vec<Line>)> = seen
        .iter()
        .map(|seen| (site(seen), seen.lines(goodput)))
        .collect();
    let panel = |(name, (site, lines)): (&'static str, &(&str, Vec<Line>))| {
        Panel::new(
            name,
            format!("Throughput against streams, {site}, a curve for each window."),
            (Scale::even("streams"), Scale::even("throughput [Mbit/s]")),
            lines.clone(),
        )
    };
    let panels: Vec<Panel> = NAMES.into_iter().zip(&sites).map(panel).collect();
    let (cern, others) = panels.split_at(panels.len().min(1));
    vec![
        Figure::new(
            &["F3"],
            "SLAC to CERN, windows from 8 kB to 1 MB",
            cern.to_vec(),
            vec![linear(&sites[..sites.len().min(1)]), large_windows(&sites)],
        ),
        Figure::new(
            &["F4"],
            "Seven sites",
            others.to_vec(),
            vec![
                linear(&sites),
                gains(&sites),
                few_are_close(&sites),
                one_is_not_enough(&sites),
            ],
        ),
        pings(seen),
    ]
}

fn site<'a>(seen: &Seen<'a>) -> &'a str {
    let first = seen
        .sweep
        .curves
        .first()
        .and_then(|curve| curve.cells.first());
    first.map_or("", |(_, scenario)| scenario.path.name.as_str())
}

/// A check for each site; of none one that sees nothing.
fn each(
    sites: &[(&str, Vec<Line>)],
    check: impl Fn(&str, &[Line]) -> Option<(bool, String)>,
) -> Vec<Option<(bool, String)>> {
    let mut checks: Vec<_> = sites
        .iter()
        .map(|(site, lines)| check(site, lines))
        .collect();
    if checks.is_empty() {
        checks.push(None);
    }
    checks
}

fn linear(sites: &[(&str, Vec<Line>)]) -> Finding {
    let check = |site: &str, lines: &[Line]| {
        let line = lines.first()?;
        let fit = fit_line(&line.up_to(10.0))?;
        let share = fit.r_squared?;
        Some((share >= 0.95, format!("{site}: R2 {share:.2}")))
    };
    Finding::new(
        "Small windows grow about linearly with the streams.",
        "Of 8 kB, a line through 1 to 10 streams has R2 of at least 0.95.",
        each(sites, check),
    )
}

fn large_windows(sites: &[(&str, Vec<Line>)]) -> Finding {
    let seen = || {
        let (_, lines) = sites.first()?;
        let best: Option<Vec<f64>> = lines.iter().map(Line::highest).collect();
        let (best, streams) = (best?, lines.last()?.peak(0.02)?);
        let most = best.iter().copied().reduce(f64::max)?;
        let words = format!(
            "the best of windows of {} kB are {} Mbit/s; that of 1024 kB is at {streams} streams",
            list(KIB.iter().map(u64::to_string)),
            list(best.iter().map(|rate| digits(*rate)))
        );
        Some((*best.last()? >= 0.9 * most && streams > 1.0, words))
    };
    Finding::new(
        "Most comes with large windows and several streams.",
        "To CERN the best of 1 MB is within 10 % of the best of all, and has more than one stream.",
        [seen()],
    )
}

fn best(lines: &[Line]) -> Option<f64> {
    lines.iter().filter_map(Line::highest).reduce(f64::max)
}

fn gains(sites: &[(&str, Vec<Line>)]) -> Finding {
    let check = |site: &str, lines: &[Line]| {
        let gain = best(lines)? / lines.first()?.at(1.0)?;
        let words = format!("{site}: {} times", digits(gain));
        Some(((5.0..=60.0).contains(&gain), words))
    };
    Finding::new(
        "The best setting carries 5 to 60 times as much as one stream of the default window.",
        "So it does of one stream of 8 kB, which is probably marked as the default.",
        each(sites, check),
    )
}

fn few_are_close(sites: &[(&str, Vec<Line>)]) -> Finding {
    let check = |site: &str, lines: &[Line]| {
        let small = lines.iter().zip(KIB).filter(|(_, kib)| *kib <= 64);
        let ten = small
            .filter_map(|(line, _)| line.at(10.0))
            .reduce(f64::max)?;
        let share = ten / best(lines)? * 100.0;
        Some((share >= 70.0, format!("{site}: {} %", digits(share))))
    };
    Finding::new(
        "5 to 10 streams of small windows come close to the best.",
        "Ten streams of the best window up to 64 kB reach 70 % of the best of all. The document \
            says small for windows of at most 32 of a unit that it prints as MByte: kByte is \
            likely, and 64 kB are the most without window scaling.",
        each(sites, check),
    )
}

fn one_is_not_enough(sites: &[(&str, Vec<Line>)]) -> Finding {
    let check = |site: &str, lines: &[Line]| {
        let one = lines
            .iter()
            .filter_map(|line| line.at(1.0))
            .reduce(f64::max)?;
        let share = one / best(lines)? * 100.0;
        Some((share < 90.0, format!("{site}: {} %", digits(share))))
    };
    Finding::new(
        "More than one stream is needed.",
        "One stream of the best window stays below 90 % of the best.",
        each(sites, check),
    )
}

/// F14: pings beside the best setting, and on the idle path.
fn pings(seen: &[Seen<'_>]) -> Figure {
    let row = |seen: &Seen<'_>| {
        let lines = [
            seen.lines(goodput),
            seen.lines(added),
            seen.lines(ping_loss),
        ];
        let [rates, delays, losses] = &lines;
        let best = (0..rates.len()).max_by(|a, b| {
            let at = |index: &usize| rates[*index].highest().unwrap_or(0.0);
            at(a).total_cmp(&at(b))
        })?;
        let streams = rates[best].peak(0.0)?;
        let loss = losses[best].at(streams)?;
        let idle = idle(seen)?;
        let words = vec![
            site(seen).to_owned(),
            format!("{} kB x {streams}", KIB[best]),
            digits(rates[best].at(streams)?),
            digits(loss),
            "0".to_owned(),
            digits(idle + delays[best].at(streams)?),
            digits(idle),
        ];
        Some((loss, words))
    };
    let rows: Vec<(f64, Vec<String>)> = seen.iter().filter_map(row).collect();
    let low = || {
        let worst = rows.iter().map(|row| row.0).reduce(f64::max)?;
        let words = format!(
            "at most {} % of the pings beside the best setting",
            digits(worst)
        );
        Some((worst <= 2.0, words))
    };
    let finding = Finding::new(
        "Loss is not sensitive to throughput.",
        "Beside the best setting of each site at most 2 % of the pings find no room.",
        [low()],
    );
    let columns = [
        "path",
        "best setting",
        "Mbit/s",
        "ping loss, loaded [%]",
        "unloaded",
        "RTT, loaded [ms]",
        "unloaded",
    ];
    let figure = Figure::new(
        &["F14"],
        "Pings with and without iperf",
        Vec::new(),
        vec![finding],
    );
    figure.with(columns, rows.into_iter().map(|row| row.1).collect())
}

fn idle(seen: &Seen<'_>) -> Option<f64> {
    let (_, scenario) = seen.sweep.curves.first()?.cells.first()?;
    Some(scenario.path.base_rtt().as_secs_f64() * 1e3)
}
