//! Figures against the number of streams, a line for each window.

use plotters::style::RGBColor;
use record::Window;

use super::{Drawing, figure};
use crate::figure as number;
use crate::plot::PlotError;
use crate::plot::axis::Axis;
use crate::plot::legend::{Entry, Mark};
use crate::plot::palette::{ACCENT, INK};
use crate::plot::sheet::{Layer, Panel, Shape, Sheet, window_colour};
use crate::swept::metric::{
    ADDED_DELAY, FAIRNESS, GOODPUT, Metric, PROBES_LOST, SENT_AGAIN, STARVED, Scale,
};
use crate::swept::{Column, Group, Spread};

/// More lines than this cannot be told apart.
const LINES_MAX: usize = 6;
/// With more settings on a line than this, dots are small.
const DOTS_MAX: usize = 24;

/// Goodput above, and what it costs: added delay, bytes sent again, probes lost.
pub(super) fn goodput_and_its_price(group: &Group<'_>) -> Result<Drawing, PlotError> {
    let metrics = [&GOODPUT, &ADDED_DELAY, &SENT_AGAIN, &PROBES_LOST];
    let Some(curves) = Curves::of(group) else {
        return Ok(Drawing::LeftOut(
            "One setting alone has no curve of goodput against streams or windows.".to_owned(),
        ));
    };
    let svg = curves.draw(&metrics)?;
    let best = group.best().map(|(streams, window, median)| {
        let setting = crate::words::point(streams, window);
        format!(
            " The highest median goodput is {}, with {setting}.",
            number::rate(median as u64)
        )
    });
    let caption = format!(
        "Goodput and its price against {}: median of the visits with its quartiles, of lost probes the mean{}.{}{}{}",
        curves.along(),
        curves.missing(&metrics),
        curves.knees(),
        best.unwrap_or_default(),
        curves.selection(),
    );
    Ok(figure(group, "goodput-streams", svg, caption))
}

/// How evenly streams shared.
pub(super) fn sharing(group: &Group<'_>) -> Result<Drawing, PlotError> {
    let metrics = [&FAIRNESS, &STARVED];
    let curves = Curves::of(group).filter(|curves| curves.tells(&metrics));
    let Some(curves) = curves else {
        return Ok(Drawing::LeftOut(
            "No curve of how evenly streams shared: it takes several settings with two streams or more."
                .to_owned(),
        ));
    };
    let caption = format!(
        "How evenly streams shared, against {}: Jain's index (1 when all get the same), and the share of visits in \
         which a stream got less than half of its fair share.{}",
        curves.along(),
        curves.selection(),
    );
    Ok(figure(
        group,
        "sharing-streams",
        curves.draw(&metrics)?,
        caption,
    ))
}

/// Lines over one axis, the same in every panel.
pub(super) struct Curves<'a> {
    group: &'a Group<'a>,
    axis: Axis,
    title: &'static str,
    lines: Vec<Line>,
    /// How many lines there would be.
    possible: usize,
}

/// Settings with rings of one kind.
struct Ringed {
    name: &'static str,
    colour: RGBColor,
    radius: i32,
    settings: Vec<(u16, Window)>,
}

struct Line {
    name: String,
    /// Place along the level axis, and the setting there.
    settings: Vec<(f64, (u16, Window))>,
}

impl<'a> Curves<'a> {
    /// Lines over the streams; with a single number of streams, one over the windows. `None` for one
    /// setting.
    pub(super) fn of(group: &'a Group<'a>) -> Option<Self> {
        match (group.streams.as_slice(), group.windows.as_slice()) {
            ([], _) | (_, []) | ([_], [_]) => None,
            ([streams], windows) => Some(Curves::over_windows(group, *streams, windows)),
            (streams, _) => Some(Curves::over_streams(group, streams)),
        }
    }

    fn over_windows(group: &'a Group<'a>, streams: u16, windows: &[Window]) -> Self {
        let names = windows.iter().map(|window| number::window(*window));
        let settings = windows.iter().enumerate();
        let settings = settings.map(|(place, window)| (place as f64, (streams, *window)));
        let plural = if streams == 1 { "" } else { "s" };
        Curves {
            group,
            axis: Axis::names(names.collect(), 12),
            title: "window",
            lines: vec![Line {
                name: format!("{streams} stream{plural}"),
                settings: settings.collect(),
            }],
            possible: 1,
        }
    }

    fn over_streams(group: &'a Group<'a>, streams: &[u16]) -> Self {
        let (axis, place) = streams_axis(streams);
        let line = |column: &Column| Line {
            name: column.name.clone(),
            settings: column
                .windows
                .iter()
                .map(|(s, w)| (place(*s), (*s, *w)))
                .collect(),
        };
        let mut lines: Vec<Line> = shown(group).into_iter().map(line).collect();
        dodge(&mut lines, &axis);
        Curves {
            group,
            axis,
            title: "streams",
            lines,
            possible: group.columns.len(),
        }
    }

    /// The metrics that any visit tells of.
    fn known<'m>(&self, metrics: &[&'m Metric]) -> Vec<&'m Metric> {
        let tells = |metric: &&Metric| self.group.all().any(|(_, _, f)| (metric.of)(f).is_some());
        metrics.iter().copied().filter(tells).collect()
    }

    /// Whether any visit tells of any of them.
    pub(super) fn tells(&self, metrics: &[&Metric]) -> bool {
        !self.known(metrics).is_empty()
    }

    /// What lies along the level axis, for a caption.
    pub(super) fn along(&self) -> &'static str {
        match self.title {
            "window" => "the window",
            _ => "the number of streams",
        }
    }

    /// What no visit tells of, for a caption.
    pub(super) fn missing(&self, metrics: &[&Metric]) -> String {
        let known = self.known(metrics);
        let unknown = metrics
            .iter()
            .filter(|m| !known.iter().any(|k| k.title == m.title));
        let titles: Vec<&str> = unknown.map(|metric| metric.title).collect();
        match titles.as_slice() {
            [] => String::new(),
            titles => format!("; no visit tells of: {}", titles.join(", ")),
        }
    }

    /// What a ring at a knee means, for a caption.
    fn knees(&self) -> String {
        let [knees, _] = self.marks();
        let shares = knees
            .settings
            .iter()
            .filter_map(|(_, window)| self.group.knee(*window));
        let share = shares.map(|knee| knee.share_ratio).next();
        share.map_or_else(String::new, |share| {
            format!(
                " A knee is the fewest streams that carry {} of the most with their window; a line that still grows has none.",
                number::percent(share)
            )
        })
    }

    /// Which lines were chosen of too many, for a caption.
    pub(super) fn selection(&self) -> String {
        if self.lines.len() == self.possible {
            return String::new();
        }
        format!(
            " {} of {} {} are drawn, the best among them; the table has all.",
            self.lines.len(),
            self.possible,
            if self.group.has_windows() {
                "windows"
            } else {
                "products of streams and window"
            },
        )
    }

    /// A panel for each metric that is known.
    pub(super) fn draw(&self, metrics: &[&Metric]) -> Result<String, PlotError> {
        let known = self.known(metrics);
        let last = known.len().saturating_sub(1);
        let panels = known.iter().enumerate();
        let is_tall = |place: usize| place == 0 && metrics.len() > 2;
        let panels =
            panels.map(|(place, metric)| self.panel(metric, is_tall(place), place == last));
        let sheet = Sheet {
            entries: self.entries(known.iter().any(|metric| metric.title == GOODPUT.title)),
            panels: panels.collect(),
        };
        sheet.draw()
    }

    /// Of the goodput, where knees, recommendation and highest median are marked, also what the marks mean.
    fn entries(&self, with_marks: bool) -> Vec<Entry> {
        let lines = self.lines.iter().enumerate();
        let lines = lines
            .map(|(index, line)| Entry::new(Mark::Line(window_colour(index)), line.name.clone()));
        let marks = self.marks().into_iter().filter(|_| with_marks);
        let marks = marks.filter(|mark| !mark.settings.is_empty());
        let marks = marks.map(|mark| Entry::new(Mark::Ring(mark.colour), mark.name));
        lines.chain(marks).collect()
    }

    fn panel(&self, metric: &Metric, is_tall: bool, is_last: bool) -> Panel {
        let (unit, factor) = metric.scale.unit(self.group.top(metric));
        let layers: Vec<Layer> = (0..self.lines.len())
            .flat_map(|index| self.layers(index, metric, factor))
            .chain(self.rings(metric, factor))
            .collect();
        Panel {
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

    /// What is ringed in the panel of the goodput: the knee of each window, and the recommendation or, where there
    /// is none, the highest median.
    fn marks(&self) -> [Ringed; 2] {
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

/// From zero, or from below it where something is, to the end of the longest whisker.
fn y_axis(layers: &[Layer], scale: Scale, about: usize) -> Axis {
    let ends = layers.iter().flat_map(|layer| match &layer.shape {
        Shape::Whiskers(whiskers) => whiskers
            .iter()
            .flat_map(|(_, low, high)| [*low, *high])
            .collect(),
        Shape::Dots(_, places) => places.iter().map(|(_, y)| *y).collect::<Vec<f64>>(),
        _ => Vec::new(),
    });
    let (low, high) = ends.fold((0.0, 0.0), |(low, high): (f64, f64), end| {
        (low.min(end), high.max(end))
    });
    let least = if scale == Scale::Number { 1.0 } else { 0.0 };
    Axis::whole(0.0, high.max(least), about).down_to(low)
}

/// Even steps where the numbers are about evenly apart, doublings where they are not.
fn streams_axis(streams: &[u16]) -> (Axis, fn(u16) -> f64) {
    let most = f64::from(streams.last().copied().unwrap_or(1));
    let counts: Vec<f64> = streams.iter().map(|s| f64::from(*s)).collect();
    let middle = stats::median(&counts).unwrap_or(most);
    if middle >= 0.35 * most {
        (Axis::counts(most), |streams| f64::from(streams))
    } else {
        (Axis::powers_of_two(most), |streams| {
            f64::from(streams.max(1)).log2()
        })
    }
}

/// Lines lie a little beside each other, so that their whiskers can be told apart.
fn dodge(lines: &mut [Line], axis: &Axis) {
    let places = || lines.iter().flat_map(|line| &line.settings);
    let mut apart: Vec<f64> = places().map(|(x, _)| *x).collect();
    apart.sort_by(f64::total_cmp);
    let gaps = apart.windows(2).map(|pair| pair[1] - pair[0]);
    let gap = gaps.filter(|gap| *gap > 0.0).fold(f64::INFINITY, f64::min);
    let step = (gap * 0.5 / lines.len().max(1) as f64).min((axis.high - axis.low) * 0.007);
    let centre = (lines.len() as f64 - 1.0) / 2.0;
    for (index, line) in lines.iter_mut().enumerate() {
        let shift = (index as f64 - centre) * step;
        line.settings.iter_mut().for_each(|(x, _)| *x += shift);
    }
}

/// Every column, or of many the best one and some evenly among the others.
fn shown<'a>(group: &'a Group<'_>) -> Vec<&'a Column> {
    let columns = &group.columns;
    if columns.len() <= LINES_MAX {
        return columns.iter().collect();
    }
    let last = columns.len() - 1;
    let mut chosen: Vec<usize> = (0..LINES_MAX).map(|i| i * last / (LINES_MAX - 1)).collect();
    let best = group.recommended().or_else(|| group.best_setting());
    let best = best.and_then(|(s, w)| columns.iter().position(|column| column.has(s, w)));
    if let Some(best) = best.filter(|best| !chosen.contains(best)) {
        let inner = chosen.iter_mut().skip(1).take(LINES_MAX - 2);
        if let Some(nearest) = inner.min_by_key(|place| place.abs_diff(best)) {
            *nearest = best;
        }
    }
    chosen.into_iter().map(|place| &columns[place]).collect()
}
