//! The receiver's part: blocks come in any order, and are given away in theirs.

use std::collections::BTreeMap;

use super::{BLOCK_MAX, BLOCKS_MAX, BlockHeader, End, PipeViolation};

/// Blocks that came and were not given away yet.
#[derive(Debug)]
pub struct ArriveWindow {
    window: u64,
    /// The reader has them.
    taken: u64,
    /// They were given away, to be written.
    given: u64,
    blocks: BTreeMap<u64, Vec<u8>>,
    end: Option<End>,
}

impl ArriveWindow {
    /// Nothing came yet; `window`: bytes that the sender may send ahead of the reader.
    pub fn new(window: u64) -> Self {
        ArriveWindow {
            window,
            taken: 0,
            given: 0,
            blocks: BTreeMap::new(),
            end: None,
        }
    }

    /// Whether a block may come.
    ///
    /// # Errors
    /// When it lies beyond the window, beyond the end, or is too long.
    pub fn check(&self, header: BlockHeader) -> Result<(), PipeViolation> {
        let BlockHeader { offset, length } = header;
        if !(1..=BLOCK_MAX).contains(&length) {
            return Err(PipeViolation::Length(length));
        }
        let end = offset.saturating_add(length.into());
        let bound = self.taken.saturating_add(self.window);
        let bound = self.end.map_or(bound, |end| end.bytes.min(bound));
        match end > bound {
            true => Err(PipeViolation::Window { end, bound }),
            false => Ok(()),
        }
    }

    /// Takes a block. Returns whether it is new: one that was sent again may have come before.
    ///
    /// # Errors
    /// As [`ArriveWindow::check`]; when it has bytes of another one, or too many wait.
    pub fn offer(&mut self, offset: u64, bytes: Vec<u8>) -> Result<bool, PipeViolation> {
        let length = u32::try_from(bytes.len()).unwrap_or(u32::MAX);
        self.check(BlockHeader { offset, length })?;
        let end = offset + u64::from(length);
        if end <= self.given {
            return Ok(false);
        }
        if let Some(there) = self.blocks.get(&offset) {
            return match there.len() == bytes.len() {
                true => Ok(false),
                false => Err(PipeViolation::Overlap(offset)),
            };
        }
        let before = self.blocks.range(..offset).next_back();
        let before = before.map_or(self.given, |(at, block)| at + block.len() as u64);
        let reaches_next = self.blocks.range(offset..end).next().is_some();
        if before > offset || reaches_next {
            return Err(PipeViolation::Overlap(offset));
        }
        if self.blocks.len() >= BLOCKS_MAX {
            return Err(PipeViolation::Blocks);
        }
        self.blocks.insert(offset, bytes);
        Ok(true)
    }

    /// The next block in order, to be written; [`ArriveWindow::on_written`] says that it was.
    pub fn next_block(&mut self) -> Option<Vec<u8>> {
        let block = self.blocks.remove(&self.given)?;
        self.given += block.len() as u64;
        Some(block)
    }

    /// Whether the next block in order is there.
    pub fn has_next(&self) -> bool {
        self.blocks.contains_key(&self.given)
    }

    /// The reader has all that was given away.
    pub fn on_written(&mut self) {
        self.taken = self.given;
    }

    /// Bytes that the reader has.
    pub fn taken(&self) -> u64 {
        self.taken
    }

    /// The sender says where the end is.
    ///
    /// # Errors
    /// When more came, or it said something else before.
    pub fn on_end(&mut self, end: End) -> Result<(), PipeViolation> {
        let last = self.blocks.last_key_value();
        let came = last.map_or(self.given, |(at, block)| at + block.len() as u64);
        let said = self.end.filter(|said| *said != end);
        let known = said.map_or(came, |said| said.bytes);
        if said.is_some() || end.bytes < came {
            let end = end.bytes;
            return Err(PipeViolation::End { end, known });
        }
        self.end = Some(end);
        Ok(())
    }

    /// The end, once the reader has all that stands before it.
    pub fn reached_end(&self) -> Option<End> {
        self.end.filter(|end| end.bytes == self.taken)
    }
}
