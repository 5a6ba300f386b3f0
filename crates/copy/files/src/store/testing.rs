//! Journals and kills for the tests of other crates (feature `testing`).

use super::journal::{HEADER, Header};
use super::{Piece, Store};

/// What a journal says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JournalRead {
    /// Size of the source.
    pub size: u64,
    /// When the source was changed, in nanoseconds since 1970.
    pub modified_nanoseconds: i64,
    /// Which version of it.
    pub version: u64,
    /// The notes that count.
    pub pieces: Vec<Piece>,
}

/// Reads a whole journal; `None` where its header is none of ours.
pub fn read_journal(bytes: &[u8]) -> Option<JournalRead> {
    let header = Header::decode(bytes)?;
    Some(JournalRead {
        size: header.size,
        modified_nanoseconds: header.modified_nanoseconds,
        version: header.version,
        pieces: header.pieces(bytes.get(HEADER..)?),
    })
}

/// A journal with these notes, whether they can be true or not.
pub fn journal_of(size: u64, modified_nanoseconds: i64, version: u64, pieces: &[Piece]) -> Vec<u8> {
    let header = Header {
        size,
        modified_nanoseconds,
        version,
    };
    let notes = pieces.iter().flat_map(|piece| header.note(piece));
    header.encode().into_iter().chain(notes).collect()
}

impl Store {
    /// Its process is killed: all locks go, and nothing is cleared up.
    pub fn killed(&self) {
        self.open_parts.let_all_go();
    }
}
