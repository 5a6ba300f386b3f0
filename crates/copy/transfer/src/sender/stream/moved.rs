//! Pieces of which the receiver's older version has bytes at other places.

use std::io;
use std::sync::Arc;

use copy_protocol::{Chunk, Coding, HASH_LENGTH};

use super::{PieceSink, SendStream};
use crate::activity::Waiting;
use crate::sender::outgoing::OutgoingPiece;
use files::moved::{Cuts, Recipe};

/// After so many pieces in a row that were looked for in vain, one of as many is looked for: what
/// is read around a piece, and cut, is more than twice the piece.
const IN_VAIN: u32 = 16;

impl<O: PieceSink> SendStream<O> {
    /// What of a piece the older version has not, and where it has the rest. Whether it was sent
    /// so: where that saves little, or the file cannot be read, it is sent as any other.
    pub(super) fn send_moved(&mut self, out: &OutgoingPiece) -> io::Result<bool> {
        let Some(cuts) = self.queue.cuts(out.piece) else {
            return Ok(false);
        };
        let is_tried = self.in_vain < IN_VAIN || self.in_vain.is_multiple_of(IN_VAIN);
        let recipe = is_tried.then(|| self.recipe(out, cuts)).flatten();
        let Some((recipe, hash)) = recipe else {
            self.in_vain = self.in_vain.wrapping_add(1);
            return Ok(false);
        };
        self.in_vain = 0;
        self.queue.is_moved(out.piece);
        let header = out.header(Coding::Moved, recipe.wire.len());
        self.gather(&header.encode())?;
        self.gather(&recipe.wire)?;
        self.note_read(out, recipe.sent);
        self.gather(&header.seal(&hash))?;
        Ok(true)
    }

    fn recipe(&mut self, out: &OutgoingPiece, cuts: Cuts) -> Option<(Recipe, [u8; HASH_LENGTH])> {
        let reader = out.reader.as_deref()?;
        let piece = out.piece;
        let around = cuts.around(piece.start..piece.start + piece.length, reader.size());
        let mut bytes = vec![0; usize::try_from(around.end.checked_sub(around.start)?).ok()?];
        let queue = Arc::clone(&self.queue);
        let read = || reader.read(around.start, &mut bytes);
        let read = queue.spent.during(&mut self.stopwatch, Waiting::Disk, read);
        // What is wrong with the file is told when the piece is sent as any other.
        read.and_then(|()| reader.check()).ok()?;
        let from = usize::try_from(piece.start - around.start).ok()?;
        let within = from..from + out.length as usize;
        let mut hasher = out.hasher();
        hasher.update(bytes.get(within.clone())?);
        let place = |chunk: &Chunk| queue.place(piece.file, chunk);
        let recipe = cuts.recipe(&bytes, within, around.end == reader.size(), place)?;
        queue.spent.count(piece.length);
        Some((recipe, hasher.finish()?))
    }
}
