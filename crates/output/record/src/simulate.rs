//! Simulations: one setting with several seeds, or many settings side by side.
//!
//! Their figures come from [`::simulation_grid::figures`]; a document adds the path and what it
//! took.

mod campaign;
mod fluid;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Path;

pub use self::campaign::Campaign;
pub use self::fluid::{FluidCross, FluidGoodput, FluidQueue, FluidRtt, FluidSimulation};
pub use ::simulation_grid::Ran;
pub use ::simulation_grid::figures::{
    Aggregate, Causes, Cell, Choice, Completion, CrossFigures, CrossGroup, Figures, QueueFigures,
    RttFigures, SimulatedRun, SimulatedSetting, SimulatedTcp, SimulationCost, Terms, TimeoutPart,
};
pub use sim::{
    CrossResult as SimulatedCross, Sample as SeriesSample, StreamResult as SimulatedStream,
};

/// The body of a `trunkline/simulate` document.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Simulate {
    /// What was simulated.
    pub path: Path,
    /// What was run over it.
    pub scenario: Terms,
    /// Streams, window and variant.
    pub setting: SimulatedSetting,
    /// All seeds together.
    #[serde(flatten)]
    pub figures: Figures,
    /// What it took.
    pub cost: SimulationCost,
    /// Each seed.
    pub runs: Vec<SimulatedRun>,
}

impl Simulate {
    /// The shape of one setting, run with each of `runs`' seeds.
    ///
    /// * `scenario`: that of any of the runs.
    /// * `alone`: the cross traffic without the streams, with the same seeds; empty where that was
    ///   not run.
    /// * `cpu`: processor time of the whole command.
    pub fn new(scenario: &sim::Scenario, runs: &[Ran], alone: &[Ran], cpu: units::Span) -> Self {
        let shapes: Vec<SimulatedRun> = runs.iter().map(|run| (&run.result).into()).collect();
        Simulate {
            path: (&scenario.path).into(),
            scenario: Terms::new(scenario, shapes.iter().map(|run| run.seed).collect()),
            setting: scenario.into(),
            figures: Figures::new(&shapes, scenario.work, alone),
            cost: SimulationCost {
                cpu_seconds: cpu.as_secs_f64(),
                ..SimulationCost::of(runs)
            },
            runs: shapes,
        }
    }
}

#[cfg(test)]
mod tests;
