//! What an agent of a watch and its collector say to each other.
//!
//! An agent connects, sends [`Report`]s and gets a [`Reply`] to each: how it is, and visits that
//! wait on its disk. Both ends prove on the TLS connection that they know the agent's token, as
//! copies do ([`copy_net`]). A report that is sent again does no harm: visits have an identity.
//!
//! A frame is a length of four bytes, most significant first, and that much JSON: visits have
//! optional parts, which grow with the versions, and the spool holds them as JSON anyway.
//!
//! An agent that was started without a plan takes the collector's, and each new one
//! ([`PlanWish`]). Left out: other commands to agents. An agent does what its plan says, and with a
//! plan of its own the collector cannot make it do something else.
//!
//! Reading order: `message.rs`, `frame.rs`, [`AgentLink`] for the agent's end, [`serve`] for the
//! collector's.

mod agent;
mod collector;
mod frame;
mod message;

pub use agent::{AgentLink, LinkError};
pub use collector::{Reports, serve};
pub use frame::{FRAME_MAX, FrameError};
pub use message::{
    Answer, LINK_VERSION, PlanDigest, PlanText, PlanWish, Refused, Reply, Report, Running,
    VISITS_MAX,
};

/// TCP port of a collector for its agents.
pub const COLLECTOR_PORT: u16 = 5203;
