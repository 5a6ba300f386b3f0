//! A copy from a source to a store, one piece after the other.

use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::Arc;

use copy_protocol::{
    Attributes, CopyDirection, CopyOptions, Entry, FileProblem, Filter, Kind, Name, Opening,
    Problem,
};
use files::source::{Found, Source, SourceSpec};
use files::store::{EntryPlan, Piece, Rest, Store, StoreSpec};
use files::{HashTree, PieceHasher, Root};

/// Everything is kept.
pub const ALL: Attributes = Attributes {
    permissions: true,
    times: true,
    links: true,
    kept: copy_protocol::Kept::NOTHING,
};

/// Bytes of each piece but the last.
pub const PIECE: u64 = 64 << 10;

pub fn bytes_of(path: &Path) -> Vec<u8> {
    path.as_os_str().as_bytes().to_vec()
}

pub fn spec_of(paths: &[&Path]) -> SourceSpec {
    SourceSpec {
        paths: paths.iter().map(|path| bytes_of(path)).collect(),
        wildcards: false,
        recursive: true,
        attributes: ALL,
        selection: copy_protocol::Selection::default(),
    }
}

pub fn source(paths: &[&Path]) -> Arc<Source> {
    Source::new(&Root::own(), spec_of(paths)).unwrap()
}

pub fn into(destination: &Path) -> StoreSpec {
    StoreSpec {
        destination: bytes_of(destination),
        into_folder: false,
        attributes: ALL,
        filter: Filter::Changed,
        verify: false,
        dry_run: false,
        claim_timeout: std::time::Duration::ZERO,
    }
}

pub fn open(destination: &Path) -> Store {
    Store::open(&Root::own(), into(destination)).unwrap()
}

/// All that a walk finds.
pub fn walk(source: &Arc<Source>) -> (Vec<Entry>, Vec<FileProblem>) {
    let (mut entries, mut left_out) = (Vec::new(), Vec::new());
    for found in source.walk() {
        match found {
            Found::Entry(entry, _) => entries.push(entry),
            Found::LeftOut(problem) => left_out.push(problem),
        }
    }
    (entries, left_out)
}

/// An entry as a peer may tell it.
pub fn told(name: &str, kind: Kind) -> Entry {
    Entry {
        name: Name::new(name.into()).unwrap(),
        kind,
        mode: 0o644,
        modified_nanoseconds: 1_000_000_007,
        version: 7,
        is_sparse: false,
        digest: None,
    }
}

/// A put into a folder, as the command line makes it.
pub fn opening() -> Opening {
    let options = CopyOptions {
        recursive: true,
        ..CopyOptions::default()
    };
    Opening {
        into_folder: true,
        ..Opening::new(CopyDirection::Put, vec![Vec::new()], &options)
    }
}

/// Copies all there is; returns what could not be.
pub fn copy(source: &Arc<Source>, store: &Store) -> Vec<Problem> {
    let mut troubles = Vec::new();
    for entry in walk(source).0 {
        let (file, answer) = store.add(&entry);
        let Kind::File(size) = entry.kind else {
            troubles.extend(answer.err());
            continue;
        };
        let copied = answer.and_then(|answer| copy_file(source, store, file, size, answer));
        troubles.extend(copied.err());
    }
    troubles.extend(publish(store));
    let told = store.end().into_iter();
    troubles.extend(told.map(|one| copy_protocol::Problem {
        kind: one.kind,
        file: None,
        what: one.what,
        hint: one.hint,
    }));
    troubles
}

pub fn publish(store: &Store) -> Vec<Problem> {
    let outcomes = store.publish().into_iter();
    outcomes.filter_map(|(_, outcome)| outcome.err()).collect()
}

fn copy_file(
    source: &Source,
    store: &Store,
    file: u32,
    size: u64,
    answer: EntryPlan,
) -> Result<(), Problem> {
    let read = |offset: u64, into: &mut [u8]| source.read(file, offset, into);
    if send(store, file, size, answer, read)? {
        source.finished(file)?;
    }
    Ok(())
}

/// What of an earlier try is on the disk as it was noted.
pub fn read_back(store: &Store, file: u32, size: u64, rest: &Rest) -> HashTree {
    let (mut tree, mut buffer) = (store.tree(size), Vec::new());
    for piece in &rest.noted {
        if store.reads_back(file, piece, &mut buffer) {
            tree.insert(piece.offset, piece.length.into(), piece.hash)
                .unwrap();
        }
    }
    tree
}

/// Sends what is wanted of a file whose bytes `read` gives; whether anything was.
pub fn send(
    store: &Store,
    file: u32,
    size: u64,
    answer: EntryPlan,
    mut read: impl FnMut(u64, &mut [u8]) -> Result<(), Problem>,
) -> Result<bool, Problem> {
    let mut tree = match answer {
        EntryPlan::Present | EntryPlan::Made => return Ok(false),
        EntryPlan::Whole => store.tree(size),
        EntryPlan::Rest(rest) => read_back(store, file, size, &rest),
    };
    for part in tree.missing(usize::MAX) {
        let (start, length) = (part.start, part.end - part.start);
        let mut offset = start;
        while offset < start + length {
            let mut bytes = vec![0; PIECE.min(start + length - offset) as usize];
            read(offset, &mut bytes)?;
            let piece = piece_of(size, offset, &bytes);
            store.write(file, offset, &bytes)?;
            store.note(file, &piece)?;
            tree.insert(offset, piece.length.into(), piece.hash)
                .unwrap();
            offset += u64::from(piece.length);
        }
    }
    store.finish(file, &tree.digest().unwrap())?;
    Ok(true)
}

pub fn piece_of(size: u64, offset: u64, bytes: &[u8]) -> Piece {
    let mut hasher = PieceHasher::new(size, offset, bytes.len() as u64);
    hasher.update(bytes);
    Piece {
        offset,
        length: bytes.len() as u32,
        hash: hasher.finish().unwrap(),
    }
}

/// Bytes that differ from place to place.
pub fn content(size: u64) -> Vec<u8> {
    let mut bytes = vec![0; size as usize];
    blake3::Hasher::new()
        .update(b"content")
        .finalize_xof()
        .fill(&mut bytes);
    bytes
}
