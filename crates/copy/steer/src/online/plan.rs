//! The plan by which a copy is steered.

use observe::{StreamCount, Window};
use units::{Bytes, Span};

use copy_protocol::CopyOptions;
use models::Objective;

/// The plan by which a copy is steered.
#[derive(Debug, Clone, PartialEq)]
pub struct OnlinePlan {
    /// What the number of streams is chosen for.
    pub objective: Objective,
    /// The most streams.
    pub streams_max: StreamCount,
    /// The fewest that a search goes down to; a fixed number or a bound may be lower.
    pub streams_min: StreamCount,
    /// A fixed number of streams without a search.
    pub streams: Option<StreamCount>,
    /// Streams that this host needed the last time. The copy begins with at least half of
    /// [`super::streams_for`]: a long copy ends with fewer streams than its start needs.
    pub remembered: Option<StreamCount>,
    /// Streams that a search found for the congestion control that the copy sends with: it begins
    /// with no more.
    pub found: Option<StreamCount>,
    /// Socket buffers that the user asked for; [`Window::Auto`] sets them only where a buffer
    /// binds.
    pub window: Window,
    /// Largest socket buffer that both hosts grant (`wmem_max`, `rmem_max`), where known.
    pub window_max: Option<Bytes>,
    /// Round trip of the handshake.
    pub rtt: Option<Span>,
}

impl Default for OnlinePlan {
    /// The knee, with at most as many streams as a run may have, and nothing known.
    fn default() -> Self {
        OnlinePlan {
            objective: CopyOptions::KNEE,
            streams_max: StreamCount::MAX,
            streams_min: StreamCount::ONE,
            streams: None,
            remembered: None,
            found: None,
            window: Window::Auto,
            window_max: None,
            rtt: None,
        }
    }
}
