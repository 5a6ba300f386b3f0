//! The end of an upload with `--delete`: what the sources do not have is removed at the far end.
//!
//! Only folders that a source has are looked through, once all is copied. The protocol has names
//! and nothing else: each is looked at without following it, level by level, right before it is
//! used. A folder goes after what is in it, and is entered where `statvfs@openssh.com` says that it
//! is on the file system of the folder above. Temporary names stay, whatever their age: locks and
//! clock of the far host are not told. Where a folder is listed without a name that was copied into
//! it, its names are other names than those here, as without upper and lower case, and stay.

use std::collections::BTreeSet;

use copy_protocol::sftp::{FarKind, Listed, Reply, Request, Space, Stat};
use copy_protocol::{CopyOptions, FileProblem, Name, PART_ENDING};
use copy_protocol::{Problem, ProblemKind, Removed, is_reserved};
use files::store::{emptied, not_entered};
use files::{Rules, problem, shown, with_hint};

use super::failure::{refused, stays};
use super::far_name::{join, named};
use super::folders::{self, Heard};
use super::talk::{Halt, Talk, is_missing, is_ok};
use super::told::Told;
use crate::copy_stats::CopyStats;

/// Folders within folders that are removed.
const DEPTH_MAX: usize = 256;
/// Names that go together: what is gone when the far end is lost is not told of more than these.
const TOGETHER: usize = 1_024;

/// Something that goes.
#[derive(Debug)]
struct Doomed {
    /// The folder that it is in.
    above: usize,
    name: Name,
    path: Vec<u8>,
}

/// A folder that is looked through.
#[derive(Debug)]
struct Folder {
    name: Vec<u8>,
    path: Vec<u8>,
    /// `None` for one that the sources have.
    doomed: Option<Doomed>,
    depth: usize,
    /// The number of its file system, once it was asked for.
    filesystem: Option<u64>,
    /// Something in it stays.
    has_kept: bool,
}

struct Removal<'a, 'o> {
    talk: &'a mut Talk,
    stats: &'a mut CopyStats<'o>,
    told: &'a Told,
    rules: Rules,
    /// Names of the sources that cannot be copied.
    kept: BTreeSet<String>,
    is_dry: bool,
    heard: Heard,
    folders: Vec<Folder>,
    files: Vec<Doomed>,
    /// The sources are empty, and something would go.
    is_refused: bool,
}

/// Removes what `told` lacks, or says what would be removed.
pub(super) fn remove(
    talk: &mut Talk,
    told: &Told,
    options: &CopyOptions,
    stats: &mut CopyStats<'_>,
) -> Result<(), Halt> {
    let kept = match stats.spared() {
        Ok(kept) => kept,
        Err(problem) => {
            stats.on_left_out(problem);
            return Ok(());
        }
    };
    let removal = Removal {
        rules: Rules::new(&options.selection.rules)?,
        kept,
        is_dry: options.dry_run,
        talk,
        stats,
        told,
        heard: Heard::default(),
        folders: Vec::new(),
        files: Vec::new(),
        is_refused: false,
    };
    removal.run()
}

/// Why nothing can be removed on a server that does not tell file systems.
pub(super) fn no_mount_points(destination: &str) -> Problem {
    let what = format!(
        "`--delete` spares what is mounted at the destination, and the SFTP server of \
        {destination} does not say what is: it lacks `statvfs@openssh.com`"
    );
    let hint = "leave `--delete` out and remove the rest by hand, or install trunkline there";
    stays(what, hint)
}

impl Removal<'_, '_> {
    fn run(mut self) -> Result<(), Halt> {
        let mut level = self.begin()?;
        let mut levels = Vec::new();
        while !level.is_empty() {
            level = self.look_through(&level)?;
            if self.is_refused {
                return Ok(());
            }
            levels.push(level.clone());
        }
        let files = std::mem::take(&mut self.files);
        self.remove_all(files, false)?;
        for level in levels.iter().rev() {
            self.remove_folders(level)?;
        }
        Ok(())
    }

    /// The folders of the sources that are there, and are still folders.
    fn begin(&mut self) -> Result<Vec<usize>, Halt> {
        let told = &self.told.folders;
        let requests = told.iter().map(|(name, path)| match name.is_empty() {
            // The user's own destination may be a link to a folder.
            true => Request::Stat(named(path)),
            false => Request::LStat(path),
        });
        let looks = self.talk.ask_all(&requests.collect::<Vec<_>>())?;
        for ((name, path), look) in told.iter().zip(looks) {
            if matches!(look, Reply::Stat(stat) if stat.kind() == Some(FarKind::Folder)) {
                self.folders.push(Folder {
                    name: name.clone(),
                    path: path.clone(),
                    doomed: None,
                    depth: 0,
                    filesystem: None,
                    has_kept: false,
                });
            }
        }
        Ok((0..self.folders.len()).collect())
    }

    /// Finds what goes of these folders; returns the folders among it.
    fn look_through(&mut self, level: &[usize]) -> Result<Vec<usize>, Halt> {
        let paths = level.iter().map(|at| named(&self.folders[*at].path));
        let paths: Vec<Vec<u8>> = paths.map(<[u8]>::to_vec).collect();
        let lists = folders::read(self.talk, &paths, &mut self.heard)?;
        let mut found = Vec::new();
        for ((at, path), list) in level.iter().zip(&paths).zip(lists) {
            match list {
                Ok(list) if self.has_other_names(*at, &list) => {
                    self.keep(*at, path, other_names(path));
                }
                Ok(list) => {
                    let names = list.iter().map(|one| one.name.as_slice());
                    found.extend(names.filter_map(|last| self.candidate(*at, last)));
                }
                Err(reply) if is_missing(&reply) => {}
                Err(reply) => self.keep(*at, path, refused("list", path, &reply)),
            }
        }
        let requests: Vec<_> = found.iter().map(|one| Request::LStat(&one.path)).collect();
        let looks = self.talk.ask_all(&requests)?;
        drop(requests);
        let mut below = Vec::new();
        for (one, look) in found.into_iter().zip(looks) {
            match look {
                Reply::Stat(stat) => self.decide(one, &stat, &mut below),
                reply if is_missing(&reply) => {}
                reply => {
                    let problem = refused("look at", &one.path, &reply);
                    self.keep(one.above, one.name.as_bytes(), problem);
                }
            }
        }
        self.enter(below)
    }

    /// Whether what was copied into the folder is not all listed there: a dry run copied nothing.
    fn has_other_names(&self, at: usize, list: &[Listed]) -> bool {
        let folder = &self.folders[at];
        let is_told = folder.doomed.is_none() && !self.is_dry;
        is_told && !self.told.is_listed(&folder.name, list)
    }

    /// A name that no source has.
    fn candidate(&mut self, above: usize, last: &[u8]) -> Option<Doomed> {
        let folder = &mut self.folders[above];
        let name = join(&folder.name, last);
        if is_reserved(last) {
            match last.ends_with(PART_ENDING) {
                true => self.keep(above, &name, unfinished(&name)),
                false => folder.has_kept = true,
            }
            return None;
        }
        if folder.doomed.is_none() && self.told.names.contains(&name) {
            return None;
        }
        let path = join(&folder.path, last);
        match Name::new(name.clone()) {
            Ok(name) => Some(Doomed { above, name, path }),
            Err(error) => {
                let problem = problem(ProblemKind::Request, error.to_string());
                self.keep(above, &name, problem);
                None
            }
        }
    }

    fn decide(&mut self, one: Doomed, stat: &Stat, below: &mut Vec<Doomed>) {
        let name = one.name.as_bytes();
        let Some(kind) = stat.kind() else {
            return self.keep(one.above, name, untold(name));
        };
        let is_folder = kind == FarKind::Folder;
        if self.rules.hide(name, is_folder) || self.kept.contains(&shown(name)) {
            self.folders[one.above].has_kept = true;
        } else if self.told.is_empty() {
            if !std::mem::replace(&mut self.is_refused, true) {
                let folder = self.folders[one.above].name.clone();
                self.keep(one.above, &folder, emptied());
            }
        } else if is_folder {
            below.push(one);
        } else {
            self.files.push(one);
        }
    }

    /// Takes up the folders that are on the file system of the folder above. One that can be read
    /// as a link is none, whatever else the server says: what it leads to stays.
    fn enter(&mut self, below: Vec<Doomed>) -> Result<Vec<usize>, Halt> {
        let is_unknown = |at: &usize| self.folders[*at].filesystem.is_none();
        let above: BTreeSet<usize> = below.iter().map(|one| one.above).collect();
        let above: Vec<usize> = above.into_iter().filter(is_unknown).collect();
        let asked = above.iter().map(|at| named(&self.folders[*at].path));
        let asked = asked.chain(below.iter().map(|one| one.path.as_slice()));
        let requests: Vec<_> = asked.map(Request::Space).collect();
        let mut numbers = self.talk.ask_all(&requests)?.into_iter().map(|reply| {
            let space = Space::decode(&reply);
            space.and_then(|space| space.filesystem)
        });
        drop(requests);
        for at in above {
            self.folders[at].filesystem = numbers.next().flatten();
        }
        let links = below.iter().map(|it| Request::ReadLink(&it.path));
        let links = self.talk.ask_all(&links.collect::<Vec<_>>())?;
        let mut level = Vec::new();
        for ((one, number), link) in below.into_iter().zip(numbers).zip(links) {
            let (name, folder) = (one.name.as_bytes().to_vec(), &self.folders[one.above]);
            let depth = folder.depth + 1;
            let trouble = match (folder.filesystem, number) {
                _ if depth > DEPTH_MAX => not_entered(&name, true),
                _ if matches!(link, Reply::Names(_)) => untold(&name),
                (Some(above), Some(number)) if above == number => {
                    level.push(self.folders.len());
                    self.folders.push(Folder {
                        name,
                        path: one.path.clone(),
                        doomed: Some(one),
                        depth,
                        filesystem: Some(number),
                        has_kept: false,
                    });
                    continue;
                }
                (Some(_), Some(_)) => not_entered(&name, false),
                _ => untold(&name),
            };
            self.keep(one.above, &name, trouble);
        }
        Ok(level)
    }

    /// Removes all of them, some at a time.
    fn remove_all(&mut self, doomed: Vec<Doomed>, is_folder: bool) -> Result<(), Halt> {
        let mut left = doomed.into_iter();
        loop {
            let some: Vec<Doomed> = left.by_ref().take(TOGETHER).collect();
            if some.is_empty() {
                return Ok(());
            }
            let requests = some.iter().map(|one| match is_folder {
                true => Request::RemoveFolder(&one.path),
                false => Request::Remove(&one.path),
            });
            let replies = self.asked(requests)?;
            for (one, reply) in some.into_iter().zip(replies) {
                self.gone(one, is_folder, reply.as_ref());
            }
        }
    }

    /// Removes those of one level in which nothing stays.
    fn remove_folders(&mut self, level: &[usize]) -> Result<(), Halt> {
        let mut doomed = Vec::new();
        for at in level {
            let has_kept = self.folders[*at].has_kept;
            let Some(one) = self.folders[*at].doomed.take() else {
                continue;
            };
            match has_kept {
                true => self.folders[one.above].has_kept = true,
                false => doomed.push(one),
            }
        }
        self.remove_all(doomed, true)
    }

    /// The answers; `None` for each in a dry run, which asks nothing.
    fn asked<'r>(
        &mut self,
        requests: impl Iterator<Item = Request<'r>>,
    ) -> Result<Vec<Option<Reply>>, Halt> {
        if self.is_dry {
            return Ok(requests.map(|_| None).collect());
        }
        let replies = self.talk.ask_all(&requests.collect::<Vec<_>>())?;
        Ok(replies.into_iter().map(Some).collect())
    }

    fn gone(&mut self, one: Doomed, is_folder: bool, reply: Option<&Reply>) {
        match reply {
            Some(reply) if is_missing(reply) => {}
            Some(reply) if !is_ok(reply) => {
                let problem = refused("remove", &one.path, reply);
                self.keep(one.above, one.name.as_bytes(), problem);
            }
            _ => {
                let name = one.name;
                self.stats.on_removed(&Removed { name, is_folder });
            }
        }
    }

    /// Something in the folder stays.
    fn keep(&mut self, folder: usize, name: &[u8], trouble: Problem) {
        self.folders[folder].has_kept = true;
        let told = FileProblem::new(shown(name), trouble);
        self.stats.on_left_out(told);
    }
}

fn unfinished(name: &[u8]) -> Problem {
    let what = format!(
        "`{}` is of a copy that goes on or was broken off: over SFTP it is not seen which",
        shown(name)
    );
    let hint = "give that copy again, or remove the file";
    with_hint(problem(ProblemKind::Unfinished, what), hint)
}

fn untold(name: &[u8]) -> Problem {
    let what = format!(
        "`{}` is not removed: the SFTP server does not say what it is, or on which file system",
        shown(name)
    );
    stays(what, "remove it by hand, or leave it out with `--exclude`")
}

fn other_names(path: &[u8]) -> Problem {
    let what = format!(
        "nothing is removed in `{}`: the SFTP server lists it without names that were copied \
        there, so that it may have others for them, as without upper and lower case",
        shown(path)
    );
    stays(what, "look there, and remove the rest by hand")
}
