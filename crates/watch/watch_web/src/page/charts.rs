//! Many pairs at once: a small chart of each, the worst first.

use std::collections::BTreeMap;

use changes::UnixTime;
use maud::{Markup, html};
use watch_store::{Name, Pair, Store, StoredEvent};

use super::mesh::{self, Mesh};
use super::pair::chart::{Chart, Panels};
use super::pair::series::Series;
use super::ranges;
use super::state::{Cell, Shown};
use crate::ask::Ask;
use crate::frame::{Sheet, Tab};
use crate::href::{self, Place};
use crate::problem::Problem;
use crate::range::{Ago, Range};
use crate::site::Site;
use crate::words;

/// Charts of one page.
const CHARTS: usize = 36;
/// Pairs of a task that there can be.
const PAIRS_MAX: u64 = 1_000_000;
/// Events that are marked.
const EVENTS: u32 = 1000;

/// The page.
pub fn sheet(site: &Site, ask: &Ask) -> Result<Sheet, Problem> {
    let now = site.live.now();
    let range = ask.range(now, Ago::Week)?;
    let skip = ask.number("skip", PAIRS_MAX)?.unwrap_or(0) as usize;
    let table = site.live.timetable();
    let wanted = ask.name("task")?;
    let body = site.stores.with(|store| {
        let tasks = mesh::tasks(store, table.as_deref())?;
        let Some(task) = wanted.as_ref().or(tasks.first()) else {
            return Ok(html! { h1 { "Charts" } p.quiet { "There is no plan and no visit yet." } });
        };
        let meshes = mesh::all(store, table.as_deref(), Some(task), now)?;
        let mesh = meshes.iter().find(|mesh| mesh.is_shown);
        let mesh = mesh.ok_or_else(|| Problem::ours("a task that there is was not read"))?;
        let page = Page { mesh, range, skip };
        page.draw(store, &tasks, now)
    })?;
    Ok(Sheet {
        title: "Charts".to_owned(),
        tab: Tab::Charts,
        is_live: range.ago.is_some(),
        body,
    })
}

/// What was asked for.
struct Page<'a> {
    mesh: &'a Mesh,
    range: Range,
    skip: usize,
}

impl Page<'_> {
    fn draw(&self, store: &mut Store, tasks: &[Name], now: UnixTime) -> Result<Markup, Problem> {
        let ranked = self.mesh.ranked();
        let shown = ranked.iter().skip(self.skip).take(CHARTS);
        let events = events(store, self.range)?;
        let charts = shown.map(|(pair, cell)| {
            let events = events.get(pair).map_or(&[][..], Vec::as_slice);
            self.chart(store, (pair, cell), events)
        });
        let charts: Vec<Markup> = charts.collect::<Result<_, Problem>>()?;
        let links = tasks.iter().map(|task| {
            let place = href::charts(task).within(self.range);
            (task.to_string(), place, *task == self.mesh.task)
        });
        let place = href::charts(&self.mesh.task);
        Ok(html! {
            h1 { "Charts of " (self.mesh.task) }
            div.controls {
                @if tasks.len() > 1 { (super::links("Tasks", links)) }
                (ranges::all(&place, self.range, self.range, now))
            }
            p.setting { (self.about(ranked.len())) }
            ul.charts { @for chart in charts { li { (chart) } } }
            (self.others(ranked.len()))
        })
    }

    fn about(&self, pairs: usize) -> String {
        let what = match self.mesh.shown {
            Shown::Goodput => "Goodput",
            Shown::RoundTrips => "Round trips, coloured by loss",
        };
        let last = pairs.min(self.skip + CHARTS);
        let first = last.min(self.skip + 1);
        let pairs = draw::words::count(pairs as u64, "pair");
        format!("{what}; {first} to {last} of {pairs}, those that do worst now first.")
    }

    /// Links to the charts before and behind those of this page.
    fn others(&self, pairs: usize) -> Markup {
        let place = |skip| {
            href::charts(&self.mesh.task)
                .within(self.range)
                .with("skip", skip)
        };
        let link = |text: &str, skip: usize| (text.to_owned(), place(skip), false);
        let before = (self.skip > 0).then(|| link("← worse", self.skip.saturating_sub(CHARTS)));
        let next = self.skip + CHARTS;
        let behind = (next < pairs).then(|| link("better →", next));
        let links: Vec<(String, Place, bool)> = before.into_iter().chain(behind).collect();
        html! { @if !links.is_empty() { (super::links("Other pairs", links)) } }
    }

    fn chart(
        &self,
        store: &mut Store,
        (pair, cell): (&Pair, &Cell),
        events: &[StoredEvent],
    ) -> Result<Markup, Problem> {
        let task = &self.mesh.task;
        let series = Series::small(store, pair, task, self.range)?;
        let chart = Chart {
            panels: match self.mesh.shown {
                Shown::Goodput => Panels::Goodput,
                Shown::RoundTrips => Panels::RoundTrips,
            },
            beside: None,
            border: None,
            series: &series,
            events,
            hours: &[],
            range: self.range,
            title: format!("{pair} over time"),
        };
        let drawn = chart.figure().map(|mut figure| {
            figure.name = format!("{}-{}", pair.from, pair.to);
            figure.small()
        });
        let drawn = drawn.transpose()?;
        Ok(html! {
            a href=(href::pair(pair, task).within(self.range)) title=(cell.title) {
                span class={ "key " (cell.state.class()) } { (cell.figure()) }
                (words::path(pair))
            }
            @match drawn { Some(drawn) => (drawn), None => p.quiet { "No visit in this time." } }
        })
    }
}

/// Events of a range by their pair.
fn events(store: &mut Store, range: Range) -> Result<BTreeMap<Pair, Vec<StoredEvent>>, Problem> {
    let mut events: BTreeMap<Pair, Vec<StoredEvent>> = BTreeMap::new();
    for stored in store.events(range.ends(), EVENTS)? {
        events.entry(stored.pair.clone()).or_default().push(stored);
    }
    Ok(events)
}
