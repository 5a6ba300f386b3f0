//! The panels of curves.

use draw::chart::palette::RGBColor;
use record::Window;

use super::{Curves, Line};
use crate::page::sweep::groups::{Column, Spread};
use crate::page::sweep::metric::{GOODPUT, Metric, Scale};
use draw::chart::axis::Axis;
use draw::chart::palette::window_colour;
use draw::chart::palette::{ACCENT, INK};
use draw::chart::{Axes, Chart, Layer, Shape};
use draw::chart::{Entry, Mark};

/// With more settings on a line than this, dots are small.
const DOTS_MAX: usize = 24;

/// Settings with rings of one kind.
pub(super) struct Ringed {
    name: &'static str,
    colour: RGBColor,
    radius: i32,
    pub(super) settings: Vec<(u16, Window)>,
}

impl Curves<'_> {
    /// A panel for each metric that is known.
    pub(in crate::page::sweep::charts) fn chart(&self, metrics: &[&Metric]) -> Chart {
        let known = self.known(metrics);
        let last = known.len().saturating_sub(1);
        let panels = known.iter().enumerate();
        let is_tall = |place: usize| place == 0 && metrics.len() > 2;
        let panels =
            panels.map(|(place, metric)| self.panel(metric, is_tall(place), place == last));
        let with_marks = known.iter().any(|metric| metric.title == GOODPUT.title);
        Chart::new(self.entries(with_marks), panels)
    }

    /// Of the goodput, where knees, recommendation and highest median are marked, also what the
    /// marks mean.
    fn entries(&self, with_marks: bool) -> Vec<Entry> {
        let lines = self.lines.iter().enumerate();
        let lines = lines
            .map(|(index, line)| Entry::new(Mark::Line(window_colour(index)), line.name.clone()));
        let marks = self.marks().into_iter().filter(|_| with_marks);
        let marks = marks.filter(|mark| !mark.settings.is_empty());
        let marks = marks.map(|mark| Entry::new(Mark::Ring(mark.colour), mark.name));
        let simulated =
            (with_marks && self.is_simulated()).then(|| Entry::new(Mark::Dashes(INK), "simulated"));
        lines.chain(marks).chain(simulated).collect()
    }

    fn panel(&self, metric: &Metric, is_tall: bool, is_last: bool) -> Axes {
        let (unit, factor) = metric.scale.unit(self.group.top(metric));
        let layers: Vec<Layer> = (0..self.lines.len())
            .flat_map(|index| self.layers(index, metric, factor))
            .chain(self.simulated(metric, factor))
            .chain(self.rings(metric, factor))
            .collect();
        Axes {
            height: if is_tall { 600 } else { 360 } + if is_last { 68 } else { 0 },
            x: self.axis.clone(),
            x_title: is_last.then(|| self.title.to_owned()),
            y: y_axis(&layers, metric.scale, if is_tall { 5 } else { 3 }),
            y_title: match unit {
                "" => metric.title.to_owned(),
                unit => format!("{} [{unit}]", metric.title),
            },
            layers,
        }
    }

    fn layers(&self, index: usize, metric: &Metric, factor: f64) -> Vec<Layer> {
        let line = &self.lines[index];
        let spread = |(x, (streams, window)): &(f64, (u16, Window))| {
            Some((*x, self.group.spread(*streams, *window, metric)?))
        };
        let spreads: Vec<(f64, Spread)> = line.settings.iter().filter_map(spread).collect();
        let middles: Vec<(f64, f64)> = spreads
            .iter()
            .map(|(x, s)| (*x, s.middle / factor))
            .collect();
        let wide = spreads.iter().filter(|(_, s)| s.high > s.low);
        let whiskers = wide.map(|(x, s)| (*x, s.low / factor, s.high / factor));
        let radius = if middles.len() > DOTS_MAX { 5 } else { 8 };
        let shapes = [
            Shape::Whiskers(whiskers.collect()),
            Shape::Line(middles.clone()),
            Shape::Dots(radius, middles),
        ];
        let colour = window_colour(index);
        shapes
            .into_iter()
            .map(|shape| Layer { colour, shape })
            .collect()
    }

    /// Whether anything was simulated beside it.
    pub(super) fn is_simulated(&self) -> bool {
        !self.simulated(&GOODPUT, 1.0).is_empty()
    }

    /// The dashed curves of the simulator, in the panel of the goodput.
    fn simulated(&self, metric: &Metric, factor: f64) -> Vec<Layer> {
        if metric.title != GOODPUT.title {
            return Vec::new();
        }
        let place = |(x, (streams, window)): &(f64, (u16, Window))| {
            Some((*x, self.group.simulated(*streams, *window)? / factor))
        };
        let lines = self.lines.iter().enumerate();
        let layer = |(index, line): (usize, &Line)| {
            let places = line.settings.iter().filter_map(place).collect();
            Layer::new(window_colour(index), Shape::Dashes(places))
        };
        lines.map(layer).filter(is_drawn).collect()
    }

    /// What is ringed in the panel of the goodput: the knee of each window, and the recommendation
    /// or, where there is none, the highest median.
    pub(super) fn marks(&self) -> [Ringed; 2] {
        let knee = |column: &Column| {
            let window = column.window()?;
            Some((self.group.knee(window)?.streams, window))
        };
        let over_streams = self.title == "streams" && self.group.has_windows();
        let knees = self.group.columns.iter().filter(|_| over_streams);
        // Of windows that are drawn.
        let knees = knees
            .filter_map(knee)
            .filter(|(s, w)| self.place(*s, *w).is_some());
        let highest = self.group.best_setting();
        let chosen = match self.group.recommended() {
            Some(setting) => ("recommended", Some(setting)),
            None => ("highest", highest),
        };
        [
            Ringed {
                name: "knee",
                colour: INK,
                radius: 14,
                settings: knees.collect(),
            },
            Ringed {
                name: chosen.0,
                colour: ACCENT,
                radius: 20,
                settings: chosen.1.into_iter().collect(),
            },
        ]
    }

    fn rings(&self, metric: &Metric, factor: f64) -> Vec<Layer> {
        if metric.title != GOODPUT.title {
            return Vec::new();
        }
        let place = |&(streams, window): &(u16, Window)| {
            let spread = self.group.spread(streams, window, metric)?;
            Some((self.place(streams, window)?, spread.middle / factor))
        };
        let layer = |mark: Ringed| Layer {
            colour: mark.colour,
            shape: Shape::Rings(
                mark.radius,
                mark.settings.iter().filter_map(place).collect(),
            ),
        };
        self.marks().into_iter().map(layer).collect()
    }

    /// Where a setting is drawn along the level axis.
    fn place(&self, streams: u16, window: Window) -> Option<f64> {
        let mut settings = self.lines.iter().flat_map(|line| &line.settings);
        let found = settings.find(|(_, setting)| *setting == (streams, window));
        found.map(|(x, _)| *x)
    }
}

fn is_drawn(layer: &Layer) -> bool {
    !matches!(&layer.shape, Shape::Dashes(places) if places.is_empty())
}

/// From zero, or from below it where something is, to the end of the longest whisker.
fn y_axis(layers: &[Layer], scale: Scale, about: usize) -> Axis {
    let ends = layers.iter().flat_map(|layer| match &layer.shape {
        Shape::Whiskers(whiskers) => whiskers
            .iter()
            .flat_map(|(_, low, high)| [*low, *high])
            .collect(),
        Shape::Dots(_, places) | Shape::Dashes(places) => {
            places.iter().map(|(_, y)| *y).collect::<Vec<f64>>()
        }
        _ => Vec::new(),
    });
    let (low, high) = ends.fold((0.0, 0.0), |(low, high): (f64, f64), end| {
        (low.min(end), high.max(end))
    });
    let least = if scale == Scale::Number { 1.0 } else { 0.0 };
    Axis::whole(0.0, high.max(least), about).down_to(low)
}
