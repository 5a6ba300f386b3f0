//! How a stream shows to which conversation it belongs.

use std::collections::BTreeSet;
use std::fmt;

use thiserror::Error;

use super::secret::{Exporter, KEY_LENGTH, Key, Proof};

/// Bytes of a greeting.
pub const GREETING_LENGTH: usize = 16 + KEY_LENGTH;
/// What a stream without TLS begins with, so that the port's owner can tell it from everything
/// else.
pub const GREETING_MAGIC: [u8; 4] = *b"TLs1";

const CONTEXT: &str = "trunkline copy 1 session";
/// Numbers kept out of order before the lowest are given up.
const NUMBERS_MAX: usize = 4096;

/// Known to the two ends of one control connection; every stream of theirs shows that it knows it
/// too.
#[derive(Clone)]
pub struct SessionKey(Key);

/// The first bytes of a stream: inside TLS, or in the clear when the data are.
///
/// | bytes | what |
/// |---|---|
/// | 0..4 | magic `TLs1` |
/// | 4..12 | session, most significant byte first |
/// | 12..16 | number of the stream, likewise |
/// | 16..48 | keyed hash over both and what TLS exported on this connection |
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Greeting {
    /// Which conversation: the number that the far end gave it when it was opened.
    pub session: u64,
    /// Which stream; each number is used once.
    pub number: u32,
    proof: Proof,
}

/// Bytes that do not begin a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error("bytes {0:02x?} do not begin a stream")]
pub struct GreetingError(pub [u8; 4]);

impl SessionKey {
    /// Follows from the secret and the control connection, so that no other conversation has it.
    pub(super) fn new(key: &Key, exporter: &Exporter) -> Self {
        SessionKey(key.derive(CONTEXT, exporter))
    }

    /// The greeting of a stream. `exporter` is that of the stream's own TLS connection; `None` when
    /// it has no TLS.
    pub fn greet(&self, session: u64, number: u32, exporter: Option<&Exporter>) -> Greeting {
        Greeting {
            session,
            number,
            proof: self.proof(session, number, exporter),
        }
    }

    /// Whether this greeting was made with this key on this connection. That its number is new is
    /// for [`StreamNumbers`] to say: without TLS an observer can repeat a greeting.
    pub fn accepts(&self, greeting: &Greeting, exporter: Option<&Exporter>) -> bool {
        self.proof(greeting.session, greeting.number, exporter) == greeting.proof
    }

    fn proof(&self, session: u64, number: u32, exporter: Option<&Exporter>) -> Proof {
        let exporter = exporter.unwrap_or(&[0; KEY_LENGTH]);
        let (session, number) = (session.to_be_bytes(), number.to_be_bytes());
        self.0.proof(&[b"stream", &session, &number, exporter])
    }
}

impl fmt::Debug for SessionKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SessionKey(..)")
    }
}

impl Greeting {
    /// Its bytes.
    pub fn encode(&self) -> [u8; GREETING_LENGTH] {
        let mut bytes = [0; GREETING_LENGTH];
        bytes[..4].copy_from_slice(&GREETING_MAGIC);
        bytes[4..12].copy_from_slice(&self.session.to_be_bytes());
        bytes[12..16].copy_from_slice(&self.number.to_be_bytes());
        bytes[16..].copy_from_slice(self.proof.as_bytes());
        bytes
    }

    /// Reads the bytes; nothing is proved by that.
    ///
    /// # Errors
    /// When they begin otherwise.
    pub fn decode(bytes: &[u8; GREETING_LENGTH]) -> Result<Self, GreetingError> {
        let (magic, rest) = split::<4>(bytes);
        let (session, rest) = split::<8>(rest);
        let (number, rest) = split::<4>(rest);
        let (proof, _) = split::<KEY_LENGTH>(rest);
        match magic == GREETING_MAGIC {
            true => Ok(Greeting {
                session: u64::from_be_bytes(session),
                number: u32::from_be_bytes(number),
                proof: Proof::from_bytes(proof),
            }),
            false => Err(GreetingError(magic)),
        }
    }
}

fn split<const N: usize>(bytes: &[u8]) -> ([u8; N], &[u8]) {
    let mut head = [0; N];
    let (first, rest) = bytes.split_at(N.min(bytes.len()));
    head[..first.len()].copy_from_slice(first);
    (head, rest)
}

/// Which stream numbers were used, in bounded memory: far below the highest, all count as used.
/// ```
/// use copy_protocol::StreamNumbers;
/// let mut numbers = StreamNumbers::default();
/// assert!(numbers.take(1) && numbers.take(0));
/// assert!(!numbers.take(1));
/// ```
#[derive(Debug, Default)]
pub struct StreamNumbers {
    /// All below are used.
    floor: u64,
    used: BTreeSet<u32>,
}

impl StreamNumbers {
    /// Uses `number`; `false` where it was used before.
    pub fn take(&mut self, number: u32) -> bool {
        if u64::from(number) < self.floor || !self.used.insert(number) {
            return false;
        }
        while let Some(first) = self.used.first().copied() {
            if u64::from(first) > self.floor && self.used.len() <= NUMBERS_MAX {
                break;
            }
            self.used.pop_first();
            self.floor = u64::from(first) + 1;
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Secret;

    fn key(fill: u8) -> SessionKey {
        SessionKey::new(&Secret::new([fill; 32]).key(), &[9; 32])
    }

    #[test]
    fn a_greeting_counts_on_its_own_connection_alone() {
        let greeting = key(1).greet(5, 3, Some(&[4; 32]));
        let heard = Greeting::decode(&greeting.encode()).unwrap();
        assert_eq!(heard, greeting);
        assert!(key(1).accepts(&heard, Some(&[4; 32])));
        assert!(
            !key(1).accepts(&heard, Some(&[5; 32])),
            "another connection"
        );
        assert!(!key(1).accepts(&heard, None), "without TLS");
        assert!(!key(2).accepts(&heard, Some(&[4; 32])), "another secret");
        let other = Greeting { number: 4, ..heard };
        assert!(!key(1).accepts(&other, Some(&[4; 32])), "another number");
    }

    #[test]
    fn every_bit_of_a_greeting_counts() {
        let greeting = key(1).greet(5, 3, None).encode();
        for bit in 0..GREETING_LENGTH * 8 {
            let mut bytes = greeting;
            bytes[bit / 8] ^= 1 << (bit % 8);
            let accepted = Greeting::decode(&bytes).is_ok_and(|one| key(1).accepts(&one, None));
            assert!(!accepted, "bit {bit}");
        }
    }

    #[test]
    fn a_number_serves_once_and_memory_stays_bounded() {
        let mut numbers = StreamNumbers::default();
        assert!(numbers.take(u32::MAX));
        for number in (1..40_000).step_by(2) {
            assert!(numbers.take(number), "{number}");
            assert!(!numbers.take(number), "{number} again");
            assert!(numbers.used.len() <= NUMBERS_MAX);
        }
        assert!(!numbers.take(2), "far below the highest");
        assert!(!numbers.take(u32::MAX));
    }
}
