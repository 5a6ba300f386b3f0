//! The digest of a file from the hashes of its pieces, in whichever order they come.
//!
//! BLAKE3 is a binary tree over chunks of 1024 bytes. A piece that is a whole subtree has a hash of
//! its own, its *chaining value*, and the digest of the file follows from those of its pieces
//! without reading anything again. So a piece is verified when it arrives, by the same 32 bytes
//! that the digest is made of, and the digest is what `b3sum` prints.
//!
//! Source: BLAKE3 paper, section 2.1 for the shape of the tree, 2.4 and 2.5 for chunks and parent
//! nodes; the functions are those of [`blake3::hazmat`].

use std::collections::BTreeMap;
use std::ops::Range;

use blake3::hazmat::{HasherExt, Mode, merge_subtrees_non_root, merge_subtrees_root};
use copy_protocol::{HASH_LENGTH, PIECE_MAX};
use thiserror::Error;

/// Fewest bytes of a piece that does not end its file. Offsets are multiples of it.
pub const PIECE_MIN: u64 = 16 << 10;
/// Bytes that streams read, hash and write at a time: few enough that they, and what the kernel
/// makes of them, stay in the processor's caches. On loopback both ends together took a fifth less
/// processor time than with 256 KiB under TLS and a twelfth less without it; 32 KiB were no better.
pub const BLOCK: usize = 64 << 10;

/// Most subtrees that one file may be scattered into. A million pieces in order are one; 500
/// streams that each owe some are a few thousand.
const NODES_MAX: usize = 1 << 16;
const CHUNK: u64 = blake3::CHUNK_LEN as u64;
/// What holes are hashed from. The chaining value of zeros is another at each offset, because
/// chunks are numbered (BLAKE3 paper, section 2.4), so that none could be kept for the next hole.
static ZEROS: [u8; BLOCK] = [0; BLOCK];

type ChainingValue = [u8; HASH_LENGTH];

/// Whether `length` bytes at `offset` of a file of `size` bytes may be one piece: a subtree of the
/// file's tree that begins at a multiple of [`PIECE_MIN`], has at most [`PIECE_MAX`] bytes, and
/// fewer than [`PIECE_MIN`] only at the end of the file.
/// ```
/// use files::legal_piece;
/// let size = 3 * (1 << 20) + 5;
/// assert!(legal_piece(size, 1 << 20, 1 << 20));
/// assert!(!legal_piece(size, 1 << 20, 2 << 20), "not aligned to its own length");
/// assert!(legal_piece(size, 2 << 20, (1 << 20) + 5), "ends the file");
/// assert!(!legal_piece(size, 3 << 20, 6), "beyond it");
/// ```
pub fn legal_piece(size: u64, offset: u64, length: u64) -> bool {
    let ends = offset.checked_add(length) == Some(size);
    let fits = length <= u64::from(PIECE_MAX) && (length >= PIECE_MIN || ends);
    fits && offset.is_multiple_of(PIECE_MIN) && subtree(size, offset, length).is_some()
}

/// Bytes below the node whose leaves are exactly these, were the file longer; `None` when there is
/// no such node.
fn subtree(size: u64, offset: u64, length: u64) -> Option<u64> {
    let end = offset.checked_add(length)?;
    let span = length.checked_next_power_of_two()?.max(CHUNK);
    let whole = length == span || end == size;
    (length > 0 && end <= size && whole && offset.is_multiple_of(span)).then_some(span)
}

/// Hashes one piece, block by block.
/// ```
/// use files::PieceHasher;
/// // A piece that is the whole file has the file's digest.
/// let mut hasher = PieceHasher::new(5, 0, 5);
/// hasher.update(b"he");
/// hasher.update(b"llo");
/// assert_eq!(hasher.finish(), Some(*blake3::hash(b"hello").as_bytes()));
/// ```
#[derive(Debug, Clone)]
pub struct PieceHasher {
    hasher: blake3::Hasher,
    is_root: bool,
    /// Bytes still to come; `None` when there is no such piece or more came.
    missing: Option<u64>,
}

impl PieceHasher {
    /// For `length` bytes at `offset` of a file of `size` bytes.
    pub fn new(size: u64, offset: u64, length: u64) -> Self {
        let mut hasher = blake3::Hasher::new();
        let is_subtree = subtree(size, offset, length).is_some();
        if is_subtree {
            hasher.set_input_offset(offset);
        }
        PieceHasher {
            hasher,
            is_root: offset == 0 && length == size,
            missing: is_subtree.then_some(length),
        }
    }

    /// The next bytes; fastest in blocks of 16 KiB or more.
    pub fn update(&mut self, bytes: &[u8]) {
        let left = |missing: u64| missing.checked_sub(bytes.len() as u64);
        self.missing = self.missing.and_then(left);
        if self.missing.is_some() {
            self.hasher.update(bytes);
        }
    }

    /// The next bytes are so many zeros.
    pub fn zeros(&mut self, mut count: u64) {
        if self.missing.is_none_or(|missing| missing < count) {
            self.missing = None;
            return;
        }
        while count > 0 {
            let block = usize::try_from(count).unwrap_or(BLOCK).min(BLOCK);
            self.update(&ZEROS[..block]);
            count -= block as u64;
        }
    }

    /// The piece's hash: its chaining value, or the digest when it is the whole file. `None` when
    /// other than `length` bytes came, or [`legal_piece`] does not hold.
    pub fn finish(self) -> Option<[u8; HASH_LENGTH]> {
        match (self.missing, self.is_root) {
            (Some(0), true) => Some(*self.hasher.finalize().as_bytes()),
            (Some(0), false) => Some(self.hasher.finalize_non_root()),
            _ => None,
        }
    }
}

/// A piece that cannot be part of the tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum TreeError {
    /// No subtree, or not of this file.
    #[error("{length} bytes at {offset} are no subtree of a file of {size} bytes")]
    NoSubtree {
        /// Bytes of the file.
        size: u64,
        /// First byte of the piece.
        offset: u64,
        /// Its length in bytes.
        length: u64,
    },
    /// Would need too much memory.
    #[error("the pieces of a file lie scattered in more than {NODES_MAX} places")]
    Scattered,
}

/// Which pieces of a file are there, and in the end its digest.
///
/// Two neighbours become one as soon as both are there, so that a file of a terabyte whose pieces
/// come nearly in order needs a few kilobytes.
/// ```
/// use files::{HashTree, PieceHasher};
/// let file = vec![7; 3000];
/// let hash = |offset: usize, length: usize| {
///     let mut hasher = PieceHasher::new(3000, offset as u64, length as u64);
///     hasher.update(&file[offset..offset + length]);
///     hasher.finish().unwrap()
/// };
/// let mut tree = HashTree::new(3000);
/// tree.insert(2048, 952, hash(2048, 952)).unwrap();
/// assert_eq!(tree.missing(9), [0..2048]);
/// tree.insert(0, 2048, hash(0, 2048)).unwrap();
/// assert_eq!(tree.digest(), Some(*blake3::hash(&file).as_bytes()));
/// ```
#[derive(Debug, Clone)]
pub struct HashTree {
    size: u64,
    /// What is to be there.
    within: Range<u64>,
    /// By offset: the span of each subtree and its value. None lies within another, and no two make
    /// up a third.
    nodes: BTreeMap<u64, (u64, ChainingValue)>,
}

impl HashTree {
    /// Of a file of `size` bytes, of which nothing is there.
    pub fn new(size: u64) -> Self {
        HashTree::part(size, 0..size)
    }

    /// Of the bytes `within` such a file, which are a subtree of it: only they can be there, only
    /// they are missing, and what stands for the digest is their chaining value.
    pub fn part(size: u64, within: Range<u64>) -> Self {
        HashTree {
            size,
            within,
            nodes: BTreeMap::new(),
        }
    }

    /// Adds a piece. What is there already within it is replaced, and nothing happens where all of
    /// it is.
    ///
    /// * Returns how many of its bytes were not there.
    ///
    /// # Errors
    /// When it is no subtree of the file, or the file is scattered too much.
    pub fn insert(
        &mut self,
        offset: u64,
        length: u64,
        hash: [u8; HASH_LENGTH],
    ) -> Result<u64, TreeError> {
        let no_subtree = TreeError::NoSubtree {
            size: self.size,
            offset,
            length,
        };
        let span = subtree(self.size, offset, length).ok_or(no_subtree)?;
        if !self.is_within(offset, length) {
            return Err(no_subtree);
        }
        if self.covers(offset, length) {
            return Ok(0);
        }
        if self.nodes.len() >= NODES_MAX {
            return Err(TreeError::Scattered);
        }
        let within = self.nodes.range(offset..offset + length);
        let within: Vec<u64> = within.map(|(start, _)| *start).collect();
        let mut known = 0;
        for start in within {
            let (span, _) = self.nodes.remove(&start).unwrap_or_default();
            known += self.length_of(start, span);
        }
        self.climb(offset, span, hash);
        Ok(length - known)
    }

    /// Whatever is there within `length` bytes at `offset` counts no more; a larger subtree around
    /// them stays.
    pub fn forget(&mut self, offset: u64, length: u64) {
        let end = offset.saturating_add(length);
        let within: Vec<u64> = self.nodes.range(offset..end).map(|it| *it.0).collect();
        for start in within {
            self.nodes.remove(&start);
        }
    }

    fn is_within(&self, offset: u64, length: u64) -> bool {
        let end = offset.checked_add(length);
        offset >= self.within.start && end.is_some_and(|end| end <= self.within.end)
    }

    /// Whether all of `length` bytes at `offset` are there, as one subtree or within one, or are
    /// not to be there.
    pub fn covers(&self, offset: u64, length: u64) -> bool {
        if !self.is_within(offset, length) {
            return true;
        }
        let before = self.nodes.range(..=offset).next_back();
        let end = offset.saturating_add(length);
        before.is_some_and(|(start, (span, _))| end <= start + self.length_of(*start, *span))
    }

    /// BLAKE3 of the file, once all of it is there; of a part, its chaining value.
    pub fn digest(&self) -> Option<[u8; HASH_LENGTH]> {
        if self.size == 0 {
            return Some(*blake3::hash(&[]).as_bytes());
        }
        let (span, hash) = self.nodes.get(&self.within.start)?;
        (*span >= self.within.end - self.within.start).then_some(*hash)
    }

    /// Bytes that are there.
    pub fn present(&self) -> u64 {
        let nodes = self.nodes.iter();
        nodes
            .map(|(start, (span, _))| self.length_of(*start, *span))
            .sum()
    }

    /// What is not there, in order, as at most `ranges_max` (at least 1) ranges: where there are
    /// more, the last reaches over what is there.
    pub fn missing(&self, ranges_max: usize) -> Vec<Range<u64>> {
        let mut missing = Vec::new();
        let mut from = self.within.start;
        for (start, (span, _)) in &self.nodes {
            missing.push(from..*start);
            from = start + self.length_of(*start, *span);
        }
        missing.push(from..self.within.end);
        missing.retain(|range| !range.is_empty());
        let end = missing.last().map_or(0, |range: &Range<u64>| range.end);
        if missing.len() > ranges_max.max(1) {
            missing.truncate(ranges_max.max(1));
            let last = missing.last_mut();
            last.into_iter().for_each(|range| range.end = end);
        }
        missing
    }

    fn length_of(&self, start: u64, span: u64) -> u64 {
        span.min(self.size - start)
    }

    /// Puts a node in, as part of the largest subtree that is there then.
    fn climb(&mut self, mut offset: u64, mut span: u64, mut hash: ChainingValue) {
        while span < self.size {
            let is_left = offset & span == 0;
            let beside = offset ^ span;
            if is_left && beside >= self.size {
                // The last subtree of the file has no neighbour, and is its own parent.
                span *= 2;
                continue;
            }
            match self.nodes.get(&beside) {
                Some((other, value)) if *other == span => {
                    let (left, right) = if is_left {
                        (hash, *value)
                    } else {
                        (*value, hash)
                    };
                    self.nodes.remove(&beside);
                    offset = offset.min(beside);
                    span *= 2;
                    hash = parent(&left, &right, span >= self.size);
                }
                _ => break,
            }
        }
        self.nodes.insert(offset, (span, hash));
    }
}

fn parent(left: &ChainingValue, right: &ChainingValue, is_root: bool) -> ChainingValue {
    match is_root {
        true => *merge_subtrees_root(left, right, Mode::Hash).as_bytes(),
        false => merge_subtrees_non_root(left, right, Mode::Hash),
    }
}

#[cfg(test)]
mod tests;
