//! How close does a search come to the exhaustive best of a path, and what does it take?
//!
//! 300 random paths, each a function of its seed (`paths.rs`); the best setting of each by brute
//! force (`grid.rs`, from long runs that are kept on disk, `runs.rs`); every strategy on every path
//! (`baselines.rs`, `strategies.rs`, `search.rs`); what its recommendation gives in long runs
//! against the best (`score.rs`), as tables (`table.rs`), as rows (`rows.rs`), and the worst paths
//! in detail (`misses.rs`). With `--families`, what a user sees at the end: `families.rs`.
//!
//! The first half of the paths is for development. The other half is for the table alone: whoever
//! looks at it path by path while changing a search makes its numbers worthless, so it has to be
//! asked for.
//!
//! Left out: paths with the kernel's TCP, which `bench/tune_emulated.py` has, and everything
//! that a simulated host does not do, such as running out of processor.

mod baselines;
mod compare;
mod families;
mod grid;
mod misses;
mod paths;
mod rows;
mod runs;
mod score;
mod search;
mod store;
mod strategies;
mod table;

use std::fs;
use std::ops::Range;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Parser, ValueEnum};
use netpath::PathSpec;
use simulation_grid::Cache;
use tune::Objective;

use compare::{Comparison, objectives};
use families::Families;
use grid::Grid;
use runs::Runner;
use score::Row;
use store::Store;

/// Compares searches with the exhaustive best of random simulated paths.
#[derive(Debug, Parser)]
struct Args {
    /// Which half of the paths.
    #[arg(long, value_enum, default_value_t = Half::Dev)]
    half: Half,
    /// What a user sees at the end, on families of paths: all, or these, separated by commas. For
    /// the search of `trunkline tune` alone, with the objectives knee and max.
    #[arg(long, value_name = "NAMES", num_args = 0.., value_delimiter = ',')]
    families: Option<Vec<String>>,
    /// Only these paths of the half: `A..B`, B left out. Of each family, the first 12.
    #[arg(long, value_parser = range)]
    seeds: Option<Range<u64>>,
    /// Which strategies, separated by commas.
    #[arg(long, value_delimiter = ',', default_values_t = strategies::names())]
    strategies: Vec<String>,
    /// Which objectives: max, knee, gentle.
    #[arg(long = "objective", value_delimiter = ',', default_values = ["max", "knee", "gentle"])]
    objectives: Vec<String>,
    /// What is left to chance in the searches.
    #[arg(long, default_value_t = 1)]
    search_seed: u64,
    /// Tell all about so many of the worst paths of each strategy.
    #[arg(long, value_name = "COUNT")]
    misses: Option<usize>,
    /// Where long runs are kept.
    #[arg(long, default_value = concat!(env!("CARGO_MANIFEST_DIR"), "/../../target/bench-tuning"))]
    cache: PathBuf,
    /// Writes all rows as CSV.
    #[arg(long, value_name = "FILE")]
    csv: Option<PathBuf>,
    /// Believes long runs of earlier versions of the simulator: for the development half.
    #[arg(long)]
    any_simulator: bool,
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
    /// The families that are asked for.
    fn families(&self) -> Option<Vec<String>> {
        let names = self.families.clone()?;
        Some(match names.is_empty() {
            true => families::names(),
            false => names,
        })
    }

    fn range(&self) -> Result<Range<u64>, String> {
        let half = match self.half {
            Half::Dev => paths::DEVELOPMENT,
            Half::Table => paths::TABLE,
        };
        let few = half.start..half.start + families::SEEDS;
        let usual = match self.families {
            None => half.clone(),
            Some(_) => few,
        };
        let asked = self.seeds.clone().unwrap_or(usual);
        if self.any_simulator && matches!(self.half, Half::Table) {
            return Err("the table is made with the present simulator alone".to_owned());
        }
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
        return show(args, seed);
    }
    let seeds = args.range()?;
    let cache = Cache::open(&args.cache).map_err(|error| error.to_string())?;
    let store = Store::open(&args.cache.join("outcomes"), args.any_simulator);
    let mut runner = Runner { cache, store };
    if let Some(names) = args.families() {
        let mut objectives = objectives(&args.objectives)?;
        objectives.retain(|one| matches!(one, Objective::Max | Objective::Knee { .. }));
        let families = Families {
            names,
            seeds,
            objectives,
            search_seed: args.search_seed,
            misses: args.misses.unwrap_or(0),
        };
        return families.run(args.csv.as_deref(), &mut runner);
    }
    let paths: Result<Vec<PathSpec>, _> = seeds.clone().map(paths::path).collect();
    let paths = paths.map_err(|error| error.to_string())?;
    let grids = grid::explore(&paths, &grid::Plan::EXHAUSTIVE, &mut runner)?;
    if args.grids {
        return Ok(());
    }
    let what = Comparison {
        strategies: strategies::all(&args.strategies)?,
        objectives: objectives(&args.objectives)?,
        first_seed: seeds.start,
        search_seed: args.search_seed,
    };
    let rows = what.score(&grids, &mut runner)?;
    print(args, &seeds, &rows, &grids);
    match &args.csv {
        Some(file) => fs::write(file, rows::csv(&rows, &grids))
            .map_err(|error| format!("cannot write {}: {error}", file.display())),
        None => Ok(()),
    }
}

/// Prints the path file of a seed, or those of the families that are asked for.
fn show(args: &Args, seed: u64) -> Result<(), String> {
    let Some(names) = args.families() else {
        print!("{}", paths::text(seed));
        return Ok(());
    };
    for name in names {
        print!("# {name} {seed}\n{}\n", families::text(&name, seed)?);
    }
    Ok(())
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
            let of =
                |row: &&Row| row.label.objective == objective && row.label.strategy == *strategy;
            let rows: Vec<&Row> = rows.iter().filter(of).collect();
            println!("{}", misses::misses(&rows, grids, count));
        }
    }
}
