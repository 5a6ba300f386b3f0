//! Both ends' files together, without a network: what a copy leaves on the disk.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::Path;
use std::sync::Arc;

use transfer::Root;
use transfer::source::{Found, Source, SourceSpec};
use transfer::store::{Answer, Piece, Store, StoreSpec};
use wire::copying::{Attributes, Filter, Kind, Problem};

const ALL: Attributes = Attributes {
    permissions: true,
    times: true,
    links: true,
};

fn bytes_of(path: &Path) -> Vec<u8> {
    path.to_str().unwrap().as_bytes().to_vec()
}

fn source(paths: &[&Path]) -> Arc<Source> {
    let spec = SourceSpec {
        paths: paths.iter().map(|path| bytes_of(path)).collect(),
        wildcards: false,
        recursive: true,
        attributes: ALL,
    };
    Source::new(&Root::own(), spec).unwrap()
}

fn into(destination: &Path) -> StoreSpec {
    StoreSpec {
        destination: bytes_of(destination),
        into_folder: false,
        attributes: ALL,
        filter: Filter::Changed,
        verify: false,
        dry_run: false,
    }
}

/// Copies all there is, each file in one piece; returns what could not be.
fn copy(source: &Arc<Source>, store: &Store) -> Vec<Problem> {
    let mut troubles = Vec::new();
    for found in source.walk() {
        let Found::Entry(entry) = found else {
            panic!("{found:?}");
        };
        let (file, answer) = store.add(&entry);
        let Kind::File(size) = entry.kind else {
            troubles.extend(answer.err());
            continue;
        };
        match answer {
            Err(problem) => troubles.push(problem),
            Ok(Answer::Whole) => troubles.extend(copy_file(source, store, file, size).err()),
            Ok(_) => {}
        }
    }
    let published = store.publish().into_iter();
    troubles.extend(published.filter_map(|(_, outcome)| outcome.err()));
    troubles.extend(store.end());
    troubles
}

fn copy_file(source: &Source, store: &Store, file: u32, size: u64) -> Result<(), Problem> {
    let mut bytes = vec![0; size as usize];
    source.read(file, 0, &mut bytes)?;
    let hash = *blake3::hash(&bytes).as_bytes();
    store.write(file, 0, &bytes)?;
    let length = size as u32;
    if length > 0 {
        let offset = 0;
        store.note(
            file,
            &Piece {
                offset,
                length,
                hash,
            },
        )?;
    }
    source.finished(file)?;
    store.finish(file, &hash)
}

#[test]
fn a_tree_arrives_as_it_was() {
    let place = tempfile::tempdir().unwrap();
    let from = place.path().join("run7");
    fs::create_dir_all(from.join("deep/er")).unwrap();
    fs::write(from.join("hits"), b"some").unwrap();
    fs::write(from.join("deep/er/none"), b"").unwrap();
    fs::set_permissions(from.join("hits"), fs::Permissions::from_mode(0o640)).unwrap();
    symlink("nowhere", from.join("deep/link")).unwrap();
    fs::set_permissions(from.join("deep"), fs::Permissions::from_mode(0o555)).unwrap();
    let to = place.path().join("to");
    let store = Store::open(&Root::own(), into(&to)).unwrap();
    assert!(store.is_fresh());
    assert_eq!(copy(&source(&[&from]), &store), []);
    let to = to.join("run7");
    assert_eq!(fs::read(to.join("hits")).unwrap(), b"some");
    assert_eq!(fs::read(to.join("deep/er/none")).unwrap(), b"");
    assert_eq!(
        fs::read_link(to.join("deep/link")).unwrap(),
        Path::new("nowhere")
    );
    for name in ["hits", "deep", "deep/er/none", "."] {
        let was = fs::metadata(from.join(name)).unwrap();
        let is = fs::metadata(to.join(name)).unwrap();
        assert_eq!(was.mode(), is.mode(), "{name}");
        assert_eq!(
            (was.mtime(), was.mtime_nsec()),
            (is.mtime(), is.mtime_nsec()),
            "{name}"
        );
    }
}
