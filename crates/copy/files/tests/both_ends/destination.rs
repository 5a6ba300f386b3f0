//! What a destination becomes.

use std::fs;
use std::path::Path;
use std::sync::Barrier;
use std::thread;
use std::time::Duration;

use copy_protocol::{Attributes, Filter, Inode, Kept, Kind, Problem, ProblemKind, Shared};
use files::Root;
use files::moved::{Cutter, assemble};
use files::store::{EntryPlan, Store, StoreSpec};

use crate::common::{ALL, bytes_of, content, copy, into, open, publish, send, source, told, walk};

#[test]
fn one_file_gets_the_name_of_a_destination_that_is_not_there() {
    let place = tempfile::tempdir().unwrap();
    let from = place.path().join("f");
    fs::write(&from, b"1").unwrap();
    let to = place.path().join("other");
    assert_eq!(copy(&source(&[&from]), &open(&to)), []);
    assert_eq!(fs::read(&to).unwrap(), b"1");
}

#[test]
fn one_file_goes_into_a_folder_that_is_there_or_asked_for() {
    let place = tempfile::tempdir().unwrap();
    let from = place.path().join("f");
    fs::write(&from, b"1").unwrap();
    let to = place.path().join("there");
    fs::create_dir(&to).unwrap();
    assert_eq!(copy(&source(&[&from]), &open(&to)), []);
    assert_eq!(fs::read(to.join("f")).unwrap(), b"1");
    let closed = place.path().join("new/");
    assert_eq!(copy(&source(&[&from]), &open(&closed)), []);
    assert_eq!(fs::read(closed.join("f")).unwrap(), b"1");
}

#[test]
fn a_folder_copies_itself_and_with_a_slash_its_content() {
    let place = tempfile::tempdir().unwrap();
    let from = place.path().join("run7");
    fs::create_dir(&from).unwrap();
    fs::write(from.join("f"), b"1").unwrap();
    let to = place.path().join("to");
    // Twice the same: it does not depend on whether the destination is there.
    for _ in 0..2 {
        assert_eq!(copy(&source(&[&from]), &open(&to)), []);
        assert_eq!(fs::read_dir(&to).unwrap().count(), 1);
        assert_eq!(fs::read(to.join("run7/f")).unwrap(), b"1");
    }
    for (name, source_path) in [
        ("to2", "run7/"),
        ("to3", "run7/."),
        ("to4", "run7/../run7/"),
    ] {
        let to = place.path().join(name);
        assert_eq!(
            copy(&source(&[&place.path().join(source_path)]), &open(&to)),
            []
        );
        assert_eq!(fs::read(to.join("f")).unwrap(), b"1", "{source_path}");
    }
}

#[test]
fn several_files_need_a_folder() {
    let place = tempfile::tempdir().unwrap();
    let (a, b) = (place.path().join("a"), place.path().join("b"));
    fs::write(&a, b"1").unwrap();
    fs::write(&b, b"2").unwrap();
    let to = place.path().join("to");
    let troubles = copy(&source(&[&a, &b]), &open(&to));
    assert_eq!(troubles.len(), 1, "{troubles:?}");
    assert!(troubles[0].what.contains("is one file"), "{troubles:?}");
    let spec = StoreSpec {
        into_folder: true,
        ..into(&to)
    };
    let refused = Store::open(&Root::own(), spec).unwrap_err();
    assert_eq!(refused.kind, ProblemKind::Request);
    fs::remove_file(&to).unwrap();
    let spec = StoreSpec {
        into_folder: true,
        ..into(&to)
    };
    assert_eq!(
        copy(
            &source(&[&a, &b]),
            &Store::open(&Root::own(), spec).unwrap()
        ),
        []
    );
    assert_eq!(fs::read(to.join("b")).unwrap(), b"2");
}

/// Each round is a race, which two processors that are busy with others lose seldom.
#[test]
fn copies_that_begin_together_make_the_same_folders_and_links() {
    const FOLDERS: usize = 50;
    let place = tempfile::tempdir().unwrap();
    let together = Barrier::new(2);
    let copy = |round: usize| -> Result<(), Problem> {
        let spec = StoreSpec {
            into_folder: true,
            ..into(&place.path().join(round.to_string()))
        };
        together.wait();
        let store = Store::open(&Root::own(), spec);
        let mut done = store.as_ref().map(drop).map_err(Problem::clone);
        for number in 0..FOLDERS {
            let folder = (format!("{number}"), Kind::Folder);
            let link = (format!("{number}/link"), Kind::Link(b"../there".to_vec()));
            for (name, kind) in [folder, link] {
                together.wait();
                let added = store.as_ref().map(|store| store.add(&told(&name, kind)).1);
                done = done.and(added.unwrap_or(Ok(EntryPlan::Made)).map(drop));
            }
        }
        done
    };
    thread::scope(|scope| {
        let race = || scope.spawn(|| (0..40).map(copy).fold(Ok(()), Result::and));
        for copy in [race(), race()] {
            assert_eq!(copy.join().unwrap(), Ok(()));
        }
    });
}

#[test]
fn only_the_last_folder_is_made() {
    let place = tempfile::tempdir().unwrap();
    let refused = Store::open(&Root::own(), into(&place.path().join("no/such"))).unwrap_err();
    assert_eq!(refused.kind, ProblemKind::NotFound);
    assert!(refused.hint.is_some(), "{refused:?}");
}

#[test]
fn a_served_folder_is_all_there_is() {
    let place = tempfile::tempdir().unwrap();
    let served = place.path().join("served");
    fs::create_dir_all(served.join("in")).unwrap();
    let root = Root::beneath(&served).unwrap();
    let from = place.path().join("f");
    fs::write(&from, b"1").unwrap();
    for name in ["/", "", "in", "/in/", "//in", "in/../in"] {
        let spec = StoreSpec {
            destination: name.into(),
            ..into(&served)
        };
        let store = Store::open(&root, spec).unwrap();
        assert_eq!(copy(&source(&[&from]), &store), [], "{name}");
    }
    assert!(served.join("f").exists() && served.join("in/f").exists());
    let outside = bytes_of(place.path());
    for name in [
        &b".."[..],
        b"../x",
        b"in/../../x",
        &[&outside[..], b"/x"].concat(),
    ] {
        let spec = StoreSpec {
            destination: name.to_vec(),
            ..into(&served)
        };
        assert!(Store::open(&root, spec).is_err(), "{name:?}");
    }
    assert!(Store::open(&root.restricted(true, false), into(&served)).is_err());
}

/// A store that waits for the first file's lock for longer than any test takes.
fn patient(to: &Path) -> Store {
    let spec = StoreSpec {
        claim_timeout: Duration::from_secs(60),
        ..into(to)
    };
    Store::open(&Root::own(), spec).unwrap()
}

/// What a patient copy of `t` gets for its first file, while `first` does what it does.
fn waited(first: impl FnOnce(Store) + Send) -> Result<EntryPlan, Problem> {
    let place = tempfile::tempdir().unwrap();
    let (from, to) = (place.path().join("t"), place.path().join("to"));
    fs::write(&from, content(100_000)).unwrap();
    let source = source(&[&from]);
    let entries = walk(&source).0;
    let [entry] = entries.as_slice() else {
        panic!("{entries:?}")
    };
    let holder = open(&to);
    let (file, plan) = holder.add(entry);
    let Kind::File(size) = entry.kind else {
        panic!("{entry:?}")
    };
    let read = |offset: u64, into: &mut [u8]| source.read(file, offset, into);
    send(&holder, file, size, plan.unwrap(), read).unwrap();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            std::thread::sleep(Duration::from_millis(100));
            first(holder);
        });
        patient(&to).add(entry).1
    })
}

#[test]
fn a_copy_waits_for_the_one_before_it_that_was_stopped() {
    let plan = waited(drop);
    assert!(plan.is_ok(), "{:?}", plan.err());
}

#[test]
fn a_copy_is_refused_once_the_one_it_waits_for_has_finished_the_file() {
    let plan = waited(|first| assert_eq!(publish(&first), vec![]));
    assert_eq!(
        plan.err().map(|trouble| trouble.kind),
        Some(ProblemKind::Busy)
    );
}

#[test]
fn of_two_copies_to_one_place_the_later_one_is_refused() {
    let place = tempfile::tempdir().unwrap();
    let (mine, theirs) = (place.path().join("mine"), place.path().join("theirs"));
    for (folder, text) in [(&mine, "mine"), (&theirs, "else")] {
        fs::create_dir_all(folder.join("t")).unwrap();
        for name in ["a", "b", "c"] {
            fs::write(folder.join("t").join(name), text).unwrap();
        }
    }
    let to = place.path().join("to");
    fs::create_dir(&to).unwrap();
    let (first, second) = (open(&to), open(&to));
    let sources = (source(&[&mine.join("t")]), source(&[&theirs.join("t")]));
    let (mut answers, mut refused) = (Vec::new(), None);
    // Both are told of the same entries in turn, as two copies that begin at the same moment are.
    for (one, other) in walk(&sources.0).0.iter().zip(&walk(&sources.1).0) {
        answers.push((one.clone(), first.add(one)));
        if refused.is_none() {
            refused = second.add(other).1.err();
        }
    }
    let refused = refused.expect("the first has the first file");
    assert_eq!((refused.kind, refused.file), (ProblemKind::Busy, None));
    let own = format!("process {} at the receiver", std::process::id());
    assert!(
        refused.what.contains("t/a` (") && refused.what.contains(&own),
        "{refused:?}"
    );
    assert!(refused.hint.unwrap().starts_with("wait until it is done"));
    drop(second);
    for (entry, (file, answer)) in answers {
        if let Kind::File(size) = entry.kind {
            let read = |offset: u64, into: &mut [u8]| sources.0.read(file, offset, into);
            send(&first, file, size, answer.unwrap(), read).unwrap();
        }
    }
    assert_eq!((publish(&first), first.end()), (vec![], vec![]));
    drop(first);
    for name in ["a", "b", "c"] {
        assert_eq!(fs::read(to.join("t").join(name)).unwrap(), b"mine");
    }
    assert_eq!(
        fs::read_dir(to.join("t")).unwrap().count(),
        3,
        "no leftovers"
    );
    // The lock is gone with its holder.
    let again = open(&to);
    assert!(
        walk(&sources.1)
            .0
            .iter()
            .all(|entry| again.add(entry).1.is_ok())
    );
}

#[test]
fn a_first_file_that_cannot_be_read_leaves_nothing_behind() {
    let place = tempfile::tempdir().unwrap();
    let to = place.path().join("to");
    fs::create_dir(&to).unwrap();
    let store = open(&to);
    let (file, answer) = store.add(&told("f", Kind::File(100_000)));
    assert!(answer.is_ok());
    assert_eq!(fs::read_dir(&to).unwrap().count(), 1, "claimed");
    store.let_go(file);
    assert_eq!(fs::read_dir(&to).unwrap().count(), 0);
}

/// Tells of `a`, and of `b` as a further name of it, where a file `a` of the same size is.
fn tell_two_names(to: &Path) -> (Store, EntryPlan) {
    fs::write(to.join("a"), b"old").unwrap();
    let kept = Kept {
        hard_links: true,
        ..Kept::NOTHING
    };
    let spec = StoreSpec {
        into_folder: true,
        attributes: Attributes {
            times: false,
            kept,
            ..ALL
        },
        filter: Filter::All,
        ..into(to)
    };
    let store = Store::open(&Root::own(), spec).unwrap();
    let inode = |file, shared| Inode {
        shared: Some(shared),
        ..Inode::of(file)
    };
    store.take_inodes(vec![inode(0, Shared::First), inode(1, Shared::With(0))]);
    let (_, first) = store.add(&told("a", Kind::File(3)));
    let (_, further) = store.add(&told("b", Kind::File(3)));
    assert!(matches!(further, Ok(EntryPlan::Made)), "{further:?}");
    (store, first.unwrap())
}

#[test]
fn a_further_name_is_made_once_its_first_one_has_arrived() {
    let to = tempfile::tempdir().unwrap();
    let (store, first) = tell_two_names(to.path());
    let is_sent = send(&store, 0, 3, first, |_, bytes| {
        bytes.copy_from_slice(b"new");
        Ok(())
    });
    assert!(is_sent.unwrap());
    assert_eq!(publish(&store), []);
    assert_eq!(store.end(), []);
    assert_eq!(fs::read(to.path().join("b")).unwrap(), b"new");
}

#[test]
fn a_further_name_is_not_made_of_what_its_first_one_was_before() {
    let to = tempfile::tempdir().unwrap();
    let (store, first) = tell_two_names(to.path());
    assert!(matches!(first, EntryPlan::Whole), "{first:?}");
    store.let_go(0);
    assert_eq!(publish(&store), []);
    let troubles = store.end();
    assert_eq!(troubles.len(), 1, "{troubles:?}");
    let (name, kind) = (&troubles[0].name, troubles[0].kind);
    assert_eq!((name.as_str(), kind), ("b", ProblemKind::Follows));
    assert!(!to.path().join("b").exists());
    assert_eq!(fs::read(to.path().join("a")).unwrap(), b"old");
}

/// Whether a piece is the same would tell what is there, byte by byte.
#[test]
fn who_may_only_write_learns_nothing_of_older_versions() {
    let to = tempfile::tempdir().unwrap();
    let large = vec![7; 2 << 20];
    fs::write(to.path().join("a"), &large).unwrap();
    let root = |read| Root::own().restricted(read, true);
    for (may_read, expected) in [(true, Some(2 << 20)), (false, None)] {
        let store = Store::open(&root(may_read), into(to.path())).unwrap();
        let store = store.with_older();
        let (file, plan) = store.add(&told("a", Kind::File(2 << 20)));
        assert!(plan.is_ok(), "{plan:?}");
        assert_eq!(store.older_bytes(file), expected);
        let mut piece = [0; 16];
        assert_eq!(store.read_older(file, 0, &mut piece), may_read);
        assert_eq!(piece == [7; 16], may_read);
        // Nor what it has at other places.
        let mut cutter = Cutter::new(2 << 20).unwrap();
        let chunks = cutter.advance(|place, into| store.read_older(file, place, into));
        assert_eq!(chunks.is_some(), may_read);
        let run = [&[0_u8, 1][..], &5_u64.to_be_bytes(), &16_u32.to_be_bytes()].concat();
        let made = assemble(&run, 16, |place, into| store.read_older(file, place, into));
        assert_eq!(made, may_read.then(|| (vec![7; 16], 0)));
    }
}
