//! A path between two network namespaces of this host, carrying the kernel's own TCP.
//!
//! [`Network::up`] makes a near and a far namespace, gives each a TUN device, and carries packets
//! between the two through the same [`link::Link`]s that a simulator uses, driven by the monotonic
//! clock. Programs and threads that enter a namespace see an ordinary host with one interface. The
//! routers between several links are ours: a packet goes from link to link at the very time at
//! which it comes out, which no detour through the kernel could keep up.
//!
//! Namespaces and devices have no names outside this process: they live as long as its file
//! descriptors and are gone when it ends, however it ends. Programs started here run in a process
//! namespace of their own and die with it.
//!
//! Hosts have segmentation offload, as network cards do: the kernel hands over super-segments with
//! their checksums left open. They are cut into packets in front of the first link, which each have
//! their own fate on the path. TCP packets that come out right behind each other are handed over
//! together again.
//!
//! What is left out: more than two hosts, fragmentation by routers, and putting datagrams together.
//!
//! Reading order: [`Network`], [`Namespace`], `carrier.rs`, `intake.rs`, `segments.rs`,
//! `coalesce.rs`, `router.rs` and `ip_packet.rs` for the packets' way, `tun.rs` and `sysctl.rs` for
//! the kernel's side, [`Program`] for other people's programs.

#![allow(unsafe_code)] // ioctls on TUN devices; each block has its reason

mod aside;
mod books;
mod busy_wait;
mod carrier;
mod clock;
mod coalesce;
mod congestion;
mod error;
mod intake;
mod ip_packet;
mod lateness;
mod listening;
mod namespace;
mod netlink;
mod network;
mod offload;
mod priority;
mod program;
mod router;
mod router_queue;
mod segments;
mod sysctl;
mod tun;
mod user_namespace;
mod wire;

pub use aside::cross_address;
pub use books::{DuplexBooks, LinkBooks, NetworkBooks, WayBooks};
pub use error::EmuError;
pub use lateness::Lateness;
pub use namespace::Namespace;
pub use network::{
    FAR_ADDRESS, FAR_ADDRESS_V6, NEAR_ADDRESS, NEAR_ADDRESS_V6, Network, NetworkCounters, addresses,
};
pub use program::{Program, Sink, become_init, have_init, init_arguments, set_init_program};
pub use user_namespace::enter_user_namespace;
pub use wire::Wire;
