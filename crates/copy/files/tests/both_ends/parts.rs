//! Files whose parts arrive by several stores, as copies of several hosts have them.

use std::fs;
use std::path::Path;
use std::thread;

use copy_protocol::{Entry, FilePart, Kind, Problem, ProblemKind};
use files::store::{EntryPlan, Store, has_part};
use proptest::prelude::*;

use crate::common::{content, open, publish, send, told};

const LENGTH: u64 = 256 << 10;
const SIZE: u64 = 5 * LENGTH + 12_345;
const PARTS: u32 = 6;

fn entry() -> Entry {
    told("big", Kind::File(SIZE))
}

fn store(folder: &Path, index: u32) -> Store {
    let length = LENGTH;
    open(folder).for_part(FilePart { index, length })
}

/// Copies one part, or as many of its pieces as `most`, and is broken off then.
fn copy_part(folder: &Path, index: u32, entry: &Entry, most: usize) -> Result<(), Problem> {
    let bytes = content(SIZE);
    let store = store(folder, index);
    let (file, answer) = store.add(entry);
    let mut left = most;
    let read = |offset: u64, into: &mut [u8]| -> Result<(), Problem> {
        left = left.checked_sub(1).ok_or_else(|| Problem {
            kind: ProblemKind::Cancelled,
            file: None,
            what: "broken off".to_owned(),
            hint: None,
        })?;
        let start = offset as usize;
        into.copy_from_slice(&bytes[start..start + into.len()]);
        Ok(())
    };
    send(&store, file, SIZE, answer?, read)?;
    publish(&store).pop().map_or(Ok(()), Err)
}

fn copied(folder: &Path, index: u32) {
    copy_part(folder, index, &entry(), usize::MAX).unwrap();
}

fn names(folder: &Path) -> Vec<String> {
    let all = fs::read_dir(folder).unwrap();
    let name = |one: std::io::Result<fs::DirEntry>| one.unwrap().file_name();
    all.map(|one| name(one).into_string().unwrap()).collect()
}

fn is_there(folder: &Path) -> bool {
    folder.join("big").exists()
}

fn check_whole(folder: &Path) {
    assert!(fs::read(folder.join("big")).unwrap() == content(SIZE));
    assert_eq!(names(folder), ["big"], "nothing is left beside it");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]

    /// Each part is broken off after some pieces, or not at all, and then copied.
    #[test]
    fn the_last_part_names_the_file_whatever_the_order(
        order in Just((0..PARTS).collect::<Vec<u32>>()).prop_shuffle(),
        cuts in proptest::collection::vec(0usize..6, PARTS as usize),
    ) {
        let folder = tempfile::tempdir().unwrap();
        for (index, cut) in order.iter().zip(&cuts) {
            prop_assert!(!is_there(folder.path()));
            // Some have one or four pieces, so that a cut may be none.
            let _ = copy_part(folder.path(), *index, &entry(), *cut);
            if !is_there(folder.path()) {
                copied(folder.path(), *index);
            }
        }
        check_whole(folder.path());
    }
}

#[test]
fn parts_that_end_at_the_same_time_leave_one_whole_file() {
    for _ in 0..10 {
        let folder = tempfile::tempdir().unwrap();
        thread::scope(|scope| {
            for index in 0..PARTS {
                let folder = folder.path();
                scope.spawn(move || copied(folder, index));
            }
        });
        check_whole(folder.path());
    }
}

/// What was noted as arrived is not believed of a temporary file that was made anew.
#[test]
fn parts_of_a_temporary_file_that_was_removed_do_not_count() {
    let folder = tempfile::tempdir().unwrap();
    [0, 1]
        .iter()
        .for_each(|index| copied(folder.path(), *index));
    let is_part = |name: &&String| name.ends_with(".trunkline-part");
    let part = names(folder.path()).iter().find(is_part).cloned().unwrap();
    fs::remove_file(folder.path().join(part)).unwrap();
    (2..PARTS).for_each(|index| copied(folder.path(), index));
    assert!(!is_there(folder.path()), "two parts are zeros");
    [1, 0]
        .iter()
        .for_each(|index| copied(folder.path(), *index));
    check_whole(folder.path());
}

/// A copy that was killed once the file had its name left them.
#[test]
fn journals_beside_a_whole_file_are_removed_by_the_next_copy() {
    let folder = tempfile::tempdir().unwrap();
    (1..PARTS).for_each(|index| copied(folder.path(), index));
    let mut journals = names(folder.path());
    journals.retain(|name| name.ends_with(".trunkline-journal"));
    let kept = journals.iter().map(|name| folder.path().join(name));
    let kept: Vec<_> = kept.map(|path| (fs::read(&path).unwrap(), path)).collect();
    copied(folder.path(), 0);
    check_whole(folder.path());
    for (bytes, path) in &kept {
        fs::write(path, bytes).unwrap();
    }
    let answer = store(folder.path(), 3).add(&entry()).1.unwrap();
    assert!(matches!(answer, EntryPlan::Present), "{answer:?}");
    check_whole(folder.path());
}

/// A new mode or owner changes the inode, and not what is in the file.
#[test]
fn parts_of_a_source_whose_inode_changed_make_one_file() {
    let folder = tempfile::tempdir().unwrap();
    let newer = Entry {
        version: 8,
        ..entry()
    };
    copied(folder.path(), 0);
    for index in 1..PARTS {
        copy_part(folder.path(), index, &newer, usize::MAX).unwrap();
    }
    check_whole(folder.path());
}

#[test]
fn a_part_that_waits_is_found_by_the_time_of_its_source() {
    let folder = tempfile::tempdir().unwrap();
    let (path, modified) = (folder.path().join("big"), entry().modified_nanoseconds);
    let part = |index| FilePart {
        index,
        length: LENGTH,
    };
    copied(folder.path(), 1);
    assert!(has_part(&path, SIZE, modified, part(1)));
    assert!(!has_part(&path, SIZE, modified, part(0)));
    assert!(!has_part(&path, SIZE, modified + 1, part(1)));
}

#[test]
fn parts_of_two_versions_make_no_file() {
    let folder = tempfile::tempdir().unwrap();
    let newer = Entry {
        modified_nanoseconds: entry().modified_nanoseconds + 1,
        ..entry()
    };
    (0..3).for_each(|index| copied(folder.path(), index));
    for index in 3..PARTS {
        copy_part(folder.path(), index, &newer, usize::MAX).unwrap();
    }
    assert!(!is_there(folder.path()));
}

#[test]
fn one_copy_at_a_time_is_at_a_part() {
    let folder = tempfile::tempdir().unwrap();
    let first = store(folder.path(), 2);
    first.add(&entry()).1.unwrap();
    let refused = store(folder.path(), 2).add(&entry()).1.unwrap_err();
    assert_eq!(refused.kind, ProblemKind::Busy);
    copied(folder.path(), 3);
    drop(first);
    copied(folder.path(), 2);
}

#[test]
fn nothing_is_written_outside_of_the_part() {
    let folder = tempfile::tempdir().unwrap();
    let store = store(folder.path(), 1);
    let (file, answer) = store.add(&entry());
    answer.unwrap();
    for offset in [0, LENGTH - 1, 2 * LENGTH - 1, 2 * LENGTH] {
        let refused = store.write(file, offset, b"ab").unwrap_err();
        assert_eq!(refused.kind, ProblemKind::Protocol, "{offset}");
    }
    let beyond = self::store(folder.path(), PARTS).add(&entry()).1;
    assert_eq!(beyond.unwrap_err().kind, ProblemKind::SourceChanged);
}
