//! The journal of a file: what of it has arrived, so that a copy can stop at any moment.
//!
//! All numbers have their least significant byte first.
//!
//! | bytes | header |
//! |---|---|
//! | 0..4 | `TLj2` |
//! | 4..12 | size of the source |
//! | 12..20 | its time of modification in nanoseconds since 1970 |
//! | 20..28 | which version of it this is |
//! | 28..32 | first bytes of the BLAKE3 hash of those before |
//!
//! | bytes | each piece behind it |
//! |---|---|
//! | 0..8 | offset |
//! | 8..12 | length |
//! | 12..44 | chaining value |
//! | 44..48 | first bytes of the BLAKE3 hash of those before, under this journal's header |
//!
//! A note that is not whole, with all behind it, does not count.

use super::Piece;
use crate::tree::{PIECE_MIN, legal_piece};

/// Bytes of a header.
pub(super) const HEADER: usize = 32;
/// Most bytes of notes that are read: those of a file of 180 GB in the smallest pieces. What is
/// behind them is sent again.
const NOTES_MAX: u64 = 512 << 20;
/// Bytes of a note.
pub(super) const NOTE: usize = 48;

/// Which file a journal is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Header {
    pub size: u64,
    pub modified_nanoseconds: i64,
    pub version: u64,
}

impl Header {
    pub fn encode(&self) -> [u8; HEADER] {
        let mut bytes = [0; HEADER];
        bytes[..4].copy_from_slice(b"TLj2");
        bytes[4..12].copy_from_slice(&self.size.to_le_bytes());
        bytes[12..20].copy_from_slice(&self.modified_nanoseconds.to_le_bytes());
        bytes[20..28].copy_from_slice(&self.version.to_le_bytes());
        let check = blake3::hash(&bytes[..28]);
        bytes[28..].copy_from_slice(&check.as_bytes()[..4]);
        bytes
    }

    /// `None` where it is none of ours, or not whole.
    pub fn decode(bytes: &[u8]) -> Option<Self> {
        let (start, rest) = bytes.split_first_chunk::<4>()?;
        let (size, rest) = rest.split_first_chunk::<8>()?;
        let (modified, rest) = rest.split_first_chunk::<8>()?;
        let (version, _) = rest.split_first_chunk::<8>()?;
        let header = Header {
            size: u64::from_le_bytes(*size),
            modified_nanoseconds: i64::from_le_bytes(*modified),
            version: u64::from_le_bytes(*version),
        };
        let is_whole = start == b"TLj2" && bytes.starts_with(&header.encode());
        is_whole.then_some(header)
    }

    /// So many bytes of a journal may be worth reading: notes of all pieces, each of which may have
    /// been sent twice.
    pub fn length_max(&self) -> u64 {
        let pieces = self.size / PIECE_MIN + 1;
        let notes = pieces.saturating_mul(2 * NOTE as u64).min(NOTES_MAX);
        HEADER as u64 + notes
    }

    /// A note as it stands in the journal with this header.
    pub fn note(&self, piece: &Piece) -> [u8; NOTE] {
        let mut bytes = [0; NOTE];
        bytes[..8].copy_from_slice(&piece.offset.to_le_bytes());
        bytes[8..12].copy_from_slice(&piece.length.to_le_bytes());
        bytes[12..44].copy_from_slice(&piece.hash);
        let mut hasher = blake3::Hasher::new();
        hasher.update(&self.encode()).update(&bytes[..44]);
        bytes[44..].copy_from_slice(&hasher.finalize().as_bytes()[..4]);
        bytes
    }

    /// The whole notes behind a header, up to the first that is not whole or cannot be.
    pub fn pieces(&self, notes: &[u8]) -> Vec<Piece> {
        let whole = notes.chunks_exact(NOTE);
        whole.map_while(|bytes| self.piece(bytes)).collect()
    }

    fn piece(&self, bytes: &[u8]) -> Option<Piece> {
        let (offset, rest) = bytes.split_first_chunk::<8>()?;
        let (length, rest) = rest.split_first_chunk::<4>()?;
        let (hash, _) = rest.split_first_chunk::<32>()?;
        let piece = Piece {
            offset: u64::from_le_bytes(*offset),
            length: u32::from_le_bytes(*length),
            hash: *hash,
        };
        let is_piece = legal_piece(self.size, piece.offset, piece.length.into());
        (is_piece && self.note(&piece) == bytes).then_some(piece)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const HEADER_1: Header = Header {
        size: 1 << 30,
        modified_nanoseconds: -5,
        version: 7,
    };

    fn piece(index: u64) -> Piece {
        Piece {
            offset: index << 16,
            length: 1 << 16,
            hash: [index as u8; 32],
        }
    }

    fn journal(pieces: &[Piece]) -> Vec<u8> {
        let mut bytes = HEADER_1.encode().to_vec();
        for piece in pieces {
            bytes.extend(HEADER_1.note(piece));
        }
        bytes
    }

    #[test]
    fn a_journal_cut_anywhere_keeps_its_whole_notes() {
        let pieces: Vec<Piece> = (0..9).map(piece).collect();
        let bytes = journal(&pieces);
        for length in 0..=bytes.len() {
            let cut = &bytes[..length];
            let Some(header) = Header::decode(cut) else {
                assert!(length < HEADER, "{length}");
                continue;
            };
            let whole = (length - HEADER) / NOTE;
            assert_eq!(header, HEADER_1);
            assert_eq!(header.pieces(&cut[HEADER..]), pieces[..whole], "{length}");
        }
    }

    #[test]
    fn notes_of_another_journal_do_not_count() {
        let other = Header {
            modified_nanoseconds: 6,
            ..HEADER_1
        };
        assert_eq!(other.pieces(&HEADER_1.note(&piece(3))), []);
    }

    #[test]
    fn a_piece_beyond_the_file_does_not_count() {
        let beyond = Piece {
            offset: (1 << 30) - 1,
            ..piece(0)
        };
        assert_eq!(HEADER_1.pieces(&HEADER_1.note(&beyond)), []);
        let endless = Piece {
            offset: u64::MAX,
            ..piece(0)
        };
        assert_eq!(HEADER_1.pieces(&HEADER_1.note(&endless)), []);
    }

    proptest! {
        #[test]
        fn a_bit_that_flipped_ends_the_journal_there(bit in 0..(HEADER + 5 * NOTE) * 8) {
            let pieces: Vec<Piece> = (0..5).map(piece).collect();
            let mut bytes = journal(&pieces);
            bytes[bit / 8] ^= 1 << (bit % 8);
            let read = Header::decode(&bytes).map(|header| header.pieces(&bytes[HEADER..]));
            match (bit / 8).checked_sub(HEADER) {
                None => prop_assert_eq!(read, None),
                Some(byte) => prop_assert_eq!(read.unwrap(), &pieces[..byte / NOTE]),
            }
        }
    }
}
