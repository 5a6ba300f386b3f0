//! Pieces of moved bytes, as a hostile sender may make them up.

use std::fs;
use std::sync::mpsc::{Receiver, sync_channel};

use copy_protocol::{Attributes, Entry, Filter, Kept, Kind, Name};
use files::store::{Store, StoreSpec};
use files::{HashTree, Root};

use super::super::publisher::Publisher;
use super::super::rereader::Rereader;
use super::*;

const SIZE: usize = 1 << 20;

/// The only file of a copy into `folder`, with or without the option `--delta`.
fn arrivals(folder: &std::path::Path, has_older: bool) -> (PieceDecoder, Receiver<Event>) {
    let spec = StoreSpec {
        destination: folder.as_os_str().as_encoded_bytes().to_vec(),
        into_folder: true,
        attributes: Attributes {
            permissions: false,
            times: false,
            links: true,
            kept: Kept::NOTHING,
        },
        filter: Filter::All,
        verify: false,
        dry_run: false,
        claim_timeout: std::time::Duration::ZERO,
    };
    let store = Store::open(&Root::own(), spec).unwrap();
    let store = match has_older {
        true => store.with_older(),
        false => store,
    };
    let (file, plan) = store.add(&Entry {
        name: Name::new(b"a".to_vec()).unwrap(),
        kind: Kind::File(SIZE as u64),
        mode: 0o644,
        modified_nanoseconds: 0,
        version: 0,
        is_sparse: false,
        digest: None,
    });
    assert!(plan.is_ok(), "{plan:?}");
    let (publisher, _) = Publisher::queue();
    let (rereader, _) = Rereader::queue();
    let (report, events) = sync_channel(8);
    let shared = Shared::new(Arc::new(store), publisher, rereader, Arc::default());
    let size = SIZE as u64;
    shared.files.expect(file, HashTree::new(size), size);
    shared.files.told(1);
    shared.files.told_all();
    (PieceDecoder::new(1, Arc::new(shared), report), events)
}

/// A piece that is all of the file, with the seal of these bytes.
fn piece(recipe: &[u8], bytes: &[u8]) -> Vec<u8> {
    let header = PieceHeader {
        file: 0,
        offset: 0,
        length: SIZE as u32,
        wire_length: recipe.len() as u32,
        coding: Coding::Moved,
    };
    let mut hasher = PieceHasher::new(SIZE as u64, 0, SIZE as u64);
    hasher.update(bytes);
    let seal = header.seal(&hasher.finish().unwrap());
    [&header.encode()[..], recipe, &seal].concat()
}

fn recipe(runs: &[(u64, usize)], follows: &[u8]) -> Vec<u8> {
    let mut wire = (runs.len() as u16).to_be_bytes().to_vec();
    for (place, length) in runs {
        wire.extend(place.to_be_bytes());
        wire.extend((*length as u32).to_be_bytes());
    }
    [&wire[..], follows].concat()
}

fn feed(decoder: &mut PieceDecoder, mut bytes: &[u8]) -> io::Result<()> {
    while !bytes.is_empty() {
        let (now, later) = bytes.split_at(decoder.wanted());
        decoder.take(now)?;
        bytes = later;
    }
    Ok(())
}

#[test]
fn a_recipe_that_does_not_make_the_sealed_bytes_is_damaged_and_the_right_one_counts() {
    let place = tempfile::tempdir().unwrap();
    let mut older = vec![0; SIZE];
    blake3::Hasher::new().finalize_xof().fill(&mut older);
    fs::write(place.path().join("a"), &older).unwrap();
    let newer = [&b"new"[..], &older[5..], &older[..2]].concat();
    let (mut decoder, events) = arrivals(place.path(), true);
    // A test of recipes has all that cannot be.
    let wrong = [
        recipe(&[(0, SIZE)], &[]),
        recipe(&[(5, SIZE)], &[]),
        recipe(&[(u64::MAX, 3), (5, SIZE - 5), (0, 2)], b"old"),
        vec![7],
    ];
    for recipe in wrong {
        feed(&mut decoder, &piece(&recipe, &newer)).unwrap();
        let told = events.try_recv();
        assert!(matches!(told, Ok(Event::Damaged(_))), "{told:?}");
    }
    let right = recipe(&[(u64::MAX, 3), (5, SIZE - 5), (0, 2)], b"new");
    feed(&mut decoder, &piece(&right, &newer)).unwrap();
    let told = events.try_recv();
    let is_kept = matches!(told, Ok(Event::Kept(range, 3)) if range.length == SIZE as u64);
    assert!(is_kept, "{told:?}");
    assert!(
        fs::read(place.path().join("a")).unwrap() == older,
        "the older version stays until the file is whole"
    );
}

#[test]
fn a_copy_without_older_versions_takes_no_recipe() {
    let place = tempfile::tempdir().unwrap();
    let older = vec![7; SIZE];
    fs::write(place.path().join("a"), &older).unwrap();
    let (mut decoder, _events) = arrivals(place.path(), false);
    let piece = piece(&recipe(&[(0, SIZE)], &[]), &older);
    assert!(feed(&mut decoder, &piece).is_err());
}
