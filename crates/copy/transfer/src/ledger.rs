//! What is still to be sent, who sends it, and what the receiver has confirmed.
//!
//! The ledger has no clock and no threads: streams ask it for pieces, and it is told what became of
//! them. Every byte that was added is given out until it is confirmed; pieces of a stream that dies
//! go to others.
//!
//! At the end, when all is given out, a stream without pieces gets a copy of the newest piece of
//! the slowest stream, which would arrive last. So a stream that hangs cannot delay the end for
//! longer than another one takes to send a few pieces. Nothing else is sent twice on purpose.

use std::collections::{BTreeMap, BTreeSet};

use copy_protocol::{FileId, PACKED_MAX, Range};

mod in_flight;
mod order;
pub(crate) mod split;
mod wanted;

use in_flight::InFlight;
use order::Order;
use split::{hole_of, normalised};
use wanted::Wanted;

/// Bytes of holes that may be in flight. They cost the stream nothing, so that without a bound the
/// receiver, which hashes the zeros, would be behind by a whole large hole, and the data behind it
/// would wait.
pub const HOLES_AHEAD: u64 = 256 << 20;

/// Most bytes of a piece that may be offered by its hash. A byte that differs costs all of them,
/// and the hash less than a thousandth.
const OFFER_MAX: u64 = 128 << 10;

/// Key of a piece: its file and first byte. A file is split at the same places each time.
type Key = (FileId, u64);

/// The sender's ledger.
/// ```
/// use transfer::{Acked, Ledger};
/// let mut ledger = Ledger::default();
/// ledger.add(0, 100_000, &[(0, 100_000)]);
/// let first = ledger.take(1, 65_536).unwrap().piece;
/// assert_eq!((first.start, first.length), (0, 65_536));
/// let second = ledger.take(2, 65_536).unwrap().piece;
/// assert_eq!(second.length, 34_464);
/// ledger.all_added();
/// // A piece that was not read yet cannot be confirmed.
/// assert!(!ledger.read(first, 65_536));
/// assert!(ledger.read(second, 34_464), "the last of the file");
/// assert_eq!(ledger.acked(first), Acked::Counted { is_last: false, data: 65_536 });
/// assert!(ledger.take(1, 65_536).unwrap().is_copy); // stream 2 may be slow
/// assert_eq!(ledger.acked(second), Acked::Counted { is_last: true, data: 34_464 });
/// assert_eq!(ledger.left(), 0);
/// ```
#[derive(Debug, Default)]
pub struct Ledger {
    files: BTreeMap<FileId, Wanted>,
    /// Bytes of the older versions that the receiver has of files.
    older: BTreeMap<FileId, u64>,
    order: Order,
    in_flight: InFlight,
    /// Pieces to send again; they go before everything else.
    back: BTreeSet<Key>,
    /// Bytes that were not given out or came back.
    waiting: u64,
    /// Bytes that are not confirmed.
    left: u64,
    /// No file with this number or a higher one was added.
    next: FileId,
    all_added: bool,
}

/// A piece for a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Taken {
    /// Which bytes.
    pub piece: Range,
    /// Another stream has it too, and may be slow.
    pub is_copy: bool,
}

/// Result of a confirmation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Acked {
    /// The piece counts.
    Counted {
        /// It was the last of what was wanted of its file.
        is_last: bool,
        /// Bytes of it that are no hole.
        data: u64,
    },
    /// It was confirmed before, or its file was given up: nothing changes.
    Late,
    /// No stream sent that: the peer breaks the protocol.
    NeverSent,
}

impl Ledger {
    /// Adds the wanted parts of a file.
    ///
    /// * `size`: bytes of the file.
    /// * `wanted`: start and length of each part, in bytes. What is beyond the file is left out;
    ///   ends are moved outward to multiples of [`PIECE_MIN`](files::PIECE_MIN), because pieces
    ///   begin and end there.
    /// * Returns the bytes that will be sent. A file of which there are none is not added, nor one
    ///   that is there.
    pub fn add(&mut self, file: FileId, size: u64, wanted: &[(u64, u64)]) -> u64 {
        let rest = normalised(size, wanted);
        let bytes = rest.iter().map(|range| range.end - range.start).sum();
        self.next = self.next.max(file.saturating_add(1));
        if bytes == 0 || self.files.contains_key(&file) {
            return 0;
        }
        self.files.insert(file, Wanted::new(size, rest, bytes));
        self.order.add(file, bytes);
        self.waiting += bytes;
        self.left += bytes;
        bytes
    }

    /// The receiver has an older version of a file, of so many bytes: pieces within these may be
    /// offered by their hashes. To be told before the file is added.
    pub fn older(&mut self, file: FileId, bytes: u64) {
        self.older.insert(file, bytes);
    }

    /// Whether the hash of a piece is to be sent before its bytes: an older version may have them,
    /// and the receiver has not said that it has others.
    pub fn may_offer(&self, piece: Range) -> bool {
        let end = piece.start.saturating_add(piece.length);
        let older = self.older.get(&piece.file);
        older.is_some_and(|bytes| end <= *bytes) && self.in_flight.times_back(piece) == 0
    }

    /// Only the hash of a piece is sent. As with holes, only so many are on their way at once.
    pub fn is_offer(&mut self, piece: Range) {
        self.in_flight.is_offer(piece);
    }

    /// Bytes of the older version that the receiver has of a file; `None` where it told of none, or
    /// nothing of the file is needed any more.
    pub fn older_bytes(&self, file: FileId) -> Option<u64> {
        self.older.get(&file).copied()
    }

    /// Whether a piece may be sent as what an older version has at other places, and what not: it
    /// did not come back after that.
    pub fn may_move(&self, piece: Range) -> bool {
        self.older.contains_key(&piece.file) && self.in_flight.times_back(piece) <= 1
    }

    /// A piece is sent so.
    pub fn is_moved(&mut self, piece: Range) {
        self.in_flight.is_moved(piece);
    }

    /// Whether only the hash of a piece was sent so far, or what an older version has not.
    pub fn is_offered(&self, piece: Range) -> bool {
        self.in_flight.is_offered(piece)
    }

    /// Adds parts of a file that an earlier try left and that read back wrong. None of them was
    /// wanted before.
    ///
    /// * Returns the bytes that will be sent.
    pub fn add_more(&mut self, file: FileId, size: u64, wanted: &[(u64, u64)]) -> u64 {
        let Some(known) = self.files.get_mut(&file) else {
            return self.add(file, size, wanted);
        };
        let rest = normalised(size, wanted);
        let bytes = rest.iter().map(|range| range.end - range.start).sum();
        let begun = known.begin();
        begun.rest.extend(rest);
        begun.unread += bytes;
        begun.unconfirmed += bytes;
        self.order.add(file, bytes);
        self.waiting += bytes;
        self.left += bytes;
        bytes
    }

    /// Whether all that is wanted of a file was read.
    pub fn is_read(&self, file: FileId) -> bool {
        self.files.get(&file).is_none_or(Wanted::is_read)
    }

    /// All files were added: from now on pieces get smaller towards the end, and streams that have
    /// nothing to do help others.
    pub fn all_added(&mut self) {
        self.all_added = true;
    }

    /// A piece that was given out lies in a hole of its file, which ends at `end`: the rest of the
    /// hole is given out in pieces as long as can be, and only while less than [`HOLES_AHEAD`]
    /// bytes of holes are not confirmed.
    pub fn is_hole(&mut self, piece: Range, end: u64) {
        if self.in_flight.is_hole(piece)
            && let Some(wanted) = self.files.get_mut(&piece.file)
        {
            wanted.begin().hole = hole_of(wanted.size(), piece.start..end);
        }
    }

    /// Whether something can be given out that no stream has.
    pub fn has_work(&self) -> bool {
        !self.back.is_empty() || (self.waiting > 0 && self.may_cut())
    }

    fn may_cut(&self) -> bool {
        self.in_flight.holes() < HOLES_AHEAD
    }

    /// The next piece for a stream, of about `piece_size` bytes; `None` when there is nothing for
    /// it now. There may be something later: when a file is added, or anything is told to this
    /// ledger.
    pub fn take(&mut self, stream: u32, piece_size: u64) -> Option<Taken> {
        self.in_flight.meet(stream);
        let piece_size = piece_size.min(self.fair_share());
        let mut key = self.take_back();
        if key.is_none() && self.may_cut() {
            key = self.cut(piece_size);
        }
        if let Some(key) = key {
            return self.in_flight.give(key, stream).map(|piece| Taken {
                piece,
                is_copy: false,
            });
        }
        let is_end = self.all_added && self.left > 0;
        let key = is_end.then(|| self.in_flight.to_copy(stream)).flatten()?;
        let piece = self.in_flight.give(key, stream)?;
        let is_copy = true;
        Some(Taken { piece, is_copy })
    }

    /// Bytes of a piece such that each stream gets two more: guided self-scheduling, so that no
    /// stream has a long piece while others have none.
    ///
    /// Source: Polychronopoulos and Kuck, "Guided self-scheduling", IEEE Transactions on Computers
    /// C-36, 1987; there one piece for each, here two because streams differ in speed.
    fn fair_share(&self) -> u64 {
        match self.all_added {
            true => self.waiting / (2 * self.in_flight.streams().max(1)),
            false => u64::MAX,
        }
    }

    fn take_back(&mut self) -> Option<Key> {
        let key = self.back.pop_first()?;
        self.waiting -= self.in_flight.length(key);
        Some(key)
    }

    /// A new piece of the file whose turn it is.
    fn cut(&mut self, piece_size: u64) -> Option<Key> {
        while let Some(file) = self.order.front() {
            // The file may have been given up meanwhile.
            let wanted = self.files.get_mut(&file);
            let older = self.older.get(&file).copied().unwrap_or(0);
            let piece = wanted.and_then(|wanted| {
                let most = match wanted.next().is_some_and(|next| next < older) {
                    true => OFFER_MAX,
                    // It may be made of what was at other places.
                    false if older > 0 => PACKED_MAX.into(),
                    false => u64::MAX,
                };
                wanted.cut(piece_size.min(most))
            });
            let Some((start, length)) = piece else {
                self.order.pass();
                continue;
            };
            self.order.taken(length);
            self.waiting -= length;
            self.in_flight.enter((file, start), length);
            return Some((file, start));
        }
        None
    }

    /// A piece was read to its end. To be called before its hash is sent: the receiver cannot
    /// confirm a piece that was not read.
    ///
    /// * Returns whether all that is wanted of its file was read with that. It is, at most once for
    ///   each file.
    pub fn read(&mut self, piece: Range, data: u64) -> bool {
        if !self.in_flight.read_first(piece, data) {
            return false;
        }
        let wanted = self.files.get_mut(&piece.file);
        wanted.is_some_and(|wanted| {
            let begun = wanted.begin();
            begun.unread -= piece.length;
            begun.unread == 0
        })
    }

    /// The receiver has a piece.
    pub fn acked(&mut self, piece: Range) -> Acked {
        let key = (piece.file, piece.start);
        let Some(data) = self.in_flight.data(piece) else {
            return self.unexpected(piece);
        };
        self.in_flight.remove(key);
        if self.back.remove(&key) {
            self.waiting -= piece.length;
        }
        self.left -= piece.length;
        let is_last = self.files.get_mut(&piece.file).is_some_and(|wanted| {
            let begun = wanted.begin();
            begun.unconfirmed -= piece.length;
            begun.unconfirmed == 0
        });
        if is_last {
            self.files.remove(&piece.file);
            self.older.remove(&piece.file);
        }
        Acked::Counted { is_last, data }
    }

    /// A piece that is not in flight was confirmed before, or never sent.
    fn unexpected(&self, piece: Range) -> Acked {
        let is_owed = self.in_flight.length((piece.file, piece.start)) > 0;
        let was_given = match self.files.get(&piece.file) {
            Some(wanted) => wanted.was_given(piece),
            None => piece.file < self.next,
        };
        match was_given && !is_owed && piece.length > 0 {
            true => Acked::Late,
            false => Acked::NeverSent,
        }
    }

    /// A piece arrived damaged: it is given out again, before everything else.
    ///
    /// * Returns how often that happened to this piece by now; 0 when it is not in flight.
    pub fn damaged(&mut self, piece: Range) -> u32 {
        let key = (piece.file, piece.start);
        if self.in_flight.length(key) != piece.length || piece.length == 0 {
            return 0;
        }
        // Which of two copies it was is not known; the other one may still be confirmed.
        self.return_piece(key);
        self.in_flight.damaged(key)
    }

    /// A stream ended. Its unconfirmed pieces that no other stream has are given out again.
    ///
    /// * Returns the bytes of that.
    pub fn over(&mut self, stream: u32) -> u64 {
        let mut bytes = 0;
        for key in self.in_flight.part(stream) {
            bytes += self.in_flight.length(key);
            self.return_piece(key);
        }
        bytes
    }

    fn return_piece(&mut self, key: Key) {
        self.in_flight.release(key);
        if self.back.insert(key) {
            self.waiting += self.in_flight.length(key);
        }
    }

    /// Drops a file that failed.
    pub fn forget(&mut self, file: FileId) {
        self.older.remove(&file);
        let Some(mut wanted) = self.files.remove(&file) else {
            return;
        };
        let begun = wanted.begin();
        self.left -= begun.unconfirmed;
        let rest: u64 = begun.rest.iter().map(|range| range.end - range.start).sum();
        self.waiting -= rest;
        for key in self.in_flight.of_file(file) {
            if self.back.remove(&key) {
                self.waiting -= self.in_flight.length(key);
            }
            self.in_flight.remove(key);
        }
    }

    /// Pieces that were given out and are not confirmed.
    pub fn unconfirmed(&self) -> usize {
        self.in_flight.count()
    }

    /// Bytes that are not confirmed.
    pub fn left(&self) -> u64 {
        self.left
    }

    /// Bytes that no stream has at the moment.
    pub fn waiting(&self) -> u64 {
        self.waiting
    }

    /// Files of which something is not confirmed.
    pub fn files(&self) -> usize {
        self.files.len()
    }
}

#[cfg(test)]
mod tests;
