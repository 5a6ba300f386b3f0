//! What a tree on this host has, by several threads, with bounded memory.
//!
//! Threads take folders from one stack, last first, so that it stays as short as the tree is wide.
//! What they find goes to a [`Sorter`] each; the order in which they meet it does not count.

mod looks;

use std::collections::BTreeSet;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread;

use files::Rules;
use nix::fcntl::{OFlag, open};
use nix::sys::stat::{Mode, fstat};

use crate::line::LeftOut;
use crate::{Sorter, StoreError};

/// Folders that may wait; beyond them a thread walks into a folder itself.
const WAITING_MAX: usize = 1 << 16;

/// A tree to walk.
#[derive(Debug)]
pub struct Tree<'a> {
    /// Its folder.
    pub root: &'a Path,
    /// What is left out.
    pub rules: &'a Rules,
    /// Of names that some file systems take for one, only the first counts.
    pub folds_names: bool,
    /// Threads; more than processors, where folders are on a network.
    pub threads: usize,
    /// Bytes of memory for all threads together.
    pub memory: usize,
    /// Where runs of sorted names are written.
    pub scratch: &'a Path,
}

/// How far a walk is; other threads may read it.
#[derive(Debug, Default)]
pub struct Counted {
    /// Names found.
    pub names: AtomicU64,
    /// Bytes of files.
    pub bytes: AtomicU64,
}

/// What a walk found.
#[derive(Debug, Default)]
pub struct Walked {
    /// Sorted runs of entries.
    pub runs: Vec<PathBuf>,
    /// What is in no shard, in order.
    pub left_out: Vec<LeftOut>,
    /// Names that, with all below them, count no more although runs have them.
    pub dropped: BTreeSet<Vec<u8>>,
    /// Names that share their file with another name.
    pub linked: u64,
    /// Names that differ from another one of their folder only in case or normal form.
    pub clashes: u64,
}

/// A folder, with those that it is in.
#[derive(Debug)]
struct Above {
    id: (u64, u64),
    above: Option<Arc<Above>>,
}

#[derive(Debug)]
struct Folder {
    name: Vec<u8>,
    above: Option<Arc<Above>>,
}

#[derive(Debug, Default)]
struct Waiting {
    folders: Vec<Folder>,
    busy: usize,
    failed: Option<StoreError>,
}

struct Shared<'a> {
    tree: &'a Tree<'a>,
    root: OwnedFd,
    waiting: Mutex<Waiting>,
    change: Condvar,
    counted: &'a Counted,
    stop: &'a AtomicBool,
}

/// Walks a tree.
///
/// # Errors
/// When its folder cannot be read, or runs cannot be written. What lies below and cannot be read is
/// left out.
pub fn walk(tree: &Tree, counted: &Counted, stop: &AtomicBool) -> Result<Walked, StoreError> {
    let failed = || StoreError::file("list", tree.root);
    let flags = OFlag::O_RDONLY | OFlag::O_DIRECTORY | OFlag::O_CLOEXEC;
    let root = open(tree.root, flags, Mode::empty()).map_err(|error| failed()(error.into()))?;
    fstat(&root).map_err(|error| failed()(error.into()))?;
    let shared = Shared {
        tree,
        root,
        waiting: Mutex::default(),
        change: Condvar::new(),
        counted,
        stop,
    };
    shared.lock().folders.push(Folder {
        name: Vec::new(),
        above: None,
    });
    let threads = tree.threads.max(1);
    let found: Vec<Result<Walked, StoreError>> = thread::scope(|scope| {
        let start = |number| {
            scope.spawn({
                let shared = &shared;
                move || Worker::new(shared, number, tree.memory / threads).run()
            })
        };
        let started: Vec<_> = (0..threads).map(start).collect();
        let join = |thread: thread::ScopedJoinHandle<'_, _>| {
            thread
                .join()
                .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        };
        started.into_iter().map(join).collect()
    });
    let mut all = Walked::default();
    for walked in found {
        let walked = walked?;
        all.runs.extend(walked.runs);
        all.left_out.extend(walked.left_out);
        all.dropped.extend(walked.dropped);
        all.linked += walked.linked;
        all.clashes += walked.clashes;
    }
    all.left_out.sort();
    match shared.lock().failed.take() {
        Some(error) => Err(error),
        None => Ok(all),
    }
}

impl Shared<'_> {
    fn lock(&self) -> std::sync::MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The next folder; `None` when no thread will find another one.
    fn next(&self) -> Option<Folder> {
        let mut waiting = self.lock();
        loop {
            if waiting.failed.is_some() {
                return None;
            }
            if let Some(folder) = waiting.folders.pop() {
                waiting.busy += 1;
                return Some(folder);
            }
            if waiting.busy == 0 {
                return None;
            }
            let woken = self.change.wait(waiting);
            waiting = woken.unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Has a folder wait, or gives it back where too many do.
    fn put(&self, folder: Folder) -> Option<Folder> {
        let mut waiting = self.lock();
        if waiting.folders.len() >= WAITING_MAX {
            return Some(folder);
        }
        waiting.folders.push(folder);
        self.change.notify_one();
        None
    }

    fn finished(&self, outcome: Result<(), StoreError>) {
        let mut waiting = self.lock();
        waiting.busy -= 1;
        if let Err(error) = outcome {
            waiting.failed.get_or_insert(error);
        }
        self.change.notify_all();
    }
}

/// One thread.
struct Worker<'a> {
    shared: &'a Shared<'a>,
    sorter: Sorter,
    walked: Walked,
}

impl<'a> Worker<'a> {
    fn new(shared: &'a Shared<'a>, number: usize, memory: usize) -> Self {
        let prefix = format!("walk-{number}");
        Worker {
            shared,
            sorter: Sorter::new(shared.tree.scratch, &prefix, memory),
            walked: Walked::default(),
        }
    }

    fn run(mut self) -> Result<Walked, StoreError> {
        while let Some(folder) = self.shared.next() {
            let outcome = self.folder(folder);
            self.shared.finished(outcome);
        }
        self.walked.runs = self.sorter.finish()?;
        Ok(self.walked)
    }

    fn check_stop(&self) -> Result<(), StoreError> {
        match self.shared.stop.load(Ordering::Relaxed) {
            true => Err(StoreError::Cancelled),
            false => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests;
