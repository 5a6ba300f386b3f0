//! A disk without room, in a mount namespace of the test's own.

use std::fs;
use std::path::Path;
use std::thread;

use copy_protocol::{Kind, ProblemKind};
use files::store::EntryPlan;
use nix::mount::{MsFlags, mount};
use nix::sched::{CloneFlags, unshare};

use crate::common::{content, open, piece_of, publish, send, told};

/// Runs `test` on a thread that alone sees a small file system at `folder`.
fn on_a_small_disk(folder: &Path, size: &str, test: impl FnOnce() + Send) {
    let is_over = thread::scope(|scope| {
        let seen = scope.spawn(|| {
            unshare(CloneFlags::CLONE_NEWNS | CloneFlags::CLONE_FS).unwrap();
            let private = MsFlags::MS_REC | MsFlags::MS_PRIVATE;
            mount(None::<&str>, "/", None::<&str>, private, None::<&str>).unwrap();
            let options = format!("size={size}");
            mount(
                Some("small"),
                folder,
                Some("tmpfs"),
                MsFlags::empty(),
                Some(options.as_str()),
            )
            .unwrap();
            test();
        });
        seen.join()
    });
    is_over.unwrap();
}

#[test]
fn a_full_disk_is_told_before_the_first_byte() {
    if !testkit::can_emulate() {
        return;
    }
    let place = tempfile::tempdir().unwrap();
    on_a_small_disk(place.path(), "4m", || {
        let store = open(place.path());
        let (large, _) = store.add(&told("large", Kind::File(8 << 20)));
        let trouble = store.write(large, 0, b"x").unwrap_err();
        assert_eq!(trouble.kind, ProblemKind::DiskFull, "{trouble:?}");
        assert!(trouble.hint.is_some() && trouble.file == Some(large));
        assert!(
            fs::read_dir(place.path()).unwrap().next().is_none(),
            "the room is given back"
        );
        // What has room still goes.
        let bytes = content(1 << 20);
        let (small, answer) = store.add(&told("small", Kind::File(1 << 20)));
        let read = |at: u64, into: &mut [u8]| {
            into.copy_from_slice(&bytes[at as usize..at as usize + into.len()]);
            Ok(())
        };
        send(&store, small, 1 << 20, answer.unwrap(), read).unwrap();
        assert_eq!(publish(&store), []);
        assert_eq!(fs::read(place.path().join("small")).unwrap(), bytes);
    });
}

#[test]
fn a_disk_that_fills_up_with_small_files_is_told_for_each() {
    if !testkit::can_emulate() {
        return;
    }
    let place = tempfile::tempdir().unwrap();
    on_a_small_disk(place.path(), "256k", || {
        let store = open(place.path());
        let bytes = content(50_000);
        let mut troubles = Vec::new();
        for index in 0..10 {
            let (file, answer) = store.add(&told(&index.to_string(), Kind::File(50_000)));
            let read = |at: u64, into: &mut [u8]| {
                into.copy_from_slice(&bytes[at as usize..at as usize + into.len()]);
                Ok(())
            };
            troubles.extend(send(&store, file, 50_000, answer.unwrap(), read).err());
        }
        assert_eq!(publish(&store), []);
        assert!(!troubles.is_empty());
        for trouble in &troubles {
            assert_eq!(trouble.kind, ProblemKind::DiskFull, "{trouble:?}");
        }
        let whole = (0..10).filter(|index| {
            fs::read(place.path().join(index.to_string())).is_ok_and(|read| read == bytes)
        });
        assert_eq!(
            whole.count(),
            10 - troubles.len(),
            "the others are there as they were"
        );
    });
}

#[test]
fn what_has_arrived_stays_when_the_disk_fills_up() {
    if !testkit::can_emulate() {
        return;
    }
    let place = tempfile::tempdir().unwrap();
    on_a_small_disk(place.path(), "1m", || {
        let bytes = content(900_000);
        let store = open(place.path());
        let (file, _) = store.add(&told("large", Kind::File(900_000)));
        let piece = piece_of(900_000, 0, &bytes[..131_072]);
        store.write(file, 0, &bytes[..131_072]).unwrap();
        store.note(file, &piece).unwrap();
        fs::write(place.path().join("other"), content(1 << 20)).unwrap_err();
        // Two streams bring pieces at the same time: the second one finds a file that has failed.
        for at in [131_072, 262_144] {
            let trouble = store.write(file, at, &bytes[at as usize..][..131_072]);
            assert_eq!(trouble.unwrap_err().kind, ProblemKind::DiskFull);
        }
        drop(store);
        fs::remove_file(place.path().join("other")).unwrap();
        let again = open(place.path());
        let (_, answer) = again.add(&told("large", Kind::File(900_000)));
        let Ok(EntryPlan::Rest(rest)) = answer else {
            panic!("{answer:?}");
        };
        assert_eq!(rest.bytes(), 131_072);
    });
}
