//! Draws the figures of published studies again and says which findings hold.
//!
//! Runs the simulations of each study over all processors and writes plots (SVG), every point
//! (CSV), a text (`findings.md`) and a page (`index.html`) with a sentence for each finding.
//! Whether it holds is computed from the figures. Finished runs are kept, so that an interrupted
//! command goes on where it stopped.
//!
//! Reading order: this file, `study.rs` and what it names, `output.rs`.

mod output;
mod study;

use std::error::Error;
use std::fs;
use std::io::{self, IsTerminal};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::atomic::AtomicBool;

use clap::Parser;
use clap::builder::PossibleValuesParser;
use record::Origin;
use simulation_grid::{Cache, Progress};
use study::{NAMES, Programme, Studied};

/// Draw the figures of published studies again and say which findings hold
#[derive(Debug, Parser)]
struct Arguments {
    /// Which studies; all of them without this
    #[arg(value_name = "NAME", value_parser = PossibleValuesParser::new(NAMES))]
    names: Vec<String>,

    /// The folder for plots, tables, text and page
    #[arg(long, value_name = "DIR")]
    out: PathBuf,

    /// How many seeds to run each setting with
    #[arg(long, value_name = "COUNT", default_value_t = 3, value_parser = clap::value_parser!(u64).range(1..=1_000))]
    seeds: u64,

    /// Where finished runs are kept [default: trunkline/simulate in $XDG_CACHE_HOME or ~/.cache]
    #[arg(long, value_name = "DIR")]
    cache: Option<PathBuf>,

    /// Neither keep finished runs nor use kept ones
    #[arg(long, conflicts_with = "cache")]
    no_cache: bool,
}

fn main() -> ExitCode {
    match run(&Arguments::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: &Arguments) -> Result<(), Box<dyn Error>> {
    let programme = programme(arguments)?;
    let runs = programme.runs()?;
    // A folder that cannot be made must not cost the runs.
    let folder = &arguments.out;
    fs::create_dir_all(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let cache = cache(arguments)?;
    let never = AtomicBool::new(false);
    let finished = simulation_grid::run(&runs, cache.as_ref(), &never, &mut tell)?;
    if let Some(error) = &finished.not_kept {
        eprintln!("warning: not every finished run could be kept: {error}");
    }
    let studies = programme.read(&finished.runs);
    write(&studies, folder)?;
    print!("{}", output::summary(&studies));
    Ok(())
}

/// The studies that were asked for, each once, in their own order.
fn programme(arguments: &Arguments) -> Result<Programme, study::StudyError> {
    let names = &arguments.names;
    let is_wanted = |name: &&str| names.is_empty() || names.iter().any(|asked| asked == name);
    let studies = NAMES.into_iter().filter(is_wanted).map(study::named);
    Ok(Programme {
        studies: studies.collect::<Result<_, _>>()?,
        seeds: arguments.seeds,
    })
}

fn cache(arguments: &Arguments) -> Result<Option<Cache>, simulation_grid::CacheError> {
    match (&arguments.cache, arguments.no_cache) {
        (_, true) => Ok(None),
        (Some(folder), false) => Cache::open(folder).map(Some),
        (None, false) => Cache::open_default().map(Some),
    }
}

/// How far it is, for people.
fn tell(seen: &Progress) {
    if io::stderr().is_terminal() {
        let end = if seen.done == seen.runs { '\n' } else { '\r' };
        eprint!(
            "{} of {} runs, {} kept from before{end}",
            seen.done, seen.runs, seen.cached
        );
    }
}

fn write(studies: &[Studied], folder: &Path) -> Result<(), Box<dyn Error>> {
    let words = std::env::args_os().map(|word| word.to_string_lossy().into_owned());
    let origin = Origin::here(words.collect(), Some(1));
    for (name, text) in output::files(studies, &origin)? {
        record::save(&folder.join(name), &text)?;
    }
    eprintln!("wrote {}", folder.join("index.html").display());
    Ok(())
}

#[cfg(test)]
mod tests;
