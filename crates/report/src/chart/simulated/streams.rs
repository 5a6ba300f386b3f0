//! Throughput against the number of streams, a curve for each window.

use plotters::element::{Circle, PathElement};
use plotters::style::{Color, RGBColor};

use crate::chart::PlotError;
use crate::chart::axis::Axis;
use crate::chart::canvas::{Chart, Frame, draw, frame};
use crate::chart::legend::{Entry, Mark, legend};
use crate::chart::palette::{self, ACCENT, INK};
use crate::format;
use crate::grid::Grid;

const HEIGHT: u32 = 820;
/// Half the width of a whisker's end, in doublings of the streams.
const CAP: f64 = 0.025;
/// Above this many points dots would hide the curve.
const DOTS_MAX: usize = 24;

/// A curve for each window of one variant, with the standard deviation over the seeds; best and
/// knee ringed.
///
/// # Errors
/// When the drawing library fails. `Ok(None)` for a single number of streams.
pub fn against_streams(grid: &Grid<'_>, title: &str) -> Result<Option<String>, PlotError> {
    let most = grid.streams.last().copied().unwrap_or(1);
    if grid.streams.len() < 2 {
        return Ok(None);
    }
    let x = Axis::powers_of_two(f64::from(most));
    let y = Axis::whole(0.0, top(grid), 5);
    draw(HEIGHT, |sheet| {
        let below = legend(sheet, &entries(grid))?;
        let axes = Frame {
            x: &x,
            x_title: Some("streams"),
            y: &y,
            y_title: &format!("{title} [{}]", grid.unit.name),
        };
        let mut chart = frame(&below, &axes, |_| Ok(()))?;
        for index in 0..grid.windows.len() {
            curve(&mut chart, grid, index)?;
        }
        rings(&mut chart, grid)
    })
    .map(Some)
}

/// The value of this setting in the grid's unit.
fn value(grid: &Grid<'_>, streams: u32, window: usize) -> Option<f64> {
    Some(grid.throughput(streams, *grid.windows.get(window)?)? / grid.unit.factor)
}

fn spread(grid: &Grid<'_>, streams: u32, window: usize) -> Option<f64> {
    Some(grid.deviation(streams, *grid.windows.get(window)?)? / grid.unit.factor)
}

fn top(grid: &Grid<'_>) -> f64 {
    let high = |streams: u32, window: usize| {
        let spread = spread(grid, streams, window).unwrap_or(0.0);
        value(grid, streams, window).map_or(0.0, |value| value + spread)
    };
    let windows = 0..grid.windows.len();
    let highs = windows.flat_map(|window| {
        grid.streams
            .iter()
            .map(move |streams| high(*streams, window))
    });
    highs.fold(0.0, f64::max)
}

fn colour(window: usize) -> RGBColor {
    palette::series(window)
}

fn entries(grid: &Grid<'_>) -> Vec<Entry> {
    let curve = |(index, window): (usize, &record::Window)| {
        Entry::new(
            Mark::Line(colour(index)),
            format!("window {}", format::window(*window)),
        )
    };
    let marks = [
        Entry::new(Mark::Ring(ACCENT), "best"),
        Entry::new(Mark::Ring(INK), "knee"),
    ];
    grid.windows
        .iter()
        .enumerate()
        .map(curve)
        .chain(marks)
        .collect()
}

fn at(streams: u32) -> f64 {
    f64::from(streams.max(1)).log2()
}

fn curve(chart: &mut Chart<'_, '_>, grid: &Grid<'_>, window: usize) -> Result<(), PlotError> {
    let colour = colour(window);
    let place = |streams: &u32| Some((at(*streams), value(grid, *streams, window)?));
    let places: Vec<(f64, f64)> = grid.streams.iter().filter_map(place).collect();
    let whiskers = grid
        .streams
        .iter()
        .filter_map(|streams| whisker(grid, *streams, window));
    let strokes = whiskers
        .flatten()
        .map(|line| PathElement::new(line, colour.stroke_width(2)));
    chart
        .draw_series(strokes)
        .map_err(PlotError::from_drawing)?;
    let line = PathElement::new(places.clone(), colour.stroke_width(4));
    chart.draw_series([line]).map_err(PlotError::from_drawing)?;
    let shown = places.iter().filter(|_| grid.streams.len() <= DOTS_MAX);
    let dots = shown.map(|place| Circle::new(*place, 8, colour.filled()));
    chart
        .draw_series(dots)
        .map(drop)
        .map_err(PlotError::from_drawing)
}

fn whisker(grid: &Grid<'_>, streams: u32, window: usize) -> Option<[Vec<(f64, f64)>; 3]> {
    let (value, spread) = (
        value(grid, streams, window)?,
        spread(grid, streams, window)?,
    );
    let (x, low, high) = (at(streams), (value - spread).max(0.0), value + spread);
    let cap = |level: f64| vec![(x - CAP, level), (x + CAP, level)];
    Some([vec![(x, low), (x, high)], cap(low), cap(high)])
}

fn rings(chart: &mut Chart<'_, '_>, grid: &Grid<'_>) -> Result<(), PlotError> {
    for (index, window) in grid.windows.iter().enumerate() {
        for &streams in &grid.streams {
            let Some(value) = value(grid, streams, index) else {
                continue;
            };
            let place = (at(streams), value);
            let knee = grid
                .is_knee(streams, *window)
                .then(|| Circle::new(place, 22, INK.stroke_width(4)));
            let best = grid
                .is_best(streams, *window)
                .then(|| Circle::new(place, 16, ACCENT.stroke_width(5)));
            chart
                .draw_series(knee.into_iter().chain(best))
                .map_err(PlotError::from_drawing)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grid::grids;
    use record::synthetic;

    #[test]
    fn each_window_is_a_curve_and_two_settings_are_ringed() {
        let campaign = synthetic::campaign().body;
        let svg = against_streams(&grids(&campaign)[0], "goodput")
            .unwrap()
            .unwrap();
        assert!(svg.contains("window 64KiB") && svg.contains("goodput [Mbit/s]"));
        assert_eq!(svg.matches("r=\"16\"").count(), 1);
        assert_eq!(svg.matches("r=\"22\"").count(), 1);
        assert_eq!(svg.matches("r=\"8\"").count(), 18);
    }

    #[test]
    fn one_number_of_streams_is_no_curve() {
        let mut campaign = synthetic::campaign().body;
        campaign.cells.retain(|cell| cell.setting.streams == 8);
        assert_eq!(against_streams(&grids(&campaign)[0], "goodput"), Ok(None));
    }
}
