//! The incoming files, shared by the receiver's streams: what of each is there, and which stream
//! writes what.

use std::collections::BTreeMap;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, RwLock};
use std::time::Duration;

use copy_protocol::{Coding, FileId, HASH_LENGTH, PIECE_MAX, PieceHeader, Problem};

use files::store::{Piece, Store};
use files::{HashTree, legal_piece};

/// How long a stream waits to be told of a file whose piece it has: entries come on another
/// connection.
const ENTRY_MAX: Duration = Duration::from_secs(60);

/// All files that are wanted and not whole yet.
#[derive(Debug, Default)]
pub(crate) struct IncomingFiles {
    state: Mutex<Files>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct Files {
    files: BTreeMap<FileId, Arc<IncomingFile>>,
    /// Files with lower numbers were told.
    told: FileId,
    /// There are no others.
    is_all: bool,
    is_over: bool,
}

/// A piece of a file that the sender has not told of.
#[derive(Debug, thiserror::Error)]
#[error("a piece of file {0} came, which was never told of")]
pub(crate) struct NeverTold(FileId);

/// One file that arrives.
#[derive(Debug)]
pub(crate) struct IncomingFile {
    id: FileId,
    /// Its length in bytes.
    pub size: u64,
    state: RwLock<FileState>,
}

#[derive(Debug)]
struct FileState {
    tree: HashTree,
    /// Pieces that are being written, by offset, and by which stream. When two streams bring the
    /// same piece, the later one writes: the earlier one hangs, probably. What it still brings is
    /// not written, so that it cannot damage what was verified.
    writers: BTreeMap<u64, Writer>,
    /// The sender has read it to its end.
    is_read: bool,
    is_whole: bool,
}

/// What stands in a part of a file.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Content<'a> {
    /// These bytes.
    Data(&'a [u8]),
    /// A hole of so many.
    Hole(u64),
}

/// Which stream writes a piece.
#[derive(Debug, Clone, Copy)]
struct Writer {
    stream: u32,
    length: u64,
    /// It took the piece over from another stream, whose bytes are not written any more. If this
    /// one breaks too, no stream brings them.
    took_over: bool,
}

/// What became of a piece.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PieceResult {
    /// It counts.
    Counts {
        /// With it the file is whole.
        digest: Option<[u8; HASH_LENGTH]>,
    },
    /// Another stream has it, or its file is done with.
    Superfluous,
    /// Another stream took it over and broke: it has to be sent again.
    Lost,
}

impl IncomingFiles {
    fn state(&self) -> MutexGuard<'_, Files> {
        // Each change is complete, even when another thread panicked.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A file of `size` bytes is wanted, but for what `tree` has, or what is
    /// [restored](IncomingFile::restore) later.
    pub(crate) fn expect(&self, id: FileId, tree: HashTree, size: u64) -> Arc<IncomingFile> {
        let state = FileState {
            tree,
            writers: BTreeMap::new(),
            is_read: false,
            is_whole: false,
        };
        let file = IncomingFile {
            id,
            size,
            state: RwLock::new(state),
        };
        let file = Arc::new(file);
        self.state().files.insert(id, Arc::clone(&file));
        file
    }

    /// Everything below `next` was told.
    pub(crate) fn told(&self, next: FileId) {
        self.state().told = next;
        self.changed.notify_all();
    }

    /// No others will be told of.
    pub(crate) fn told_all(&self) {
        self.state().is_all = true;
        self.changed.notify_all();
    }

    /// The file, once it was told of; `None` when nothing of it is wanted (any more).
    ///
    /// # Errors
    /// When it is never told of: the sender made it up.
    pub(crate) fn find(&self, id: FileId) -> Result<Option<Arc<IncomingFile>>, NeverTold> {
        let state = self.state();
        let is_unknown = |state: &mut Files| state.told <= id && !state.is_all && !state.is_over;
        let waited = self
            .changed
            .wait_timeout_while(state, ENTRY_MAX, is_unknown);
        let (state, _) = waited.unwrap_or_else(PoisonError::into_inner);
        match state.told <= id {
            true => Err(NeverTold(id)),
            false => Ok(state.files.get(&id).cloned()),
        }
    }

    /// Whether [`IncomingFiles::find`] would answer at once.
    #[cfg(test)]
    pub(crate) fn is_answered(&self, id: FileId) -> bool {
        let state = self.state();
        state.told > id || state.is_all || state.is_over
    }

    /// The sender has read it. Returns the digest when it is whole with that.
    pub(crate) fn on_read(&self, id: FileId) -> Option<[u8; HASH_LENGTH]> {
        let file = self.state().files.get(&id).cloned()?;
        file.change(|state| {
            state.is_read = true;
            state.digest_once()
        })
    }

    /// Nothing of it is wanted any more.
    pub(crate) fn remove(&self, id: FileId) {
        if let Some(file) = self.state().files.remove(&id) {
            file.change(|state| state.is_whole = true);
        }
    }

    /// No stream waits any more.
    pub(crate) fn close(&self) {
        self.state().is_over = true;
        self.changed.notify_all();
    }
}

impl IncomingFile {
    fn change<T>(&self, change: impl FnOnce(&mut FileState) -> T) -> T {
        // As above.
        change(&mut self.state.write().unwrap_or_else(PoisonError::into_inner))
    }

    /// Whether this can be a piece of it.
    pub(crate) fn fits(&self, header: &PieceHeader) -> bool {
        legal_piece(self.size, header.offset, header.length.into())
    }

    /// A stream begins to write a piece. Whether it is needed.
    pub(crate) fn begin(&self, header: &PieceHeader, stream: u32) -> bool {
        self.change(|state| {
            let is_there = state.tree.covers(header.offset, header.length.into());
            let is_needed = !state.is_whole && !is_there;
            if is_needed {
                // A part of it that is there is written over, so it is there again only once the
                // whole piece is right.
                state.tree.forget(header.offset, header.length.into());
                state.stop_others_within(header.offset, header.length.into());
                let before = state.writers.get(&header.offset);
                let took_over = before.is_some_and(|other| other.stream != stream);
                let writer = Writer {
                    stream,
                    length: header.length.into(),
                    took_over,
                };
                state.writers.insert(header.offset, writer);
            }
            is_needed
        })
    }

    /// Writes part of a piece if this stream (still) is the one that does. Returns whether it is.
    pub(crate) fn write(
        &self,
        store: &Store,
        piece: u64,
        stream: u32,
        offset: u64,
        content: Content<'_>,
    ) -> Result<bool, Problem> {
        // Locked while writing: a stream that takes the piece over waits until this is written.
        let state = self.state.read().unwrap_or_else(PoisonError::into_inner);
        if state.is_whole || !state.is_writer(piece, stream) {
            return Ok(false);
        }
        let written = match content {
            Content::Data(bytes) => store.write(self.id, offset, bytes),
            Content::Hole(length) => store.make_hole(self.id, offset, length),
        };
        written.map(|()| true)
    }

    /// A piece of an earlier try was read back and is right. Whether it counts now.
    pub(crate) fn restore(&self, piece: &Piece) -> bool {
        self.change(|state| {
            let inserted = state
                .tree
                .insert(piece.offset, piece.length.into(), piece.hash);
            inserted.is_ok()
        })
    }

    /// The piece is written and its hash right.
    pub(crate) fn place(
        &self,
        store: &Store,
        header: &PieceHeader,
        stream: u32,
        hash: [u8; HASH_LENGTH],
    ) -> Result<PieceResult, Problem> {
        let piece = Piece {
            offset: header.offset,
            length: header.length,
            hash,
        };
        let is_only = u64::from(header.length) == self.size;
        let placed = self.change(|state| {
            if state.is_whole || !state.is_writer(header.offset, stream) {
                let is_written = state.writers.contains_key(&header.offset);
                let is_there = state.tree.covers(header.offset, header.length.into());
                return Ok(match state.is_whole || is_written || is_there {
                    true => PieceResult::Superfluous,
                    false => PieceResult::Lost,
                });
            }
            state.writers.remove(&header.offset);
            let inserted = state.tree.insert(piece.offset, piece.length.into(), hash);
            inserted.map(|_| PieceResult::Counts {
                digest: state.digest_once(),
            })
        });
        match placed {
            Ok(PieceResult::Counts { digest }) => {
                match header.coding {
                    _ if is_only => {}
                    Coding::Hole => store.note_hole(self.id, &piece)?,
                    _ => store.note(self.id, &piece)?,
                }
                Ok(PieceResult::Counts { digest })
            }
            Ok(other) => Ok(other),
            Err(error) => Err(Problem {
                kind: copy_protocol::ProblemKind::Protocol,
                file: Some(self.id),
                what: error.to_string(),
                hint: None,
            }),
        }
    }

    /// The piece came wrong, or its stream broke. Returns whether it has to be asked for again,
    /// because another stream gave way to this one.
    pub(crate) fn abandon(&self, header: &PieceHeader, stream: u32) -> bool {
        self.change(|state| {
            let is_mine = state.is_writer(header.offset, stream);
            let writer = is_mine.then(|| state.writers.remove(&header.offset));
            writer.flatten().is_some_and(|writer| writer.took_over)
        })
    }
}

impl FileState {
    fn is_writer(&self, piece: u64, stream: u32) -> bool {
        let writer = self.writers.get(&piece);
        writer.is_some_and(|writer| writer.stream == stream)
    }

    /// Pieces that overlap this one and begin elsewhere are not written any more: what they bring
    /// later would lie over what was verified by then. No honest sender cuts a place in two ways.
    fn stop_others_within(&mut self, offset: u64, length: u64) {
        let from = offset.saturating_sub(PIECE_MAX.into());
        let near = self.writers.range(from..offset.saturating_add(length));
        let overlaps = |(start, writer): (&u64, &Writer)| {
            (*start != offset && start + writer.length > offset).then_some(*start)
        };
        let others: Vec<u64> = near.filter_map(overlaps).collect();
        others.iter().for_each(|start| {
            self.writers.remove(start);
        });
    }

    /// The digest, once everything is there and was read; told once.
    fn digest_once(&mut self) -> Option<[u8; HASH_LENGTH]> {
        if self.is_whole || !self.is_read {
            return None;
        }
        let digest = self.tree.digest()?;
        self.is_whole = true;
        Some(digest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header(offset: u64, length: u32) -> PieceHeader {
        PieceHeader {
            file: 0,
            offset,
            length,
            wire_length: length,
            coding: Coding::Raw,
        }
    }

    #[test]
    fn the_later_of_two_streams_writes() {
        let files = IncomingFiles::default();
        files.expect(0, HashTree::new(100), 100);
        files.told(1);
        let file = files.find(0).unwrap().unwrap();
        let piece = header(0, 100);
        assert!(file.begin(&piece, 1) && file.begin(&piece, 2));
        let writes = |stream| file.change(|state| state.is_writer(0, stream));
        assert!(writes(2) && !writes(1));
        assert!(!file.abandon(&piece, 1), "it was not the writer");
        assert!(writes(2));
        assert!(file.abandon(&piece, 2), "the first one gave way to it");
        files.remove(0);
        assert!(!file.begin(&piece, 3), "done with");
    }

    #[test]
    fn of_pieces_that_overlap_only_the_last_is_written() {
        let files = IncomingFiles::default();
        let size = 256 << 10;
        let file = files.expect(0, HashTree::new(size), size);
        let (half, whole) = (header(128 << 10, 128 << 10), header(0, 256 << 10));
        let writes = |piece, stream| file.change(|state| state.is_writer(piece, stream));
        assert!(file.begin(&half, 1) && file.begin(&whole, 2));
        assert!(writes(0, 2) && !writes(128 << 10, 1));
        assert!(file.begin(&half, 3));
        assert!(writes(128 << 10, 3) && !writes(0, 2));
        assert!(file.begin(&header(0, 128 << 10), 4), "beside it");
        assert!(writes(128 << 10, 3) && writes(0, 4));
    }

    #[test]
    fn a_file_that_was_not_announced_breaks_the_stream() {
        let files = IncomingFiles::default();
        files.told(1);
        files.told_all();
        assert!(files.find(0).unwrap().is_none(), "nothing of it is wanted");
        assert!(files.find(1).is_err());
    }

    #[test]
    fn a_file_is_whole_once_it_was_read_and_is_there() {
        let files = IncomingFiles::default();
        let digest = *blake3::hash(b"abc").as_bytes();
        let mut tree = HashTree::new(3);
        tree.insert(0, 3, digest).unwrap();
        files.expect(4, tree, 3);
        assert_eq!(files.on_read(4), Some(digest));
        assert_eq!(files.on_read(4), None, "told once");
        files.expect(5, HashTree::new(0), 0);
        assert_eq!(files.on_read(5), Some(*blake3::hash(b"").as_bytes()));
    }
}
