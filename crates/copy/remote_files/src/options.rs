//! How a far end is asked.

use observe::StreamCount;
use units::Span;

/// How a far end is asked.
#[derive(Debug, Clone)]
pub struct RemoteOptions {
    /// Most connections; without, as many as bring more, found while ranges come.
    pub streams: Option<StreamCount>,
    /// What copies from this host needed, to begin with.
    pub remembered: Option<StreamCount>,
    /// Time for connecting.
    pub connect_timeout: Span,
    /// A connection whose answer takes longer counts as lost.
    pub answer_timeout: Span,
    /// How long a far end that was there may be gone, or give no answer, before a call fails.
    pub patience: Span,
}

/// Ten seconds to connect; a minute for an answer, as disks may sleep and tapes be wound; two
/// minutes for a far end that comes back.
impl Default for RemoteOptions {
    fn default() -> Self {
        RemoteOptions {
            streams: None,
            remembered: None,
            connect_timeout: Span::from_secs(10),
            answer_timeout: Span::from_secs(60),
            patience: Span::from_secs(120),
        }
    }
}
