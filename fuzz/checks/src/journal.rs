//! Any bytes as the journal of an unfinished file; and any notes in a journal of ours that was
//! damaged: what counts is whole, within the file, and written again as it was.

use files::store::Piece;
use files::store::testing::{JournalRead, journal_of, read_journal};

use crate::words::Words;

/// Bytes of a header and of a note; see `transfer`'s `store::journal`.
const HEADER: usize = 32;
const NOTE: usize = 48;

/// The check of this target.
pub fn check(bytes: &[u8]) {
    if let Some(read) = read_journal(bytes) {
        holds(&read, bytes);
    }
    planned(&mut Words::new(bytes));
}

/// Sums that guard each note are not guessed, so here they are right until something is changed.
fn planned(words: &mut Words<'_>) {
    let damage = words.number();
    let (size, modified) = (words.number() >> (words.byte() & 63), words.number() as i64);
    let version = words.number();
    let mut pieces = Vec::new();
    while !words.is_empty() && pieces.len() < 64 {
        let offset = u64::from(words.byte()) << (words.byte() & 63);
        let length = u32::from(words.byte()) << (words.byte() & 31);
        let hash = [words.byte(); 32];
        pieces.push(Piece {
            offset,
            length,
            hash,
        });
    }
    let mut journal = journal_of(size, modified, version, &pieces);
    let untouched = journal.clone();
    if damage & 1 == 1 {
        let at = (damage >> 8) as usize % journal.len();
        journal[at] ^= (damage >> 1) as u8 & 0x7F;
    }
    if damage & 0x8000_0000_0000_0000 != 0 {
        journal.truncate((damage >> 32) as usize & 0xFFFF);
    }
    let Some(read) = read_journal(&journal) else {
        assert!(
            journal.get(..HEADER) != untouched.get(..HEADER),
            "a whole header"
        );
        return;
    };
    holds(&read, &journal);
    assert_eq!((read.size, read.modified_nanoseconds), (size, modified));
    assert!(pieces.starts_with(&read.pieces), "a note that nobody wrote");
}

fn holds(read: &JournalRead, journal: &[u8]) {
    for piece in &read.pieces {
        let end = piece.offset.checked_add(piece.length.into());
        assert!(piece.length > 0 && end.is_some_and(|end| end <= read.size));
    }
    let again = journal_of(
        read.size,
        read.modified_nanoseconds,
        read.version,
        &read.pieces,
    );
    assert!(journal.starts_with(&again));
    assert_eq!(again.len(), HEADER + read.pieces.len() * NOTE);
}
