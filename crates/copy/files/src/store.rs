//! Where files arrive: under a temporary name until they are whole, right and on the disk.
//!
//! A file that arrives lies beside its place as `.NAME.trunkline-part`, locked, with all its room
//! reserved unless it may have holes; pieces are written to where they belong in any order, and
//! nothing is written where a hole is. What has arrived is noted in `.NAME.trunkline-journal`, so
//! that a copy that was broken off goes on there.
//!
//! # What is on the disk after a power failure
//!
//! A file has its final name only once its content is on the disk: it is flushed, then renamed,
//! then the folder is flushed. Files are flushed together where that is cheaper
//! ([`Store::publish`]). So after a power failure a name stands for what it stood for before the
//! copy or for the whole new file, never for a part of it; and what was reported as published
//! stays. Pieces of unfinished files are not flushed: those that the journal names are read and
//! hashed again before they count.
//!
//! # Names
//!
//! Below the destination no link is followed, neither as a folder of a path nor as the file itself.
//! Files replace links and files of the same name; they do not replace folders, devices, pipes or
//! sockets. Links are made as they are told, wherever they point. Unless it is asked for, who owns
//! a file is not kept, and so neither are the bits that lend its owner's rights. Further names of a
//! file (hard links) are made at the end, once its first one is there.
//!
//! Reading order: this file, `destination` (where entries belong), `temporary`, `part` and
//! `journal` (a file on its way), `shared` and `last_part` (one whose parts come by several
//! copies), `open_parts` (which are open), `older` (what of it is there), `finalize` (its last
//! steps), `stream_file` (a file of unknown length).

mod destination;
mod finalize;
mod further_names;
mod journal;
mod last_part;
mod older;
mod open_parts;
mod part;
mod shared;
mod stream_file;
mod temporary;
#[cfg(any(test, feature = "testing"))]
pub mod testing;

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs::File;
use std::os::unix::ffi::OsStrExt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use copy_protocol::{
    Attributes, Entry, FileId, FilePart, FileProblem, Filter, HASH_LENGTH, Inode, Kind, Problem,
    ProblemKind, Shared, Want,
};
use nix::fcntl::AtFlags;
use nix::sys::stat::fstatat;

use crate::HashTree;
use crate::problems::{problem, shown, with_hint};
use crate::root::Root;
use crate::source::rules::Rules;
use destination::Destination;
pub use destination::remove::{Gone, Removal, emptied, not_entered};
use further_names::FurtherNames;
pub use last_part::has_part;
use older::OlderFiles;
use open_parts::OpenParts;
use part::Part;
pub use stream_file::StreamFile;
use temporary::At;

/// Between two looks whether another copy has let the first file go.
const CLAIM_PAUSE: Duration = Duration::from_millis(20);

/// Where files go, and how.
#[derive(Debug, Clone)]
pub struct StoreSpec {
    /// As the user wrote it: a folder, or the name for one file.
    pub destination: Vec<u8>,
    /// It has to be a folder; it is made where it is missing.
    pub into_folder: bool,
    /// Which metadata is kept.
    pub attributes: Attributes,
    /// What is done with files that are there already.
    pub filter: Filter,
    /// Files are read again from the disk before they have their final name.
    pub verify: bool,
    /// Nothing is written.
    pub dry_run: bool,
    /// How long another copy may hold the first file before this one is refused.
    pub claim_timeout: Duration,
}

/// What an entry needs at the destination.
#[derive(Debug, Clone)]
pub enum EntryPlan {
    /// It is there already.
    Present,
    /// A folder or link that was made, or would be in a dry run.
    Made,
    /// A file of which all is wanted.
    Whole,
    /// A file of which an earlier try left something.
    Rest(Rest),
}

/// What an earlier try left of a file, by its journal. It counts once it was read back: a disk that
/// was pulled, a volume that was rolled back or another program may have changed it since.
#[derive(Debug, Clone)]
pub struct Rest {
    /// Which parts are noted.
    pub claimed: HashTree,
    /// The pieces of them, in order and apart; see [`Store::reads_back`].
    pub noted: Vec<Piece>,
}

impl Rest {
    /// What is to be asked for at once: start and length of each part. Noted pieces that lie within
    /// one of them come again and need not be read back.
    fn missing(&mut self) -> Vec<(u64, u64)> {
        let missing = self.claimed.missing(RANGES_MAX);
        let comes = |piece: &Piece| {
            let after = missing.partition_point(|part| part.end <= piece.offset);
            missing
                .get(after)
                .is_some_and(|part| part.start <= piece.offset)
        };
        self.noted.retain(|piece| !comes(piece));
        let missing = missing.into_iter();
        missing
            .map(|part| (part.start, part.end - part.start))
            .collect()
    }

    /// Bytes that are noted and not asked for.
    pub fn bytes(&self) -> u64 {
        self.noted.iter().map(|piece| u64::from(piece.length)).sum()
    }
}

/// Most parts that the sender is told of a file; where more are missing, the last one has some that
/// are there.
const RANGES_MAX: usize = 1024;
/// Smaller files have no journal: sending one of them again costs less than keeping it.
const JOURNAL_MIN: u64 = 64 << 10;

impl EntryPlan {
    /// What the sender is told.
    pub fn want(&mut self, file: FileId) -> Want {
        match self {
            EntryPlan::Present => Want::Nothing(file),
            EntryPlan::Made => Want::Made(file),
            EntryPlan::Whole => Want::Whole(file),
            EntryPlan::Rest(rest) => Want::Rest(file, rest.missing()),
        }
    }
}

/// Part of a file that arrived whole, and its place in the file's BLAKE3 tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Piece {
    /// First byte.
    pub offset: u64,
    /// Bytes.
    pub length: u32,
    /// Its chaining value; where it is the whole file, the digest.
    pub hash: [u8; HASH_LENGTH],
}

/// The files of one end that receives; used by many threads at once.
#[derive(Debug)]
pub struct Store {
    spec: StoreSpec,
    destination: Destination,
    open_parts: OpenParts,
    waiting: Mutex<Vec<FileId>>,
    /// The first file that is wanted is ours.
    is_claimed: AtomicBool,
    further_names: FurtherNames,
    /// Where pieces are taken from older versions of files.
    older: Option<OlderFiles>,
    /// Only this part of each file arrives.
    part: Option<FilePart>,
}

impl Store {
    /// Looks at the destination; makes nothing yet.
    ///
    /// # Errors
    /// When the root may not be written, or the destination cannot be what is wanted.
    pub fn open(root: &Root, spec: StoreSpec) -> Result<Self, Problem> {
        if !root.may_write() {
            let refused = problem(ProblemKind::Permission, "nothing may be written here");
            return Err(with_hint(
                refused,
                "this server or token only gives files; use a token with `w` or `rw`",
            ));
        }
        let destination = Destination::open(root, &spec)?;
        destination.check_kept(spec.attributes.kept)?;
        Ok(Store {
            spec,
            destination,
            open_parts: OpenParts::default(),
            waiting: Mutex::default(),
            is_claimed: AtomicBool::new(false),
            further_names: FurtherNames::default(),
            older: None,
            part: None,
        })
    }

    /// The same for one part of each file. The others arrive by other copies, each with a store of
    /// its own, and the last of them gives the file its name.
    #[must_use]
    pub fn for_part(mut self, part: FilePart) -> Self {
        self.part = Some(part);
        self
    }

    /// Of a file of `size` bytes, what is to arrive and has not.
    pub fn tree(&self, size: u64) -> HashTree {
        let within = self.part.map_or(0..size, |part| part.within(size));
        HashTree::part(size, within)
    }

    fn at(&self, file: FileId) -> Result<At, Problem> {
        let at = self.destination.at(file)?;
        let Some(part) = self.part else {
            return Ok(at);
        };
        Ok(At {
            part: Some(part),
            // `shared` says what is a version of a file in parts.
            version: 0,
            ..at
        })
    }

    /// The same, which takes pieces from the versions that files replace.
    #[must_use]
    pub fn with_older(mut self) -> Self {
        self.older = Some(OlderFiles::default());
        self
    }

    /// Whether it does.
    pub fn has_older(&self) -> bool {
        self.older.is_some()
    }

    /// Bytes of the version that a file replaces, where pieces of it may be of use and the copy may
    /// read here.
    pub fn older_bytes(&self, file: FileId) -> Option<u64> {
        let older = self.older.as_ref()?;
        let may_read = self.destination.may_read();
        may_read
            .then(|| older.bytes(&self.at(file).ok()?))
            .flatten()
    }

    /// Reads a piece from the version that a file replaces; `false` where that has fewer bytes.
    pub fn read_older(&self, file: FileId, offset: u64, into: &mut [u8]) -> bool {
        let at = || self.at(file).ok();
        // To say whether a piece is the same tells what is there.
        let older = self.older.as_ref().filter(|_| self.destination.may_read());
        older.is_some_and(|older| older.read(file, at, offset, into))
    }

    /// Whether the destination is new or an empty folder, so that everything will be wanted.
    pub fn is_fresh(&self) -> bool {
        self.destination.is_fresh() && self.part.is_none()
    }

    /// Takes the next entry; the first has id 0. Folders and links are made at once.
    ///
    /// # Errors
    /// When this entry cannot be had; others can. Where the problem names no file, nothing can:
    /// another copy is at the first file that this one wants, so it is at the same files, and the
    /// two would divide them at random.
    pub fn add(&self, entry: &Entry) -> (FileId, Result<EntryPlan, Problem>) {
        self.add_compared(entry, false)
    }

    /// Whether a file of the entry's content is there. Reads all of it.
    pub fn has_content_of(&self, entry: &Entry, is_over: &dyn Fn() -> bool) -> bool {
        self.destination.has_content_of(entry, is_over)
    }

    /// The file of the entry's name, where it has the entry's size.
    pub fn open_of_size(&self, entry: &Entry) -> Option<File> {
        self.destination.open_of_size(entry)
    }

    /// The same as [`Store::add`].
    ///
    /// * `is_equal`: what is there has the entry's content.
    ///
    /// # Errors
    /// As [`Store::add`]. Where the destination itself cannot be made, nothing can be had either.
    pub fn add_compared(
        &self,
        entry: &Entry,
        is_equal: bool,
    ) -> (FileId, Result<EntryPlan, Problem>) {
        let (file, placed) = self.destination.add(entry);
        let plan = placed.and_then(|()| self.plan(file, entry, is_equal));
        let plan = plan.map_err(|trouble| match trouble.kind {
            ProblemKind::Busy if !self.is_claimed.load(Ordering::Relaxed) => trouble,
            _ if self.destination.is_nowhere() => trouble,
            _ => about(file, trouble),
        });
        if plan.is_err() {
            self.destination.refuse(entry);
        }
        let is_needed = match &plan {
            Ok(EntryPlan::Whole | EntryPlan::Rest(_)) => !self.spec.dry_run,
            Ok(_) => entry.kind == Kind::Folder,
            Err(_) => false,
        };
        if !is_needed {
            self.forget_inode(file);
        }
        (file, plan)
    }

    /// What else belongs to entries that come next.
    pub fn take_inodes(&self, inodes: Vec<Inode>) {
        self.destination.take_inodes(inodes);
    }

    /// Nothing else is kept of this entry.
    pub fn forget_inode(&self, file: FileId) {
        self.destination.forget_inode(file);
    }

    fn plan(&self, file: FileId, entry: &Entry, is_equal: bool) -> Result<EntryPlan, Problem> {
        let shared = self.destination.shared(file);
        if let Some(Shared::With(first)) = shared {
            let plan = self.destination.plan_further_name(file, entry, first)?;
            let is_first_there = self.further_names.is_there(first);
            if matches!(plan, EntryPlan::Made) || !is_first_there {
                self.further_names.add(file, first);
                return Ok(EntryPlan::Made);
            }
            return Ok(plan);
        }
        let planned = self
            .destination
            .plan_entry(file, entry, &self.spec, is_equal)?;
        if shared.is_some() {
            let is_there = matches!(planned, EntryPlan::Present | EntryPlan::Made);
            self.further_names.on_first(file, is_there);
        }
        self.take_up(file, entry, planned)
    }

    /// What of the plan is left by an earlier try. A copy that was stopped a moment ago may still
    /// hold the first file, so that is waited for. A copy that goes on finishes the file meanwhile,
    /// and has the next one.
    fn take_up(&self, file: FileId, entry: &Entry, plan: EntryPlan) -> Result<EntryPlan, Problem> {
        let until = Instant::now() + self.spec.claim_timeout;
        let mut busy: Option<(Problem, Option<u64>)> = None;
        loop {
            let left = self.look_for_part(file, entry, plan.clone());
            if let Some((trouble, before)) = &busy
                && self.published_inode(file) != *before
            {
                return Err(trouble.clone());
            }
            match left.and_then(|plan| self.claim(file, plan)) {
                Err(trouble) if self.may_become_free(&trouble, until) => {
                    busy.get_or_insert_with(|| (trouble, self.published_inode(file)));
                }
                plan => return plan,
            }
            thread::sleep(CLAIM_PAUSE);
        }
    }

    fn may_become_free(&self, trouble: &Problem, until: Instant) -> bool {
        let is_first = !self.is_claimed.load(Ordering::Relaxed);
        is_first && trouble.kind == ProblemKind::Busy && Instant::now() < until
    }

    /// The inode that has a file's final name now.
    fn published_inode(&self, file: FileId) -> Option<u64> {
        let at = self.at(file).ok()?;
        let last = OsStr::from_bytes(&at.last);
        let stat = fstatat(&at.folder, last, AtFlags::AT_SYMLINK_NOFOLLOW);
        stat.ok().map(|stat| stat.st_ino)
    }

    /// Locks the first file that is wanted before any other copy can write to it.
    fn claim(&self, file: FileId, plan: EntryPlan) -> Result<EntryPlan, Problem> {
        let is_wanted = matches!(plan, EntryPlan::Whole | EntryPlan::Rest(_)) && !self.spec.dry_run;
        if is_wanted && !self.is_claimed.load(Ordering::Relaxed) {
            self.open_parts.open(file, || self.at(file))?;
            self.is_claimed.store(true, Ordering::Relaxed);
        }
        Ok(plan)
    }

    /// Nothing more of it is taken. What could not be taken up again is removed.
    pub fn let_go(&self, file: FileId) {
        self.forget_inode(file);
        let reason = problem(ProblemKind::SourceChanged, "its source has failed");
        self.open_parts.refuse(file, reason);
    }

    /// Writes bytes of a file where they belong.
    ///
    /// # Errors
    /// When another copy writes to the same place, there is no room, or the disk fails.
    pub fn write(&self, file: FileId, offset: u64, bytes: &[u8]) -> Result<(), Problem> {
        self.change(file, |part| part.write(offset, bytes))
    }

    /// Leaves a hole in a file, or writes zeros where the file system makes none.
    ///
    /// # Errors
    /// As [`Store::write`].
    pub fn make_hole(&self, file: FileId, offset: u64, length: u64) -> Result<(), Problem> {
        self.change(file, |part| part.make_hole(offset, length))
    }

    fn change(
        &self,
        file: FileId,
        change: impl FnOnce(&Part) -> Result<(), Problem>,
    ) -> Result<(), Problem> {
        let part = self.open_parts.open(file, || self.at(file));
        let changed = part.and_then(|part| change(&part));
        changed.map_err(|trouble| {
            // While another copy is at it, it is not this one's to give up.
            if trouble.kind != ProblemKind::Busy {
                self.open_parts.refuse(file, trouble.clone());
            }
            about(file, trouble)
        })
    }

    /// Notes a piece whose bytes are all written and right, so that it need not be sent again.
    /// Nothing happens where the file was published or discarded meanwhile.
    ///
    /// # Errors
    /// When the note cannot be written.
    pub fn note(&self, file: FileId, piece: &Piece) -> Result<(), Problem> {
        self.note_as(file, piece, false)
    }

    /// The same for a piece that is a hole: the disk has nothing to write.
    ///
    /// # Errors
    /// As [`Store::note`].
    pub fn note_hole(&self, file: FileId, piece: &Piece) -> Result<(), Problem> {
        self.note_as(file, piece, true)
    }

    fn note_as(&self, file: FileId, piece: &Piece, is_hole: bool) -> Result<(), Problem> {
        // Another stream may have brought the last piece of the file, and it has its name by now.
        let part = self.open_parts.find(file);
        let noted = part.map_or(Ok(()), |part| part.note(piece, is_hole));
        noted.map_err(|trouble| {
            self.open_parts.refuse(file, trouble.clone());
            about(file, trouble)
        })
    }

    /// Whether a piece that an earlier try noted is on the disk as it was noted.
    pub fn reads_back(&self, file: FileId, piece: &Piece, buffer: &mut Vec<u8>) -> bool {
        let part = self.open_parts.find(file);
        part.is_some_and(|part| part.reads_back(piece, buffer))
    }

    /// A file whose pieces are all there and hash to `digest`: it gets its metadata and waits for
    /// [`Store::publish`]. Nothing happens where it was discarded or let go meanwhile.
    ///
    /// # Errors
    /// When `verify` is asked for and what the disk says is another digest; the part is then gone,
    /// and nothing of it counts any more. Or when the disk fails.
    pub fn finish(&self, file: FileId, digest: &[u8; HASH_LENGTH]) -> Result<(), Problem> {
        let found = self
            .whole_part(file)
            .map_err(|trouble| about(file, trouble))?;
        let Some(part) = found else {
            return Ok(());
        };
        if part.is_shared() {
            // The one that names the file sets the rest.
            part.arrived.get_or_init(|| *digest);
            self.waiting().push(file);
            return Ok(());
        }
        let verified = match self.spec.verify {
            true => finalize::verify(&part, digest),
            false => Ok(()),
        };
        let owned = verified.and_then(|()| {
            let kept = self.spec.attributes.kept;
            let set = self.destination.set_inode(file, &part.file, kept);
            set.map_err(|error| part.at.failed("set owner and attributes of", error))
        });
        let finished = owned.and_then(|()| finalize::set_attributes(&part, &self.spec.attributes));
        match finished {
            Ok(()) => {
                self.waiting().push(file);
                Ok(())
            }
            Err(trouble) => {
                if trouble.kind == ProblemKind::Corrupt {
                    self.discard(file);
                }
                Err(about(file, trouble))
            }
        }
    }

    /// The part that all pieces of a file were written to; only an empty file has none before.
    /// Where a part is gone, what came was given up, and a new part would be full of zeros.
    fn whole_part(&self, file: FileId) -> Result<Option<Arc<Part>>, Problem> {
        if let Some(part) = self.open_parts.find(file) {
            return Ok(Some(part));
        }
        match self.at(file)?.size {
            0 => self.open_parts.open(file, || self.at(file)).map(Some),
            _ => Ok(None),
        }
    }

    /// So many files may be flushed in one go: those that wait are held open.
    pub fn batch(&self) -> usize {
        self.open_parts.batch()
    }

    /// Flushes all files that wait, gives them their final names and flushes the folders; what is
    /// returned as done survives a power failure.
    pub fn publish(&self) -> Vec<(FileId, Result<(), Problem>)> {
        let files = std::mem::take(&mut *self.waiting());
        // Files that were discarded meanwhile are gone.
        let take = |file: FileId| self.open_parts.take(file).map(|part| (file, part));
        let (files, parts): (Vec<_>, Vec<_>) = files.into_iter().filter_map(take).unzip();
        let (attributes, filter) = (&self.spec.attributes, self.spec.filter);
        let outcomes = finalize::publish(&parts, |part| match part.is_shared() {
            true => last_part::complete(part, attributes, filter),
            false => finalize::rename(part, filter),
        });
        let named = files.into_iter().zip(outcomes);
        let told = |(file, outcome): (FileId, Result<(), Problem>)| {
            if outcome.is_ok() {
                self.further_names.on_published(file);
                if let Some(older) = &self.older {
                    older.close(file);
                }
            }
            (file, outcome.map_err(|it| about(file, it)))
        };
        named.map(told).collect()
    }

    /// Forgets what arrived of a file: its source changed, or it is wrong.
    pub fn discard(&self, file: FileId) {
        self.forget_inode(file);
        if let Some(part) = self.open_parts.take(file) {
            part.remove();
        }
    }

    /// What the sources do not have, and `rules` do not leave out, is to be removed; see
    /// `Removal::step`.
    ///
    /// * `kept`: names that the sources have and that cannot be copied, as they were told.
    pub fn removal(&self, rules: Rules, kept: BTreeSet<String>) -> Removal {
        self.destination.removal(rules, kept, self.spec.dry_run)
    }

    /// The same, to say what would be removed.
    pub fn would_remove(&self, rules: Rules, kept: BTreeSet<String>) -> Removal {
        self.destination.removal(rules, kept, true)
    }

    /// What copies that were broken off left in the folders of this one is to be told, to those who
    /// may read there. Where the destination is new, nothing is.
    pub fn unfinished(&self) -> Option<Removal> {
        let is_told = !self.is_fresh() && self.destination.may_read();
        is_told.then(|| self.destination.unfinished())
    }

    /// Goes on with it; what was removed, and what stays. `None` when all is done.
    pub fn remove_some(&self, removal: &mut Removal) -> Option<Vec<Gone>> {
        removal.step(&self.destination)
    }

    /// The end, once every file is published or failed: further names of files are made, folders
    /// get their modes and times, and are flushed.
    pub fn end(&self) -> Vec<FileProblem> {
        if self.spec.dry_run {
            return Vec::new();
        }
        let mut troubles = Vec::new();
        for (file, first) in self.further_names.take() {
            let times = self.spec.attributes.times;
            let made = match self.further_names.is_there(first) {
                true => self.destination.make_further_name(file, first, times),
                false => Err(self.destination.without_first(file, first)),
            };
            if let Err(trouble) = made {
                troubles.push(FileProblem::new(
                    self.name(file).unwrap_or_default(),
                    trouble,
                ));
            }
        }
        let folders = self
            .destination
            .set_folder_attributes(&self.spec.attributes);
        for trouble in folders {
            let name = trouble.file.and_then(|folder| self.name(folder));
            let name = name.map(|name| format!("{name}/")).unwrap_or_default();
            troubles.push(FileProblem::new(name, trouble));
        }
        troubles
    }

    /// What an entry was called, for people.
    pub fn name(&self, file: FileId) -> Option<String> {
        self.destination.name(file).map(|name| shown(&name))
    }

    fn look_for_part(
        &self,
        file: FileId,
        entry: &Entry,
        plan: EntryPlan,
    ) -> Result<EntryPlan, Problem> {
        let Kind::File(size) = entry.kind else {
            return Ok(plan);
        };
        if self.part.is_some() && matches!(plan, EntryPlan::Whole) {
            let rest = self.open_parts.join(file, self.at(file)?)?;
            return Ok(EntryPlan::Rest(rest));
        }
        if self.spec.dry_run || size <= JOURNAL_MIN || self.is_fresh() {
            return Ok(plan);
        }
        match plan {
            EntryPlan::Present => {
                let at = self.at(file)?;
                at.sweep();
                last_part::sweep(&at);
            }
            EntryPlan::Whole => {
                if let Some(rest) = self.open_parts.resume(file, self.at(file)?)? {
                    return Ok(EntryPlan::Rest(rest));
                }
            }
            _ => {}
        }
        Ok(plan)
    }

    fn waiting(&self) -> MutexGuard<'_, Vec<FileId>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Whatever ended the copy: parts of which nothing can be taken up again are removed, with the room
/// that they take.
impl Drop for Store {
    fn drop(&mut self) {
        self.open_parts.remove_useless();
    }
}

fn about(file: FileId, mut problem: Problem) -> Problem {
    problem.file = Some(file);
    problem
}
