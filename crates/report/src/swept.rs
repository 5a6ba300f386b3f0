//! The visits of a sweep as groups, rows and columns, the same for plots, tables and pages.

pub mod metric;

use std::collections::BTreeMap;

use record::sweep::CellFigures;
use record::{Setting, Sweep, SweepCell, Window};

use crate::words;
pub use metric::{Metric, Scale};

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
    first: &'a Setting,
    visits: BTreeMap<(Window, u16), Vec<&'a CellFigures>>,
}

/// The middle of several visits and the quartiles around it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Spread {
    /// First quartile.
    pub low: f64,
    /// Median, or the share of visits for what is either true or not.
    pub middle: f64,
    /// Third quartile.
    pub high: f64,
    /// How many visits tell.
    pub visits: usize,
}

/// More groups than this are no sweep that a person asked for.
const GROUPS_MAX: usize = 8;

/// The groups in the order in which they first come in the plan and the visits.
pub fn groups(sweep: &Sweep) -> Vec<Group<'_>> {
    let mut groups: Vec<Group<'_>> = Vec::new();
    let visited = sweep.cells.iter().map(|cell| &cell.setting);
    for setting in sweep.plan.settings.iter().chain(visited) {
        let known = groups.iter().any(|group| alike(group.first, setting));
        if !known && groups.len() < GROUPS_MAX {
            groups.push(Group::new(sweep, setting));
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
        let (pacing, mss) = (setting.pacing_bits_per_second, setting.mss_bytes);
        (setting.direction, setting.congestion.clone(), pacing, mss)
    };
    rest(a) == rest(b)
}

impl<'a> Group<'a> {
    fn new(sweep: &'a Sweep, first: &'a Setting) -> Self {
        let ours = |cell: &&SweepCell| alike(first, &cell.setting);
        let mut visits: BTreeMap<(Window, u16), Vec<&CellFigures>> = BTreeMap::new();
        for cell in sweep.cells.iter().filter(ours) {
            let seen = visits.entry((cell.setting.window, cell.setting.streams));
            seen.or_default().extend(cell.figures.as_ref());
        }
        visits.retain(|_, seen| !seen.is_empty());
        let mut streams: Vec<u16> = visits.keys().map(|(_, streams)| *streams).collect();
        streams.sort_unstable();
        streams.dedup();
        let mut windows: Vec<Window> = visits.keys().map(|(window, _)| *window).collect();
        windows.dedup();
        Group {
            name: String::new(),
            suffix: String::new(),
            streams,
            windows,
            first,
            visits,
        }
    }

    fn christen(&mut self, number: usize) {
        let direction = words::direction(self.first.direction);
        let congestion = self.first.congestion.as_deref().map(words::plain);
        let paced = self.first.pacing_bits_per_second.map(crate::figure::rate);
        let mss = self
            .first
            .mss_bytes
            .map(|bytes| format!("MSS {bytes} bytes"));
        let parts = [Some(direction.to_owned()), congestion, paced, mss];
        self.name = parts.into_iter().flatten().collect::<Vec<_>>().join(", ");
        // The name may hold a document's words, which must not lead to another place.
        self.suffix = format!(
            "-{number}-{}",
            direction.split(' ').next().unwrap_or(direction)
        );
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

    /// Two figures of each visit with its window; of more than `most` visits, those of each setting's medians.
    pub fn pairs(&self, metrics: (&Metric, &Metric), most: usize) -> Vec<(Window, (f64, f64))> {
        if self.count() > most {
            let median = |(window, streams): &(Window, u16)| {
                let of = |metric| self.spread(*streams, *window, metric);
                Some((*window, (of(metrics.0)?.middle, of(metrics.1)?.middle)))
            };
            return self.visits.keys().filter_map(median).collect();
        }
        let pair = |(_, window, figures): (u16, Window, &CellFigures)| {
            Some((window, ((metrics.0.of)(figures)?, (metrics.1.of)(figures)?)))
        };
        self.all().filter_map(pair).collect()
    }

    /// The highest value that any quartile or middle has; zero where nothing is known.
    pub fn top(&self, metric: &Metric) -> f64 {
        let settings = self.visits.keys();
        let spreads =
            settings.filter_map(|(window, streams)| self.spread(*streams, *window, metric));
        spreads.map(|spread| spread.high).fold(0.0, f64::max)
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
        let median = stats::median(values)?;
        if metric.is_share_of_visits {
            let mean = stats::mean(values)?;
            return Some(Spread {
                low: mean,
                middle: mean,
                high: mean,
                visits: values.len(),
            });
        }
        Some(Spread {
            low: stats::quantile(values, 0.25)?,
            middle: median,
            high: stats::quantile(values, 0.75)?,
            visits: values.len(),
        })
    }
}

#[cfg(test)]
mod tests;
