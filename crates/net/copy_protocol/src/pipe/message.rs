//! What is said.

use observe::StreamCount;
use serde::{Deserialize, Serialize};

use super::PipeViolation;
use crate::third_party::frame;
use crate::{CodecError, CopyDirection, HASH_LENGTH, Incoming, PATH_MAX, Problem, decode_as};

/// Least window.
pub const WINDOW_MIN: u64 = 4 << 20;
/// Largest window.
pub const WINDOW_MAX: u64 = 1 << 30;
/// Most streams.
pub const STREAMS_MAX: u16 = StreamCount::MAX.get();
/// Most words of a program.
pub const PROGRAM_WORDS_MAX: usize = 1024;
/// Most bytes of all words of a program.
pub const PROGRAM_BYTES_MAX: usize = 128 << 10;
/// Bytes that a program printed and that the near end has not passed on yet.
pub const OUTPUT_WINDOW: u64 = 256 << 10;
/// Most bytes of one message of them.
pub const OUTPUT_CHUNK: usize = 32 << 10;

/// What is said over the control connection of a pipe.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum PipeMessage {
    /// (near) Begins a pipe, or goes on with it.
    Open(Box<PipeOpening>),
    /// (far) It is open.
    Opened {
        /// What every stream of this conversation says first.
        session: u64,
        /// Where the far end receives: bytes from the beginning that its reader has.
        taken: u64,
    },
    /// (far, as the sender) Number of streams wanted.
    Streams(u16),
    /// (receiver) Its reader has so many bytes from the beginning.
    Taken(u64),
    /// (sender) What it reads has ended.
    End {
        /// Bytes of the whole.
        bytes: u64,
        /// BLAKE3 of the whole.
        digest: [u8; HASH_LENGTH],
    },
    /// (receiver) All is where it belongs, and its digest is right: the file has its name, the
    /// program reads the end of its input.
    Done,
    /// (receiver) Its reader takes no more.
    Closed,
    /// (far) What the program printed.
    Printed {
        /// On which output.
        output: Output,
        /// The first byte, over both outputs.
        offset: u64,
        /// The bytes, at most [`OUTPUT_CHUNK`].
        bytes: Vec<u8>,
    },
    /// (near) So many bytes of the program's outputs were passed on.
    Passed(u64),
    /// (far) The program has ended, and all that it printed was sent.
    Exited(u8),
    /// (either) It cannot go on.
    Failed(Problem),
    /// (either) The user ended it.
    Cancel,
    /// (either) A sign of life.
    Alive,
    /// (near) The last message.
    Bye,
}

/// Where a program prints.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Output {
    /// Standard output.
    Standard,
    /// Standard error.
    Errors,
}

/// What the far end reads or writes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum PipePlace {
    /// A file of that name, as the user wrote it.
    File(Vec<u8>),
    /// A program with its arguments.
    Program(Vec<Vec<u8>>),
}

/// What the near end wants.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PipeOpening {
    /// Drawn at random; a lost conversation is opened again under the same.
    pub pipe: [u8; 16],
    /// It begins; otherwise it goes on.
    pub is_first: bool,
    /// A put: the near end sends.
    pub direction: CopyDirection,
    /// What is at the far end.
    pub place: PipePlace,
    /// Bytes that may be on the way and waiting, [`WINDOW_MIN`] to [`WINDOW_MAX`].
    pub window: u64,
    /// Of a get: bytes from the beginning that the near end's reader has.
    pub taken: u64,
    /// Of a get: the most that is sent, in bits per second.
    pub rate_max: Option<u64>,
    /// Of a get: this number of streams and no search.
    pub streams: Option<u16>,
}

impl PipeMessage {
    /// The frame, to be sent.
    ///
    /// # Errors
    /// When it is too long.
    pub fn encode(&self) -> Result<Vec<u8>, CodecError> {
        frame(self)
    }
}

impl Incoming for PipeMessage {
    fn decode(_: u16, frame: Vec<u8>) -> Result<Self, CodecError> {
        decode_as(&frame)
    }
}

impl PipeOpening {
    /// Whether all parts are within their bounds.
    ///
    /// # Errors
    /// The first part that is not.
    pub fn check(&self) -> Result<(), PipeViolation> {
        if !(WINDOW_MIN..=WINDOW_MAX).contains(&self.window) {
            let bound = format!("{WINDOW_MIN} to {WINDOW_MAX} are allowed");
            return Err(wrong("window", self.window, bound));
        }
        if let Some(streams) = self.streams
            && !(1..=STREAMS_MAX).contains(&streams)
        {
            let bound = format!("1 to {STREAMS_MAX} are allowed");
            return Err(wrong("number of streams", streams, bound));
        }
        match &self.place {
            PipePlace::File(path) => check_bytes("file name", path.len(), PATH_MAX, path),
            PipePlace::Program(words) => check_program(words),
        }
    }
}

fn check_program(words: &[Vec<u8>]) -> Result<(), PipeViolation> {
    let first = words.first().map_or(&[][..], Vec::as_slice);
    check_bytes("program name", first.len(), PROGRAM_BYTES_MAX, first)?;
    if words.len() > PROGRAM_WORDS_MAX {
        let bound = format!("at most {PROGRAM_WORDS_MAX} words are allowed");
        return Err(wrong("program", format!("{} words", words.len()), bound));
    }
    let all = words.iter().map(Vec::len).sum();
    words
        .iter()
        .try_for_each(|word| check_bytes("program", all, PROGRAM_BYTES_MAX, word))
}

fn check_bytes(
    what: &'static str,
    length: usize,
    most: usize,
    bytes: &[u8],
) -> Result<(), PipeViolation> {
    if !(1..=most).contains(&length) {
        let bound = format!("1 to {most} are allowed");
        return Err(wrong(what, format!("{length} bytes long"), bound));
    }
    match bytes.contains(&0) {
        true => Err(wrong(what, "one with a zero byte", "none may have one")),
        false => Ok(()),
    }
}

fn wrong(what: &'static str, value: impl ToString, bound: impl Into<String>) -> PipeViolation {
    PipeViolation::Opening {
        what,
        value: value.to_string(),
        bound: bound.into(),
    }
}
