//! How often `trunkline tune` is right about what limits one default stream.
//!
//! Each path is judged twice. The truth comes from the simulator, by taking one limit after the
//! other away (`truth.rs`); the tuner knows nothing of it. The paths are the presets and paths made
//! for one limit each, at three strengths (`cases.rs`). The table goes to standard output as
//! Markdown.
//!
//! Left out, since nothing here can make them or take them away: a policer, reordering, small
//! packets, limits of single flows, programs that pause or read slowly, and busy processors. Their
//! rows stand in `observe`'s tests, with made-up figures but for one slow reader.
//!
//! Reading order: `cases.rs`, `truth.rs`, `judge.rs`, `table.rs`.

mod cases;
mod judge;
mod table;
mod truth;

use std::process::ExitCode;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;

use clap::Parser;

use cases::Case;
use judge::Judged;

/// How often the verdict of `trunkline tune` on one default stream is the true one.
#[derive(Debug, Parser)]
struct Arguments {
    /// First seed of the paths that are made up and of the searches; 0 to 149 are for development.
    #[arg(long, default_value_t = 1000)]
    first_seed: u64,
    /// Paths that are made up for each limit and strength.
    #[arg(long, default_value_t = 12)]
    seeds: u64,
    /// Searches on each preset.
    #[arg(long, default_value_t = 3)]
    preset_seeds: u64,
    /// Only cases whose name contains this.
    #[arg(long)]
    only: Option<String>,
    /// List the cases that were not right, with the reasons.
    #[arg(long)]
    misses: bool,
    /// The presets with the kernel's TCP, as far as they have no cross traffic that only a
    /// simulator makes. Needs the rights that `emu:` needs.
    #[arg(long)]
    emulated: bool,
    /// Searches at the same time; of emulated ones always one.
    #[arg(long, default_value_t = 2)]
    jobs: usize,
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let wanted = |case: &Case| {
        arguments
            .only
            .as_deref()
            .is_none_or(|only| case.name.contains(only))
    };
    let mut cases = cases::presets(arguments.first_seed, arguments.preset_seeds);
    if !arguments.emulated {
        cases.extend(cases::made_up(arguments.first_seed, arguments.seeds));
    }
    cases.retain(wanted);
    let judged = judge_all(&cases, &arguments);
    print!("{}", table::page(&judged, arguments.misses));
    match judged.is_empty() {
        true => ExitCode::FAILURE,
        false => ExitCode::SUCCESS,
    }
}

/// The cases in their order, some at the same time.
fn judge_all(cases: &[Case], arguments: &Arguments) -> Vec<Judged> {
    let next = AtomicUsize::new(0);
    let done = Mutex::new(Vec::new());
    let work = || {
        while let Some(case) = cases.get(next.fetch_add(1, Ordering::Relaxed)) {
            let judged = judge::judge(case, arguments.emulated);
            eprintln!("{}", table::progress(case, judged.as_ref()));
            let mut done = done.lock().unwrap_or_else(PoisonError::into_inner);
            done.extend(judged.ok());
        }
    };
    match arguments.emulated {
        // A namespace is entered while the process has one thread.
        true => work(),
        false => thread::scope(|scope| {
            for _ in 0..arguments.jobs.max(1) {
                scope.spawn(work);
            }
        }),
    }
    let mut judged = done.into_inner().unwrap_or_else(PoisonError::into_inner);
    judged.sort_by_key(|judged: &Judged| {
        cases
            .iter()
            .position(|case| case.name == judged.case.name && case.seed == judged.case.seed)
    });
    judged
}
