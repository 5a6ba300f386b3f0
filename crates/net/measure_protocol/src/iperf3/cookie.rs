//! The 37 bytes that tie a test's connections together.

use std::fmt;

use thiserror::Error;

/// Length of a cookie on the wire: 36 characters and a closing zero byte.
pub const COOKIE_LENGTH: usize = 37;

const CHARACTERS: usize = COOKIE_LENGTH - 1;
const ALPHABET: &[u8; 32] = b"abcdefghijklmnopqrstuvwxyz234567";

/// Identifies one test: the first thing sent on every TCP connection that belongs to it.
///
/// ```
/// use measure_protocol::Cookie;
/// let cookie = Cookie::from_random(&[0; 36]);
/// assert_eq!(&cookie.as_bytes()[..3], b"aaa");
/// assert_eq!(Cookie::from_wire(*cookie.as_bytes()), Ok(cookie));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Cookie([u8; COOKIE_LENGTH]);

/// Bytes that are no cookie: the sender does not speak this protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum CookieError {
    /// The zero byte that ends the text is missing or comes first.
    #[error("the cookie is not a text of 1 to 36 characters closed by a zero byte")]
    NoText,
    /// A byte is not a printable character.
    #[error("byte {value:#04x} at position {position} of the cookie is not printable")]
    Unprintable {
        /// The byte.
        value: u8,
        /// Where it stands, from 0.
        position: usize,
    },
}

impl Cookie {
    /// A cookie in iperf3's alphabet; five bits of each random byte are used.
    pub fn from_random(random: &[u8; CHARACTERS]) -> Self {
        let mut bytes = [0; COOKIE_LENGTH];
        for (byte, seed) in bytes.iter_mut().zip(random) {
            *byte = ALPHABET[usize::from(seed % 32)];
        }
        Cookie(bytes)
    }

    /// Reads what a peer sent.
    ///
    /// Versions before 3.2 wrote a host name and numbers, possibly shorter than 36 characters, so
    /// any printable text counts; what follows its zero byte is kept, because peers compare it.
    pub fn from_wire(bytes: [u8; COOKIE_LENGTH]) -> Result<Self, CookieError> {
        let end = bytes.iter().position(|byte| *byte == 0);
        let text = end.and_then(|end| bytes.get(..end)).unwrap_or_default();
        if text.is_empty() {
            return Err(CookieError::NoText);
        }
        let wrong = text.iter().position(|byte| !byte.is_ascii_graphic());
        match wrong.and_then(|position| Some((position, *text.get(position)?))) {
            Some((position, value)) => Err(CookieError::Unprintable { value, position }),
            None => Ok(Cookie(bytes)),
        }
    }

    /// The bytes as they are sent.
    pub fn as_bytes(&self) -> &[u8; COOKIE_LENGTH] {
        &self.0
    }
}

impl fmt::Debug for Cookie {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = self.0.split(|byte| *byte == 0).next().unwrap_or_default();
        write!(f, "Cookie({})", String::from_utf8_lossy(text))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn random_bytes_become_the_whole_alphabet() {
        let mut random = [0; CHARACTERS];
        for (i, byte) in random.iter_mut().enumerate() {
            *byte = (i as u8).wrapping_add(224);
        }
        let cookie = Cookie::from_random(&random);
        assert_eq!(&cookie.0[..32], ALPHABET);
        assert_eq!(cookie.0[36], 0);
    }

    #[test]
    fn an_old_short_cookie_is_taken() {
        let mut bytes = [0xAA; COOKIE_LENGTH];
        bytes[..12].copy_from_slice(b"host.12.345\0");
        let cookie = Cookie::from_wire(bytes).unwrap();
        assert_eq!(format!("{cookie:?}"), "Cookie(host.12.345)");
    }

    #[test]
    fn garbage_is_refused_with_its_place() {
        let mut bytes = *Cookie::from_random(&[7; CHARACTERS]).as_bytes();
        bytes[5] = 0x01;
        let wrong = CookieError::Unprintable {
            value: 1,
            position: 5,
        };
        assert_eq!(Cookie::from_wire(bytes), Err(wrong));
        assert_eq!(
            Cookie::from_wire([b'a'; COOKIE_LENGTH]),
            Err(CookieError::NoText)
        );
        assert_eq!(
            Cookie::from_wire([0; COOKIE_LENGTH]),
            Err(CookieError::NoText)
        );
    }
}
