//! What stands before the bytes of a block on a stream.

use super::PipeViolation;

/// Bytes of a header.
pub const BLOCK_HEADER_LENGTH: usize = 16;
/// Most bytes of a block.
pub const BLOCK_MAX: u32 = 1 << 20;

const MAGIC: [u8; 4] = *b"TLb0";

/// What stands before the bytes of a block.
///
/// | bytes | what |
/// |---|---|
/// | 0..4 | magic `TLb0` |
/// | 4..12 | offset in the whole, most significant byte first |
/// | 12..16 | length, likewise |
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BlockHeader {
    /// Its first byte in the whole.
    pub offset: u64,
    /// How many bytes follow, at least one.
    pub length: u32,
}

impl BlockHeader {
    /// Its bytes.
    pub fn encode(&self) -> [u8; BLOCK_HEADER_LENGTH] {
        let mut bytes = [0; BLOCK_HEADER_LENGTH];
        bytes[..4].copy_from_slice(&MAGIC);
        bytes[4..12].copy_from_slice(&self.offset.to_be_bytes());
        bytes[12..].copy_from_slice(&self.length.to_be_bytes());
        bytes
    }

    /// Reads the bytes.
    ///
    /// ```
    /// use copy_protocol::pipe::BlockHeader;
    /// let header = BlockHeader { offset: 1 << 33, length: 7 };
    /// assert_eq!(BlockHeader::decode(&header.encode()), Ok(header));
    /// ```
    ///
    /// # Errors
    /// When they are none, or the length is out of bounds.
    pub fn decode(bytes: &[u8; BLOCK_HEADER_LENGTH]) -> Result<Self, PipeViolation> {
        let [a, b, c, d, rest @ ..] = *bytes;
        if [a, b, c, d] != MAGIC {
            return Err(PipeViolation::NoBlock([a, b, c, d]));
        }
        let [o0, o1, o2, o3, o4, o5, o6, o7, l0, l1, l2, l3] = rest;
        let length = u32::from_be_bytes([l0, l1, l2, l3]);
        match (1..=BLOCK_MAX).contains(&length) {
            true => Ok(BlockHeader {
                offset: u64::from_be_bytes([o0, o1, o2, o3, o4, o5, o6, o7]),
                length,
            }),
            false => Err(PipeViolation::Length(length)),
        }
    }
}
