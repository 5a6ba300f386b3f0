//! Operations in random order, against a tree in memory.

use std::collections::BTreeMap;
use std::{fs, iter};

use copy_protocol::Name;
use copy_protocol::remote::{FailureKind, FileKind, Listed, Removing};

use super::common::{GO_ON, Random, Server, kind, new_seed, noise, part, read, small_file};
use remote_files::{ReadRange, RemoteError, RemoteFiles, SmallFile};

const OPERATIONS: u32 = 400;
const PARTS: [&str; 4] = ["a", "b", "c d", "\u{e9}"];

/// What is there, by its whole name; the root is not in it.
#[derive(Debug, Default)]
struct Model(BTreeMap<String, Node>);

#[derive(Debug, Clone, PartialEq)]
enum Node {
    File(Vec<u8>),
    Folder,
}

impl Model {
    fn parent_fault(&self, path: &str) -> Option<FailureKind> {
        let above: Vec<&str> = ancestors(path).collect();
        for folder in above.iter().rev() {
            match self.0.get(*folder) {
                None => return Some(FailureKind::NotFound),
                Some(Node::File(_)) => return Some(FailureKind::NotAFolder),
                Some(Node::Folder) => {}
            }
        }
        None
    }

    fn below<'a>(&'a self, folder: &'a str) -> impl Iterator<Item = (&'a str, &'a Node)> {
        let inside = move |name: &&str| is_below(name, folder);
        self.0
            .iter()
            .map(|(name, node)| (name.as_str(), node))
            .filter(move |(name, _)| inside(name))
    }

    fn make(&mut self, path: &str, with_parents: bool) -> Option<FailureKind> {
        if with_parents {
            let mut above: Vec<String> = ancestors(path).map(str::to_owned).collect();
            above.reverse();
            for folder in above {
                if self.make(&folder, false).is_some() {
                    return Some(FailureKind::NotAFolder);
                }
            }
        }
        if let Some(fault) = self.parent_fault(path) {
            return Some(fault);
        }
        match self.0.get(path) {
            Some(Node::File(_)) => Some(FailureKind::Exists),
            Some(Node::Folder) => None,
            None => {
                self.0.insert(path.to_owned(), Node::Folder);
                None
            }
        }
    }

    /// The folders that it is in are made.
    fn store(&mut self, path: &str, bytes: Vec<u8>, replaces: bool) -> Option<FailureKind> {
        if let Some((above, _)) = path.rsplit_once('/')
            && self.make(above, true).is_some()
        {
            return Some(FailureKind::NotAFolder);
        }
        match self.0.get(path) {
            Some(Node::Folder) => Some(FailureKind::IsAFolder),
            Some(Node::File(_)) if !replaces => Some(FailureKind::Exists),
            _ => {
                self.0.insert(path.to_owned(), Node::File(bytes));
                None
            }
        }
    }

    fn remove(&mut self, path: &str, what: Removing) -> Option<FailureKind> {
        if let Some(fault) = self.parent_fault(path) {
            return Some(fault);
        }
        let has_more = self.below(path).next().is_some();
        let fault = match (self.0.get(path), what) {
            (None, _) => Some(FailureKind::NotFound),
            (Some(Node::Folder), Removing::File) => Some(FailureKind::IsAFolder),
            (Some(Node::File(_)), Removing::EmptyFolder) => Some(FailureKind::NotAFolder),
            (Some(Node::Folder), Removing::EmptyFolder) if has_more => Some(FailureKind::NotEmpty),
            _ => None,
        };
        if fault.is_none() {
            self.0
                .retain(|name, _| name != path && !is_below(name, path));
        }
        fault
    }

    /// `None` where the system may choose which of several faults it tells.
    fn rename(&mut self, from: &str, to: &str, replaces: bool) -> Result<(), ()> {
        let fault = self.parent_fault(from).or(self.parent_fault(to));
        let (old, new) = (self.0.get(from), self.0.get(to));
        let may = match (old, new) {
            _ if fault.is_some() => false,
            (None, _) => false,
            (Some(Node::Folder), _) if is_below(to, from) => false,
            (Some(_), None) => true,
            (Some(_), Some(_)) if !replaces => false,
            (Some(_), Some(_)) if from == to => true,
            (Some(Node::File(_)), Some(Node::File(_))) => true,
            (Some(Node::Folder), Some(Node::Folder)) => self.below(to).next().is_none(),
            _ => false,
        };
        if !may {
            return Err(());
        }
        let moved: Vec<(String, Node)> = self
            .0
            .iter()
            .filter(|(name, _)| *name == from || is_below(name, from))
            .map(|(name, node)| (name.clone(), node.clone()))
            .collect();
        self.0
            .retain(|name, _| name != from && !is_below(name, from));
        for (name, node) in moved {
            self.0.insert(format!("{to}{}", &name[from.len()..]), node);
        }
        Ok(())
    }
}

fn is_below(name: &str, folder: &str) -> bool {
    folder.is_empty()
        || name
            .strip_prefix(folder)
            .is_some_and(|rest| rest.starts_with('/'))
}

/// From the nearest to the outermost.
fn ancestors(path: &str) -> impl Iterator<Item = &str> {
    iter::successors(path.rsplit_once('/'), |(above, _)| above.rsplit_once('/'))
        .map(|(above, _)| above)
}

fn path(random: &mut Random) -> String {
    let depth = 1 + random.below(3);
    let parts: Vec<&str> = (0..depth).map(|_| *random.one_of(&PARTS)).collect();
    parts.join("/")
}

fn of(path: &str) -> Name {
    Name::new(path.into()).unwrap()
}

#[test]
fn a_tree_is_what_was_done_with_it() {
    let seed = new_seed();
    let mut random = Random(seed);
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(folder.path());
    let files = server.files();
    let mut model = Model::default();
    for step in 0..OPERATIONS {
        let at = path(&mut random);
        let case = format!("seed {seed}, step {step}, {at}");
        match random.below(8) {
            0 => {
                // A file comes there, as by a copy.
                if model.parent_fault(&at).is_none() && model.0.get(&at) != Some(&Node::Folder) {
                    let length = random.below(700_000) as usize;
                    let bytes = noise(length, random.next());
                    fs::write(folder.path().join(&at), &bytes).unwrap();
                    model.0.insert(at, Node::File(bytes));
                }
            }
            1 => {
                let bytes = noise(random.below(300_000) as usize, random.next());
                let replaces = random.below(2) == 0;
                let file = SmallFile {
                    replaces,
                    ..small_file(&at, &bytes)
                };
                let done = files.store(file, GO_ON);
                compare(&case, done, model.store(&at, bytes, replaces));
            }
            2 => {
                let with_parents = random.below(2) == 0;
                let done = files.make_folder(&of(&at), with_parents, GO_ON);
                compare(&case, done, model.make(&at, with_parents));
            }
            3 => {
                let all = [Removing::File, Removing::EmptyFolder, Removing::Tree];
                let what = *random.one_of(&all);
                let done = files.remove(&of(&at), what, GO_ON);
                compare(&case, done, model.remove(&at, what));
            }
            4 => {
                let (to, replaces) = (path(&mut random), random.below(2) == 0);
                let done = files.rename(&of(&at), &of(&to), replaces, GO_ON);
                let expected = model.rename(&at, &to, replaces);
                assert_eq!(done.is_ok(), expected.is_ok(), "{case} to {to}: {done:?}");
            }
            5 => check_info(&case, &files, &model, &at),
            6 => check_range(&case, &files, &model, &at, &mut random),
            _ => check_list(&case, &files, &model, &at, random.below(2) == 0),
        }
    }
    check_list("at the end", &files, &model, "", true);
    check_all_files(seed, &files, &model);
}

fn compare(case: &str, done: Result<(), RemoteError>, expected: Option<FailureKind>) {
    match (done, expected) {
        (Ok(()), None) => {}
        (Err(error), Some(kind)) => assert_eq!(error.kind(), Some(kind), "{case}: {error}"),
        (done, expected) => panic!("{case}: {done:?} where {expected:?} was due"),
    }
}

fn check_info(case: &str, files: &RemoteFiles, model: &Model, at: &str) {
    let info = files.info(&of(at), GO_ON);
    match (model.parent_fault(at), model.0.get(at)) {
        (Some(fault), _) => assert_eq!(kind(info), fault, "{case}"),
        (None, None) => assert_eq!(kind(info), FailureKind::NotFound, "{case}"),
        (None, Some(Node::Folder)) => assert!(info.unwrap().is_folder(), "{case}"),
        (None, Some(Node::File(bytes))) => {
            let info = info.unwrap();
            let size = info.identity.size as usize;
            assert_eq!((info.kind, size), (FileKind::File, bytes.len()), "{case}");
        }
    }
}

fn check_range(case: &str, files: &RemoteFiles, model: &Model, at: &str, random: &mut Random) {
    let start = random.below(800_000);
    let end = (random.below(3) > 0).then(|| start + random.below(800_000));
    let got = read(files, part(at, start, end));
    let Some(Node::File(bytes)) = model.0.get(at) else {
        got.expect_err("there is no such file");
        return;
    };
    let last = end.unwrap_or(u64::MAX).min(bytes.len() as u64) as usize;
    let expected = bytes.get(start as usize..last).unwrap_or_default();
    assert!(got.unwrap().bytes == expected, "{case}: {start}..{end:?}");
}

fn check_list(case: &str, files: &RemoteFiles, model: &Model, at: &str, is_recursive: bool) {
    let mut names = Vec::new();
    let mut each = |batch: Vec<Listed>| {
        names.extend(batch.into_iter().map(|entry| entry.name.to_string()));
        Ok(())
    };
    let done = files.list(&of(at), is_recursive, &mut each, GO_ON);
    let is_folder = at.is_empty() || model.0.get(at) == Some(&Node::Folder);
    assert_eq!(done.is_ok(), is_folder, "{case}: {done:?}");
    if !is_folder {
        return;
    }
    let before = if at.is_empty() { 0 } else { at.len() + 1 };
    let below = model.below(at).map(|(name, _)| name[before..].to_owned());
    let mut expected: Vec<String> = below
        .filter(|name| is_recursive || !name.contains('/'))
        .collect();
    expected.sort();
    // Folders come before what is in them.
    for (index, name) in names.iter().enumerate() {
        if let Some(above) = ancestors(name).next() {
            assert!(
                names[..index].iter().any(|one| one == above),
                "{case}: {name}"
            );
        }
    }
    names.sort();
    assert_eq!(names, expected, "{case}");
}

/// All at once, over all connections.
fn check_all_files(seed: u64, files: &RemoteFiles, model: &Model) {
    let all = model.0.iter().filter_map(|(name, node)| match node {
        Node::File(bytes) => Some((name, bytes)),
        Node::Folder => None,
    });
    let (ranges, expected): (Vec<ReadRange>, Vec<&Vec<u8>>) = all
        .map(|(name, bytes)| (part(name, 0, None), bytes))
        .unzip();
    let got = files.read_many(&ranges, GO_ON).unwrap();
    for ((got, expected), range) in got.iter().zip(expected).zip(&ranges) {
        let bytes = &got.as_ref().unwrap().bytes;
        assert!(bytes == expected, "seed {seed}: {}", range.path);
    }
}
