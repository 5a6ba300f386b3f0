//! How fast visits of a 30 x 30 mesh are stored and asked for, and how much room they take.
//!
//! Pages are asked for from cold: all files of the database are written out and dropped from the
//! page cache (`fsync`, `posix_fadvise`), PostgreSQL is started anew, and a
//! new process opens the database and asks once.

#[path = "../../../crates/watch_store/tests/common/server.rs"]
#[allow(dead_code, reason = "tests use other parts")]
mod server;
mod visits;
mod web;

use std::error::Error;
use std::fs::{self, File};
use std::path::Path;
use std::process::{Command, ExitCode};
use std::time::Instant;

use changes::UnixTime;
use clap::{Parser, Subcommand, ValueEnum};
use nix::fcntl::{PosixFadviseAdvice, posix_fadvise};
use watch_store::{DatabaseName, PairHistory, Store};

use visits::{EVERY, Mesh, START};

/// Visits of a mesh of 870 pairs in a year of 365 days, every 30 minutes.
const YEAR: u64 = 870 * 48 * 365;
/// Half hours between two roll-ups.
const ROLL_UP_EVERY: u64 = 4;
const BATCH: usize = 200;
const SINGLE: usize = 400;
const COLD: usize = 7;

type Outcome<T> = Result<T, Box<dyn Error>>;

#[derive(Debug, Parser)]
struct Arguments {
    #[command(subcommand)]
    step: Step,
}

#[derive(Debug, Subcommand)]
enum Step {
    /// Fills a database, asks, and prints its part of the page.
    Run {
        /// Which.
        database: Kind,
        /// Days of the mesh.
        #[arg(long, default_value_t = 24)]
        days: u64,
    },
    /// Opens a database, asks once, and prints milliseconds.
    Ask {
        database: String,
        page: Page,
        /// Days that it holds.
        days: u64,
    },
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Kind {
    Sqlite,
    Postgresql,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Page {
    Grid,
    PairDay,
    PairAll,
    Months,
    Visit,
    WebGrid,
    WebPairDay,
    WebPairMonth,
    WebPairAll,
    WebMonths,
    WebHosts,
}

const PAGES: [(Page, &str, &str); 11] = [
    (Page::Grid, "grid", "grid of 870 pairs"),
    (Page::PairDay, "pair-day", "a pair, last day, all visits"),
    (
        Page::PairAll,
        "pair-all",
        "a pair, whole time, at most 1000 points",
    ),
    (Page::Months, "months", "months of 870 pairs"),
    (
        Page::Visit,
        "visit",
        "raw values of the visits of a pair in 12 hours",
    ),
    (Page::WebGrid, "web-grid", "grid of 870 pairs over HTTP"),
    (
        Page::WebPairDay,
        "web-pair-day",
        "a pair, last day, over HTTP",
    ),
    (
        Page::WebPairMonth,
        "web-pair-month",
        "a pair, last month, over HTTP",
    ),
    (
        Page::WebPairAll,
        "web-pair-all",
        "a pair, last year, over HTTP",
    ),
    (
        Page::WebMonths,
        "web-months",
        "months of 870 pairs over HTTP",
    ),
    (Page::WebHosts, "web-hosts", "state of 30 hosts over HTTP"),
];

fn main() -> ExitCode {
    match run(Arguments::parse().step) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(step: Step) -> Outcome<()> {
    match step {
        Step::Run { database, days } => {
            println!(
                "\nVisits: {} of {days} days, half an hour apart, each with 20 round trips and \
                 100 rates.",
                870 * 48 * days
            );
            match database {
                Kind::Sqlite => run_sqlite(days),
                Kind::Postgresql => run_postgresql(days),
            }
        }
        Step::Ask {
            database,
            page,
            days,
        } => ask(&database.parse()?, page, days),
    }
}

fn run_sqlite(days: u64) -> Outcome<()> {
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("watch.sqlite");
    let name = DatabaseName::Sqlite(path.clone());
    let text = path.display().to_string();
    section("SQLite", &name, &text, folder.path(), days, None)
}

fn run_postgresql(days: u64) -> Outcome<()> {
    let Some(server) = server::Server::start_with("") else {
        return Ok(());
    };
    let name = server.database("watch");
    let DatabaseName::Postgres(url) = &name else {
        return Err("the server gave no URL".into());
    };
    let place = server.place();
    section("PostgreSQL", &name, url, place, days, Some(&server))
}

/// Fills a database and asks; prints its part of the page.
fn section(
    title: &str,
    name: &DatabaseName,
    text: &str,
    place: &Path,
    days: u64,
    server: Option<&server::Server>,
) -> Outcome<()> {
    println!("\n## {title}\n");
    let mut store = Store::open(name)?;
    fill(&mut store, days)?;
    let count = 870 * 48 * days;
    report_size("with raw values", size(place, server)?, count);
    drop(store);
    println!("\n| page | cold: median ms | cold: least to most | warm: median ms |");
    println!("|---|---|---|---|");
    for (_, argument, title) in PAGES {
        let ask = || -> Outcome<f64> {
            let days = days.to_string();
            let output = Command::new(std::env::current_exe()?)
                .args(["ask", text, argument, &days])
                .output()?;
            let said = String::from_utf8(output.stdout)?;
            said.trim()
                .parse()
                .map_err(|_| String::from_utf8_lossy(&output.stderr).into())
        };
        let mut cold = Vec::new();
        for _ in 0..COLD {
            if let Some(server) = server {
                server.down();
            }
            drop_cache(place)?;
            if let Some(server) = server {
                server.up();
            }
            cold.push(ask()?);
        }
        let warm: Outcome<Vec<f64>> = (0..COLD).map(|_| ask()).collect();
        let (median, warm) = (stats::median(&cold), stats::median(&warm?));
        let (least, most) = (stats::quantile(&cold, 0.0), stats::quantile(&cold, 1.0));
        println!(
            "| {title} | {:.1} | {:.1} to {:.1} | {:.1} |",
            median.unwrap_or(f64::NAN),
            least.unwrap_or(f64::NAN),
            most.unwrap_or(f64::NAN),
            warm.unwrap_or(f64::NAN)
        );
    }
    retain(name)
}

fn fill(store: &mut Store, days: u64) -> Outcome<()> {
    let mut mesh = Mesh::new(1124);
    let (mut rates, mut rolled, mut longest) = (Vec::new(), 0.0, 0f64);
    for round in 0..days * 48 {
        let visits = mesh.round(round);
        for batch in visits.chunks(BATCH) {
            let begin = Instant::now();
            store.insert(batch)?;
            let seconds = begin.elapsed().as_secs_f64();
            longest = longest.max(seconds);
            rates.push(batch.len() as f64 / seconds);
        }
        if (round + 1) % ROLL_UP_EVERY > 0 {
            continue;
        }
        let begin = Instant::now();
        while store.roll_up(100)? > 0 {}
        rolled += begin.elapsed().as_secs_f64();
    }
    let at = |p: f64| stats::quantile(&rates, p).unwrap_or(f64::NAN);
    println!(
        "- batches of {BATCH}: median {:.0} visits a second, 5 to 95 % of the batches {:.0} to \
         {:.0}, the longest batch {longest:.2} s",
        at(0.5),
        at(0.05),
        at(0.95)
    );
    println!(
        "- roll-ups after each two hours of the mesh: {:.2} s for its 870 pairs",
        rolled / (days * 48 / ROLL_UP_EVERY) as f64
    );
    let single = mesh.round(days * 48);
    let begin = Instant::now();
    for visit in single.iter().take(SINGLE) {
        store.insert(std::slice::from_ref(visit))?;
    }
    let rate = SINGLE as f64 / begin.elapsed().as_secs_f64();
    println!("- one visit in each transaction: {rate:.0} visits a second ({SINGLE} of them)");
    store.insert(&single)?;
    while store.roll_up(100)? > 0 {}
    Ok(())
}

/// Bytes of all files below a folder, after PostgreSQL's log is left out.
fn size(place: &Path, server: Option<&server::Server>) -> Outcome<u64> {
    if let Some(server) = server {
        server.sql("watch", "VACUUM ANALYZE");
        server.sql("watch", "CHECKPOINT");
    }
    let mut bytes = 0;
    each_file(place, &mut |path| {
        let is_log = path.components().any(|part| part.as_os_str() == "pg_wal");
        bytes += if is_log { 0 } else { fs::metadata(path)?.len() };
        Ok(())
    })?;
    Ok(bytes)
}

fn report_size(what: &str, bytes: u64, count: u64) {
    let each = bytes as f64 / count as f64;
    println!(
        "- size {what}: {:.0} MB, {each:.0} bytes for each visit; extrapolated to a year of \
         {:.1} million: {:.1} GB",
        bytes as f64 / 1e6,
        YEAR as f64 / 1e6,
        each * YEAR as f64 / 1e9
    );
}

fn each_file(folder: &Path, work: &mut impl FnMut(&Path) -> Outcome<()>) -> Outcome<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let kind = entry.file_type()?;
        if kind.is_dir() {
            each_file(&entry.path(), work)?;
        } else if kind.is_file() {
            work(&entry.path())?;
        }
    }
    Ok(())
}

fn drop_cache(place: &Path) -> Outcome<()> {
    each_file(place, &mut |path| {
        let file = File::open(path)?;
        file.sync_all()?;
        posix_fadvise(&file, 0, 0, PosixFadviseAdvice::POSIX_FADV_DONTNEED)?;
        Ok(())
    })
}

/// Removes the raw values of all but the last days in small steps.
fn retain(name: &DatabaseName) -> Outcome<()> {
    let mut store = Store::open(name)?;
    let before = UnixTime::from_seconds(START + 7 * 86_400);
    let (mut longest, mut dropped) = (0f64, 0);
    let begin = Instant::now();
    loop {
        let step = Instant::now();
        let some = store.drop_raw(before, 500)?;
        longest = longest.max(step.elapsed().as_secs_f64());
        dropped += some;
        if some == 0 {
            break;
        }
    }
    println!(
        "\n- retention: {dropped} raw values of 7 days removed in {:.1} s, steps of 500, the \
         longest {:.0} ms",
        begin.elapsed().as_secs_f64(),
        longest * 1e3
    );
    Ok(())
}

/// The address of a page over HTTP.
fn address(page: Page) -> Option<&'static str> {
    match page {
        Page::WebGrid => Some("/"),
        Page::WebPairDay => Some("/pair/host11.example.org/host23.example.org?range=day"),
        Page::WebPairMonth => Some("/pair/host11.example.org/host23.example.org?range=month"),
        Page::WebPairAll => Some("/pair/host11.example.org/host23.example.org?range=year"),
        Page::WebMonths => Some("/months"),
        Page::WebHosts => Some("/hosts"),
        Page::Grid | Page::PairDay | Page::PairAll | Page::Months | Page::Visit => None,
    }
}

fn ask(name: &DatabaseName, page: Page, days: u64) -> Outcome<()> {
    if let Some(address) = address(page) {
        println!("{:.3}", web::ask(name, address, days)?);
        return Ok(());
    }
    let begin = Instant::now();
    let mut store = Store::open(name)?;
    let (pair, task) = (visits::pair(11, 23), visits::task());
    let end = UnixTime::from_seconds(START + days * 86_400 + EVERY);
    let back = |seconds: u64| UnixTime::from_seconds(end.seconds() - seconds);
    let found = match page {
        Page::Grid => store.grid(&task)?.len(),
        Page::PairDay => points(&store.history(&pair, &task, (back(86_400), end), 1000)?),
        Page::PairAll => {
            points(&store.history(&pair, &task, (UnixTime::from_seconds(START), end), 1000)?)
        }
        Page::Months => store.months(&task, UnixTime::from_seconds(0), end)?.len(),
        Page::Visit => raw_values(&mut store, back(43_200), end)?,
        _ => 0,
    };
    let milliseconds = begin.elapsed().as_secs_f64() * 1e3;
    if found == 0 {
        return Err("the page is empty".into());
    }
    println!("{milliseconds:.3}");
    Ok(())
}

fn points(history: &PairHistory) -> usize {
    match history {
        PairHistory::Visits(visits) => visits.len(),
        PairHistory::RollUps(_, roll_ups) => roll_ups.len(),
    }
}

fn raw_values(store: &mut Store, from: UnixTime, to: UnixTime) -> Outcome<usize> {
    let (pair, task) = (visits::pair(11, 23), visits::task());
    let PairHistory::Visits(visits) = store.history(&pair, &task, (from, to), 1000)? else {
        return Err("twelve hours have too many visits".into());
    };
    let mut values = 0;
    for (id, _) in visits {
        let loaded = store.load(id)?;
        values += loaded
            .and_then(|loaded| loaded.stored.rates)
            .map_or(0, |rates| rates.len());
    }
    Ok(values)
}
