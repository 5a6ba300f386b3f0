//! What goodput costs: the delay that streams add, and how much round trips vary.

use draw::chart::axis::Axis;
use draw::chart::palette::INK;
use draw::chart::{Axes, Chart, Entry, Layer, Mark, Shape};
use draw::format::{RateUnit, milliseconds, rate};

use super::curves::Curves;
use super::delay::{Cloud, clouds, each_dot};
use super::{Drawing, figure};
use crate::page::sweep::groups::Group;
use crate::page::sweep::metric::{
    ADDED_DELAY, GOODPUT, GOODPUT_SCATTER, LOADED_MEDIAN, LOADED_RANGE, Metric, VARIABILITY_LOADED,
};

/// Bins of the line of medians, with as many visits each.
const BINS: usize = 10;
/// Fewer visits say nothing of a bin.
const BIN_LEAST: usize = 4;
/// Fewer bins are no line.
const BINS_LEAST: usize = 4;

/// Added delay and rate variability against goodput: the steep rise is the knee of the path.
pub(super) fn against_goodput(group: &Group<'_>) -> Drawing {
    let top = group
        .all()
        .filter_map(|(_, _, figures)| (GOODPUT.of)(figures));
    let top = top.fold(0.0, f64::max);
    let unit = RateUnit::fitting(top);
    let x = Axis::whole(0.0, top / unit.factor, 8);
    let metrics = [&ADDED_DELAY, &VARIABILITY_LOADED];
    let drawn = metrics.map(|metric| {
        let (_, factor) = metric.scale.unit(group.top(metric));
        clouds(group, (&GOODPUT, metric), (unit.factor, factor))
    });
    if drawn.iter().flatten().all(|cloud| cloud.places.is_empty()) {
        return Drawing::LeftOut(
            "No figure of delay against goodput: no visit tells of round trips beside its \
                streams."
                .to_owned(),
        );
    }
    let mut entries: Vec<Entry> = drawn[0]
        .iter()
        .map(|cloud| Entry::new(Mark::Dot(cloud.colour), cloud.name.clone()))
        .collect();
    let line = medians(&places(&drawn[0]));
    if !line.is_empty() {
        entries.push(Entry::new(Mark::Line(INK), "median"));
    }
    let knee = rise(&line).map(|(goodput, delay)| {
        format!(
            " Half of the highest median ({} ms) is passed at {}.",
            milliseconds(delay / 1e3),
            rate((goodput * unit.factor) as u64)
        )
    });
    let panels = drawn.into_iter().zip(metrics);
    let panels = panels.enumerate().map(|(place, (clouds, metric))| {
        let title = (place == 1).then(|| format!("goodput [{}]", unit.name));
        panel(clouds, metric, group, x.clone(), title)
    });
    let caption = format!(
        "What the streams add to the round trip, and how much those vary beside them, against \
            goodput, {}. The line has the medians of {BINS} groups of visits by goodput.{}",
        each_dot(group),
        knee.unwrap_or_default(),
    );
    figure(group, "delay-goodput", Chart::new(entries, panels), caption)
}

fn places(clouds: &[Cloud]) -> Vec<(f64, f64)> {
    let all = clouds.iter().flat_map(|cloud| &cloud.places);
    all.copied().collect()
}

fn panel(
    clouds: Vec<Cloud>,
    metric: &Metric,
    group: &Group<'_>,
    x: Axis,
    x_title: Option<String>,
) -> Axes {
    let all = places(&clouds);
    let ends = all
        .iter()
        .fold((0.0, 0.0), |(low, high): (f64, f64), (_, y)| {
            (low.min(*y), high.max(*y))
        });
    let line = medians(&all);
    let dots = clouds
        .into_iter()
        .map(|cloud| Layer::new(cloud.colour, Shape::PaleDots(7, cloud.places)));
    let mut layers: Vec<Layer> = dots.collect();
    layers.push(Layer::new(INK, Shape::Line(line)));
    let (unit, _) = metric.scale.unit(group.top(metric));
    Axes {
        height: 440 + if x_title.is_some() { 68 } else { 0 },
        x,
        x_title,
        y: Axis::whole(0.0, ends.1, 4).down_to(ends.0),
        y_title: format!("{} [{unit}]", metric.title),
        layers,
    }
}

/// Medians of groups of as many visits, by goodput; nothing where visits are few.
fn medians(places: &[(f64, f64)]) -> Vec<(f64, f64)> {
    let mut sorted = places.to_vec();
    sorted.sort_by(|a, b| a.0.total_cmp(&b.0));
    let size = sorted.len().div_ceil(BINS).max(BIN_LEAST);
    let median = |some: &[(f64, f64)]| {
        let (xs, ys): (Vec<f64>, Vec<f64>) = some.iter().copied().unzip();
        Some((stats::median(&xs)?, stats::median(&ys)?))
    };
    let bins = sorted.chunks(size).filter(|some| some.len() >= BIN_LEAST);
    let line: Vec<(f64, f64)> = bins.filter_map(median).collect();
    match line.len() < BINS_LEAST {
        true => Vec::new(),
        false => line,
    }
}

/// Goodput at which the line passes half of its highest value for good, and that half; `None`
/// where it begins above.
fn rise(line: &[(f64, f64)]) -> Option<(f64, f64)> {
    let highest = line.iter().map(|(_, y)| *y).fold(0.0, f64::max);
    let half = highest / 2.0;
    let below = line.iter().rposition(|(_, y)| *y < half)?;
    let (before, after) = (line.get(below)?, line.get(below + 1)?);
    let share = (half - before.1) / (after.1 - before.1);
    Some((before.0 + share * (after.0 - before.0), half))
}

/// Round trips and how much they and the goodput vary, against streams.
pub(super) fn against_streams(group: &Group<'_>) -> Drawing {
    let metrics = [
        &LOADED_MEDIAN,
        &LOADED_RANGE,
        &VARIABILITY_LOADED,
        &GOODPUT_SCATTER,
    ];
    let Some(curves) = Curves::of(group).filter(|curves| curves.tells(&metrics)) else {
        return Drawing::LeftOut(
            "No curve of how much round trips and goodput vary: it takes several settings."
                .to_owned(),
        );
    };
    let caption = format!(
        "Median round trip beside the streams above the shortest of the idle path, the distance of \
            its quartiles within a visit, and the rate variability (RV = 1 - smallest / mean round \
            trip), against {}: median of the visits with its quartiles. Below, the coefficient of \
            variation of the goodput over the visits of a setting{}.{}",
        curves.along(),
        curves.missing(&metrics),
        curves.selection(),
    );
    figure(
        group,
        "variability-streams",
        curves.chart(&metrics),
        caption,
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rise_is_where_half_of_the_highest_median_is_passed_for_good() {
        // Flat up to 80, then steep: 40 visits with the added delay of a queue that fills.
        let places: Vec<(f64, f64)> = (0..40)
            .map(|n| f64::from(n) * 2.5)
            .map(|x| {
                (
                    x,
                    if x < 80.0 {
                        1.0
                    } else {
                        1.0 + (x - 80.0) * 2.0
                    },
                )
            })
            .collect();
        let line = medians(&places);
        assert_eq!(line.len(), 10);
        let (at, half) = rise(&line).unwrap();
        assert!((84.0..92.0).contains(&at), "{at}");
        assert!((half - line[9].1 / 2.0).abs() < 1e-9);
        assert_eq!(medians(&places[..12]), []);
        assert_eq!(rise(&[(1.0, 5.0), (2.0, 6.0)]), None);
        assert_eq!(rise(&[]), None);
    }
}
