//! What a destination becomes.

use std::fs;

use transfer::Root;
use transfer::store::{Store, StoreSpec};
use wire::copying::ProblemKind;

use crate::common::{bytes_of, copy, into, open, source};

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
