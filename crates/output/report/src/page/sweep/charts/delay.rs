//! Round trips beside the streams against those of the idle path.

use draw::chart::palette::RGBColor;

use super::{CLOUD_MAX, Drawing, figure};
use crate::page::sweep::groups::{Column, Group, Pair};
use crate::page::sweep::metric::{IDLE, LOADED, Metric};
use draw::chart::axis::Axis;
use draw::chart::palette::window_colour;
use draw::chart::palette::{BLUE, INK};
use draw::chart::{Axes, Chart, Layer, Shape};
use draw::chart::{Entry, Mark};
use draw::format as number;

/// Visits that share a colour, in the units of the axes.
pub(super) struct Cloud {
    pub name: String,
    pub colour: RGBColor,
    pub places: Vec<(f64, f64)>,
}

/// With more windows than this all have one colour.
const COLOURS_MAX: usize = 6;

pub(super) fn delay(group: &Group<'_>) -> Drawing {
    let clouds = clouds(group, (&IDLE, &LOADED), (1e-3, 1e-3));
    let places: Vec<(f64, f64)> = clouds
        .iter()
        .flat_map(|c| c.places.iter().copied())
        .collect();
    if places.is_empty() {
        return Drawing::LeftOut(
            "No visit tells of round trips both beside its streams and before them.".to_owned(),
        );
    }
    if let Some(idle) = constant(places.iter().map(|(idle, _)| *idle)) {
        return Drawing::LeftOut(format!(
            "Every visit found an idle path of {} ms, so there is nothing to draw round trips \
                beside the streams against; what the streams added stands above as dRTT.",
            number::milliseconds(idle / 1e3)
        ));
    }
    let chart = chart(clouds, &places);
    let added: Vec<f64> = places.iter().map(|(idle, loaded)| loaded - idle).collect();
    let median = stats::median(&added).map(|added| {
        let added = number::added_milliseconds(added / 1e3);
        format!(" The median of what the streams add is {added} ms.")
    });
    let caption = format!(
        "Mean round trip beside the streams against that of the idle path just before, {}. How far \
            a dot lies above the dashed line is what the streams added.{}",
        each_dot(group),
        median.unwrap_or_default()
    );
    figure(group, "round-trips", chart, caption)
}

/// The value that all have but for a thousandth of it, as on a simulated path without other
/// traffic.
fn constant(values: impl Iterator<Item = f64>) -> Option<f64> {
    let values: Vec<f64> = values.collect();
    let low = values.iter().copied().fold(f64::INFINITY, f64::min);
    let high = values.iter().copied().fold(0.0, f64::max);
    (high - low <= low * 1e-3).then_some(low)
}

/// What a dot is, for a caption.
pub(super) fn each_dot(group: &Group<'_>) -> &'static str {
    match group.count() > CLOUD_MAX {
        true => "a dot for each setting's medians",
        false => "a dot for each visit",
    }
}

/// Two figures of each visit, a cloud for each column.
///
/// * `factors`: what one of the axes' units is in base units.
pub(super) fn clouds(
    group: &Group<'_>,
    metrics: (&Metric, &Metric),
    factors: (f64, f64),
) -> Vec<Cloud> {
    let all = group.pairs(metrics, CLOUD_MAX);
    let scaled = |(_, (x, y)): &Pair| (x / factors.0, y / factors.1);
    if group.columns.len() > COLOURS_MAX {
        let places = all.iter().map(scaled).collect();
        let name = "all visits".to_owned();
        return vec![Cloud {
            name,
            colour: BLUE,
            places,
        }];
    }
    let cloud = |(index, column): (usize, &Column)| {
        let ours = all
            .iter()
            .filter(|((streams, window), _)| column.has(*streams, *window));
        Cloud {
            name: column.name.clone(),
            colour: window_colour(index),
            places: ours.map(scaled).collect(),
        }
    };
    group.columns.iter().enumerate().map(cloud).collect()
}

fn chart(clouds: Vec<Cloud>, places: &[(f64, f64)]) -> Chart {
    let x = axis(places.iter().map(|(x, _)| *x), 6);
    let y = axis(places.iter().map(|(_, y)| *y), 6);
    let (from, to) = (x.low.max(y.low), x.high.min(y.high));
    let mut entries: Vec<Entry> = clouds
        .iter()
        .map(|cloud| Entry::new(Mark::Dot(cloud.colour), cloud.name.clone()))
        .collect();
    entries.push(Entry::new(Mark::Dashes(INK), "nothing added"));
    let diagonal = (from < to).then(|| Layer {
        colour: INK,
        shape: Shape::Dashes(vec![(from, from), (to, to)]),
    });
    let dots = clouds.into_iter().map(|cloud| Layer {
        colour: cloud.colour,
        shape: Shape::PaleDots(7, cloud.places),
    });
    let axes = Axes {
        height: 760,
        x,
        x_title: Some("unloaded RTT, mean [ms]".to_owned()),
        y,
        y_title: "loaded RTT, mean [ms]".to_owned(),
        layers: diagonal.into_iter().chain(dots).collect(),
    };
    Chart::new(entries, [axes])
}

/// Around the values, at least a hundredth of them wide.
fn axis(values: impl Iterator<Item = f64>, about: usize) -> Axis {
    let (low, high) = values.fold((f64::INFINITY, 0.0), |(low, high): (f64, f64), value| {
        (low.min(value), high.max(value))
    });
    let room = ((high - low) * 0.05).max(high * 0.001).max(0.005);
    Axis::exact((low - room).max(0.0), high + room, about)
}
