//! Goodput against how long a visit lasted.

use super::{Drawing, figure};
use crate::page::sweep::groups::{Group, Spread};
use crate::page::sweep::metric::GOODPUT;
use draw::chart::axis::Axis;
use draw::chart::palette::{BLUE, INK};
use draw::chart::{Axes, Chart, Layer, Shape};
use draw::chart::{Entry, Mark};

/// Durations less than this factor apart are the same: a visit never ends to the millisecond.
const APART: f64 = 1.2;

/// Visits of about one duration: goodput in percent of their setting's median.
struct Length {
    seconds: f64,
    shares: Vec<f64>,
}

pub(super) fn duration(group: &Group<'_>) -> Drawing {
    let lengths = lengths(group);
    if lengths.len() < 2 {
        return Drawing::LeftOut(
            "No figure of goodput against duration: all visits lasted about as long.".to_owned(),
        );
    }
    let caption = "Goodput against how long a visit lasted, in percent of the median of all visits \
        of its setting: median with quartiles. A level line says that duration has no effect.";
    figure(group, "duration", chart(&lengths), caption.to_owned())
}

fn lengths(group: &Group<'_>) -> Vec<Length> {
    let mut visits = shares(group);
    visits.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut lengths: Vec<Length> = Vec::new();
    for (seconds, share) in visits {
        match lengths
            .last_mut()
            .filter(|last| seconds <= last.seconds * APART)
        {
            Some(last) => last.shares.push(share),
            None => lengths.push(Length {
                seconds,
                shares: vec![share],
            }),
        }
    }
    lengths
}

/// Each visit's duration, and its goodput in percent of its setting's median.
fn shares(group: &Group<'_>) -> Vec<(f64, f64)> {
    let share = |(streams, window, figures): (u16, record::Window, &record::sweep::CellFigures)| {
        let median = group.spread(streams, window, &GOODPUT)?.middle;
        let seconds = figures.duration_seconds;
        let usable = median > 0.0 && (1e-3..1e7).contains(&seconds);
        usable.then(|| {
            (
                seconds,
                figures.goodput_bits_per_second as f64 / median * 100.0,
            )
        })
    };
    group.all().filter_map(share).collect()
}

fn chart(lengths: &[Length]) -> Chart {
    let spread = |(place, length): (usize, &Length)| {
        Some((place as f64, Spread::of(&length.shares, &GOODPUT)?))
    };
    let spreads: Vec<(f64, Spread)> = lengths.iter().enumerate().filter_map(spread).collect();
    let middles: Vec<(f64, f64)> = spreads
        .iter()
        .map(|(x, spread)| (*x, spread.middle))
        .collect();
    let whiskers: Vec<(f64, f64, f64)> = spreads
        .iter()
        .map(|(x, spread)| (*x, spread.low, spread.high))
        .collect();
    let ends = whiskers.iter().flat_map(|(_, low, high)| [*low, *high]);
    // Never so near that noise looks large.
    let (lowest, highest) = ends.fold((80.0, 120.0), |(low, high): (f64, f64), end| {
        (low.min(end), high.max(end))
    });
    let name = |length: &Length| {
        let count = length.shares.len();
        let plural = if count == 1 { "" } else { "s" };
        format!("{:.0} ({count} visit{plural})", length.seconds)
    };
    let x = Axis::names(lengths.iter().map(name).collect(), 6);
    let (low, high) = (x.low, x.high);
    let layers = [
        (INK, Shape::Dashes(vec![(low, 100.0), (high, 100.0)])),
        (BLUE, Shape::Whiskers(whiskers)),
        (BLUE, Shape::Line(middles.clone())),
        (BLUE, Shape::Dots(9, middles)),
    ];
    let entries = vec![
        Entry::new(Mark::Line(BLUE), "all settings"),
        Entry::new(Mark::Dashes(INK), "the setting's median"),
    ];
    let axes = Axes {
        height: 620,
        x,
        x_title: Some("duration [s]".to_owned()),
        y: Axis::whole(lowest, highest, 5),
        y_title: "goodput, relative [%]".to_owned(),
        layers: layers
            .map(|(colour, shape)| Layer::new(colour, shape))
            .into(),
    };
    Chart::new(entries, [axes])
}
