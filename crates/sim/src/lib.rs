//! TCP over a path, packet by packet, in virtual time.

mod bits;
mod check;
mod control;
mod events;
mod flow;
mod held_back;
mod measure;
mod network;
mod pacer;
mod packet;
mod probe;
mod receiver;
mod result;
mod round_trip;
mod scenario;
mod scoreboard;
mod sender;
mod setup;
mod simulation;
mod state;
mod timers;
mod traffic;
mod variant;

pub use events::{Event, Fate, PacketKind};
pub use probe::Probe;
pub use result::{
    CrossResult, Drops, QueueUse, RoundTrips, RunResult, Sample, StreamResult, WorkDone,
};
pub use round_trip::TimeoutFloor;
pub use scenario::{Access, Growth, Scenario, ScenarioError, Starts, TcpSettings, Work};
pub use simulation::{Simulation, run};
pub use state::StreamState;
pub use variant::{Variant, VariantError};
