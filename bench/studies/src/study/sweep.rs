//! Curves of scenarios, and the same curves with their results.

use sim::{RunResult, Scenario};
use simulation_grid::Ran;
use stats::{mean, standard_deviation};

use super::figure::{Line, Origin, Point};

/// Curves over one quantity.
#[derive(Debug, Clone, PartialEq)]
pub struct Sweep {
    /// The curves.
    pub curves: Vec<Curve>,
}

/// Scenarios that differ in one quantity.
#[derive(Debug, Clone, PartialEq)]
pub struct Curve {
    /// What sets it apart from the others.
    pub label: String,
    /// The quantity and the scenario that has it, rising.
    pub cells: Vec<(f64, Scenario)>,
}

impl Sweep {
    pub(super) fn cells(&self) -> usize {
        self.curves.iter().map(|curve| curve.cells.len()).sum()
    }

    /// Every cell with seeds from 1 to `seeds`.
    pub(super) fn runs(&self, seeds: u64) -> impl Iterator<Item = Scenario> + '_ {
        let cells = self.curves.iter().flat_map(|curve| &curve.cells);
        cells.flat_map(move |(_, cell)| {
            (1..=seeds).map(move |seed| Scenario {
                seed,
                ..cell.clone()
            })
        })
    }
}

/// A sweep with its results.
#[derive(Debug, Clone, Copy)]
pub struct Seen<'a> {
    /// The sweep.
    pub sweep: &'a Sweep,
    /// Its runs, cell by cell with all seeds.
    pub runs: &'a [Ran],
    /// How many seeds.
    pub seeds: u64,
}

impl Seen<'_> {
    /// A line for each curve of what `measure` tells of a run: mean and spread over the seeds. A
    /// cell where any seed has no value has no point.
    pub fn lines(&self, measure: impl Fn(&Scenario, &RunResult) -> Option<f64>) -> Vec<Line> {
        let seeds = usize::try_from(self.seeds).unwrap_or(usize::MAX).max(1);
        let mut cells = self.runs.chunks(seeds);
        let mut point = |(x, scenario): &(f64, Scenario)| {
            let runs = cells.next()?;
            let values: Option<Vec<f64>> = runs
                .iter()
                .map(|ran| measure(scenario, &ran.result))
                .collect();
            let values = values?;
            Some(Point {
                x: *x,
                y: mean(&values)?,
                spread: standard_deviation(&values),
            })
        };
        let mut lines = Vec::new();
        for curve in &self.sweep.curves {
            lines.push(Line {
                label: curve.label.clone(),
                origin: Origin::Runs,
                points: curve.cells.iter().filter_map(&mut point).collect(),
            });
        }
        lines
    }
}
