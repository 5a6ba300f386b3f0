//! The grid of each task: what every pair shows now.

mod cell;

use std::collections::{BTreeMap, BTreeSet};

use changes::UnixTime;
use maud::{Markup, html};
use units::Span;
use watch_plan::{Kind, Timetable};
use watch_store::{GridCell, Name, Pair, Store, StoreError, StoredEvent};

use self::cell::{Cell, Shown};
use super::task_of;
use crate::ask::{Ask, earlier};
use crate::frame::{Sheet, Tab};
use crate::href::Place;
use crate::problem::Problem;
use crate::server::Site;
use crate::{href, words};

/// Cells of all grids that one page shows; beyond, it shows the first task alone.
const CELLS_MAX: usize = 3000;
/// Grids with more columns are as wide as the page.
const WIDE: usize = 7;
/// Those with still more are drawn small.
const LARGE: usize = 14;
/// Events that were not over are looked for so far back.
const OPEN_FOR: Span = Span::from_secs(30 * 86_400);
const EVENTS_READ: u32 = 1000;
const EVENTS_SHOWN: usize = 6;
/// A cell is stale when its task should have been visited so many times since.
const STALE: u64 = 3;

/// The page.
pub fn sheet(site: &Site, ask: &Ask) -> Result<Sheet, Problem> {
    let now = site.live.now();
    let table = site.live.timetable();
    let wanted = ask.name("task")?;
    let (grids, events) = site.stores.with(|store| {
        let grids = grids(store, table.as_deref(), wanted.as_ref())?;
        Ok::<_, Problem>((grids, open(store, now)?))
    })?;
    let title = match (&wanted, &grids[..]) {
        (Some(task), _) | (None, [Grid { task, .. }]) => format!("Task {task}"),
        (None, _) => "All tasks".to_owned(),
    };
    let body = html! {
        h1 { (title) }
        (links(&grids, wanted.as_ref()))
        (open_events(&events, now))
        div.tasks { @for grid in grids.iter().filter(|grid| grid.is_shown) { (grid.draw(now)) } }
        @if wanted.is_none() && grids.iter().any(|grid| !grid.is_shown) {
            p.note { "Not all grids fit on one page; the others are behind their names above." }
        }
        @if grids.is_empty() { (nothing()) }
    };
    Ok(Sheet {
        title,
        tab: Tab::Grid,
        is_live: true,
        body,
    })
}

/// One task with its cells.
struct Grid {
    task: Name,
    kind: Option<Kind>,
    /// After this time a visit is too old; unknown without a plan.
    interval: Option<Span>,
    hosts: Vec<Name>,
    columns: Vec<Name>,
    cells: BTreeMap<Pair, GridCell>,
    planned: BTreeSet<Pair>,
    is_shown: bool,
}

/// All tasks; only those that are shown have cells.
fn grids(
    store: &mut Store,
    table: Option<&Timetable>,
    wanted: Option<&Name>,
) -> Result<Vec<Grid>, Problem> {
    let mut names: Vec<Name> = Vec::new();
    let planned = table.iter().flat_map(|table| table.plan().tasks());
    names.extend(planned.filter_map(|task| task.name.as_str().parse().ok()));
    for task in store.tasks()? {
        if !names.contains(&task) {
            names.push(task);
        }
    }
    if let Some(task) = wanted.filter(|task| !names.contains(task)) {
        let what = format!("no task is called {:?}", task.as_str());
        return Err(Problem::unknown(
            what,
            "choose one from the list of all tasks",
        ));
    }
    let mut grids = Vec::new();
    let mut cells = 0;
    for task in names {
        let is_wanted = wanted.is_none_or(|wanted| *wanted == task);
        let is_shown = is_wanted && (wanted.is_some() || cells < CELLS_MAX);
        let mut grid = Grid::new(task, table, is_shown);
        if is_shown {
            grid.fill(store.grid(&grid.task)?);
            cells += grid.hosts.len() * grid.columns.len();
            grid.is_shown = wanted.is_some() || cells <= CELLS_MAX || grids.is_empty();
        }
        grids.push(grid);
    }
    Ok(grids)
}

/// Events that are not over, the newest first.
fn open(store: &mut Store, now: UnixTime) -> Result<Vec<StoredEvent>, StoreError> {
    let range = (earlier(now, OPEN_FOR), now + Span::from_secs(1));
    let mut events = store.events(range, EVENTS_READ)?;
    events.retain(|stored| stored.event.recovered.is_none());
    Ok(events)
}

fn links(grids: &[Grid], wanted: Option<&Name>) -> Markup {
    let all = (
        "All tasks".to_owned(),
        Place::new(href::HOME),
        wanted.is_none(),
    );
    let tasks = grids.iter().map(|grid| {
        let is_here = wanted == Some(&grid.task);
        (grid.task.to_string(), href::grid(&grid.task), is_here)
    });
    html! {
        @if grids.len() > 1 { (super::links("Tasks", std::iter::once(all).chain(tasks))) }
    }
}

fn open_events(events: &[StoredEvent], now: UnixTime) -> Markup {
    let shown = events.get(..EVENTS_SHOWN).unwrap_or(events);
    html! {
        section.open {
            @if events.is_empty() {
                p.quiet { "No event of the last 30 days is open." }
            } @else {
                h2 { "Open events " span.count { (events.len()) } }
                (super::events(shown, now, false))
                @if let [_, ..] = &events[shown.len()..] {
                    @let rest = &events[shown.len()..];
                    @let worse = rest.iter().filter(|one| words::is_worse(&one.event)).count();
                    details {
                        summary { (rest.len()) " more, " (worse) " of them for the worse" }
                        (super::events(rest, now, false))
                    }
                }
            }
        }
    }
}

fn nothing() -> Markup {
    html! {
        section.problem {
            p.lead { "There is no plan and no visit yet." }
            p {
                "Start agents with " code { "trunkline watch run PLAN" }
                "; their results appear here."
            }
        }
    }
}

impl Grid {
    fn new(task: Name, table: Option<&Timetable>, is_shown: bool) -> Self {
        let known = table.and_then(|table| task_of(table.plan(), &task));
        let planned = table.zip(known);
        let planned = planned.map_or(Vec::new(), |(table, task)| table.plan().pairs(task));
        let pair = |pair: &watch_plan::Pair| {
            let end = |name: &watch_plan::HostName| name.as_str().parse().ok();
            Some(Pair {
                from: end(&pair.from)?,
                to: end(&pair.to)?,
            })
        };
        let interval = table.zip(known);
        Grid {
            kind: known.map(|task| task.kind),
            interval: interval.and_then(|(table, task)| table.interval(&task.name)),
            planned: planned.iter().filter_map(pair).collect(),
            task,
            hosts: Vec::new(),
            columns: Vec::new(),
            cells: BTreeMap::new(),
            is_shown,
        }
    }

    fn fill(&mut self, cells: Vec<GridCell>) {
        let cells = cells.into_iter().map(|cell| (cell.pair.clone(), cell));
        self.cells = cells.collect();
        let pairs = || self.planned.iter().chain(self.cells.keys());
        let from: BTreeSet<&Name> = pairs().map(|pair| &pair.from).collect();
        let to: BTreeSet<&Name> = pairs().map(|pair| &pair.to).collect();
        let (hosts, columns) = (from.into_iter().cloned(), to.into_iter().cloned());
        (self.hosts, self.columns) = (hosts.collect(), columns.collect());
    }

    /// Whether it shows shares of goodput; other tasks show round trips and loss.
    fn shows_goodput(&self) -> bool {
        match self.kind {
            Some(kind) => kind.is_exclusive() && !matches!(kind, Kind::Responsiveness),
            None => self.cells.values().any(|cell| cell.goodput.is_some()),
        }
    }

    fn draw(&self, now: UnixTime) -> Markup {
        let is_large = self.columns.len() > LARGE;
        let shown = match self.shows_goodput() {
            true => Shown::Goodput,
            false => Shown::RoundTrips,
        };
        html! {
            section.task.wide[self.columns.len() > WIDE] {
                h2 {
                    a href=(href::grid(&self.task)) { (self.task) } " "
                    span.about { (self.about()) }
                }
                p.note { (shown.says()) }
                div.matrix tabindex="0" role="group" aria-label={ "Grid of " (self.task) } {
                    table.grid.large[is_large] {
                        thead {
                            tr {
                                td.corner { "from ↓ to →" }
                                @for to in &self.columns { th scope="col" { span { (to) } } }
                            }
                        }
                        tbody {
                            @for from in &self.hosts {
                                tr {
                                    th scope="row" { (from) }
                                    @for to in &self.columns { (self.cell(from, to, shown, now)) }
                                }
                            }
                        }
                    }
                }
                (shown.legend())
            }
        }
    }

    fn about(&self) -> String {
        let kind = self.kind.map(|kind| kind.word().to_owned());
        let every = self
            .interval
            .map(|span| format!("every {}", words::length(span)));
        let pairs = report::text::count(self.planned.len().max(self.cells.len()) as u64, "pair");
        let parts = [kind, every, Some(pairs)];
        parts.into_iter().flatten().collect::<Vec<_>>().join(" · ")
    }

    fn cell(&self, from: &Name, to: &Name, shown: Shown, now: UnixTime) -> Markup {
        let pair = Pair {
            from: from.clone(),
            to: to.clone(),
        };
        let cell = match self.cells.get(&pair) {
            Some(cell) if self.is_stale(cell, now) => Cell::stale(cell, now),
            Some(cell) => Cell::of(cell, shown, now),
            None if self.planned.contains(&pair) => Cell::none(),
            None => return html! { td.blank {} },
        };
        html! {
            td class=(cell.class) {
                a href=(href::pair(&pair, &self.task)) title=(cell.title) {
                    (cell.text) @if cell.is_share && self.columns.len() <= LARGE { " %" }
                }
            }
        }
    }

    fn is_stale(&self, cell: &GridCell, now: UnixTime) -> bool {
        let bound = self.interval.map(|span| span.as_secs_f64() * STALE as f64);
        bound.is_some_and(|bound| now.since(cell.at).as_secs_f64() > bound)
    }
}
