use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{PermissionsExt, symlink};

use copy_protocol::SelectionRule;
use rand_core::Rng;
use rand_pcg::Pcg64Mcg;

use super::*;
use crate::{Entry, Kind, Reason, Sorted};

struct Walking<'a> {
    rules: Rules,
    folds_names: bool,
    threads: usize,
    memory: usize,
    root: &'a Path,
}

impl<'a> Walking<'a> {
    fn of(root: &'a Path) -> Self {
        Walking {
            rules: Rules::default(),
            folds_names: false,
            threads: 4,
            memory: 1 << 20,
            root,
        }
    }

    fn walk(&self) -> (Vec<Entry>, Walked) {
        let scratch = tempfile::tempdir().unwrap();
        let tree = Tree {
            root: self.root,
            rules: &self.rules,
            folds_names: self.folds_names,
            threads: self.threads,
            memory: self.memory,
            scratch: scratch.path(),
        };
        let mut walked = walk(&tree, &Counted::default(), &AtomicBool::new(false)).unwrap();
        let runs = std::mem::take(&mut walked.runs);
        let entries = Sorted::open(runs).unwrap().collect::<Result<_, _>>();
        (entries.unwrap(), walked)
    }
}

/// Names that are hard to carry.
fn odd_name(random: &mut Pcg64Mcg) -> Vec<u8> {
    const ODD: [&[u8]; 10] = [
        b"new\nline",
        b"\xff\xfe",
        b"-rf",
        b" ",
        b"'\"$`",
        b"\xc3\xa9",
        b"e\xcc\x81",
        b"%41",
        b"~",
        b"a:b",
    ];
    let mut name = match random.next_u32() % 4 {
        0 => ODD[random.next_u32() as usize % ODD.len()].to_vec(),
        _ => Vec::new(),
    };
    name.extend(format!("{:x}", random.next_u32() % 4096).bytes());
    name
}

/// Makes a random tree, and returns what a walk should find in it.
fn random_tree(root: &Path, random: &mut Pcg64Mcg) -> BTreeMap<Vec<u8>, Kind> {
    let mut folders: Vec<Vec<u8>> = vec![Vec::new()];
    let mut found = BTreeMap::new();
    let mut is_empty: BTreeMap<Vec<u8>, bool> = BTreeMap::new();
    for _ in 0..400 {
        let above = folders[random.next_u32() as usize % folders.len()].clone();
        let mut name = above.clone();
        if !name.is_empty() {
            name.push(b'/');
        }
        name.extend(odd_name(random));
        let path = root.join(OsStr::from_bytes(&name));
        if fs::symlink_metadata(&path).is_ok() {
            continue;
        }
        is_empty.insert(above, false);
        match random.next_u32() % 5 {
            0 => {
                fs::create_dir(&path).unwrap();
                is_empty.entry(name.clone()).or_insert(true);
                folders.push(name);
            }
            1 => {
                symlink("/nowhere", &path).unwrap();
                found.insert(name, Kind::Link(b"/nowhere".to_vec()));
            }
            _ => {
                let size = random.next_u32() % 3 * 7;
                fs::write(&path, vec![1; size as usize]).unwrap();
                found.insert(name, Kind::File(size.into()));
            }
        }
    }
    let empty = is_empty
        .into_iter()
        .filter(|(name, is_empty)| *is_empty && !name.is_empty());
    found.extend(empty.map(|(name, _)| (name, Kind::Folder)));
    found
}

#[test]
fn a_random_tree_is_found_whole_and_in_order_by_any_number_of_threads() {
    for seed in 0..8 {
        let folder = tempfile::tempdir().unwrap();
        let expected = random_tree(folder.path(), &mut Pcg64Mcg::new(seed));
        for (threads, memory) in [(1, 1 << 20), (3, 0), (8, 1 << 24)] {
            let walking = Walking {
                threads,
                memory,
                ..Walking::of(folder.path())
            };
            let (entries, walked) = walking.walk();
            let names: Vec<&[u8]> = entries.iter().map(|entry| &entry.name[..]).collect();
            assert!(names.is_sorted(), "seed {seed}");
            let found = entries
                .iter()
                .map(|entry| (entry.name.clone(), entry.kind.clone()));
            assert_eq!(found.collect::<BTreeMap<_, _>>(), expected, "seed {seed}");
            assert_eq!(entries.len(), expected.len(), "seed {seed}");
            assert!(walked.left_out.is_empty(), "seed {seed}");
        }
    }
}

#[test]
fn what_has_no_content_leads_back_or_cannot_be_read_is_left_out_and_the_rest_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    fs::write(root.join("a"), "a").unwrap();
    fs::hard_link(root.join("a"), root.join("b")).unwrap();
    nix::unistd::mkfifo(&root.join("pipe"), nix::sys::stat::Mode::S_IRWXU).unwrap();
    fs::write(root.join(".x.trunkline-part"), "").unwrap();
    symlink(".", root.join("here")).unwrap();
    fs::create_dir(root.join("closed")).unwrap();
    fs::set_permissions(root.join("closed"), fs::Permissions::from_mode(0o000)).unwrap();
    let (entries, walked) = Walking::of(root).walk();
    let names: Vec<String> = entries
        .iter()
        .map(|one| String::from_utf8_lossy(&one.name).into())
        .collect();
    let reasons: Vec<Reason> = walked.left_out.iter().map(|one| one.reason).collect();
    assert_eq!(walked.linked, 2);
    // Root reads every folder.
    match nix::unistd::geteuid().is_root() {
        true => {
            assert_eq!(names, ["a", "b", "closed", "here"]);
            assert_eq!(reasons, [Reason::Temporary, Reason::NoContent]);
        }
        false => {
            assert_eq!(names, ["a", "b", "here"]);
            assert_eq!(
                reasons,
                [Reason::Temporary, Reason::Unread, Reason::NoContent]
            );
        }
    }
}

#[test]
fn a_folder_mounted_within_itself_is_left_out() {
    use nix::mount::{MntFlags, MsFlags, mount, umount2};
    if !nix::unistd::geteuid().is_root() {
        testkit::skip("mounting needs root");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let inner = folder.path().join("x/again");
    fs::create_dir_all(&inner).unwrap();
    fs::write(folder.path().join("x/file"), "1").unwrap();
    let none: Option<&str> = None;
    let outer = folder.path().join("x");
    if mount(Some(&outer), &inner, none, MsFlags::MS_BIND, none).is_err() {
        testkit::skip("bind mounts are not allowed here");
        return;
    }
    let (entries, walked) = Walking::of(folder.path()).walk();
    umount2(&inner, MntFlags::MNT_DETACH).unwrap();
    assert_eq!(entries.len(), 1);
    assert_eq!(walked.left_out.len(), 1);
    assert_eq!(walked.left_out[0].reason, Reason::Loop);
    assert_eq!(walked.left_out[0].name, "x/again");
}

#[test]
fn names_that_fold_to_one_are_counted_and_only_the_first_counts_where_it_matters() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["Run", "run", "other", "caf\u{e9}", "cafe\u{301}"] {
        fs::create_dir(folder.path().join(name)).unwrap();
        fs::write(folder.path().join(name).join("x"), name).unwrap();
    }
    let (entries, walked) = Walking::of(folder.path()).walk();
    assert_eq!((entries.len(), walked.clashes), (5, 2));
    assert!(walked.left_out.is_empty() && walked.dropped.is_empty());
    let folding = Walking {
        folds_names: true,
        ..Walking::of(folder.path())
    };
    let (_, walked) = folding.walk();
    let dropped: Vec<&[u8]> = walked.dropped.iter().map(Vec::as_slice).collect();
    assert_eq!(dropped, ["caf\u{e9}".as_bytes(), b"run"]);
    assert_eq!(walked.left_out.len(), 2);
}

#[test]
fn rules_leave_out_what_copies_leave_out() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir_all(folder.path().join("raw/deep")).unwrap();
    for name in ["a.tmp", "a", "raw/b", "raw/deep/c.tmp", "raw/deep/d"] {
        fs::write(folder.path().join(name), "1").unwrap();
    }
    let rule = |pattern: &str| SelectionRule {
        leaves_out: true,
        pattern: pattern.to_owned(),
    };
    let walking = Walking {
        rules: Rules::new(&[rule("*.tmp"), rule("/raw/b")]).unwrap(),
        ..Walking::of(folder.path())
    };
    let (entries, _) = walking.walk();
    let names: Vec<&[u8]> = entries.iter().map(|entry| &entry.name[..]).collect();
    assert_eq!(names, [&b"a"[..], b"raw/deep/d"]);
}

/// Far more folders at once than may wait, and one deeper than the stack should mind.
#[test]
fn wide_and_deep_trees_are_walked() {
    let folder = tempfile::tempdir().unwrap();
    let deep = folder.path().join(vec!["d"; 1_000].join("/"));
    fs::create_dir_all(&deep).unwrap();
    fs::write(deep.join("end"), "1").unwrap();
    for at in 0..3_000 {
        fs::create_dir(folder.path().join(format!("w{at}"))).unwrap();
    }
    let (entries, walked) = Walking::of(folder.path()).walk();
    assert_eq!(entries.len(), 3_001);
    assert!(walked.left_out.is_empty());
}
