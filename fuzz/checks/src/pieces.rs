//! Any pieces in any order, as a hostile peer may send and confirm them: the tree of a file and the
//! ledger keep their books.

use copy_protocol::Range;
use files::{HashTree, PieceHasher, legal_piece};
use transfer::{Acked, Ledger};

/// The check of this target.
pub fn check(bytes: &[u8]) {
    let mut words = bytes.chunks_exact(4).map(|four| {
        let four = [four[0], four[1], four[2], four[3]];
        // Mostly near a boundary of chunks or pieces, where mistakes live.
        let number = u32::from_le_bytes(four);
        (u64::from(number >> 8 & 0x3F) << (number & 31)).wrapping_add(u64::from(number >> 30))
    });
    let Some(size) = words.next() else {
        return;
    };
    let wanted: Vec<(u64, u64)> = (0..words.next().unwrap_or(0) % 4)
        .filter_map(|_| Some((words.next()?, words.next()?)))
        .collect();
    let mut tree = HashTree::new(size);
    let mut ledger = Ledger::default();
    let mut left = ledger.add(0, size, &wanted);
    assert!(left <= size);
    while let (Some(start), Some(length)) = (words.next(), words.next()) {
        let added = tree.insert(start, length, [0; 32]);
        assert!(added.is_ok() || !legal_piece(size, start, length));
        let mut hasher = PieceHasher::new(size, start, length);
        hasher.update(&[0; 2048]);
        let _ = hasher.finish();
        left -= work(&mut ledger, size, start, length);
        assert_eq!(ledger.left(), left);
    }
    let missing: u64 = tree
        .missing(usize::MAX)
        .iter()
        .map(|one| one.end - one.start)
        .sum();
    assert_eq!(tree.present() + missing, size);
}

/// One thing that happens to the ledger; returns the bytes that were confirmed.
fn work(ledger: &mut Ledger, size: u64, start: u64, length: u64) -> u64 {
    let stream = (start % 3) as u32;
    let range = Range {
        file: 0,
        start,
        length,
    };
    let confirmed = match start % 7 {
        0 => {
            ledger.over(stream);
            return 0;
        }
        1 => {
            ledger.all_added();
            return 0;
        }
        2 => {
            ledger.damaged(range);
            return 0;
        }
        3 => range,
        _ => match ledger.take(stream, length) {
            Some(taken) => {
                let piece = taken.piece;
                assert!(legal_piece(size, piece.start, piece.length));
                ledger.read(piece, piece.length);
                if start.is_multiple_of(2) {
                    return 0;
                }
                piece
            }
            None => range,
        },
    };
    match ledger.acked(confirmed) {
        Acked::Counted { .. } => confirmed.length,
        Acked::Late | Acked::NeverSent => 0,
    }
}
