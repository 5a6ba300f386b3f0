//! Documents that the program wrote: one or more of each kind in the present version, and in each
//! earlier one that is read.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use netpath::PathSpec;
use record::{AnyDocument, SCHEMA_VERSION, Schema, parse};
use serde_json::Value;

/// The kept documents of a version with their text.
fn documents(version: u32) -> Vec<(PathBuf, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata");
    let files = fs::read_dir(folder.join(version.to_string())).unwrap();
    let files = files.map(|file| file.unwrap().path());
    files
        .map(|file| (file.clone(), fs::read_to_string(file).unwrap()))
        .collect()
}

fn read((file, text): &(PathBuf, String)) -> AnyDocument {
    let read = parse(file, text);
    read.unwrap_or_else(|error| panic!("{}: {error}: {error:?}", file.display()))
}

#[test]
fn each_kind_has_a_document_in_this_version_and_in_the_one_before() {
    for version in [2, SCHEMA_VERSION] {
        let documents = documents(version);
        let kinds = documents.iter().map(|document| read(document).schema());
        let kinds: BTreeSet<&str> = kinds.map(Schema::name).collect();
        let then = Schema::ALL
            .into_iter()
            .filter(|kind| since(*kind) <= version);
        assert_eq!(kinds, then.map(Schema::name).collect(), "{version}");
    }
}

/// The version in which a kind is there first.
fn since(kind: Schema) -> u32 {
    match kind {
        Schema::Datagrams | Schema::Fluid => 3,
        _ => 2,
    }
}

#[test]
fn a_document_of_this_version_is_written_as_it_was_read() {
    for document in documents(SCHEMA_VERSION) {
        let written = read(&document).to_json();
        let differs = document
            .1
            .lines()
            .zip(written.lines())
            .find(|(a, b)| a != b);
        assert!(
            document.1 == written,
            "{}: {differs:?}",
            document.0.display()
        );
    }
}

/// Keys are moved and renamed, one is gone, and counts that came later are zero; what the others
/// hold stays.
#[test]
fn a_document_of_an_earlier_version_holds_nothing_new() {
    for document in documents(1).into_iter().chain(documents(2)) {
        let before: Value = serde_json::from_str(&document.1).unwrap();
        let now: Value = serde_json::from_str(&read(&document).to_json()).unwrap();
        let mut rest = leaves(&before);
        for leaf in leaves(&now) {
            match rest.iter().position(|before| *before == leaf) {
                Some(place) => drop(rest.swap_remove(place)),
                None => assert_eq!(leaf, "0", "{}", document.0.display()),
            }
        }
        assert!(rest.len() <= 1, "{}: {rest:?}", document.0.display());
    }
}

/// All that is no object and no list.
fn leaves(value: &Value) -> Vec<String> {
    match value {
        Value::Array(list) => list.iter().flat_map(leaves).collect(),
        Value::Object(map) => map.values().flat_map(leaves).collect(),
        leaf => vec![leaf.to_string()],
    }
}

/// Where something stood in version 2, and where it stands now.
const MOVED: [(&str, &str); 5] = [
    ("/limit", "/limit_default/limit"),
    ("/limit_because", "/limit_default/limit_because"),
    ("/limit_recommended/limit", "/limit"),
    ("/limit_recommended/limit_because", "/limit_because"),
    (
        "/recommended/throughput_bits_per_second",
        "/recommended/goodput_bits_per_second",
    ),
];

#[test]
fn what_version_3_moved_is_read_where_it_stands_now() {
    let mut seen = 0;
    for document in documents(1).into_iter().chain(documents(2)) {
        let before: Value = serde_json::from_str(&document.1).unwrap();
        let now: Value = serde_json::from_str(&read(&document).to_json()).unwrap();
        for (then, place) in MOVED {
            if before["schema"] == "trunkline/tune" && before.pointer(then).is_some() {
                assert_eq!(before.pointer(then), now.pointer(place), "{place}");
                seen += 1;
            }
        }
    }
    assert_eq!(seen, 2 * MOVED.len());
}

/// Version 1 had one word where there is a list now.
#[test]
fn the_single_rival_of_version_1_is_read_as_a_list_of_one() {
    for document in documents(1) {
        let before: Value = serde_json::from_str(&document.1).unwrap();
        let now: Value = serde_json::from_str(&read(&document).to_json()).unwrap();
        let read = match now.pointer("/limit_default") {
            Some(default) => &default["limit_or"],
            None => &now["limit_or"],
        };
        assert_eq!(*read, Value::Array(vec![before["limit_or"].clone()]));
    }
}

/// The digest under which the archive knows a path.
#[test]
fn the_digest_of_a_path_stays() {
    let text = include_str!("../testdata/every-link.toml");
    let every_link = PathSpec::from_toml("every-link", text).unwrap();
    let digest = |spec: &PathSpec| record::Path::from(spec).digest();
    assert_eq!(digest(&every_link), "7123c29d5d12e077");
    assert_eq!(
        digest(&PathSpec::load("slac-cern").unwrap()),
        "cbb2a5e10b7a9ed7"
    );
}
