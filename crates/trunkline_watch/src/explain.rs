//! A plan in numbers: what it costs, how busy it keeps each host, and what comes next.

use changes::UnixTime;
use draw::format::{lasting, percent, size};
use draw::page::{Block, Column, Page, Row, Table};
use serde::Serialize;
use units::Span;
use watch_plan::{Due, Explanation, HostLoad, Planned, TaskLoad, TaskName};

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
    /// The hours without visits of each task that has any.
    pub quiet: Vec<QuietHours>,
    #[serde(skip)]
    now: UnixTime,
}

/// Hours without visits.
#[derive(Debug, Clone, Serialize)]
pub struct QuietHours {
    /// The task.
    pub task: TaskName,
    /// As the plan writes them, in its local time.
    pub hours: Vec<String>,
    /// The offset of that from UTC.
    pub utc_offset: String,
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
            quiet: self.quiet(),
            now,
        }
    }

    fn quiet(&self) -> Vec<QuietHours> {
        let with_some = self.plan.tasks().iter();
        let with_some = with_some.filter(|task| !task.budget.quiet.is_empty());
        let hours = with_some.map(|task| QuietHours {
            task: task.name.clone(),
            hours: task.budget.quiet.iter().map(ToString::to_string).collect(),
            utc_offset: self.plan.utc_offset().to_string(),
        });
        hours.collect()
    }

    /// The same at this moment.
    pub fn explained_now(&self) -> Explained {
        self.explained(super::collector_event::now())
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
        let mut blocks = vec![
            Block::heading("Tasks"),
            Block::Table(self.tasks()),
            Block::note(
                "cycle: one visit of each pair. bytes a day: the most at one host; - for small \
                 packets, and where neither links nor a budget tell it.",
            ),
        ];
        if let Some(first) = self.quiet.first() {
            let tasks: Vec<String> = self.quiet.iter().map(QuietHours::words).collect();
            let tasks = tasks.join("; ");
            let note = format!("no visits (UTC{}): {tasks}.", first.utc_offset);
            blocks.push(Block::note(note));
        }
        blocks.extend([
            Block::heading("Hosts"),
            Block::Table(self.hosts()),
            Block::note("busy: the share of its time that a host is in visits that need it alone."),
            Block::heading("Next visits"),
            Block::Table(self.visits()),
        ]);
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
                whole(task.cycle),
                whole(task.interval),
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
            Column::words("visit"),
            Column::number("at most"),
        ];
        let row = |due: &Due| {
            Row::new([
                self.when(due.at),
                format!("{}: {} to {}", due.task, due.from, due.to),
                whole(due.duration),
            ])
        };
        Table::new(columns, self.next.iter().map(row))
    }

    /// `in 5 min`.
    fn when(&self, at: i64) -> String {
        let at = UnixTime::from_seconds(at.unsigned_abs());
        match at.since(self.now) {
            Span::ZERO => "now".to_owned(),
            span => format!("in {}", lasting(span.as_secs_f64())),
        }
    }
}

impl QuietHours {
    fn words(&self) -> String {
        format!("{} {}", self.task, self.hours.join(", "))
    }
}

/// Whole seconds in the units of a clock: `1 h 30 min`.
fn whole(span: Span) -> String {
    let seconds = span.as_secs_f64() as u64;
    let parts = [
        (seconds / 86_400, "d"),
        (seconds / 3_600 % 24, "h"),
        (seconds / 60 % 60, "min"),
        (seconds % 60, "s"),
    ];
    let parts = parts.iter().filter(|(count, _)| *count > 0);
    let parts: Vec<String> = parts
        .map(|(count, unit)| format!("{count} {unit}"))
        .collect();
    parts.join(" ")
}
