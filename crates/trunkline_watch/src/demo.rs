//! A month of a mesh of six laboratories in virtual time, with troubles that are known.
//!
//! The plan, the visits, the collector and its detectors are those of a real watch; each visit is
//! a packet simulation of its own. Only the clock, the paths and the hosts' words about themselves
//! are made up.

mod mesh;
mod troubles;

use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use changes::{Failure, Metric, Share, UnixTime, Visit, VisitKind};
use draw::format::lasting;
use draw::page::{Block, Column, Page, Row, Table};
use netpath::PathSpec;
use observe::{Setting, StreamCount, Window};
use units::{Direction, Rate, Span};
use watch_plan::{Due, HostName, Plan, Planned, Timetable};
use watch_run::collector::{Allowed, Collector, CollectorOptions};
use watch_run::link::PlanText;
use watch_store::{DatabaseName, Incident, Name, Pair, Receipt, StoredEvent, StoredVisit, VisitId};

use watch_web::WebServer;

use super::collector::PageServer;
use super::live::{Clock, Known};
use super::plan::PlanFile;
use super::visit::{Deadline, Order, visit};
use trunkline::{Cancel, Error, Target, TargetName};

pub use troubles::Trouble;

const PLAN: &str = include_str!("demo/plan.toml");
/// The length of the demonstration.
const DAYS: u64 = 30;
const DAY: u64 = 86_400;
/// An event that shows its first visit later than this after a trouble began is another one.
const FOUND_WITHIN: Span = Span::from_secs(6 * 3_600);
/// How long streams run: enough to settle on these paths.
const STREAMS_RUN: Span = Span::from_secs(8);

/// What is known after the month.
pub struct DemoMonth {
    /// The plan.
    pub plan: PlanFile,
    /// When the month ended.
    pub now: UnixTime,
    /// What went wrong.
    pub troubles: Vec<Trouble>,
    /// All events, with their latest revisions.
    pub events: Vec<StoredEvent>,
    /// Visits that were made.
    pub visits: usize,
    /// Goodput of each pair over time, in bits per second.
    goodput: BTreeMap<Pair, Vec<(UnixTime, f64)>>,
}

/// What the watch made of one trouble.
#[derive(Debug, Clone, PartialEq)]
pub struct Found {
    /// The trouble, in words.
    pub what: String,
    /// When it began.
    pub begins: UnixTime,
    /// When it ended; `None` where it goes on at the end of the month.
    pub ends: Option<UnixTime>,
    /// Paths that it touches.
    pub paths: usize,
    /// Paths of which an event says so.
    pub found: usize,
    /// From its beginning to the first visit of the first event; `None` where there is none.
    pub since: Option<Span>,
    /// The end of the last of its events; `None` where one goes on.
    pub ended: Option<UnixTime>,
    /// Median change of goodput that its events tell, as a share.
    pub told: Option<f64>,
    /// Median change of goodput of the same paths as visits measured it: of the day before the
    /// trouble and the first day of it.
    pub measured: Option<f64>,
    /// What most events name as first cause.
    pub cause: Option<String>,
}

/// The month before it is made: its pages can be served at once, with the days that are done.
pub struct Demo {
    plan: PlanFile,
    database: DatabaseName,
    collector: Arc<Collector>,
    /// The end of the days that are done.
    clock: Arc<AtomicU64>,
    /// When the month ends.
    now: UnixTime,
    laboratories: Laboratories,
    events: Arc<Mutex<BTreeMap<(Pair, u64), StoredEvent>>>,
}

impl Demo {
    /// A month that ends at the last midnight in UTC, in a new database.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn new(database: DatabaseName, seed: u64, cancel: &Cancel) -> Result<Self, Error> {
        Demo::until(database, super::collector_event::now(), seed, cancel)
    }

    /// The month that ended at midnight before `now`.
    fn until(
        database: DatabaseName,
        now: UnixTime,
        seed: u64,
        cancel: &Cancel,
    ) -> Result<Self, Error> {
        let (plan, notices) = Plan::parse(PLAN, "demo.toml")?;
        let timetable = Timetable::new(&plan, 0)?;
        let now = UnixTime::from_seconds(now.seconds() / DAY * DAY);
        let start = UnixTime::from_seconds(now.seconds() - DAYS * DAY);
        let events: Arc<Mutex<BTreeMap<(Pair, u64), StoredEvent>>> = Arc::default();
        let keep = Arc::clone(&events);
        let collector = Collector::open(
            CollectorOptions {
                database: database.clone(),
                plan: PlanText::new("demo.toml", PLAN),
                timetable: timetable.clone(),
                allowed: Allowed::of(&plan),
                keep_raw: Span::from_secs(2 * DAYS * DAY),
                listening_since: start,
            },
            Box::new(move |found| {
                let mut all = keep.lock().unwrap_or_else(PoisonError::into_inner);
                let found = found.iter();
                all.extend(found.map(|one| ((one.pair.clone(), one.event.id), one.clone())));
            }),
        )?;
        Ok(Demo {
            plan: PlanFile {
                plan,
                timetable,
                text: PlanText::new("demo.toml", PLAN),
                notices,
            },
            database,
            collector: Arc::new(collector),
            clock: Arc::new(AtomicU64::new(start.seconds())),
            now,
            laboratories: Laboratories {
                base: PathSpec::load("slac-cern")?,
                troubles: troubles::troubles(start, seed),
                seed,
                stop: cancel.flag(),
            },
            events,
        })
    }

    /// Serves the pages until the server is dropped: with the days that are done until now.
    ///
    /// # Errors
    /// When the address cannot be used.
    pub fn serve(&self, listen: SocketAddr) -> Result<WebServer, Error> {
        let pages = PageServer {
            listen,
            token: None,
        };
        let timetable = self.plan.timetable.clone();
        let tell = Arc::new(|_: &super::CollectorEvent| ());
        let mut known = Known::open(
            Arc::clone(&self.collector),
            timetable,
            None,
            &self.database,
            tell,
        )?;
        known.clock = Clock::Virtual {
            now: Arc::clone(&self.clock),
            end: self.now,
        };
        Ok(WebServer::start(
            pages.options(&self.database),
            Arc::new(known),
        )?)
    }

    /// Makes the month, until it is cancelled.
    ///
    /// * `on_day`: is told each day that is done, of how many.
    ///
    /// # Errors
    /// When the database cannot be written, or it was cancelled.
    pub fn make(self, on_day: &mut dyn FnMut(u64, u64)) -> Result<DemoMonth, Error> {
        let start = self.now.seconds() - DAYS * DAY;
        let mut visits = 0;
        let mut goodput: BTreeMap<Pair, Vec<(UnixTime, f64)>> = BTreeMap::new();
        for day in 0..DAYS {
            let begin = start + day * DAY;
            let dues = dues(&self.plan.plan, &self.plan.timetable, begin, begin + DAY);
            let made = self.laboratories.visit_all(&dues);
            if self.laboratories.stop.load(Ordering::Relaxed) {
                return Err(Error::cancelled("the demonstration was ended"));
            }
            visits += made.len();
            for one in &made {
                if let Some(rate) = one.visit.goodput {
                    let own = goodput.entry(one.pair.clone()).or_default();
                    own.push((one.visit.at, rate.as_f64()));
                }
            }
            store(&self.collector, &made, begin)?;
            self.clock.store(begin + DAY, Ordering::Relaxed);
            on_day(day + 1, DAYS);
        }
        self.collector.save()?;
        let events = self.events.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(DemoMonth {
            plan: self.plan,
            now: self.now,
            troubles: self.laboratories.troubles,
            events: events.values().cloned().collect(),
            visits,
            goodput,
        })
    }
}

/// The visits of a day, in the order of time.
fn dues(plan: &Plan, timetable: &Timetable, from: u64, to: u64) -> Vec<Due> {
    let mut all = Vec::new();
    for host in plan.hosts().keys() {
        let planned = timetable.next_visits(host, from.cast_signed());
        let day = planned
            .filter_map(Planned::visit)
            .take_while(|due| due.at < to.cast_signed());
        all.extend(day.filter(|due| due.from == *host));
    }
    all.sort_by(|one, other| (one.at, &one.from, &one.to).cmp(&(other.at, &other.from, &other.to)));
    all
}

/// Hour by hour, so that silent paths are noticed when they would be.
fn store(collector: &Collector, made: &[StoredVisit], begin: u64) -> Result<(), Error> {
    for hour in 0..24 {
        let end = UnixTime::from_seconds(begin + (hour + 1) * 3_600);
        let from = UnixTime::from_seconds(begin + hour * 3_600);
        let of_hour = made
            .iter()
            .filter(|one| (from..end).contains(&one.visit.at));
        let of_hour: Vec<StoredVisit> = of_hour.cloned().collect();
        let receipts = collector.store(&of_hour)?;
        if let Some(Receipt::Refused(why)) = receipts.iter().find(|one| **one != Receipt::Stored) {
            return Err(Error::wrong_request(why.to_string(), "name a new database"));
        }
        collector.tend(end)?;
    }
    Ok(())
}

/// The hosts and paths of the demonstration.
struct Laboratories {
    base: PathSpec,
    troubles: Vec<Trouble>,
    seed: u64,
    stop: Arc<AtomicBool>,
}

impl Laboratories {
    /// Makes visits on all processors; the results are in the order of the visits.
    fn visit_all(&self, dues: &[Due]) -> Vec<StoredVisit> {
        let next = AtomicUsize::new(0);
        let made: Mutex<Vec<(usize, StoredVisit)>> = Mutex::default();
        let work = || {
            while !self.stop.load(Ordering::Relaxed) {
                let index = next.fetch_add(1, Ordering::Relaxed);
                let Some(due) = dues.get(index) else { return };
                if let Some(visit) = self.visit(due) {
                    let mut made = made.lock().unwrap_or_else(PoisonError::into_inner);
                    made.push((index, visit));
                }
            }
        };
        let threads = thread::available_parallelism().map_or(1, usize::from);
        thread::scope(|scope| {
            for _ in 0..threads {
                scope.spawn(work);
            }
        });
        let mut made = made.into_inner().unwrap_or_else(PoisonError::into_inner);
        made.sort_by_key(|(index, _)| *index);
        made.into_iter().map(|(_, visit)| visit).collect()
    }

    /// One visit; `None` where its host is down.
    fn visit(&self, due: &Due) -> Option<StoredVisit> {
        let at = UnixTime::from_seconds(due.at.unsigned_abs());
        let (from, to) = (due.from.as_str(), due.to.as_str());
        if self
            .troubles
            .iter()
            .any(|trouble| trouble.silences(from, at))
        {
            return None;
        }
        let on = self
            .troubles
            .iter()
            .filter(|trouble| trouble.is_on(from, to, at));
        let moment = mesh::moment(&self.base, (from, to), at, &on.collect::<Vec<_>>());
        let chance = Chance::of(self.seed, due);
        let mut begun = Visit::new(at, VisitKind::Throughput);
        begun.far_host = Some(moment.far_host);
        begun.route = Some(moment.route);
        let shown = match moment.is_down {
            true => {
                begun.failure = Some(Failure {
                    reason: format!("{to} does not answer"),
                });
                begun.far_host = None;
                begun.route = None;
                (begun, None)
            }
            false => self.run(moment.path, begun, moment.stolen, chance.seed),
        };
        let (visit, rates) = shown;
        Some(StoredVisit {
            id: VisitId::new(at, chance.identity),
            pair: Pair {
                from: Name::from(&due.from),
                to: Name::from(&due.to),
            },
            task: Name::from(&due.task),
            visit,
            rates,
            document: None,
        })
    }

    fn run(
        &self,
        path: PathSpec,
        begun: Visit,
        stolen: f64,
        seed: u64,
    ) -> (Visit, Option<Vec<Rate>>) {
        // Four streams fill these paths; a processor that is half taken sends half as fast.
        let carried = path.forward.rate.as_f64();
        let rate_max = (stolen > 0.0).then(|| Rate::from_f64(carried * (1.0 - stolen)));
        let mut target = match Target::open_named(TargetName::Simulated(Box::new(path)), seed) {
            Ok(target) => target,
            Err(error) => {
                let failure = Some(Failure {
                    reason: error.what(),
                });
                return (Visit { failure, ..begun }, None);
            }
        };
        let order = Order {
            kind: watch_plan::Kind::Throughput,
            direction: Direction::Forward,
            duration: STREAMS_RUN,
            is_gentle: false,
            rate_max,
            setting: Some(Setting::new(streams(), Window::Auto)),
            files: None,
            folder: std::path::PathBuf::new(),
        };
        let mut deadline = Deadline::never(&self.stop);
        let shown = visit(&mut target, &order, begun, &mut deadline).shown;
        let mut visit = shown.visit;
        visit.stolen = Share::new(stolen);
        (visit, shown.rates)
    }
}

fn streams() -> StreamCount {
    StreamCount::new(4).unwrap_or(StreamCount::ONE)
}

/// What chance decides in one visit: the same for the same visit, and another for each.
struct Chance {
    seed: u64,
    identity: [u8; 10],
}

impl Chance {
    fn of(seed: u64, due: &Due) -> Self {
        let text = format!("{seed} {} {} {} {}", due.at, due.task, due.from, due.to);
        let hash = blake3::hash(text.as_bytes());
        let (first, rest) = hash.as_bytes().split_at(8);
        Chance {
            seed: u64::from_be_bytes(first.try_into().unwrap_or_default()),
            identity: rest.first_chunk().copied().unwrap_or_default(),
        }
    }
}

impl DemoMonth {
    /// What was put in and what the pages say of it, as people read it.
    pub fn page(&self) -> Page {
        let columns = [
            Column::text("what happened"),
            Column::number("told on"),
            Column::number("since"),
            Column::words("end"),
            Column::number("goodput told"),
            Column::number("measured"),
            Column::words("first cause"),
        ];
        let table = Table::new(columns, self.found().iter().map(Found::row));
        let unexplained = self.unexplained();
        let made = format!(
            "{} visits to {} paths. {} incidents have no such reason: others' traffic, and chance.",
            self.visits,
            self.pairs().count(),
            unexplained.len()
        );
        let open = unexplained.iter().filter(|one| one.is_open());
        let open: Vec<String> = open.filter_map(named).collect();
        let open = match open.is_empty() {
            true => "None of these is open.".to_owned(),
            false => format!("Open without a reason: {}.", open.join("; ")),
        };
        let blocks = vec![
            Block::heading("Troubles, and what the pages say of them"),
            Block::Table(table),
            Block::Sentences(vec![made, open]),
        ];
        Page::new("watch-demo", "A month of six laboratories", blocks)
    }

    /// What the watch made of each trouble.
    pub fn found(&self) -> Vec<Found> {
        self.troubles
            .iter()
            .map(|trouble| self.found_of(trouble))
            .collect()
    }

    fn found_of(&self, trouble: &Trouble) -> Found {
        let late = trouble.begins + FOUND_WITHIN;
        let ours = |event: &&StoredEvent| {
            let (from, to) = (event.pair.from.as_str(), event.pair.to.as_str());
            let first = event.event.first_visit;
            trouble.touches(from, to)
                && (trouble.begins..late).contains(&first)
                && !event.event.is_withdrawn()
        };
        let events: Vec<&StoredEvent> = self.events.iter().filter(ours).collect();
        let pairs: BTreeSet<&Pair> = events.iter().map(|e| &e.pair).collect();
        let first = events.iter().map(|event| event.event.first_visit).min();
        let ends = events.iter().map(|event| event.event.recovered);
        let told = events.iter().filter_map(|event| {
            let mut shifts = event.event.shifts.iter();
            Some(shifts.find(|one| one.metric == Metric::Goodput)?.size)
        });
        let touched = self.goodput.keys();
        let touched = touched.filter(|pair| trouble.touches(pair.from.as_str(), pair.to.as_str()));
        let measured = touched.filter_map(|pair| self.measured(pair, trouble));
        let paths = self.pairs();
        Found {
            what: trouble.what.clone(),
            begins: trouble.begins,
            ends: (trouble.ends < self.now).then_some(trouble.ends),
            paths: paths.filter(|(from, to)| trouble.touches(from, to)).count(),
            found: pairs.len(),
            since: first.map(|first| first.since(trouble.begins)),
            ended: ends
                .collect::<Option<Vec<_>>>()
                .and_then(|ends| ends.into_iter().max()),
            told: stats::median(&told.collect::<Vec<_>>()),
            measured: stats::median(&measured.collect::<Vec<_>>()),
            cause: most_named(&events),
        }
    }

    /// The change of a path's goodput with a trouble, as a share.
    fn measured(&self, pair: &Pair, trouble: &Trouble) -> Option<f64> {
        let visits = self.goodput.get(pair)?;
        let median = |from: UnixTime, to: UnixTime| {
            let within = visits.iter().filter(|(at, _)| (from..to).contains(at));
            stats::median(&within.map(|(_, rate)| *rate).collect::<Vec<_>>())
        };
        let before = UnixTime::from_seconds(trouble.begins.seconds().saturating_sub(DAY));
        let end = trouble.ends.min(trouble.begins + Span::from_secs(DAY));
        Some(median(trouble.begins, end)? / median(before, trouble.begins)? - 1.0)
    }

    /// Incidents of which no event begins at a trouble or at its end.
    pub fn unexplained(&self) -> Vec<Incident> {
        let near = |event: &StoredEvent| {
            let (from, to) = (event.pair.from.as_str(), event.pair.to.as_str());
            let first = event.event.first_visit;
            self.troubles.iter().any(|trouble| {
                let of_it = trouble.touches(from, to) || trouble.to.contains(&from);
                let turns = [trouble.begins, trouble.ends];
                of_it
                    && turns.iter().any(|turn| {
                        first.since(*turn) < FOUND_WITHIN
                            && turn.since(first) < Span::from_secs(2 * 3_600)
                    })
            })
        };
        let mut all = watch_store::incidents(self.events.clone());
        all.retain(|incident| !incident.members().iter().any(near));
        all
    }

    fn pairs(&self) -> impl Iterator<Item = (&str, &str)> {
        let hosts = || self.plan.plan.hosts().keys().map(HostName::as_str);
        hosts()
            .flat_map(move |from| hosts().map(move |to| (from, to)))
            .filter(|(a, b)| a != b)
    }
}

impl Found {
    fn row(&self) -> Row {
        let share = |share: Option<f64>| {
            share.map_or("-".to_owned(), |share| format!("{:+.0} %", 100.0 * share))
        };
        let since = self
            .since
            .map(|since| format!("+{}", lasting(since.as_secs_f64())));
        Row::new([
            self.what.clone(),
            format!("{} of {}", self.found, self.paths),
            since.unwrap_or_else(|| "-".to_owned()),
            self.end(),
            share(self.told),
            share(self.measured),
            self.cause.clone().unwrap_or_else(|| "-".to_owned()),
        ])
    }

    /// What the pages say of its end beside what is true.
    fn end(&self) -> String {
        match (self.ended, self.ends) {
            _ if self.found == 0 => "-".to_owned(),
            (None, None) => "goes on".to_owned(),
            (None, Some(_)) => "open, though over".to_owned(),
            (Some(_), None) => "over, though it goes on".to_owned(),
            (Some(told), Some(ends)) if told >= ends => {
                format!("+{}", lasting(told.since(ends).as_secs_f64()))
            }
            (Some(told), Some(ends)) => format!("-{}", lasting(ends.since(told).as_secs_f64())),
        }
    }
}

/// What most of the events name as first cause.
fn most_named(events: &[&StoredEvent]) -> Option<String> {
    let mut causes: BTreeMap<&'static str, usize> = BTreeMap::new();
    for event in events {
        let cause = event.event.first_cause().map(|cause| cause.kind.name());
        *causes.entry(cause.unwrap_or("no data")).or_default() += 1;
    }
    let most = causes.into_iter().max_by_key(|(_, count)| *count);
    most.map(|(cause, _)| cause.to_owned())
}

/// An incident in a few words.
fn named(incident: &Incident) -> Option<String> {
    let worst = incident.worst()?;
    let what = match worst.event.worst() {
        Some(moved) => moved.metric.name(),
        None => worst.event.kind.name(),
    };
    Some(format!("{what} from {}", worst.pair))
}

#[cfg(test)]
mod tests;
