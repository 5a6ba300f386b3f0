//! The state of every host and of the plan: how busy is it, what is next, who waits.

mod plan;

use std::collections::{BTreeMap, BTreeSet};

use changes::UnixTime;
use draw::format;
use draw::page::{Block, Cell, Column, Fact, Row, Table};
use maud::html;
use watch_plan::{Due, HostLoad, Planned, Timetable};
use watch_store::Name;

use crate::frame::{Sheet, Tab};
use crate::problem::Problem;
use crate::site::Site;
use crate::{AgentState, calendar, words};

/// A clock that differs more than this is named.
const CLOCK: f64 = 1.0;
/// An agent that was silent for so many seconds is named.
const SILENT: f64 = 600.0;
/// Entries of the timetable among which the next visit is looked for.
const SOME: usize = 100;

/// What is known of a host.
struct Host<'a> {
    name: String,
    load: Option<&'a HostLoad>,
    agent: Option<&'a AgentState>,
    latest: Option<UnixTime>,
    /// The first visit of the plan that has not begun.
    next: Option<Due>,
}

/// The page.
pub fn sheet(site: &Site) -> Result<Sheet, Problem> {
    let now = site.live.now();
    let table = site.live.timetable();
    let agents = site.live.agents();
    let seen = site.stores.with(|store| Ok(store.hosts()?))?;
    let latest: BTreeMap<Name, UnixTime> = seen.into_iter().map(|s| (s.host, s.latest)).collect();
    let explained = table
        .as_ref()
        .map(|table| table.explain(now.seconds().cast_signed()));
    let loads = explained
        .as_ref()
        .map_or(&[][..], |explained| &explained.hosts);
    let mut hosts = hosts(loads, &agents, &latest);
    for host in &mut hosts {
        host.next = table.as_deref().and_then(|table| host.next(table, now));
    }
    let extra = site.live.extra();
    let extra: Vec<Fact> = extra
        .into_iter()
        .map(|(name, text)| Fact::plain(name, text))
        .collect();
    let mut blocks = vec![Block::Table(host_table(&hosts, !agents.is_empty(), now))];
    if let Some(table) = &table {
        blocks.extend(plan::next_visits(table, now));
    }
    if let Some(explained) = &explained {
        blocks.push(Block::heading("Tasks"));
        blocks.push(Block::Table(plan::task_table(explained)));
    }
    if !extra.is_empty() {
        blocks.push(Block::heading("Collector"));
        blocks.push(Block::Facts(extra));
    }
    let notes = notes(&hosts, now);
    Ok(Sheet {
        title: "Hosts".to_owned(),
        tab: Tab::Hosts,
        is_live: true,
        body: html! {
            h1 { "Hosts" }
            @if !notes.is_empty() { ul.warnings { @for note in &notes { li { (note) } } } }
            @if hosts.is_empty() { p.quiet { "There is no plan, and no agent was heard of." } }
            (draw::render::html::sections(&blocks)?)
            @if let Some(table) = &table { (plan::waiting(table, now)) }
        },
    })
}

fn hosts<'a>(
    loads: &'a [HostLoad],
    agents: &'a [AgentState],
    latest: &BTreeMap<Name, UnixTime>,
) -> Vec<Host<'a>> {
    let planned = loads.iter().map(|load| load.host.to_string());
    let running = agents.iter().map(|agent| agent.host.to_string());
    let stored = latest.keys().map(Name::to_string);
    let names: BTreeSet<String> = planned.chain(running).chain(stored).collect();
    let host = |name: String| Host {
        load: loads.iter().find(|load| load.host.as_str() == name),
        agent: agents.iter().find(|agent| agent.host.as_str() == name),
        latest: latest
            .iter()
            .find(|(host, _)| host.as_str() == name)
            .map(|(_, at)| *at),
        name,
        next: None,
    };
    names.into_iter().map(host).collect()
}

/// Columns of agents only where there are agents: a demonstration has none.
fn host_table(hosts: &[Host<'_>], has_agents: bool, now: UnixTime) -> Table {
    let mut columns = vec![
        Column::name("host"),
        Column::text("does now"),
        Column::text("next"),
        Column::number("visits that wait"),
        Column::number("busy"),
        Column::words("latest visit"),
    ];
    if has_agents {
        columns.extend([
            Column::words("agent seen"),
            Column::number("results on its disk"),
            Column::number("its clock"),
            Column::words("software"),
        ]);
    }
    Table::new(columns, hosts.iter().map(|host| host.row(has_agents, now)))
}

impl Host<'_> {
    /// Whether its agent was silent for too long.
    fn is_gone(&self, now: UnixTime) -> bool {
        let seen = self.agent.map(|agent| now.since(agent.seen).as_secs_f64());
        seen.is_some_and(|seconds| seconds > SILENT)
    }

    fn next(&self, table: &Timetable, now: UnixTime) -> Option<Due> {
        let seconds = now.seconds().cast_signed();
        let planned = table.next_visits(&self.load?.host, seconds + 1);
        let mut due = planned.take(SOME).filter_map(Planned::visit);
        due.find(|due| due.at > seconds)
    }

    fn row(&self, has_agents: bool, now: UnixTime) -> Row {
        let absent = || words::ABSENT.to_owned();
        let load = self.load;
        let due = self.next.as_ref().map(|due| self.due(due, now));
        let mut cells = vec![
            Cell::from(self.name.clone()),
            self.doing(now).into(),
            due.unwrap_or_else(absent).into(),
            load.map_or_else(absent, |load| load.waiting.to_string())
                .into(),
            load.map_or_else(absent, |load| format::percent(load.busy))
                .into(),
            self.latest
                .map_or_else(absent, |at| words::ago(at, now))
                .into(),
        ];
        if has_agents {
            cells.extend(self.agent_cells(now));
        }
        Row::new(cells)
    }

    fn agent_cells(&self, now: UnixTime) -> [Cell; 4] {
        let absent = || words::ABSENT.to_owned();
        let agent = self.agent;
        let seen = match agent {
            None => "never".to_owned().into(),
            Some(agent) if self.is_gone(now) => Cell {
                is_strong: true,
                ..Cell::from(format!("gone, {}", words::ago(agent.seen, now)))
            },
            Some(agent) => words::ago(agent.seen, now).into(),
        };
        let clock = agent.and_then(|agent| agent.clock_ahead_seconds).map(clock);
        [
            seen,
            agent
                .map_or_else(absent, |agent| agent.waiting.to_string())
                .into(),
            clock.unwrap_or_else(absent).into(),
            agent
                .map_or_else(absent, |agent| agent.software.clone())
                .into(),
        ]
    }

    /// What the agent says, else what the plan says.
    fn doing(&self, now: UnixTime) -> String {
        let said = self.agent.and_then(|agent| agent.running.clone());
        let planned = self.load.and_then(|load| load.running.as_ref());
        let planned = planned.map(|due| {
            let until = calendar::second(at(due.until));
            format!(
                "{} until {}",
                self.visit(due),
                until.get(11..).unwrap_or_default()
            )
        });
        let idle = if self.is_gone(now) { "unknown" } else { "idle" };
        said.or(planned.map(|text| format!("{text} by the plan")))
            .unwrap_or_else(|| idle.to_owned())
    }

    fn due(&self, due: &Due, now: UnixTime) -> String {
        let start = at(due.at);
        format!("{}, {}", self.visit(due), in_words(start, now))
    }

    /// The visit as this host sees it.
    fn visit(&self, due: &Due) -> String {
        match due.from.as_str() == self.name {
            true => format!("{} to {}", due.task, due.to),
            false => format!("{} from {}", due.task, due.from),
        }
    }
}

fn at(seconds: i64) -> UnixTime {
    UnixTime::from_seconds(seconds.max(0).unsigned_abs())
}

fn in_words(start: UnixTime, now: UnixTime) -> String {
    match start <= now {
        true => "now".to_owned(),
        false => format!("in {}", words::length(start.since(now))),
    }
}

fn clock(ahead: f64) -> String {
    let sign = if ahead < 0.0 { "−" } else { "+" };
    format!("{sign}{:.2} s", ahead.abs())
}

/// What needs attention.
fn notes(hosts: &[Host<'_>], now: UnixTime) -> Vec<String> {
    let mut notes = Vec::new();
    for host in hosts {
        let Some(agent) = host.agent else {
            continue;
        };
        let name = &host.name;
        if host.is_gone(now) {
            let ago = words::ago(agent.seen, now);
            notes.push(format!("The agent of {name} was last heard of {ago}."));
        }
        if let Some(why) = &agent.plan_refused {
            notes.push(format!(
                "The agent of {name} refuses the plan and goes on with the one before: {why}"
            ));
        } else if agent.plan_differs {
            notes.push(format!(
                "The agent of {name} has another plan; give it the same text."
            ));
        }
        if let Some(ahead) = agent
            .clock_ahead_seconds
            .filter(|ahead| ahead.abs() > CLOCK)
        {
            let side = if ahead < 0.0 { "behind" } else { "ahead" };
            notes.push(format!(
                "The clock of {name} is {:.1} s {side}; run a time service there.",
                ahead.abs()
            ));
        }
    }
    notes
}
