//! What is wanted of one file.

use std::collections::VecDeque;
use std::ops;

use copy_protocol::{PIECE_MAX, Range};

use super::split::piece_length;

/// A file of which something is wanted. Nearly all of a million small ones are whole and not begun.
#[derive(Debug)]
pub(super) struct Wanted {
    size: u64,
    /// `None` for a file that is wanted whole and not begun.
    begun: Option<Box<Begun>>,
}

#[derive(Debug)]
pub(super) struct Begun {
    /// A hole that is known to begin or continue at the next piece.
    pub(super) hole: ops::Range<u64>,
    /// Not given out yet.
    pub(super) rest: VecDeque<ops::Range<u64>>,
    /// Bytes never read.
    pub(super) unread: u64,
    /// Bytes not confirmed.
    pub(super) unconfirmed: u64,
}

impl Wanted {
    /// * `rest`: `bytes` bytes of a file of `size`, as [`normalised`](super::split::normalised)
    ///   gave them.
    pub(super) fn new(size: u64, rest: VecDeque<ops::Range<u64>>, bytes: u64) -> Self {
        let begun = (bytes != size).then(|| Box::new(Begun::new(rest, bytes)));
        Wanted { size, begun }
    }

    pub(super) fn size(&self) -> u64 {
        self.size
    }

    pub(super) fn begin(&mut self) -> &mut Begun {
        let size = self.size;
        self.begun
            .get_or_insert_with(|| Box::new(Begun::new(std::iter::once(0..size).collect(), size)))
    }

    /// Where the next piece begins.
    pub(super) fn next(&self) -> Option<u64> {
        match &self.begun {
            None => Some(0),
            Some(begun) => begun.rest.front().map(|range| range.start),
        }
    }

    pub(super) fn is_read(&self) -> bool {
        self.begun.as_ref().is_some_and(|begun| begun.unread == 0)
    }

    /// The next piece: start and length.
    pub(super) fn cut(&mut self, piece_size: u64) -> Option<(u64, u64)> {
        let size = self.size;
        let begun = self.begin();
        let range = begun.rest.front_mut()?;
        let start = range.start;
        let length = match begun.hole.contains(&start) {
            true => {
                let hole = start..range.end.min(begun.hole.end);
                piece_length(size, &hole, PIECE_MAX.into())
            }
            false => piece_length(size, range, piece_size),
        };
        range.start += length;
        if range.is_empty() {
            begun.rest.pop_front();
        }
        Some((start, length))
    }

    /// Whether nothing of a piece waits to be given out for the first time.
    pub(super) fn was_given(&self, piece: Range) -> bool {
        let Some(end) = piece.start.checked_add(piece.length) else {
            return false;
        };
        let apart = |range: &ops::Range<u64>| range.end <= piece.start || end <= range.start;
        let begun = self.begun.as_ref();
        end <= self.size && begun.is_some_and(|begun| begun.rest.iter().all(apart))
    }
}

impl Begun {
    fn new(rest: VecDeque<ops::Range<u64>>, bytes: u64) -> Self {
        Begun {
            hole: 0..0,
            rest,
            unread: bytes,
            unconfirmed: bytes,
        }
    }
}
