//! Why a message is illegal.

use std::fmt;

use thiserror::Error;

use super::{ENTRIES_MAX, NAMES_MAX, PARTS_MAX, Speaker, UNFINISHED_MAX};
use crate::{FileId, Range};

/// A message that is not legal now, or not in this form.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("the {speaker} end said `{message}`: {rule}")]
pub struct ProtocolViolation {
    /// Who said it.
    pub speaker: Speaker,
    /// Which message.
    pub message: &'static str,
    /// The rule that it breaks.
    pub rule: ProtocolRule,
}

impl ProtocolViolation {
    /// The next step.
    pub fn hint(&self) -> String {
        "this is an error of the program at that end: install the same version at both".to_owned()
    }
}

/// A rule of the protocol.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ProtocolRule {
    /// Before the opening and its answer.
    #[error("the copy is not open yet")]
    NotOpen,
    /// The other end sends this message.
    #[error("that is for the other end to say")]
    Speaker,
    /// The message was sent before.
    #[error("that was said before")]
    Again,
    /// A message after its own `Bye`.
    #[error("it had said that it would say nothing more")]
    AfterBye,
    /// After all was published.
    #[error("everything was complete before")]
    AfterComplete,
    /// Something is still to be done.
    #[error("something is still to be done")]
    Unfinished,
    /// An opening that cannot be.
    #[error("its {what} is {value}; {bound}")]
    Opening {
        /// Which part of it.
        what: &'static str,
        /// What it is.
        value: String,
        /// What it may be.
        bound: &'static str,
    },
    /// A file too large for any file system here.
    #[error("file {file} has {size} bytes, more than a file can have")]
    Size {
        /// Which.
        file: FileId,
        /// Bytes.
        size: u64,
    },
    /// A link that says nothing, too much, or has a zero byte.
    #[error("link {0} does not say where it leads, or at too great a length")]
    Link(FileId),
    /// The name of a temporary file of a copy.
    #[error("file {0} has the name of a temporary file of a copy, which no source may have")]
    Reserved(FileId),
    /// Too many at a time.
    #[error(
        "more than {UNFINISHED_MAX} files, or {NAMES_MAX} bytes of names, are told of and not done"
    )]
    TooMany,
    /// Too many in all.
    #[error("more than {ENTRIES_MAX} entries are told of; copy the folders one after the other")]
    TooManyInAll,
    /// The sum is another.
    #[error("the end counts {said} {what}, but {told} were listed")]
    Sum {
        /// Files or bytes.
        what: &'static str,
        /// As told one by one.
        told: u64,
        /// As said at the end.
        said: u64,
    },
    /// More names share files than there are.
    #[error("{said} names share files, but only {told} entries were listed")]
    Linked {
        /// As said at the end.
        said: u32,
        /// Entries that were told.
        told: u32,
    },
    /// Wants are in order.
    #[error("file {said} is wanted where an answer about file {expected} is due")]
    WantOrder {
        /// Which one it is about.
        said: FileId,
        /// Which it should be about.
        expected: FileId,
    },
    /// Parts out of order, of no length, beyond the file, or too many.
    #[error(
        "the parts that are wanted of file {0} are not in order, not within it, or more than \
        {PARTS_MAX}"
    )]
    Parts(FileId),
    /// Content is wanted of what has none.
    #[error("{0} is no file, and its content is wanted")]
    NoContent(FileId),
    /// Something is removed, and the opening did not ask for that.
    #[error("nothing may be removed in this copy")]
    NotAsked,
    /// What else belongs to a file, out of order, out of its bounds, or not asked for.
    #[error("what it says of owner, attributes and other names of file {0} cannot be")]
    Inode(FileId),
    /// Older versions are told, and the opening did not ask for that.
    #[error("older versions of files are of no use in this copy")]
    OlderUnasked,
    /// Addresses that the opening did not ask for, told again, or too many.
    #[error("no more than 16 addresses are told, once, and only where they are asked for")]
    Addresses,
    /// An older version of a file that was answered, or of no bytes, or chunks that cannot be.
    #[error("what it says of an older version of file {0} cannot be")]
    Older(FileId),
    /// A digest of what has no content, or in a copy that compares none.
    #[error("entry {0} comes with a digest that was not asked for")]
    Digest(FileId),
    /// It was not announced, or is not wanted.
    #[error("that file was not announced")]
    UnknownFile,
    /// A range that is not part of the file.
    #[error("{} bytes at {} are no piece of file {}", .0.length, .0.start, .0.file)]
    Range(Range),
    /// Not in this state.
    #[error("file {0} is not wanted, or was not read to its end, or was named before")]
    FileState(FileId),
    /// No streams, or too many.
    #[error("{count} streams are not between 1 and {bound}")]
    Streams {
        /// How many.
        count: u16,
        /// The most.
        bound: u16,
    },
}

impl fmt::Display for Speaker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Speaker::Near => "near",
            Speaker::Far => "far",
        })
    }
}
