//! Both ends of iperf3's protocol over real sockets, with our extensions.
//!
//! Drives the state machines of `wire` with sockets and threads and fills the vocabulary of
//! `observe`. Streams go over TCP, or between two trunkline ends in QUIC over UDP; datagrams at a
//! rate (`iperf3 -u`) go as they are.
//!
//! Reading order: [`Client`], [`Runs`] and `client/run.rs` for the near end, [`server`] and
//! `server/session.rs` for the far end; below them `stream` (one thread per stream), `series` (what
//! is read of it) and `telemetry` (series on the wire). [`PathProbes`] is the client of a probing
//! session, [`Background`] and [`Transfers`] the traffic of others on a path.
//!
//! The server stands in this crate, which is why it comes after `probe_net` and `copy_net`: one
//! port serves tests, trains and copies, so one server has to know all three.

mod background;
mod client;
mod control_connection;
mod datagrams;
#[cfg(feature = "fuzzing")]
pub mod fuzzing;
mod path_probes;
mod rsa;
mod series;
pub mod server;
mod stream;
mod telemetry;
mod transfers;

pub use background::{Background, BackgroundError};
pub use client::{Client, ClientError, Login, LoginError, Runs};
pub use path_probes::PathProbes;
pub use rsa::{Padding, RsaError};
pub use server::{
    Accounts, AccountsError, BindError, ProbingLimits, Server, ServerEvent, ServerLimits,
};
pub use transfers::Transfers;
