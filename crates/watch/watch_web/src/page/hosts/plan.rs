//! What the timetable says: what is next, what tasks cost, who waits.

use changes::UnixTime;
use draw::page::{Block, Cell, Column, Row, Table};
use maud::{Markup, html};
use watch_plan::{Due, Timetable};
use watch_store::Name;

use super::{at, in_words};
use crate::{calendar, href, words};

/// Visits to come that are listed.
const NEXT: usize = 20;
/// Visits that wait at a host, of which so many are listed.
const WAITING: usize = 10;

/// The next visits of all hosts.
pub fn next_visits(table: &Timetable, now: UnixTime) -> Vec<Block> {
    let seconds = now.seconds().cast_signed();
    let hosts = table.plan().hosts().keys();
    let due = |due: Due| (due.at, due.task.to_string(), due.from.to_string(), due);
    let next = hosts.flat_map(|host| {
        let planned = table.next_visits(host, seconds).take(10 * NEXT);
        let runs = planned.filter_map(watch_plan::Planned::visit);
        // Each visit once: at the end that calls.
        runs.filter(|due| due.from == *host)
            .take(NEXT)
            .map(due)
            .collect::<Vec<_>>()
    });
    let mut next: Vec<_> = next.collect();
    next.sort_by(|one, other| (one.0, &one.1, &one.2).cmp(&(other.0, &other.1, &other.2)));
    let columns = [
        Column::name("begins [UTC]"),
        Column::words("starts"),
        Column::name("task"),
        Column::name("pair"),
        Column::number("lasts at most"),
    ];
    let rows = next.into_iter().take(NEXT).map(|(.., due)| {
        let start = at(due.at);
        Row::new([
            Cell::from(calendar::second(start)),
            in_words(start, now).into(),
            due.task.to_string().into(),
            pair_cell(&due),
            words::length(due.duration).into(),
        ])
    });
    vec![
        Block::heading("What is next"),
        Block::Table(Table::new(columns, rows)),
    ]
}

fn pair_cell(due: &Due) -> Cell {
    let text = format!("{} → {}", due.from, due.to);
    let name = |text: &str| text.parse::<Name>().ok();
    let names = (
        name(due.from.as_str()),
        name(due.to.as_str()),
        name(due.task.as_str()),
    );
    match names {
        (Some(from), Some(to), Some(task)) => {
            let place = href::pair(&watch_store::Pair { from, to }, &task);
            Cell::link(text, place.to_string())
        }
        _ => text.into(),
    }
}

/// What each task costs.
pub fn task_table(explained: &watch_plan::Explanation) -> Table {
    let columns = [
        Column::name("task"),
        Column::number("pairs"),
        Column::number("rounds"),
        Column::number("a cycle takes"),
        Column::number("every"),
        Column::number("most a day at one host"),
    ];
    let row = |task: &watch_plan::TaskLoad| {
        let bytes = task.bytes_a_day.map(|bytes| bytes.human());
        Row::new([
            task.task.to_string(),
            task.pairs.to_string(),
            task.rounds.to_string(),
            words::length(task.cycle),
            words::length(task.interval),
            bytes.unwrap_or_else(|| words::ABSENT.to_owned()),
        ])
    };
    Table::new(columns, explained.tasks.iter().map(row))
}

/// Who waits for what, folded away by host.
pub fn waiting(table: &Timetable, now: UnixTime) -> Markup {
    let seconds = now.seconds().cast_signed();
    let hosts = table.plan().hosts().keys();
    let waiting = hosts.map(|host| (host, table.waiting(host, seconds)));
    let waiting: Vec<_> = waiting.filter(|(_, visits)| !visits.is_empty()).collect();
    html! {
        h2 { "Who waits" }
        p.note { "Visits that are due and whose round has not come: no host has two at once." }
        @if waiting.is_empty() { p.quiet { "No visit waits." } }
        @for (host, visits) in &waiting {
            details {
                summary { (host) " " span.count { (visits.len()) } }
                ul {
                    @for waiting in visits.iter().take(WAITING) {
                        li {
                            (waiting.visit.task) " " (waiting.visit.from) " → " (waiting.visit.to)
                            ", due since " (calendar::near(at(waiting.since), now))
                            ", begins " (in_words(at(waiting.visit.at), now))
                        }
                    }
                    @if visits.len() > WAITING { li { (visits.len() - WAITING) " more" } }
                }
            }
        }
    }
}
