//! What two trunkline ends tell each other beyond iperf3's protocol.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use thiserror::Error;
use units::Span;

use crate::trains::PROBING_VERSION;
use crate::{COOKIE_LENGTH, Cookie, CookieError};

/// Version of everything under the key `trunkline`.
pub(crate) const VERSION: u32 = 1;

/// Length of the number that follows the cookie on the streams of two trunkline ends.
const STREAM_NUMBER_LENGTH: usize = 2;

/// Length of what such a stream begins with.
pub const NUMBERED_GREETING_LENGTH: usize = COOKIE_LENGTH + STREAM_NUMBER_LENGTH;

/// What a stream begins with when both ends are ours: the cookie and the stream's position from 0,
/// most significant byte first.
///
/// iperf3 knows streams by the order of their arrival alone, so they have to be opened one round
/// trip after another; numbered ones can be opened all at once.
/// ```
/// use measure_protocol::{Cookie, numbered_greeting};
/// let greeting = numbered_greeting(&Cookie::from_random(&[0; 36]), 258);
/// assert_eq!((greeting.len(), &greeting[37..]), (39, &[1, 2][..]));
/// ```
pub fn numbered_greeting(cookie: &Cookie, position: u16) -> Vec<u8> {
    let mut greeting = cookie.as_bytes().to_vec();
    greeting.extend_from_slice(&position.to_be_bytes());
    greeting
}

/// Reads what [`numbered_greeting`] wrote.
///
/// # Errors
/// When the cookie is none.
/// ```
/// use measure_protocol::{Cookie, numbered_greeting, read_numbered_greeting};
/// let cookie = Cookie::from_random(&[7; 36]);
/// let greeting = numbered_greeting(&cookie, 258).try_into().unwrap();
/// assert_eq!(read_numbered_greeting(greeting), Ok((cookie, 258)));
/// ```
pub fn read_numbered_greeting(
    bytes: [u8; NUMBERED_GREETING_LENGTH],
) -> Result<(Cookie, u16), CookieError> {
    let (cookie, number) = bytes.split_at(COOKIE_LENGTH);
    let (mut text, mut position) = ([0; COOKIE_LENGTH], [0; STREAM_NUMBER_LENGTH]);
    text.copy_from_slice(cookie);
    position.copy_from_slice(number);
    Ok((Cookie::from_wire(text)?, u16::from_be_bytes(position)))
}

/// The client's side of the recognition: the value of `trunkline` in its parameters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Offer {
    /// Highest version of the extension the client speaks.
    pub version: u32,
    /// The test lasts until the client ends it, whatever time the parameters name for those who do
    /// not know this, and reports are asked for meanwhile.
    #[serde(default, skip_serializing_if = "is_off")]
    pub lasting: bool,
    /// Highest version of [`crate::trains`] the client speaks, when it wants that in place of a
    /// test; 0 for a test.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub probing: u32,
    /// The streams are to come over UDP, in QUIC, to the port of the same number.
    #[serde(default, skip_serializing_if = "is_off")]
    pub udp: bool,
}

impl Offer {
    /// The offer of a client that wants to probe.
    ///
    /// ```
    /// let json = serde_json::to_string(&measure_protocol::Offer::probing()).unwrap();
    /// assert_eq!(json, r#"{"version":1,"probing":1}"#);
    /// ```
    pub fn probing() -> Self {
        Offer {
            probing: PROBING_VERSION,
            ..Offer::default()
        }
    }

    /// The offer of a test that lasts until the client ends it.
    ///
    /// ```
    /// let json = serde_json::to_string(&measure_protocol::Offer::lasting()).unwrap();
    /// assert_eq!(json, r#"{"version":1,"lasting":true}"#);
    /// ```
    pub fn lasting() -> Self {
        Offer {
            lasting: true,
            ..Offer::default()
        }
    }
}

impl Default for Offer {
    fn default() -> Self {
        Offer {
            version: VERSION,
            lasting: false,
            probing: 0,
            udp: false,
        }
    }
}

fn is_off(flag: &bool) -> bool {
    !flag
}

fn is_zero(version: &u32) -> bool {
    *version == 0
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
    /// The server agrees to a lasting test. Without that a test ends with the time that its
    /// parameters name.
    #[serde(default, skip_serializing_if = "is_off")]
    pub lasting: bool,
    /// Version of [`crate::trains`] that will be spoken from here on, in place of a test; 0 where
    /// none was offered, and from servers that do not know it: those go on with a test.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub probing: u32,
    /// The server takes streams over UDP where they are offered. One that does not know that waits
    /// for them over TCP.
    #[serde(default, skip_serializing_if = "is_off")]
    pub udp: bool,
    /// In place of a test the server also looks for the way to the client
    /// ([`crate::trains::FromClient::Trace`]).
    #[serde(default, skip_serializing_if = "is_off")]
    pub trace: bool,
}

impl Answer {
    /// An answer to `offer` in the version spoken here.
    pub fn new(offer: Offer, echo_token: EchoToken, interval: Span) -> Self {
        let interval_ms = interval.as_nanos() / 1_000_000;
        Answer {
            version: VERSION,
            echo_token,
            interval_ms: u32::try_from(interval_ms).unwrap_or(u32::MAX),
            lasting: offer.lasting,
            probing: offer.probing.min(PROBING_VERSION),
            udp: true,
            trace: offer.probing > 0,
        }
    }
}

/// A secret of one test; echo requests without it get no reply.
///
/// ```
/// use measure_protocol::EchoToken;
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
        let answer = Answer::new(Offer::default(), EchoToken(255), Span::from_millis(100));
        let json = serde_json::to_string(&answer).unwrap();
        assert_eq!(
            json,
            r#"{"version":1,"echo_token":"00000000000000ff","interval_ms":100,"udp":true}"#
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
