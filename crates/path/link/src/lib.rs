//! One direction of a path: packets in, packets out, time passed in.
//!
//! A [`Link`] is a policer where there is one, a queue, a sender that takes the time each packet
//! needs at the link's rate, loss on the wire, and propagation delay, in this order. It never looks
//! at a clock: the emulator drives it with the monotonic one, a simulator with a virtual one.
//! Everything that moves packets has one shape, [`Element`].
//!
//! A [`Chain`] is the links of one way of a path in a row, with routers between them and others'
//! load ([`LoadSource`]) on them, and on the main one cross traffic that is on and off
//! ([`CrossSource`]).
//!
//! The queue is drop-tail, RED, weighted RED, CoDel, or three classes, strict or with shares. Class
//! and ECN come from the packet ([`Packet`]).
//!
//! What is left out: delay that varies by itself, but for packets that are overtaken. A packet that
//! is lost on the wire has still used its share of the rate, as on a real link; the packet being
//! sent does not count against the queue's limit.
//!
//! Reading order: [`Element`], `queue.rs` and the disciplines under it, `wire_loss.rs`, [`Link`],
//! [`Counters`], then [`LoadSource`], [`CrossSource`] and [`Chain`].

mod accounts;
mod chain;
mod counters;
mod cross;
mod element;
mod faults;
mod link;
mod load;
mod occupancy;
mod policer;
mod queue;
mod random;
mod send_times;
mod wire;
mod wire_loss;

pub use chain::{Chain, Router, Wires};
pub use counters::{Count, Counters};
pub use cross::{CrossDeed, CrossSource};
pub use element::{Admission, DropCause, Element, Packet};
pub use link::Link;
pub use load::LoadSource;
pub use random::derive_seed;
