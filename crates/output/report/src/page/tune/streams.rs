//! Throughput and added round-trip time against the number of streams.

use draw::chart::palette::RGBColor;
use record::StreamCount;
use record::{Run, Sample, Transport, Tune, Window};

use crate::text::plain;
use draw::chart::axis::Axis;
use draw::chart::palette::{self, ACCENT};
use draw::chart::{Axes, Chart, Entry, Layer, Mark, Shape};
use draw::format::RateUnit;

const UPPER: u32 = 600;
const LOWER: u32 = 474;
const RADIUS: i32 = 9;

/// What the samples of a curve share.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Kind<'a> {
    is_paced: bool,
    /// The congestion control, where it is not that of the first sample.
    other: Option<&'a str>,
    window: Window,
}

/// The samples of one kind.
struct Curve<'a> {
    kind: Kind<'a>,
    colour: RGBColor,
    samples: Vec<&'a Sample>,
}

/// Two panels over the number of streams, a curve for each window: throughput with its 95 %
/// interval above, added round-trip time below; the recommendation ringed.
pub fn chart(tune: &Tune) -> Chart {
    let curves = curves(tune);
    let chosen = tune.recommended_sample().map(|sample| &sample.run);
    let runs = tune.samples.iter().map(|sample| &sample.run);
    let most = runs.clone().map(|run| run.setting.streams).max();
    let x = Axis::powers_of_two(f64::from(most.unwrap_or(StreamCount::ONE)));
    let top = runs.clone().map(high).fold(0.0, f64::max);
    let unit = RateUnit::fitting(top);
    let goodput = |run: &Run| Some(run.goodput_bits_per_second as f64 / unit.factor);
    let added = |run: &Run| run.rtt.added_seconds.map(|seconds| seconds * 1e3);
    let ends = runs.filter_map(added);
    let (low, high) = ends.fold((0.0, 1.0), |(low, high): (f64, f64), end| {
        (low.min(end), high.max(end))
    });
    let upper = Axes {
        height: UPPER,
        x: x.clone(),
        x_title: None,
        y: Axis::whole(0.0, top / unit.factor, 5),
        y_title: format!("goodput [{}]", unit.name),
        layers: layers(&curves, chosen, &goodput, &|run| interval(run, unit)),
    };
    let lower = Axes {
        height: LOWER,
        x,
        x_title: Some("streams".to_owned()),
        y: Axis::whole(low, high, 4),
        y_title: "added RTT [ms]".to_owned(),
        layers: layers(&curves, chosen, &added, &|_| None),
    };
    Chart::new(legend(&curves), [upper, lower])
}

fn high(run: &Run) -> f64 {
    let high = run.interval.map(|interval| interval.high.as_f64());
    high.unwrap_or(run.goodput_bits_per_second as f64)
}

/// Its ends in the unit of the axis.
fn interval(run: &Run, unit: RateUnit) -> Option<(f64, f64)> {
    let interval = run.interval?;
    let [low, high] = [interval.low, interval.high].map(|end| end.as_f64() / unit.factor);
    Some((low, high))
}

fn curves(tune: &Tune) -> Vec<Curve<'_>> {
    let first = tune.samples.first();
    let usual = first.and_then(|first| first.run.setting.congestion.as_deref());
    let mut kinds: Vec<Kind<'_>> = tune.samples.iter().map(|one| kind(one, usual)).collect();
    kinds.sort();
    kinds.dedup();
    let curve = |(index, of)| Curve {
        colour: match of {
            Kind {
                is_paced: false,
                other: None,
                window: Window::Auto,
            } => palette::BLUE,
            _ => palette::series(index + 1),
        },
        samples: sorted(tune.samples.iter().filter(|one| kind(one, usual) == of)),
        kind: of,
    };
    let curves = kinds.iter().copied().enumerate();
    curves.map(curve).collect()
}

fn kind<'a>(sample: &'a Sample, usual: Option<&str>) -> Kind<'a> {
    let setting = &sample.run.setting;
    let congestion = setting.congestion.as_deref();
    Kind {
        is_paced: setting.pacing.is_some(),
        other: match setting.transport {
            Transport::Tcp => congestion.filter(|name| Some(*name) != usual),
            Transport::Udp => Some("over UDP"),
        },
        window: setting.window,
    }
}

fn sorted<'a>(samples: impl Iterator<Item = &'a Sample>) -> Vec<&'a Sample> {
    let mut samples: Vec<&Sample> = samples.collect();
    samples.sort_by_key(|sample| sample.run.setting.streams);
    samples
}

fn legend(curves: &[Curve<'_>]) -> Vec<Entry> {
    let window = |curve: &Curve<'_>| {
        let kind = &curve.kind;
        let other = kind.other.map(|name| format!(", {}", plain(name)));
        let paced = if kind.is_paced { ", paced" } else { "" };
        Entry::new(
            Mark::Dot(curve.colour),
            format!("window {}{}{paced}", kind.window, other.unwrap_or_default()),
        )
    };
    let chosen = Entry::new(Mark::Ring(ACCENT), "recommended");
    curves.iter().map(window).chain([chosen]).collect()
}

/// Where a run stands on the upright axis.
type Value<'a> = &'a dyn Fn(&Run) -> Option<f64>;
/// The ends of its whisker there.
type Spread<'a> = &'a dyn Fn(&Run) -> Option<(f64, f64)>;

fn layers(
    curves: &[Curve<'_>],
    chosen: Option<&Run>,
    value: Value<'_>,
    spread: Spread<'_>,
) -> Vec<Layer> {
    let layers = curves.iter().flat_map(|curve| curve.layers(value, spread));
    let ring = chosen
        .and_then(|run| place(run, value))
        .into_iter()
        .collect();
    layers
        .chain([Layer::new(ACCENT, Shape::Rings(17, ring))])
        .collect()
}

impl Curve<'_> {
    fn layers(&self, value: Value<'_>, spread: Spread<'_>) -> Vec<Layer> {
        let whisker = |sample: &&Sample| {
            let (low, high) = spread(&sample.run)?;
            Some((log_streams(&sample.run), low, high))
        };
        let whiskers = self.samples.iter().filter_map(whisker).collect();
        let counting = self.places(value, |sample| sample.doubt.is_none());
        // What does not count for what it showed is pale.
        let doubted = self.places(value, |sample| sample.doubt.is_some());
        let shapes = [
            Shape::Line(means(&counting)),
            Shape::Whiskers(whiskers),
            Shape::Dots(RADIUS, counting),
            Shape::PaleDots(RADIUS, doubted),
        ];
        shapes.map(|shape| Layer::new(self.colour, shape)).into()
    }

    fn places(&self, value: Value<'_>, counts: fn(&Sample) -> bool) -> Vec<(f64, f64)> {
        let samples = self.samples.iter().filter(|sample| counts(sample));
        samples
            .filter_map(|sample| place(&sample.run, value))
            .collect()
    }
}

fn place(run: &Run, value: Value<'_>) -> Option<(f64, f64)> {
    Some((log_streams(run), value(run)?))
}

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
    f64::from(run.setting.streams).log2()
}

#[cfg(test)]
mod tests {
    use super::*;
    use record::synthetic;

    fn drawn(tune: &Tune) -> String {
        chart(tune).svg().unwrap()
    }

    #[test]
    fn every_sample_is_a_dot_in_both_panels_and_one_is_ringed() {
        let tune = synthetic::tune(7).body;
        let svg = drawn(&tune);
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
        tune.samples[0].run.setting.pacing = Some(units::Rate::from_bits_per_second(40_000_000));
        let curves = curves(&tune);
        assert_eq!(curves.iter().filter(|curve| curve.kind.is_paced).count(), 1);
        assert!(drawn(&tune).contains("window auto, paced"));
    }

    #[test]
    fn a_recommendation_that_points_nowhere_is_drawn_without_a_ring() {
        let mut tune = synthetic::tune(7).body;
        tune.answer.as_mut().unwrap().recommended.sample = 99;
        assert_eq!(drawn(&tune).matches("r=\"17\"").count(), 0);
    }
}
