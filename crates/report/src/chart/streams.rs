//! Throughput and added round-trip time against the number of streams.

use plotters::element::{Circle, PathElement};
use plotters::style::{Color, RGBColor};
use record::{Run, Sample, Tune, Window};

use super::PlotError;
use super::axis::Axis;
use super::canvas::{Area, Chart, Frame, draw, frame};
use super::legend::{Entry, Mark, legend};
use super::palette::{self, ACCENT};
use crate::format::{self, RateUnit};

const HEIGHT: u32 = 1120;
const UPPER: f64 = 0.56;

/// The samples that share a window and are paced, or are not.
struct Curve<'a> {
    window: Window,
    is_paced: bool,
    colour: RGBColor,
    samples: Vec<&'a Sample>,
}

/// One panel: how a run becomes a height on it.
struct Panel<'a> {
    curves: &'a [Curve<'a>],
    chosen: Option<&'a Run>,
    value: &'a dyn Fn(&Run) -> Option<f64>,
    spread: &'a dyn Fn(&Run) -> Option<(f64, f64)>,
}

/// Two panels over the number of streams, a curve for each window: throughput with its 95 %
/// interval above, added round-trip time below; the recommendation ringed.
///
/// # Errors
/// When the drawing library fails.
pub fn against_streams(tune: &Tune) -> Result<String, PlotError> {
    let curves = curves(tune);
    let chosen = tune.recommended_sample().map(|sample| &sample.run);
    let most = tune
        .samples
        .iter()
        .map(|sample| sample.run.setting.streams)
        .max();
    let x = Axis::powers_of_two(f64::from(most.unwrap_or(1)));
    draw(HEIGHT, |sheet| {
        let below = legend(sheet, &entries(&curves))?;
        let (_, height) = below.dim_in_pixel();
        let (upper, lower) = below.split_vertically((f64::from(height) * UPPER) as i32);
        throughput(&upper, &x, &curves, chosen)?;
        added_delay(&lower, &x, &curves, chosen)
    })
}

fn curves(tune: &Tune) -> Vec<Curve<'_>> {
    let kind = |sample: &Sample| (is_paced(sample), sample.run.setting.window);
    let mut kinds: Vec<(bool, Window)> = tune.samples.iter().map(kind).collect();
    kinds.sort();
    kinds.dedup();
    let curve = |(index, (is_paced, window)): (usize, (bool, Window))| Curve {
        window,
        is_paced,
        colour: match window {
            Window::Auto if !is_paced => palette::BLUE,
            _ => palette::series(index + 1),
        },
        samples: sorted(
            tune.samples
                .iter()
                .filter(|sample| kind(sample) == (is_paced, window)),
        ),
    };
    kinds.into_iter().enumerate().map(curve).collect()
}

fn is_paced(sample: &Sample) -> bool {
    sample.run.setting.pacing_bits_per_second.is_some()
}

fn sorted<'a>(samples: impl Iterator<Item = &'a Sample>) -> Vec<&'a Sample> {
    let mut samples: Vec<&Sample> = samples.collect();
    samples.sort_by_key(|sample| sample.run.setting.streams);
    samples
}

fn entries(curves: &[Curve<'_>]) -> Vec<Entry> {
    let window = |curve: &Curve<'_>| {
        let paced = if curve.is_paced { ", paced" } else { "" };
        Entry::new(
            Mark::Dot(curve.colour),
            format!("window {}{paced}", format::window(curve.window)),
        )
    };
    let chosen = Entry::new(Mark::Ring(ACCENT), "recommended");
    curves.iter().map(window).chain([chosen]).collect()
}

/// The runs of all curves.
fn runs<'a>(curves: &'a [Curve<'_>]) -> impl Iterator<Item = &'a Run> {
    curves
        .iter()
        .flat_map(|curve| &curve.samples)
        .map(|sample| &sample.run)
}

fn throughput(
    area: &Area<'_>,
    x: &Axis,
    curves: &[Curve<'_>],
    chosen: Option<&Run>,
) -> Result<(), PlotError> {
    let top = runs(curves).map(high).fold(0.0, f64::max);
    let unit = RateUnit::fitting(top);
    let y = Axis::whole(0.0, top / unit.factor, 5);
    let axes = Frame {
        x,
        x_title: None,
        y: &y,
        y_title: &format!("goodput [{}]", unit.name),
    };
    let mut chart = frame(area, &axes, |_| Ok(()))?;
    let panel = Panel {
        curves,
        chosen,
        value: &|run| Some(run.goodput_bits_per_second as f64 / unit.factor),
        spread: &|run| {
            let interval = run.interval?;
            let scaled = |bits: u64| bits as f64 / unit.factor;
            Some((
                scaled(interval.low_bits_per_second),
                scaled(interval.high_bits_per_second),
            ))
        },
    };
    panel.draw(&mut chart, &y)
}

fn high(run: &Run) -> f64 {
    let interval = run.interval.map(|interval| interval.high_bits_per_second);
    interval.unwrap_or(run.goodput_bits_per_second) as f64
}

fn added_delay(
    area: &Area<'_>,
    x: &Axis,
    curves: &[Curve<'_>],
    chosen: Option<&Run>,
) -> Result<(), PlotError> {
    let value = |run: &Run| run.rtt.added_seconds.map(|seconds| seconds * 1e3);
    let values: Vec<f64> = runs(curves).filter_map(value).collect();
    let low = values.iter().copied().fold(0.0, f64::min);
    let high = values.iter().copied().fold(1.0, f64::max);
    let y = Axis::whole(low, high, 4);
    let axes = Frame {
        x,
        x_title: Some("streams"),
        y: &y,
        y_title: "added RTT [ms]",
    };
    let mut chart = frame(area, &axes, |_| Ok(()))?;
    let panel = Panel {
        curves,
        chosen,
        value: &value,
        spread: &|_| None,
    };
    panel.draw(&mut chart, &y)
}

impl Panel<'_> {
    fn draw(&self, chart: &mut Chart<'_, '_>, y: &Axis) -> Result<(), PlotError> {
        for curve in self.curves {
            self.curve(chart, y, curve)?;
        }
        let place = self.chosen.and_then(|run| self.place(run, y));
        let ring = place.map(|place| Circle::new(place, 17, ACCENT.stroke_width(5)));
        chart
            .draw_series(ring)
            .map(drop)
            .map_err(PlotError::from_drawing)
    }

    fn curve(
        &self,
        chart: &mut Chart<'_, '_>,
        y: &Axis,
        curve: &Curve<'_>,
    ) -> Result<(), PlotError> {
        let counting = curve.samples.iter().filter(|sample| sample.doubt.is_none());
        let places: Vec<(f64, f64)> = counting
            .filter_map(|sample| self.place(&sample.run, y))
            .collect();
        let line = PathElement::new(means(&places), curve.colour.stroke_width(4));
        chart.draw_series([line]).map_err(PlotError::from_drawing)?;
        let whiskers = curve
            .samples
            .iter()
            .filter_map(|sample| self.whisker(&sample.run, y))
            .flatten();
        let strokes = whiskers.map(|line| PathElement::new(line, curve.colour.stroke_width(3)));
        chart
            .draw_series(strokes)
            .map_err(PlotError::from_drawing)?;
        let dots = curve.samples.iter().filter_map(|sample| {
            // What does not count for what it showed is pale.
            let strength = if sample.doubt.is_none() { 1.0 } else { PALE };
            let place = self.place(&sample.run, y)?;
            Some(Circle::new(place, 9, curve.colour.mix(strength).filled()))
        });
        chart
            .draw_series(dots)
            .map(drop)
            .map_err(PlotError::from_drawing)
    }

    fn place(&self, run: &Run, y: &Axis) -> Option<(f64, f64)> {
        Some((log_streams(run), y.hold((self.value)(run)?)))
    }

    fn whisker(&self, run: &Run, y: &Axis) -> Option<Vec<Vec<(f64, f64)>>> {
        let (low, high) = (self.spread)(run)?;
        let (x, low, high) = (log_streams(run), y.hold(low), y.hold(high));
        let cap = |at: f64| vec![(x - CAP, at), (x + CAP, at)];
        Some(vec![vec![(x, low), (x, high)], cap(low), cap(high)])
    }
}

/// Strength of the dots that do not count.
const PALE: f64 = 0.35;

/// Half the width of a whisker's end, in doublings of the streams.
const CAP: f64 = 0.035;

/// One place for each number of streams: a setting that was tried again counts with its mean.
fn means(places: &[(f64, f64)]) -> Vec<(f64, f64)> {
    let same = |a: &(f64, f64), b: &(f64, f64)| a.0 == b.0;
    let mean = |group: &[(f64, f64)]| {
        let sum: f64 = group.iter().map(|(_, y)| y).sum();
        Some((group.first()?.0, sum / group.len() as f64))
    };
    places.chunk_by(same).filter_map(mean).collect()
}

fn log_streams(run: &Run) -> f64 {
    f64::from(run.setting.streams.max(1)).log2()
}

#[cfg(test)]
mod tests {
    use super::*;
    use record::synthetic;

    #[test]
    fn every_sample_is_a_dot_in_both_panels_and_one_is_ringed() {
        let tune = synthetic::tune(7).body;
        let svg = against_streams(&tune).unwrap();
        let dots = svg.matches(r#"r="9""#).count();
        // One more for each window in the legend.
        assert_eq!(dots, 2 * tune.samples.len() + 2);
        // Two panels and the legend.
        assert_eq!(
            svg.matches("r=\"17\"").count() + svg.matches("r=\"13\"").count(),
            3
        );
    }

    #[test]
    fn a_setting_tried_twice_bends_the_line_once() {
        let places = [(0.0, 4.0), (1.0, 8.0), (1.0, 10.0), (2.0, 11.0)];
        assert_eq!(means(&places), [(0.0, 4.0), (1.0, 9.0), (2.0, 11.0)]);
    }

    #[test]
    fn a_paced_run_is_a_curve_of_its_own() {
        let mut tune = synthetic::tune(7).body;
        tune.samples[0].run.setting.pacing_bits_per_second = Some(40_000_000);
        let curves = curves(&tune);
        assert_eq!(curves.iter().filter(|curve| curve.is_paced).count(), 1);
        assert!(
            against_streams(&tune)
                .unwrap()
                .contains("window auto, paced")
        );
    }

    #[test]
    fn a_recommendation_that_points_nowhere_is_drawn_without_a_ring() {
        let mut tune = synthetic::tune(7).body;
        tune.answer.as_mut().unwrap().recommended.sample = 99;
        assert_eq!(
            against_streams(&tune).unwrap().matches("r=\"17\"").count(),
            0
        );
    }
}
