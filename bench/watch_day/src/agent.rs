//! A day of one agent.

use std::io::{self, Write};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use changes::FarHost;
use serde::{Deserialize, Serialize};
use watch_agent::{Agent, AgentEvent, AgentOptions, Clock, Followed};
use watch_link::PlanDigest;

use crate::Outcome;
use crate::clock::Jumping;
use crate::made_up::MadeUp;
use crate::plan;
use crate::process;

/// What an agent counted and cost.
#[derive(Debug, Default, Clone, Serialize, Deserialize)]
pub struct Told {
    pub begun: u64,
    pub delivered: u64,
    pub missed: u64,
    /// Everything that is no beginning, end or delivery.
    pub others: Vec<String>,
    pub processor_seconds: f64,
    pub peak_kib: u64,
    pub seconds: f64,
}

pub fn run(folder: &Path, port: u16, alone: bool) -> Outcome<()> {
    let notes = alone.then(|| folder.join("running"));
    let mut due: Vec<i64> = plan::dues()?.iter().map(|due| due.at).collect();
    due.sort();
    let clock = Arc::new(Jumping::new(due, notes));
    let agent = Agent::open(AgentOptions {
        followed: Followed {
            timetable: plan::timetable()?,
            digest: PlanDigest::of(&plan::text()),
            hosts: vec![plan::host()?],
        },
        plans: None,
        collector: format!("127.0.0.1:{port}").parse()?,
        token: plan::token()?,
        state: folder.to_owned(),
        host: FarHost::default(),
        software: "trunkline-bench-watch-day".to_owned(),
        clock: Arc::clone(&clock) as Arc<dyn Clock>,
    })?;
    let told = Mutex::new(Told::default());
    let on_event = |event| {
        let (begun, delivered) = counted(&event);
        note(&told, event);
        clock.count(begun, delivered);
    };
    let (begin, before) = (Instant::now(), process::own_seconds()?);
    let stop = AtomicBool::new(false);
    let visitor = MadeUp::new(1125);
    thread::scope(|scope| {
        scope.spawn(|| agent.run(&visitor, &stop, &on_event));
        while !clock.is_over.load(Ordering::Relaxed) {
            thread::sleep(Duration::from_millis(5));
        }
        if alone {
            // The first line says that the day is over; the answer, that there is a collector.
            println!();
            let _ = io::stdin().read_line(&mut String::new());
        }
        stop.store(true, Ordering::Relaxed);
    });
    let mut told = told.into_inner().unwrap_or_else(PoisonError::into_inner);
    told.processor_seconds = process::own_seconds()? - before;
    told.peak_kib = process::peak_kib(std::process::id())?;
    told.seconds = begin.elapsed().as_secs_f64();
    serde_json::to_writer(io::stdout(), &told)?;
    Ok(io::stdout().flush()?)
}

/// Visits that have begun and that were delivered; one that is missed is neither waited for.
fn counted(event: &AgentEvent) -> (u64, u64) {
    match event {
        AgentEvent::Began(_) => (1, 0),
        AgentEvent::Delivered { visits, .. } => (0, *visits as u64),
        AgentEvent::Missed(count) => (*count as u64, *count as u64),
        _ => (0, 0),
    }
}

fn note(told: &Mutex<Told>, event: AgentEvent) {
    let mut told = told.lock().unwrap_or_else(PoisonError::into_inner);
    match event {
        AgentEvent::Began(_) => told.begun += 1,
        AgentEvent::Ended { failure: None, .. } => {}
        AgentEvent::Delivered { visits, .. } => told.delivered += visits as u64,
        AgentEvent::Missed(count) => told.missed += count as u64,
        other => told.others.push(other.to_string()),
    }
}
