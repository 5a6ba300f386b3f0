//! Streams over real sockets: client, server, `TCP_INFO` and round-trip probes.
//!
//! Drives the state machines of `wire` with sockets and threads and fills the vocabulary of
//! `observe`. Linux only, because telemetry rests on `TCP_INFO`. Left out: UDP tests, and choosing
//! the local address; both cost nothing here that a bulk transfer over TCP would need.
//!
//! Reading order: [`Client`], [`Runs`] and `client/run.rs` for the near end, [`server`] and
//! `server/session.rs` for the far end; below them `stream` (one thread per stream), `series` (what is
//! read of it), `options` and `tcp_info` (the kernel's side), `probe` (round trips) and `telemetry`
//! (series on the wire). Small packets: [`PathProbes`], `train`, [`Tracer`]. Connections that carry files: [`copying`]; how such
//! programs are told another rate while they run: [`reins`].

mod address;
mod background;
mod client;
mod clock;
mod control;
pub mod copying;
mod crowd;
mod flow;
#[cfg(feature = "fuzzing")]
pub mod fuzzing;
pub mod host;
mod mtu;
mod options;
mod path_probes;
mod probe;
mod processor;
mod random;
pub mod reins;
mod series;
pub mod server;
mod stream;
mod tcp_info;
mod telemetry;
mod trace;
mod train;

pub use address::{Address, AddressError, PORT_DEFAULT};
pub use background::{Background, BackgroundError, BackgroundSpec};
pub use client::{Client, ClientError, Runs};
pub use options::{BufferLimit, Dscp, OptionError, StreamOptions};
pub use path_probes::PathProbes;
pub use server::{BindError, ProbingLimits, Server, ServerEvent, ServerLimits};
pub use trace::Tracer;
pub use wire::WINDOW_MAX;
