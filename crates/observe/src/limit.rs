//! What keeps a run from being faster.
//!
//! [`diagnose`] goes from the cause nearest to the sending program outwards: the program, the
//! receiver's window, the send buffer, then the path. Each step is a threshold on what the sender's
//! kernel counted over the steady window; the thresholds were measured on Linux 6.18 over a path of
//! 50 Mbit/s and 20 ms, and `limit/tests.rs` holds that table.
//!
//! Two causes that one run cannot tell apart are both named: random loss and a queue too shallow
//! for the sender's bursts look alike. A paced run of the same setting tells them apart, see
//! [`Context`].
//!
//! Left out: the disk behind the sending program, and which hop a limit sits at. Without `TCP_INFO`
//! (a foreign sender) only a comparison of runs remains, and mostly the answer is
//! [`Limit::Unknown`].

mod diagnose;
mod evidence;
mod in_path;
mod words;

pub use diagnose::diagnose;

use std::fmt;

use units::{Bytes, Rate};

/// The cause that bounds a run's goodput.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Limit {
    /// The path is full.
    Link,
    /// Packets lost at random, or dropped by a policer.
    Loss,
    /// Packets dropped by a queue too short for the sender's bursts.
    ShallowQueue,
    /// The receiver's buffer, or a receiver that reads too slowly.
    ReceiveBuffer,
    /// The sender's buffer.
    SendBuffer,
    /// The sending program had nothing to send.
    Application,
    /// A processor of one of the two hosts.
    Host,
    /// The numbers do not tell.
    Unknown,
}

impl Limit {
    /// The name in documents: `receive-buffer` for [`Limit::ReceiveBuffer`].
    pub fn name(self) -> &'static str {
        match self {
            Limit::Link => "link",
            Limit::Loss => "loss",
            Limit::ShallowQueue => "shallow-queue",
            Limit::ReceiveBuffer => "receive-buffer",
            Limit::SendBuffer => "send-buffer",
            Limit::Application => "application",
            Limit::Host => "host",
            Limit::Unknown => "unknown",
        }
    }
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// What limits a run, and how that is known.
#[derive(Debug, Clone, PartialEq)]
pub struct Verdict {
    /// The cause.
    pub limit: Limit,
    /// Another cause that would look the same in these numbers.
    pub or: Option<Limit>,
    /// The numbers that say so, as a sentence for people without a full stop.
    pub because: String,
    /// The window per stream that would lift a buffer's limit, before the kernel's doubling.
    pub window_needed: Option<Bytes>,
}

impl Verdict {
    /// A cause without rivals that no window lifts.
    fn of(limit: Limit, because: String) -> Self {
        Verdict {
            limit,
            or: None,
            because,
            window_needed: None,
        }
    }
}

/// What is known beside the run itself. Every part may be missing.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Context {
    /// The highest goodput that any run has shown on this path in this direction.
    pub best_seen: Option<Rate>,
    /// The goodput that more streams did not raise any further: what the path carries.
    pub plateau: Option<Rate>,
    /// Goodput with twice the streams and everything else the same.
    pub doubled: Option<Rate>,
    /// Retransmitted share of the same setting with its sending rate paced.
    pub paced_retransmitted_share: Option<f64>,
}

#[cfg(test)]
mod tests;
