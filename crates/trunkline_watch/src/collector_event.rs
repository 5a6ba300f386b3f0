//! What happens at a collector.

use std::net::SocketAddr;
use std::time::{SystemTime, UNIX_EPOCH};

use changes::UnixTime;
use watch_store::StoredEvent;

/// What happens at a collector.
#[derive(Debug, Clone, PartialEq)]
pub enum CollectorEvent {
    /// It listens for agents.
    Listening(u16),
    /// It serves pages.
    Pages(SocketAddr),
    /// It takes flow records of routers.
    TakingFlows(SocketAddr),
    /// How flow records came, as a sentence: from a new router, or with losses.
    Flows(String),
    /// An alert with this headline is sent.
    Alert(String),
    /// A receiver did not take an alert; it is tried again.
    NotAlerted(String),
    /// What was saved of this many detectors cannot be used; stored visits teach them again.
    Relearned(usize),
    /// A path changed, or more is known of an earlier change.
    Changed(Box<StoredEvent>),
    /// An agent cannot follow the plan, and goes on with the one before.
    PlanRefused {
        /// Its first host.
        host: String,
        /// Why.
        why: String,
    },
    /// A connection was rejected, or broke.
    Rejected {
        /// From where.
        peer: SocketAddr,
        /// Why.
        reason: String,
    },
    /// Further connections were rejected, or broke, within a minute.
    RejectedMore {
        /// How many.
        count: u32,
        /// The latest: from where.
        peer: SocketAddr,
        /// Why.
        reason: String,
    },
    /// The database cannot be written; agents keep their results.
    Failed {
        /// Why.
        what: String,
        /// The next step.
        hint: String,
    },
}

/// Takes what happens at a collector, on any thread.
pub type OnCollectorEvent = dyn Fn(&CollectorEvent) + Send + Sync;

/// The wall clock.
pub(super) fn now() -> UnixTime {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    UnixTime::from_seconds(since.map_or(0, |since| since.as_secs()))
}
