//! What a user of `trunkline tune` sees at the end, on families of random paths: is the goodput
//! that was promised there, is the verdict on what limits it the true one, what did it take?
//!
//! For each path a sparse grid of settings gives the best that it carries. The search that
//! `trunkline tune` makes by default runs with each objective. Every setting that it shows a figure
//! for then runs a minute with three seeds: that is what the figure is held against. What limits
//! one default stream and the recommended setting follows from such runs without one part of the
//! path after the other (`truth.rs`). None of this looks at how the search came to its answer.
//!
//! Reading order: `draw.rs` for the paths, `truth.rs`, `score.rs`, `table.rs`.

mod draw;
mod score;
mod table;
mod truth;

use std::fs;
use std::ops::Range;
use std::path::Path;

use tune::{Controls, Objective};

use crate::compare::SEARCH_SEEDS;
use crate::grid::{self, Grid, Plan};
use crate::runs::{Length, Runner};
use crate::search::{Search, search_all};
use crate::strategies;

pub use draw::{names, text};

/// Seeds that tell what a setting carries.
const JUDGES: [u64; 3] = [101, 102, 103];
/// The first paths of a half are enough where no others are asked for.
pub const SEEDS: u64 = 12;
/// The exhaustive best is sought among few windows.
const SPARSE: Plan = Plan {
    sparse: true,
    contenders: 2,
    contenders_gentle: 0,
    judges: &JUDGES,
    length: Length::Minute,
};

/// A path to search on.
#[derive(Debug)]
struct Place {
    family: String,
    seed: u64,
    grid: Grid,
}

/// What is asked.
#[derive(Debug)]
pub struct Families {
    pub names: Vec<String>,
    pub seeds: Range<u64>,
    pub objectives: Vec<Objective>,
    pub search_seed: u64,
    /// Tell all about so many of the worst answers.
    pub misses: usize,
}

impl Families {
    /// Prints a table for each objective; all rows go to `csv`.
    ///
    /// # Errors
    /// When there is no such family, a run cannot be simulated, or the file cannot be written.
    pub fn run(&self, csv: Option<&Path>, runner: &mut Runner) -> Result<(), String> {
        let places = self.places(runner)?;
        let searches = self.searches(&places)?;
        eprintln!("{} searches", searches.len());
        let found = search_all(&searches);
        let asked = searches.iter().zip(found);
        let asked: Vec<score::Asked> = asked
            .enumerate()
            .map(|(number, (search, found))| score::Asked {
                place: number % places.len(),
                objective: search.objective.name(),
                found,
            })
            .collect();
        let rows = score::all(&places, asked, runner)?;
        for objective in &self.objectives {
            println!("{}", table::page(objective.name(), &self.names, &rows));
            let misses = table::misses(objective.name(), &rows, &places, self.misses);
            print!("{misses}");
        }
        match csv {
            Some(file) => fs::write(file, table::csv(&rows))
                .map_err(|error| format!("cannot write {}: {error}", file.display())),
            None => Ok(()),
        }
    }

    fn places(&self, runner: &mut Runner) -> Result<Vec<Place>, String> {
        let labels = self.names.iter().flat_map(|name| {
            let of = move |seed| (name.clone(), seed);
            self.seeds.clone().map(of)
        });
        let labels: Vec<(String, u64)> = labels.collect();
        let paths = labels.iter().map(|(name, seed)| draw::path(name, *seed));
        let paths = paths.collect::<Result<Vec<_>, String>>()?;
        let grids = grid::explore(&paths, &SPARSE, runner)?;
        let place = |((family, seed), grid)| Place { family, seed, grid };
        Ok(labels.into_iter().zip(grids).map(place).collect())
    }

    /// By objective, then place.
    fn searches<'a>(&self, places: &'a [Place]) -> Result<Vec<Search<'a>>, String> {
        let strategy = strategies::ours();
        let of_objective = |&objective: &Objective| {
            places.iter().map(move |place| Search {
                path: &place.grid.path,
                strategy,
                objective,
                controls: Controls::default(),
                seed: self.search_seed * SEARCH_SEEDS + place.seed,
            })
        };
        Ok(self.objectives.iter().flat_map(of_objective).collect())
    }
}
