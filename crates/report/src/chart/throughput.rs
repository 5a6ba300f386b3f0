//! Throughput over time, stacked by stream.

use plotters::element::{PathElement, Polygon, Rectangle};
use plotters::style::{Color, RGBColor};
use record::{DirectionFigures, Run, Stream};

use super::PlotError;
use super::axis::Axis;
use super::canvas::{Chart, Frame, draw, frame};
use super::legend::{Entry, Mark, legend};
use super::palette::{self, GREY, INK, SHADE};
use super::rates::{Band, Grid, bands};
use crate::format::{self, RateUnit};

const HEIGHT: u32 = 760;
/// More streams than this share areas. One more than there are colours: the last area is grey.
pub const BANDS_MAX: usize = palette::SERIES.len() + 1;

struct Layer {
    colour: RGBColor,
    name: String,
    /// Where it begins and ends at each time, in the unit of the axis.
    edges: Vec<(f64, f64)>,
}

/// Throughput of one direction over time: one area for each stream, or for several of like rank
/// where there are many, the steady window shaded and the goodput over it as a line.
///
/// # Errors
/// When the drawing library fails. `Ok(None)` when there are no readings to draw.
pub fn throughput(run: &Run, direction: &DirectionFigures) -> Result<Option<String>, PlotError> {
    let ours = |stream: &&Stream| stream.direction == direction.direction;
    let streams: Vec<&Stream> = run.streams.iter().filter(ours).collect();
    let Some(grid) = Grid::covering(&streams, run.rtt_loaded_seconds()) else {
        return Ok(None);
    };
    let bands = bands(&streams, &grid, BANDS_MAX);
    paint(&grid, &bands, direction).map(Some)
}

fn paint(grid: &Grid, bands: &[Band], direction: &DirectionFigures) -> Result<String, PlotError> {
    let top = highest(bands).max(direction.goodput_bits_per_second as f64);
    let unit = RateUnit::fitting(top);
    let layers = layers(bands, unit);
    let goodput = direction.goodput_bits_per_second as f64 / unit.factor;
    let (x, y) = (
        Axis::exact(0.0, grid.end(), 10),
        Axis::whole(0.0, top / unit.factor, 5),
    );
    let steady = (
        x.hold(direction.steady.from_seconds),
        x.hold(direction.steady.to_seconds),
    );
    let x_title = format!(
        "time since the streams started [s], means over {:.2} s",
        grid.step()
    );
    draw(HEIGHT, |sheet| {
        let below = legend(sheet, &entries(&layers, direction))?;
        let axes = Frame {
            x: &x,
            x_title: Some(&x_title),
            y: &y,
            y_title: &format!("throughput [{}]", unit.name),
        };
        let mut chart = frame(&below, &axes, |chart| {
            if direction.steady.settled {
                shade(chart, steady, &y)
            } else {
                Ok(())
            }
        })?;
        for layer in &layers {
            area(&mut chart, layer, &grid.times())?;
        }
        line(&mut chart, steady, y.hold(goodput))
    })
}

fn highest(bands: &[Band]) -> f64 {
    let steps = bands.first().map_or(0, |band| band.rates.len());
    let at = |i: usize| {
        bands
            .iter()
            .filter_map(|band| band.rates.get(i))
            .sum::<f64>()
    };
    (0..steps).map(at).fold(0.0, f64::max)
}

fn layers(bands: &[Band], unit: RateUnit) -> Vec<Layer> {
    let mut base = vec![0.0; bands.first().map_or(0, |band| band.rates.len())];
    let mut layer = |(index, band): (usize, &Band)| {
        let edge = |(base, rate): (&mut f64, &f64)| {
            let low = *base;
            *base += rate / unit.factor;
            (low, *base)
        };
        Layer {
            colour: if index < palette::SERIES.len() {
                palette::series(index)
            } else {
                GREY
            },
            name: band.name.clone(),
            edges: base.iter_mut().zip(&band.rates).map(edge).collect(),
        }
    };
    bands.iter().enumerate().map(&mut layer).collect()
}

fn entries(layers: &[Layer], direction: &DirectionFigures) -> Vec<Entry> {
    let streams = layers
        .iter()
        .map(|layer| Entry::new(Mark::Area(layer.colour), layer.name.clone()));
    let goodput = format::rate(direction.goodput_bits_per_second);
    let mut entries: Vec<Entry> = streams.collect();
    let never = if direction.steady.settled {
        ""
    } else {
        ", not settled"
    };
    entries.push(Entry::new(
        Mark::Line(INK),
        format!("goodput {goodput}{never}"),
    ));
    if direction.steady.settled {
        entries.push(Entry::new(Mark::Area(SHADE), "steady window"));
    }
    entries
}

fn shade(chart: &mut Chart<'_, '_>, (from, to): (f64, f64), y: &Axis) -> Result<(), PlotError> {
    let window = Rectangle::new([(from, y.low), (to, y.high)], SHADE.filled());
    chart
        .draw_series([window])
        .map(drop)
        .map_err(PlotError::from_drawing)
}

fn area(chart: &mut Chart<'_, '_>, layer: &Layer, times: &[f64]) -> Result<(), PlotError> {
    let edges = || times.iter().zip(&layer.edges);
    let upper = edges().map(|(time, (_, high))| (*time, *high));
    let lower = edges().rev().map(|(time, (low, _))| (*time, *low));
    let outline: Vec<(f64, f64)> = upper.chain(lower).collect();
    let shape = Polygon::new(outline, layer.colour.filled());
    chart
        .draw_series([shape])
        .map(drop)
        .map_err(PlotError::from_drawing)
}

fn line(chart: &mut Chart<'_, '_>, (from, to): (f64, f64), at: f64) -> Result<(), PlotError> {
    let line = PathElement::new(vec![(from, at), (to, at)], INK.stroke_width(5));
    chart
        .draw_series([line])
        .map(drop)
        .map_err(PlotError::from_drawing)
}

#[cfg(test)]
mod tests {
    use super::*;
    use record::synthetic::{Case, measure};

    fn drawn(streams: u16) -> String {
        let run = measure(&Case::streams(streams, 1)).body.run;
        throughput(&run, &run.directions[0]).unwrap().unwrap()
    }

    #[test]
    fn each_stream_has_its_area_and_name() {
        let svg = drawn(3);
        assert_eq!(svg.matches("<polygon").count(), 3);
        assert!(svg.contains("stream 3") && svg.contains("throughput [Mbit/s]"));
    }

    #[test]
    fn many_streams_stay_eight_areas() {
        assert_eq!(drawn(128).matches("<polygon").count(), 8);
    }

    #[test]
    fn without_readings_there_is_no_plot() {
        let mut run = measure(&Case::streams(1, 1)).body.run;
        run.streams[0].delivery.progress.clear();
        assert_eq!(throughput(&run, &run.directions[0]), Ok(None));
    }
}
