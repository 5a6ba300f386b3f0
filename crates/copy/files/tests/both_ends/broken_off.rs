//! A copy that ends at any moment goes on there, and never with a wrong byte.

use std::fs;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use copy_protocol::{Kind, ProblemKind, Want};
use files::store::{EntryPlan, Store, StoreSpec};
use files::{HashTree, Root};

use crate::common::{PIECE, content, into, open, piece_of, publish, read_back, send, told};

/// Five pieces and a short one.
const SIZE: u64 = 5 * PIECE + 77;
const HEADER: u64 = 32;
const NOTE: u64 = 48;

fn part(folder: &Path) -> PathBuf {
    folder.join(".f.trunkline-part")
}

fn journal(folder: &Path) -> PathBuf {
    folder.join(".f.trunkline-journal")
}

/// Writes these pieces of the file and ends without a word.
fn broken_off(folder: &Path, pieces: &[u64]) {
    let bytes = content(SIZE);
    let store = open(folder);
    let (file, answer) = store.add(&told("f", Kind::File(SIZE)));
    assert!(matches!(answer, Ok(EntryPlan::Whole)), "{answer:?}");
    for index in pieces {
        let start = index * PIECE;
        let end = SIZE.min(start + PIECE);
        let bytes = &bytes[start as usize..end as usize];
        store.write(file, start, bytes).unwrap();
        store.note(file, &piece_of(SIZE, start, bytes)).unwrap();
    }
}

/// What is there of the file when it is copied again.
fn left(folder: &Path) -> (Store, u32, EntryPlan) {
    let store = open(folder);
    let (file, answer) = store.add(&told("f", Kind::File(SIZE)));
    (store, file, answer.unwrap())
}

fn present(answer: &EntryPlan) -> u64 {
    match answer {
        EntryPlan::Rest(rest) => rest.bytes(),
        _ => 0,
    }
}

/// Copies it to its end; only what is missing is read.
fn complete(folder: &Path) {
    let bytes = content(SIZE);
    let (store, file, answer) = left(folder);
    let read = |at: u64, into: &mut [u8]| {
        into.copy_from_slice(&bytes[at as usize..at as usize + into.len()]);
        Ok(())
    };
    send(&store, file, SIZE, answer, read).unwrap();
    assert_eq!(publish(&store), []);
    assert_eq!(fs::read(folder.join("f")).unwrap(), bytes);
    assert_eq!(
        fs::read_dir(folder).unwrap().count(),
        1,
        "nothing temporary is left"
    );
}

#[test]
fn a_journal_that_ends_anywhere_is_taken_up() {
    let place = tempfile::tempdir().unwrap();
    let order = [3, 0, 5, 1];
    for length in 0..=HEADER + NOTE * 4 {
        broken_off(place.path(), &order);
        let notes = fs::OpenOptions::new()
            .write(true)
            .open(journal(place.path()))
            .unwrap();
        notes.set_len(length).unwrap();
        let whole = length.saturating_sub(HEADER) / NOTE;
        let there = order[..whole as usize]
            .iter()
            .map(|index| PIECE.min(SIZE - index * PIECE));
        let (store, _, answer) = left(place.path());
        assert_eq!(present(&answer), there.sum::<u64>(), "{length}");
        drop(store);
        complete(place.path());
        fs::remove_file(place.path().join("f")).unwrap();
    }
}

#[test]
fn broken_off_again_and_again_it_gets_there() {
    let place = tempfile::tempdir().unwrap();
    broken_off(place.path(), &[2]);
    let bytes = content(SIZE);
    for round in 1..=5 {
        let (store, file, answer) = left(place.path());
        let EntryPlan::Rest(rest) = answer else {
            panic!("{answer:?}");
        };
        let next = rest.claimed.missing(1)[0].start;
        let end = SIZE.min(next + PIECE);
        let bytes = &bytes[next as usize..end as usize];
        store.write(file, next, bytes).unwrap();
        store.note(file, &piece_of(SIZE, next, bytes)).unwrap();
        let notes = fs::metadata(journal(place.path())).unwrap().len();
        assert_eq!(
            notes,
            HEADER + NOTE * (round + 1),
            "one note for each piece"
        );
    }
    let (_store, _, answer) = left(place.path());
    assert_eq!(present(&answer), SIZE);
    drop(_store);
    complete(place.path());
}

#[test]
fn everything_there_needs_nothing_but_its_name() {
    let place = tempfile::tempdir().unwrap();
    broken_off(place.path(), &[0, 1, 2, 3, 4, 5]);
    let (store, file, mut answer) = left(place.path());
    assert_eq!(answer.want(file), Want::Rest(file, vec![]));
    let EntryPlan::Rest(rest) = answer else {
        panic!("{answer:?}");
    };
    let tree = read_back(&store, file, SIZE, &rest);
    store.finish(file, &tree.digest().unwrap()).unwrap();
    assert_eq!(publish(&store), []);
    assert_eq!(fs::read(place.path().join("f")).unwrap(), content(SIZE));
}

#[test]
fn only_what_reads_back_counts() {
    let place = tempfile::tempdir().unwrap();
    broken_off(place.path(), &[0, 1, 5]);
    let file = fs::OpenOptions::new()
        .write(true)
        .open(part(place.path()))
        .unwrap();
    file.write_all_at(&[0; 512], PIECE + 4096).unwrap();
    let (store, file, mut answer) = left(place.path());
    assert_eq!(
        answer.want(file),
        Want::Rest(file, vec![(2 * PIECE, 3 * PIECE)])
    );
    let EntryPlan::Rest(rest) = answer else {
        panic!("{answer:?}");
    };
    assert_eq!(rest.bytes(), 2 * PIECE + 77);
    let tree = read_back(&store, file, SIZE, &rest);
    let missing = PIECE..5 * PIECE;
    assert_eq!(tree.missing(9), vec![missing]);
    drop(store);
    complete(place.path());
}

#[test]
fn of_notes_that_overlap_the_last_one_counts() {
    let place = tempfile::tempdir().unwrap();
    broken_off(place.path(), &[0, 1]);
    let bytes = content(SIZE);
    let (store, file, _) = left(place.path());
    // Pieces 0 and 1 come again as one, and piece 1 then once more.
    let two = &bytes[..2 * PIECE as usize];
    store.note(file, &piece_of(SIZE, 0, two)).unwrap();
    let one = piece_of(SIZE, PIECE, &two[PIECE as usize..]);
    store.note(file, &one).unwrap();
    drop(store);
    let (_store, _, answer) = left(place.path());
    let EntryPlan::Rest(rest) = answer else {
        panic!("{answer:?}");
    };
    assert_eq!(rest.noted, [one]);
}

#[test]
fn a_source_that_changed_begins_anew() {
    let place = tempfile::tempdir().unwrap();
    for (size, modified, version) in [
        (SIZE, 5, 7),
        (SIZE - 1, 1_000_000_007, 7),
        (SIZE + 1, 1_000_000_007, 7),
        (SIZE, 1_000_000_007, 8),
    ] {
        broken_off(place.path(), &[0, 1]);
        let mut entry = told("f", Kind::File(size));
        (entry.modified_nanoseconds, entry.version) = (modified, version);
        let store = open(place.path());
        let answer = store.add(&entry).1.unwrap();
        assert!(matches!(answer, EntryPlan::Whole), "{answer:?}");
        fs::remove_file(part(place.path())).unwrap();
    }
}

#[test]
fn leftovers_without_their_other_half_are_no_use_and_no_harm() {
    let place = tempfile::tempdir().unwrap();
    broken_off(place.path(), &[0, 1]);
    fs::remove_file(part(place.path())).unwrap();
    complete(place.path());
    fs::remove_file(place.path().join("f")).unwrap();
    broken_off(place.path(), &[0, 1]);
    fs::remove_file(journal(place.path())).unwrap();
    complete(place.path());
    fs::remove_file(place.path().join("f")).unwrap();
    broken_off(place.path(), &[0, 1]);
    let file = fs::OpenOptions::new()
        .write(true)
        .open(part(place.path()))
        .unwrap();
    file.set_len(100).unwrap();
    complete(place.path());
}

#[test]
fn leftovers_go_when_the_file_came_another_way() {
    let place = tempfile::tempdir().unwrap();
    broken_off(place.path(), &[0, 1]);
    let file = place.path().join("f");
    fs::write(&file, content(SIZE)).unwrap();
    let time = std::time::UNIX_EPOCH + std::time::Duration::from_nanos(1_000_000_007);
    fs::File::options()
        .write(true)
        .open(&file)
        .unwrap()
        .set_modified(time)
        .unwrap();
    let (_store, _, answer) = left(place.path());
    assert!(matches!(answer, EntryPlan::Present), "{answer:?}");
    assert_eq!(fs::read_dir(place.path()).unwrap().count(), 1);
    // As a copy leaves it that ends right after the file has its name.
    fs::write(journal(place.path()), "notes").unwrap();
    let (_store, _, answer) = left(place.path());
    assert!(matches!(answer, EntryPlan::Present), "{answer:?}");
    assert_eq!(fs::read_dir(place.path()).unwrap().count(), 1);
}

#[test]
fn what_reads_back_wrong_never_gets_its_name() {
    let place = tempfile::tempdir().unwrap();
    let bytes = content(SIZE);
    let spec = StoreSpec {
        verify: true,
        ..into(place.path())
    };
    let store = Store::open(&Root::own(), spec).unwrap();
    let (file, _) = store.add(&told("f", Kind::File(SIZE)));
    let mut tree = HashTree::new(SIZE);
    let mut write = || {
        for start in (0..SIZE).step_by(PIECE as usize) {
            let bytes = &bytes[start as usize..SIZE.min(start + PIECE) as usize];
            let piece = piece_of(SIZE, start, bytes);
            store.write(file, start, bytes).unwrap();
            store.note(file, &piece).unwrap();
            tree.insert(start, piece.length.into(), piece.hash).unwrap();
        }
        tree.digest().unwrap()
    };
    let digest = write();
    let disk = fs::OpenOptions::new()
        .write(true)
        .open(part(place.path()))
        .unwrap();
    disk.write_all_at(b"!", 1234).unwrap();
    assert_eq!(
        store.finish(file, &digest).unwrap_err().kind,
        ProblemKind::Corrupt
    );
    assert!(fs::read_dir(place.path()).unwrap().next().is_none());
    let digest = write();
    store.finish(file, &digest).unwrap();
    assert_eq!(publish(&store), []);
    assert_eq!(fs::read(place.path().join("f")).unwrap(), bytes);
}

#[test]
fn a_file_that_was_given_up_gets_no_name() {
    let place = tempfile::tempdir().unwrap();
    let bytes = content(SIZE);
    let digest = *blake3::hash(&bytes).as_bytes();
    for gives_up in [Store::discard, Store::let_go] {
        let store = open(place.path());
        let (file, _) = store.add(&told("f", Kind::File(SIZE)));
        store.write(file, 0, &bytes).unwrap();
        // Its last piece came, and its source failed, before the publisher took it.
        gives_up(&store, file);
        store.finish(file, &digest).unwrap();
        assert_eq!(store.publish(), []);
        drop(store);
        assert_eq!(fs::read_dir(place.path()).unwrap().count(), 0);
    }
}
