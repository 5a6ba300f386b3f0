//! What of an upload is on the far end's disk, kept at the near end: the far end runs no program
//! that could keep it there.
//!
//! One file for each copy, by its places, in the user's state folder; it is locked while the copy
//! runs. It has the number of the copy, which is in the names of its parts, and a note for each
//! piece that was flushed at the far end. The same copy started again takes the number up, writes
//! over the parts that are left, and sends no piece again that is noted. Two copies at once have
//! two numbers: the later one finds the file locked, and keeps none.
//!
//! All numbers have their least significant byte first. The file begins with `TLs1` and the number;
//! each note is a hash of the name and version of the file (16 bytes), its size, offset and length
//! of the piece, its chaining value, and the first bytes of the BLAKE3 hash of all that. A note
//! that is not whole, with all behind it, does not count.

use std::collections::BTreeMap;
use std::env;
use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};

use copy_protocol::{Entry, HASH_LENGTH};
use files::legal_piece;
use files::store::Piece;
use sockets::random;

const MAGIC: &[u8; 4] = b"TLs1";
const HEADER: usize = 12;
/// Hash of name and version, size, offset, length, chaining value, check.
const NOTE: usize = 16 + 8 + 8 + 4 + HASH_LENGTH + 4;
/// Most that is read of one: the notes of 7 million pieces, of 7 TB of large files.
const LENGTH_MAX: u64 = 512 << 20;
/// A note of this piece voids those before it.
const VOID: Piece = Piece {
    offset: 0,
    length: 0,
    hash: [0; HASH_LENGTH],
};
/// One that was not touched for so long is of a copy that was given up.
const OLD: Duration = Duration::from_secs(30 * 86_400);

/// Which version of which file.
type Key = [u8; 16];
/// Pieces of files, with the sizes of those.
type Noted = BTreeMap<Key, (u64, Vec<Piece>)>;

/// The notes of one copy.
#[derive(Debug)]
pub(super) struct Journal {
    /// In the names of its parts.
    pub number: u64,
    /// `None` where there is no folder for it, or another copy has it.
    file: Option<Mutex<File>>,
    path: PathBuf,
    noted: Mutex<Noted>,
}

impl Journal {
    /// That of the copy with these places.
    ///
    /// # Errors
    /// When the system gives no random numbers.
    pub fn of(places: &[u8]) -> io::Result<Self> {
        match folder() {
            Some(folder) => Journal::within(&folder, places),
            None => Journal::none(),
        }
    }

    /// Nothing is noted.
    pub fn none() -> io::Result<Self> {
        Ok(Journal {
            number: random::number()?,
            file: None,
            path: PathBuf::new(),
            noted: Mutex::default(),
        })
    }

    fn within(folder: &Path, places: &[u8]) -> io::Result<Self> {
        let opened = open(folder, places);
        let Ok((file, path)) = opened else {
            return Journal::none();
        };
        let mut bytes = Vec::new();
        let read = (&file).take(LENGTH_MAX).read_to_end(&mut bytes);
        let header = bytes.split_first_chunk::<HEADER>();
        let known = header.filter(|(header, _)| header.starts_with(MAGIC) && read.is_ok());
        let mut journal = Journal {
            path,
            ..Journal::none()?
        };
        let mut kept = 0;
        if let Some((header, notes)) = known {
            let mut number = [0; 8];
            number.copy_from_slice(&header[4..]);
            journal.number = u64::from_le_bytes(number);
            kept = (HEADER + journal.read(notes)) as u64;
        }
        journal.file = begin(file, kept, journal.number).ok().map(Mutex::new);
        Ok(journal)
    }

    /// Takes the notes up; returns the bytes of those that are whole.
    fn read(&self, notes: &[u8]) -> usize {
        let mut all = self.all();
        let mut length = 0;
        for note in notes.chunks_exact(NOTE) {
            let Some((key, size, piece)) = decode(note) else {
                break;
            };
            take(&mut all, key, size, piece);
            length += NOTE;
        }
        length
    }

    fn all(&self) -> MutexGuard<'_, Noted> {
        self.noted.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Pieces of a file that are on the far end's disk.
    pub fn noted(&self, entry: &Entry, size: u64) -> Vec<Piece> {
        match self.all().get(&key(entry)) {
            Some((of, pieces)) if *of == size => pieces.clone(),
            _ => Vec::new(),
        }
    }

    /// These pieces are on the far end's disk.
    pub fn note(&self, entry: &Entry, size: u64, pieces: &[Piece]) {
        let key = key(entry);
        let mut all = self.all();
        for piece in pieces {
            take(&mut all, key, size, *piece);
        }
        drop(all);
        self.write(&key, size, pieces);
    }

    /// What was noted of a file does not count: its part is another one, or wrong.
    pub fn void(&self, entry: &Entry, size: u64) {
        let key = key(entry);
        self.all().remove(&key);
        self.write(&key, size, &[VOID]);
    }

    fn write(&self, key: &Key, size: u64, pieces: &[Piece]) {
        let Some(file) = &self.file else {
            return;
        };
        let notes: Vec<u8> = pieces
            .iter()
            .flat_map(|piece| encode(key, size, piece))
            .collect();
        let mut file = file.lock().unwrap_or_else(PoisonError::into_inner);
        // What is not noted is sent again.
        if let Err(error) = file.write_all(&notes) {
            tracing::warn!(%error, "what arrived cannot be noted");
        }
    }

    /// The copy is complete.
    pub fn remove(&self) {
        if self.file.is_some() {
            // One that is left is of no harm.
            let _ = fs::remove_file(&self.path);
        }
    }
}

/// Adds a note to the others.
fn take(all: &mut Noted, key: Key, size: u64, piece: Piece) {
    if piece == VOID {
        all.remove(&key);
        return;
    }
    let noted = all.entry(key).or_insert((size, Vec::new()));
    if noted.0 == size {
        noted.1.push(piece);
    }
}

/// The locked file.
fn open(folder: &Path, places: &[u8]) -> io::Result<(File, PathBuf)> {
    DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(folder)?;
    remove_old(folder);
    let name = blake3::derive_key("trunkline sftp 1 places", places);
    let path = folder.join(&blake3::Hash::from(name).to_hex()[..32]);
    let file = OpenOptions::new()
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .mode(0o600)
        .open(&path)?;
    file.try_lock().map_err(io::Error::other)?;
    Ok((file, path))
}

/// What is kept of it ends where the next note begins.
fn begin(mut file: File, kept: u64, number: u64) -> io::Result<File> {
    file.set_len(kept)?;
    file.seek(SeekFrom::Start(kept))?;
    if kept == 0 {
        file.write_all(&[&MAGIC[..], &number.to_le_bytes()].concat())?;
    }
    Ok(file)
}

fn remove_old(folder: &Path) {
    let all = fs::read_dir(folder).into_iter().flatten().flatten();
    for one in all {
        let touched = one.metadata().and_then(|it| it.modified());
        let age = touched.map(|then| SystemTime::now().duration_since(then));
        if matches!(age, Ok(Ok(age)) if age > OLD) {
            let _ = fs::remove_file(one.path());
        }
    }
}

/// `$TRUNKLINE_STATE/sftp`, or the same below `$XDG_STATE_HOME/trunkline` or
/// `~/.local/state/trunkline`, as the archive has it.
fn folder() -> Option<PathBuf> {
    let absolute = |name| {
        let path = env::var_os(name).map(PathBuf::from);
        path.filter(|path| path.is_absolute())
    };
    let home = || absolute("HOME").map(|home| home.join(".local/state"));
    let below = || {
        let state = absolute("XDG_STATE_HOME").or_else(home);
        state.map(|state| state.join("trunkline"))
    };
    let state = absolute("TRUNKLINE_STATE").or_else(below);
    state.map(|state| state.join("sftp"))
}

fn key(entry: &Entry) -> Key {
    let mut hasher = blake3::Hasher::new();
    hasher.update(&entry.version.to_le_bytes());
    hasher.update(entry.name.as_bytes());
    let mut key = [0; 16];
    hasher.finalize_xof().fill(&mut key);
    key
}

fn encode(key: &Key, size: u64, piece: &Piece) -> Vec<u8> {
    let mut note = [
        &key[..],
        &size.to_le_bytes(),
        &piece.offset.to_le_bytes(),
        &piece.length.to_le_bytes(),
        &piece.hash,
    ]
    .concat();
    let check = blake3::hash(&note);
    note.extend_from_slice(&check.as_bytes()[..4]);
    note
}

fn decode(note: &[u8]) -> Option<(Key, u64, Piece)> {
    let (key, rest) = note.split_first_chunk::<16>()?;
    let (size, rest) = rest.split_first_chunk()?;
    let (offset, rest) = rest.split_first_chunk()?;
    let (length, rest) = rest.split_first_chunk()?;
    let (hash, _) = rest.split_first_chunk()?;
    let size = u64::from_le_bytes(*size);
    let piece = Piece {
        offset: u64::from_le_bytes(*offset),
        length: u32::from_le_bytes(*length),
        hash: *hash,
    };
    let is_piece = piece == VOID || legal_piece(size, piece.offset, piece.length.into());
    (is_piece && encode(key, size, &piece) == note).then_some((*key, size, piece))
}

#[cfg(test)]
mod tests {
    use copy_protocol::{Kind, Name};

    use super::*;

    const SIZE: u64 = 3 << 20;

    fn entry(version: u64) -> Entry {
        Entry {
            name: Name::new(b"a".to_vec()).unwrap(),
            kind: Kind::File(SIZE),
            mode: 0o644,
            modified_nanoseconds: 0,
            version,
            is_sparse: false,
            digest: None,
        }
    }

    fn piece(index: u64) -> Piece {
        Piece {
            offset: index << 20,
            length: 1 << 20,
            hash: [index as u8; HASH_LENGTH],
        }
    }

    #[test]
    fn what_was_noted_is_known_to_the_same_copy_and_no_other() {
        let folder = tempfile::tempdir().unwrap();
        let open = |places: &[u8]| Journal::within(folder.path(), places).unwrap();
        let first = open(b"a to b");
        first.note(&entry(1), SIZE, &[piece(0), piece(2)]);
        let beside = open(b"a to b");
        assert_ne!(beside.number, first.number, "the file is locked");
        let number = first.number;
        drop((first, beside));
        let again = open(b"a to b");
        assert_eq!(again.number, number);
        assert_eq!(again.noted(&entry(1), SIZE), [piece(0), piece(2)]);
        assert!(again.noted(&entry(2), SIZE).is_empty(), "another version");
        assert!(again.noted(&entry(1), SIZE + 1).is_empty());
        assert_ne!(open(b"a to c").number, number);
        again.note(&entry(1), SIZE, &[piece(1)]);
        drop(again);
        let again = open(b"a to b");
        assert_eq!(again.noted(&entry(1), SIZE).len(), 3);
        again.void(&entry(1), SIZE);
        again.note(&entry(1), SIZE, &[piece(2)]);
        assert_eq!(again.noted(&entry(1), SIZE), [piece(2)]);
        drop(again);
        let again = open(b"a to b");
        assert_eq!(again.noted(&entry(1), SIZE), [piece(2)]);
        again.remove();
        drop(again);
        assert_ne!(open(b"a to b").number, number);
    }

    #[test]
    fn a_note_that_is_not_whole_does_not_count_nor_what_is_behind_it() {
        let folder = tempfile::tempdir().unwrap();
        let open = || Journal::within(folder.path(), b"x").unwrap();
        let journal = open();
        journal.note(&entry(1), SIZE, &[piece(0), piece(1)]);
        let path = journal.path.clone();
        drop(journal);
        let mut bytes = fs::read(&path).unwrap();
        for cut in [bytes.len() - 1, HEADER + NOTE + 3] {
            fs::write(&path, &bytes[..cut]).unwrap();
            assert_eq!(open().noted(&entry(1), SIZE), [piece(0)]);
        }
        bytes[HEADER + 20] ^= 1;
        fs::write(&path, &bytes).unwrap();
        assert!(open().noted(&entry(1), SIZE).is_empty());
    }
}
