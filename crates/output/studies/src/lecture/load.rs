//! Throughput and loss against what is asked for: F11.

use netpath::{Loss, PathSpec};
use stats::mean;
use units::Bytes;

use crate::figure::{Figure, Line, Origin, Panel, Scale};
use crate::finding::{Finding, digits};
use crate::measure::{drop_percent, percent_of_link};
use crate::part::{Part, SetUpError};
use crate::setup::{endless, over_streams};
use crate::sweep::{Cell, Seen, Sweep};

const COUNTS: [u32; 16] = [1, 2, 4, 6, 8, 10, 11, 12, 13, 14, 15, 16, 20, 24, 32, 40];

pub(crate) fn part() -> Result<Part, SetUpError> {
    let mut path = PathSpec::load("slac-cern")?;
    path.forward.loss = Loss::None;
    let base = endless(path, 60, 20)?;
    let window = Bytes::from_kib(64);
    let mut curve = over_streams("throughput", &base, &COUNTS, Some(window));
    let link = base.path.forward.rate.as_f64();
    let each = window.as_f64() * 8.0 / base.path.base_rtt().as_secs_f64();
    for (x, _) in &mut curve.cells {
        *x *= each / link * 100.0;
    }
    Ok(Part {
        title: "Throughput and loss against load",
        assumed: "the path to CERN without random loss; the load is what the windows of all \
            streams ask for in a round trip, in percent of the link, and streams of 64 kB turn it.",
        sweeps: vec![Sweep::new(vec![curve])],
        read,
    })
}

/// What each setting asks for, carries and loses, in percent.
fn places(seen: &[Seen<'_>]) -> Vec<(f64, f64, f64)> {
    let cells = seen.iter().flat_map(Seen::cells).flatten();
    let place = |cell: Cell<'_>| {
        let carried = mean(&cell.values(percent_of_link)?)?;
        Some((cell.x, carried, mean(&cell.values(drop_percent)?)?))
    };
    cells.filter_map(place).collect()
}

fn read(seen: &[Seen<'_>]) -> Vec<Figure> {
    let places = places(seen);
    let findings = findings(&places);
    let lines = |value: fn(&(f64, f64, f64)) -> f64, label: &str| {
        let places = places.iter().map(|place| (place.0, value(place)));
        vec![Line::new(label, Origin::Runs, places.collect())]
    };
    let load = Scale::even("load asked for [% of the link]");
    let panels = vec![
        Panel::new(
            "lecture-load-throughput",
            "What is carried against what the windows ask for.",
            (load, Scale::even("throughput [% of the link]")),
            lines(|place| place.1, "throughput"),
        ),
        Panel::new(
            "lecture-load-loss",
            "Packets dropped against what the windows ask for.",
            (load, Scale::even("dropped packets [%]")),
            lines(|place| place.2, "dropped"),
        ),
    ];
    vec![Figure::new(
        &["F11"],
        "Throughput and loss against load",
        panels,
        findings,
    )]
}

fn findings(places: &[(f64, f64, f64)]) -> Vec<Finding> {
    let clean = || {
        let quiet = places.iter().filter(|place| place.2 <= 0.01);
        let most = quiet.map(|place| place.1).reduce(f64::max)?;
        let words = format!(
            "{} % of the link come without a loss of 0.01 %",
            digits(most)
        );
        Some((most >= 70.0, words))
    };
    let reached = || {
        let most = places.iter().map(|place| place.1).reduce(f64::max)?;
        Some((
            most >= 80.0,
            format!("at most {} % of the link are carried", digits(most)),
        ))
    };
    let beyond = || {
        let most = places.iter().map(|place| place.1).reduce(f64::max)?;
        let first = places.iter().find(|place| place.1 >= 0.98 * most)?;
        let last = places.last()?;
        let words = format!(
            "{} % of load carry {} % and lose {} %, {} % carry {} and lose {}",
            digits(first.0),
            digits(first.1),
            digits(first.2),
            digits(last.0),
            digits(last.1),
            digits(last.2)
        );
        Some((last.1 <= first.1 * 1.05 && last.2 > first.2, words))
    };
    vec![
        Finding::new(
            "About 70 % of an idle link can be had without notable loss.",
            "At least 70 % of the link are carried in a setting that loses at most 0.01 %.",
            [clean()],
        ),
        Finding::new(
            "80 to 90 % can be had.",
            "The best setting carries at least 80 % of the link.",
            [reached()],
        ),
        Finding::new(
            "Driving harder adds loss and no throughput.",
            "From the first setting within 2 % of the best to the last, throughput grows by at \
                most 5 % and loss grows.",
            [beyond()],
        ),
    ]
}
