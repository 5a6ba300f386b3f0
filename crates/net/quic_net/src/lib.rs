//! QUIC (RFC 9000) over UDP: connections that carry one stream of bytes both ways, and read, write
//! and end as a TCP connection with TLS does.
//!
//! One connection has one stream and one controller of its rate, `rate_control::PathModel`. So a
//! copy's streams, their greetings and their keys are over UDP what they are over TCP; only their
//! number matters less, because one fills the path.
//!
//! `quinn-proto` is the protocol, without sockets and clocks; `quinn-udp` sends and receives many
//! packets in one system call (UDP_SEGMENT, UDP_GRO). Between the two, a thread for each UDP socket
//! (`driver`) waits, paces and passes on. [`connect`] makes a socket and its thread for one
//! connection; [`Server`] has one for all connections of its port. Reading and writing threads take
//! the lock of their connection and wait on its condition variable.
//!
//! Left out: 0-RTT, migration, several streams of one connection, datagrams.
//!
//! Reading order: `stream`, `connection`, `controller`, `driver`, `client`, `server`; `config` and
//! `socket` hold settings, `qlog` writes what happens.

mod client;
mod config;
mod connection;
mod controller;
mod driver;
mod qlog;
mod server;
mod socket;
mod stream;

pub use client::{ConnectError, connect};
pub use config::WINDOW_MOST;
pub use connection::Handle;
pub use qlog::write_qlogs;
pub use server::{Arrival, Server, ServerLimits};
pub use stream::{Stream, StreamWriter};
