//! The chart of a pair: smoke above goodput above what was sent again.

use changes::{EventKind, Hour, Metric};
use draw::chart::axis::Axis;
use draw::chart::palette::{ACCENT, BLUE, GREY, INK, RGBColor, SERIES};
use draw::chart::{Axes, Entry, Layer, Mark, Shape};
use draw::format::RateUnit;
use watch_store::{Border, Crossing, StoredEvent};

use super::super::border;
use super::beside::Beside;
use super::series::{Carried, Series, Trips, parts};
use crate::figure::{Figure, Link};
use crate::range::Range;
use crate::{calendar, href, words};

/// Heights of the panels, in units of the drawing.
const SMOKE: u32 = 400;
const GOODPUT: u32 = 440;
const RESENT: u32 = 250;
/// Room for the labels of the lowest panel.
const LABELS: u32 = 68;
/// Shares of the sorted round trips between which each band of smoke lies.
const BANDS: [(f64, f64); 4] = [(0.0, 1.0), (0.1, 0.9), (0.2, 0.8), (0.35, 0.65)];
/// Losses up to which a median has its colour, and the words of the legend.
const LOSSES: [(f64, usize, &str); 4] = [
    (0.0, 2, "median, none lost"),
    (0.05, 1, "up to 5 % lost"),
    (0.20, 3, "up to 20 %"),
    (1.0, 4, "more"),
];
/// Above this many points dots would hide the line.
const DOTS: usize = 500;
/// Traffic across the border.
const IN: RGBColor = SERIES[2];
const OUT: RGBColor = SERIES[3];
/// What is drawn beside a pair.
const BESIDE: RGBColor = SERIES[5];
/// Room above the highest value, as a share.
const ROOM: f64 = 1.05;
/// What an axis of round trips spans at least, as a share of the longest.
const LEAST: f64 = 0.02;

/// Which panels a chart has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Panels {
    /// All that there are values for.
    All,
    /// Round trips alone.
    RoundTrips,
    /// Goodput alone.
    Goodput,
}

/// What is drawn.
pub struct Chart<'a> {
    /// Its panels.
    pub panels: Panels,
    /// Round trips and goodput.
    pub series: &'a Series,
    /// What is drawn beside it.
    pub beside: Option<&'a Beside>,
    /// Traffic across the border in the same time.
    pub border: Option<&'a Border>,
    /// Events of the pair.
    pub events: &'a [StoredEvent],
    /// Hours to come.
    pub hours: &'a [Hour],
    /// The axis of time.
    pub range: Range,
    /// What it is.
    pub title: String,
}

/// Events in the order of time, as their numbers count.
pub fn numbered(events: &[StoredEvent]) -> Vec<StoredEvent> {
    let mut events = events.to_vec();
    events.sort_by_key(|stored| stored.event.first_visit);
    events
}

impl Chart<'_> {
    /// The figure; `None` where there is nothing to draw.
    pub fn figure(&self) -> Option<Figure> {
        let (trips, goodput) = (self.series.trips(), self.series.goodput());
        let failures = self.series.failures();
        let events = numbered(self.events);
        let mut legend = Vec::new();
        let mut panels = Vec::new();
        if !trips.is_empty() && self.panels != Panels::Goodput {
            panels.push(self.smoke(&trips, &failures, &mut legend));
        }
        if !goodput.is_empty() && self.panels != Panels::RoundTrips {
            panels.push(self.goodput(&goodput, &failures, &mut legend));
        }
        if self.panels == Panels::All {
            if !panels.is_empty() {
                panels.extend(self.traffic(&mut legend));
            }
            panels.extend(self.lost());
        }
        if panels.is_empty() && !failures.is_empty() {
            panels.push(self.failed(&failures));
        }
        if !failures.is_empty() {
            legend.push(Entry::new(Mark::Cross(ACCENT), "failed visit"));
        }
        if let Some(beside) = self.beside {
            legend.push(Entry::new(Mark::Line(BESIDE), beside.name.clone()));
        }
        for panel in &mut panels {
            self.mark(panel, &events);
        }
        if !events.is_empty() {
            legend.push(Entry::new(Mark::Dashes(ACCENT), "event"));
        }
        let lowest = panels.last_mut()?;
        lowest.x_title = Some(match self.panels {
            Panels::All => "time [UTC]".to_owned(),
            Panels::Goodput | Panels::RoundTrips => String::new(),
        });
        lowest.height += LABELS;
        Some(Figure {
            name: "over-time".to_owned(),
            title: self.title.clone(),
            description: self.description(&trips, &goodput, failures.len()),
            legend,
            panels,
            range: self.range(),
            links: (1..).zip(&events).map(link).collect(),
        })
    }

    /// With the hours to come.
    fn range(&self) -> Range {
        let end = self
            .hours
            .last()
            .map(|hour| hour.at + units::Span::from_secs(3600));
        let to = end.map_or(self.range.to, |end| end.max(self.range.to));
        Range { to, ..self.range }
    }

    fn time(&self) -> Axis {
        let (from, to) = self.range().ends();
        let labels = calendar::labels((from, to));
        Axis::labelled(from.seconds() as f64, to.seconds() as f64, labels)
    }

    fn axes(&self, height: u32, y: Axis, y_title: String, layers: Vec<Layer>) -> Axes {
        Axes {
            height,
            x: self.time(),
            x_title: None,
            y,
            y_title,
            layers,
        }
    }

    fn smoke(&self, trips: &[Trips], failures: &[f64], legend: &mut Vec<Entry>) -> Axes {
        let beside = self.beside.map_or(&[][..], |beside| &beside.trips);
        let beside: Vec<_> = beside.iter().filter_map(median).collect();
        let values = || {
            trips
                .iter()
                .flat_map(|trips| &trips.marks)
                .map(|(_, trip)| *trip)
                .chain(beside.iter().map(|(.., trip)| *trip))
        };
        let high = values().fold(0.0, f64::max).max(1e-3);
        let low = values().fold(high, f64::min);
        let y = round_trip_axis((low, high), LEAST, 4);
        let mut layers = Vec::new();
        let parts = parts(trips, |trips| trips.at);
        for (below, above) in BANDS {
            for part in &parts {
                let area = part.iter().filter_map(|trips| band(trips, below, above));
                let area = area.flatten().collect();
                layers.push(Layer::new(INK, Shape::FaintArea(area)));
            }
        }
        legend.push(Entry::new(Mark::Area(GREY), "round trips of a visit"));
        for (class, (_, colour, words)) in LOSSES.iter().enumerate() {
            let levels: Vec<_> = trips
                .iter()
                .filter(|trips| class_of(trips) == class)
                .collect();
            let levels: Vec<_> = levels.into_iter().filter_map(median).collect();
            if !levels.is_empty() {
                layers.push(Layer::new(SERIES[*colour], Shape::Levels(levels)));
                legend.push(Entry::new(Mark::Line(SERIES[*colour]), *words));
            }
        }
        layers.push(Layer::new(BESIDE, Shape::Levels(beside)));
        layers.push(crosses(failures, &y));
        self.axes(SMOKE, y, "round trip [ms]".to_owned(), layers)
    }

    fn goodput(&self, parts: &[Vec<Carried>], failures: &[f64], legend: &mut Vec<Entry>) -> Axes {
        let points = || parts.iter().flatten();
        let beside = self.beside.map_or(&[][..], |beside| &beside.goodput);
        let hours = self.hours.iter().map(|hour| hour.high.as_f64());
        let high = points()
            .map(|point| point.high)
            .chain(beside.iter().flatten().map(|point| point.median))
            .chain(hours)
            .fold(0.0, f64::max);
        let unit = RateUnit::fitting(high);
        let scale = |value: f64| value / unit.factor;
        let y = Axis::whole(0.0, scale(high * ROOM).max(1e-9), 4);
        let mut layers = Vec::new();
        if points().any(|point| point.low < point.high) {
            for part in parts {
                let area = part.iter().map(|p| (p.at, scale(p.low), scale(p.high)));
                let area: Vec<_> = area.collect();
                // Twice, to be seen.
                layers.push(Layer::new(BLUE, Shape::FaintArea(area.clone())));
                layers.push(Layer::new(BLUE, Shape::FaintArea(area)));
            }
            legend.push(Entry::new(Mark::Line(BLUE), "goodput: median, 5 to 95 %"));
        } else {
            legend.push(Entry::new(Mark::Line(BLUE), "goodput"));
        }
        let few = self.panels == Panels::All && points().count() <= DOTS;
        for part in parts {
            let line: Vec<_> = part.iter().map(|p| (p.at, scale(p.median))).collect();
            if few {
                layers.push(Layer::new(BLUE, Shape::Dots(5, line.clone())));
            }
            layers.push(Layer::new(BLUE, Shape::Line(line)));
        }
        for part in beside {
            let line = part.iter().map(|p| (p.at, scale(p.median)));
            layers.push(Layer::new(BESIDE, Shape::Line(line.collect())));
        }
        if !self.hours.is_empty() {
            layers.extend(self.forecast(scale));
            legend.push(Entry::new(Mark::Dashes(BLUE), "forecast, 90 % interval"));
        }
        layers.push(crosses(failures, &y));
        self.axes(GOODPUT, y, format!("goodput [{}]", unit.name), layers)
    }

    fn forecast(&self, scale: impl Fn(f64) -> f64) -> Vec<Layer> {
        let middle = |hour: &Hour| hour.at.seconds() as f64 + 1800.0;
        let hours = || self.hours.iter();
        let edge = |hour: &Hour| {
            let (low, high) = (scale(hour.low.as_f64()), scale(hour.high.as_f64()));
            (middle(hour), low, high)
        };
        let area: Vec<_> = hours().map(edge).collect();
        let line = hours().map(|hour| (middle(hour), scale(hour.median.as_f64())));
        vec![
            Layer::new(BLUE, Shape::FaintArea(area)),
            Layer::new(BLUE, Shape::Dashes(line.collect())),
        ]
    }

    /// What crosses the border; `None` without records of it.
    fn traffic(&self, legend: &mut Vec<Entry>) -> Option<Axes> {
        let border = self.border.filter(|border| !border.covered.is_empty())?;
        let ways = [(Crossing::In, IN), (Crossing::Out, OUT)];
        let curves = ways.map(|(way, colour)| (colour, border.rates(way, |_| true)));
        let (y, unit, layers) = border::lines(border, &curves);
        for (way, colour) in ways {
            let words = format!("all traffic {}", way.name());
            legend.push(Entry::new(Mark::Line(colour), words));
        }
        Some(self.axes(RESENT, y, format!("border [{unit}]"), layers))
    }

    fn lost(&self) -> Option<Axes> {
        let (what, lost) = self.series.lost();
        let high = lost.iter().map(|(_, share)| *share).fold(0.0, f64::max);
        if high <= 0.0 {
            return None;
        }
        let y = Axis::whole(0.0, high * 100.0, 2);
        let bar = |(at, share): &(f64, f64)| vec![(*at, 0.0), (*at, share * 100.0)];
        let layer = |place| Layer::new(SERIES[4], Shape::Line(bar(place)));
        let layers = lost.iter().filter(|(_, share)| *share > 0.0).map(layer);
        Some(self.axes(RESENT, y, what.to_owned(), layers.collect()))
    }

    /// Failures alone.
    fn failed(&self, failures: &[f64]) -> Axes {
        let y = Axis::whole(0.0, 1.0, 1);
        let layers = vec![crosses(failures, &y)];
        self.axes(RESENT, y, "failures".to_owned(), layers)
    }

    /// An upright line through a panel for each event that it shows.
    fn mark(&self, panel: &mut Axes, events: &[StoredEvent]) {
        for stored in events {
            let at = stored.event.first_visit.seconds() as f64;
            let line = vec![(at, panel.y.low), (at, panel.y.high)];
            panel.layers.push(Layer::new(ACCENT, Shape::Dashes(line)));
        }
    }

    fn description(&self, trips: &[Trips], parts: &[Vec<Carried>], failed: usize) -> String {
        let lost: Vec<f64> = trips.iter().filter_map(|trips| trips.loss).collect();
        let lost = (!lost.is_empty()).then(|| {
            let mean = lost.iter().sum::<f64>() / lost.len() as f64;
            format!("{} of the probes lost.", draw::format::percent(mean))
        });
        let failed =
            (failed > 0).then(|| format!("{} failed.", draw::words::count(failed as u64, "visit")));
        let events = (!self.events.is_empty())
            .then(|| format!("{}.", draw::words::count(self.events.len() as u64, "event")));
        let beside = self.beside.and_then(|beside| {
            let medians = medians(&beside.trips, &beside.goodput)?;
            Some(format!("{}: {medians}.", beside.name))
        });
        let medians = medians(trips, parts).map(|medians| format!("{medians}."));
        let medians = medians.map(|words| draw::words::sentence(&words));
        let sentences = [medians, lost, failed, events, beside];
        sentences
            .into_iter()
            .flatten()
            .collect::<Vec<_>>()
            .join(" ")
    }
}

/// `median round trip 12 ms, median goodput 1 Gbit/s`; `None` without any.
fn medians(trips: &[Trips], parts: &[Vec<Carried>]) -> Option<String> {
    let trips: Vec<f64> = trips.iter().filter_map(median).map(|(.., at)| at).collect();
    let goodputs: Vec<f64> = parts.iter().flatten().map(|point| point.median).collect();
    let trip = stats::median(&trips)
        .map(|trip| words::value(Metric::RoundTripMedian, trip / 1e3))
        .map(|trip| format!("median round trip {trip}"));
    let goodput = stats::median(&goodputs)
        .map(|goodput| words::value(Metric::Goodput, goodput))
        .map(|goodput| format!("median goodput {goodput}"));
    let all: Vec<String> = trip.into_iter().chain(goodput).collect();
    (!all.is_empty()).then(|| all.join(", "))
}

/// An axis for round trips: steps of some milliseconds stay visible on a long path, and the lowest
/// value stands above the frame. It spans `least` of the longest at least.
pub fn round_trip_axis((low, high): (f64, f64), least: f64, about: usize) -> Axis {
    if low <= high / 2.0 {
        return Axis::whole(0.0, high * ROOM, about);
    }
    let reach = (high - low).max(high * least);
    let room = reach * (ROOM - 1.0);
    Axis::whole(low - room, low + reach + room, about)
}

/// Both ends of a visit's part of a band.
fn band(trips: &Trips, below: f64, above: f64) -> Option<[(f64, f64, f64); 2]> {
    let low = trips.quantile(below)?;
    let high = trips.quantile(above)?;
    Some([(trips.at, low, high), (trips.until, low, high)])
}

fn median(trips: &Trips) -> Option<(f64, f64, f64)> {
    Some((trips.at, trips.until, trips.quantile(0.5)?))
}

fn class_of(trips: &Trips) -> usize {
    let loss = trips.loss.unwrap_or(0.0);
    let class = LOSSES.iter().position(|(bound, ..)| loss <= *bound);
    class.unwrap_or(LOSSES.len() - 1)
}

fn crosses(failures: &[f64], y: &Axis) -> Layer {
    let at = y.low + (y.high - y.low) * 0.04;
    let places = failures.iter().map(|time| (*time, at)).collect();
    Layer::new(ACCENT, Shape::Crosses(places))
}

fn link((number, stored): (usize, &StoredEvent)) -> Link {
    let event = &stored.event;
    let verb = match event.kind {
        EventKind::NoData => "from",
        _ => "since",
    };
    let time = calendar::minute(event.first_visit);
    Link {
        at: event.first_visit.seconds() as f64,
        label: number.to_string(),
        title: format!("{} {verb} {time} UTC", words::headline(event)),
        href: href::event(&stored.key()).to_string(),
    }
}
