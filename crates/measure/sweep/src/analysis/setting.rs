//! One setting over all its visits.

use observe::{Direction, Limit, Setting};
use stats::{Spread, spread};

use super::quantities::{RateSpread, RatioSpread, TimeSpread};
use super::shapes::{DurationFigures, SettingFigures, Starvation};
use super::visit::Visit;
use crate::{Cell, Outcome};

/// Visits of one length that are needed before they are compared with others.
const VISITS_MIN: usize = 3;

/// A setting with its visits.
#[derive(Debug)]
pub(crate) struct Visited<'a> {
    pub figures: SettingFigures,
    /// Those that were measured.
    pub visits: Vec<Visit<'a>>,
    /// Median goodput, in bits per second.
    goodput: Option<f64>,
}

impl Visited<'_> {
    pub fn streams(&self) -> u16 {
        self.figures.setting.streams.get()
    }

    /// The median.
    pub fn goodput(&self) -> Option<f64> {
        self.goodput
    }

    /// Of each visit.
    pub fn goodputs(&self) -> Vec<f64> {
        self.visits.iter().map(Visit::goodput).collect()
    }

    /// The median dRTT.
    pub fn added(&self) -> Option<f64> {
        self.figures.rtt_added.map(|added| added.median_seconds)
    }

    /// Whether the two differ in nothing but their streams.
    pub fn shares_curve(&self, other: &Self) -> bool {
        let (a, b) = (&self.figures.setting, &other.figures.setting);
        let streams = a.streams;
        let same = Setting {
            streams,
            ..b.clone()
        };
        *a == same
    }
}

/// Every setting of `cells` with its figures, ordered by direction, congestion control, window,
/// streams.
pub(crate) fn visited(cells: &[Cell]) -> Vec<Visited<'_>> {
    let mut cells: Vec<&Cell> = cells.iter().collect();
    cells.sort_by(|a, b| order(&a.setting).cmp(&order(&b.setting)));
    cells
        .chunk_by(|a, b| a.setting == b.setting)
        .map(|cells| {
            let visits: Vec<Visit<'_>> = cells.iter().filter_map(|cell| measured(cell)).collect();
            let goodputs: Vec<f64> = visits.iter().map(Visit::goodput).collect();
            Visited {
                figures: figures(&cells[0].setting, cells.len(), &visits),
                visits,
                goodput: stats::median(&goodputs),
            }
        })
        .collect()
}

fn measured(cell: &Cell) -> Option<Visit<'_>> {
    match &cell.outcome {
        Outcome::Measured(figures) => Some(Visit {
            cycle: cell.cycle,
            setting: &cell.setting,
            figures,
        }),
        Outcome::Failed(_) => None,
    }
}

fn order(setting: &Setting) -> impl Ord + '_ {
    let direction = match setting.direction {
        Direction::Forward => 0,
        Direction::Reverse => 1,
        Direction::Both => 2,
    };
    (
        direction,
        setting.congestion.as_deref(),
        setting.pacing,
        setting.mss,
        setting.window,
        setting.streams,
    )
}

fn figures(setting: &Setting, made: usize, visits: &[Visit<'_>]) -> SettingFigures {
    let values = |figure: &dyn Fn(&Visit<'_>) -> Option<f64>| -> Vec<f64> {
        visits.iter().filter_map(figure).collect()
    };
    let over =
        |figure: &dyn Fn(&Visit<'_>) -> Option<f64>| -> Option<Spread> { spread(&values(figure)) };
    let mean = |figure: &dyn Fn(&Visit<'_>) -> Option<f64>| stats::mean(&values(figure));
    let ratios = |figure: &dyn Fn(&Visit<'_>) -> Option<f64>| over(figure).map(RatioSpread::from);
    let times = |figure: &dyn Fn(&Visit<'_>) -> Option<f64>| over(figure).map(TimeSpread::from);
    let median = |figure: &dyn Fn(&Visit<'_>) -> Option<f64>| stats::median(&values(figure));
    let unloaded = over(&|visit| visit.variability_unloaded());
    let loaded = over(&|visit| visit.variability_loaded());
    let together = median(&|visit| visit.figures.losses_together_ratio);
    SettingFigures {
        setting: setting.clone(),
        visits: visits.len() as u64,
        failures: (made - visits.len()) as u64,
        goodput: over(&|visit| Some(visit.goodput())).map(RateSpread::from),
        rtt_unloaded: times(&|visit| Some(visit.figures.rtt_unloaded?.median)),
        rtt_loaded: times(&|visit| Some(visit.figures.rtt_loaded?.median)),
        rtt_added: times(&|visit| visit.added()),
        rate_variability_unloaded: unloaded.map(RatioSpread::from),
        rate_variability_loaded: loaded.map(RatioSpread::from),
        rate_predictability_unloaded_ratio: unloaded.map(|rv| 1.0 - rv.median),
        rate_predictability_loaded_ratio: loaded.map(|rv| 1.0 - rv.median),
        probe_loss_unloaded_ratio: mean(&|visit| Some(visit.figures.rtt_unloaded?.loss)),
        probe_loss_loaded_ratio: mean(&|visit| Some(visit.figures.rtt_loaded?.loss)),
        retransmitted: ratios(&|visit| visit.figures.retransmitted_ratio),
        fairness: ratios(&|visit| visit.fairness()),
        starvation: starvation(visits),
        losses_together_ratio: together,
        losses_together_by_chance_ratio: together
            .and_then(|_| median(&|visit| visit.figures.losses_together_by_chance_ratio)),
        cpu_user: ratios(&|visit| visit.figures.cpu_user_ratio),
        cpu_kernel: ratios(&|visit| visit.figures.cpu_kernel_ratio),
        limit: most_often(visits.iter().filter_map(|visit| visit.figures.limit)),
    }
}

fn starvation(visits: &[Visit<'_>]) -> Option<Starvation> {
    let starved: Vec<f64> = visits
        .iter()
        .filter_map(|visit| visit.starved().map(|streams| streams as f64))
        .collect();
    let with_one = starved.iter().filter(|streams| **streams > 0.0).count();
    Some(Starvation {
        streams_mean: stats::mean(&starved)?,
        visits_ratio: with_one as f64 / starved.len() as f64,
    })
}

/// The first of those that are named most often.
fn most_often(limits: impl Iterator<Item = Limit>) -> Option<Limit> {
    let mut counts: Vec<(Limit, usize)> = Vec::new();
    for limit in limits {
        match counts.iter_mut().find(|(known, _)| *known == limit) {
            Some((_, count)) => *count += 1,
            None => counts.push((limit, 1)),
        }
    }
    let most = counts.iter().map(|(_, count)| *count).max()?;
    let first = counts.iter().find(|(_, count)| *count == most);
    first.map(|(limit, _)| *limit)
}

/// Goodput against the length of a visit, each as a share of its setting's median so that all
/// settings count. Empty unless there were several lengths with three visits or more.
pub(super) fn durations(settings: &[Visited<'_>]) -> Vec<DurationFigures> {
    let relative = |setting: &Visited<'_>| {
        let median = setting.goodput().filter(|median| *median > 0.0);
        let visits = setting.visits.iter();
        let point = |median: f64| {
            visits
                .map(|visit| {
                    (
                        visit.figures.duration_seconds.round(),
                        visit.goodput() / median,
                    )
                })
                .collect::<Vec<_>>()
        };
        median.map(point).unwrap_or_default()
    };
    let mut points: Vec<(f64, f64)> = settings.iter().flat_map(relative).collect();
    points.sort_by(|a, b| a.0.total_cmp(&b.0));
    let figures: Vec<DurationFigures> = points
        .chunk_by(|a, b| a.0 == b.0)
        .filter(|points| points.len() >= VISITS_MIN)
        .filter_map(|points| {
            let goodputs: Vec<f64> = points.iter().map(|(_, goodput)| *goodput).collect();
            Some(DurationFigures {
                duration_seconds: points.first()?.0,
                relative_goodput: spread(&goodputs)?.into(),
            })
        })
        .collect();
    if figures.len() > 1 {
        figures
    } else {
        Vec::new()
    }
}
