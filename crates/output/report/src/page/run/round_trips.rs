//! Round-trip times over time: the idle path first, then beside the streams.

use draw::chart::palette::RGBColor;
use record::{Run, Series, Stream};

use draw::chart::axis::Axis;
use draw::chart::palette::{self, ACCENT, GRID};
use draw::chart::{Axes, Chart, Entry, Layer, Mark, Shape};
use draw::format;

const HEIGHT: u32 = 634;
const RADIUS: i32 = 6;
const IDLE: RGBColor = palette::SERIES[2];
const LOADED: RGBColor = palette::BLUE;
const KERNEL: RGBColor = palette::SERIES[3];

/// Points of the plot: seconds from the start of the streams, milliseconds of round trip.
#[derive(Debug, Default)]
struct Points {
    idle: Vec<(f64, f64)>,
    loaded: Vec<(f64, f64)>,
    kernel: Vec<(f64, f64)>,
    lost: Vec<f64>,
}

/// Every probe as a dot, idle ones before time zero, lost ones on the upper edge, and the
/// senders' smoothed round-trip time as a line. `None` when nothing answered.
pub fn chart(run: &Run) -> Option<Chart> {
    let points = Points::of(run);
    points.all().next()?;
    Some(Chart::new(legend(&points, run), [axes(&points)]))
}

impl Points {
    fn of(run: &Run) -> Self {
        let (unloaded, loaded) = (run.rtt.unloaded.as_ref(), run.rtt.loaded.as_ref());
        // The idle series ends where the streams start.
        let length = unloaded
            .and_then(|s| Some(s.probes.last()?.sent.as_secs_f64()))
            .unwrap_or(0.0);
        let shift = -(length + GAP_SECONDS);
        let mut lost = unloaded.map(|s| unanswered(s, shift)).unwrap_or_default();
        lost.extend(loaded.map(|s| unanswered(s, 0.0)).unwrap_or_default());
        Points {
            idle: unloaded.map(|s| answered(s, shift)).unwrap_or_default(),
            loaded: loaded.map(|s| answered(s, 0.0)).unwrap_or_default(),
            kernel: smoothed(&run.streams),
            lost,
        }
    }

    fn all(&self) -> impl Iterator<Item = &(f64, f64)> {
        self.idle.iter().chain(&self.loaded).chain(&self.kernel)
    }

    fn axes(&self) -> (Axis, Axis) {
        let range = |values: &mut dyn Iterator<Item = f64>| {
            values.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| {
                (low.min(value), high.max(value))
            })
        };
        let times = &mut self.all().map(|(x, _)| *x).chain(self.lost.iter().copied());
        let (first, last) = range(times);
        let (low, high) = range(&mut self.all().map(|(_, y)| *y));
        // Room at the top keeps the lost probes apart from the slowest.
        let room = (high - low).max(1.0) * 0.12;
        let x = Axis::exact(first.min(0.0), last.max(1.0), 10);
        (x, Axis::exact((low - room).max(0.0), high + room, 7))
    }
}

/// Between the last idle probe and the streams, so that they do not touch.
const GAP_SECONDS: f64 = 0.05;

fn answered(series: &Series, shift: f64) -> Vec<(f64, f64)> {
    let point = |probe: &record::Probe| {
        Some((
            probe.sent.as_secs_f64() + shift,
            probe.rtt?.as_secs_f64() * 1e3,
        ))
    };
    series.probes.iter().filter_map(point).collect()
}

fn unanswered(series: &Series, shift: f64) -> Vec<f64> {
    let lost = series.probes.iter().filter(|probe| probe.rtt.is_none());
    lost.map(|probe| probe.sent.as_secs_f64() + shift).collect()
}

/// The mean of the streams' smoothed round-trip times, reading by reading.
fn smoothed(streams: &[Stream]) -> Vec<(f64, f64)> {
    let readings = streams
        .iter()
        .map(|stream| stream.tcp.len())
        .max()
        .unwrap_or(0);
    (0..readings)
        .filter_map(|index| mean_at(streams, index))
        .collect()
}

fn mean_at(streams: &[Stream], index: usize) -> Option<(f64, f64)> {
    let samples = streams.iter().filter_map(|stream| stream.tcp.get(index));
    let known: Vec<(f64, f64)> = samples
        .filter_map(|s| Some((s.at.as_secs_f64(), s.rtt?.as_secs_f64())))
        .collect();
    let count = known.len() as f64;
    let at = known.first()?.0;
    let mean = known.iter().map(|(_, rtt)| rtt).sum::<f64>() / count;
    Some((at, mean * 1e3))
}

fn axes(points: &Points) -> Axes {
    let (x, y) = points.axes();
    let lost = points.lost.iter().map(|at| (*at, y.high)).collect();
    let start = vec![(0.0, y.low), (0.0, y.high)];
    let layers = [
        (GRID, Shape::Line(start)),
        (LOADED, Shape::Dots(RADIUS, points.loaded.clone())),
        (IDLE, Shape::Dots(RADIUS, points.idle.clone())),
        (KERNEL, Shape::Line(points.kernel.clone())),
        (ACCENT, Shape::Dots(RADIUS, lost)),
    ];
    Axes {
        height: HEIGHT,
        x,
        x_title: Some("time since the streams started [s]".to_owned()),
        y,
        y_title: "round trip [ms]".to_owned(),
        layers: layers
            .map(|(colour, shape)| Layer::new(colour, shape))
            .into(),
    }
}

fn legend(points: &Points, run: &Run) -> Vec<Entry> {
    let mean = |series: Option<&Series>| {
        let mean = series.and_then(|series| series.mean_seconds);
        mean.map(|mean| format!(", mean {} ms", format::milliseconds(mean)))
            .unwrap_or_default()
    };
    let idle = format!("idle{}", mean(run.rtt.unloaded.as_ref()));
    let loaded = format!("loaded{}", mean(run.rtt.loaded.as_ref()));
    let lost = format!("lost ({})", points.lost.len());
    let known = [
        (points.idle.is_empty(), Entry::new(Mark::Dot(IDLE), idle)),
        (
            points.loaded.is_empty(),
            Entry::new(Mark::Dot(LOADED), loaded),
        ),
        (
            points.kernel.is_empty(),
            Entry::new(Mark::Line(KERNEL), "as TCP saw it, smoothed"),
        ),
        (points.lost.is_empty(), Entry::new(Mark::Dot(ACCENT), lost)),
    ];
    known
        .into_iter()
        .filter(|(empty, _)| !empty)
        .map(|(_, entry)| entry)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use record::synthetic::{Case, measure};

    #[test]
    fn every_probe_is_a_dot() {
        let run = measure(&Case::streams(8, 1)).body.run;
        let svg = chart(&run).unwrap().svg().unwrap();
        let probes = |series: &Option<Series>| series.as_ref().unwrap().probes.len();
        let all = probes(&run.rtt.unloaded) + probes(&run.rtt.loaded);
        assert_eq!(svg.matches(r#"r="6""#).count(), all);
        assert!(svg.contains("lost ("));
    }

    #[test]
    fn a_run_without_answers_has_no_chart() {
        let mut run = measure(&Case::streams(1, 1)).body.run;
        run.rtt = record::RoundTrips::default();
        run.streams[0].tcp.clear();
        assert_eq!(chart(&run), None);
    }

    #[test]
    fn the_kernel_alone_is_a_plot_too() {
        let mut run = measure(&Case::streams(1, 1)).body.run;
        run.rtt = record::RoundTrips::default();
        let svg = chart(&run).unwrap().svg().unwrap();
        assert!(svg.contains("as TCP saw it") && !svg.contains("idle"));
    }
}
