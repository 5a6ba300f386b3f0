//! What goes over a stream: pieces of files, each with its header before it and its hash behind it.

mod map;

use thiserror::Error;

use super::FileId;

pub use map::{DataMap, HOLE_BLOCK};

/// Most bytes of a piece, before compression.
pub const PIECE_MAX: u32 = 4 << 20;
/// Most bytes of a piece that is compressed: its receiver needs room for it twice, for each stream.
pub const PACKED_MAX: u32 = 1 << 20;
/// Bytes of a header.
pub const HEADER_LENGTH: usize = 24;
/// Bytes of a hash.
pub const HASH_LENGTH: usize = 32;
/// In the place of the hash of a hole, which its sender need not compute.
pub const NO_HASH: [u8; HASH_LENGTH] = [0; HASH_LENGTH];

/// How the bytes of a piece lie on the stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Coding {
    /// As they are in the file.
    Raw,
    /// One Zstandard frame (RFC 8878).
    Zstd,
    /// Not at all: the whole piece is a hole, and reads as zeros.
    Hole,
    /// A [`DataMap`] and the blocks that are data, one behind the other, as they are in the file.
    Sparse,
    /// A [`DataMap`] and one Zstandard frame of the blocks that are data.
    SparseZstd,
    /// Not at all: the receiver may have the same bytes at the same place of an older version of
    /// the file. It answers that the piece is damaged where it has not.
    Older,
    /// As a recipe: bytes that an older version of the file has at other places, and those between
    /// them. The receiver answers that the piece is damaged where its older version has others.
    Moved,
}

impl Coding {
    /// Whether a [`DataMap`] comes before the bytes.
    pub const fn has_map(self) -> bool {
        matches!(self, Coding::Sparse | Coding::SparseZstd)
    }

    /// Most bytes of a piece that lies so.
    const fn length_max(self) -> u32 {
        match self {
            Coding::Raw | Coding::Hole | Coding::Sparse => PIECE_MAX,
            Coding::Zstd | Coding::SparseZstd | Coding::Older | Coding::Moved => PACKED_MAX,
        }
    }
}

/// What a piece is. Behind it come `wire_length` bytes, then the [seal](PieceHeader::seal) of 32
/// bytes.
///
/// All numbers have their most significant byte first:
///
/// | bytes | what |
/// |---|---|
/// | 0..4 | `TLp` and the coding: `0` raw, `1` zstd, `2` hole, `3` sparse, `4` both, `5` older, |
/// |      | `6` moved |
/// | 4..8 | file |
/// | 8..16 | offset in the file |
/// | 16..20 | length in the file |
/// | 20..24 | length on the stream |
///
/// The seal covers the header and the hash of the `length` bytes of the file. That hash is the
/// chaining value of these bytes at this offset in the file's BLAKE3 tree, so that the digest of
/// the file follows from those of its pieces; where the piece is the whole file, it is the digest
/// itself. The bytes of a hole are known: [`NO_HASH`] stands for the hash.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct PieceHeader {
    /// Which file.
    pub file: FileId,
    /// First byte.
    pub offset: u64,
    /// Bytes of the file: 1 to [`PIECE_MAX`], or to [`PACKED_MAX`] where they are compressed.
    pub length: u32,
    /// Bytes on the stream, the map included.
    pub wire_length: u32,
    /// How they lie there.
    pub coding: Coding,
}

/// A header that cannot be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum PieceError {
    /// Does not begin as a piece does.
    #[error("bytes {0:02x?} do not begin a piece")]
    Magic([u8; 4]),
    /// Empty or too long.
    #[error("a piece of {0} bytes is not between 1 and {PIECE_MAX}, or {PACKED_MAX} compressed")]
    Length(u32),
    /// Length on the stream does not fit the length in the file.
    #[error("{wire} bytes on the stream cannot be {length} bytes of a file")]
    WireLength {
        /// On the stream.
        wire: u32,
        /// In the file.
        length: u32,
    },
    /// Not every bit of it has a block, or there is no hole or no data.
    #[error("a map of {0} bytes with holes does not fit them")]
    Map(u32),
    /// Beyond the end of any file.
    #[error("a piece of {length} bytes at {offset} ends beyond any file")]
    Offset {
        /// First byte.
        offset: u64,
        /// Bytes.
        length: u32,
    },
}

impl PieceHeader {
    /// As it goes over the stream.
    pub fn encode(&self) -> [u8; HEADER_LENGTH] {
        let mut bytes = [0; HEADER_LENGTH];
        let coding = match self.coding {
            Coding::Raw => b'0',
            Coding::Zstd => b'1',
            Coding::Hole => b'2',
            Coding::Sparse => b'3',
            Coding::SparseZstd => b'4',
            Coding::Older => b'5',
            Coding::Moved => b'6',
        };
        bytes[..4].copy_from_slice(&[b'T', b'L', b'p', coding]);
        bytes[4..8].copy_from_slice(&self.file.to_be_bytes());
        bytes[8..16].copy_from_slice(&self.offset.to_be_bytes());
        bytes[16..20].copy_from_slice(&self.length.to_be_bytes());
        bytes[20..24].copy_from_slice(&self.wire_length.to_be_bytes());
        bytes
    }

    /// What shows that header and bytes arrived as they were sent. The header is part of it:
    /// without encryption, a flipped bit of it would put right bytes into a wrong file.
    ///
    /// * `hash`: of the bytes of the file.
    pub fn seal(&self, hash: &[u8; HASH_LENGTH]) -> [u8; HASH_LENGTH] {
        let mut hasher = blake3::Hasher::new();
        hasher.update(&self.encode());
        hasher.update(hash);
        *hasher.finalize().as_bytes()
    }

    /// Reads and checks what came over the stream.
    ///
    /// # Errors
    /// When it is no header, or one of a piece that cannot be.
    pub fn decode(bytes: &[u8; HEADER_LENGTH]) -> Result<Self, PieceError> {
        let word = |at: usize| {
            let four = [bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]];
            u32::from_be_bytes(four)
        };
        let magic = [bytes[0], bytes[1], bytes[2], bytes[3]];
        let coding = match &magic {
            b"TLp0" => Coding::Raw,
            b"TLp1" => Coding::Zstd,
            b"TLp2" => Coding::Hole,
            b"TLp3" => Coding::Sparse,
            b"TLp4" => Coding::SparseZstd,
            b"TLp5" => Coding::Older,
            b"TLp6" => Coding::Moved,
            _ => return Err(PieceError::Magic(magic)),
        };
        let header = PieceHeader {
            file: word(4),
            offset: u64::from(word(8)) << 32 | u64::from(word(12)),
            length: word(16),
            wire_length: word(20),
            coding,
        };
        header.check().map(|()| header)
    }

    fn check(&self) -> Result<(), PieceError> {
        if !(1..=self.coding.length_max()).contains(&self.length) {
            return Err(PieceError::Length(self.length));
        }
        if !self.wire_length_fits() {
            return Err(PieceError::WireLength {
                wire: self.wire_length,
                length: self.length,
            });
        }
        let end = self.offset.checked_add(u64::from(self.length));
        match end.is_some_and(|end| i64::try_from(end).is_ok()) {
            true => Ok(()),
            false => Err(PieceError::Offset {
                offset: self.offset,
                length: self.length,
            }),
        }
    }

    fn wire_length_fits(&self) -> bool {
        let map = match self.coding.has_map() {
            true => DataMap::size(self.length),
            false => 0,
        };
        let Some(bytes) = self.wire_length.checked_sub(map) else {
            return false;
        };
        match self.coding {
            Coding::Raw => bytes == self.length,
            Coding::Hole | Coding::Older => bytes == 0,
            Coding::Zstd | Coding::Sparse | Coding::SparseZstd | Coding::Moved => {
                (1..self.length).contains(&bytes)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PIECE: PieceHeader = PieceHeader {
        file: 7,
        offset: 1 << 40,
        length: 1 << 20,
        wire_length: 1 << 20,
        coding: Coding::Raw,
    };

    #[test]
    fn a_header_comes_back() {
        assert_eq!(PieceHeader::decode(&PIECE.encode()), Ok(PIECE));
        for coding in [Coding::Zstd, Coding::Moved] {
            let small = PieceHeader {
                coding,
                wire_length: 17,
                ..PIECE
            };
            assert_eq!(PieceHeader::decode(&small.encode()), Ok(small));
        }
        for coding in [Coding::Hole, Coding::Older] {
            let empty = PieceHeader {
                coding,
                wire_length: 0,
                ..PIECE
            };
            assert_eq!(PieceHeader::decode(&empty.encode()), Ok(empty));
        }
        for coding in [Coding::Sparse, Coding::SparseZstd] {
            let sparse = PieceHeader {
                coding,
                wire_length: 32 + 4096,
                ..PIECE
            };
            assert_eq!(PieceHeader::decode(&sparse.encode()), Ok(sparse));
        }
    }

    #[test]
    fn a_seal_tells_pieces_apart() {
        let other = PieceHeader { file: 8, ..PIECE };
        assert_ne!(PIECE.seal(&[1; HASH_LENGTH]), other.seal(&[1; HASH_LENGTH]));
        assert_ne!(PIECE.seal(&[1; HASH_LENGTH]), PIECE.seal(&[2; HASH_LENGTH]));
    }

    #[test]
    fn pieces_that_cannot_be_are_refused() {
        let wrong = [
            PieceHeader { length: 0, ..PIECE },
            PieceHeader {
                length: PIECE_MAX + 1,
                wire_length: PIECE_MAX + 1,
                ..PIECE
            },
            PieceHeader {
                length: PACKED_MAX + 1,
                wire_length: 17,
                coding: Coding::Zstd,
                ..PIECE
            },
            PieceHeader {
                wire_length: 5,
                ..PIECE
            },
            PieceHeader {
                coding: Coding::Moved,
                ..PIECE
            },
            PieceHeader {
                length: PACKED_MAX + 1,
                wire_length: 17,
                coding: Coding::Moved,
                ..PIECE
            },
            PieceHeader {
                coding: Coding::Hole,
                ..PIECE
            },
            PieceHeader {
                coding: Coding::Older,
                length: PACKED_MAX + 1,
                wire_length: 0,
                ..PIECE
            },
            PieceHeader {
                coding: Coding::Hole,
                length: PIECE_MAX + 1,
                wire_length: 0,
                ..PIECE
            },
            PieceHeader {
                coding: Coding::Hole,
                offset: i64::MAX as u64,
                wire_length: 0,
                ..PIECE
            },
            // Its map has 32 bytes.
            PieceHeader {
                coding: Coding::Sparse,
                wire_length: 32,
                ..PIECE
            },
            PieceHeader {
                coding: Coding::Sparse,
                wire_length: 32 + (1 << 20),
                ..PIECE
            },
            PieceHeader {
                coding: Coding::SparseZstd,
                length: 2 << 20,
                wire_length: 100,
                ..PIECE
            },
            PieceHeader {
                offset: u64::MAX,
                ..PIECE
            },
            PieceHeader {
                offset: i64::MAX as u64,
                ..PIECE
            },
        ];
        for piece in wrong {
            assert!(PieceHeader::decode(&piece.encode()).is_err(), "{piece:?}");
        }
        assert!(PieceHeader::decode(&[0; HEADER_LENGTH]).is_err());
    }
}
