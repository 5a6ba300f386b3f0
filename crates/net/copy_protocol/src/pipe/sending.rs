//! The sender's part: blocks that are not confirmed, and which of them is to be sent next.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::{BLOCKS_MAX, BlockHeader, PipeViolation};
use crate::HASH_LENGTH;

/// The end of the whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct End {
    /// Bytes.
    pub bytes: u64,
    /// BLAKE3.
    pub digest: [u8; HASH_LENGTH],
}

/// Blocks of the sender that are not confirmed.
#[derive(Debug)]
pub struct SendWindow {
    window: u64,
    taken: u64,
    cut: u64,
    blocks: BTreeMap<u64, Block>,
    /// Offsets of blocks that no stream has.
    waiting: BTreeSet<u64>,
    end: Option<End>,
}

#[derive(Debug)]
struct Block {
    bytes: Arc<Vec<u8>>,
    /// The stream that has it.
    on: Option<u32>,
    was_sent: bool,
}

impl SendWindow {
    /// Nothing was read yet; `window`: bytes that may be read and not confirmed.
    pub fn new(window: u64) -> Self {
        SendWindow {
            window,
            taken: 0,
            cut: 0,
            blocks: BTreeMap::new(),
            waiting: BTreeSet::new(),
            end: None,
        }
    }

    /// How many bytes the next block may have; zero while nothing more may be read.
    pub fn room(&self) -> u64 {
        match self.blocks.len() < BLOCKS_MAX && self.end.is_none() {
            true => self.window.saturating_sub(self.cut - self.taken),
            false => 0,
        }
    }

    /// Takes what was read, at most as much as there is room for.
    pub fn push(&mut self, bytes: Vec<u8>) {
        if bytes.is_empty() {
            return;
        }
        let offset = self.cut;
        self.cut += bytes.len() as u64;
        self.waiting.insert(offset);
        let block = Block {
            bytes: Arc::new(bytes),
            on: None,
            was_sent: false,
        };
        self.blocks.insert(offset, block);
    }

    /// What is read has ended.
    pub fn finish(&mut self, digest: [u8; HASH_LENGTH]) {
        let bytes = self.cut;
        self.end.get_or_insert(End { bytes, digest });
    }

    /// The end, once it is known.
    pub fn end(&self) -> Option<End> {
        self.end
    }

    /// Bytes that were read.
    pub fn read(&self) -> u64 {
        self.cut
    }

    /// Bytes that are confirmed.
    pub fn taken(&self) -> u64 {
        self.taken
    }

    /// Whether blocks wait for a stream.
    pub fn has_waiting(&self) -> bool {
        !self.waiting.is_empty()
    }

    /// The first block that waits, for that stream.
    pub fn take(&mut self, stream: u32) -> Option<(BlockHeader, Arc<Vec<u8>>)> {
        let offset = self.waiting.pop_first()?;
        let block = self.blocks.get_mut(&offset)?;
        block.on = Some(stream);
        block.was_sent = true;
        let length = u32::try_from(block.bytes.len()).unwrap_or(u32::MAX);
        Some((BlockHeader { offset, length }, Arc::clone(&block.bytes)))
    }

    /// The receiver's reader has so many bytes.
    ///
    /// # Errors
    /// When so many were not sent, or they end within a block.
    pub fn on_taken(&mut self, taken: u64) -> Result<(), PipeViolation> {
        if taken <= self.taken {
            return Ok(());
        }
        let ends_a_block = taken == self.cut || self.blocks.contains_key(&taken);
        let mut freed = self.blocks.range(..taken).map(|(_, block)| block);
        if !ends_a_block || !freed.all(|block| block.was_sent) {
            let sent = self.cut;
            return Err(PipeViolation::Taken { taken, sent });
        }
        self.blocks = self.blocks.split_off(&taken);
        self.waiting = self.waiting.split_off(&taken);
        self.taken = taken;
        Ok(())
    }

    /// A stream broke: what it had and is not confirmed waits again. Returns the bytes of that.
    pub fn on_lost(&mut self, stream: u32) -> u64 {
        self.send_again(|block| block.on == Some(stream))
    }

    /// All streams are gone: what is not confirmed waits again.
    pub fn on_all_lost(&mut self) -> u64 {
        self.send_again(|_| true)
    }

    fn send_again(&mut self, is_lost: impl Fn(&Block) -> bool) -> u64 {
        let mut bytes = 0;
        for (offset, block) in &mut self.blocks {
            if is_lost(block) && self.waiting.insert(*offset) {
                block.on = None;
                bytes += block.bytes.len() as u64;
            }
        }
        bytes
    }
}
