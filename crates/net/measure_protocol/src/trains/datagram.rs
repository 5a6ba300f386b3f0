//! The datagrams of trains.
//!
//! Numbers with the most significant byte first: magic (4), kind (1), version (1), zero (2), token
//! (8), number of the train (4), number of the packet (4). What follows up to the packet's size has
//! no meaning.

use thiserror::Error;

use super::PROBING_VERSION;
use crate::EchoToken;

/// Length of what every datagram begins with.
pub const DATAGRAM_LENGTH: usize = 24;

const MAGIC: [u8; 4] = *b"TLt\x01";

/// What a datagram is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DatagramKind {
    /// From the client: shows the server where it is, and opens the way back.
    Opener,
    /// One packet of a train.
    Packet,
}

/// The beginning of one datagram.
///
/// ```
/// use measure_protocol::EchoToken;
/// use measure_protocol::trains::{Datagram, DatagramKind};
/// let packet = Datagram { kind: DatagramKind::Packet, token: EchoToken(7), train: 2, packet: 99 };
/// let mut bytes = packet.encode().to_vec();
/// bytes.resize(1_472, 0);
/// assert_eq!(Datagram::decode(&bytes), Ok(packet));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Datagram {
    /// What it is for.
    pub kind: DatagramKind,
    /// The session that it belongs to.
    pub token: EchoToken,
    /// The train, counted by the client.
    pub train: u32,
    /// Its place in the train, from 0.
    pub packet: u32,
}

/// A datagram that belongs to no train.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum DatagramError {
    /// Too short.
    #[error("a datagram of {0} bytes is none of a train; those have at least {DATAGRAM_LENGTH}")]
    Length(usize),
    /// Wrong magic, version or padding.
    #[error("the datagram does not begin like one of a train")]
    Magic,
    /// Neither opener nor packet.
    #[error("kind {0} is neither an opener (1) nor a packet (2)")]
    Kind(u8),
}

impl Datagram {
    /// The bytes that it begins with.
    pub fn encode(&self) -> [u8; DATAGRAM_LENGTH] {
        let kind = match self.kind {
            DatagramKind::Opener => 1,
            DatagramKind::Packet => 2,
        };
        let mut bytes = [0; DATAGRAM_LENGTH];
        bytes[..4].copy_from_slice(&MAGIC);
        bytes[4] = kind;
        bytes[5] = PROBING_VERSION as u8;
        bytes[8..16].copy_from_slice(&self.token.0.to_be_bytes());
        bytes[16..20].copy_from_slice(&self.train.to_be_bytes());
        bytes[20..].copy_from_slice(&self.packet.to_be_bytes());
        bytes
    }

    /// Whether a datagram begins as all of this protocol do.
    pub fn begins(datagram: &[u8]) -> bool {
        datagram.starts_with(&MAGIC)
    }

    /// Reads what arrived; its beginning is enough.
    ///
    /// # Errors
    /// When it is something else.
    pub fn decode(datagram: &[u8]) -> Result<Self, DatagramError> {
        let bytes = datagram.first_chunk::<DATAGRAM_LENGTH>();
        let bytes = bytes.ok_or(DatagramError::Length(datagram.len()))?;
        if bytes[..4] != MAGIC || bytes[5..8] != [PROBING_VERSION as u8, 0, 0] {
            return Err(DatagramError::Magic);
        }
        let kind = match bytes[4] {
            1 => DatagramKind::Opener,
            2 => DatagramKind::Packet,
            kind => return Err(DatagramError::Kind(kind)),
        };
        let number = |range: std::ops::Range<usize>| {
            let digits = bytes[range].iter();
            digits.fold(0, |sum, byte| sum << 8 | u64::from(*byte))
        };
        Ok(Datagram {
            kind,
            token: EchoToken(number(8..16)),
            train: number(16..20) as u32,
            packet: number(20..24) as u32,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn packet() -> Datagram {
        Datagram {
            kind: DatagramKind::Packet,
            token: EchoToken(0x0102_0304_0506_0708),
            train: 0x0A0B_0C0D,
            packet: 0xFFFF_FFFE,
        }
    }

    #[test]
    fn every_byte_has_its_place() {
        let bytes = packet().encode();
        assert_eq!(&bytes[..8], b"TLt\x01\x02\x01\0\0");
        assert_eq!(bytes[8..16], [1, 2, 3, 4, 5, 6, 7, 8]);
        assert_eq!(bytes[16..], [10, 11, 12, 13, 255, 255, 255, 254]);
        assert_eq!(Datagram::decode(&bytes), Ok(packet()));
    }

    #[test]
    fn anything_else_is_refused() {
        let bytes = packet().encode();
        assert_eq!(
            Datagram::decode(&bytes[..23]),
            Err(DatagramError::Length(23))
        );
        for position in [0, 1, 2, 3, 5, 6, 7] {
            let mut wrong = bytes;
            wrong[position] ^= 0x40;
            assert_eq!(Datagram::decode(&wrong), Err(DatagramError::Magic));
        }
        let mut wrong = bytes;
        wrong[4] = 3;
        assert_eq!(Datagram::decode(&wrong), Err(DatagramError::Kind(3)));
    }
}
