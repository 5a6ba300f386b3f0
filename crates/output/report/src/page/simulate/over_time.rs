//! One run over time: windows and queue, and what was delivered.

use draw::chart::palette::RGBColor;
use record::Simulate;
use record::simulate::{SeriesSample, SimulatedRun};
use units::Bytes;

use draw::chart::axis::Axis;
use draw::chart::palette::{self, ACCENT, BLUE, GREY, INK, SHADE};
use draw::chart::{Axes, Chart, Entry, Layer, Mark, Shape};
use draw::format::{self, RateUnit};

const WINDOWS_HEIGHT: u32 = 572;
const QUEUE_HEIGHT: u32 = 382;
const GOODPUT_HEIGHT: u32 = 654;
/// More streams than this are drawn as a range with its median.
const LINES_MAX: usize = palette::SERIES.len();
/// What a range of many windows is filled with.
const RANGE: RGBColor = RGBColor(0xC9, 0xDD, 0xEC);
/// More points than this do not show on the width of a plot.
const POINTS_MAX: usize = 400;
/// Finer steps of goodput would show mostly how acknowledgements bunch.
const STEPS_MAX: usize = 100;

type Places = Vec<(f64, f64)>;

/// The first run with at least two samples over time.
pub fn recorded(body: &Simulate) -> Option<&SimulatedRun> {
    body.runs.iter().find(|run| run.series.len() > 1)
}

/// Congestion windows above, the forward queue below.
pub fn windows_and_queue(run: &SimulatedRun) -> Chart {
    let samples = thinned(&run.series, POINTS_MAX);
    let windows = Windows::of(&samples);
    let mut legend = windows.legend();
    legend.push(Entry::new(Mark::Line(INK), "packets in the queue"));
    let upper = Axes {
        height: WINDOWS_HEIGHT,
        x: time_axis(&samples),
        x_title: None,
        y: Axis::whole(0.0, windows.top(), 5),
        y_title: "window [segments]".to_owned(),
        layers: windows.layers(),
    };
    Chart::new(legend, [upper, queue(&samples)])
}

fn queue(samples: &[&SeriesSample]) -> Axes {
    let at = |sample: &&SeriesSample| (sample.at.as_secs_f64(), sample.queue_packets as f64);
    let line: Places = samples.iter().map(at).collect();
    let top = line.iter().map(|(_, packets)| *packets).fold(1.0, f64::max);
    Axes {
        height: QUEUE_HEIGHT,
        x: time_axis(samples),
        x_title: Some("time [s]".to_owned()),
        y: Axis::whole(0.0, top, 4),
        y_title: "queue [packets]".to_owned(),
        layers: vec![Layer::new(INK, Shape::Line(line))],
    }
}

/// What the streams and the cross traffic got over time, one above the other; the time that counts
/// is shaded.
pub fn goodput(body: &Simulate, run: &SimulatedRun) -> Chart {
    let samples = thinned(&run.series, STEPS_MAX);
    let rates = rates(&samples);
    let both = rates.iter().map(|(_, ours, others)| ours + others);
    let top = both.fold(0.0, f64::max);
    let unit = RateUnit::fitting(top.max(run.goodput_bits_per_second as f64));
    let x = time_axis(&samples);
    let (from, to) = (body.scenario.warmup_seconds, x.high);
    let scaled = |(at, ours, others): &(f64, f64, f64)| {
        let (ours, others) = (ours / unit.factor, others / unit.factor);
        ((*at, 0.0, ours), (*at, ours, ours + others))
    };
    let (ours, others): (Vec<_>, Vec<_>) = rates.iter().map(scaled).unzip();
    let level = run.goodput_bits_per_second as f64 / unit.factor;
    let mut layers = vec![Layer::new(SHADE, Shape::Span(from, to))];
    if !run.cross_groups.is_empty() {
        layers.push(Layer::new(GREY, Shape::Area(others)));
    }
    layers.push(Layer::new(BLUE, Shape::Area(ours)));
    layers.push(Layer::new(
        INK,
        Shape::Line(vec![(from, level), (to, level)]),
    ));
    let axes = Axes {
        height: GOODPUT_HEIGHT,
        x,
        x_title: Some("time [s]".to_owned()),
        y: Axis::whole(0.0, top / unit.factor, 5),
        y_title: format!("acknowledged [{}]", unit.name),
        layers,
    };
    Chart::new(goodput_legend(run), [axes])
}

fn goodput_legend(run: &SimulatedRun) -> Vec<Entry> {
    let goodput = format::rate(run.goodput_bits_per_second);
    let cross = Entry::new(Mark::Area(GREY), "cross traffic");
    let cross = (!run.cross_groups.is_empty()).then_some(cross);
    let others = [
        Entry::new(Mark::Line(INK), format!("goodput {goodput}")),
        Entry::new(Mark::Area(SHADE), "what counts"),
    ];
    let streams = Entry::new(Mark::Area(BLUE), "streams");
    [streams].into_iter().chain(cross).chain(others).collect()
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
    Each(Vec<Places>),
    Range {
        low: Places,
        median: Places,
        high: Places,
        streams: usize,
    },
}

impl Windows {
    fn of(samples: &[&SeriesSample]) -> Self {
        let streams = samples.iter().map(|sample| sample.windows.len()).max();
        let streams = streams.unwrap_or(0);
        let quantile = |p: f64| -> Places {
            let at = |sample: &&SeriesSample| {
                Some((
                    sample.at.as_secs_f64(),
                    stats::quantile(&sample.windows, p)?,
                ))
            };
            samples.iter().filter_map(at).collect()
        };
        let one = |stream: usize| -> Places {
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

    fn legend(&self) -> Vec<Entry> {
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
        let lines: Vec<&Places> = match self {
            Windows::Each(lines) => lines.iter().collect(),
            Windows::Range { high, .. } => vec![high],
        };
        lines
            .into_iter()
            .flatten()
            .map(|(_, value)| *value)
            .fold(1.0, f64::max)
    }

    fn layers(&self) -> Vec<Layer> {
        match self {
            Windows::Each(lines) => {
                let layer = |(index, line): (usize, &Places)| {
                    Layer::new(palette::series(index), Shape::Line(line.clone()))
                };
                lines.iter().enumerate().map(layer).collect()
            }
            Windows::Range {
                low, median, high, ..
            } => {
                let edge = |(low, high): (&(f64, f64), &(f64, f64))| (low.0, low.1, high.1);
                let range = low.iter().zip(high).map(edge).collect();
                vec![
                    Layer::new(RANGE, Shape::Area(range)),
                    Layer::new(ACCENT, Shape::Line(median.clone())),
                ]
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use record::synthetic;
    use units::Time;

    fn windows(body: &Simulate) -> String {
        windows_and_queue(recorded(body).unwrap()).svg().unwrap()
    }

    #[test]
    fn few_streams_have_a_line_each_and_many_a_range() {
        let few = windows(&synthetic::simulate(3).body);
        assert!(few.contains("stream 3") && !few.contains("<polygon"));
        let many = windows(&synthetic::simulate(100).body);
        assert!(many.contains("median window of 100 streams"));
        assert_eq!(many.matches("<polygon").count(), 1);
        assert!(many.contains("window [segments]") && many.contains("queue [packets]"));
    }

    #[test]
    fn the_cross_traffic_lies_on_top_of_the_streams() {
        let body = synthetic::simulate(8).body;
        let svg = goodput(&body, recorded(&body).unwrap()).svg().unwrap();
        assert_eq!(svg.matches("<polygon").count(), 2);
        assert!(svg.contains("cross traffic") && svg.contains("acknowledged [Mbit/s]"));
    }

    #[test]
    fn without_a_series_there_is_no_plot() {
        let mut body = synthetic::simulate(2).body;
        body.runs.iter_mut().for_each(|run| run.series.clear());
        assert_eq!(recorded(&body), None);
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
        let svg = windows(&body);
        assert!(!svg.contains("NaN"));
        let svg = goodput(&body, recorded(&body).unwrap()).svg().unwrap();
        assert!(!svg.contains("NaN"));
    }
}
