//! TCP over a path, packet by packet, in virtual time.

mod result;
mod scenario;
mod simulation;
mod variant;

pub use result::{
    CrossResult, Drops, QueueUse, RoundTrips, RunResult, Sample, StreamResult, WorkDone,
};
pub use scenario::{Access, Growth, Scenario, ScenarioError, Starts, TcpSettings, Work};
pub use simulation::{Simulation, run};
pub use variant::{Variant, VariantError};
