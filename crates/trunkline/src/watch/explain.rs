//! A plan in numbers: what it costs, how busy it keeps each host, and what comes next.

use changes::UnixTime;
use report::format::{percent, size};
use report::page::{Block, Column, Page, Row, Table};
use serde::Serialize;
use watch_plan::{Due, Explanation, HostLoad, Planned, TaskLoad};

use super::PlanFile;

/// Visits that are shown.
const NEXT: usize = 10;
/// Visits of both directions that are passed over to find those.
const LOOKED_AT: usize = 10_000;

/// A plan in numbers.
#[derive(Debug, Clone, Serialize)]
pub struct Explained {
    /// Hosts and tasks.
    #[serde(flatten)]
    pub explanation: Explanation,
    /// The next visits of all hosts.
    pub next: Vec<Due>,
    #[serde(skip)]
    now: UnixTime,
}

impl PlanFile {
    /// The plan in numbers, at `now`.
    pub fn explained(&self, now: UnixTime) -> Explained {
        let seconds = now.seconds().cast_signed();
        let mut next: Vec<Due> = Vec::new();
        for host in self.plan.hosts().keys() {
            let planned = self.timetable.next_visits(host, seconds).take(LOOKED_AT);
            let own = planned.filter_map(Planned::visit);
            next.extend(own.filter(|due| due.from == *host).take(NEXT));
        }
        next.sort_by(|one, other| {
            (one.at, &one.from, &one.to).cmp(&(other.at, &other.from, &other.to))
        });
        next.truncate(NEXT);
        Explained {
            explanation: self.timetable.explain(seconds),
            next,
            now,
        }
    }

    /// The same at this moment.
    pub fn explained_now(&self) -> Explained {
        self.explained(super::collector::now())
    }
}

impl Explained {
    /// As other programs read it, with a line break at the end.
    pub fn json(&self) -> String {
        let json = serde_json::to_string_pretty(self);
        json.unwrap_or_default() + "\n"
    }

    /// As people read it.
    pub fn page(&self) -> Page {
        let blocks = vec![
            Block::heading("Tasks"),
            Block::Table(self.tasks()),
            Block::note(
                "cycle: one visit of each pair. bytes a day: the most at one host; - for small \
                 packets, and where the rates of the links are not known.",
            ),
            Block::heading("Hosts"),
            Block::Table(self.hosts()),
            Block::note("busy: the share of its time that a host is in visits that need it alone."),
            Block::heading("Next visits"),
            Block::Table(self.visits()),
        ];
        Page::new("watch-plan", "Plan of a watch", blocks)
    }

    fn tasks(&self) -> Table {
        let columns = [
            Column::name("task"),
            Column::number("pairs"),
            Column::number("rounds"),
            Column::number("cycle takes"),
            Column::number("every"),
            Column::number("bytes a day"),
        ];
        let row = |task: &TaskLoad| {
            Row::new([
                task.task.to_string(),
                task.pairs.to_string(),
                task.rounds.to_string(),
                task.cycle.human().to_string(),
                task.interval.human().to_string(),
                task.bytes_a_day
                    .filter(|bytes| bytes.get() > 0)
                    .map_or("-".to_owned(), |bytes| size(bytes.get())),
            ])
        };
        Table::new(columns, self.explanation.tasks.iter().map(row))
    }

    fn hosts(&self) -> Table {
        let columns = [
            Column::name("host"),
            Column::number("busy"),
            Column::words("now"),
            Column::words("next"),
        ];
        let row = |host: &HostLoad| {
            let visit = |due: &Option<Due>| match due {
                Some(due) => format!("{} to {} {}", due.from, due.to, self.when(due.at)),
                None => "-".to_owned(),
            };
            Row::new([
                host.host.to_string(),
                percent(host.busy),
                host.running
                    .as_ref()
                    .map_or("-".to_owned(), |due| due.task.to_string()),
                visit(&host.next),
            ])
        };
        Table::new(columns, self.explanation.hosts.iter().map(row))
    }

    fn visits(&self) -> Table {
        let columns = [
            Column::name("begins"),
            Column::name("task"),
            Column::name("from"),
            Column::name("to"),
            Column::number("at most"),
        ];
        let row = |due: &Due| {
            Row::new([
                self.when(due.at),
                due.task.to_string(),
                due.from.to_string(),
                due.to.to_string(),
                due.duration.human().to_string(),
            ])
        };
        Table::new(columns, self.next.iter().map(row))
    }

    /// `in 5 min`.
    fn when(&self, at: i64) -> String {
        let at = UnixTime::from_seconds(at.unsigned_abs());
        match at.since(self.now) {
            units::Span::ZERO => "now".to_owned(),
            span => format!("in {}", span.human()),
        }
    }
}
