//! A pair over time: smoke of its round trips above its goodput with events and a forecast.

mod beside;
pub mod chart;
mod outlook;
pub mod series;

use std::sync::Arc;

use changes::{Forecast, UnixTime, VisitKind};
use draw::page::{Block, Cell, Column, Row, Table};
use maud::{Markup, html};
use watch_store::{Border, LoadedVisit, Name, Pair, Store, StoredEvent, VisitId};

use self::beside::{Beside, Other, Turned};
use self::series::Series;
use super::{border, ranges};

use crate::ask::{self, Ask};
use crate::frame::{Sheet, Tab};
use crate::href::Place;
use crate::problem::Problem;
use crate::range::{Ago, Range};
use crate::site::Site;
use crate::{calendar, href, words};

/// Events of the chosen range that are listed.
const EVENTS: u32 = 200;
/// Visits that are listed, the latest of the range.
const VISITS: usize = 100;
/// Hours that are forecast.
pub const HOURS: usize = 12;

/// What the page shows.
struct Shown {
    pair: Pair,
    task: Name,
    tasks: Vec<Name>,
    /// As it was asked for.
    range: Range,
    /// From where there are visits on.
    shown: Range,
    now: UnixTime,
    series: Series,
    /// What crossed the border meanwhile.
    border: Border,
    other: Option<(Other, Beside)>,
    /// All pairs of the task.
    pairs: Vec<Pair>,
    events: Vec<StoredEvent>,
    forecast: Option<Arc<Forecast>>,
}

/// The page.
pub fn sheet(site: &Site, (from, to): (&str, &str), ask: &Ask) -> Result<Sheet, Problem> {
    let pair = ask::pair(from, to)?;
    let now = site.live.now();
    let range = ask.range(now, Ago::Week)?;
    let wanted = ask.name("task")?;
    let other = Other::asked(ask, &pair)?;
    let shown = site.stores.with(|store| {
        let (tasks, task) = chosen(site, store, &pair, wanted)?;
        let series = Series::of(store, &pair, &task, &tasks, range)?;
        let shown = range.since(store.first_visit(&pair)?);
        let border = border::read(store, shown)?;
        let read = |other: Other| {
            let beside = other.read(store, &task, shown)?;
            Ok::<_, Problem>((other, beside))
        };
        let other = other.map(read).transpose()?;
        let pairs = store.pairs_of(&task)?;
        let mut events = store.events_of(&pair, range.ends(), EVENTS)?;
        events.retain(|stored| !stored.event.is_withdrawn());
        let forecast = match series.goodput_task() {
            Some(task) if range.to > now => site.forecasts.of(store, &pair, task, now)?,
            _ => None,
        };
        Ok::<_, Problem>(Shown {
            pair,
            task,
            tasks,
            range,
            shown,
            now,
            series,
            border,
            other,
            pairs,
            events,
            forecast,
        })
    })?;
    shown.sheet()
}

/// The tasks of a pair, by the plan or the store, and the one to show.
fn chosen(
    site: &Site,
    store: &mut Store,
    pair: &Pair,
    wanted: Option<Name>,
) -> Result<(Vec<Name>, Name), Problem> {
    let mut tasks = store.tasks_of(pair)?;
    if let Some(table) = site.live.timetable() {
        let is_pair = |of: &watch_plan::Pair| Pair::from(of) == *pair;
        let plan = table.plan();
        let of_plan = plan
            .tasks()
            .iter()
            .filter(|task| plan.pairs(task).iter().any(is_pair));
        tasks.extend(of_plan.map(|task| Name::from(&task.name)));
        tasks.sort();
        tasks.dedup();
    }
    let first = tasks.first().cloned();
    let Some(first) = first else {
        let what = format!("no task visits the pair {pair}");
        return Err(Problem::unknown(
            what,
            "choose a pair from the grid of a task",
        ));
    };
    match wanted {
        Some(task) if tasks.contains(&task) => Ok((tasks, task)),
        Some(task) => {
            let what = format!(
                "the task {:?} does not visit the pair {pair}",
                task.as_str()
            );
            Err(Problem::unknown(
                what,
                "choose a pair from the grid of this task",
            ))
        }
        None => Ok((tasks, first)),
    }
}

impl Shown {
    fn sheet(&self) -> Result<Sheet, Problem> {
        let title = format!("{} → {}", self.pair.from, self.pair.to);
        let body = html! {
            h1 { (title) }
            p.setting { "Task " a href=(href::grid(&self.task)) { (self.task) } ", " (self.span()) }
            div.controls { (self.task_links()) (self.range_links()) }
            (self.figure()?)
            (self.slowest_link())
            (self.comparison())
            @if let Some(forecast) = &self.forecast { (outlook::tiles(forecast, self.now)?) }
            (self.event_list())
            (self.visit_list()?)
            @let back = self.pair.clone().turned();
            p.note {
                "The other way: "
                a href=(href::pair(&back, &self.task).within(self.range)) { (words::path(&back)) }
            }
        };
        Ok(Sheet {
            title,
            tab: Tab::Grid,
            is_live: self.range.ago.is_some(),
            body,
        })
    }

    fn span(&self) -> String {
        let (from, to) = self.shown.ends();
        let (from, to) = (calendar::minute(from), calendar::minute(to));
        let beside = self
            .other()
            .map(|other| format!(", beside {}", other.name()));
        let points = self.series.resolution();
        format!("{from} to {to} UTC, {points}{}", beside.unwrap_or_default())
    }

    fn task_links(&self) -> Markup {
        let link = |task: &Name| {
            let place = self.beside(href::pair(&self.pair, task)).within(self.range);
            (task.to_string(), place, *task == self.task)
        };
        html! {
            @if self.tasks.len() > 1 { (super::links("Tasks", self.tasks.iter().map(link))) }
        }
    }

    fn other(&self) -> Option<&Other> {
        self.other.as_ref().map(|(other, _)| other)
    }

    /// This page without what is beside the pair, and without a range.
    fn alone(&self) -> Place {
        href::pair(&self.pair, &self.task)
    }

    fn comparison(&self) -> Markup {
        let place = self.alone().within(self.range);
        beside::choice(&place, &self.pair, self.other(), &self.pairs)
    }

    /// With what is beside the pair.
    fn beside(&self, place: Place) -> Place {
        match self.other() {
            Some(other) => other.at(place),
            None => place,
        }
    }

    fn range_links(&self) -> Markup {
        let place = self.beside(self.alone());
        ranges::all(&place, self.range, self.shown, self.now)
    }

    fn figure(&self) -> Result<Markup, Problem> {
        let hours = match self.range.ago {
            Some(Ago::Day | Ago::Week) => self.hours(),
            _ => Vec::new(),
        };
        let figure = chart::Chart {
            panels: chart::Panels::All,
            beside: self.other.as_ref().map(|(_, beside)| beside),
            border: Some(&self.border),
            series: &self.series,
            events: &self.events,
            hours: &hours,
            range: self.shown,
            title: format!("{} over time", self.pair),
        };
        match figure.figure() {
            Some(figure) => Ok(html! { (figure.draw()?) (ranges::hint()) }),
            None => Ok(html! {
                p.quiet { "No visit in this time. Choose a longer range, or see "
                    a href=(href::HOSTS) { "what the hosts do" } "." }
            }),
        }
    }

    fn slowest_link(&self) -> Markup {
        let said = match self.series.slowest_link() {
            Some(Ok((rate, of))) => format!("at least {}, median of {of}", words::rate(rate)),
            Some(Err(why)) => format!("not known, since {}", why.words()),
            None => return Markup::default(),
        };
        html! { p.note { "Slowest link, by round trips of several sizes: " (said) "." } }
    }

    fn hours(&self) -> Vec<changes::Hour> {
        let hours = self.forecast.as_ref().map(|forecast| forecast.hours(HOURS));
        hours.unwrap_or_default()
    }

    fn event_list(&self) -> Markup {
        html! {
            h2 { "Events " span.count { (self.events.len()) } }
            @if self.events.is_empty() { p.quiet { "None in this time." } }
            (super::cards(&chart::numbered(&self.events), self.now, true))
        }
    }

    fn visit_list(&self) -> Result<Markup, Problem> {
        let visits: Vec<&LoadedVisit> = self.series.visits().collect();
        if visits.is_empty() {
            return Ok(Markup::default());
        }
        let shown = &visits[visits.len().saturating_sub(VISITS)..];
        let table = visit_table(shown.iter().rev().map(|loaded| {
            let stored = &loaded.stored;
            (
                stored.id,
                stored.visit.at,
                stored.visit.kind,
                words::visit(&stored.visit),
            )
        }));
        let blocks = [Block::Details {
            title: format!("Visits ({} of {})", shown.len(), visits.len()),
            is_open: false,
            blocks: vec![Block::Table(table)],
        }];
        Ok(draw::render::html::sections(&blocks)?)
    }
}

/// A row for each visit, with a link to it.
pub fn visit_table(visits: impl Iterator<Item = (VisitId, UnixTime, VisitKind, String)>) -> Table {
    let columns = [
        Column::name("time [UTC]"),
        Column::words("kind"),
        Column::text("result"),
    ];
    let row = |(id, at, kind, result): (VisitId, UnixTime, VisitKind, String)| {
        let time = Cell::link(calendar::second(at), href::visit(id).to_string());
        Row::new([time, kind.name().into(), result.into()])
    };
    Table::new(columns, visits.map(row))
}

/// What a chart of a pair shows in a range, for the pages of its events: without links to them.
pub fn figure(
    store: &mut Store,
    (pair, task): (&Pair, &Name),
    range: Range,
    events: &[StoredEvent],
) -> Result<Option<crate::figure::Figure>, Problem> {
    let tasks = store.tasks_of(pair)?;
    let series = Series::of(store, pair, task, &tasks, range)?;
    let border = border::read(store, range)?;
    let chart = chart::Chart {
        panels: chart::Panels::All,
        beside: None,
        border: Some(&border),
        series: &series,
        events,
        hours: &[],
        range,
        title: format!("{pair} around the event"),
    };
    let figure = chart.figure();
    Ok(figure.map(|figure| crate::figure::Figure {
        links: Vec::new(),
        ..figure
    }))
}
