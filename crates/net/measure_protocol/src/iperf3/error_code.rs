//! What the error numbers of iperf3's `SERVER_ERROR` mean, in plain words.

use std::fmt;

/// An error number as iperf3 sends it (`i_errno`), known or not.
///
/// ```
/// use measure_protocol::ErrorCode;
/// assert_eq!(ErrorCode(6).to_string(), "too many parallel streams (iperf3 error 6)");
/// assert_eq!(ErrorCode(9_999).to_string(), "iperf3 error 9999");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ErrorCode(pub i32);

const TEXTS: &[(i32, &str)] = &[
    (5, "the test would last too long"),
    (6, "too many parallel streams"),
    (7, "the block size is out of range"),
    (8, "the socket buffer is too large"),
    (10, "the segment size is too large"),
    (12, "the omitted time is out of range"),
    (13, "the server does not support this request"),
    (27, "the server's limit on the total rate was exceeded"),
    (37, "the test is longer than the server allows"),
    (104, "the server could not accept a connection"),
    (106, "the server could not read the cookie"),
    (109, "the control connection was closed"),
    (110, "an unexpected message arrived"),
    (114, "the server could not read the parameters"),
    (117, "the server could not read the results"),
    (119, "the client stopped the test"),
    (120, "the server stopped the test"),
    (122, "the server could not switch off Nagle's algorithm"),
    (123, "the server could not set the segment size"),
    (124, "the server could not set the socket buffer"),
    (
        131,
        "the server does not know the transport that was asked for",
    ),
    (134, "the server could not set the congestion control"),
    (140, "the server could not set the pacing rate"),
    (141, "the server's socket buffer is smaller than requested"),
    (
        142,
        "authentication failed: the server wants one of its users, with a password and of now",
    ),
    (144, "the server received no data for too long"),
    (160, "the test ran longer than agreed"),
    (200, "the server could not create a stream"),
    (202, "the server could not listen for a stream"),
    (203, "a stream could not connect"),
    (204, "the server could not accept a stream"),
    (205, "the server could not write to a stream"),
    (206, "the server could not read from a stream"),
    (207, "a stream could not be closed"),
    (208, "a stream had an invalid number"),
];

impl ErrorCode {
    /// More than 128 streams, or none.
    pub const STREAM_COUNT: ErrorCode = ErrorCode(6);
    /// Longer than a day, or than the server's limit.
    pub const DURATION: ErrorCode = ErrorCode(5);
    /// Longer than the server's owner allows.
    pub const SERVER_DURATION: ErrorCode = ErrorCode(37);
    /// Faster than the server's owner allows.
    pub const TOTAL_RATE: ErrorCode = ErrorCode(27);
    /// A socket buffer above the bound.
    pub const BUFFER_SIZE: ErrorCode = ErrorCode(8);
    /// A segment size out of range.
    pub const SEGMENT_SIZE: ErrorCode = ErrorCode(10);
    /// Something this server does not do.
    pub const NOT_IMPLEMENTED: ErrorCode = ErrorCode(13);
    /// A message that has no place where it came.
    pub const UNEXPECTED_MESSAGE: ErrorCode = ErrorCode(110);
    /// Parameters that could not be read.
    pub const PARAMETERS: ErrorCode = ErrorCode(114);
    /// Results that could not be read.
    pub const RESULTS: ErrorCode = ErrorCode(117);
    /// The buffer granted is smaller than the one asked for.
    pub const BUFFER_NOT_GRANTED: ErrorCode = ErrorCode(141);
    /// No user, or one that is not let in.
    pub const AUTHENTICATION: ErrorCode = ErrorCode(142);
    /// No data arrived for too long.
    pub const NO_DATA: ErrorCode = ErrorCode(144);
    /// The test ran on after its agreed time.
    pub const OVERDUE: ErrorCode = ErrorCode(160);
    /// The streams did not arrive.
    pub const STREAM_ACCEPT: ErrorCode = ErrorCode(204);

    /// What the number means; `None` for numbers not known here.
    pub fn text(self) -> Option<&'static str> {
        let found = TEXTS.iter().find(|(code, _)| *code == self.0);
        found.map(|(_, text)| *text)
    }
}

impl fmt::Display for ErrorCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.text() {
            Some(text) => write!(f, "{text} (iperf3 error {})", self.0),
            None => write!(f, "iperf3 error {}", self.0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_listed_once_and_in_order() {
        assert!(TEXTS.is_sorted_by(|a, b| a.0 < b.0));
    }

    #[test]
    fn every_number_we_send_has_words() {
        let sent = [
            ErrorCode::STREAM_COUNT,
            ErrorCode::DURATION,
            ErrorCode::SERVER_DURATION,
            ErrorCode::TOTAL_RATE,
            ErrorCode::BUFFER_SIZE,
            ErrorCode::SEGMENT_SIZE,
            ErrorCode::NOT_IMPLEMENTED,
            ErrorCode::UNEXPECTED_MESSAGE,
            ErrorCode::PARAMETERS,
            ErrorCode::RESULTS,
            ErrorCode::BUFFER_NOT_GRANTED,
            ErrorCode::AUTHENTICATION,
            ErrorCode::NO_DATA,
            ErrorCode::OVERDUE,
            ErrorCode::STREAM_ACCEPT,
        ];
        assert!(sent.iter().all(|code| code.text().is_some()));
    }
}
