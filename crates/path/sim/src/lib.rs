//! TCP over a path, packet by packet, in virtual time.
//!
//! A [`Scenario`] is a path with its cross traffic, the streams on it, how their TCP is set up, and
//! a seed. [`run`] carries it out and gives a [`RunResult`]; a [`Simulation`] does the same little
//! by little. The same scenario shows the same on every machine, to the last packet of its log.
//!
//! ```
//! use sim::{Scenario, run};
//! use units::{Bytes, Span};
//!
//! let path = netpath::PathSpec::load("oc12-100ms").unwrap();
//! let mut scenario = Scenario::new(path).unwrap();
//! scenario.window = Some(Bytes::from_kib(64));
//! scenario.warmup = Span::from_secs(5);
//! let shown = run(&scenario).unwrap();
//! // 45 segments of 1448 bytes each round trip of 100 ms are 5.2 Mbit/s.
//! let goodput = shown.streams[0].goodput.as_f64() / 1e6;
//! assert!((5.1..5.25).contains(&goodput), "{goodput}");
//! assert_eq!(shown.drops.total(), 0);
//! ```
//!
//! What is left out: data in both directions, applications that pause, and processors: a simulated
//! host is never too slow. The cost is that a simulation is kinder than a network where those
//! matter. `docs/guide/simulating-tcp.md` says what each variant leaves out.
//!
//! Segments are counted, not bytes: all but the last of a stream are full.
//!
//! Reading order: [`Scenario`] and [`RunResult`]; `simulation.rs` for the loop of events;
//! `network.rs` for what lies between hosts; `receiver.rs`, `sender.rs` with the folder beside it
//! and `scoreboard.rs` for TCP; `control.rs` and the folder beside it for congestion control;
//! `measure.rs` for what is counted; `join.rs` for runs that grow, `pace.rs` for streams that are
//! told how fast to send. What others send is drawn in the crate `link`.

mod bits;
mod control;
mod events;
mod flow;
mod held_back;
mod join;
mod measure;
mod network;
mod pace;
mod pacer;
mod packet;
mod probe;
mod prr;
mod receiver;
mod result;
mod round_trip;
mod scenario;
mod scenario_check;
mod scoreboard;
mod seeds;
mod sender;
mod setup;
mod simulation;
mod state;
mod tail;
mod timers;
mod variant;

pub use events::{Event, Fate, PacketKind};

pub use result::{
    CrossResult, Drops, QueueUse, RoundTrips, RunResult, Sample, StreamResult, WorkDone,
};
pub use round_trip::TimeoutFloor;
pub use scenario::{Access, Growth, Scenario, ScenarioError, Starts, TcpSettings, Work};
pub use simulation::{Simulation, run};
pub use state::StreamState;
pub use variant::{Variant, VariantError};

pub use measure::Probe;
