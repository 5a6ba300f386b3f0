//! How the sockets of streams are set.

use copy_protocol::Opening;
use sockets::options::StreamOptions;
use units::{Dscp, Span, Via};

use crate::opening::congestion_of;

/// A stream whose data is not acknowledged for so long is broken; the kernel's own patience is a
/// quarter of an hour.
const USER_TIMEOUT: Span = Span::from_secs(30);
/// Unsent bytes in the kernel, besides those in flight, until the stream's rate is known.
const UNSENT_MAX: units::Bytes = units::Bytes::from_kib(128);

/// What an end does with the data of streams.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Part {
    Sends,
    Receives,
}

/// What streams are set to.
pub(crate) fn options(opening: &Opening, part: Part) -> StreamOptions {
    StreamOptions {
        window: opening.window_bytes.map(units::Bytes::new),
        congestion: match part {
            Part::Sends => opening.congestion.as_ref().and_then(congestion_of),
            // The receiver may not have it.
            Part::Receives => None,
        },
        no_delay: true,
        via: Via {
            dscp: opening.gentle_nanoseconds.map(|_| Dscp::LOWER_EFFORT),
            ..Via::default()
        },
        user_timeout: Some(USER_TIMEOUT),
        unsent_max: Some(UNSENT_MAX),
        ..StreamOptions::default()
    }
}
