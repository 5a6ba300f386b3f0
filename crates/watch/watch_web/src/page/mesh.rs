//! The pairs of each task, and how they do.

use std::collections::BTreeMap;

use changes::UnixTime;
use units::Span;
use watch_plan::{Kind, Timetable};
use watch_store::{GridCell, Name, Pair, Store, StoreError};

use super::state::{Cell, Shown};
use super::task_of;
use crate::problem::Problem;

/// Pairs of all tasks that one page shows; beyond, it shows the first task alone.
const PAIRS_MAX: usize = 3000;
/// A cell is stale when its task should have been visited so many times since.
const STALE: u64 = 3;

/// A task with its pairs.
pub struct Mesh {
    /// Its name.
    pub task: Name,
    /// What it measures, by the plan.
    pub kind: Option<Kind>,
    /// How far apart its visits are; unknown without a plan.
    pub interval: Option<Span>,
    /// All pairs, by name; empty where it is not shown.
    pub cells: BTreeMap<Pair, Cell>,
    /// What its cells show.
    pub shown: Shown,
    /// Whether it is on this page.
    pub is_shown: bool,
}

/// All tasks, those of the plan first.
pub fn tasks(store: &mut Store, table: Option<&Timetable>) -> Result<Vec<Name>, StoreError> {
    let mut names: Vec<Name> = Vec::new();
    let planned = table.iter().flat_map(|table| table.plan().tasks());
    names.extend(planned.map(|task| Name::from(&task.name)));
    for task in store.tasks()? {
        if !names.contains(&task) {
            names.push(task);
        }
    }
    Ok(names)
}

/// All tasks; only those that are shown have cells.
pub fn all(
    store: &mut Store,
    table: Option<&Timetable>,
    wanted: Option<&Name>,
    now: UnixTime,
) -> Result<Vec<Mesh>, Problem> {
    let names = tasks(store, table)?;
    if let Some(task) = wanted.filter(|task| !names.contains(task)) {
        let what = format!("no task is called {:?}", task.as_str());
        return Err(Problem::unknown(
            what,
            "choose one from the list of all tasks",
        ));
    }
    let mut meshes: Vec<Mesh> = Vec::new();
    let mut pairs = 0;
    for task in names {
        let is_wanted = wanted.is_none_or(|wanted| *wanted == task);
        let is_read = is_wanted && (wanted.is_some() || pairs < PAIRS_MAX);
        let latest = if is_read {
            store.grid(&task)?
        } else {
            Vec::new()
        };
        let mut mesh = Mesh::of(task, table, &latest, now);
        pairs += if is_read { mesh.cells.len() } else { 0 };
        mesh.is_shown = is_read && (wanted.is_some() || pairs <= PAIRS_MAX || meshes.is_empty());
        meshes.push(mesh);
    }
    Ok(meshes)
}

impl Mesh {
    fn of(task: Name, table: Option<&Timetable>, latest: &[GridCell], now: UnixTime) -> Self {
        let known = table.and_then(|table| Some((table, task_of(table.plan(), &task)?)));
        let kind = known.map(|(_, task)| task.kind);
        let interval = known.and_then(|(table, task)| table.interval(&task.name));
        let shown = match shows_goodput(kind, latest) {
            true => Shown::Goodput,
            false => Shown::RoundTrips,
        };
        let planned = known.map_or(Vec::new(), |(table, task)| table.plan().pairs(task));
        let planned = planned.iter().map(Pair::from);
        let mut cells: BTreeMap<Pair, Cell> = planned.map(|pair| (pair, Cell::unknown())).collect();
        for visit in latest {
            let cell = match is_stale(visit, interval, now) {
                true => Cell::stale(visit, now),
                false => Cell::of(visit, shown, now),
            };
            cells.insert(visit.pair.clone(), cell);
        }
        Mesh {
            task,
            kind,
            interval,
            cells,
            shown,
            is_shown: false,
        }
    }

    /// All pairs, the worst first.
    pub fn ranked(&self) -> Vec<(&Pair, &Cell)> {
        let mut all: Vec<_> = self.cells.iter().collect();
        all.sort_by(|(_, one), (_, other)| {
            let states = one.state.cmp(&other.state);
            states.then(one.rank.total_cmp(&other.rank))
        });
        all
    }
}

/// Whether a task shows shares of goodput; others show round trips and loss.
fn shows_goodput(kind: Option<Kind>, latest: &[GridCell]) -> bool {
    match kind {
        Some(kind) => kind.is_exclusive() && !matches!(kind, Kind::Responsiveness),
        None => latest.iter().any(|cell| cell.goodput.is_some()),
    }
}

fn is_stale(latest: &GridCell, interval: Option<Span>, now: UnixTime) -> bool {
    let bound = interval.map(|span| span.as_secs_f64() * STALE as f64);
    bound.is_some_and(|bound| now.since(latest.at).as_secs_f64() > bound)
}
