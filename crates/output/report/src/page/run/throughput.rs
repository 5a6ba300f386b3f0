//! Throughput over time, stacked by stream.

use record::{DirectionFigures, Run, Stream};

use super::rates::{Band, Grid, bands};
use draw::chart::axis::Axis;
use draw::chart::palette::{self, GREY, INK, SHADE};
use draw::chart::{Axes, Chart, Entry, Layer, Mark, Shape};
use draw::format::{self, RateUnit};

const HEIGHT: u32 = 714;
/// More streams than this share areas. One more than there are colours: the last area is grey.
pub const BANDS_MAX: usize = palette::SERIES.len() + 1;

/// Throughput of one direction over time: one area for each stream, or for several of like rank
/// where there are many, the steady window shaded and the goodput over it as a line. `None` when
/// there are no readings to draw.
pub fn chart(run: &Run, direction: &DirectionFigures) -> Option<Chart> {
    let ours = |stream: &&Stream| stream.direction == direction.direction;
    let streams: Vec<&Stream> = run.streams.iter().filter(ours).collect();
    let grid = Grid::covering(&streams, run.rtt_loaded_seconds())?;
    let bands = bands(&streams, &grid, BANDS_MAX);
    let goodput = direction.goodput_bits_per_second as f64;
    let top = highest(&bands).max(goodput);
    let unit = RateUnit::fitting(top);
    let (from, to) = (direction.steady.from_seconds, direction.steady.to_seconds);
    let level = goodput / unit.factor;
    let steady = direction.steady.settled;
    let mut layers = areas(&bands, &grid, unit);
    layers.extend(steady.then(|| Layer::new(SHADE, Shape::Span(from, to))));
    layers.push(Layer::new(
        INK,
        Shape::Line(vec![(from, level), (to, level)]),
    ));
    let axes = Axes {
        height: HEIGHT,
        x: Axis::exact(0.0, grid.end(), 10),
        x_title: Some(format!(
            "time since the streams started [s], means over {:.2} s",
            grid.step()
        )),
        y: Axis::whole(0.0, top / unit.factor, 5),
        y_title: format!("throughput [{}]", unit.name),
        layers,
    };
    Some(Chart::new(legend(&bands, direction), [axes]))
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

/// One above the other.
fn areas(bands: &[Band], grid: &Grid, unit: RateUnit) -> Vec<Layer> {
    let times = grid.times();
    let mut base = vec![0.0; times.len()];
    let area = |(index, band): (usize, &Band)| {
        let places = times.iter().zip(&mut base).zip(&band.rates);
        let edges = places.map(|((time, base), rate)| {
            let low = *base;
            *base += rate / unit.factor;
            (*time, low, *base)
        });
        Layer::new(colour(index), Shape::Area(edges.collect()))
    };
    bands.iter().enumerate().map(area).collect()
}

fn colour(band: usize) -> draw::chart::palette::RGBColor {
    palette::SERIES.get(band).copied().unwrap_or(GREY)
}

fn legend(bands: &[Band], direction: &DirectionFigures) -> Vec<Entry> {
    let bands = bands.iter().enumerate();
    let bands = bands.map(|(index, band)| Entry::new(Mark::Area(colour(index)), &band.name));
    let goodput = format::rate(direction.goodput_bits_per_second);
    let line = |words| Entry::new(Mark::Line(INK), words);
    let level = match direction.steady.settled {
        true => vec![
            line(format!("goodput {goodput}")),
            Entry::new(Mark::Area(SHADE), "steady window"),
        ],
        false => vec![line(format!("goodput {goodput}, not settled"))],
    };
    bands.chain(level).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use record::synthetic::{Case, measure};

    fn drawn(streams: u16) -> String {
        let run = measure(&Case::streams(streams, 1)).body.run;
        chart(&run, &run.directions[0]).unwrap().svg().unwrap()
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
        assert_eq!(chart(&run, &run.directions[0]), None);
    }
}
