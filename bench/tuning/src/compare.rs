//! Every strategy with every objective on every path.

use tune::{Controls, Objective};

use crate::grid::{Grid, JUDGES};
use crate::runs::{Job, Length, Outcome, Runner, mean};
use crate::score::{Label, Row};
use crate::search::{Found, Search, search_all};
use crate::strategies::Named;

/// Searches share no seeds with the long runs, nor with each other.
pub const SEARCH_SEEDS: u64 = 1_000_000;

/// What is compared.
pub struct Comparison {
    pub strategies: Vec<Named>,
    pub objectives: Vec<Objective>,
    /// The seed of the first path.
    pub first_seed: u64,
    /// What is left to chance in the searches.
    pub search_seed: u64,
}

impl Comparison {
    /// The score of every search: by objective, then strategy, then path.
    ///
    /// # Errors
    /// When a recommended setting cannot be simulated.
    pub fn score(&self, grids: &[Grid], runner: &mut Runner) -> Result<Vec<Row>, String> {
        let (labels, searches) = self.searches(grids);
        eprintln!("{} searches", searches.len());
        let found = search_all(&searches);
        let given = judge(&searches, &found, runner)?;
        let rows = labels.into_iter().zip(found).zip(given);
        let row = |((label, found), given): ((Label, _), _)| {
            let grid = &grids[label.place];
            Row::new(label, grid, found, given)
        };
        Ok(rows.map(row).collect())
    }

    fn searches<'a>(&'a self, grids: &'a [Grid]) -> (Vec<Label>, Vec<Search<'a>>) {
        let mut all = Vec::new();
        for &objective in &self.objectives {
            for named in &self.strategies {
                let of_path = |(place, grid)| self.search(objective, named, place, grid);
                all.extend(grids.iter().enumerate().map(of_path));
            }
        }
        all.into_iter().unzip()
    }

    fn search<'a>(
        &self,
        objective: Objective,
        (name, strategy): &'a Named,
        place: usize,
        grid: &'a Grid,
    ) -> (Label, Search<'a>) {
        let seed = self.first_seed + place as u64;
        let label = Label {
            place,
            seed,
            objective: objective.name(),
            strategy: name.clone(),
        };
        let search = Search {
            path: &grid.path,
            strategy: strategy.as_ref(),
            objective,
            // As the searches of the literature and the grid of all cells.
            controls: Controls::Kept,
            seed: self.search_seed * SEARCH_SEEDS + seed,
        };
        (label, search)
    }
}

/// What each recommended setting gives in long runs; `None` where nothing was recommended.
fn judge(
    searches: &[Search],
    found: &[Result<Found, String>],
    runner: &mut Runner,
) -> Result<Vec<Option<Outcome>>, String> {
    let recommended = searches.iter().zip(found);
    let recommended =
        recommended.filter_map(|(search, found)| Some((search.path, found.as_ref().ok()?)));
    let jobs = recommended.flat_map(|(path, found)| {
        let setting = Some(&found.setting);
        JUDGES.map(|seed| Job {
            path,
            setting,
            seed,
            length: Length::Usual,
        })
    });
    let outcomes = runner.run("recommendations", &jobs.collect::<Vec<_>>())?;
    let mut outcomes = outcomes.chunks(JUDGES.len()).map(mean);
    let given = |found: &Result<Found, String>| found.is_ok().then(|| outcomes.next()).flatten();
    Ok(found.iter().map(given).collect())
}

/// Objectives by their words on the command line, each with its default numbers.
///
/// # Errors
/// When a word is none.
pub fn objectives(names: &[String]) -> Result<Vec<Objective>, String> {
    let known = [
        Objective::Max,
        Objective::KNEE,
        Objective::GENTLE,
        Objective::Power,
    ];
    let named = |name: &String| {
        let found = known.iter().find(|objective| objective.name() == name);
        let words = known.map(|objective| objective.name()).join(", ");
        found
            .copied()
            .ok_or_else(|| format!("`{name}` is not one of {words}"))
    };
    names.iter().map(named).collect()
}
