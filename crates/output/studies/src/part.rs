//! A part of a study: runs that belong together, and the figures read from them.

use netpath::PathError;
use sim::ScenarioError;
use simulation_grid::Ran;
use thiserror::Error;
use units::Span;

use crate::figure::Figure;
use crate::sweep::{Seen, Sweep};

/// Runs that belong together, and how they are read. One of formulas alone has no runs.
#[derive(Debug, Clone)]
pub struct Part {
    /// What it is about.
    pub title: &'static str,
    /// What the document leaves open and was taken here; the settings themselves are told from the
    /// runs.
    pub assumed: &'static str,
    /// The runs.
    pub sweeps: Vec<Sweep>,
    /// From their results, in the order of the sweeps, to the figures.
    pub read: fn(&[Seen<'_>]) -> Vec<Figure>,
}

/// A part that was run.
#[derive(Debug, Clone, PartialEq)]
pub struct Shown {
    /// What it is about.
    pub title: &'static str,
    /// What was assumed.
    pub assumed: &'static str,
    /// What was run: a sentence for each sweep.
    pub settings: Vec<String>,
    /// What came out.
    pub figures: Vec<Figure>,
    /// How many simulations it took.
    pub runs: usize,
    /// Processor time of its runs, those from the cache as they took it then.
    pub cpu: Span,
}

/// A part that cannot be set up.
#[derive(Debug, Error)]
pub enum SetUpError {
    /// One of its paths cannot be read.
    #[error(transparent)]
    Path(#[from] PathError),
    /// One of its scenarios cannot be run.
    #[error(transparent)]
    Scenario(#[from] ScenarioError),
}

impl Part {
    /// How many runs it has.
    pub(crate) fn runs(&self, seeds: u64) -> usize {
        let counts = self.sweeps.iter().map(|sweep| sweep.count(seeds));
        counts.fold(0, usize::saturating_add)
    }

    /// What `runs` show, those of each sweep in turn.
    pub(crate) fn shown(&self, runs: &[&[Ran]], seeds: u64) -> Shown {
        let seen: Vec<Seen<'_>> = self
            .sweeps
            .iter()
            .zip(runs)
            .map(|(sweep, runs)| Seen { sweep, runs, seeds })
            .collect();
        let all = || runs.iter().copied().flatten();
        Shown {
            title: self.title,
            assumed: self.assumed,
            settings: self.sweeps.iter().map(|each| each.words(seeds)).collect(),
            figures: (self.read)(&seen),
            runs: all().count(),
            cpu: Span::from_nanos(all().map(|ran| ran.cpu.as_nanos()).sum()),
        }
    }
}
