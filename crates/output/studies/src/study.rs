//! A study: one published document, with its figures made again.

use sim::Scenario;
use simulation_grid::{GridFailure, RUNS_MAX, Ran};

use crate::figure::Figure;
use crate::finding::{Finding, Verdict};
use crate::part::{Part, Shown};
use crate::sweep::Sweep;

/// A published document.
#[derive(Debug, Clone)]
pub struct Study {
    /// Its name here.
    pub name: &'static str,
    /// Its title.
    pub title: &'static str,
    /// Authors and date.
    pub source: &'static str,
    /// What is made again.
    pub parts: Vec<Part>,
    /// Which figures are not.
    pub left: &'static [Left],
}

/// A figure that is not made again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Left {
    /// Which one.
    pub id: &'static str,
    /// What it shows.
    pub what: &'static str,
    /// Why it is left out.
    pub why: &'static str,
}

/// A study that was run.
#[derive(Debug, Clone, PartialEq)]
pub struct Studied {
    /// Its name here.
    pub name: &'static str,
    /// Its title.
    pub title: &'static str,
    /// Authors and date.
    pub source: &'static str,
    /// What came out.
    pub parts: Vec<Shown>,
    /// Which figures were not made.
    pub left: &'static [Left],
    /// How many seeds a point has, where its runs say nothing else.
    pub seeds: u64,
}

impl Studied {
    /// All figures.
    pub fn figures(&self) -> impl Iterator<Item = &Figure> {
        self.parts.iter().flat_map(|part| &part.figures)
    }

    /// All findings.
    pub fn findings(&self) -> impl Iterator<Item = &Finding> {
        self.figures().flat_map(|figure| &figure.findings)
    }
}

/// How many findings have each verdict.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Tally {
    /// The document's figures that were made again.
    pub figures: usize,
    /// Those that were not.
    pub left: usize,
    /// Findings that hold.
    pub hold: usize,
    /// Findings that hold in part.
    pub in_part: usize,
    /// Findings that do not hold.
    pub fail: usize,
}

impl Tally {
    /// Of several studies together.
    pub fn of<'a>(studies: impl IntoIterator<Item = &'a Studied>) -> Self {
        let mut tally = Tally::default();
        for study in studies {
            let ids = study.figures().map(|figure| figure.ids.len());
            tally.figures += ids.sum::<usize>();
            tally.left += study.left.len();
            for finding in study.findings() {
                match finding.verdict() {
                    Verdict::Holds => tally.hold += 1,
                    Verdict::InPart => tally.in_part += 1,
                    Verdict::DoesNotHold => tally.fail += 1,
                }
            }
        }
        tally
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
        let parts = || self.studies.iter().flat_map(|study| &study.parts);
        let runs = parts().fold(0, |runs: usize, part| {
            runs.saturating_add(part.runs(self.seeds))
        });
        if runs > RUNS_MAX {
            return Err(GridFailure::TooMany { runs });
        }
        let sweeps = parts().flat_map(|part| &part.sweeps);
        Ok(sweeps.flat_map(|sweep| sweep.runs(self.seeds)).collect())
    }

    /// What `runs`, the results of [`Programme::runs`], show. Without a result for each run the
    /// figures stay incomplete.
    pub fn read(&self, mut runs: &[Ran]) -> Vec<Studied> {
        let mut take = |sweep: &Sweep| {
            let wanted = sweep.count(self.seeds);
            let (now, later) = runs.split_at(wanted.min(runs.len()));
            runs = later;
            now
        };
        let mut shown = |part: &Part| {
            let taken: Vec<&[Ran]> = part.sweeps.iter().map(&mut take).collect();
            part.shown(&taken, self.seeds)
        };
        let mut read = |study: &Study| Studied {
            name: study.name,
            title: study.title,
            source: study.source,
            parts: study.parts.iter().map(&mut shown).collect(),
            left: study.left,
            seeds: self.seeds,
        };
        self.studies.iter().map(&mut read).collect()
    }
}
