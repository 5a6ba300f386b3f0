//! The visits of a sweep as groups, rows and columns, the same for charts and tables.

use std::collections::BTreeMap;
use units::Rate;

use record::sweep::CellFigures;
use record::sweep::{DirectionAnalysis, Knee};
use record::{Direction, Setting, Sweep, SweepAnalysis, SweepCell, Window};

pub use super::column::Column;
use super::column::columns;
use super::metric::{self, Metric, Middle};
use crate::text;

/// The visits that differ in streams and windows alone: what one figure shows.
pub struct Group<'a> {
    /// What sets it apart from the other groups; empty where it is the only one.
    pub name: String,
    /// Ends file names; empty where it is the only one.
    pub suffix: String,
    /// Numbers of streams, rising.
    pub streams: Vec<u16>,
    /// Windows, automatic ones first and then rising.
    pub windows: Vec<Window>,
    /// The lines of its curves and the columns of its map.
    pub columns: Vec<Column>,
    /// What its direction shows.
    pub analysis: Option<&'a DirectionAnalysis>,
    first: &'a Setting,
    visits: BTreeMap<(Window, u16), Vec<&'a CellFigures>>,
    /// What the simulator carries beside each setting, bits per second.
    simulated: BTreeMap<(Window, u16), f64>,
}

/// A setting and two figures.
pub type Pair = ((u16, Window), (f64, f64));

/// The middle of several visits and the quartiles around it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Spread {
    /// First quartile.
    pub low: f64,
    /// Median, or mean of what is zero in most visits.
    pub middle: f64,
    /// Third quartile.
    pub high: f64,
    /// How many visits tell.
    pub visits: usize,
}

/// More groups than this are no sweep that a person asked for.
const GROUPS_MAX: usize = 8;

/// The groups in the order in which they first come in the plan and the visits.
pub fn groups<'a>(sweep: &'a Sweep, analysis: &'a SweepAnalysis) -> Vec<Group<'a>> {
    let mut groups: Vec<Group<'a>> = Vec::new();
    let visited = sweep.cells.iter().map(|cell| &cell.setting);
    for setting in sweep.plan.settings.iter().chain(visited) {
        let known = groups.iter().any(|group| alike(group.first, setting));
        if !known && groups.len() < GROUPS_MAX {
            groups.push(Group::new(sweep, analysis, setting));
        }
    }
    if groups.len() > 1 {
        (1..)
            .zip(&mut groups)
            .for_each(|(number, group)| group.christen(number));
    }
    groups
}

/// Whether two settings differ in streams and windows at most.
fn alike(a: &Setting, b: &Setting) -> bool {
    let rest = |setting: &Setting| {
        let (pacing, mss) = (setting.pacing, setting.mss);
        (setting.direction, setting.congestion.clone(), pacing, mss)
    };
    rest(a) == rest(b)
}

/// Of settings that differ from `first` in streams and windows at most; of several durations the
/// longest.
fn simulated(sweep: &Sweep, first: &Setting) -> BTreeMap<(Window, u16), f64> {
    let all = sweep.beside.iter().flat_map(|one| &one.settings);
    let mut ours: Vec<_> = all.filter(|one| alike(first, &one.setting)).collect();
    ours.sort_by(|a, b| a.duration_seconds.total_cmp(&b.duration_seconds));
    let place = |setting: &Setting| (setting.window, setting.streams.get());
    ours.into_iter()
        .map(|one| (place(&one.setting), one.simulated_bits_per_second as f64))
        .collect()
}

impl<'a> Group<'a> {
    fn new(sweep: &'a Sweep, analysis: &'a SweepAnalysis, first: &'a Setting) -> Self {
        let ours = |cell: &&SweepCell| alike(first, &cell.setting);
        let mut visits: BTreeMap<(Window, u16), Vec<&CellFigures>> = BTreeMap::new();
        for cell in sweep.cells.iter().filter(ours) {
            let seen = visits.entry((cell.setting.window, cell.setting.streams.get()));
            seen.or_default().extend(cell.figures.as_ref());
        }
        visits.retain(|_, seen| !seen.is_empty());
        let mut streams: Vec<u16> = visits.keys().map(|(_, streams)| *streams).collect();
        streams.sort_unstable();
        streams.dedup();
        let mut windows: Vec<Window> = visits.keys().map(|(window, _)| *window).collect();
        windows.dedup();
        let settings: Vec<(Window, u16)> = visits.keys().copied().collect();
        let mut directions = analysis.directions.iter();
        Group {
            analysis: directions.find(|found| found.direction == first.direction),
            name: String::new(),
            suffix: String::new(),
            streams,
            windows,
            columns: columns(&settings),
            first,
            visits,
            simulated: simulated(sweep, first),
        }
    }

    fn christen(&mut self, number: usize) {
        let direction = text::direction(self.first.direction);
        let congestion = self.first.congestion.as_deref().map(text::plain);
        let paced = self.first.pacing.map(Rate::human);
        let mss = self.first.mss.map(|bytes| format!("MSS {bytes} bytes"));
        let parts = [Some(direction.to_owned()), congestion, paced, mss];
        self.name = parts.into_iter().flatten().collect::<Vec<_>>().join(", ");
        // The name may hold a document's words, which must not lead to another place.
        self.suffix = format!(
            "-{number}-{}",
            direction.split(' ').next().unwrap_or(direction)
        );
    }

    /// What the simulator carries with a setting on the inferred path, bits per second.
    pub fn simulated(&self, streams: u16, window: Window) -> Option<f64> {
        self.simulated.get(&(window, streams)).copied()
    }

    /// Whether its visits went this way.
    pub fn is_of(&self, direction: Direction) -> bool {
        self.first.direction == direction
    }

    /// Whether more than its direction sets it apart from the other groups.
    pub fn is_apart(&self) -> bool {
        !self.name.is_empty() && self.name != text::direction(self.first.direction)
    }

    /// Whether visits of this setting belong to it.
    pub fn has(&self, setting: &Setting) -> bool {
        alike(self.first, setting)
    }

    /// The visits of one setting, in the order in which they were made.
    pub fn visits(&self, streams: u16, window: Window) -> &[&'a CellFigures] {
        let seen = self.visits.get(&(window, streams));
        seen.map_or(&[], Vec::as_slice)
    }

    /// Every visit with its setting, windows rising and then streams.
    pub fn all(&self) -> impl Iterator<Item = (u16, Window, &'a CellFigures)> {
        let settings = self.visits.iter();
        settings.flat_map(|((window, streams), seen)| {
            seen.iter().map(|figures| (*streams, *window, *figures))
        })
    }

    /// Streams and window of the highest median goodput.
    pub fn best_setting(&self) -> Option<(u16, Window)> {
        self.best().map(|(streams, window, _)| (streams, window))
    }

    /// How many visits showed something.
    pub fn count(&self) -> usize {
        self.visits.values().map(Vec::len).sum()
    }

    /// What the visits of one setting say of `metric`; `None` where none tells.
    pub fn spread(&self, streams: u16, window: Window, metric: &Metric) -> Option<Spread> {
        let values = self.visits(streams, window).iter();
        let values: Vec<f64> = values.filter_map(|figures| (metric.of)(figures)).collect();
        Spread::of(&values, metric)
    }

    /// Two figures of each visit with its setting; of more than `most` visits, those of each
    /// setting's medians.
    pub fn pairs(&self, metrics: (&Metric, &Metric), most: usize) -> Vec<Pair> {
        if self.count() > most {
            let median = |&(window, streams): &(Window, u16)| {
                let of = |metric| self.spread(streams, window, metric);
                Some((
                    (streams, window),
                    (of(metrics.0)?.middle, of(metrics.1)?.middle),
                ))
            };
            return self.visits.keys().filter_map(median).collect();
        }
        let pair = |(streams, window, figures): (u16, Window, &CellFigures)| {
            let both = ((metrics.0.of)(figures)?, (metrics.1.of)(figures)?);
            Some(((streams, window), both))
        };
        self.all().filter_map(pair).collect()
    }

    /// Whether its columns are windows, not products of streams and window.
    pub fn has_windows(&self) -> bool {
        self.columns.len() == self.windows.len()
    }

    /// The highest value that any quartile or middle has; zero where nothing is known.
    pub fn top(&self, metric: &Metric) -> f64 {
        let settings = self.visits.keys();
        let spreads =
            settings.filter_map(|(window, streams)| self.spread(*streams, *window, metric));
        spreads.map(|spread| spread.high).fold(0.0, f64::max)
    }

    /// The fewest streams that carry nearly the most with `window`, where the analysis found them.
    /// `None` where the curve still grows at its end: then they say how far the grid goes and
    /// nothing of the path.
    pub fn knee(&self, window: Window) -> Option<&'a Knee> {
        let mut curves = self.analysis?.curves.iter();
        let curve = curves
            .find(|curve| curve.window == window && curve.congestion == self.first.congestion)?;
        let still_grows = curve.linear.is_some_and(|linear| !linear.ends);
        curve
            .knee
            .as_ref()
            .filter(|knee| !still_grows && !knee.at_edge)
    }

    /// Streams and window that the analysis recommends, where they belong to this group.
    pub fn recommended(&self) -> Option<(u16, Window)> {
        let setting = &self.analysis?.recommended.as_ref()?.at.setting;
        alike(setting, self.first).then_some((setting.streams.get(), setting.window))
    }

    /// The setting with the highest median goodput, and that median.
    pub fn best(&self) -> Option<(u16, Window, f64)> {
        let settings = self.visits.keys();
        let median = |(window, streams): &(Window, u16)| {
            let spread = self.spread(*streams, *window, &metric::GOODPUT)?;
            Some((*streams, *window, spread.middle))
        };
        settings
            .filter_map(median)
            .max_by(|a, b| a.2.total_cmp(&b.2))
    }
}

impl Spread {
    /// `None` without values.
    pub fn of(values: &[f64], metric: &Metric) -> Option<Spread> {
        let spread = stats::spread(values)?;
        let mean = stats::mean(values)?;
        let alone = match metric.middle {
            Middle::Median => None,
            Middle::Mean => Some(mean),
            Middle::Scatter => {
                let deviation = stats::standard_deviation(values).filter(|_| values.len() > 2);
                Some(deviation.filter(|_| mean > 0.0)? / mean)
            }
        };
        if let Some(alone) = alone {
            return Some(Spread {
                low: alone,
                middle: alone,
                high: alone,
                visits: values.len(),
            });
        }
        Some(Spread {
            low: spread.quartile1,
            middle: spread.median,
            high: spread.quartile3,
            visits: spread.count,
        })
    }
}

#[cfg(test)]
mod tests;
