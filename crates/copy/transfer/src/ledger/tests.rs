//! The ledger: what happens in which order, and that nothing is lost.

use super::*;
use files::PIECE_MIN;

const MIB: u64 = 1 << 20;

fn range(file: FileId, start: u64, length: u64) -> Range {
    Range {
        file,
        start,
        length,
    }
}

fn take(ledger: &mut Ledger, stream: u32, piece_size: u64) -> Range {
    let taken = ledger.take(stream, piece_size).unwrap();
    ledger.read(taken.piece, taken.piece.length);
    taken.piece
}

fn counted(piece: Range, is_last: bool) -> Acked {
    Acked::Counted {
        is_last,
        data: piece.length,
    }
}

#[test]
fn a_confirmed_piece_tells_its_data_without_holes() {
    let mut ledger = Ledger::default();
    ledger.add(0, MIB, &[(0, MIB)]);
    let piece = ledger.take(0, MIB).unwrap().piece;
    ledger.read(piece, 1000);
    // Another stream read it again; the first reading counts.
    ledger.read(piece, 2000);
    let (is_last, data) = (true, 1000);
    assert_eq!(ledger.acked(piece), Acked::Counted { is_last, data });
    assert_eq!(ledger.acked(piece), Acked::Late);
}

#[test]
fn a_large_file_is_cut_in_order_over_all_streams() {
    let mut ledger = Ledger::default();
    ledger.add(0, 10 * MIB, &[(0, 10 * MIB)]);
    let starts: Vec<u64> = (0..10)
        .map(|at| take(&mut ledger, at % 3, MIB).start / MIB)
        .collect();
    assert_eq!(starts, [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
    assert!(
        ledger.take(0, MIB).is_none(),
        "no stream helps while files may come"
    );
    assert_eq!((ledger.left(), ledger.waiting()), (10 * MIB, 0));
}

#[test]
fn a_hole_is_given_out_in_the_longest_pieces_and_some_of_it_at_a_time() {
    let mut ledger = Ledger::default();
    let (size, end) = (1 << 40, (600 << 20) + 5);
    ledger.add(0, size, &[(0, size)]);
    let first = take(&mut ledger, 1, 0);
    assert_eq!(first.length, PIECE_MIN);
    ledger.is_hole(first, end);
    let mut given = vec![first];
    while ledger.has_work() {
        let piece = take(&mut ledger, 1, 0);
        ledger.is_hole(piece, end);
        given.push(piece);
    }
    assert!(given.len() < 80, "{} pieces", given.len());
    let bytes: u64 = given.iter().map(|piece| piece.length).sum();
    assert!(
        (HOLES_AHEAD..HOLES_AHEAD + 4 * MIB).contains(&bytes),
        "{bytes}"
    );
    assert!(ledger.take(1, MIB).is_none() && ledger.waiting() > 0);
    // What is confirmed, lost or given up makes room for more.
    ledger.acked(given[70]);
    assert_eq!(take(&mut ledger, 1, 0).length, 4 * MIB);
    ledger.over(1);
    let mut next = take(&mut ledger, 2, 0);
    while next.start + next.length < end {
        ledger.acked(next);
        next = take(&mut ledger, 2, 0);
    }
    assert_eq!(
        (next.start, next.length),
        (600 << 20, PIECE_MIN),
        "data begins in it"
    );
    ledger.forget(0);
    assert_eq!((ledger.left(), ledger.waiting()), (0, 0));
}

#[test]
fn small_files_flow_beside_a_large_one_and_end_with_it() {
    let mut ledger = Ledger::default();
    ledger.add(0, 100 * MIB, &[(0, 100 * MIB)]);
    for file in 1..=200 {
        ledger.add(file, 4096, &[(0, 4096)]);
    }
    let order: Vec<FileId> = (0..300).map(|_| take(&mut ledger, 1, MIB).file).collect();
    assert_eq!(ledger.waiting(), 0);
    // In each third of the work a third of both.
    for third in order.chunks(100) {
        let large = third.iter().filter(|file| **file == 0).count();
        assert!((32..=35).contains(&large), "{large} of 100 pieces");
    }
    let small: Vec<FileId> = order.into_iter().filter(|file| *file > 0).collect();
    assert!(small.is_sorted());
}

#[test]
fn pieces_get_smaller_towards_the_end() {
    let mut ledger = Ledger::default();
    ledger.add(0, 64 * MIB, &[(0, 64 * MIB)]);
    ledger.all_added();
    let mut lengths = Vec::new();
    let mut stream = 0;
    while ledger.waiting() > 0 {
        lengths.push(take(&mut ledger, stream % 4, 4 * MIB).length);
        stream += 1;
    }
    assert_eq!(lengths[..4], [4 * MIB; 4]);
    assert!(lengths.iter().rev().skip(1).is_sorted(), "{lengths:?}");
    assert_eq!(lengths.last(), Some(&PIECE_MIN));
}

#[test]
fn what_a_dead_stream_owes_goes_to_others_first() {
    let mut ledger = Ledger::default();
    ledger.add(0, 8 * MIB, &[(0, 8 * MIB)]);
    let lost = take(&mut ledger, 1, MIB);
    let late = take(&mut ledger, 1, MIB);
    let kept = take(&mut ledger, 2, MIB);
    assert_eq!(ledger.over(1), 2 * MIB);
    assert_eq!(ledger.over(1), 0);
    // Its confirmation was under way.
    assert_eq!(ledger.acked(late), counted(late, false));
    assert_eq!(ledger.acked(late), Acked::Late);
    assert_eq!(take(&mut ledger, 2, 64 << 10), lost, "as it was cut");
    assert_eq!(ledger.acked(kept), counted(kept, false));
    assert_eq!(ledger.left(), 6 * MIB);
}

#[test]
fn idle_streams_help_the_slowest_from_its_end() {
    let mut ledger = Ledger::default();
    ledger.add(0, 8 * MIB, &[(0, 8 * MIB)]);
    let slow: Vec<Range> = (0..6).map(|_| take(&mut ledger, 1, MIB)).collect();
    let quick: Vec<Range> = (0..2).map(|_| take(&mut ledger, 2, MIB)).collect();
    ledger.all_added();
    assert_eq!(ledger.take(2, MIB), None, "has work of its own");
    for piece in quick {
        ledger.acked(piece);
    }
    let copies: Vec<Taken> = (0..3).filter_map(|_| ledger.take(2, MIB)).collect();
    assert!(copies.iter().all(|taken| taken.is_copy));
    let pieces: Vec<Range> = copies.iter().map(|taken| taken.piece).collect();
    assert_eq!(pieces, [slow[5], slow[4], slow[3]]);
    assert_eq!(
        ledger.take(3, MIB).unwrap().piece,
        slow[2],
        "a third stream goes on"
    );
    // The slow one dies: its pieces without a helper wait, the others have one holder.
    assert_eq!(ledger.over(1), 2 * MIB);
    assert_eq!(ledger.over(2), 3 * MIB);
    assert_eq!(ledger.acked(slow[5]), counted(slow[5], false));
}

#[test]
fn a_damaged_piece_is_given_out_again_and_counted() {
    let mut ledger = Ledger::default();
    ledger.add(3, 5, &[(0, 5)]);
    let piece = ledger.take(1, MIB).unwrap().piece;
    assert_eq!(ledger.acked(piece), Acked::NeverSent, "not read yet");
    assert!(ledger.read(piece, piece.length), "the file's only piece");
    assert!(!ledger.read(piece, piece.length), "only once");
    assert_eq!(ledger.damaged(piece), 1);
    assert_eq!(take(&mut ledger, 2, MIB), piece);
    assert_eq!(ledger.damaged(piece), 2);
    assert_eq!(take(&mut ledger, 1, MIB), piece);
    assert_eq!(ledger.acked(piece), counted(piece, true));
    assert_eq!(ledger.damaged(piece), 0);
}

#[test]
fn a_copy_that_is_damaged_does_not_strand_the_piece() {
    let mut ledger = Ledger::default();
    ledger.add(0, 5, &[(0, 5)]);
    ledger.all_added();
    let piece = take(&mut ledger, 1, MIB);
    assert!(ledger.take(2, MIB).unwrap().is_copy);
    ledger.damaged(piece);
    assert_eq!(take(&mut ledger, 2, MIB), piece);
    assert_eq!(ledger.acked(piece), counted(piece, true));
}

#[test]
fn confirmations_of_what_was_never_sent_are_seen() {
    let mut ledger = Ledger::default();
    ledger.add(0, 4 * MIB, &[(0, 4 * MIB)]);
    let piece = take(&mut ledger, 1, MIB);
    let never = [
        range(0, MIB, MIB),
        range(0, 0, MIB - 1),
        range(0, 0, 0),
        range(1, 0, MIB),
        range(0, u64::MAX, 2),
        range(0, 3 * MIB, 2 * MIB),
        range(0, 0, 2 * MIB),
    ];
    for piece in never {
        assert_eq!(ledger.acked(piece), Acked::NeverSent, "{piece:?}");
        assert_eq!(ledger.damaged(piece), 0);
    }
    assert_eq!(ledger.left(), 4 * MIB);
    assert_eq!(ledger.acked(piece), counted(piece, false));
}

#[test]
fn a_file_that_failed_is_asked_for_no_more() {
    let mut ledger = Ledger::default();
    ledger.add(0, 8 * MIB, &[(0, 8 * MIB)]);
    ledger.add(1, 5, &[(0, 5)]);
    ledger.add(2, 6, &[(0, 6)]);
    let large = take(&mut ledger, 1, MIB);
    let back = take(&mut ledger, 2, MIB);
    ledger.over(2);
    ledger.forget(0);
    ledger.forget(1);
    ledger.forget(9);
    assert_eq!((ledger.left(), ledger.waiting(), ledger.files()), (6, 6, 1));
    assert_eq!(take(&mut ledger, 1, MIB).file, 2);
    assert_eq!(ledger.acked(large), Acked::Late);
    assert_eq!(ledger.acked(back), Acked::Late);
    assert!(ledger.take(1, MIB).is_none());
}

#[test]
fn a_million_small_files_pass_in_little_memory() {
    assert!(size_of::<Wanted>() <= 16);
    let mut ledger = Ledger::default();
    for file in 0..1_000_000 {
        ledger.add(file, 4096, &[(0, 4096)]);
    }
    ledger.all_added();
    for _ in 0..1_000_000 {
        let piece = take(&mut ledger, 1, MIB);
        ledger.acked(piece);
    }
    assert_eq!((ledger.left(), ledger.files()), (0, 0));
}

mod world;

/// Of a file of three pieces the first two lie within an older version.
#[test]
fn a_piece_is_offered_until_it_comes_back_and_then_sent() {
    let mut ledger = Ledger::default();
    let size = 3 * OFFER_MAX;
    ledger.older(0, size - 1);
    ledger.add(0, size, &[(0, size)]);
    let mut given = Vec::new();
    while let Some(taken) = ledger.take(1, MIB) {
        given.push(taken.piece);
    }
    let (first, second, third) = (given[0], given[1], given[2]);
    assert_eq!(given.len(), 3, "{given:?}");
    assert!(ledger.may_offer(first) && ledger.may_offer(second) && !ledger.may_offer(third));
    for piece in [first, second] {
        ledger.is_offer(piece);
        ledger.read(piece, 0);
    }
    assert!(ledger.read(third, OFFER_MAX), "all was read");
    // The older version has the second one and not the first.
    assert_eq!(ledger.damaged(first), 1);
    assert!(!ledger.may_offer(first) && !ledger.is_offered(first));
    assert!(ledger.may_move(first) && !ledger.may_move(Range { file: 1, ..first }));
    assert_eq!(ledger.take(1, MIB).unwrap().piece, first);
    assert!(
        !ledger.read(first, OFFER_MAX),
        "its file was read to its end before"
    );
    assert_eq!(ledger.acked(first), counted(first, false));
    assert!(ledger.is_offered(second));
    let (is_last, data) = (false, 0);
    assert_eq!(ledger.acked(second), Acked::Counted { is_last, data });
    assert_eq!(ledger.acked(third), counted(third, true));
    assert_eq!(ledger.left(), 0);
}

/// Some of a piece is at another place of an older version, or is said to be.
#[test]
fn a_piece_of_moved_bytes_counts_what_was_sent_and_is_sent_whole_once_it_comes_back() {
    let mut ledger = Ledger::default();
    let size = 2 * OFFER_MAX;
    ledger.older(0, size);
    assert_eq!(ledger.older_bytes(0), Some(size));
    ledger.add(0, size, &[(0, size)]);
    let pieces = [0, 1].map(|_| ledger.take(1, MIB).unwrap().piece);
    for piece in pieces {
        ledger.is_offer(piece);
        ledger.read(piece, 0);
        assert_eq!(ledger.damaged(piece), 1);
        assert_eq!(ledger.take(1, MIB).unwrap().piece, piece);
        assert!(ledger.may_move(piece));
        ledger.is_moved(piece);
        ledger.read(piece, 700);
        assert!(ledger.is_offered(piece));
    }
    let [first, second] = pieces;
    let (is_last, data) = (false, 700);
    assert_eq!(ledger.acked(first), Acked::Counted { is_last, data });
    assert_eq!(ledger.damaged(second), 2);
    assert!(!ledger.may_move(second) && !ledger.is_offered(second));
    assert_eq!(ledger.take(1, MIB).unwrap().piece, second);
    ledger.read(second, OFFER_MAX);
    assert_eq!(ledger.acked(second), counted(second, true));
    assert_eq!((ledger.left(), ledger.older_bytes(0)), (0, None));
}

#[test]
fn pieces_behind_an_older_version_are_short_enough_to_be_made_of_it() {
    let mut ledger = Ledger::default();
    let size = 8 * MIB;
    ledger.older(0, MIB);
    ledger.add(0, size, &[(0, size)]);
    while let Some(taken) = ledger.take(1, 4 * MIB) {
        let is_older = taken.piece.start < MIB;
        let most = if is_older { OFFER_MAX } else { MIB };
        assert_eq!(taken.piece.length, most, "{taken:?}");
    }
}
