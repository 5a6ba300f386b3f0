//! A run, step by step.

use units::Time;

use crate::{RunResult, Scenario, ScenarioError};

/// A run that can be advanced little by little, for progress and for telemetry on the way.
#[derive(Debug)]
pub struct Simulation {
    now: Time,
    end: Time,
}

/// Runs `scenario` from beginning to end.
///
/// # Errors
/// When it cannot be run.
pub fn run(scenario: &Scenario) -> Result<RunResult, ScenarioError> {
    let mut simulation = Simulation::new(scenario)?;
    simulation.advance(simulation.end());
    Ok(simulation.finish())
}

impl Simulation {
    /// A run that has not begun.
    ///
    /// # Errors
    /// When the scenario cannot be run.
    pub fn new(scenario: &Scenario) -> Result<Self, ScenarioError> {
        let _ = scenario;
        todo!()
    }

    /// When it ends at the latest.
    pub fn end(&self) -> Time {
        self.end
    }

    /// How far it has come.
    pub fn now(&self) -> Time {
        self.now
    }

    /// Goes on until `until`; true when everything is done (all data carried, or the end reached).
    pub fn advance(&mut self, until: Time) -> bool {
        let _ = until;
        todo!()
    }

    /// What it showed.
    pub fn finish(self) -> RunResult {
        todo!()
    }
}
