//! What there is to copy, and reading it.
//!
//! Names follow rsync: `run7` copies the folder itself, so that `run7/hits.root` is below the
//! destination; `run7/` copies what is in it. So does a path that ends in `.` or `..`. A file is
//! copied under its last component. That does not depend on what the destination is, and the same
//! command line started again means the same.
//!
//! A walk goes folder by folder, each before what is in it, names in the order of their bytes; it
//! holds no more than the names of the folders that it stands in. What is no file, folder or link,
//! and what cannot be looked at, is told and left out, and the rest goes on.
//!
//! Files with several hard links are copied once for each name, and the names are counted. Where
//! holes are, a [`Reader`] says.
//!
//! Reading order: this file, `select` (wildcards), `tops` and `rules` (what of it), `settling`
//! (which files are finished), `walk`, `reader`.

mod links;
pub(crate) mod look;
mod missing;
mod reader;
pub mod rules;
pub mod select;
mod settling;
pub mod tops;
mod walk;

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError, RwLock};

use copy_protocol::{Attributes, FileId, Problem, ProblemKind, Selection};

pub use look::Found;
pub use reader::Reader;
pub use reader::version;
pub use settling::{Look, Settling};
pub use walk::Walk;

use crate::names::Names;
use crate::problems::{problem, with_hint};
use crate::root::Root;
use reader::{Readers, Seen};
use rules::Rules;
use tops::Top;

/// What is to be copied.
#[derive(Debug, Clone)]
pub struct SourceSpec {
    /// Names as the user wrote them.
    pub paths: Vec<Vec<u8>>,
    /// Whether `*`, `?`, `[..]` and `{..}` in them stand for names: at the far end, where no shell
    /// does that.
    pub wildcards: bool,
    /// Whether folders are copied.
    pub recursive: bool,
    /// Whether links are copied as links.
    pub attributes: Attributes,
    /// Which of it.
    pub selection: Selection,
}

/// The files of one end, to be walked by one thread and read by many.
#[derive(Debug)]
pub struct Source {
    root: Root,
    spec: SourceSpec,
    rules: Rules,
    /// Where only finished files are copied.
    settling: Option<Arc<Settling>>,
    tops: VecDeque<Top>,
    found: RwLock<FoundSoFar>,
    readers: Mutex<Readers>,
}

/// Where each entry is, and what it looked like.
#[derive(Debug, Default)]
struct FoundSoFar {
    names: Names,
    seen: Vec<Seen>,
}

impl Source {
    /// Looks up wildcards.
    ///
    /// # Errors
    /// When the root may not be read, a wildcard stands for nothing, a rule or a list cannot be
    /// followed, two sources would get the same name, or none of them can be copied.
    pub fn new(root: &Root, spec: SourceSpec) -> Result<Arc<Self>, Problem> {
        Source::open(root, spec, None)
    }

    /// The same with finished files alone, which are not copied yet.
    ///
    /// # Errors
    /// As [`Source::new`].
    pub fn finished_in(
        root: &Root,
        spec: SourceSpec,
        settling: Arc<Settling>,
    ) -> Result<Arc<Self>, Problem> {
        Source::open(root, spec, Some(settling))
    }

    fn open(
        root: &Root,
        mut spec: SourceSpec,
        settling: Option<Arc<Settling>>,
    ) -> Result<Arc<Self>, Problem> {
        if !root.may_read() {
            let refused = problem(ProblemKind::Permission, "nothing may be read here");
            return Err(with_hint(
                refused,
                "this server or token only takes files; use a token with `r` or `rw`",
            ));
        }
        if spec.wildcards {
            spec.paths = select::expand(root, &spec.paths)?;
        }
        select::check_distinct(&spec.paths)?;
        let source = Arc::new(Source {
            root: root.clone(),
            rules: Rules::new(&spec.selection.rules)?,
            settling,
            tops: tops::tops(&spec)?,
            spec,
            found: RwLock::default(),
            readers: Mutex::new(Readers::default()),
        });
        match source.walk().nothing() {
            Some(problem) => Err(problem),
            None => Ok(source),
        }
    }

    /// Goes through everything once; the position of an entry is its [`FileId`].
    pub fn walk(self: &Arc<Self>) -> Walk {
        Walk::new(Arc::clone(self))
    }

    /// Reads exactly `into.len()` bytes at `offset`.
    ///
    /// # Errors
    /// When the file is another than the walk saw, ends too soon, or cannot be read.
    pub fn read(&self, file: FileId, offset: u64, into: &mut [u8]) -> Result<(), Problem> {
        self.reader(file)?.read(offset, into)
    }

    /// The open file. Few are kept open; asking again is cheap.
    ///
    /// # Errors
    /// As [`Source::read`].
    pub fn reader(&self, file: FileId) -> Result<Arc<Reader>, Problem> {
        let kept = self.kept().get(file);
        if let Some(reader) = kept {
            return Ok(reader);
        }
        let (path, seen) = self.place(file)?;
        let reader = Reader::open(&self.root, file, &path, seen, &self.spec.attributes)?;
        Ok(self.kept().keep(reader))
    }

    /// Says whether the file is still what the walk saw, once its last byte was read, and closes
    /// it.
    ///
    /// # Errors
    /// [`ProblemKind::SourceChanged`].
    pub fn finished(&self, file: FileId) -> Result<(), Problem> {
        let reader = self.reader(file)?;
        self.kept().close(file);
        reader.check().map(drop)
    }

    /// How the user would call the file.
    pub fn path(&self, file: FileId) -> Option<Vec<u8>> {
        let found = self.found.read().unwrap_or_else(PoisonError::into_inner);
        found.names.get(file)
    }

    fn place(&self, file: FileId) -> Result<(Vec<u8>, Seen), Problem> {
        let found = self.found.read().unwrap_or_else(PoisonError::into_inner);
        let seen = found.seen.get(file as usize).copied();
        let place = found.names.get(file).zip(seen);
        place.ok_or_else(|| {
            let count = found.seen.len();
            problem(
                ProblemKind::Protocol,
                format!("file {file} was asked for, of {count}"),
            )
        })
    }

    fn kept(&self) -> std::sync::MutexGuard<'_, Readers> {
        self.readers.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
