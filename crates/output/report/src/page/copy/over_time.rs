//! A copy over time: goodput, streams, files and round trip below each other, and what the threads
//! of both ends did.

use draw::chart::palette::RGBColor;
use record::Copy;
use record::copy::{CopyReading, EndShares};

use draw::chart::axis::Axis;
use draw::chart::palette::{ACCENT, BLUE, GREY, SERIES};
use draw::chart::{Axes, Chart, Entry, Layer, Mark, Shape};
use draw::format::RateUnit;

/// More readings than this do not show on the width of a plot; of neighbours their means are drawn.
const POINTS_MAX: usize = 600;
const HEIGHT: u32 = 340;

/// Goodput, streams, files and round trip over time; `None` of a copy without two readings.
pub fn course(copy: &Copy) -> Option<Chart> {
    let (readings, x) = moving(copy)?;
    let top = highest(&readings, |one| Some(one.rate_bits_per_second as f64));
    let unit = RateUnit::fitting(top);
    let rate = curve(&readings, |one| {
        Some(one.rate_bits_per_second as f64 / unit.factor)
    });
    let rtt = curve(&readings, |one| Some(one.rtt_seconds? * 1e3));
    let mut panels = vec![
        panel(&x, format!("goodput [{}]", unit.name), BLUE, vec![rate]),
        counts(&x, "streams", ACCENT, &readings, |one| {
            Some(f64::from(one.streams))
        }),
    ];
    let files = |one: &CopyReading| one.files.map(|files| files as f64);
    if highest(&readings, files) > 1.0 {
        panels.push(counts(&x, "files", SERIES[2], &readings, files));
    }
    if !rtt.is_empty() {
        let pieces = pieces(&rtt, 4.0 * step(&readings));
        panels.push(panel(&x, "RTT [ms]".to_owned(), GREY, pieces));
    }
    Some(Chart::new(Vec::new(), with_time(panels)))
}

/// Disk against network against processor at both ends; `None` where that was not seen.
pub fn threads(copy: &Copy) -> Option<Chart> {
    let (readings, x) = moving(copy)?;
    let ends: [(&str, EndOf); 2] = [
        ("sender [%]", |one| one.sender),
        ("receiver [%]", |one| one.receiver),
    ];
    let seen = ends
        .into_iter()
        .filter(|(_, end)| readings.iter().any(|one| end(one).is_some()));
    let panels: Vec<Axes> = seen
        .map(|(title, end)| Axes {
            y: Axis::whole(0.0, 100.0, 4),
            layers: ACTIVITIES
                .iter()
                .map(|(_, colour, share)| {
                    let line = curve(&readings, |one| Some(share(&end(one)?) * 100.0));
                    Layer::new(*colour, Shape::Line(line))
                })
                .collect(),
            ..panel(&x, title.to_owned(), BLUE, Vec::new())
        })
        .collect();
    let entry =
        |(name, colour, _): &(&str, RGBColor, ShareOf)| Entry::new(Mark::Line(*colour), *name);
    let legend = ACTIVITIES.iter().map(entry).collect();
    (!panels.is_empty()).then(|| Chart::new(legend, with_time(panels)))
}

type EndOf = fn(&CopyReading) -> Option<EndShares>;
type ShareOf = fn(&EndShares) -> f64;

/// What the threads of an end spend time on.
const ACTIVITIES: [(&str, RGBColor, ShareOf); 3] = [
    ("disk", ACCENT, |end| end.disk_ratio),
    ("network", BLUE, |end| end.network_ratio),
    ("processor", SERIES[2], |end| end.processor_ratio),
];

/// The readings from the first data on, not too many, and their time.
fn moving(copy: &Copy) -> Option<(Vec<CopyReading>, Axis)> {
    let sound = copy.readings.iter().copied().filter(is_sound);
    // Before anything was delivered there is no rate, and no number of streams that carried it.
    let is_before = |one: &CopyReading| one.rate_bits_per_second == 0;
    let all: Vec<CopyReading> = sound.skip_while(is_before).collect();
    let last = all.last().filter(|_| all.len() > 1)?;
    let x = Axis::exact(0.0, last.at_seconds, 10);
    Some((thinned(&all, POINTS_MAX), x))
}

fn with_time(mut panels: Vec<Axes>) -> Vec<Axes> {
    if let Some(lowest) = panels.last_mut() {
        lowest.x_title = Some("time [s]".to_owned());
    }
    panels
}

fn counts(
    x: &Axis,
    title: &str,
    colour: RGBColor,
    readings: &[CopyReading],
    of: fn(&CopyReading) -> Option<f64>,
) -> Axes {
    Axes {
        y: Axis::counts(highest(readings, of)),
        ..panel(x, title.to_owned(), colour, vec![curve(readings, of)])
    }
}

type Line = Vec<(f64, f64)>;

/// A stranger's document may hold any number.
fn is_sound(reading: &CopyReading) -> bool {
    let rtt = reading.rtt_seconds.unwrap_or_default();
    let ends = [reading.sender, reading.receiver].into_iter().flatten();
    let mut shares = ends.flat_map(|end| ACTIVITIES.map(|(_, _, share)| share(&end)));
    (0.0..1e9).contains(&reading.at_seconds)
        && (0.0..1e6).contains(&rtt)
        && shares.all(|share| (0.0..=1.0).contains(&share))
}

/// Means of neighbours, so that at most `most` are left.
fn thinned(all: &[CopyReading], most: usize) -> Vec<CopyReading> {
    all.chunks(all.len().div_ceil(most).max(1))
        .filter_map(mean)
        .collect()
}

fn mean(some: &[CopyReading]) -> Option<CopyReading> {
    let last = some.last()?;
    let over = |of: &dyn Fn(&CopyReading) -> Option<f64>| {
        let values: Vec<f64> = some.iter().filter_map(of).collect();
        stats::mean(&values)
    };
    let rate = over(&|one| Some(one.rate_bits_per_second as f64))?;
    Some(CopyReading {
        rate_bits_per_second: rate as u64,
        rtt_seconds: over(&|one| one.rtt_seconds),
        ..*last
    })
}

fn curve(readings: &[CopyReading], of: impl Fn(&CopyReading) -> Option<f64>) -> Line {
    let place = |one: &CopyReading| Some((one.at_seconds, of(one)?));
    readings.iter().filter_map(place).collect()
}

fn highest(readings: &[CopyReading], of: impl Fn(&CopyReading) -> Option<f64>) -> f64 {
    readings.iter().filter_map(of).fold(0.0, f64::max)
}

/// Time between readings, on average.
fn step(readings: &[CopyReading]) -> f64 {
    let span = readings.last().map_or(0.0, |last| last.at_seconds);
    span / readings.len().max(1) as f64
}

/// `line` cut where nothing was read for longer than `gap`.
fn pieces(line: &[(f64, f64)], gap: f64) -> Vec<Line> {
    let near = |one: &(f64, f64), next: &(f64, f64)| next.0 - one.0 <= gap;
    line.chunk_by(near).map(<[(f64, f64)]>::to_vec).collect()
}

fn panel(x: &Axis, y_title: String, colour: RGBColor, lines: Vec<Line>) -> Axes {
    let values = lines.iter().flatten().map(|(_, value)| *value);
    let top = values.fold(0.0, f64::max);
    let layer = |line| Layer::new(colour, Shape::Line(line));
    Axes {
        height: HEIGHT,
        x: x.clone(),
        x_title: None,
        y: Axis::whole(0.0, top.max(1e-3), 4),
        y_title,
        layers: lines.into_iter().map(layer).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use record::synthetic;

    fn drawn(copy: &Copy) -> String {
        course(copy).unwrap().svg().unwrap()
    }

    #[test]
    fn the_panels_have_their_curves() {
        let svg = drawn(&synthetic::copy().body);
        for title in [
            "goodput [Mbit/s]",
            "streams",
            "files",
            "RTT [ms]",
            "time [s]",
        ] {
            assert!(svg.contains(title), "{title}");
        }
    }

    #[test]
    fn numbers_of_streams_are_whole_and_the_curve_begins_where_data_flows() {
        let mut copy = synthetic::copy().body;
        for one in &mut copy.readings {
            one.streams = 2;
        }
        let before = drawn(&copy);
        assert!(!before.contains(">0.5<") && !before.contains(">1.5<"));
        let first = CopyReading {
            at_seconds: 0.25,
            rate_bits_per_second: 0,
            streams: 0,
            ..copy.readings[0]
        };
        copy.readings.insert(0, first);
        assert_eq!(drawn(&copy), before);
    }

    #[test]
    fn an_outage_breaks_the_round_trips_in_two() {
        let copy = synthetic::copy().body;
        let rtt = curve(&copy.readings, |one| one.rtt_seconds);
        assert_eq!(pieces(&rtt, 4.0 * step(&copy.readings)).len(), 2);
    }

    #[test]
    fn a_day_of_readings_becomes_few_points() {
        let one = synthetic::copy().body.readings[20];
        let all = vec![one; 172_800];
        let few = thinned(&all, POINTS_MAX);
        assert!(few.len() <= POINTS_MAX && few[0].streams == one.streams);
        assert_eq!(few[0].rate_bits_per_second, one.rate_bits_per_second);
    }

    #[test]
    fn the_threads_of_both_ends_are_drawn_where_they_were_seen() {
        let mut copy = synthetic::copy().body;
        let svg = threads(&copy).unwrap().svg().unwrap();
        for title in ["sender [%]", "receiver [%]", "network", "processor"] {
            assert!(svg.contains(title), "{title}");
        }
        for reading in &mut copy.readings {
            (reading.sender, reading.receiver) = (None, None);
        }
        assert_eq!(threads(&copy), None);
    }

    #[test]
    fn absurd_readings_and_short_copies_have_no_plot() {
        let mut copy = synthetic::copy().body;
        for reading in &mut copy.readings {
            reading.at_seconds = f64::MAX;
        }
        assert_eq!(course(&copy), None);
        copy.readings.truncate(1);
        assert_eq!(course(&copy), None);
    }
}
