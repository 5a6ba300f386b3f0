//! Where a conversation stands, and how long it may stay there.

use units::Span;

use super::Waiting;
use crate::Results;
use crate::frame::FrameReader;

/// Longest wait for an answer. A stock server that is busy creating another client's streams
/// answers after up to 10 s, so this is a little more.
pub(super) const REPLY_WAIT: Span = Span::from_secs(15);
/// Longest wait for the server to end its side: iperf3's own grace.
const END_WAIT: Span = Span::from_secs(40);
/// Longest wait for a whole results message: megabytes over a slow path.
const RESULTS_WAIT: Span = Span::from_secs(60);

/// Where the conversation stands.
#[derive(Debug)]
pub(super) enum Phase {
    Greeting,
    Parameters,
    Capabilities(FrameReader),
    Opening,
    Starting,
    Started,
    Running,
    Asked,
    Report(FrameReader),
    Ending,
    Reporting,
    Results(FrameReader),
    Displaying(Box<Results>),
    ServerError(Vec<u8>),
    Over,
}

impl Phase {
    /// What is awaited, in words.
    pub(super) fn waiting(&self) -> Waiting {
        match self {
            Phase::Greeting => Waiting::Greeting,
            Phase::Parameters | Phase::Capabilities(_) => Waiting::Verdict,
            Phase::Opening | Phase::Starting | Phase::Started => Waiting::Start,
            Phase::Running => Waiting::TestOver,
            Phase::Asked | Phase::Report(_) => Waiting::Report,
            Phase::Ending => Waiting::End,
            Phase::Reporting | Phase::Results(_) => Waiting::Results,
            Phase::Displaying(_) | Phase::ServerError(_) | Phase::Over => Waiting::Goodbye,
        }
    }

    /// How long this phase may last; `None` while the driver is to move.
    pub(super) fn wait(&self) -> Option<Span> {
        match self {
            Phase::Opening | Phase::Running | Phase::Reporting | Phase::Over => None,
            Phase::Ending => Some(END_WAIT),
            Phase::Asked | Phase::Report(_) | Phase::Results(_) => Some(RESULTS_WAIT),
            Phase::ServerError(_) => Some(Span::from_secs(1)),
            _ => Some(REPLY_WAIT),
        }
    }
}
