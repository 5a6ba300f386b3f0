//! An event: how far what moved, why, and the visits that show it.

use std::collections::{BTreeMap, BTreeSet};

use changes::{Cause, Event, UnixTime};
use draw::page::{Block, Column, Row, Table};
use maud::{Markup, html};
use units::Span;
use watch_store::{EventKey, Name, PairHistory, Store, StoreError, StoredEvent, VisitId};

use super::{border, pair, ranges};
use crate::ask::{self, Ask};
use crate::frame::{Sheet, Tab};
use crate::href::Place;
use crate::problem::Problem;
use crate::range::{Range, earlier};
use crate::site::Site;
use crate::{calendar, href, words};

/// Time before the first visit and behind the last one that the chart shows: that of so many
/// visits, and at most so much.
const VISITS_BESIDE: f64 = 24.0;
const BESIDE: Span = Span::from_secs(2 * 86_400);
/// A long event is shown up to here.
const LONGEST: Span = Span::from_secs(12 * 86_400);
/// Links to visits of one cause.
const LINKS: usize = 12;
/// Visits among which the links of causes are looked for.
const VISITS: usize = 5000;

/// Identities of visits by the time at which they began.
type Ids = BTreeMap<UnixTime, VisitId>;

/// The page.
pub fn sheet(site: &Site, place: &[String; 4], ask: &Ask) -> Result<Sheet, Problem> {
    let key = ask::event(place)?;
    site.stores.with(|store| {
        let stored = find(store, &key)?;
        let address = href::event(&key);
        let sections = sections(site, store, &stored, (&address, ask))?;
        let now = site.live.now();
        let title = words::headline(&stored.event);
        Ok(Sheet {
            title: format!("{title}, {}", key.pair),
            tab: Tab::Events,
            is_live: true,
            body: html! {
                h1.event-title.worse[words::is_worse(&stored.event)] { (title) }
                p.setting {
                    "From "
                    a href=(href::pair(&key.pair, &key.task)) { (words::path(&key.pair)) }
                    ", task " a href=(href::grid(&key.task)) { (key.task) }
                    @if !stored.event.is_withdrawn() {
                        ", of " a href=(href::incident(&key)) { "this incident" }
                    }
                }
                p.lead { (lead(&stored.event, now)) }
                (sections)
            },
        })
    })
}

/// An event of the database.
pub fn find(store: &mut Store, key: &EventKey) -> Result<StoredEvent, Problem> {
    let EventKey { pair, task, id } = key;
    let found = store.event(pair, task, *id)?;
    found.ok_or_else(|| ask::no_event(pair, task, &id.to_string()))
}

/// What moved how far, why, the chart around it and its times, on the page of an address.
pub fn sections(
    site: &Site,
    store: &mut Store,
    stored: &StoredEvent,
    (address, ask): (&Place, &Ask),
) -> Result<Markup, Problem> {
    let StoredEvent { pair, task, event } = stored;
    let now = site.live.now();
    let ids = identities(store, stored)?;
    let around = |ago| Range::around(event.first_visit, ago);
    let asked = ask.range_by(now, around)?;
    let range = asked.unwrap_or_else(|| usual(event, interval(site, task)));
    let shown = until(range, now).since(store.first_visit(pair)?);
    let figure = pair::figure(store, (pair, task), shown, std::slice::from_ref(stored))?;
    let figure = figure.map(|figure| figure.draw()).transpose()?;
    let of_pair = href::pair(pair, task).within(Range::between(shown.ends()));
    let traffic = border::beside(store, event.first_visit, now)?;
    Ok(html! {
        (draw::render::html::sections(&tables(event))?)
        (causes(event, &ids))
        @if let Some(traffic) = traffic {
            h2 { "At the same time" }
            p { (traffic) }
        }
        @if let Some(figure) = figure {
            div.controls { (ranges::all(address, range, shown, now)) }
            (figure)
            (ranges::hint())
            p { a href=(of_pair) { "All that the pair showed in this time" } }
        }
        (times(event, &ids))
    })
}

/// What is known of it with as much again on either side, or with some visits.
fn usual(event: &Event, interval: Span) -> Range {
    let first = event.first_visit;
    let last = event.recovered.unwrap_or(event.confirmed).max(first);
    let last = last.min(first + LONGEST);
    let visits = interval.as_secs_f64() * VISITS_BESIDE;
    let beside = last.since(first).as_secs_f64().max(visits);
    let beside = Span::from_secs_f64(beside).min(BESIDE);
    Range::between((earlier(first, beside), last + beside))
}

/// Without what is to come.
fn until(range: Range, now: UnixTime) -> Range {
    let to = range.to.min(now).max(range.from + Span::from_secs(1));
    Range { to, ..range }
}

/// How far apart the visits of a task are.
fn interval(site: &Site, task: &Name) -> Span {
    let table = site.live.timetable();
    let known = table.and_then(|table| {
        let name = super::task_of(table.plan(), task)?.name.clone();
        table.interval(&name)
    });
    known.unwrap_or(Span::from_secs(3600))
}

/// The visits that causes name, of any task of the pair.
fn identities(store: &mut Store, stored: &StoredEvent) -> Result<Ids, StoreError> {
    let event = &stored.event;
    let times = event.causes.iter().flat_map(|cause| &cause.visits);
    let ends = [&event.first_visit, &event.confirmed];
    let times: BTreeSet<UnixTime> = times.chain(ends).copied().collect();
    let (Some(first), Some(last)) = (times.first(), times.last()) else {
        return Ok(Ids::new());
    };
    let range = (*first, *last + Span::from_secs(1));
    let mut ids = Ids::new();
    for task in store.tasks_of(&stored.pair)? {
        if let PairHistory::Visits(visits) = store.history(&stored.pair, &task, range, VISITS)? {
            let own = task == stored.task;
            for (id, visit) in visits.iter().filter(|(_, visit)| times.contains(&visit.at)) {
                if own || !ids.contains_key(&visit.at) {
                    ids.insert(visit.at, *id);
                }
            }
        }
    }
    Ok(ids)
}

fn lead(event: &Event, now: UnixTime) -> String {
    let since = calendar::near(event.first_visit, now);
    let state = match event.recovered {
        Some(end) => format!(
            "It began {since} and was over {}.",
            calendar::near(end, now)
        ),
        None => format!(
            "It began {since} and lasts for {}.",
            words::length(now.since(event.first_visit))
        ),
    };
    let worst = event.worst().map(|moved| moved.metric);
    let others = event.shifts.iter();
    let others = others.filter(|moved| Some(moved.metric) != worst);
    let others = others.map(|moved| {
        format!(
            "{} {}",
            moved.metric.name(),
            words::size(moved.metric, moved.size)
        )
    });
    let others: Vec<String> = others.collect();
    let state = match others.is_empty() {
        true => state,
        false => format!("{state} With it: {}.", others.join(", ")),
    };
    let cause = words::cause(event);
    match cause.is_empty() {
        true => format!("{state} The visits hold no cause."),
        false => format!("{state} Likeliest cause: {}.", draw::words::plain(&cause)),
    }
}

fn causes(event: &Event, ids: &Ids) -> Markup {
    html! {
        @if !event.causes.is_empty() {
            h2 { "Causes, the likeliest first" }
            ol.causes {
                @for cause in &event.causes {
                    li {
                        p { b { (cause.kind.name()) } " "
                            meter min="0" max="1" value=(format!("{:.2}", cause.score))
                                aria-label={ "score " (format!("{:.2}", cause.score)) } {}
                            " " span.score { (format!("{:.0} of 100", cause.score * 100.0)) }
                        }
                        p { (draw::words::sentence(&cause.because)) }
                        (support(cause, ids))
                    }
                }
            }
        }
    }
}

fn support(cause: &Cause, ids: &Ids) -> Markup {
    let (shown, rest) = cause.visits.split_at(cause.visits.len().min(LINKS));
    html! {
        @if !shown.is_empty() {
            p.support { "Shown by the visits of "
                @for (number, at) in shown.iter().enumerate() {
                    @if number > 0 { ", " }
                    (time(*at, ids))
                }
                @if !rest.is_empty() { " and " (rest.len()) " more" }
            }
        }
    }
}

/// A time, with a link where its visit is known.
fn time(at: UnixTime, ids: &Ids) -> Markup {
    let text = calendar::minute(at);
    html! {
        @match ids.get(&at) {
            Some(id) => a href=(href::visit(*id)) { (text) },
            None => (text),
        }
    }
}

fn tables(event: &Event) -> Vec<Block> {
    let mut blocks = Vec::new();
    if !event.shifts.is_empty() {
        let columns = [
            Column::name("metric"),
            Column::number("before"),
            Column::number("after"),
            Column::number("change"),
            Column::number("95 % interval"),
        ];
        let rows = event.shifts.iter().map(|moved| {
            let value = |value| words::value(moved.metric, value);
            let size = |size| words::size(moved.metric, size);
            let interval = moved.size_low.zip(moved.size_high);
            let interval = interval.map(|(low, high)| format!("{} to {}", size(low), size(high)));
            Row::new([
                moved.metric.name().to_owned(),
                value(moved.before),
                value(moved.after),
                size(moved.size),
                interval.unwrap_or_else(|| words::ABSENT.to_owned()),
            ])
        });
        blocks.push(Block::heading("Before and after"));
        blocks.push(Block::Table(Table::new(columns, rows)));
        let note = "Medians of what visits measured: before, of the latest ones at like hours; \
                    after, of those at the level since. The change of goodput is a share.";
        blocks.push(Block::note(note));
    }
    if !event.failures.is_empty() {
        let columns = [Column::text("reason"), Column::number("visits")];
        let row = |(reason, count): (&String, &u32)| Row::new([reason.clone(), count.to_string()]);
        blocks.push(Block::heading("Failures"));
        blocks.push(Block::Table(Table::new(
            columns,
            event.failures.iter().map(row),
        )));
    }
    blocks
}

fn times(event: &Event, ids: &Ids) -> Markup {
    html! {
        h2 { "Times" }
        dl.facts {
            dt { "First visit" } dd { (time(event.first_visit, ids)) " UTC" }
            dt { "Certain" } dd { (time(event.confirmed, ids)) " UTC" }
            @if let Some(end) = event.recovered { dt { "Over" } dd { (time(end, ids)) " UTC" } }
        }
    }
}
