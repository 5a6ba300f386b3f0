//! What the far end lacks of the files here. Folders and links are made at once.

mod folders;
mod links;
mod resume;

use std::collections::BTreeSet;
use std::sync::Arc;

use copy_protocol::sftp::{FarKind, Reply, Request, Stat};
use copy_protocol::{CopyOptions, Entry, FileId, Filter, Kind, Problem, ProblemKind};
use files::source::{Found, Source};
use files::{problem, shown, with_hint};
use units::Bytes;

use super::compare;
use super::failure::refused;
use super::far_name::{join, seconds};
use super::item::Item;
use super::journal::Journal;
use super::talk::{Halt, Talk, is_missing, is_ok};
use super::told::Told;
use crate::copy_stats::CopyStats;

/// Entries that are looked at together.
const TOGETHER: usize = 16_384;

/// What the destination is.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Target {
    Folder(Vec<u8>),
    /// Not there; the first entry shows what it becomes.
    New(Vec<u8>),
    /// The name of the one file, and whether it has one.
    File(Vec<u8>, bool),
    /// A folder that a dry run does not make.
    Nowhere,
}

impl Target {
    /// The name of an entry at the far end.
    fn path(&self, entry: &Entry) -> Vec<u8> {
        match self {
            Target::Folder(base) => join(base, entry.name.as_bytes()),
            Target::File(path, _) | Target::New(path) => path.clone(),
            Target::Nowhere => entry.name.as_bytes().to_vec(),
        }
    }
}

/// An entry and its number.
type Numbered = (FileId, Entry);

/// Looks at the far end, and makes folders and links there.
pub(super) struct Planner<'a, 'o> {
    pub talk: &'a mut Talk,
    pub stats: &'a mut CopyStats<'o>,
    pub journal: &'a Journal,
    options: &'a CopyOptions,
    into_folder: bool,
    target: Target,
    /// Everything below the destination is new.
    is_fresh: bool,
    made: BTreeSet<Vec<u8>>,
    /// Files that are there, with another mode.
    other_modes: Vec<(Vec<u8>, Stat)>,
    /// Files that are to be sent, as far as they are not there.
    new_items: Vec<Item>,
    /// Large files whose parts are to be made.
    to_begin: Vec<Arc<Item>>,
    plan: Plan,
}

/// What is to be done.
#[derive(Debug, Default)]
pub(super) struct Plan {
    /// Files to be sent.
    pub items: Vec<Arc<Item>>,
    /// The first of them where it is open already: its handle.
    pub opened: Option<(FileId, Vec<u8>)>,
    /// Folders, outermost first, and what they get at the end.
    pub folders: Vec<(String, Vec<u8>, Stat)>,
    /// What the sources have, where the rest is removed.
    pub told: Told,
}

impl<'a, 'o> Planner<'a, 'o> {
    /// Looks at the destination.
    pub fn new(
        talk: &'a mut Talk,
        stats: &'a mut CopyStats<'o>,
        journal: &'a Journal,
        options: &'a CopyOptions,
        destination: &[u8],
        into_folder: bool,
    ) -> Result<Self, Halt> {
        let target = match talk.ask(Request::Stat(destination))? {
            Reply::Stat(stat) if stat.kind() == Some(FarKind::Folder) => {
                Target::Folder(destination.to_vec())
            }
            Reply::Stat(_) if into_folder => {
                let name = shown(destination);
                let what =
                    format!("`{name}` is no folder, and more than one thing is copied to it");
                let refused = problem(ProblemKind::Request, what);
                return Err(with_hint(refused, "name a folder as destination").into());
            }
            Reply::Stat(_) => Target::File(destination.to_vec(), false),
            reply if is_missing(&reply) => Target::New(destination.to_vec()),
            reply => return Err(refused("copy to", destination, &reply).into()),
        };
        Ok(Planner {
            talk,
            stats,
            journal,
            options,
            into_folder,
            target,
            is_fresh: false,
            made: BTreeSet::new(),
            other_modes: Vec::new(),
            new_items: Vec::new(),
            to_begin: Vec::new(),
            plan: Plan::default(),
        })
    }

    /// Goes through all that there is.
    pub fn plan(mut self, source: &Arc<Source>) -> Result<Plan, Halt> {
        let mut walk = source.walk();
        let mut next: FileId = 0;
        loop {
            let mut some: Vec<Numbered> = Vec::new();
            while some.len() < TOGETHER {
                match walk.next() {
                    Some(Found::Entry(entry, _)) => {
                        self.stats.on_entry(&entry);
                        some.push((next, entry));
                        next += 1;
                    }
                    Some(Found::LeftOut(problem)) => self.stats.on_left_out(problem),
                    None => break,
                }
            }
            if some.is_empty() {
                break;
            }
            self.plan_some(source, some)?;
        }
        self.set_modes()?;
        self.stats.on_all_known(walk.linked());
        Ok(self.plan)
    }

    fn plan_some(&mut self, source: &Source, entries: Vec<Numbered>) -> Result<(), Halt> {
        let mut fitting = Vec::with_capacity(entries.len());
        for (id, entry) in entries {
            match self.decide(&entry)? {
                true => {
                    self.note_told(&entry);
                    fitting.push((id, entry));
                }
                false => {
                    let problem = self.second();
                    self.stats.on_failed(Some(&entry), problem);
                }
            }
        }
        let (folders, others): (Vec<_>, Vec<_>) = fitting
            .into_iter()
            .partition(|(_, entry)| entry.kind == Kind::Folder);
        let lost = self.make_folders(&folders)?;
        let mut there = Vec::with_capacity(others.len());
        for (id, entry) in others {
            match above(&entry).is_some_and(|folder| lost.contains(folder)) {
                true => self.follows(&entry),
                false => there.push((id, entry)),
            }
        }
        let looks = self.look(&there)?;
        let equal = self.compare(source, &there, &looks)?;
        let mut links = Vec::new();
        for ((id, entry), look) in there.into_iter().zip(looks) {
            match &entry.kind {
                Kind::File(size) => {
                    let size = *size;
                    let is_equal = equal.contains(&id);
                    self.plan_file((id, entry), size, look.as_ref(), is_equal);
                }
                _ => links.push((entry, look)),
            }
        }
        resume::take_up(self)?;
        resume::begin_parts(self)?;
        self.make_links(links)
    }

    /// The first entry shows what a destination becomes that is not there. Whether this one fits.
    fn decide(&mut self, entry: &Entry) -> Result<bool, Halt> {
        let is_folder = entry.kind == Kind::Folder;
        match self.target.clone() {
            Target::Folder(_) | Target::Nowhere => Ok(true),
            Target::File(_, is_taken) if is_taken || is_folder => Ok(false),
            Target::File(path, _) => {
                self.target = Target::File(path, true);
                Ok(true)
            }
            Target::New(path) if is_folder || self.into_folder || path.ends_with(b"/") => {
                self.is_fresh = true;
                if self.options.dry_run {
                    self.target = Target::Nowhere;
                    return Ok(true);
                }
                let mode = Some(0o777);
                let stat = Stat {
                    mode,
                    ..Stat::default()
                };
                let reply = self.talk.ask(Request::MakeFolder(&path, stat))?;
                if !is_ok(&reply) {
                    return Err(refused("make", &path, &reply).into());
                }
                self.target = Target::Folder(path);
                Ok(true)
            }
            Target::New(path) => {
                self.target = Target::File(path, true);
                Ok(true)
            }
        }
    }

    fn second(&self) -> Problem {
        let name = match &self.target {
            Target::File(path, _) => shown(path),
            _ => String::new(),
        };
        let what = format!("`{name}` is one file, and several things are copied to it");
        with_hint(
            problem(ProblemKind::Request, what),
            "name a folder as destination",
        )
    }

    /// The name of an entry at the far end.
    fn path(&self, entry: &Entry) -> Vec<u8> {
        self.target.path(entry)
    }

    /// Whether there is nothing of that name, since the folder that it is in was just made.
    fn is_new(&self, entry: &Entry) -> bool {
        let is_made = |folder: &[u8]| self.made.contains(folder);
        self.is_fresh || above(entry).is_some_and(is_made)
    }

    /// What is at the far end under these names; `None` for nothing.
    fn look(&mut self, entries: &[Numbered]) -> Result<Vec<Option<Stat>>, Halt> {
        let paths: Vec<Option<Vec<u8>>> = entries
            .iter()
            .map(|(_, entry)| (!self.is_new(entry)).then(|| self.path(entry)))
            .collect();
        let asked = paths.iter().flatten().map(|path| Request::LStat(path));
        let asked: Vec<_> = asked.collect();
        let mut replies = self.talk.ask_all(&asked)?.into_iter();
        let look = |path: &Option<Vec<u8>>| match path.as_ref().and_then(|_| replies.next()) {
            Some(Reply::Stat(stat)) => Some(stat),
            // Whatever is wrong is told when it is written.
            _ => None,
        };
        Ok(paths.iter().map(look).collect())
    }

    /// The files whose very content is there, where contents are compared.
    fn compare(
        &mut self,
        source: &Source,
        entries: &[Numbered],
        looks: &[Option<Stat>],
    ) -> Result<BTreeSet<FileId>, Halt> {
        if self.options.filter != Filter::Content {
            return Ok(BTreeSet::new());
        }
        let target = &self.target;
        let path = |entry: &Entry| target.path(entry);
        let control = self.stats.control();
        let is_stopped = || control.is_stopped();
        compare::equal(self.talk, source, entries, (looks, &path), &is_stopped)
    }

    /// A dry run that makes no destination removes nothing either.
    fn note_told(&mut self, entry: &Entry) {
        if self.options.delete && self.target != Target::Nowhere {
            self.plan.told.add(entry, self.path(entry));
        }
    }

    /// * `is_equal`: its very content is there.
    fn plan_file(
        &mut self,
        (id, entry): Numbered,
        size: u64,
        there: Option<&Stat>,
        is_equal: bool,
    ) {
        let keeps_mode = self.options.attributes.permissions;
        let mut mode = keeps_mode.then_some(entry.mode & 0o777);
        let kind = there.map(|stat| stat.kind().unwrap_or(FarKind::File));
        match (kind, there, self.options.filter) {
            (Some(FarKind::File | FarKind::Link), _, Filter::Missing) => {
                self.stats.on_present(&entry);
                return;
            }
            (Some(FarKind::File), Some(stat), Filter::Changed) if is_same(stat, size, &entry) => {
                self.stats.on_present(&entry);
                self.note_mode(&entry, stat, mode);
                return;
            }
            (Some(FarKind::File), Some(stat), Filter::Content) if is_equal => {
                self.stats.on_present(&entry);
                self.note_mode(&entry, stat, mode);
                return;
            }
            (Some(FarKind::File), Some(stat), _) if !keeps_mode => {
                mode = stat.mode.map(|mode| mode & 0o777);
            }
            (Some(kind @ (FarKind::Folder | FarKind::Special(_))), ..) => {
                let problem = in_the_way(&self.path(&entry), kind, "a file");
                self.stats.on_failed(Some(&entry), problem);
                return;
            }
            _ => {}
        }
        if self.options.dry_run {
            self.stats.on_would_copy(&entry, Bytes::new(size));
            return;
        }
        let path = self.path(&entry);
        let item = Item::new(id, entry, size, path);
        let item = item.put(self.journal.number, mode, self.options.verify);
        self.new_items.push(item);
    }

    /// The content is there already; mode and time may not be right.
    fn note_mode(&mut self, entry: &Entry, there: &Stat, mode: Option<u32>) {
        let is_other = |mode: &u32| there.mode.is_some_and(|it| it & 0o777 != *mode);
        let modified = seconds(entry);
        let keeps_time = self.options.attributes.times && there.modified() != Some(modified);
        let stat = Stat {
            size: None,
            mode: mode.filter(is_other),
            times: keeps_time.then_some((modified, modified)),
        };
        if stat != Stat::default() && !self.options.dry_run {
            self.other_modes.push((self.path(entry), stat));
        }
    }

    fn set_modes(&mut self) -> Result<(), Halt> {
        let all = std::mem::take(&mut self.other_modes);
        let requests = all.iter().map(|(path, stat)| Request::SetStat(path, *stat));
        let requests: Vec<_> = requests.collect();
        let replies = self.talk.ask_all(&requests)?;
        for ((path, _), reply) in all.iter().zip(replies) {
            if !is_ok(&reply) {
                let problem = refused("set mode and time of", path, &reply);
                let problem = copy_protocol::FileProblem::new(shown(path), problem);
                self.stats.on_left_out(problem);
            }
        }
        Ok(())
    }

    fn follows(&mut self, entry: &Entry) {
        let name = shown(&self.path(entry));
        let what = format!("`{name}`: the folder that it is in could not be copied");
        let problem = problem(ProblemKind::Follows, what);
        self.stats.on_failed(Some(entry), problem);
    }
}

/// Same size and time, as far as the protocol tells times.
fn is_same(there: &Stat, size: u64, entry: &Entry) -> bool {
    there.size == Some(size) && there.modified() == Some(seconds(entry))
}

/// The folder that it is in, below the destination.
fn above(entry: &Entry) -> Option<&[u8]> {
    let name = entry.name.as_bytes();
    let end = name.iter().rposition(|byte| *byte == b'/')?;
    Some(&name[..end])
}

fn in_the_way(path: &[u8], kind: FarKind, wanted: &str) -> Problem {
    let there = match kind {
        FarKind::File => "a file",
        FarKind::Folder => "a folder",
        FarKind::Link => "a link",
        FarKind::Special(_) => "a pipe, socket or device",
    };
    let what = format!(
        "`{}` is {there}, and {wanted} should take its place",
        shown(path)
    );
    with_hint(
        problem(ProblemKind::Request, what),
        "move it away or choose another destination",
    )
}
