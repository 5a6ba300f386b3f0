//! The months of a task as PingER has them: paths, groups of paths, and what the years changed.

mod page;

use std::collections::{BTreeMap, BTreeSet};

use changes::{OfPairs, PingFigure, Pings, Trend, UnixTime, mean_of_pairs, trend, trend_of_pairs};
use serde::Serialize;
use watch_store::{DatabaseName, Month, Name, Pair, Selection, Store};

use super::plan::PlanFile;
use trunkline::Error;

/// The name of the group of all paths.
const ALL: &str = "all paths";
/// Figures whose change over years is said: those that have a logarithm mostly.
const TRENDS: [PingFigure; 4] = [
    PingFigure::Mean,
    PingFigure::Variation,
    PingFigure::Loss,
    PingFigure::Derived,
];

/// Which months are asked for.
#[derive(Debug, Clone)]
pub struct MonthsAsked {
    /// Where the results are; it is only read.
    pub database: DatabaseName,
    /// The task whose visits are used.
    pub task: Name,
    /// Only of this sending host.
    pub from_host: Option<Name>,
    /// Only of this receiving host.
    pub to_host: Option<Name>,
    /// Only months that begin from then on.
    pub since: UnixTime,
    /// And before then.
    pub until: UnixTime,
}

/// The months of a task.
#[derive(Debug, Clone, Serialize)]
pub struct Months {
    /// The task.
    pub task: Name,
    /// By path.
    pub pairs: Vec<PairMonths>,
    /// By group of paths: those of the plan, then all.
    pub groups: Vec<GroupMonths>,
}

/// The months of a path.
#[derive(Debug, Clone, Serialize)]
pub struct PairMonths {
    /// The path.
    #[serde(flatten)]
    pub pair: Pair,
    /// In the order of time; a month without visits is not there.
    pub months: Vec<PingMonth>,
    /// By the name of the figure.
    pub trends: Trends,
}

/// A month of a path.
#[derive(Debug, Clone, Serialize)]
pub struct PingMonth {
    /// Its first second, in UTC.
    #[serde(rename = "month_unix_seconds")]
    pub start: UnixTime,
    /// Visits, with those that sent no probe.
    pub visits: u64,
    /// Counts and round trips; `None` in months whose visits an older trunkline summed up.
    pub pings: Option<Pings>,
    /// What follows from them, by the name of the figure; what is not known is not there.
    pub figures: BTreeMap<&'static str, f64>,
    /// Whether the derived rate is a bound, since no probe was lost.
    pub derived_is_bound: Option<bool>,
}

/// The months of a group of paths.
#[derive(Debug, Clone, Serialize)]
pub struct GroupMonths {
    /// Its name in the plan.
    pub group: String,
    /// In the order of time.
    pub months: Vec<GroupMonth>,
    /// By the name of the figure.
    pub trends: Trends,
}

/// A month of a group.
#[derive(Debug, Clone, Serialize)]
pub struct GroupMonth {
    /// Its first second, in UTC.
    #[serde(rename = "month_unix_seconds")]
    pub start: UnixTime,
    /// Paths whose hosts answered.
    pub pairs: u64,
    /// Paths whose hosts answered nothing; they are in no figure.
    pub silent_pairs: u64,
    /// Visits that sent probes, of the paths whose hosts answered.
    pub visits: u64,
    /// Means over the paths, each with how many have it.
    pub figures: BTreeMap<&'static str, OfPairs>,
}

/// Changes in a year, by the name of the figure.
pub type Trends = BTreeMap<&'static str, Trend>;

/// The months of a task, from the results of a watch.
///
/// * `plan`: the groups of its file are shown, too.
///
/// # Errors
/// When the database cannot be read or has no visit of the task.
pub fn months(asked: &MonthsAsked, plan: Option<&PlanFile>) -> Result<Months, Error> {
    let mut store = Store::open_to_read(&asked.database)?;
    let tasks = store.tasks()?;
    if !tasks.contains(&asked.task) {
        return Err(unknown(&asked.task, &tasks));
    }
    let mut found = store.months(&asked.task, asked.since, asked.until)?;
    let selection = Selection {
        from_host: asked.from_host.clone(),
        to_host: asked.to_host.clone(),
        ..Selection::ALL
    };
    found.retain(|month| selection.has(&month.pair, &asked.task));
    if found.is_empty() {
        return Err(Error::wrong_request(
            format!("no month of `{}` is chosen by these options", asked.task),
            "leave out `--from`, `--to`, `--since` or `--until`; months follow their visits by up \
             to an hour",
        ));
    }
    let mut groups = plan.map(group_pairs).unwrap_or_default();
    groups.push((ALL.to_owned(), None));
    let (groups, pairs) = (groups.iter(), by_pair(&found));
    Ok(Months {
        task: asked.task.clone(),
        groups: groups
            .map(|(name, own)| group(name, own.as_ref(), &found, &pairs))
            .filter(|group| !group.months.is_empty())
            .collect(),
        pairs,
    })
}

fn unknown(task: &Name, tasks: &[Name]) -> Error {
    let known: Vec<&str> = tasks.iter().map(Name::as_str).collect();
    let hint = match known.is_empty() {
        true => "no visit is stored yet".to_owned(),
        false => format!("name one of {}", known.join(", ")),
    };
    Error::wrong_request(format!("no visit of `{task}` is stored"), hint)
}

/// The groups of a plan with their pairs.
fn group_pairs(plan: &PlanFile) -> Vec<(String, Option<BTreeSet<Pair>>)> {
    let pair = |pair: watch_plan::Pair| Pair {
        from: Name::from(&pair.from),
        to: Name::from(&pair.to),
    };
    let groups = plan.plan.groups().iter();
    groups
        .map(|(name, group)| {
            let pairs = group.pairs().into_iter().map(pair).collect();
            (name.to_string(), Some(pairs))
        })
        .collect()
}

fn by_pair(found: &[Month]) -> Vec<PairMonths> {
    let mut pairs: BTreeMap<&Pair, Vec<&Month>> = BTreeMap::new();
    for month in found {
        pairs.entry(&month.pair).or_default().push(month);
    }
    pairs
        .into_iter()
        .map(|(pair, months)| PairMonths {
            pair: pair.clone(),
            trends: trends(|figure| {
                let value = |month: &&Month| {
                    let pings = month.figures.pings.as_ref()?;
                    Some((month.figures.start, figure.measured(pings)?))
                };
                trend(&months.iter().filter_map(value).collect::<Vec<_>>())
            }),
            months: months.into_iter().map(PingMonth::of).collect(),
        })
        .collect()
}

fn trends(of: impl Fn(PingFigure) -> Option<Trend>) -> Trends {
    let known = |figure| Some((PingFigure::name(figure), of(figure)?));
    TRENDS.into_iter().filter_map(known).collect()
}

impl PingMonth {
    fn of(month: &Month) -> Self {
        let pings = month.figures.pings;
        let figure = |figure: PingFigure| Some((figure.name(), figure.of(pings.as_ref()?)?));
        PingMonth {
            start: month.figures.start,
            visits: month.figures.visits,
            figures: PingFigure::ALL.into_iter().filter_map(figure).collect(),
            derived_is_bound: pings
                .and_then(|pings| pings.derived())
                .map(|derived| derived.is_bound),
            pings,
        }
    }
}

/// `own`: its paths; `None` for all.
fn group(
    name: &str,
    own: Option<&BTreeSet<Pair>>,
    found: &[Month],
    pairs: &[PairMonths],
) -> GroupMonths {
    let is_own = |pair: &Pair| own.is_none_or(|own| own.contains(pair));
    let mut months: BTreeMap<UnixTime, Vec<&Pings>> = BTreeMap::new();
    for month in found {
        if is_own(&month.pair)
            && let Some(pings) = &month.figures.pings
        {
            months.entry(month.figures.start).or_default().push(pings);
        }
    }
    let months: Vec<GroupMonth> = months
        .into_iter()
        .map(|(start, pings)| GroupMonth::of(start, &pings))
        .collect();
    GroupMonths {
        group: name.to_owned(),
        trends: trends(|figure| {
            let own = pairs.iter().filter(|one| is_own(&one.pair));
            let own = own.filter_map(|one| one.trends.get(figure.name()));
            trend_of_pairs(&own.copied().collect::<Vec<_>>())
        }),
        months,
    }
}

impl GroupMonth {
    fn of(start: UnixTime, pings: &[&Pings]) -> Self {
        let answered = || pings.iter().filter(|pings| pings.is_answered());
        let figure = |figure: PingFigure| {
            let mean = mean_of_pairs(figure, pings.iter().copied())?;
            Some((figure.name(), mean))
        };
        let silent = |pings: &&&Pings| pings.visits > 0 && !pings.is_answered();
        GroupMonth {
            start,
            pairs: answered().count() as u64,
            silent_pairs: pings.iter().filter(silent).count() as u64,
            visits: answered().map(|pings| pings.visits).sum(),
            figures: PingFigure::ALL.into_iter().filter_map(figure).collect(),
        }
    }
}

impl Months {
    /// As other programs read it, with a line break at the end.
    pub fn json(&self) -> String {
        serde_json::to_string_pretty(self).unwrap_or_default() + "\n"
    }
}

#[cfg(test)]
mod tests;
