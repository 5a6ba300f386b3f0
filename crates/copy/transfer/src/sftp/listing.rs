//! What there is to copy at the far end: all of it, before the first byte is fetched.
//!
//! Folders are read level by level, many at a time; then everything is put in the order of a walk,
//! each folder before what is in it. Links are copied as links, or, with `-L`, followed, and a
//! folder that leads back to one that it is in is left out.

use std::collections::BTreeSet;

use copy_protocol::sftp::{FarKind, Reply, Request, Stat};
use copy_protocol::{ENTRIES_MAX, Entry, FileProblem, Kind, Name, PATH_MAX, Problem, ProblemKind};
use files::source::SourceSpec;
use files::source::select::check_distinct;
use files::source::tops::tops;
use files::{Rules, problem, shown, with_hint};

use super::failure::refused;
use super::far_name::{join, named};
use super::folders::{self, Heard};
use super::talk::{Halt, Talk, is_missing};
use super::wildcards;

/// Names that something is asked of together: a server may answer each with a whole packet.
const TOGETHER: usize = 256;

/// Something that was found.
#[derive(Debug)]
pub(super) struct Found {
    pub entry: Entry,
    /// Its name at the far end.
    pub path: Vec<u8>,
}

/// All of it.
#[derive(Debug, Default)]
pub(super) struct Listing {
    pub found: Vec<Found>,
    pub left_out: Vec<FileProblem>,
}

/// Something before it is known what it is.
struct Raw {
    above: Option<usize>,
    name: Vec<u8>,
    path: Vec<u8>,
    stat: Stat,
    /// What the link says, where it stays one.
    link: Option<Vec<u8>>,
    /// Where it really is, of folders that links may lead to.
    real: Option<Vec<u8>>,
    is_alone: bool,
}

struct Node {
    above: Option<usize>,
    found: Option<Found>,
    real: Option<Vec<u8>>,
    below: Vec<usize>,
}

struct Lister<'a> {
    talk: &'a mut Talk,
    spec: &'a SourceSpec,
    rules: Rules,
    heard: Heard,
    nodes: Vec<Node>,
    tops: Vec<usize>,
    left_out: Vec<FileProblem>,
}

/// Lists what `spec` names.
///
/// * `is_strict`: wildcards need to see all folders that they go through.
pub(super) fn list(talk: &mut Talk, spec: &SourceSpec, is_strict: bool) -> Result<Listing, Halt> {
    let mut heard = Heard::default();
    let mut spec = spec.clone();
    spec.paths = wildcards::expand(talk, &spec.paths, is_strict, &mut heard)?;
    check_distinct(&spec.paths)?;
    let mut lister = Lister {
        rules: Rules::new(&spec.selection.rules)?,
        talk,
        spec: &spec,
        heard,
        nodes: Vec::new(),
        tops: Vec::new(),
        left_out: Vec::new(),
    };
    let mut level = lister.tops()?;
    if lister.nodes.is_empty()
        && let Some(first) = lister.left_out.first()
    {
        return Err(Halt::Problem(whole(first)));
    }
    while !level.is_empty() {
        level = lister.descend(&level)?;
    }
    Ok(lister.end())
}

impl Lister<'_> {
    /// The sources themselves; returns the folders among them.
    fn tops(&mut self) -> Result<Vec<usize>, Halt> {
        let tops = tops(self.spec)?;
        let follows = |path: &[u8]| !self.spec.attributes.links || path.ends_with(b"/");
        let requests: Vec<_> = tops
            .iter()
            .map(|top| match (named(&top.path), follows(&top.path)) {
                (path, true) => Request::Stat(path),
                (path, false) => Request::LStat(path),
            })
            .collect();
        let replies = self.talk.ask_all(&requests)?;
        let mut raws = Vec::new();
        for (top, reply) in tops.iter().zip(replies) {
            match reply {
                Reply::Stat(stat) => raws.push(Raw {
                    above: None,
                    name: top.name.clone(),
                    path: top.path.clone(),
                    stat,
                    link: None,
                    real: None,
                    is_alone: top.is_alone,
                }),
                reply => {
                    let problem = missing(&top.path, &reply);
                    self.leave_out(&top.name, false, problem);
                }
            }
        }
        self.take(raws)
    }

    /// What is in these folders; returns the folders among it.
    fn descend(&mut self, level: &[usize]) -> Result<Vec<usize>, Halt> {
        let paths: Vec<Vec<u8>> = level.iter().map(|at| self.path_of(*at)).collect();
        let paths: Vec<Vec<u8>> = paths.iter().map(|path| named(path).to_vec()).collect();
        let lists = folders::read(self.talk, &paths, &mut self.heard)?;
        let mut raws = Vec::new();
        for ((at, path), list) in level.iter().zip(&paths).zip(lists) {
            let above = self.nodes[*at].found.as_ref();
            let above = above.map_or(Vec::new(), |it| it.entry.name.as_bytes().to_vec());
            let list = match list {
                Ok(list) => list,
                Err(reply) => {
                    self.leave_out(&above, true, refused("list", path, &reply));
                    continue;
                }
            };
            raws.extend(list.into_iter().map(|one| Raw {
                above: Some(*at),
                name: join(&above, &one.name),
                path: join(path, &one.name),
                stat: one.stat,
                link: None,
                real: None,
                is_alone: false,
            }));
        }
        self.take(raws)
    }

    /// Finds out what is not known of them, and keeps those that are part of the copy.
    fn take(&mut self, raws: Vec<Raw>) -> Result<Vec<usize>, Halt> {
        let is_in = |raw: &Raw| {
            let is_folder = raw.stat.kind() == Some(FarKind::Folder);
            !self.rules.leave_out(&raw.name, is_folder)
        };
        let mut raws: Vec<Raw> = raws.into_iter().filter(is_in).collect();
        raws = self.look_again(raws)?;
        raws = match self.spec.attributes.links {
            true => self.read_links(raws)?,
            false => self.follow_links(raws)?,
        };
        let mut level = Vec::new();
        for raw in raws {
            level.extend(self.admit(raw)?);
        }
        Ok(level)
    }

    /// Servers may leave out anything where they list.
    fn look_again(&mut self, raws: Vec<Raw>) -> Result<Vec<Raw>, Halt> {
        let is_unknown = |raw: &Raw| match raw.stat.kind() {
            None => true,
            Some(FarKind::File) => raw.stat.size.is_none() || raw.stat.times.is_none(),
            Some(_) => false,
        };
        self.ask_of(raws, is_unknown, lstat, |raw, reply| {
            let Reply::Stat(stat) = reply else {
                return false;
            };
            raw.stat = *stat;
            true
        })
    }

    fn read_links(&mut self, raws: Vec<Raw>) -> Result<Vec<Raw>, Halt> {
        self.ask_of(raws, is_link, read_link, |raw, reply| {
            let Reply::Names(names) = reply else {
                return false;
            };
            let text = names.first().map(|one| one.name.clone());
            let is_text = |text: &Vec<u8>| (1..=PATH_MAX).contains(&text.len());
            raw.link = text.filter(|text| is_text(text) && !text.contains(&0));
            raw.link.is_some()
        })
    }

    fn follow_links(&mut self, raws: Vec<Raw>) -> Result<Vec<Raw>, Halt> {
        let mut followed = BTreeSet::new();
        let raws = self.ask_of(raws, is_link, stat, |raw, reply| {
            let Reply::Stat(stat) = reply else {
                return false;
            };
            raw.stat = *stat;
            followed.insert(raw.path.clone());
            true
        })?;
        let needs_place = |raw: &Raw| {
            let is_folder = raw.stat.kind() == Some(FarKind::Folder);
            is_folder && (raw.above.is_none() || followed.contains(&raw.path))
        };
        self.ask_of(raws, needs_place, real_path, |raw, reply| {
            let Reply::Names(names) = reply else {
                return false;
            };
            raw.real = names.first().map(|one| one.name.clone());
            raw.real.is_some()
        })
    }

    /// Asks something of some of them, and leaves out those of which no answer is of use.
    fn ask_of(
        &mut self,
        raws: Vec<Raw>,
        is_asked: impl Fn(&Raw) -> bool,
        request: impl Fn(&[u8]) -> Request<'_>,
        mut use_it: impl FnMut(&mut Raw, &Reply) -> bool,
    ) -> Result<Vec<Raw>, Halt> {
        let mut kept = Vec::with_capacity(raws.len());
        let mut left = raws.into_iter();
        loop {
            let some: Vec<Raw> = left.by_ref().take(TOGETHER).collect();
            if some.is_empty() {
                break;
            }
            let asked: Vec<bool> = some.iter().map(&is_asked).collect();
            let paths = some.iter().zip(&asked).filter(|(_, asked)| **asked);
            let requests: Vec<_> = paths.map(|(raw, _)| request(named(&raw.path))).collect();
            let mut replies = self.talk.ask_all(&requests)?.into_iter();
            drop(requests);
            for (mut raw, asked) in some.into_iter().zip(asked) {
                let reply = if asked { replies.next() } else { None };
                match reply {
                    Some(reply) if !use_it(&mut raw, &reply) => {
                        let problem = refused("look at", &raw.path, &reply);
                        self.leave_out(&raw.name, false, problem);
                    }
                    _ => kept.push(raw),
                }
            }
        }
        Ok(kept)
    }

    /// Keeps one of them, where it is something to copy; returns it where it is a folder whose
    /// content is.
    fn admit(&mut self, raw: Raw) -> Result<Option<usize>, Halt> {
        let is_folder = raw.stat.kind() == Some(FarKind::Folder);
        if self.rules.leave_out(&raw.name, is_folder) {
            return Ok(None);
        }
        let kind = match self.kind(&raw) {
            Ok(kind) => kind,
            Err(problem) => {
                self.leave_out(&raw.name, is_folder, problem);
                return Ok(None);
            }
        };
        let name = match Name::new(raw.name.clone()) {
            Ok(name) => name,
            Err(error) => {
                let problem = problem(ProblemKind::Request, error.to_string());
                self.leave_out(&raw.name, is_folder, problem);
                return Ok(None);
            }
        };
        if name.is_reserved() {
            self.leave_out(&raw.name, is_folder, temporary(&raw));
            return Ok(None);
        }
        let real = self.real(&raw);
        if is_folder && self.leads_back(raw.above, real.as_deref()) {
            let what = format!(
                "`{}` leads back to a folder that it is in",
                shown(&raw.path)
            );
            let hint = "copy links as links, or remove this one";
            let problem = with_hint(problem(ProblemKind::Request, what), hint);
            self.leave_out(&raw.name, true, problem);
            return Ok(None);
        }
        if let Kind::Link(text) = &kind {
            self.heard.add(text.len())?;
        }
        if self.nodes.len() >= ENTRIES_MAX as usize {
            let what = format!("more than {ENTRIES_MAX} names");
            return Err(problem(ProblemKind::Request, what).into());
        }
        let at = self.nodes.len();
        let found = Found {
            entry: entry(name, kind, &raw.stat),
            path: raw.path,
        };
        self.nodes.push(Node {
            above: raw.above,
            found: Some(found),
            real,
            below: Vec::new(),
        });
        match raw.above {
            Some(above) => self.nodes[above].below.push(at),
            None => self.tops.push(at),
        }
        Ok((is_folder && !raw.is_alone).then_some(at))
    }

    fn kind(&self, raw: &Raw) -> Result<Kind, Problem> {
        let kind = raw.stat.kind();
        match (kind, &raw.link, raw.stat.size) {
            (Some(FarKind::File), _, Some(size)) if i64::try_from(size).is_ok() => {
                Ok(Kind::File(size))
            }
            (Some(FarKind::Link), Some(text), _) => Ok(Kind::Link(text.clone())),
            (Some(FarKind::Folder), ..) if self.spec.recursive || raw.is_alone => Ok(Kind::Folder),
            (Some(FarKind::Folder), ..) => {
                let what = format!("`{}` is a folder", shown(&raw.name));
                let problem = problem(ProblemKind::Request, what);
                Err(with_hint(problem, "copy folders with `-r`"))
            }
            (Some(FarKind::Special(_)), ..) => {
                let what = format!("`{}` has no content and is left out", shown(&raw.name));
                Err(problem(ProblemKind::NoContent, what))
            }
            (Some(FarKind::File), _, Some(size)) => {
                let what = format!(
                    "the far end says that `{}` has {size} bytes, which no file has",
                    shown(&raw.path)
                );
                Err(problem(ProblemKind::Protocol, what))
            }
            _ => {
                let what = format!("the far end does not say what `{}` is", shown(&raw.path));
                Err(problem(ProblemKind::Protocol, what))
            }
        }
    }

    /// Where a folder really is, as far as links are followed.
    fn real(&self, raw: &Raw) -> Option<Vec<u8>> {
        let above = raw.above.and_then(|at| self.nodes[at].real.as_ref());
        let last = raw.path.rsplit(|byte| *byte == b'/').next();
        let below = || Some(join(above?, last?));
        match self.spec.attributes.links {
            true => None,
            false => raw.real.clone().or_else(below),
        }
    }

    fn leads_back(&self, mut above: Option<usize>, real: Option<&[u8]>) -> bool {
        let Some(real) = real else {
            return false;
        };
        while let Some(at) = above {
            if self.nodes[at].real.as_deref() == Some(real) {
                return true;
            }
            above = self.nodes[at].above;
        }
        false
    }

    fn path_of(&self, at: usize) -> Vec<u8> {
        let found = self.nodes[at].found.as_ref();
        found.map_or(Vec::new(), |found| found.path.clone())
    }

    fn leave_out(&mut self, name: &[u8], is_folder: bool, problem: Problem) {
        let end = if is_folder { "/" } else { "" };
        let name = format!("{}{end}", shown(name));
        self.left_out.push(FileProblem::new(name, problem));
    }

    /// Each folder before what is in it.
    fn end(mut self) -> Listing {
        let mut found = Vec::with_capacity(self.nodes.len());
        let mut next: Vec<usize> = self.tops.iter().rev().copied().collect();
        while let Some(at) = next.pop() {
            let node = &mut self.nodes[at];
            found.extend(node.found.take());
            next.extend(node.below.iter().rev());
        }
        Listing {
            found,
            left_out: self.left_out,
        }
    }
}

fn lstat(path: &[u8]) -> Request<'_> {
    Request::LStat(path)
}

fn stat(path: &[u8]) -> Request<'_> {
    Request::Stat(path)
}

fn read_link(path: &[u8]) -> Request<'_> {
    Request::ReadLink(path)
}

fn real_path(path: &[u8]) -> Request<'_> {
    Request::RealPath(path)
}

fn is_link(raw: &Raw) -> bool {
    raw.stat.kind() == Some(FarKind::Link)
}

fn entry(name: Name, kind: Kind, stat: &Stat) -> Entry {
    let size = match kind {
        Kind::File(size) => size,
        _ => 0,
    };
    let modified = stat.modified().unwrap_or(0);
    let usual = if kind == Kind::Folder { 0o755 } else { 0o644 };
    let mut hasher = blake3::Hasher::new();
    hasher
        .update(b"sftp")
        .update(&size.to_le_bytes())
        .update(&modified.to_le_bytes());
    let mut version = [0; 8];
    hasher.finalize_xof().fill(&mut version);
    Entry {
        name,
        kind,
        mode: stat.mode.map_or(usual, |mode| mode & 0o7777),
        modified_nanoseconds: i64::from(modified) * 1_000_000_000,
        version: u64::from_le_bytes(version),
        is_sparse: false,
        digest: None,
    }
}

fn missing(path: &[u8], reply: &Reply) -> Problem {
    let problem = refused("read", path, reply);
    match is_missing(reply) {
        true => with_hint(
            problem,
            "check the spelling; paths at the far end begin in the home folder unless they begin \
            with `/`",
        ),
        false => problem,
    }
}

/// Nothing at all can be copied.
fn whole(problem: &FileProblem) -> Problem {
    Problem {
        kind: problem.kind,
        file: None,
        what: problem.what.clone(),
        hint: problem.hint.clone(),
    }
}

/// What an interrupted copy into that folder left, or one that goes on writes.
fn temporary(raw: &Raw) -> Problem {
    let what = format!(
        "`{}` is a temporary file of a copy and is left out",
        shown(&raw.name)
    );
    let is_asked_for = raw.above.is_none();
    let kind = match is_asked_for {
        true => ProblemKind::Request,
        false => ProblemKind::Unfinished,
    };
    let hint = "finish the copy that began it, or remove it";
    with_hint(problem(kind, what), hint)
}
