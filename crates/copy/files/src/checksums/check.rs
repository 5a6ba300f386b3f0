//! Reads files on all processors, and compares.
//!
//! One thread takes the lines of the list, some read files, and the caller's hears of them. The
//! queues between them are bounded, so that a list of any length takes little memory.

use std::fs::File;
use std::io::{self, Read};
use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::thread;
use std::time::Duration;

use copy_protocol::Problem;
use nix::errno::Errno;
use nix::fcntl::OFlag;
use nix::sys::stat::{SFlag, fstat};
use serde::Serialize;

use super::Algorithm;
use super::hasher::Hasher;
use crate::problems::shown;
use crate::root::Root;

/// Items and results that wait.
const QUEUE: usize = 64;
/// Threads that read; more gain nothing on any disk that was seen.
const THREADS_MAX: usize = 32;
/// What is read at once; a cancellation is noticed after it.
const BUFFER: usize = 256 << 10;
/// How often the caller hears where it is.
const TICK: Duration = Duration::from_millis(100);

/// What is wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum TroubleKind {
    /// The file has another content.
    Differs,
    /// There is no such file.
    Missing,
    /// A file of a bag that is to be fetched from elsewhere first, and is not there.
    NotFetched,
    /// A file of a bag that its manifest does not list.
    NotListed,
    /// A name that leads out of its bag.
    Outside,
    /// A bag has other files than it says, or is not made as RFC 8493 asks.
    Bag,
    /// The file could not be read.
    Unreadable,
    /// A line or a manifest that cannot be used.
    Improper,
}

impl TroubleKind {
    /// Whether it shows that something is wrong, and not only that it could not be checked.
    pub fn is_wrong(self) -> bool {
        !matches!(self, TroubleKind::Unreadable | TroubleKind::Improper)
    }
}

/// Something that is not as it should be.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Trouble {
    /// What kind.
    pub kind: TroubleKind,
    /// The file, or the list where it is about a line; as people read it.
    pub name: String,
    /// What was found, a few words.
    pub what: String,
    /// The line of the list or manifest, from 1; absent where it is about none, or about several
    /// manifests.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u64>,
}

/// One checksum that a file is to have.
#[derive(Debug, Clone)]
pub(super) struct Sum {
    /// Any of these may be meant.
    pub any_of: Vec<Algorithm>,
    pub digest: Vec<u8>,
    /// The manifest that says it; empty where there is only one list.
    pub list: Arc<str>,
    /// Its line there, from 1.
    pub line: u64,
}

/// A file to check.
#[derive(Debug, Clone)]
pub struct Item {
    /// As it is opened, below the folder.
    pub(super) name: Vec<u8>,
    pub(super) sums: Vec<Sum>,
    /// Where it is to be fetched from, of a file that need not be there yet.
    pub(super) fetched_from: Option<String>,
}

impl Item {
    /// As it is listed, below the folder.
    pub fn name(&self) -> &[u8] {
        &self.name
    }

    /// What it is to have by this checksum, where the list leaves no doubt.
    pub fn digest(&self, algorithm: Algorithm) -> Option<&[u8]> {
        let mut sums = self.sums.iter();
        let sum = sums.find(|sum| sum.any_of.as_slice() == [algorithm])?;
        Some(&sum.digest)
    }

    /// Where it is listed, if that is one line.
    fn line(&self) -> Option<u64> {
        match self.sums.as_slice() {
            [sum] => Some(sum.line),
            _ => None,
        }
    }
}

/// What a list gives, one after the other.
#[derive(Debug)]
pub enum Tally {
    /// A file to check.
    Item(Item),
    /// What is wrong with the list itself.
    Trouble(Trouble),
}

/// What was found so far.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Account {
    /// Files that are as the list says.
    pub right: u64,
    /// What is not: files that differ, are missing, or are too many.
    pub wrong: u64,
    /// What could not be checked: files that cannot be read, lines that say nothing.
    pub unchecked: u64,
    /// Bytes read.
    pub bytes: u64,
}

/// What is told while files are read.
#[derive(Debug)]
pub enum Found<'a> {
    /// Something is not right.
    Trouble(&'a Trouble),
    /// How far it is.
    Progress(&'a Account),
}

/// Where the files are.
#[derive(Debug)]
pub struct Checking {
    root: Root,
    folder: Vec<u8>,
    /// Which of several algorithms with as many digits the list has, once a file has shown it.
    decided: OnceLock<Algorithm>,
    /// Algorithms that were computed, a bit for each.
    used: AtomicU32,
    read: AtomicU64,
}

impl Checking {
    /// Files that a user's list names: relative ones below `folder`, absolute ones as they are.
    pub fn listed(folder: &[u8]) -> Self {
        Checking::below(Root::own(), folder)
    }

    /// Files below `root`, and none outside of it.
    pub(super) fn beneath(root: Root) -> Self {
        Checking::below(root, b"")
    }

    fn below(root: Root, folder: &[u8]) -> Self {
        Checking {
            root,
            folder: folder.to_vec(),
            decided: OnceLock::new(),
            used: AtomicU32::new(0),
            read: AtomicU64::new(0),
        }
    }

    /// The algorithms by which files were compared so far.
    pub fn algorithms(&self) -> Vec<Algorithm> {
        let used = self.used.load(Ordering::Relaxed);
        let is_used = |one: &Algorithm| used >> *one as u32 & 1 == 1;
        let is_other = |one: &Algorithm| {
            let decided = self.decided.get();
            decided.is_some_and(|decided| decided.length() == one.length() && decided != one)
        };
        let all = Algorithm::ALL.into_iter();
        all.filter(|one| is_used(one) && !is_other(one)).collect()
    }

    fn path(&self, name: &[u8]) -> Vec<u8> {
        match name.starts_with(b"/") || self.folder.is_empty() {
            true => name.to_vec(),
            false => [&self.folder, &b"/"[..], name].concat(),
        }
    }

    /// Opens a file that has an end; a pipe would wait for ever.
    fn open(&self, name: &[u8]) -> io::Result<File> {
        let flags = OFlag::O_RDONLY | OFlag::O_NONBLOCK | OFlag::O_NOCTTY;
        let fd = self.root.open(&self.path(name), flags)?;
        let kind = SFlag::from_bits_truncate(fstat(&fd)?.st_mode) & SFlag::S_IFMT;
        match kind {
            SFlag::S_IFREG | SFlag::S_IFBLK => Ok(File::from(fd)),
            SFlag::S_IFDIR => Err(Errno::EISDIR.into()),
            _ => Err(io::Error::other("it is neither a file nor a disk")),
        }
    }

    /// `None` when it was stopped before the end.
    fn examine(&self, item: &Item, buffer: &mut [u8], stop: &AtomicBool) -> Option<Vec<Trouble>> {
        let file = match self.open(&item.name) {
            Ok(file) => file,
            Err(error) => return Some(vec![not_opened(item, &error)]),
        };
        let mut sums: Vec<(Algorithm, Hasher)> = Vec::new();
        for algorithm in item.sums.iter().flat_map(|sum| self.possible(sum)) {
            if sums.iter().all(|(known, _)| known != algorithm) {
                sums.push((*algorithm, Hasher::new(*algorithm)));
                self.used
                    .fetch_or(1 << *algorithm as u32, Ordering::Relaxed);
            }
        }
        match self.read(file, &mut sums, buffer, stop) {
            Ok(true) => {}
            Ok(false) => return None,
            Err(error) => {
                let what = error.to_string();
                return Some(vec![trouble(TroubleKind::Unreadable, item, what)]);
            }
        }
        let digests: Vec<(Algorithm, Vec<u8>)> = sums
            .into_iter()
            .map(|(algorithm, hasher)| (algorithm, hasher.finish()))
            .collect();
        let sums = item.sums.iter();
        let wrong: Vec<&Sum> = sums.filter(|sum| !self.is_right(sum, &digests)).collect();
        Some(self.differs(item, &wrong).into_iter().collect())
    }

    /// The algorithms that a sum may be of.
    fn possible<'a>(&'a self, sum: &'a Sum) -> &'a [Algorithm] {
        match self.decided.get() {
            Some(decided) if sum.any_of.contains(decided) => std::slice::from_ref(decided),
            _ => &sum.any_of,
        }
    }

    fn is_right(&self, sum: &Sum, digests: &[(Algorithm, Vec<u8>)]) -> bool {
        let fits = |(algorithm, digest): &&(Algorithm, Vec<u8>)| {
            sum.any_of.contains(algorithm) && *digest == sum.digest
        };
        let Some((algorithm, _)) = digests.iter().find(fits) else {
            return false;
        };
        match sum.any_of.len() {
            1 => true,
            _ => self.decided.get_or_init(|| *algorithm) == algorithm,
        }
    }

    /// One trouble for all lists that say something else.
    fn differs(&self, item: &Item, wrong: &[&Sum]) -> Option<Trouble> {
        let line = match wrong {
            [] => return None,
            [sum] => Some(sum.line),
            _ => None,
        };
        let what: Vec<String> = wrong.iter().map(|sum| self.difference(sum)).collect();
        Some(Trouble {
            line,
            ..trouble(TroubleKind::Differs, item, what.join(", "))
        })
    }

    fn difference(&self, sum: &Sum) -> String {
        let which: Vec<&str> = self.possible(sum).iter().map(|one| one.name()).collect();
        let which = which.join(" or ");
        match sum.list.is_empty() {
            true => format!("its {which} is another one"),
            false => format!("its {which} is not that of {}", sum.list),
        }
    }

    /// Whether it came to the end.
    fn read(
        &self,
        mut file: File,
        sums: &mut [(Algorithm, Hasher)],
        buffer: &mut [u8],
        stop: &AtomicBool,
    ) -> io::Result<bool> {
        loop {
            if stop.load(Ordering::Relaxed) {
                return Ok(false);
            }
            let length = match file.read(buffer) {
                Ok(0) => return Ok(true),
                Ok(length) => length,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            };
            for (_, hasher) in sums.iter_mut() {
                hasher.update(&buffer[..length]);
            }
            self.read.fetch_add(length as u64, Ordering::Relaxed);
        }
    }
}

fn not_opened(item: &Item, error: &io::Error) -> Trouble {
    let errno = Errno::from_raw(error.raw_os_error().unwrap_or(0));
    match (errno, &item.fetched_from) {
        (Errno::ENOENT | Errno::ENOTDIR, Some(from)) => {
            let what = format!("it is not here, and to be fetched from {from}");
            trouble(TroubleKind::NotFetched, item, what)
        }
        (Errno::ENOENT | Errno::ENOTDIR, None) => trouble(
            TroubleKind::Missing,
            item,
            "there is no such file".to_owned(),
        ),
        (Errno::EXDEV, _) => {
            let what = "a link in its name leads out of the bag".to_owned();
            trouble(TroubleKind::Outside, item, what)
        }
        (Errno::EISDIR, _) => trouble(TroubleKind::Unreadable, item, "it is a folder".to_owned()),
        _ => trouble(TroubleKind::Unreadable, item, error.to_string()),
    }
}

fn trouble(kind: TroubleKind, item: &Item, what: String) -> Trouble {
    Trouble {
        kind,
        name: shown(&item.name),
        what,
        line: item.line(),
    }
}

/// What the other threads say.
enum Heard {
    Trouble(Trouble),
    Checked(Vec<Trouble>),
    Failed(Problem),
}

/// Checks everything that `tallies` gives.
///
/// * `stop`: ends it; what was found until then is the result.
/// * `on_found`: is told of each trouble as it is found, and ten times a second how far it is.
///
/// # Errors
/// The first error that `tallies` gives, which ends it.
pub fn check(
    tallies: impl Iterator<Item = Result<Tally, Problem>> + Send,
    checking: &Checking,
    stop: &AtomicBool,
    on_found: &mut dyn FnMut(Found<'_>),
) -> Result<Account, Problem> {
    let threads = thread::available_parallelism().map_or(1, NonZeroUsize::get);
    thread::scope(|scope| {
        let (to_readers, items) = sync_channel(QUEUE);
        let (to_caller, heard) = sync_channel(QUEUE);
        let items = Arc::new(Mutex::new(items));
        for _ in 0..threads.min(THREADS_MAX) {
            let (items, to_caller) = (Arc::clone(&items), to_caller.clone());
            scope.spawn(move || read_items(checking, &items, &to_caller, stop));
        }
        scope.spawn(move || feed(tallies, &to_readers, &to_caller, stop));
        listen(&heard, checking, on_found)
    })
}

fn feed(
    tallies: impl Iterator<Item = Result<Tally, Problem>>,
    to_readers: &SyncSender<Item>,
    to_caller: &SyncSender<Heard>,
    stop: &AtomicBool,
) {
    for tally in tallies {
        if stop.load(Ordering::Relaxed) {
            return;
        }
        let goes_on = match tally {
            Ok(Tally::Item(item)) => to_readers.send(item).is_ok(),
            Ok(Tally::Trouble(trouble)) => to_caller.send(Heard::Trouble(trouble)).is_ok(),
            Err(problem) => {
                let _ = to_caller.send(Heard::Failed(problem));
                false
            }
        };
        if !goes_on {
            return;
        }
    }
}

fn read_items(
    checking: &Checking,
    items: &Mutex<Receiver<Item>>,
    to_caller: &SyncSender<Heard>,
    stop: &AtomicBool,
) {
    let mut buffer = vec![0; BUFFER];
    loop {
        let next = items.lock().unwrap_or_else(PoisonError::into_inner).recv();
        let Ok(item) = next else { return };
        if let Some(troubles) = checking.examine(&item, &mut buffer, stop) {
            let _ = to_caller.send(Heard::Checked(troubles));
        }
    }
}

/// Until all other threads have ended.
fn listen(
    heard: &Receiver<Heard>,
    checking: &Checking,
    on_found: &mut dyn FnMut(Found<'_>),
) -> Result<Account, Problem> {
    let mut account = Account::default();
    let mut failed = None;
    let mut told = std::time::Instant::now();
    loop {
        let troubles = match heard.recv_timeout(TICK) {
            Ok(Heard::Trouble(trouble)) => vec![trouble],
            Ok(Heard::Checked(troubles)) => {
                account.right += u64::from(troubles.is_empty());
                troubles
            }
            Ok(Heard::Failed(problem)) => {
                failed.get_or_insert(problem);
                continue;
            }
            Err(RecvTimeoutError::Timeout) => Vec::new(),
            Err(RecvTimeoutError::Disconnected) => break,
        };
        for trouble in &troubles {
            match trouble.kind.is_wrong() {
                true => account.wrong += 1,
                false => account.unchecked += 1,
            }
            on_found(Found::Trouble(trouble));
        }
        account.bytes = checking.read.load(Ordering::Relaxed);
        if told.elapsed() >= TICK {
            told = std::time::Instant::now();
            on_found(Found::Progress(&account));
        }
    }
    account.bytes = checking.read.load(Ordering::Relaxed);
    failed.map_or(Ok(account), Err)
}
