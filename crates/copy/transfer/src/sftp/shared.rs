//! What all connections of a copy over SFTP share.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::Sender;
use std::time::Duration;

use copy_protocol::{FileId, Filter, HASH_LENGTH, Problem, ProblemKind};
use files::source::Source;
use files::store::Store;
use units::{Rate, Span};

use super::item::Item;
use super::journal::Journal;
use super::talk::Halt;
use super::work::Work;
use crate::CopyControl;
use crate::receiver::publisher::Publisher;
use crate::throttle::Throttle;

/// Bytes of a part of a file, where nothing bounds the rate: small where the end of the file may be
/// that of the copy, and large where each takes a note.
const PIECE: u64 = 256 << 10;
const PIECE_OF_LARGE: u64 = 1 << 20;
const LARGE: u64 = 2 << 30;
const PIECE_LEAST: u64 = 32 << 10;
/// A part takes no longer than this where the rate is bounded.
const PIECE_TIME: Span = Span::from_millis(250);

/// What a connection tells the thread that runs the copy.
#[derive(Debug)]
pub(super) enum Note {
    /// A connection carries data now.
    Joined,
    /// The one of this number could not be made.
    NotJoined(u16, Halt),
    /// The one of this number has ended: because it was told to, or for a reason.
    Left(u16, Option<Halt>),
    /// So many bytes are where they belong.
    Arrived(u64),
    /// So many have to be moved again.
    Again(u64),
    /// A file has its final name.
    Published(FileId, [u8; HASH_LENGTH]),
    /// A file cannot be copied.
    Failed(FileId, Problem),
    /// Nothing can be copied any more.
    Fatal(Problem),
}

/// What all connections share.
pub(super) struct Shared {
    pub work: Work,
    pub notes: Sender<Note>,
    pub throttle: Throttle,
    pub control: CopyControl,
    /// Bytes of files that came over the connections.
    pub moved: AtomicU64,
    pub is_over: AtomicBool,
    /// Round trip of the first connection.
    pub rtt: Duration,
    /// Files that may be open at once on each.
    pub handles: usize,
    /// The server tells digests of files.
    pub check_file: bool,
    pub side: Side,
}

/// Which way.
pub(super) enum Side {
    Put(Put),
    Get(Get),
}

/// Files go to the far end.
pub(super) struct Put {
    pub source: Arc<Source>,
    pub journal: Arc<Journal>,
    pub filter: Filter,
    pub times: bool,
}

/// Files come from there.
pub(super) struct Get {
    pub store: Arc<Store>,
    pub publisher: Publisher,
}

impl Shared {
    pub fn tell(&self, note: Note) {
        // Where it is not heard any more the copy is over.
        let _ = self.notes.send(note);
    }

    /// Whether connections are to end.
    pub fn is_over(&self) -> bool {
        self.is_over.load(Ordering::Relaxed) || self.control.is_stopped()
    }

    pub fn on_moved(&self, bytes: u64) {
        self.moved.fetch_add(bytes, Ordering::Relaxed);
    }

    /// A file cannot be copied; a full disk is the end of all.
    pub fn fail(&self, item: &Item, problem: Problem) {
        if !item.end() {
            return;
        }
        match problem.kind {
            ProblemKind::DiskFull => self.tell(Note::Fatal(Problem {
                file: None,
                ..problem
            })),
            _ => self.tell(Note::Failed(item.id, problem)),
        }
    }

    /// Most bytes of a part: less where the rate is bounded, so that it is kept to.
    pub fn piece_size(&self, size: u64) -> u64 {
        let usual = if size > LARGE { PIECE_OF_LARGE } else { PIECE };
        self.control.rate_max().map_or(usual, |rate| {
            let bytes = rate.bytes_in(PIECE_TIME).get();
            bytes.clamp(PIECE_LEAST, usual)
        })
    }
}

/// Keeps to this rate until another one is set.
pub(super) fn throttle(rate: Option<Rate>) -> Throttle {
    let throttle = Throttle::new(1.0);
    throttle.set(rate);
    throttle
}
