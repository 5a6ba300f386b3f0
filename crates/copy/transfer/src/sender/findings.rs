//! The entries of the walk, at once or with the digest of each file where contents are compared.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, TryRecvError, sync_channel};
use std::thread;

use copy_protocol::{Entry, FileId, HASH_LENGTH, Inode, Kind, Shared};

use files::source::{Found, Source, Walk};

/// Entries that may wait with their digests.
const AHEAD: usize = 1024;
/// Bytes that are read and hashed at a time.
const BLOCK: u64 = 1 << 20;

/// Where entries come from.
pub(super) enum Findings {
    /// The walk itself.
    Walk(Walk),
    /// A thread that reads each file first.
    Hashed {
        found: Receiver<Found>,
        is_over: Arc<AtomicBool>,
        /// Complete once nothing more is found.
        linked: Arc<AtomicU32>,
    },
}

/// The next of them.
pub(super) enum Next {
    Found(Found),
    /// None yet.
    Later,
    /// There are no more.
    End,
}

impl Findings {
    /// * `with_digests`: each file is read and hashed before it is told of.
    pub(super) fn of(source: &Arc<Source>, with_digests: bool) -> Self {
        let walk = source.walk();
        if !with_digests {
            return Findings::Walk(walk);
        }
        let (to, found) = sync_channel(AHEAD);
        let is_over = Arc::new(AtomicBool::new(false));
        let linked = Arc::new(AtomicU32::new(0));
        let (source, stop) = (Arc::clone(source), Arc::clone(&is_over));
        let counted = Arc::clone(&linked);
        thread::spawn(move || {
            hash_all(&source, walk, &to, &stop, &counted);
        });
        Findings::Hashed {
            found,
            is_over,
            linked,
        }
    }

    pub(super) fn next(&mut self) -> Next {
        match self {
            Findings::Walk(walk) => walk.next().map_or(Next::End, Next::Found),
            Findings::Hashed { found, .. } => match found.try_recv() {
                Ok(found) => Next::Found(found),
                Err(TryRecvError::Empty) => Next::Later,
                Err(TryRecvError::Disconnected) => Next::End,
            },
        }
    }

    /// Names that share their file with another one, once nothing more is found.
    pub(super) fn linked(&self) -> u32 {
        match self {
            Findings::Walk(walk) => walk.linked(),
            Findings::Hashed { linked, .. } => linked.load(Ordering::Acquire),
        }
    }
}

impl Drop for Findings {
    fn drop(&mut self) {
        if let Findings::Hashed { is_over, .. } = self {
            is_over.store(true, Ordering::Relaxed);
        }
    }
}

fn hash_all(
    source: &Source,
    mut walk: Walk,
    to: &SyncSender<Found>,
    stop: &AtomicBool,
    linked: &AtomicU32,
) {
    let mut next: FileId = 0;
    while let Some(mut found) = walk.next() {
        linked.store(walk.linked(), Ordering::Release);
        if let Found::Entry(entry, inode) = &mut found {
            if !inode.as_deref().is_some_and(is_further_name) {
                entry.digest = digest(source, next, entry, stop);
            }
            next += 1;
        }
        if to.send(found).is_err() {
            return;
        }
    }
}

/// The content of a further name is that of its first one, which has the digest.
fn is_further_name(inode: &Inode) -> bool {
    matches!(inode.shared, Some(Shared::With(_)))
}

/// `None` where it cannot be read: the stream that sends it says why.
fn digest(
    source: &Source,
    id: FileId,
    entry: &Entry,
    stop: &AtomicBool,
) -> Option<[u8; HASH_LENGTH]> {
    let Kind::File(size) = entry.kind else {
        return None;
    };
    let mut hasher = blake3::Hasher::new();
    let mut buffer = Vec::new();
    let mut offset = 0;
    while offset < size {
        if stop.load(Ordering::Relaxed) {
            return None;
        }
        let length = (size - offset).min(BLOCK);
        buffer.resize(usize::try_from(length).ok()?, 0);
        source.read(id, offset, &mut buffer).ok()?;
        hasher.update(&buffer);
        offset += length;
    }
    Some(hasher.finalize().into())
}
