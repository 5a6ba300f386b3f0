//! A collector whose time is that of its agent.

use std::io::{self, Read, Write};
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;

use changes::UnixTime;
use copy_net::Listener;
use serde::{Deserialize, Serialize};
use units::Span;
use watch_collector::{Allowed, Collector, CollectorOptions};
use watch_link::{Answer, PlanText, Report, Reports};
use watch_store::{DatabaseName, Receipt};
use wire::copy::{Key, KeyName, Rights};

use crate::{Outcome, plan, process};

/// What a collector counted and cost.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Collected {
    pub reports: u64,
    pub stored: u64,
    /// Sent once more.
    pub known: u64,
    pub processor_seconds: f64,
    pub peak_kib: u64,
}

pub fn database(folder: &Path) -> DatabaseName {
    DatabaseName::Sqlite(folder.join("watch.db"))
}

pub fn run(folder: &Path, port: u16) -> Outcome<()> {
    let timetable = plan::timetable()?;
    let options = CollectorOptions {
        database: database(folder),
        plan: PlanText::new("plan.toml", plan::text()),
        allowed: Allowed::of(timetable.plan()),
        timetable,
        keep_raw: Span::from_secs(90 * plan::DAY),
        listening_since: UnixTime::from_seconds(plan::START),
    };
    let taking = Arc::new(Taking {
        collector: Collector::open(options, Box::new(|_| ()))?,
        key: plan::token()?.secret.key(),
        reports: AtomicU64::new(0),
        stored: AtomicU64::new(0),
        known: AtomicU64::new(0),
    });
    let listener = Listener::bind(Some(port..=port))?;
    println!();
    let is_over = AtomicBool::new(false);
    thread::scope(|scope| {
        let reports: Arc<dyn Reports> = Arc::clone(&taking) as Arc<dyn Reports>;
        scope.spawn(|| watch_link::serve(listener, reports, &|| is_over.load(Ordering::Relaxed)));
        let _ = io::stdin().read_to_end(&mut Vec::new());
        is_over.store(true, Ordering::Relaxed);
    });
    taking.collector.save()?;
    let count = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
    let collected = Collected {
        reports: count(&taking.reports),
        stored: count(&taking.stored),
        known: count(&taking.known),
        processor_seconds: process::own_seconds()?,
        peak_kib: process::peak_kib(std::process::id())?,
    };
    serde_json::to_writer(io::stdout(), &collected)?;
    Ok(io::stdout().flush()?)
}

struct Taking {
    collector: Collector,
    key: Key,
    reports: AtomicU64,
    stored: AtomicU64,
    known: AtomicU64,
}

impl Reports for Taking {
    fn find(&self, _name: &KeyName) -> Option<(Key, Rights)> {
        Some((self.key.clone(), Rights::ALL))
    }

    fn take(&self, name: &KeyName, peer: SocketAddr, report: Report) -> Answer {
        self.reports.fetch_add(1, Ordering::Relaxed);
        let answer = self.collector.take(name, peer, &report, report.now);
        if let Answer::Taken(reply) = &answer {
            for receipt in &reply.receipts {
                match receipt {
                    Receipt::Stored => self.stored.fetch_add(1, Ordering::Relaxed),
                    Receipt::Known => self.known.fetch_add(1, Ordering::Relaxed),
                    Receipt::Refused(_) => 0,
                };
            }
        }
        answer
    }

    fn rejected(&self, peer: SocketAddr, reason: &str) {
        eprintln!("{peer}: rejected: {reason}");
    }
}
