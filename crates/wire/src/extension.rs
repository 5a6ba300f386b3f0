//! What two trunkline ends tell each other beyond iperf3's protocol.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use thiserror::Error;
use units::Span;

/// Version of everything under the key `trunkline`.
pub(crate) const VERSION: u32 = 1;

/// The client's side of the recognition: the value of `trunkline` in its parameters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Offer {
    /// Highest version of the extension the client speaks.
    pub version: u32,
}

impl Default for Offer {
    fn default() -> Self {
        Offer { version: VERSION }
    }
}

/// The server's answer to an [`Offer`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Answer {
    /// Version that will be spoken.
    pub version: u32,
    /// What echo requests of this test have to carry.
    pub echo_token: EchoToken,
    /// Distance of the telemetry samples, in milliseconds.
    pub interval_ms: u32,
}

impl Answer {
    /// An answer in the version spoken here.
    pub fn new(echo_token: EchoToken, interval: Span) -> Self {
        let interval_ms = interval.as_nanos() / 1_000_000;
        Answer {
            version: VERSION,
            echo_token,
            interval_ms: u32::try_from(interval_ms).unwrap_or(u32::MAX),
        }
    }
}

/// A secret of one test; echo requests without it get no reply.
///
/// ```
/// use wire::EchoToken;
/// let token = EchoToken(0x0123_4567_89AB_CDEF);
/// assert_eq!(token.to_string(), "0123456789abcdef");
/// assert_eq!("0123456789abcdef".parse(), Ok(token));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct EchoToken(pub u64);

/// A text that is no token.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("`{0}` is not an echo token of 16 hexadecimal digits")]
pub struct TokenError(pub String);

impl fmt::Display for EchoToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}

impl FromStr for EchoToken {
    type Err = TokenError;

    fn from_str(text: &str) -> Result<Self, TokenError> {
        let wrong = || TokenError(text.to_owned());
        let digits = text.len() == 16 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
        let number = digits.then(|| u64::from_str_radix(text, 16).ok());
        number.flatten().map(EchoToken).ok_or_else(wrong)
    }
}

impl TryFrom<String> for EchoToken {
    type Error = TokenError;

    fn try_from(text: String) -> Result<Self, TokenError> {
        text.parse()
    }
}

impl From<EchoToken> for String {
    fn from(token: EchoToken) -> String {
        token.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_has_the_documented_shape() {
        let answer = Answer::new(EchoToken(255), Span::from_millis(100));
        let json = serde_json::to_string(&answer).unwrap();
        assert_eq!(
            json,
            r#"{"version":1,"echo_token":"00000000000000ff","interval_ms":100}"#
        );
        assert_eq!(serde_json::from_str::<Answer>(&json).unwrap(), answer);
    }

    #[test]
    fn a_wrong_token_is_refused() {
        for text in ["", "ff", "00000000000000fg", "+0000000000000ff"] {
            assert_eq!(text.parse::<EchoToken>(), Err(TokenError(text.to_owned())));
        }
    }
}
