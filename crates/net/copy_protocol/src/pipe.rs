//! Pipes, without I/O: one stream of bytes of unknown length, from a program or a file at one host
//! to a program or a file at the other.
//!
//! A pipe has a control connection, with the handshake of [this crate](crate) and messages of its
//! own ([`PipeMessage`]), and streams, which greet as those of copies do. The *sender* cuts what it
//! reads into blocks. A block has its place in the whole ([`BlockHeader`]) and goes over any
//! stream; the *receiver* puts blocks into order again, hands them to its reader, and confirms
//! that ([`PipeMessage::Taken`]). The sender keeps what is not confirmed, and never sends what lies
//! further than a window behind that: so both ends hold no more than a window, and a reader that
//! stands still makes the writer wait.
//!
//! At its end the sender says the length and the BLAKE3 digest of all. Only when the receiver has
//! given all of it away and its own digest is the same does the receiver close what it writes to:
//! a file gets its name, a program reads the end of its input. Whatever happens before that, no
//! file gets its name and no program at the far end reads the end of its input. A reader behind the
//! near end's standard output does.
//!
//! Blocks of a stream that broke are sent again. So are all that are not confirmed once a lost
//! control connection was made anew.
//!
//! Reading order: `message` for what is said, `block` for the bytes, [`SendWindow`] and
//! [`ArriveWindow`] for the two ends.

mod arriving;
mod block;
mod message;
mod sending;
mod violation;

pub use arriving::ArriveWindow;
pub use block::{BLOCK_HEADER_LENGTH, BLOCK_MAX, BlockHeader};
pub use message::{
    OUTPUT_CHUNK, OUTPUT_WINDOW, Output, PROGRAM_BYTES_MAX, PROGRAM_WORDS_MAX, PipeMessage,
    PipeOpening, PipePlace, STREAMS_MAX, WINDOW_MAX, WINDOW_MIN,
};
pub use sending::{End, SendWindow};
pub use violation::PipeViolation;

/// Version of all of this. Ends of different versions make no pipes.
pub const PIPE_VERSION: u16 = 1;
/// Most blocks that are not confirmed, however short they are.
pub const BLOCKS_MAX: usize = 4096;
