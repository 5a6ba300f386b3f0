//! Breaches of the rules.

use thiserror::Error;

/// A breach of the rules, after which nothing of the peer is believed.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum PipeViolation {
    /// Bytes that do not begin a block.
    #[error("bytes {0:02x?} do not begin a block")]
    NoBlock([u8; 4]),
    /// A block that is empty or too long.
    #[error("a block has {0} bytes; 1 to {max} are allowed", max = super::BLOCK_MAX)]
    Length(u32),
    /// A block beyond the window.
    #[error("a block ends at byte {end}, beyond the window, which ends at {bound}")]
    Window {
        /// Where it ends.
        end: u64,
        /// Where the window ends.
        bound: u64,
    },
    /// More blocks than may be on the way.
    #[error("more than {max} blocks are on the way", max = super::BLOCKS_MAX)]
    Blocks,
    /// A block that has bytes of another one.
    #[error("the block at byte {0} has bytes of another one")]
    Overlap(u64),
    /// The end lies before bytes that came.
    #[error("the end is said to be at byte {end}, and byte {known} came")]
    End {
        /// What was said.
        end: u64,
        /// What came, or was said before.
        known: u64,
    },
    /// What is confirmed was never sent, or is part of a block.
    #[error("{taken} bytes are confirmed, and {sent} were sent")]
    Taken {
        /// What was confirmed.
        taken: u64,
        /// What was sent.
        sent: u64,
    },
    /// A part of an opening out of bounds.
    #[error("the {what} of a pipe is {value}; {bound}")]
    Opening {
        /// Which.
        what: &'static str,
        /// What it is.
        value: String,
        /// What is allowed.
        bound: String,
    },
}
