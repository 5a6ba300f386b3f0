//! Many settings side by side.

use ::simulation_grid::figures::{Cell, Choice, SimulationCost, Terms, choices};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Path;

/// The body of a `trunkline/campaign` document.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Campaign {
    /// What was simulated.
    pub path: Path,
    /// What was run over it in every cell.
    pub scenario: Terms,
    /// For each variant, what stands out.
    pub choices: Vec<Choice>,
    /// What it took.
    pub cost: SimulationCost,
    /// Each setting: by variant, then by streams, then by window.
    pub cells: Vec<Cell>,
}

impl Campaign {
    /// The shape of many settings, each with the same seeds.
    ///
    /// * `base`: the scenario of any cell.
    /// * `cpu`: processor time of the whole command.
    pub fn new(base: &sim::Scenario, cells: Vec<Cell>, cpu: units::Span) -> Self {
        let seeds = cells.first().map(Cell::seeds).unwrap_or_default();
        let scenario = Terms::new(base, seeds);
        Campaign {
            path: (&base.path).into(),
            choices: choices(&scenario, &cells),
            scenario,
            cost: SimulationCost {
                cpu_seconds: cpu.as_secs_f64(),
                cached_runs: cells.iter().map(|cell| cell.cost.cached_runs).sum(),
            },
            cells,
        }
    }

    /// What stands out among the cells of `variant`.
    pub fn choice(&self, variant: &str) -> Option<&Choice> {
        self.choices.iter().find(|choice| choice.variant == variant)
    }
}
