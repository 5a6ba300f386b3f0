//! A pipe as the near end wants it, and what it did.

use std::fs::File;
use std::ops::RangeInclusive;

use copy_protocol::pipe::PipePlace;
use copy_protocol::{CopyDirection, FarHost};
use observe::{StreamCount, Transport};
use units::{Bytes, Rate, Span};

use super::input::Input;

/// A pipe between this host and another one.
#[derive(Debug, Clone)]
pub struct PipeSpec {
    /// The other host.
    pub host: FarHost,
    /// A put: what is read here goes there.
    pub direction: CopyDirection,
    /// What is there.
    pub place: PipePlace,
    /// What each end holds at most of what is on the way.
    pub window: Bytes,
    /// This many streams and no search.
    pub streams: Option<StreamCount>,
    /// The most that is sent over all streams together.
    pub rate_max: Option<Rate>,
    /// Ports that the far end may listen on, where ssh starts it.
    pub ports: Option<RangeInclusive<u16>>,
    /// What carries the streams.
    pub transport: Transport,
    /// How long the far end may be away once it was there.
    pub patience: Span,
}

/// What a pipe reads and writes at this end.
#[derive(Debug)]
pub enum NearPipe {
    /// Of a put: it reads this, and passes on what the program there prints, where one is.
    Reads {
        /// What goes there.
        input: Input,
        /// Where goes what the program prints on its standard output.
        output: Option<File>,
        /// Likewise, of its standard error.
        errors: Option<File>,
    },
    /// Of a get: it writes to this.
    Writes {
        /// Where what comes goes.
        output: File,
        /// Where goes what the program there prints on its standard error.
        errors: Option<File>,
    },
}

/// What a pipe did.
#[derive(Debug, Clone, PartialEq)]
pub struct PipeOutcome {
    /// Bytes that the reader at the other side has.
    pub taken: Bytes,
    /// All of the input is there, and both ends have the same digest of it. Otherwise the program
    /// there ended, or closed its input, before that.
    pub is_whole: bool,
    /// The exit code of the program there.
    pub exit: Option<u8>,
    /// How long it took.
    pub took: Span,
    /// Streams that there were last.
    pub streams: u16,
    /// Control connections that were made anew.
    pub reconnects: u32,
}
