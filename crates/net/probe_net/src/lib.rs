//! Small packets over real sockets: what they tell about a path.
//!
//! - [`round_trips`]: echo requests over UDP, ICMP and TCP, idle or under load.
//! - [`Tracer`]: the hops to a host and the path MTU, without rights where UDP or TCP do.
//! - [`trains`]: datagrams that leave by the clock, and the kernel's stamps of those that arrive.
//!
//! `probe_flow` has the sockets that traces use, `mtu` the search for the largest packet. The
//! crate `probing` decides which packets to send and what they mean.

#[cfg(feature = "fuzzing")]
pub mod fuzzing;
mod mtu;
mod probe_flow;
pub mod round_trips;
mod trace;
pub mod trains;

pub use trace::Tracer;
