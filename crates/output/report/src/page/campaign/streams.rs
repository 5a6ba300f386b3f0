//! Throughput against the number of streams, a curve for each window.

use draw::chart::palette::RGBColor;
use record::Window;

use super::grid::Grid;
use draw::chart::axis::Axis;
use draw::chart::palette::{self, ACCENT, INK};
use draw::chart::{Axes, Chart, Entry, Layer, Mark, Shape};

const HEIGHT: u32 = 774;
/// Above this many points dots would hide the curve.
const DOTS_MAX: usize = 24;

/// A curve for each window of one variant, with the standard deviation over the seeds; best and
/// knee ringed. `None` for a single number of streams.
pub fn chart(grid: &Grid<'_>, title: &str) -> Option<Chart> {
    let most = grid.streams.last().filter(|_| grid.streams.len() > 1)?;
    let windows = grid.windows.iter().enumerate();
    let layers = windows
        .clone()
        .flat_map(|(index, window)| curve(grid, index, *window));
    let rings = [
        ring(grid, INK, 22, |streams, window| {
            grid.is_knee(streams, window)
        }),
        ring(grid, ACCENT, 16, |streams, window| {
            grid.is_best(streams, window)
        }),
    ];
    let axes = Axes {
        height: HEIGHT,
        x: Axis::powers_of_two(f64::from(*most)),
        x_title: Some("streams".to_owned()),
        y: Axis::whole(0.0, top(grid), 5),
        y_title: format!("{title} [{}]", grid.unit.name),
        layers: layers.chain(rings).collect(),
    };
    let entry = |(index, window): (usize, &Window)| {
        let name = format!("window {}", window);
        Entry::new(Mark::Line(palette::series(index)), name)
    };
    let marks = [
        Entry::new(Mark::Ring(ACCENT), "best"),
        Entry::new(Mark::Ring(INK), "knee"),
    ];
    Some(Chart::new(
        windows.map(entry).chain(marks).collect(),
        [axes],
    ))
}

/// Where a setting is drawn; in the grid's unit.
fn place(grid: &Grid<'_>, streams: u32, window: Window) -> Option<(f64, f64)> {
    let value = grid.throughput(streams, window)? / grid.unit.factor;
    Some((f64::from(streams.max(1)).log2(), value))
}

/// The same with the ends of its standard deviation.
fn whisker(grid: &Grid<'_>, streams: u32, window: Window) -> Option<(f64, f64, f64)> {
    let (x, value) = place(grid, streams, window)?;
    let spread = grid.deviation(streams, window)? / grid.unit.factor;
    Some((x, (value - spread).max(0.0), value + spread))
}

fn top(grid: &Grid<'_>) -> f64 {
    let settings = grid.settings();
    let highs = settings.filter_map(|(streams, window)| {
        let high = whisker(grid, streams, window).map(|(_, _, high)| high);
        high.or_else(|| Some(place(grid, streams, window)?.1))
    });
    highs.fold(0.0, f64::max)
}

fn curve(grid: &Grid<'_>, index: usize, window: Window) -> Vec<Layer> {
    let streams = grid.streams.iter();
    let places = streams
        .clone()
        .filter_map(|streams| place(grid, *streams, window));
    let places: Vec<(f64, f64)> = places.collect();
    let whiskers = streams
        .filter_map(|streams| whisker(grid, *streams, window))
        .collect();
    let mut shapes = vec![Shape::Whiskers(whiskers), Shape::Line(places.clone())];
    shapes.extend((grid.streams.len() <= DOTS_MAX).then_some(Shape::Dots(8, places)));
    let layer = |shape| Layer::new(palette::series(index), shape);
    shapes.into_iter().map(layer).collect()
}

fn ring(
    grid: &Grid<'_>,
    colour: RGBColor,
    radius: i32,
    is_ringed: impl Fn(u32, Window) -> bool,
) -> Layer {
    let settings = grid.settings();
    let ringed = settings.filter(|(streams, window)| is_ringed(*streams, *window));
    let places = ringed.filter_map(|(streams, window)| place(grid, streams, window));
    Layer::new(colour, Shape::Rings(radius, places.collect()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::page::campaign::grid::grids;
    use record::synthetic;

    #[test]
    fn each_window_is_a_curve_and_two_settings_are_ringed() {
        let campaign = synthetic::campaign().body;
        let svg = chart(&grids(&campaign)[0], "goodput");
        let svg = svg.unwrap().svg().unwrap();
        assert!(svg.contains("window 64KiB") && svg.contains("goodput [Mbit/s]"));
        assert_eq!(svg.matches("r=\"16\"").count(), 1);
        assert_eq!(svg.matches("r=\"22\"").count(), 1);
        assert_eq!(svg.matches("r=\"8\"").count(), 18);
    }

    #[test]
    fn one_number_of_streams_is_no_curve() {
        let mut campaign = synthetic::campaign().body;
        campaign.cells.retain(|cell| cell.setting.streams == 8);
        assert_eq!(chart(&grids(&campaign)[0], "goodput"), None);
    }
}
