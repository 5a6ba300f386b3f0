//! Trains of datagrams between two of our own ends, and what became of them.
//!
//! A client that wants to probe says so in its [`crate::Offer`], a server that can agrees in its
//! [`crate::Answer`], and from there on the control connection carries `message`s in place of state
//! bytes. One train at a time is announced; before it leaves, the client's [`Datagram`] has to
//! reach the server with the token of this session, from the address that the control connection
//! has. So a train can go to the client itself only, and the client's own datagram
//! opens firewalls and NAT for a train towards it. The receiver stamps what arrives; the
//! stamps travel over the control connection.
//!
//! Iperf3 servers and trunkline servers before this do not agree, and nothing of this is sent to
//! them.
//!
//! Reading order: [`TrainPlan`] and [`Bounds`], `datagram`, `message`, `collection`, then
//! [`ProbingServer`] and [`ProbingClient`].

mod bounds;
mod budget;
mod client;
mod collection;
mod datagram;
mod message;
mod plan;
mod server;

#[cfg(test)]
mod tests;

pub use bounds::{Bounds, OutOfBounds};
pub use client::{ProbingAction, ProbingClient, ProbingError, Seen};
pub use collection::{Arrival, Collection};
pub use datagram::{DATAGRAM_LENGTH, Datagram, DatagramError, DatagramKind};
pub use message::{
    Announcement, Cause, FromClient, FromServer, Refused, Stamp, Stamps, Traced, TracedHop, Zero,
};
pub use plan::TrainPlan;
pub use server::{ProbingServer, ProbingServerAction, ProbingServerError, ProbingWaits};

use units::Span;

/// Version of the messages and datagrams described here.
pub const PROBING_VERSION: u32 = 1;

/// Most bytes of a message: the stamps of the longest train are less than half of it.
pub(crate) const MESSAGE_BOUND: u32 = 256 << 10;

/// How long a receiver waits for packets that are late, from when it knows that all have left and
/// from the last that arrived: what the sender says of it travels behind them on the same path.
pub const STRAGGLERS: Span = Span::from_millis(200);
