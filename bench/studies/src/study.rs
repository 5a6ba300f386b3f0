//! Published studies as campaigns: which runs, what is drawn from them, and whether what was found
//! then is found again.
//!
//! A study is a list of sweeps (curves of scenarios) and a function that reads their results into
//! figures. Each figure has findings; whether one holds is computed by a rule whose threshold is
//! part of it, so a simulator that changes its mind changes the sentence too.
//!
//! Left out: the field measurements of the same documents, and numbers read off their plots. The
//! findings are about shapes, and so are the rules.
//!
//! Reading order: this file, [`figure`], [`finding`], `sweep.rs`, then one file for each study.

mod balancing;
pub mod figure;
pub mod finding;
mod measure;
mod striping;
pub mod sweep;

use netpath::PathError;
use sim::{Scenario, ScenarioError};
use simulation_grid::{GridFailure, RUNS_MAX, Ran};
use thiserror::Error;
use units::Span;

pub use figure::Figure;
pub use finding::{Finding, Verdict};
pub use sweep::{Seen, Sweep};

/// The names of all studies, in the order of [`named`].
pub const NAMES: [&str; 5] = [
    "balancing",
    "striping-loss",
    "striping-time",
    "striping-flows",
    "striping-streams",
];

/// A published study: its runs, and how they are read.
#[derive(Debug, Clone)]
pub struct Study {
    /// Its name.
    pub name: &'static str,
    /// What it is about.
    pub title: &'static str,
    /// Where it was published.
    pub source: &'static str,
    /// How it is set up here: what the document leaves open and what was taken.
    pub setup: &'static str,
    /// The runs.
    pub sweeps: Vec<Sweep>,
    /// From their results, in the order of the sweeps, to the figures.
    pub read: fn(&[Seen<'_>]) -> Vec<Figure>,
}

/// A study that was run.
#[derive(Debug, Clone, PartialEq)]
pub struct Studied {
    /// Its name.
    pub name: &'static str,
    /// What it is about.
    pub title: &'static str,
    /// Where it was published.
    pub source: &'static str,
    /// How it is set up here.
    pub setup: &'static str,
    /// What came out.
    pub figures: Vec<Figure>,
    /// How many simulations it took.
    pub runs: usize,
    /// How many seeds each point has.
    pub seeds: u64,
    /// Processor time of its runs, those from the cache as they took it then.
    pub cpu: Span,
}

/// A study that cannot be set up.
#[derive(Debug, Error)]
pub enum StudyError {
    /// One of its paths cannot be read.
    #[error(transparent)]
    Path(#[from] PathError),
    /// One of its scenarios cannot be run.
    #[error(transparent)]
    Scenario(#[from] ScenarioError),
    /// There is no study of that name.
    #[error("there is no study `{0}`; known: {known}", known = NAMES.join(", "))]
    Unknown(String),
}

/// The study called `name`.
///
/// # Errors
/// When there is none.
pub fn named(name: &str) -> Result<Study, StudyError> {
    match name {
        "balancing" => balancing::study(),
        "striping-loss" => striping::loss::study(),
        "striping-time" => striping::time::study(),
        "striping-flows" => striping::flows::study(),
        "striping-streams" => striping::streams::study(),
        _ => Err(StudyError::Unknown(name.to_owned())),
    }
}

/// Several studies as one campaign.
#[derive(Debug, Clone)]
pub struct Programme {
    /// The studies.
    pub studies: Vec<Study>,
    /// How many seeds each point is run with, from 1 up.
    pub seeds: u64,
}

impl Programme {
    /// Every run of every study, in the order that [`Programme::read`] expects.
    ///
    /// # Errors
    /// When there are more than a campaign may have.
    pub fn runs(&self) -> Result<Vec<Scenario>, GridFailure> {
        let cells: usize = self.studies.iter().map(Study::cells).sum();
        let seeds = usize::try_from(self.seeds).unwrap_or(usize::MAX);
        let runs = cells.saturating_mul(seeds);
        if runs > RUNS_MAX {
            return Err(GridFailure::TooMany { runs });
        }
        let sweeps = self.studies.iter().flat_map(|study| &study.sweeps);
        Ok(sweeps.flat_map(|sweep| sweep.runs(self.seeds)).collect())
    }

    /// What `runs`, the results of [`Programme::runs`], show. Without a result for each run the
    /// figures stay incomplete.
    pub fn read(&self, mut runs: &[Ran]) -> Vec<Studied> {
        let mut take = |sweep: &Sweep| {
            let wanted = sweep.runs(self.seeds).count();
            let (now, later) = runs.split_at(wanted.min(runs.len()));
            runs = later;
            now
        };
        let read = |study: &Study| {
            let taken: Vec<&[Ran]> = study.sweeps.iter().map(&mut take).collect();
            study.studied(&taken, self.seeds)
        };
        self.studies.iter().map(read).collect()
    }
}

impl Study {
    /// How many settings it has.
    fn cells(&self) -> usize {
        self.sweeps.iter().map(Sweep::cells).sum()
    }

    fn studied(&self, runs: &[&[Ran]], seeds: u64) -> Studied {
        let seen: Vec<Seen<'_>> = self
            .sweeps
            .iter()
            .zip(runs)
            .map(|(sweep, runs)| Seen { sweep, runs, seeds })
            .collect();
        let all = || runs.iter().copied().flatten();
        Studied {
            name: self.name,
            title: self.title,
            source: self.source,
            setup: self.setup,
            figures: (self.read)(&seen),
            runs: all().count(),
            seeds,
            cpu: Span::from_nanos(all().map(|ran| ran.cpu.as_nanos()).sum()),
        }
    }
}

#[cfg(test)]
mod tests;
