//! Flow records of routers as traffic across a border, by application.
//!
//! A [`FlowCounter`] takes datagrams of NetFlow 5 and 9, IPFIX and sFlow 5, and sums up what their
//! records tell: bytes and packets by interval, router, way across the border and application. It
//! opens no socket, and takes the time from its caller.
//!
//! Datagrams come from anywhere, so all that they can fill has a bound: streams of records (64),
//! templates of a stream (64 of 256 fields), records that wait for their template (512 KiB of a
//! stream), intervals in memory.
//!
//! Left out: counters of interfaces, which sFlow also sends; packets in MPLS and in tunnels, of
//! which the outer header counts; NetFlow 1 to 8 but 5 (7 is not taken).
//!
//! Reading order: `record.rs`, `netflow.rs` and `sflow.rs` for the protocols, `sequence.rs` for
//! what was lost on the way, `application.rs`, `counter.rs`.

mod application;
mod counter;
mod fields;
mod netflow;
mod record;
mod sequence;
mod sflow;

pub use counter::{FlowCounter, Strangers};
