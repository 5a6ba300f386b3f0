//! What a copy is to be steered by.

use observe::{StreamCount, Window};
use units::{Bytes, Span};

use models::Objective;

/// What a copy is to be steered by.
#[derive(Debug, Clone, PartialEq)]
pub struct OnlinePlan {
    /// What the number of streams is chosen for.
    pub objective: Objective,
    /// The most streams.
    pub streams_max: StreamCount,
    /// So many streams and no search, where the user knows better.
    pub streams: Option<StreamCount>,
    /// What this host needed the last time. No fewer than half of [`super::streams_for`] are begun with, since a
    /// number that was found in the course of a long copy is fewer than its start needs.
    pub remembered: Option<StreamCount>,
    /// Socket buffers that the user asked for; with [`Window::Auto`] they are only set where a buffer binds.
    pub window: Window,
    /// The largest socket buffer that both hosts grant on request (`wmem_max`, `rmem_max`), where that is known.
    pub window_max: Option<Bytes>,
    /// Round trip of the handshake.
    pub rtt: Option<Span>,
}

impl OnlinePlan {
    /// A knee closer to the maximum than [`Objective::KNEE`]: somebody waits for a copy, and nobody for a
    /// recommendation's last percents.
    pub const KNEE: Objective = Objective::Knee { share: 0.97 };
}

impl Default for OnlinePlan {
    /// The knee, with at most as many streams as a run may have, and nothing known.
    fn default() -> Self {
        OnlinePlan {
            objective: OnlinePlan::KNEE,
            streams_max: StreamCount::MAX,
            streams: None,
            remembered: None,
            window: Window::Auto,
            window_max: None,
            rtt: None,
        }
    }
}
