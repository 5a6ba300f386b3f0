//! What arrives is what was there.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::Path;

use copy_protocol::{Attributes, Filter};
use files::Root;
use files::store::{EntryPlan, Store, StoreSpec};

use crate::common::{content, copy, into, open, source, walk};

#[test]
fn a_tree_arrives_as_it_was() {
    let place = tempfile::tempdir().unwrap();
    let from = place.path().join("run7");
    fs::create_dir_all(from.join("deep/er")).unwrap();
    fs::write(from.join("hits"), content(300_000)).unwrap();
    fs::write(from.join("deep/er/none"), b"").unwrap();
    fs::set_permissions(from.join("hits"), fs::Permissions::from_mode(0o640)).unwrap();
    symlink("nowhere", from.join("deep/link")).unwrap();
    fs::set_permissions(from.join("deep"), fs::Permissions::from_mode(0o555)).unwrap();
    let to = place.path().join("to");
    let store = open(&to);
    assert!(store.is_fresh());
    assert_eq!(copy(&source(&[&from]), &store), []);
    let to = to.join("run7");
    assert_eq!(fs::read(to.join("hits")).unwrap(), content(300_000));
    assert_eq!(fs::read(to.join("deep/er/none")).unwrap(), b"");
    assert_eq!(
        fs::read_link(to.join("deep/link")).unwrap(),
        Path::new("nowhere")
    );
    for name in ["hits", "deep", "deep/er/none", "deep/link", "."] {
        let was = fs::symlink_metadata(from.join(name)).unwrap();
        let is = fs::symlink_metadata(to.join(name)).unwrap();
        assert_eq!(was.mode(), is.mode(), "{name}");
        assert_eq!(
            (was.mtime(), was.mtime_nsec()),
            (is.mtime(), is.mtime_nsec()),
            "{name}"
        );
    }
    assert_eq!(
        fs::read_dir(&to).unwrap().count(),
        2,
        "nothing temporary is left"
    );
}

#[test]
fn a_second_copy_finds_all_of_it_there() {
    let place = tempfile::tempdir().unwrap();
    let from = place.path().join("from");
    fs::create_dir(&from).unwrap();
    fs::write(from.join("a"), b"1").unwrap();
    fs::write(from.join("b"), b"2").unwrap();
    let to = place.path().join("to");
    assert_eq!(copy(&source(&[&from]), &open(&to)), []);
    fs::write(from.join("b"), b"3").unwrap();
    let store = open(&to);
    assert!(!store.is_fresh());
    let needs = |entry| store.add(entry).1.unwrap();
    let answers: Vec<EntryPlan> = walk(&source(&[&from])).0.iter().map(needs).collect();
    assert!(
        matches!(
            answers[..],
            [EntryPlan::Present, EntryPlan::Present, EntryPlan::Whole]
        ),
        "{answers:?}"
    );
}

fn with(filter: Filter, to: &Path) -> Store {
    let spec = StoreSpec { filter, ..into(to) };
    Store::open(&Root::own(), spec).unwrap()
}

#[test]
fn filters_say_what_is_replaced() {
    let place = tempfile::tempdir().unwrap();
    let (from, to) = (place.path().join("f"), place.path().join("to"));
    fs::write(&from, b"new").unwrap();
    fs::write(&to, b"older").unwrap();
    assert_eq!(copy(&source(&[&from]), &with(Filter::Missing, &to)), []);
    assert_eq!(fs::read(&to).unwrap(), b"older");
    assert_eq!(copy(&source(&[&from]), &with(Filter::Changed, &to)), []);
    assert_eq!(fs::read(&to).unwrap(), b"new");
    let store = with(Filter::All, &to);
    let answer = store.add(&walk(&source(&[&from])).0[0]).1;
    assert!(matches!(answer, Ok(EntryPlan::Whole)), "{answer:?}");
}

#[test]
fn a_file_that_comes_meanwhile_stays_where_only_missing_ones_are_wanted() {
    let place = tempfile::tempdir().unwrap();
    let (from, to) = (place.path().join("f"), place.path().join("to"));
    fs::write(&from, b"new").unwrap();
    let store = with(Filter::Missing, &to);
    let source = source(&[&from]);
    let (file, answer) = store.add(&walk(&source).0[0]);
    crate::common::send(&store, file, 3, answer.unwrap(), |at, into| {
        source.read(0, at, into)
    })
    .unwrap();
    fs::write(&to, b"theirs").unwrap();
    let published = crate::common::publish(&store);
    let trouble = published.first().unwrap();
    assert!(trouble.what.contains("from elsewhere"), "{trouble:?}");
    assert_eq!(fs::read(&to).unwrap(), b"theirs");
    assert_eq!(fs::read_dir(place.path()).unwrap().count(), 2);
}

#[test]
fn modes_and_times_are_only_kept_where_asked_for() {
    let place = tempfile::tempdir().unwrap();
    let (from, to) = (place.path().join("f"), place.path().join("to"));
    fs::write(&from, b"new").unwrap();
    fs::set_permissions(&from, fs::Permissions::from_mode(0o4755)).unwrap();
    let attributes = Attributes {
        permissions: false,
        times: false,
        links: true,
        kept: copy_protocol::Kept::NOTHING,
    };
    let spec = || StoreSpec {
        attributes,
        ..into(&to)
    };
    assert_eq!(
        copy(
            &source(&[&from]),
            &Store::open(&Root::own(), spec()).unwrap()
        ),
        []
    );
    assert_eq!(fs::metadata(&to).unwrap().mode() & 0o7000, 0);
    fs::set_permissions(&to, fs::Permissions::from_mode(0o600)).unwrap();
    fs::write(&from, b"newer").unwrap();
    assert_eq!(
        copy(
            &source(&[&from]),
            &Store::open(&Root::own(), spec()).unwrap()
        ),
        []
    );
    assert_eq!(
        fs::metadata(&to).unwrap().mode() & 0o7777,
        0o600,
        "that of the file that was there"
    );
    assert_eq!(copy(&source(&[&from]), &open(&to)), []);
    assert_eq!(
        fs::metadata(&to).unwrap().mode() & 0o7777,
        0o755,
        "without the bit that lends rights"
    );
}

#[test]
fn a_dry_run_writes_nothing() {
    let place = tempfile::tempdir().unwrap();
    let from = place.path().join("from");
    fs::create_dir_all(from.join("deep")).unwrap();
    fs::write(from.join("deep/a"), b"1").unwrap();
    symlink("a", from.join("link")).unwrap();
    let to = place.path().join("to");
    for _ in 0..2 {
        let spec = StoreSpec {
            dry_run: true,
            ..into(&to)
        };
        let store = Store::open(&Root::own(), spec).unwrap();
        for entry in walk(&source(&[&from])).0 {
            let answer = store.add(&entry).1;
            assert!(
                matches!(answer, Ok(EntryPlan::Whole | EntryPlan::Made)),
                "{answer:?}"
            );
        }
        assert_eq!(store.end(), []);
        assert!(!to.exists());
    }
    fs::create_dir(&to).unwrap();
    let spec = StoreSpec {
        dry_run: true,
        ..into(&to)
    };
    let store = Store::open(&Root::own(), spec).unwrap();
    for entry in walk(&source(&[&from])).0 {
        assert!(store.add(&entry).1.is_ok(), "{entry:?}");
    }
    assert_eq!(fs::read_dir(&to).unwrap().count(), 0);
}
