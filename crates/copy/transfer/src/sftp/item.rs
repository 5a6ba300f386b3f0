//! One file that is copied, shared by the connections that carry parts of it.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use copy_protocol::sftp::Stat;
use copy_protocol::{Entry, FileId, HASH_LENGTH};
use files::HashTree;
use files::store::Piece;

use super::far_name;

/// Files of up to so many bytes go as a whole.
pub(super) const SMALL: u64 = 1 << 20;

/// Between two flushes of a file that arrives, at least. The last one, which the file waits for,
/// has little left to do; and what is flushed is not sent again by the next copy.
const FLUSH_PAUSE: Duration = Duration::from_secs(1);
/// As long where so many bytes have not come.
const FLUSH_PAUSE_MAX: Duration = Duration::from_secs(5);
const FLUSH_BYTES: u64 = 32 << 20;

/// One file.
#[derive(Debug)]
pub(super) struct Item {
    pub id: FileId,
    pub entry: Entry,
    pub size: u64,
    /// Its name at the far end.
    pub path: Vec<u8>,
    /// (put) Where its content arrives there.
    pub part: Vec<u8>,
    /// (put) Permission bits that it gets; none leaves them to the server.
    pub mode: Option<u32>,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    tree: HashTree,
    /// It failed, or is done with.
    is_over: bool,
    /// It is whole, which was told once.
    is_whole: bool,
    /// Pieces that arrived and may not be on the disk yet.
    unflushed: Vec<Piece>,
    flushed_at: Instant,
    /// Pieces to be read back, where that is asked for.
    pieces: Vec<Piece>,
    keeps_pieces: bool,
    checks_left: usize,
}

impl Item {
    pub fn new(id: FileId, entry: Entry, size: u64, path: Vec<u8>) -> Self {
        Item {
            id,
            entry,
            size,
            part: Vec::new(),
            mode: None,
            path,
            state: Mutex::new(State {
                tree: HashTree::new(size),
                is_over: false,
                is_whole: false,
                unflushed: Vec::new(),
                flushed_at: Instant::now(),
                pieces: Vec::new(),
                keeps_pieces: false,
                checks_left: 0,
            }),
        }
    }

    /// One that goes to the far end.
    ///
    /// * `verify`: its pieces are read back.
    pub fn put(mut self, number: u64, mode: Option<u32>, verify: bool) -> Self {
        // What a session that hangs still writes of another version goes elsewhere.
        self.part = far_name::part(&self.path, number ^ self.entry.version);
        self.mode = mode;
        self.state().keeps_pieces = verify;
        self
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // Each change is complete, even when another thread panicked.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn is_over(&self) -> bool {
        self.state().is_over
    }

    /// Nothing more is done with it; `false` where that was so already.
    pub fn end(&self) -> bool {
        !std::mem::replace(&mut self.state().is_over, true)
    }

    /// What its part has at first: others of the far host may not read it before it has its mode.
    pub fn first(&self) -> Stat {
        Stat {
            mode: Some(self.mode.map_or(0o666, |mode| mode & 0o700 | 0o600)),
            ..Stat::default()
        }
    }

    /// Whether it goes as a whole.
    ///
    /// * `most`: bytes of such a file.
    pub fn is_small(&self, most: u64) -> bool {
        self.size == 0 || self.size <= most && self.present() == 0
    }

    /// Bytes that are there.
    pub fn present(&self) -> u64 {
        self.state().tree.present()
    }

    /// What is missing.
    pub fn missing(&self) -> Vec<std::ops::Range<u64>> {
        self.state().tree.missing(1 << 16)
    }

    /// A piece is where it belongs. Returns the digest of the file once it is whole, and `None` for
    /// a piece that does not fit.
    pub fn add(&self, piece: Piece) -> Option<Option<[u8; HASH_LENGTH]>> {
        let mut state = self.state();
        let inserted = state
            .tree
            .insert(piece.offset, piece.length.into(), piece.hash);
        inserted.ok()?;
        if state.keeps_pieces {
            state.pieces.push(piece);
        }
        if !self.part.is_empty() {
            state.unflushed.push(piece);
        }
        if state.is_whole {
            return Some(None);
        }
        let digest = state.tree.digest();
        state.is_whole = digest.is_some();
        Some(digest)
    }

    /// The digest, where it is whole.
    pub fn digest(&self) -> Option<[u8; HASH_LENGTH]> {
        self.state().tree.digest()
    }

    /// Pieces that a flush covers which is asked for now; none where the last was a moment ago, or
    /// a little longer and not much has come since.
    pub fn to_flush(&self) -> Vec<Piece> {
        let mut state = self.state();
        let pause = state.flushed_at.elapsed();
        let lengths = state.unflushed.iter().map(|piece| u64::from(piece.length));
        let is_much = pause >= FLUSH_PAUSE && lengths.sum::<u64>() >= FLUSH_BYTES;
        if !is_much && pause < FLUSH_PAUSE_MAX {
            return Vec::new();
        }
        state.flushed_at = Instant::now();
        std::mem::take(&mut state.unflushed)
    }

    /// Whether something is to be checked before the file has its name.
    pub fn is_checked(&self) -> bool {
        !self.state().pieces.is_empty()
    }

    /// Pieces that are to be read back before the file has its name.
    pub fn checks(&self) -> Vec<Piece> {
        let mut state = self.state();
        state.checks_left = state.pieces.len();
        std::mem::take(&mut state.pieces)
    }

    /// One of them is right; `true` for the last.
    pub fn checked(&self) -> bool {
        let mut state = self.state();
        state.checks_left = state.checks_left.saturating_sub(1);
        state.checks_left == 0
    }
}
