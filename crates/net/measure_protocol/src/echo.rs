//! Echo datagrams that measure round trips during a test.
//!
//! 32 bytes, numbers with the most significant byte first: magic (4), kind (1), version (1), zero
//! (2), token (8), sequence number (8), the sender's clock in nanoseconds (8). A reply is the
//! request with another kind: it is as long, so nothing is amplified, and never answered, so two
//! servers cannot be talked into a loop.
//!
//! A request of kind 3 may be followed by padding, which finds out what size of packet passes. Its
//! reply is the short one of any request, so that a way back with a smaller limit does not look
//! like one on the way there. Servers that do not know the kind ignore it.

use thiserror::Error;

use crate::EchoToken;

/// Length of every echo datagram.
pub const ECHO_LENGTH: usize = 32;

const MAGIC: [u8; 4] = *b"TLe\x01";
const VERSION: u8 = 1;
/// Where token and sequence number are over.
const SEQUENCE_END: usize = 24;
/// The kind of a request with padding behind it.
const PADDED: u8 = 3;

/// Which of the two directions a datagram travels.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EchoKind {
    /// From the prober; wants a reply.
    Request,
    /// From the server; wants nothing.
    Reply,
}

/// One echo datagram.
///
/// ```
/// use measure_protocol::{EchoToken, echo::{Echo, EchoKind}};
/// let request = Echo::request(EchoToken(7), 42, 1_000_000);
/// let reply = Echo::decode(&request.reply().encode()).unwrap();
/// assert_eq!((reply.kind, reply.sequence), (EchoKind::Reply, 42));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Echo {
    /// Request or reply.
    pub kind: EchoKind,
    /// The test it belongs to.
    pub token: EchoToken,
    /// Counted by the prober.
    pub sequence: u64,
    /// The prober's clock when it sent, in nanoseconds from an origin of its own.
    pub sent_nanos: u64,
}

/// A datagram that is no echo.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum EchoError {
    /// Wrong length.
    #[error("a datagram of {0} bytes is no echo; echoes have 32")]
    Length(usize),
    /// Wrong magic, version or padding.
    #[error("the datagram does not begin like an echo")]
    Magic,
    /// Neither request nor reply.
    #[error("kind {0} is neither an echo request (1) nor a reply (2)")]
    Kind(u8),
}

impl Echo {
    /// A request that leaves now.
    pub fn request(token: EchoToken, sequence: u64, sent_nanos: u64) -> Self {
        Echo {
            kind: EchoKind::Request,
            token,
            sequence,
            sent_nanos,
        }
    }

    /// The reply to this request.
    pub fn reply(self) -> Self {
        Echo {
            kind: EchoKind::Reply,
            ..self
        }
    }

    /// The bytes of this request, padded to `length`.
    ///
    /// ```
    /// use measure_protocol::{EchoToken, echo::Echo};
    /// let request = Echo::request(EchoToken(7), 42, 1_000_000);
    /// let padded = request.encode_padded(1_472);
    /// assert_eq!(padded.len(), 1_472);
    /// assert!(Echo::decode(&padded).is_err());
    /// assert_eq!(Echo::decode_padded(&padded), Ok(request));
    /// ```
    pub fn encode_padded(&self, length: usize) -> Vec<u8> {
        let mut bytes = self.encode().to_vec();
        bytes[4] = PADDED;
        bytes.resize(length.max(ECHO_LENGTH), 0);
        bytes
    }

    /// The bytes to send.
    pub fn encode(&self) -> [u8; ECHO_LENGTH] {
        let kind = match self.kind {
            EchoKind::Request => 1,
            EchoKind::Reply => 2,
        };
        let mut bytes = [0; ECHO_LENGTH];
        bytes[..4].copy_from_slice(&MAGIC);
        bytes[4] = kind;
        bytes[5] = VERSION;
        bytes[8..16].copy_from_slice(&self.token.0.to_be_bytes());
        bytes[16..24].copy_from_slice(&self.sequence.to_be_bytes());
        bytes[24..].copy_from_slice(&self.sent_nanos.to_be_bytes());
        bytes
    }

    /// Reads the front of a padded request; what follows does not matter.
    ///
    /// # Errors
    /// When it is too short, something else, or of another kind.
    pub fn decode_padded(datagram: &[u8]) -> Result<Self, EchoError> {
        let front = datagram.get(..ECHO_LENGTH);
        let mut front = front.ok_or(EchoError::Length(datagram.len()))?.to_vec();
        match front[4] {
            PADDED => front[4] = 1,
            other => return Err(EchoError::Kind(other)),
        }
        Echo::decode(&front)
    }

    /// The sequence number of a request with `token` of which `front` was sent back, as routers do
    /// when they drop a packet: some quote all of it, some only the beginning.
    ///
    /// ```
    /// use measure_protocol::{EchoToken, echo::Echo};
    /// let request = Echo::request(EchoToken(7), 42, 0).encode();
    /// assert_eq!(Echo::quoted(EchoToken(7), &request[..24]), Some(42));
    /// assert_eq!(Echo::quoted(EchoToken(7), &request[..23]), None);
    /// ```
    pub fn quoted(token: EchoToken, front: &[u8]) -> Option<u64> {
        let mut whole = [0; ECHO_LENGTH];
        let (named, _) = front.split_at_checked(SEQUENCE_END)?;
        whole[..SEQUENCE_END].copy_from_slice(named);
        let ours = whole[..4] == MAGIC && number(&whole, 8) == token.0;
        ours.then(|| number(&whole, 16))
    }

    /// Whether a datagram begins as all of this protocol do.
    pub fn begins(datagram: &[u8]) -> bool {
        datagram.starts_with(&MAGIC)
    }

    /// Reads what arrived.
    pub fn decode(datagram: &[u8]) -> Result<Self, EchoError> {
        let bytes = <&[u8; ECHO_LENGTH]>::try_from(datagram);
        let bytes = bytes.map_err(|_| EchoError::Length(datagram.len()))?;
        if bytes[..4] != MAGIC || bytes[5..8] != [VERSION, 0, 0] {
            return Err(EchoError::Magic);
        }
        Ok(Echo {
            kind: match bytes[4] {
                1 => EchoKind::Request,
                2 => EchoKind::Reply,
                other => return Err(EchoError::Kind(other)),
            },
            token: EchoToken(number(bytes, 8)),
            sequence: number(bytes, 16),
            sent_nanos: number(bytes, 24),
        })
    }
}

fn number(bytes: &[u8; ECHO_LENGTH], at: usize) -> u64 {
    let mut eight = [0; 8];
    eight.copy_from_slice(&bytes[at..at + 8]);
    u64::from_be_bytes(eight)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn what_is_encoded_reads_back(token: u64, sequence: u64, sent: u64) {
            let request = Echo::request(EchoToken(token), sequence, sent);
            prop_assert_eq!(Echo::decode(&request.encode()), Ok(request));
            prop_assert_eq!(Echo::decode(&request.reply().encode()), Ok(request.reply()));
        }

        #[test]
        fn arbitrary_datagrams_never_panic(bytes: Vec<u8>) {
            let _ = Echo::decode(&bytes);
            let _ = Echo::decode_padded(&bytes);
        }
    }

    #[test]
    fn request_and_reply_have_the_same_length_but_not_the_same_bytes() {
        let request = Echo::request(EchoToken(1), 2, 3);
        assert_eq!(request.encode().len(), request.reply().encode().len());
        assert_ne!(request.encode(), request.reply().encode());
    }

    #[test]
    fn padding_makes_a_request_of_another_kind() {
        let request = Echo::request(EchoToken(1), 2, 3);
        // Even without a byte of padding, so that no server takes it for an ordinary one.
        assert_eq!(
            Echo::decode(&request.encode_padded(0)),
            Err(EchoError::Kind(3))
        );
        let replied = request.reply().encode();
        assert_eq!(Echo::decode_padded(&replied), Err(EchoError::Kind(2)));
        assert_eq!(
            Echo::decode_padded(&replied[..31]),
            Err(EchoError::Length(31))
        );
    }

    #[test]
    fn wrong_datagrams_are_told_apart() {
        let good = Echo::request(EchoToken(1), 2, 3).encode();
        assert_eq!(Echo::decode(&good[..31]), Err(EchoError::Length(31)));
        let mut bad = good;
        bad[4] = 3;
        assert_eq!(Echo::decode(&bad), Err(EchoError::Kind(3)));
        bad = good;
        bad[0] = b'X';
        assert_eq!(Echo::decode(&bad), Err(EchoError::Magic));
    }
}
