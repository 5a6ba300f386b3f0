//! How often does the 95 % interval of one run hold what the same setting carries in the long run?
//!
//! Runs over named paths in virtual time, as `trunkline measure sim:PATH` makes them, of 5, 10, 30
//! and 60 s, each judged by itself. The truth of a setting is the mean of long runs with other
//! seeds (`truth.rs`). The page on standard output has a table by kind of setting and one by length
//! (`table.rs`).
//!
//! Reading order: `cases.rs`, `truth.rs`, `judge.rs`, `table.rs`.

mod cases;
mod judge;
mod table;
mod truth;

use std::fs;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;

use clap::Parser;

use cases::Case;

/// How often the interval of one run holds the long-run mean.
#[derive(Debug, Parser)]
struct Arguments {
    /// First seed of the runs. Seeds below 1000 are for whoever changes the analysis.
    #[arg(long, default_value_t = 1000)]
    first_seed: u64,
    /// Runs of each setting and length.
    #[arg(long, default_value_t = 8)]
    seeds: u64,
    /// Only cases whose name contains this.
    #[arg(long)]
    only: Option<String>,
    /// Takes the truths from the table of an earlier page: they take most of the time, and no
    /// analysis changes them.
    #[arg(long)]
    truths: Option<PathBuf>,
    /// A line for each run on standard error.
    #[arg(long)]
    each: bool,
    /// Runs at the same time.
    #[arg(long, default_value_t = 2)]
    jobs: usize,
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let wanted = |case: &Case| match arguments.only.as_deref() {
        Some(only) => case.name().contains(only),
        None => true,
    };
    let cases: Vec<Case> = cases::all().into_iter().filter(wanted).collect();
    let trials = judge::trials(&cases, arguments.first_seed, arguments.seeds);
    let truths = match arguments.truths.as_deref().map(fs::read_to_string) {
        None => at_once(&cases, arguments.jobs, truth::of),
        Some(Ok(page)) => cases
            .iter()
            .filter_map(|c| truth::on_page(c, &page))
            .collect(),
        Some(Err(error)) => {
            eprintln!("error: the page with the truths cannot be read: {error}");
            return ExitCode::FAILURE;
        }
    };
    let judged = at_once(&trials, arguments.jobs, |trial| {
        let truth = truths.iter().find(|truth| truth.case == trial.case);
        let judged = judge::judge(trial, truth?);
        if let (true, Some(judged)) = (arguments.each, &judged) {
            eprintln!("{}", table::line(judged));
        }
        judged
    });
    print!("{}", table::page(&judged, &truths));
    match judged.is_empty() {
        true => ExitCode::FAILURE,
        false => ExitCode::SUCCESS,
    }
}

/// What `work` makes of each, in their order.
fn at_once<T: Sync, R: Send>(
    items: &[T],
    jobs: usize,
    work: impl Fn(&T) -> Option<R> + Sync,
) -> Vec<R> {
    if jobs <= 1 {
        return items.iter().filter_map(work).collect();
    }
    let next = AtomicUsize::new(0);
    let done = Mutex::new(Vec::new());
    thread::scope(|scope| {
        for _ in 0..jobs {
            scope.spawn(|| {
                loop {
                    let index = next.fetch_add(1, Ordering::Relaxed);
                    let Some(item) = items.get(index) else { break };
                    let result = work(item).map(|result| (index, result));
                    let mut done = done.lock().unwrap_or_else(PoisonError::into_inner);
                    done.extend(result);
                }
            });
        }
    });
    let mut done = done.into_inner().unwrap_or_else(PoisonError::into_inner);
    done.sort_by_key(|(index, _)| *index);
    done.into_iter().map(|(_, result)| result).collect()
}
