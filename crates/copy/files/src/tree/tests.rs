//! The tree against BLAKE3 itself.

use proptest::prelude::*;

use super::*;

fn file(size: usize) -> Vec<u8> {
    (0..size).map(|at| (at % 251) as u8).collect()
}

fn hash(file: &[u8], offset: u64, length: u64) -> ChainingValue {
    let mut hasher = PieceHasher::new(file.len() as u64, offset, length);
    hasher.update(&file[offset as usize..(offset + length) as usize]);
    hasher.finish().unwrap()
}

/// Cuts a file into random subtrees: those larger than a chunk are cut again where `cut` says so.
fn pieces(size: u64, cut: &mut impl FnMut() -> bool) -> Vec<(u64, u64)> {
    let mut todo = vec![(0, size.next_power_of_two().max(CHUNK))];
    let mut pieces = Vec::new();
    while let Some((offset, span)) = todo.pop() {
        if offset >= size {
        } else if span > CHUNK && cut() {
            todo.extend([(offset, span / 2), (offset + span / 2, span / 2)]);
        } else {
            pieces.push((offset, span.min(size - offset)));
        }
    }
    pieces
}

proptest! {
    #[test]
    fn any_order_of_any_pieces_gives_the_digest(
        size in 1_usize..40_000, cuts: Vec<bool>, keys: Vec<u32>,
    ) {
        let file = file(size);
        let mut cuts = cuts.into_iter().chain([true, true, false, true].into_iter().cycle());
        let pieces = pieces(size as u64, &mut || cuts.next().unwrap_or(false));
        let mut order: Vec<usize> = (0..pieces.len()).collect();
        order.sort_by_key(|at| keys.get(*at).copied().unwrap_or_default());
        let mut tree = HashTree::new(size as u64);
        let mut present = 0;
        for at in order {
            prop_assert_eq!(tree.digest(), None);
            let (offset, length) = pieces[at];
            let hash = hash(&file, offset, length);
            prop_assert_eq!(tree.insert(offset, length, hash), Ok(length));
            prop_assert_eq!(tree.insert(offset, length, hash), Ok(0));
            present += length;
            prop_assert_eq!(tree.present(), present);
            let missing: u64 = tree.missing(usize::MAX).iter().map(|one| one.end - one.start).sum();
            prop_assert_eq!(missing, size as u64 - present);
        }
        prop_assert_eq!(tree.digest(), Some(*blake3::hash(&file).as_bytes()));
        prop_assert_eq!(tree.nodes.len(), 1);
        prop_assert!(tree.missing(1).is_empty());
    }

    /// Pieces of several sizes over each other, as endgames and earlier tries with other lengths
    /// leave them.
    #[test]
    fn pieces_that_overlap_count_once(
        size in 1_usize..20_000,
        piece_sizes in proptest::collection::vec((0_u64..20, 0_u32..6), 0..60),
    ) {
        let file = file(size);
        let mut tree = HashTree::new(size as u64);
        let mut there = vec![false; size];
        let all = (0..20).map(|chunk| (chunk, 0));
        for (chunk, level) in piece_sizes.into_iter().chain(all) {
            let span = CHUNK << level;
            let offset = chunk * CHUNK / span * span;
            if offset >= size as u64 {
                continue;
            }
            let length = span.min(size as u64 - offset);
            let bytes = &mut there[offset as usize..(offset + length) as usize];
            let new = bytes.iter().filter(|one| !**one).count() as u64;
            bytes.fill(true);
            prop_assert_eq!(tree.insert(offset, length, hash(&file, offset, length)), Ok(new));
            prop_assert!(tree.covers(offset, length));
        }
        prop_assert_eq!(tree.digest(), Some(*blake3::hash(&file).as_bytes()));
    }

    #[test]
    fn no_piece_makes_the_tree_panic(
        size: u64, piece_sizes: Vec<(u64, u64)>,
    ) {
        let size = size >> 1;
        let mut tree = HashTree::new(size);
        for (offset, length) in piece_sizes {
            let legal = subtree(size, offset, length).is_some();
            prop_assert_eq!(tree.insert(offset, length, [0; 32]).is_ok(), legal);
            let mut hasher = PieceHasher::new(size, offset, length);
            hasher.update(&[0; 3000]);
            prop_assert_eq!(hasher.finish().is_some(), legal && length == 3000);
        }
    }

    /// Blocks of any length give the same hash as all at once.
    #[test]
    fn a_piece_may_be_hashed_in_blocks(
        chunks in 1_u64..40, block in 1_usize..9000, from in 0_u64..4,
    ) {
        let length = chunks.next_power_of_two() * CHUNK;
        let offset = from * length;
        let file = file((offset + length + 1) as usize);
        let piece = &file[offset as usize..(offset + length) as usize];
        let mut hasher = PieceHasher::new(file.len() as u64, offset, length);
        piece.chunks(block).for_each(|block| hasher.update(block));
        prop_assert_eq!(hasher.finish(), Some(hash(&file, offset, length)));
    }
}

#[test]
fn an_empty_file_has_a_digest() {
    let digest = HashTree::new(0).digest();
    assert_eq!(digest, Some(*blake3::hash(&[]).as_bytes()));
    assert!(HashTree::new(0).insert(0, 0, [0; 32]).is_err());
}

#[test]
fn a_terabyte_in_order_on_many_streams_stays_small() {
    // 64 streams, each a piece behind the other: pieces arrive in shuffled rounds of 64.
    let (piece, size) = (4 << 20, 1_u64 << 40);
    let mut tree = HashTree::new(size);
    let mut most = 0;
    for round in 0..200 {
        for step in 0..64 {
            let at = round * 64 + step * 37 % 64;
            tree.insert(at * piece, piece, [1; 32]).unwrap();
            most = most.max(tree.nodes.len());
        }
    }
    assert!(most < 64, "{most} nodes");
    let rest = 200 * 64 * piece..size;
    assert_eq!(tree.missing(9), std::slice::from_ref(&rest));
}

#[test]
fn a_file_scattered_on_purpose_is_refused() {
    let size = 1 << 40;
    let mut tree = HashTree::new(size);
    let mut insert = |at: u64| tree.insert(at * 2 * PIECE_MIN, PIECE_MIN, [1; 32]);
    for at in 0..NODES_MAX as u64 {
        assert_eq!(insert(at), Ok(PIECE_MIN));
    }
    assert_eq!(insert(NODES_MAX as u64), Err(TreeError::Scattered));
    let missing = tree.missing(3);
    assert_eq!(missing.len(), 3);
    assert_eq!(
        missing[2],
        5 * PIECE_MIN..size,
        "the last reaches over what is there"
    );
}

#[test]
fn a_changed_piece_changes_the_digest() {
    let mut one = file(5000);
    let before = hash(&one, 0, 4096);
    one[10] ^= 1;
    let mut tree = HashTree::new(5000);
    tree.insert(0, 4096, before).unwrap();
    tree.insert(4096, 904, hash(&one, 4096, 904)).unwrap();
    assert_ne!(tree.digest(), Some(*blake3::hash(&one).as_bytes()));
}

#[test]
fn too_few_or_too_many_bytes_are_no_piece() {
    for bytes in [0, 1023, 1025] {
        let mut hasher = PieceHasher::new(9000, 1024, 1024);
        hasher.update(&vec![0; bytes]);
        assert_eq!(hasher.finish(), None, "{bytes}");
    }
}
