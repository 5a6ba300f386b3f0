//! Simulations: one setting with several seeds, or many settings side by side.
//!
//! Reading order: [`Terms`] for what every cell shares, [`SimulatedRun`] for one seed, [`Figures`]
//! for the seeds of a cell together, then [`Simulate`] and [`Campaign`].

mod campaign;
mod figures;
mod run;
mod terms;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Path, Window};

pub use campaign::{Campaign, Cell, Choice};
pub use figures::{
    Aggregate, Causes, Completion, CrossFigures, CrossGroup, Figures, QueueFigures, RttFigures,
};
pub use run::SimulatedRun;
pub use sim::{
    CrossResult as SimulatedCross, Sample as SeriesSample, StreamResult as SimulatedStream,
};
pub use terms::{SimulatedTcp, Terms, TimeoutPart};

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

/// What tells the cells of a campaign apart.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SimulatedSetting {
    /// Parallel streams.
    pub streams: u32,
    /// The most that each stream keeps outstanding: bytes, or `"auto"` for the hosts' buffers.
    pub window: Window,
    /// How the streams find their rate.
    pub variant: String,
}

/// What simulating took; it differs from one time to the next.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SimulationCost {
    /// Processor time of the whole command, or of one cell's runs.
    pub cpu_seconds: f64,
    /// Runs that an earlier command had kept.
    pub cached_runs: u64,
}

/// One run with what it took.
#[derive(Debug, Clone, Copy)]
pub struct Run<'a> {
    /// What it showed.
    pub result: &'a sim::RunResult,
    /// Processor time when it was computed.
    pub cpu: units::Span,
    /// Whether an earlier command had computed it.
    pub cached: bool,
}

impl Simulate {
    /// The shape of one setting, run with each of `runs`' seeds.
    ///
    /// * `scenario`: that of any of the runs.
    /// * `alone`: the cross traffic without the streams, with the same seeds; empty where that was
    ///   not run.
    /// * `cpu`: processor time of the whole command.
    pub fn new(
        scenario: &sim::Scenario,
        runs: &[Run<'_>],
        alone: &[Run<'_>],
        cpu: units::Span,
    ) -> Self {
        let shapes: Vec<SimulatedRun> = runs.iter().map(|run| run.result.into()).collect();
        Simulate {
            path: (&scenario.path).into(),
            scenario: Terms::new(scenario, seeds(runs)),
            setting: scenario.into(),
            figures: Figures::new(&shapes, scenario.work, alone),
            cost: SimulationCost {
                cpu_seconds: cpu.as_secs_f64(),
                cached_runs: cached(runs),
            },
            runs: shapes,
        }
    }
}

fn seeds(runs: &[Run<'_>]) -> Vec<u64> {
    runs.iter().map(|run| run.result.seed).collect()
}

fn cached(runs: &[Run<'_>]) -> u64 {
    runs.iter().map(|run| u64::from(run.cached)).sum()
}

impl From<&sim::Scenario> for SimulatedSetting {
    fn from(scenario: &sim::Scenario) -> Self {
        SimulatedSetting {
            streams: scenario.streams,
            window: scenario.window.into(),
            variant: scenario.variant.to_string(),
        }
    }
}

#[cfg(test)]
mod tests;
