//! One run over time: windows and queue, and what was delivered.

use plotters::element::{PathElement, Polygon, Rectangle};
use plotters::style::{Color, RGBColor};
use record::Simulate;
use record::simulate::{SeriesSample, SimulatedRun};
use units::Bytes;

use crate::chart::PlotError;
use crate::chart::axis::Axis;
use crate::chart::canvas::{Area, Chart, Frame, draw, frame};
use crate::chart::legend::{Entry, Mark, legend};
use crate::chart::palette::{self, ACCENT, BLUE, GREY, INK, SHADE};
use crate::format::{self, RateUnit};

const WINDOWS_HEIGHT: u32 = 1000;
const UPPER: f64 = 0.6;
const GOODPUT_HEIGHT: u32 = 700;
/// More streams than this are drawn as a range with its median.
const LINES_MAX: usize = palette::SERIES.len();
/// What a range of many windows is filled with.
const RANGE: RGBColor = RGBColor(0xC9, 0xDD, 0xEC);
/// More points than this do not show on the width of a plot.
const POINTS_MAX: usize = 400;
/// Finer steps of goodput would show mostly how acknowledgements bunch.
const STEPS_MAX: usize = 100;

type Line = Vec<(f64, f64)>;

/// Congestion windows above, the forward queue below, of the first run that was recorded.
///
/// # Errors
/// When the drawing library fails. `Ok(None)` when nothing was recorded.
pub fn windows_and_queue(body: &Simulate) -> Result<Option<String>, PlotError> {
    let Some(run) = recorded(body) else {
        return Ok(None);
    };
    let samples = thinned(&run.series, POINTS_MAX);
    let x = time_axis(&samples);
    let windows = Windows::of(&samples);
    let mut entries = windows.entries();
    entries.push(Entry::new(Mark::Line(INK), "packets in the queue"));
    let drawn = draw(WINDOWS_HEIGHT, |sheet| {
        let below = legend(sheet, &entries)?;
        let (_, height) = below.dim_in_pixel();
        let (upper, lower) = below.split_vertically((f64::from(height) * UPPER) as i32);
        windows.draw(&upper, &x)?;
        queue(&lower, &x, &samples)
    });
    drawn.map(Some)
}

/// What the streams and the cross traffic got over time, one above the other, of the first run that
/// was recorded; the time that counts is shaded.
///
/// # Errors
/// When the drawing library fails. `Ok(None)` when nothing was recorded.
pub fn goodput(body: &Simulate) -> Result<Option<String>, PlotError> {
    let Some(run) = recorded(body) else {
        return Ok(None);
    };
    let samples = thinned(&run.series, STEPS_MAX);
    let rates = rates(&samples);
    let top = rates
        .iter()
        .map(|(_, ours, others)| ours + others)
        .fold(0.0, f64::max);
    let unit = RateUnit::fitting(top.max(run.goodput_bits_per_second as f64));
    let x = time_axis(&samples);
    let y = Axis::whole(0.0, top / unit.factor, 5);
    let measured = (x.hold(body.scenario.warmup_seconds), x.high);
    draw(GOODPUT_HEIGHT, |sheet| {
        let below = legend(sheet, &goodput_entries(run))?;
        let axes = Frame {
            x: &x,
            x_title: Some("time [s]"),
            y: &y,
            y_title: &format!("acknowledged [{}]", unit.name),
        };
        let shade = Rectangle::new([(measured.0, y.low), (measured.1, y.high)], SHADE.filled());
        let mut chart = frame(&below, &axes, |chart| {
            chart
                .draw_series([shade])
                .map(drop)
                .map_err(PlotError::from_drawing)
        })?;
        let scaled =
            |(at, ours, others): &(f64, f64, f64)| (*at, ours / unit.factor, others / unit.factor);
        let steps: Vec<(f64, f64, f64)> = rates.iter().map(scaled).collect();
        let ours: Line = steps.iter().map(|(at, ours, _)| (*at, *ours)).collect();
        let both: Line = steps
            .iter()
            .map(|(at, ours, others)| (*at, ours + others))
            .collect();
        if !run.cross_groups.is_empty() {
            area(&mut chart, &ours, &both, GREY)?;
        }
        let ground: Line = ours.iter().map(|(at, _)| (*at, 0.0)).collect();
        area(&mut chart, &ground, &ours, BLUE)?;
        let level = y.hold(run.goodput_bits_per_second as f64 / unit.factor);
        stroke(
            &mut chart,
            vec![(measured.0, level), (measured.1, level)],
            INK,
            5,
        )
    })
    .map(Some)
}

fn goodput_entries(run: &SimulatedRun) -> Vec<Entry> {
    let mut entries = vec![Entry::new(Mark::Area(BLUE), "streams")];
    if !run.cross_groups.is_empty() {
        entries.push(Entry::new(Mark::Area(GREY), "cross traffic"));
    }
    let goodput = format::rate(run.goodput_bits_per_second);
    entries.push(Entry::new(Mark::Line(INK), format!("goodput {goodput}")));
    entries.push(Entry::new(Mark::Area(SHADE), "what counts"));
    entries
}

/// The first run with at least two samples.
fn recorded(body: &Simulate) -> Option<&SimulatedRun> {
    body.runs.iter().find(|run| run.series.len() > 1)
}

/// Every so many samples, so that the drawing stays small.
fn thinned(series: &[SeriesSample], most: usize) -> Vec<&SeriesSample> {
    let every = series.len().div_ceil(most).max(1);
    series.iter().step_by(every).collect()
}

fn time_axis(samples: &[&SeriesSample]) -> Axis {
    let end = samples.last().map_or(1.0, |sample| sample.at.as_secs_f64());
    Axis::exact(0.0, end, 10)
}

/// Between two samples: the middle, and what the streams and the others got, in bits per second.
fn rates(samples: &[&SeriesSample]) -> Vec<(f64, f64, f64)> {
    let between = |pair: &[&SeriesSample]| {
        let (begin, end) = (pair[0].at.as_secs_f64(), pair[1].at.as_secs_f64());
        let span = end - begin;
        let rate = |later: Bytes, earlier: Bytes| (later - earlier).as_f64() * 8.0 / span;
        let ours = rate(pair[1].acknowledged, pair[0].acknowledged);
        let others = rate(pair[1].cross_delivered, pair[0].cross_delivered);
        let middle = (begin + end) / 2.0;
        (span > 0.0).then_some((middle, ours, others))
    };
    samples.windows(2).filter_map(between).collect()
}

/// Congestion windows as lines: each by itself, or of many the range and the median.
enum Windows {
    Each(Vec<Line>),
    Range {
        low: Line,
        median: Line,
        high: Line,
        streams: usize,
    },
}

impl Windows {
    fn of(samples: &[&SeriesSample]) -> Self {
        let streams = samples.iter().map(|sample| sample.windows.len()).max();
        let streams = streams.unwrap_or(0);
        let quantile = |p: f64| -> Line {
            let at = |sample: &&SeriesSample| {
                Some((
                    sample.at.as_secs_f64(),
                    stats::quantile(&sample.windows, p)?,
                ))
            };
            samples.iter().filter_map(at).collect()
        };
        let one = |stream: usize| -> Line {
            let at = |sample: &&SeriesSample| {
                Some((sample.at.as_secs_f64(), *sample.windows.get(stream)?))
            };
            samples.iter().filter_map(at).collect()
        };
        match streams <= LINES_MAX {
            true => Windows::Each((0..streams).map(one).collect()),
            false => Windows::Range {
                low: quantile(0.0),
                median: quantile(0.5),
                high: quantile(1.0),
                streams,
            },
        }
    }

    fn entries(&self) -> Vec<Entry> {
        match self {
            Windows::Each(lines) => {
                let entry = |index| {
                    let mark = Mark::Line(palette::series(index));
                    Entry::new(mark, format!("stream {}", index + 1))
                };
                (0..lines.len()).map(entry).collect()
            }
            Windows::Range { streams, .. } => vec![
                Entry::new(
                    Mark::Line(ACCENT),
                    format!("median window of {streams} streams"),
                ),
                Entry::new(Mark::Area(RANGE), "smallest to largest"),
            ],
        }
    }

    fn top(&self) -> f64 {
        let lines: Vec<&Line> = match self {
            Windows::Each(lines) => lines.iter().collect(),
            Windows::Range { high, .. } => vec![high],
        };
        lines
            .into_iter()
            .flatten()
            .map(|(_, value)| *value)
            .fold(1.0, f64::max)
    }

    fn draw(&self, sheet: &Area<'_>, x: &Axis) -> Result<(), PlotError> {
        let y = Axis::whole(0.0, self.top(), 5);
        let axes = Frame {
            x,
            x_title: None,
            y: &y,
            y_title: "window [segments]",
        };
        let mut chart = frame(sheet, &axes, |_| Ok(()))?;
        match self {
            Windows::Each(lines) => {
                for (index, line) in lines.iter().enumerate() {
                    stroke(&mut chart, line.clone(), palette::series(index), 3)?;
                }
                Ok(())
            }
            Windows::Range {
                low, median, high, ..
            } => {
                area(&mut chart, low, high, RANGE)?;
                stroke(&mut chart, median.clone(), ACCENT, 4)
            }
        }
    }
}

fn queue(sheet: &Area<'_>, x: &Axis, samples: &[&SeriesSample]) -> Result<(), PlotError> {
    let at = |sample: &&SeriesSample| (sample.at.as_secs_f64(), sample.queue_packets as f64);
    let line: Line = samples.iter().map(at).collect();
    let top = line.iter().map(|(_, packets)| *packets).fold(1.0, f64::max);
    let y = Axis::whole(0.0, top, 4);
    let axes = Frame {
        x,
        x_title: Some("time [s]"),
        y: &y,
        y_title: "queue [packets]",
    };
    let mut chart = frame(sheet, &axes, |_| Ok(()))?;
    stroke(&mut chart, line, INK, 3)
}

fn area(
    chart: &mut Chart<'_, '_>,
    low: &Line,
    high: &Line,
    colour: RGBColor,
) -> Result<(), PlotError> {
    let outline: Line = high.iter().chain(low.iter().rev()).copied().collect();
    let shape = Polygon::new(outline, colour.filled());
    chart
        .draw_series([shape])
        .map(drop)
        .map_err(PlotError::from_drawing)
}

fn stroke(
    chart: &mut Chart<'_, '_>,
    line: Line,
    colour: RGBColor,
    width: u32,
) -> Result<(), PlotError> {
    let path = PathElement::new(line, colour.stroke_width(width));
    chart
        .draw_series([path])
        .map(drop)
        .map_err(PlotError::from_drawing)
}

#[cfg(test)]
mod tests {
    use super::*;
    use record::synthetic;
    use units::Time;

    #[test]
    fn few_streams_have_a_line_each_and_many_a_range() {
        let few = windows_and_queue(&synthetic::simulate(3).body)
            .unwrap()
            .unwrap();
        assert!(few.contains("stream 3") && !few.contains("<polygon"));
        let many = windows_and_queue(&synthetic::simulate(100).body)
            .unwrap()
            .unwrap();
        assert!(many.contains("median window of 100 streams"));
        assert_eq!(many.matches("<polygon").count(), 1);
        assert!(many.contains("window [segments]") && many.contains("queue [packets]"));
    }

    #[test]
    fn the_cross_traffic_lies_on_top_of_the_streams() {
        let svg = goodput(&synthetic::simulate(8).body).unwrap().unwrap();
        assert_eq!(svg.matches("<polygon").count(), 2);
        assert!(svg.contains("cross traffic") && svg.contains("acknowledged [Mbit/s]"));
    }

    #[test]
    fn without_a_series_there_is_no_plot() {
        let mut body = synthetic::simulate(2).body;
        body.runs.iter_mut().for_each(|run| run.series.clear());
        assert_eq!(windows_and_queue(&body), Ok(None));
        assert_eq!(goodput(&body), Ok(None));
    }

    #[test]
    fn samples_that_make_no_sense_make_a_plot_all_the_same() {
        let mut body = synthetic::simulate(2).body;
        let series = &mut body.runs[0].series;
        series[3].at = Time::ZERO;
        series[4].at = Time::MAX;
        series[5].windows = vec![f64::NAN, 1e300, 3.0];
        series[6].windows.clear();
        series[7].acknowledged = Bytes::new(u64::MAX);
        series[8].queue_packets = u64::MAX;
        let svg = windows_and_queue(&body).unwrap().unwrap();
        assert!(!svg.contains("NaN"));
        assert!(!goodput(&body).unwrap().unwrap().contains("NaN"));
    }
}
