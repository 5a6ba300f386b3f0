//! The messages of the control connection.

use std::net::IpAddr;

use errors::{Error, Fault};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Activity;

use super::{FileId, HASH_LENGTH, Inode, Limited, Name, Opening, Sending};

/// A file, folder or link to copy. Its position among all entries is its [`FileId`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entry {
    /// Below the destination; empty when the destination itself is this file.
    pub name: Name,
    /// What it is.
    pub kind: Kind,
    /// Permission bits, without the kind.
    pub mode: u32,
    /// Time of last modification in nanoseconds since 1970, negative before.
    pub modified_nanoseconds: i64,
    /// Which version of the source this is: a number that another file, or a file that was written
    /// to or replaced since, does not have, even where size and time are the same. What arrived of
    /// one version is not taken up with another.
    pub version: u64,
    /// It takes less room than its size, so the receiver does not reserve all of it:
    /// some may come as holes.
    pub is_sparse: bool,
    /// BLAKE3 of a file's content, where the copy compares contents and the sender could read it.
    pub digest: Option<[u8; HASH_LENGTH]>,
}

/// What an entry is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Kind {
    /// A regular file of this many bytes.
    File(u64),
    /// A folder; comes before what is in it.
    Folder,
    /// A symbolic link with its target. The receiver never follows it.
    Link(Vec<u8>),
}

/// Part of a file: `start..start + length`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Range {
    /// Which file.
    pub file: FileId,
    /// First byte.
    pub start: u64,
    /// Number of bytes.
    pub length: u64,
}

/// What the receiver wants of one entry.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Want {
    /// Everything.
    Whole(FileId),
    /// What an earlier try left out: these parts, in order. What it left is read back meanwhile;
    /// see [`Message::ReadBack`].
    Rest(FileId, Vec<(u64, u64)>),
    /// Nothing: it is there already, or cannot be had.
    Nothing(FileId),
    /// Nothing: this folder or link was just made.
    Made(FileId),
}

/// Something that was removed from the destination, or would be in a dry run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Removed {
    /// Its name below the destination.
    pub name: Name,
    /// It was a folder.
    pub is_folder: bool,
}

/// A file that has its final name and content.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Published {
    /// Which file.
    pub file: FileId,
    /// BLAKE3 of the whole file, from the hashes of all its pieces.
    pub digest: [u8; HASH_LENGTH],
}

/// Bytes of the hash of a [`Chunk`]: two that are not the same and have one hash cost a piece that
/// is sent once more, so that few are enough.
pub const CHUNK_HASH_LENGTH: usize = 8;

/// A part of an older version.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Chunk {
    /// Bytes.
    pub length: u32,
    /// The first bytes of their BLAKE3.
    pub hash: [u8; CHUNK_HASH_LENGTH],
}

/// Kind of a problem.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ProblemKind {
    /// The request cannot be fulfilled as it was made: wrong path, not allowed.
    Request,
    /// Nothing of that name.
    NotFound,
    /// No right to read or write.
    Permission,
    /// No room left.
    DiskFull,
    /// A disk could not be read or written.
    Disk,
    /// The source became another file while it was read.
    SourceChanged,
    /// What arrived is not what was read, more than once.
    Corrupt,
    /// Another copy writes to the same place.
    Busy,
    /// The peer broke the protocol.
    Protocol,
    /// The user ended it.
    Cancelled,
    /// Nothing that could be copied: a pipe, a socket or a device. It is left out, and that is no
    /// failure.
    NoContent,
    /// The folder that it is in failed, which has been told.
    Follows,
    /// A temporary file of a copy that goes on or was broken off. It is no part of this one, and
    /// that is no failure.
    Unfinished,
}

impl ProblemKind {
    /// Whether another request would have been the remedy.
    pub fn fault(self) -> Fault {
        match self {
            ProblemKind::Request | ProblemKind::NotFound => Fault::Request,
            ProblemKind::Cancelled => Fault::Cancelled,
            ProblemKind::Busy => Fault::Later,
            ProblemKind::Permission
            | ProblemKind::DiskFull
            | ProblemKind::Disk
            | ProblemKind::SourceChanged
            | ProblemKind::Corrupt
            | ProblemKind::Protocol
            | ProblemKind::NoContent
            | ProblemKind::Unfinished
            | ProblemKind::Follows => Fault::Run,
        }
    }
}

/// A problem, in words for the user at the other end.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Problem {
    /// What kind.
    pub kind: ProblemKind,
    /// The file, where it is about one; others go on.
    pub file: Option<FileId>,
    /// What happened: value and bound.
    pub what: String,
    /// The next step.
    pub hint: Option<String>,
}

impl From<Problem> for Error {
    fn from(problem: Problem) -> Self {
        let error = Error::sentence(problem.kind.fault(), problem.what, None);
        match problem.hint {
            Some(hint) => error.with_hint(hint),
            None => error,
        }
    }
}

/// A message of the control connection. The sender is in brackets.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Message {
    /// (near) The request.
    Open(Box<Opening>),
    /// (far) The request is accepted.
    Opened {
        /// The number that streams of this conversation carry.
        session: u64,
        /// The destination is new or an empty folder: everything will be wanted, so data may come
        /// at once.
        fresh: bool,
    },
    /// (sender) Entries, in order, some at a time.
    Entries(Vec<Entry>),
    /// (sender) All entries were sent.
    EntriesEnd {
        /// How many.
        count: u32,
        /// Bytes of all files.
        bytes: u64,
        /// Names of files that have another name among these (hard links). Each becomes a file of
        /// its own.
        linked: u32,
    },
    /// (receiver) What of each entry is missing, in order.
    Wants(Vec<Want>),
    /// (receiver) Pieces that arrived whole and were written.
    Received(Vec<Range>),
    /// (receiver) A piece that arrived damaged.
    Damaged(Range),
    /// (sender) Files of which all that is wanted was read, and that did not change meanwhile.
    FileEnds(Vec<FileId>),
    /// (receiver) Files that have their final name and content.
    Published(Vec<Published>),
    /// (either) One file cannot be copied, or, without a file, none.
    Failed(Problem),
    /// (either) A problem without an entry: the sender cannot even list it, or it
    /// is a folder's time.
    LeftOut {
        /// Its name.
        name: String,
        /// Why.
        problem: Problem,
    },
    /// (receiver) Everything that was wanted is published or failed.
    Complete,
    /// (sender) Number of streams wanted, to the end that connects. Surplus streams are
    /// closed by the sender.
    Streams(u16),
    /// (near) Another bound on the rate, in bits per second; none lifts it.
    RateMax(Option<u64>),
    /// (either) Sign of life, twice a second, with what the threads did.
    Alive(Activity),
    /// (sender) How its streams fare, and what has limited the copy so far; twice a second.
    Sending(Sending, Option<Box<Limited>>),
    /// (either) The user ended it; what is there can be resumed.
    Cancel,
    /// (either) The last message.
    Bye,
    /// (receiver) What an earlier try left of a file was read from the disk again. The sender says
    /// that a file ends only after the last of these.
    ReadBack {
        /// A file of which the [`Want::Rest`] is wanted.
        file: FileId,
        /// Start and length of what reads back as something else, in order: wanted after all.
        parts: Vec<(u64, u64)>,
        /// All of it was read.
        is_all: bool,
    },
    /// (receiver) What the sources do not have is gone, or would be in a dry run. Only where that
    /// was asked for, and after all else is done.
    Removed(Vec<Removed>),
    /// (near) This number of streams from now on; none leaves it to the sender.
    FixedStreams(Option<u16>),
    /// (far, as the receiver) This copy's part of the streams that all copies between both hosts
    /// have; none leaves it to the sender. What the near end fixed holds all the same.
    SharedStreams(Option<u16>),
    /// (far, as the receiver) This copy's part of what the server allows all copies; none where
    /// there is no bound. Holds besides what the near end asked for.
    ServerBounds {
        /// Bits per second.
        rate: Option<u64>,
        /// The most streams.
        streams: Option<u16>,
    },
    /// (sender) What else belongs to entries that come next, in their order; see [`Inode`]. Those
    /// of which nothing is to be said have none.
    Inodes(Vec<Inode>),
    /// (receiver) Files that will be wanted and are there in an older version of so many bytes.
    /// Pieces within these may be offered by their hash. Only where that was asked for.
    Older(Vec<(FileId, u64)>),
    /// (far) Its addresses at which it takes streams of this copy, at most
    /// [`PAIRS_MAX`](crate::PAIRS_MAX). Only where the opening asks for them, and then right behind
    /// [`Message::Opened`]. The near end connects to them as to the first one: only an end with the
    /// same certificate takes a stream.
    Addresses(Vec<IpAddr>),
    /// (receiver) How an older version is cut by what is in it: chunks one behind the other. Pieces
    /// may be put together of what it has at other places. Only where that was asked for.
    Chunks {
        /// Of which file.
        file: FileId,
        /// Where the first of them begins in the older version.
        start: u64,
        /// At least one.
        chunks: Vec<Chunk>,
    },
}
