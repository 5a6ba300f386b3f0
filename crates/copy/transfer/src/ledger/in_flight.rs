//! Pieces in flight: which stream has which.

use std::collections::{BTreeMap, BTreeSet};

use copy_protocol::{FileId, Range};

use super::Key;

/// Share of streams (one in this many) that may still have pieces of their own when others begin to
/// help.
const BUSY_SHARE: usize = 4;

/// Pieces in flight: given out and not confirmed.
#[derive(Debug, Default)]
pub(super) struct InFlight {
    pieces: BTreeMap<Key, Piece>,
    streams: BTreeMap<u32, Debt>,
    /// Bytes of pieces that are holes.
    holes: u64,
    /// How many pieces were given out so far.
    turn: u64,
}

#[derive(Debug, Default)]
struct Piece {
    length: u64,
    /// Streams that have it, and when each got it: none, one, or two near the end.
    holders: Vec<(u32, u64)>,
    /// Bytes of it that are no hole; `None` until it was read.
    data: Option<u64>,
    /// It takes nothing of the stream, as holes and offers do, and counts while a stream has it.
    is_hole: bool,
    /// Its hash alone was sent, or is being sent, or only what an older version has not.
    is_offer: bool,
    damaged: u32,
}

/// Pieces in flight of one stream.
#[derive(Debug, Default)]
struct Debt {
    /// By turn.
    pieces: BTreeMap<u64, Key>,
    bytes: u64,
    /// Those that it was the first to get.
    own: BTreeSet<u64>,
}

impl InFlight {
    /// Adds a stream, with or without pieces.
    pub(super) fn meet(&mut self, stream: u32) {
        self.streams.entry(stream).or_default();
    }

    pub(super) fn streams(&self) -> u64 {
        self.streams.len() as u64
    }

    /// How many there are.
    pub(super) fn count(&self) -> usize {
        self.pieces.len()
    }

    /// Adds a piece.
    pub(super) fn enter(&mut self, key: Key, length: u64) {
        let piece = Piece {
            length,
            ..Piece::default()
        };
        self.pieces.insert(key, piece);
    }

    /// Zero when there is no such piece.
    pub(super) fn length(&self, key: Key) -> u64 {
        self.pieces.get(&key).map_or(0, |piece| piece.length)
    }

    /// A stream gets a piece.
    pub(super) fn give(&mut self, key: Key, stream: u32) -> Option<Range> {
        let piece = self.pieces.get_mut(&key)?;
        let debt = self.streams.entry(stream).or_default();
        if piece.holders.is_empty() {
            debt.own.insert(self.turn);
        }
        piece.holders.push((stream, self.turn));
        debt.pieces.insert(self.turn, key);
        debt.bytes += piece.length;
        self.turn += 1;
        let (file, start) = key;
        let length = piece.length;
        Some(Range {
            file,
            start,
            length,
        })
    }

    /// The newest piece without a second sender of the stream with most unconfirmed bytes; `None`
    /// while `stream` has pieces of its own under way, and while more than a quarter of the streams
    /// have: these fill the path between them, and copies would only take its room.
    pub(super) fn to_copy(&self, stream: u32) -> Option<Key> {
        let mine = self.streams.get(&stream)?;
        if !mine.own.is_empty() {
            return None;
        }
        let mut others: Vec<&Debt> = self
            .streams
            .values()
            .filter(|debt| !debt.own.is_empty())
            .collect();
        if others.len() > (self.streams.len() / BUSY_SHARE).max(1) {
            return None;
        }
        others.sort_by_key(|debt| std::cmp::Reverse(debt.bytes));
        let is_alone = |key: &&Key| {
            self.pieces
                .get(key)
                .is_some_and(|one| one.holders.len() == 1)
        };
        let newest = |debt: &&Debt| debt.pieces.values().rev().find(is_alone).copied();
        others.iter().find_map(newest)
    }

    /// A stream found that the piece is a hole. Whether that was news.
    pub(super) fn is_hole(&mut self, piece: Range) -> bool {
        let known = self.pieces.get_mut(&(piece.file, piece.start));
        let Some(known) = known.filter(|known| known.length == piece.length) else {
            return false;
        };
        let is_news = !std::mem::replace(&mut known.is_hole, true);
        if is_news {
            self.holes += piece.length;
        }
        is_news
    }

    /// A stream sends the hash of a piece alone.
    pub(super) fn is_offer(&mut self, piece: Range) {
        self.is_hole(piece);
        self.is_moved(piece);
    }

    /// A stream sends what of a piece is not in an older version.
    pub(super) fn is_moved(&mut self, piece: Range) {
        let known = self.pieces.get_mut(&(piece.file, piece.start));
        if let Some(known) = known.filter(|known| known.length == piece.length) {
            known.is_offer = true;
        }
    }

    /// Whether only the hash of a piece was sent so far, or what an older version has not.
    pub(super) fn is_offered(&self, piece: Range) -> bool {
        let known = self.pieces.get(&(piece.file, piece.start));
        known.is_some_and(|known| known.is_offer && known.length == piece.length)
    }

    /// How often it came back.
    pub(super) fn times_back(&self, piece: Range) -> u32 {
        let known = self.pieces.get(&(piece.file, piece.start));
        known.map_or(0, |known| known.damaged)
    }

    /// Bytes of holes that were given out, and of pieces that were offered.
    pub(super) fn holes(&self) -> u64 {
        self.holes
    }

    /// Whether the piece, of which `data` bytes are sent, is read for the first time. One that was
    /// offered in vain is read again, and then more of it is sent.
    pub(super) fn read_first(&mut self, piece: Range, data: u64) -> bool {
        let known = self.pieces.get_mut(&(piece.file, piece.start));
        let Some(known) = known.filter(|known| known.length == piece.length) else {
            return false;
        };
        let is_first = known.data.is_none();
        if is_first || known.damaged > 0 {
            known.data = Some(data.max(known.data.unwrap_or(0)));
        }
        is_first
    }

    /// Bytes of a piece to be confirmed that are no hole; `None` where it was not read.
    pub(super) fn data(&self, piece: Range) -> Option<u64> {
        let known = self.pieces.get(&(piece.file, piece.start))?;
        known.data.filter(|_| known.length == piece.length)
    }

    /// How often by now.
    pub(super) fn damaged(&mut self, key: Key) -> u32 {
        self.pieces.get_mut(&key).map_or(0, |piece| {
            piece.damaged += 1;
            piece.is_offer = false;
            piece.damaged
        })
    }

    /// No stream has the piece any more; it is still to be confirmed.
    pub(super) fn release(&mut self, key: Key) {
        let Some(piece) = self.pieces.get_mut(&key) else {
            return;
        };
        if std::mem::take(&mut piece.is_hole) {
            self.holes -= piece.length;
        }
        for (stream, turn) in piece.holders.drain(..) {
            if let Some(debt) = self.streams.get_mut(&stream) {
                debt.drop_piece(turn, piece.length);
            }
        }
    }

    /// The piece is confirmed, or not wanted any more.
    pub(super) fn remove(&mut self, key: Key) {
        self.release(key);
        self.pieces.remove(&key);
    }

    /// A stream is over.
    ///
    /// * Returns the pieces that no stream has now.
    pub(super) fn part(&mut self, stream: u32) -> Vec<Key> {
        let debt = self.streams.remove(&stream).unwrap_or_default();
        let mut alone = Vec::new();
        for key in debt.pieces.into_values() {
            let Some(piece) = self.pieces.get_mut(&key) else {
                continue;
            };
            piece.holders.retain(|(holder, _)| *holder != stream);
            match piece.holders.first() {
                None => alone.push(key),
                // The helper has it alone now, and may itself be helped.
                Some((other, turn)) => {
                    if let Some(debt) = self.streams.get_mut(other) {
                        debt.own.insert(*turn);
                    }
                }
            }
        }
        alone
    }

    /// All pieces of a file.
    pub(super) fn of_file(&self, file: FileId) -> Vec<Key> {
        let pieces = self.pieces.range((file, 0)..=(file, u64::MAX));
        pieces.map(|(key, _)| *key).collect()
    }
}

impl Debt {
    fn drop_piece(&mut self, turn: u64, length: u64) {
        if self.pieces.remove(&turn).is_some() {
            self.bytes -= length;
        }
        self.own.remove(&turn);
    }
}
