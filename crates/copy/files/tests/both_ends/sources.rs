//! What a walk finds, and what happens to files that change.

use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;
use std::path::Path;

use copy_protocol::{Attributes, Kind, ProblemKind};
use files::Root;
use files::source::{Source, SourceSpec};
use nix::sys::stat::Mode;
use nix::unistd::mkfifo;

use crate::common::{ALL, content, source, spec_of, walk};

fn names(spec: SourceSpec, root: &Root) -> Vec<String> {
    let (entries, left_out) = walk(&Source::new(root, spec).unwrap());
    assert_eq!(left_out, []);
    entries.iter().map(|entry| entry.name.to_string()).collect()
}

#[test]
fn folders_come_before_what_is_in_them_in_one_order() {
    let place = tempfile::tempdir().unwrap();
    for name in ["t/b/y", "t/a/z/1", "t/a/x"] {
        let file = place.path().join(name);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, name).unwrap();
    }
    let found = names(spec_of(&[&place.path().join("t")]), &Root::own());
    assert_eq!(
        found,
        ["t", "t/a", "t/a/x", "t/a/z", "t/a/z/1", "t/b", "t/b/y"]
    );
    let inner = names(spec_of(&[&place.path().join("t/a/")]), &Root::own());
    assert_eq!(inner, ["", "x", "z", "z/1"]);
}

#[test]
fn what_cannot_be_copied_is_told_and_the_rest_goes_on() {
    let place = tempfile::tempdir().unwrap();
    let from = place.path().join("t");
    fs::create_dir(&from).unwrap();
    fs::write(from.join("a"), b"1").unwrap();
    mkfifo(&from.join("pipe"), Mode::S_IRWXU).unwrap();
    fs::write(from.join("z"), b"1").unwrap();
    let (entries, left_out) = walk(&source(&[&place.path().join("missing"), &from]));
    assert_eq!(entries.len(), 3);
    assert_eq!(left_out.len(), 2, "{left_out:?}");
    assert_eq!(left_out[0].kind, ProblemKind::NotFound);
    let what = format!("`{}` has no `missing`", place.path().display());
    assert!(left_out[0].what.ends_with(&what), "{left_out:?}");
    let hint = left_out[0].hint.as_deref().unwrap();
    assert!(hint.starts_with("check the spelling"), "{hint}");
    assert!(left_out[1].what.contains("is a pipe"), "{left_out:?}");
    let flat = SourceSpec {
        recursive: false,
        ..spec_of(&[&from, &from.join("a")])
    };
    let (entries, left_out) = walk(&Source::new(&Root::own(), flat.clone()).unwrap());
    assert_eq!(entries.len(), 1);
    assert!(
        left_out[0].hint.as_ref().unwrap().contains("-r"),
        "{left_out:?}"
    );
    // Where there is nothing else, that is no copy at all.
    let paths = flat.paths[..1].to_vec();
    let refused = Source::new(&Root::own(), SourceSpec { paths, ..flat }).unwrap_err();
    assert_eq!(refused.kind, ProblemKind::Request, "{refused:?}");
}

#[test]
fn links_are_followed_where_they_are_not_kept_and_loops_end() {
    let place = tempfile::tempdir().unwrap();
    let from = place.path().join("t");
    fs::create_dir_all(from.join("d")).unwrap();
    fs::create_dir(place.path().join("other")).unwrap();
    fs::write(place.path().join("other/f"), b"12").unwrap();
    symlink("../other", from.join("l")).unwrap();
    symlink("..", from.join("d/up")).unwrap();
    symlink("nowhere", from.join("x")).unwrap();
    let (entries, _) = walk(&source(&[&from]));
    let links = entries
        .iter()
        .filter(|entry| matches!(entry.kind, Kind::Link(_)));
    assert_eq!(links.count(), 3);
    let attributes = Attributes {
        links: false,
        ..ALL
    };
    let spec = SourceSpec {
        attributes,
        ..spec_of(&[&from])
    };
    let followed = Source::new(&Root::own(), spec).unwrap();
    let (entries, left_out) = walk(&followed);
    let names: Vec<String> = entries.iter().map(|entry| entry.name.to_string()).collect();
    assert_eq!(names, ["t", "t/d", "t/l", "t/l/f"]);
    let mut bytes = [0; 2];
    followed.read(3, 0, &mut bytes).unwrap();
    assert_eq!(&bytes, b"12");
    assert_eq!(left_out.len(), 2, "{left_out:?}");
    assert!(left_out[0].what.contains("leads back"), "{left_out:?}");
    assert_eq!(left_out[1].kind, ProblemKind::NotFound);
}

#[test]
fn names_are_bytes() {
    let place = tempfile::tempdir().unwrap();
    let odd = std::ffi::OsStr::from_bytes(b"\xff\n name");
    fs::write(place.path().join(odd), b"1").unwrap();
    let all = source(&[&place.path().join("")]);
    let (entries, _) = walk(&all);
    assert_eq!(entries[1].name.as_bytes(), odd.as_bytes());
    all.read(1, 0, &mut [0]).unwrap();
}

#[test]
fn a_source_that_changes_is_told() {
    type Change = fn(&Path);
    let changes: [(&str, Change); 4] = [
        ("ends", |file| {
            fs::File::options()
                .write(true)
                .open(file)
                .unwrap()
                .set_len(10)
                .unwrap()
        }),
        ("grows", |file| fs::write(file, content(200_001)).unwrap()),
        ("is written to", |file| {
            // Times of files move with the kernel's clock tick.
            std::thread::sleep(std::time::Duration::from_millis(20));
            fs::write(file, vec![1; 200_000]).unwrap();
        }),
        ("is another", |file| {
            fs::remove_file(file).unwrap();
            mkfifo(file, Mode::S_IRWXU).unwrap();
        }),
    ];
    for (how, change) in changes {
        let place = tempfile::tempdir().unwrap();
        let file = place.path().join("f");
        fs::write(&file, content(200_000)).unwrap();
        let (before, open) = (source(&[&file]), source(&[&file]));
        walk(&before);
        walk(&open);
        let mut bytes = vec![0; 1000];
        open.read(0, 0, &mut bytes).unwrap();
        change(&file);
        let read = before
            .read(0, 199_000, &mut bytes)
            .map_err(|problem| problem.kind);
        assert_eq!(read, Err(ProblemKind::SourceChanged), "{how}");
        let finished = open.finished(0).map_err(|problem| problem.kind);
        assert_eq!(finished, Err(ProblemKind::SourceChanged), "{how}");
    }
}

#[test]
fn patterns_stand_for_names_without_a_shell() {
    let place = tempfile::tempdir().unwrap();
    for name in [
        "a.root", "b.root", "c.txt", ".d.root", "x/1.root", "y/2.root", "[z]",
    ] {
        let file = place.path().join(name);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, name).unwrap();
    }
    let root = Root::beneath(place.path()).unwrap();
    let found = |path: &str| {
        let spec = SourceSpec {
            wildcards: true,
            paths: vec![path.into()],
            ..spec_of(&[])
        };
        names(spec, &root)
    };
    assert_eq!(found("*.root"), ["a.root", "b.root"]);
    assert_eq!(found(".*.root"), [".d.root"]);
    assert_eq!(found("/?/*.root"), ["1.root", "2.root"]);
    assert_eq!(found("{x,y}/[12].root"), ["1.root", "2.root"]);
    assert_eq!(found("[z]"), ["[z]"], "a file of that very name");
    for (path, kind) in [
        ("*.no", ProblemKind::NotFound),
        ("[", ProblemKind::Request),
        ("../*", ProblemKind::NotFound),
    ] {
        let spec = SourceSpec {
            wildcards: true,
            paths: vec![path.into()],
            ..spec_of(&[])
        };
        assert_eq!(Source::new(&root, spec).unwrap_err().kind, kind, "{path}");
    }
}

#[test]
fn a_served_folder_gives_nothing_from_outside() {
    let place = tempfile::tempdir().unwrap();
    let served = place.path().join("served");
    fs::create_dir_all(served.join("d")).unwrap();
    fs::write(place.path().join("secret"), b"1").unwrap();
    fs::write(served.join("open"), b"1").unwrap();
    symlink("../../secret", served.join("d/out")).unwrap();
    symlink("../open", served.join("d/in")).unwrap();
    let root = Root::beneath(&served).unwrap();
    let attributes = Attributes {
        links: false,
        ..ALL
    };
    let spec = |path: &str| SourceSpec {
        attributes,
        paths: vec![path.into()],
        ..spec_of(&[])
    };
    let (entries, left_out) = walk(&Source::new(&root, spec("/d/")).unwrap());
    assert_eq!(
        entries.len(),
        2,
        "the folder, and the link that stays inside"
    );
    assert_eq!(left_out[0].kind, ProblemKind::Permission, "{left_out:?}");
    for path in ["../secret", "d/../../secret", "d/out"] {
        let refused = Source::new(&root, spec(path)).unwrap_err();
        assert_eq!(refused.kind, ProblemKind::Permission, "{path}: {refused:?}");
        assert!(refused.what.contains("outside"), "{path}: {refused:?}");
    }
    let closed = root.restricted(false, true);
    assert_eq!(
        Source::new(&closed, spec("open")).unwrap_err().kind,
        ProblemKind::Permission
    );
}

#[test]
fn two_sources_of_one_name_are_refused() {
    let twice = spec_of(&[Path::new("a/f"), Path::new("b/f")]);
    let refused = Source::new(&Root::own(), twice).unwrap_err();
    assert!(refused.what.contains("`f`"), "{refused:?}");
}

#[test]
fn temporary_files_of_a_copy_are_left_out() {
    let place = tempfile::tempdir().unwrap();
    for name in [
        "big",
        ".big.trunkline-part",
        ".big.trunkline-journal",
        ".l.trunkline-link",
    ] {
        fs::write(place.path().join(name), name).unwrap();
    }
    fs::create_dir(place.path().join(".d.trunkline-part")).unwrap();
    let whole = source(&[&place.path().join("")]);
    let (entries, left_out) = walk(&whole);
    let names: Vec<String> = entries.iter().map(|entry| entry.name.to_string()).collect();
    assert_eq!(names, ["", "big"]);
    assert_eq!(left_out.len(), 4, "{left_out:?}");
    assert!(left_out[0].what.contains("temporary file of a copy"));
    let failures = left_out
        .iter()
        .filter(|one| one.kind == ProblemKind::Request);
    let failures: Vec<&str> = failures.map(|one| one.name.as_str()).collect();
    assert_eq!(
        failures,
        [".d.trunkline-part"],
        "no copy makes folders of such names"
    );
    let named = source(&[&place.path().join(".big.trunkline-part")]);
    assert_eq!(walk(&named).1[0].kind, ProblemKind::Request);
}

#[test]
fn dots_behind_a_wildcard_are_refused() {
    let place = tempfile::tempdir().unwrap();
    for number in 0..40 {
        fs::create_dir(place.path().join(format!("{number}"))).unwrap();
    }
    let root = Root::beneath(place.path()).unwrap();
    for path in ["*/../*/../*/../*/../*/../*/../nothing*", "*/..", "*/./x"] {
        let spec = SourceSpec {
            paths: vec![path.into()],
            wildcards: true,
            recursive: true,
            attributes: crate::common::ALL,
            selection: copy_protocol::Selection::default(),
        };
        let refused = Source::new(&root, spec).unwrap_err();
        assert!(
            refused.what.contains("`.` or `..` behind a wildcard"),
            "{refused:?}"
        );
    }
}
