//! Why a server does not run the test that a client asks for.

use thiserror::Error;
use units::Bytes;

use crate::ErrorCode;

/// Largest socket buffer that can be asked for, as in iperf3.
pub const WINDOW_MAX: Bytes = Bytes::from_mib(512);

pub(super) const SEGMENT_MIN: u64 = 88;

pub(super) const SEGMENT_MAX: u64 = 32_767;

/// Parameters that this server does not run.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum RequestError {
    /// Not the JSON of parameters.
    #[error("the parameters are not valid JSON: {0}")]
    Json(String),
    /// SCTP.
    #[error("SCTP tests are not served, only TCP and UDP")]
    Sctp,
    /// No stream, or too many.
    #[error("{0} streams were asked for; 1 to 128 are possible")]
    Streams(i64),
    /// Negative or longer than a day.
    #[error("a test of {0} s was asked for; 0 to 86400 are possible")]
    Seconds(i64),
    /// A socket buffer out of range.
    #[error(
        "a window of {0} bytes was asked for; at most {max} are possible",
        max = WINDOW_MAX.get()
    )]
    Window(u64),
    /// A segment size out of range.
    #[error("segments of {0} bytes were asked for; {SEGMENT_MIN} to {SEGMENT_MAX} are possible")]
    Segment(u64),
}

impl RequestError {
    /// The number that says this to an iperf3 client.
    pub fn code(&self) -> ErrorCode {
        match self {
            RequestError::Json(_) => ErrorCode::PARAMETERS,
            RequestError::Sctp => ErrorCode::NOT_IMPLEMENTED,
            RequestError::Streams(_) => ErrorCode::STREAM_COUNT,
            RequestError::Seconds(_) => ErrorCode::DURATION,
            RequestError::Window(_) => ErrorCode::BUFFER_SIZE,
            RequestError::Segment(_) => ErrorCode::SEGMENT_SIZE,
        }
    }
}
