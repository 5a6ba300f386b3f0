//! The measurements, one after another, and their page.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use changes::UnixTime;
use serde::de::DeserializeOwned;
use watch_plan::Due;
use watch_store::{Pair, PairHistory, Store};

use crate::agent::Told;
use crate::collector::Collected;
use crate::plan::{self, DAY, START};
use crate::{Outcome, collector, idle};

/// A day with what came of it.
struct Day {
    told: Told,
    collected: Collected,
    planned: usize,
    found: Found,
}

/// Visits in the database beside those of the plan.
#[derive(Default)]
struct Found {
    stored: usize,
    absent: usize,
    doubled: usize,
}

pub fn run(program: &Path, idle_seconds: u64) -> Outcome<()> {
    println!(
        "| a day | planned | begun | missed | delivered | stored | lost | doubled | reports | \
         processor time | peak memory |"
    );
    println!("|---|---|---|---|---|---|---|---|---|---|---|");
    let served = day(false)?;
    row("with a collector", &served);
    row("without one until its end", &day(true)?);
    let idle = idle::measure(program, idle_seconds, [free_port()?, free_port()?])?;
    let (share, visits) = (
        idle.processor_seconds / idle.seconds as f64,
        served.told.processor_seconds / DAY as f64,
    );
    println!(
        "\nAn agent without visits, the program itself, {} s: {:.2} s of a processor, {:.3} %; \
         peak memory {:.1} MiB. With the visits' part of a day, {:.3} %: {:.3} % of a processor.",
        idle.seconds,
        idle.processor_seconds,
        share * 100.0,
        idle.peak_kib as f64 / 1024.0,
        visits * 100.0,
        (share + visits) * 100.0
    );
    for other in &served.told.others {
        println!("\nThe agent said: {other}");
    }
    Ok(())
}

fn row(name: &str, day: &Day) {
    println!(
        "| {name} | {} | {} | {} | {} | {} | {} | {} | {} | {:.1} s in {:.0} s | {:.1} MiB |",
        day.planned,
        day.told.begun,
        day.told.missed,
        day.told.delivered,
        day.found.stored,
        day.found.absent as u64 - day.told.missed.min(day.found.absent as u64),
        day.found.doubled,
        day.collected.reports,
        day.told.processor_seconds,
        day.told.seconds,
        day.told.peak_kib as f64 / 1024.0
    );
}

/// One day of the agent; `alone`: there is a collector only at its end.
fn day(alone: bool) -> Outcome<Day> {
    let folder = tempfile::tempdir()?;
    let port = free_port()?.to_string();
    let place = folder.path().display().to_string();
    let collect = || start(&["collect", &place, &port]);
    let mut agent_words = vec!["agent", &place, &port];
    let (mut collector, mut agent) = match alone {
        false => {
            let mut collector = collect()?;
            collector.line()?;
            (collector, start(&agent_words)?)
        }
        true => {
            agent_words.push("--alone");
            let mut agent = start(&agent_words)?;
            agent.line()?;
            let mut collector = collect()?;
            collector.line()?;
            agent.say()?;
            (collector, agent)
        }
    };
    let told: Told = agent.result()?;
    let collected: Collected = collector.result()?;
    let dues = plan::dues()?;
    let mut store = Store::open(&collector::database(folder.path()))?;
    Ok(Day {
        told,
        collected,
        planned: dues.len(),
        found: found(&mut store, &dues)?,
    })
}

/// Compares the database with the plan, series by series.
fn found(store: &mut Store, dues: &[Due]) -> Outcome<Found> {
    let mut planned: BTreeMap<(String, String), Vec<i64>> = BTreeMap::new();
    for due in dues {
        let series = (due.task.to_string(), due.to.to_string());
        planned.entry(series).or_default().push(due.at);
    }
    let end = UnixTime::from_seconds(START + 2 * DAY);
    let mut found = Found::default();
    for ((task, to), times) in planned {
        let pair = Pair {
            from: plan::HOST.parse()?,
            to: to.parse()?,
        };
        let range = (UnixTime::from_seconds(0), end);
        let history = store.history(&pair, &task.parse()?, range, usize::MAX)?;
        let PairHistory::Visits(visits) = history else {
            return Err("the history has roll-ups".into());
        };
        found.stored += visits.len();
        for at in &times {
            let began = visits
                .iter()
                .map(|(_, visit)| visit.at.seconds().cast_signed());
            let here = began
                .filter(|began| (*at..=*at + 2).contains(began))
                .count();
            found.absent += usize::from(here == 0);
            found.doubled += here.saturating_sub(1);
        }
    }
    Ok(found)
}

fn free_port() -> Outcome<u16> {
    Ok(TcpListener::bind("127.0.0.1:0")?.local_addr()?.port())
}

/// This program once more, for one part.
struct Part {
    child: Child,
    said: BufReader<std::process::ChildStdout>,
}

fn start(words: &[&str]) -> Outcome<Part> {
    let mut command = Command::new(std::env::current_exe()?);
    command
        .args(words)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped());
    let mut child = command.spawn()?;
    let said = child.stdout.take().ok_or("no standard output")?;
    Ok(Part {
        child,
        said: BufReader::new(said),
    })
}

impl Part {
    /// Waits for a line.
    fn line(&mut self) -> Outcome<()> {
        match self.said.read_line(&mut String::new())? {
            0 => Err("a part ended early".into()),
            _ => Ok(()),
        }
    }

    fn say(&mut self) -> Outcome<()> {
        let mut input = self.child.stdin.take().ok_or("no standard input")?;
        Ok(writeln!(input)?)
    }

    /// What it says at its end.
    fn result<T: DeserializeOwned>(&mut self) -> Outcome<T> {
        drop(self.child.stdin.take());
        let mut text = String::new();
        self.said.read_to_string(&mut text)?;
        let status = self.child.wait()?;
        match status.success() {
            true => Ok(serde_json::from_str(&text)?),
            false => Err("a part failed".into()),
        }
    }
}

impl Drop for Part {
    fn drop(&mut self) {
        // One that has ended needs no signal.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
