//! How close does a search come to the exhaustive best of a path, and what does it take?
//!
//! 300 random paths, each a function of its seed (`paths.rs`); the best setting of each by brute force
//! (`grid.rs`, from long runs that are kept on disk, `runs.rs`); every strategy on every path (`strategies.rs`,
//! `search.rs`); what its recommendation gives in long runs against the best (`score.rs`), as tables
//! (`table.rs`), as rows (`rows.rs`), and the worst paths in detail (`misses.rs`).
//!
//! The first half of the paths is for development. The other half is for the table alone: whoever looks at it
//! path by path while changing a search makes its numbers worthless, so it has to be asked for.
//!
//! Left out: paths with the kernel's TCP, which `bench/tune_against_grid.py` has, and everything that a
//! simulated host does not do, such as running out of processor.

mod grid;
mod misses;
mod paths;
mod rows;
mod runs;
mod score;
mod search;
mod strategies;
mod table;

use std::fs;
use std::ops::Range;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Parser, ValueEnum};
use lab::campaign::Cache;
use path::PathSpec;
use tune::Objective;

use grid::{Grid, JUDGES};
use runs::{Job, Runner};
use score::{Label, Row};
use search::{Found, Search, search_all};

/// Searches do not share seeds with the long runs.
const SEARCH_SEED: u64 = 1_000_000;

/// Compares searches with the exhaustive best of random simulated paths.
#[derive(Debug, Parser)]
struct Args {
    /// Which half of the paths.
    #[arg(long, value_enum, default_value_t = Half::Dev)]
    half: Half,
    /// Only these paths of the half: `A..B`, B left out.
    #[arg(long, value_parser = range)]
    seeds: Option<Range<u64>>,
    /// Which strategies, separated by commas.
    #[arg(long, value_delimiter = ',', default_values = strategies::NAMES)]
    strategies: Vec<String>,
    /// Which objectives: max, knee, gentle.
    #[arg(long = "objective", value_delimiter = ',', default_values = ["max", "knee", "gentle"])]
    objectives: Vec<String>,
    /// Tell all about so many of the worst paths of each strategy.
    #[arg(long, value_name = "COUNT")]
    misses: Option<usize>,
    /// Where long runs are kept.
    #[arg(long, default_value = concat!(env!("CARGO_MANIFEST_DIR"), "/../../target/bench-tuning"))]
    cache: PathBuf,
    /// Writes all rows as CSV.
    #[arg(long, value_name = "FILE")]
    csv: Option<PathBuf>,
    /// Only computes what is kept: the grids.
    #[arg(long)]
    grids: bool,
    /// Prints the path file of a seed and does nothing else.
    #[arg(long, value_name = "SEED")]
    show: Option<u64>,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Half {
    /// The paths to develop on.
    Dev,
    /// The paths of the table.
    Table,
}

fn range(text: &str) -> Result<Range<u64>, String> {
    let wrong = || format!("`{text}` is not like `10..20`");
    let (from, to) = text.split_once("..").ok_or_else(wrong)?;
    let number = |text: &str| text.parse().map_err(|_| wrong());
    Ok(number(from)?..number(to)?)
}

impl Args {
    fn range(&self) -> Result<Range<u64>, String> {
        let half = match self.half {
            Half::Dev => paths::DEVELOPMENT,
            Half::Table => paths::TABLE,
        };
        let asked = self.seeds.clone().unwrap_or(half.clone());
        match asked.start >= half.start && asked.end <= half.end {
            true => Ok(asked),
            false => Err(format!(
                "seeds {asked:?} are not all in {half:?}, the half that was asked for"
            )),
        }
    }
}

fn main() -> ExitCode {
    match run(&Args::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(args: &Args) -> Result<(), String> {
    if let Some(seed) = args.show {
        print!("{}", paths::text(seed));
        return Ok(());
    }
    let seeds = args.range()?;
    let paths: Result<Vec<PathSpec>, _> = seeds.clone().map(paths::path).collect();
    let paths = paths.map_err(|error| error.to_string())?;
    let cache = Cache::open(&args.cache).map_err(|error| error.to_string())?;
    let runner = Runner { cache };
    let grids = grid::explore(&paths, &runner)?;
    if args.grids {
        return Ok(());
    }
    let rows = score_all(args, seeds.start, &grids, &runner)?;
    print(args, &seeds, &rows, &grids);
    match &args.csv {
        Some(file) => fs::write(file, rows::csv(&rows, &grids, seeds.start))
            .map_err(|error| format!("cannot write {}: {error}", file.display())),
        None => Ok(()),
    }
}

/// Searches with every strategy and objective on every path, and scores what they recommend.
fn score_all(args: &Args, first: u64, grids: &[Grid], runner: &Runner) -> Result<Vec<Row>, String> {
    let (mut labels, mut places) = (Vec::new(), Vec::new());
    let mut searches = Vec::new();
    let named: Result<Vec<_>, String> = args
        .strategies
        .iter()
        .map(|name| strategies::named(name).map(|strategy| (name, strategy)))
        .collect();
    let named = named?;
    for objective in &args.objectives {
        let objective = objective_of(objective)?;
        for (name, strategy) in &named {
            for (place, seed) in (0..grids.len()).zip(first..) {
                labels.push(Label {
                    seed,
                    objective: objective.name(),
                    strategy: (*name).clone(),
                });
                places.push(place);
                let path = &grids[place].path;
                searches.push(Search {
                    path,
                    strategy: strategy.as_ref(),
                    objective,
                    seed: SEARCH_SEED + seed,
                });
            }
        }
    }
    eprintln!("{} searches", searches.len());
    let found = search_all(&searches);
    let given = judge(&found, &places, grids, runner)?;
    let rows = labels.into_iter().zip(places).zip(found).zip(given);
    Ok(rows
        .map(|(((label, place), found), given)| Row::new(label, &grids[place], found, given))
        .collect())
}

/// What each recommended setting gives in long runs.
fn judge(
    found: &[Result<Found, String>],
    places: &[usize],
    grids: &[Grid],
    runner: &Runner,
) -> Result<Vec<Option<runs::Outcome>>, String> {
    let mut jobs = Vec::new();
    for (found, place) in found.iter().zip(places) {
        if let Ok(found) = found {
            let path = &grids[*place].path;
            jobs.extend(JUDGES.map(|seed| Job {
                path,
                setting: Some(&found.setting),
                seed,
            }));
        }
    }
    let outcomes = runner.run("recommendations", &jobs)?;
    let mut outcomes = outcomes.chunks(JUDGES.len()).map(runs::mean);
    Ok(found
        .iter()
        .map(|found| found.as_ref().ok().and_then(|_| outcomes.next()))
        .collect())
}

fn objective_of(name: &str) -> Result<Objective, String> {
    match name {
        "max" => Ok(Objective::Max),
        "knee" => Ok(Objective::KNEE),
        "gentle" => Ok(Objective::GENTLE),
        "power" => Ok(Objective::Power),
        _ => Err(format!("`{name}` is not one of max, knee, power, gentle")),
    }
}

fn print(args: &Args, seeds: &Range<u64>, rows: &[Row], grids: &[Grid]) {
    for objective in &args.objectives {
        println!(
            "## {objective}, paths {} to {}\n",
            seeds.start,
            seeds.end - 1
        );
        println!("{}", table::table(objective, &args.strategies, rows));
    }
    let Some(count) = args.misses else {
        return;
    };
    for objective in &args.objectives {
        for strategy in &args.strategies {
            let of = |row: &&Row| row.objective == objective && row.strategy == *strategy;
            let rows: Vec<&Row> = rows.iter().filter(of).collect();
            println!("{}", misses::misses(&rows, grids, seeds.start, count));
        }
    }
}
