//! What a peer, or another user of the receiving host, may try: nothing is written elsewhere.

use std::fs;
use std::os::unix::fs::{FileTypeExt, MetadataExt, PermissionsExt, symlink};
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use copy_protocol::{Kind, Problem, ProblemKind};
use files::Root;
use files::store::{Store, StoreSpec};
use nix::sys::stat::Mode;
use nix::unistd::mkfifo;

use crate::common::{content, into, open, publish, send, told};

/// Sends `bytes` under this name as a peer would.
fn put(store: &Store, name: &str, bytes: &[u8]) -> Result<(), Problem> {
    let (file, answer) = store.add(&told(name, Kind::File(bytes.len() as u64)));
    send(store, file, bytes.len() as u64, answer?, |at, into| {
        into.copy_from_slice(&bytes[at as usize..at as usize + into.len()]);
        Ok(())
    })?;
    publish(store).into_iter().next().map_or(Ok(()), Err)
}

/// A folder to copy to and one that nothing may be written to.
fn places() -> (tempfile::TempDir, std::path::PathBuf, std::path::PathBuf) {
    let place = tempfile::tempdir().unwrap();
    let (inside, outside) = (place.path().join("inside"), place.path().join("outside"));
    fs::create_dir(&inside).unwrap();
    fs::create_dir(&outside).unwrap();
    (place, inside, outside)
}

fn is_empty(folder: &Path) -> bool {
    fs::read_dir(folder).unwrap().next().is_none()
}

#[test]
fn a_link_that_was_sent_is_made_and_never_followed() {
    let (_place, inside, outside) = places();
    let served = Root::beneath(&inside).unwrap();
    let here = StoreSpec {
        destination: b"/".to_vec(),
        ..into(&inside)
    };
    for (root, spec) in [(Root::own(), into(&inside)), (served, here)] {
        let store = Store::open(&root, spec).unwrap();
        let link = Kind::Link(outside.to_str().unwrap().into());
        assert!(store.add(&told("l", link)).1.is_ok());
        assert!(put(&store, "l/x", b"evil").is_err());
        assert!(store.add(&told("l", Kind::Folder)).1.is_err());
        assert!(put(&store, "l/deep/x", b"evil").is_err());
        assert_eq!(fs::read_link(inside.join("l")).unwrap(), outside);
        assert!(is_empty(&outside));
    }
}

#[test]
fn a_folder_of_a_served_one_is_a_root_of_its_own() {
    let (_place, inside, outside) = places();
    fs::create_dir(inside.join("ana")).unwrap();
    symlink(&outside, inside.join("away")).unwrap();
    let served = Root::beneath(&inside).unwrap();
    let name = |text: &str| copy_protocol::Name::new(text.into()).unwrap();
    let below = served.restricted(false, true).below(&name("ana")).unwrap();
    assert!(below.may_write() && !below.may_read());
    for destination in ["../up", "/../up"] {
        let spec = StoreSpec {
            destination: destination.into(),
            ..into(&inside)
        };
        let added = Store::open(&below, spec).map(|store| put(&store, "f", b"evil").is_ok());
        assert!(!matches!(added, Ok(true)), "{destination}");
    }
    assert!(!inside.join("up").exists());
    assert!(served.below(&name("away")).is_err());
    assert!(served.below(&name("none")).is_err());
}

#[test]
fn a_link_in_the_place_of_a_file_is_replaced() {
    let (_place, inside, outside) = places();
    fs::write(outside.join("f"), b"mine").unwrap();
    symlink(outside.join("f"), inside.join("f")).unwrap();
    // Also at the temporary names.
    symlink(outside.join("g"), inside.join(".f.trunkline-part")).unwrap();
    symlink(outside.join("g"), inside.join(".f.trunkline-journal")).unwrap();
    put(&open(&inside), "f", &content(200_000)).unwrap();
    assert!(!fs::symlink_metadata(inside.join("f")).unwrap().is_symlink());
    assert_eq!(fs::read(outside.join("f")).unwrap(), b"mine");
    assert!(!outside.join("g").exists());
}

#[test]
fn a_hard_link_at_the_temporary_name_is_not_written_through() {
    let (_place, inside, outside) = places();
    fs::write(outside.join("f"), b"mine").unwrap();
    fs::hard_link(outside.join("f"), inside.join(".f.trunkline-part")).unwrap();
    put(&open(&inside), "f", b"sent").unwrap();
    assert_eq!(fs::read(outside.join("f")).unwrap(), b"mine");
    assert_eq!(fs::read(inside.join("f")).unwrap(), b"sent");
}

#[test]
fn a_hard_link_in_the_place_of_a_file_loses_that_name_only() {
    let (_place, inside, outside) = places();
    fs::write(outside.join("f"), b"mine").unwrap();
    fs::hard_link(outside.join("f"), inside.join("f")).unwrap();
    put(&open(&inside), "f", b"sent").unwrap();
    assert_eq!(fs::read(outside.join("f")).unwrap(), b"mine");
    assert_eq!(fs::read(inside.join("f")).unwrap(), b"sent");
}

#[test]
fn pipes_sockets_and_folders_are_not_replaced() {
    let (_place, inside, _outside) = places();
    mkfifo(&inside.join("pipe"), Mode::S_IRWXU).unwrap();
    let _socket = UnixListener::bind(inside.join("socket")).unwrap();
    fs::create_dir(inside.join("folder")).unwrap();
    fs::write(inside.join("file"), b"mine").unwrap();
    let store = open(&inside);
    for name in ["pipe", "socket", "folder"] {
        let trouble = put(&store, name, b"sent").unwrap_err();
        assert_eq!(trouble.kind, ProblemKind::Request, "{trouble:?}");
        assert!(
            trouble.hint.is_some() && trouble.file.is_some(),
            "{trouble:?}"
        );
        let link = Kind::Link(b"x".to_vec());
        assert!(store.add(&told(name, link)).1.is_err(), "{name}");
    }
    assert!(store.add(&told("file", Kind::Folder)).1.is_err());
    assert!(
        fs::symlink_metadata(inside.join("pipe"))
            .unwrap()
            .file_type()
            .is_fifo()
    );
    // And a pipe in the place of the temporary file blocks no copy.
    mkfifo(&inside.join(".f.trunkline-part"), Mode::S_IRWXU).unwrap();
    put(&store, "f", b"sent").unwrap();
    assert_eq!(fs::read(inside.join("f")).unwrap(), b"sent");
}

#[test]
fn folders_that_are_swapped_for_links_lead_nowhere() {
    let (_place, inside, outside) = places();
    let (real, away) = (inside.join("d"), inside.join("away"));
    fs::create_dir(&real).unwrap();
    let is_over = AtomicBool::new(false);
    let mut arrived = 0;
    thread::scope(|scope| {
        scope.spawn(|| {
            while !is_over.load(Ordering::Relaxed) {
                fs::rename(&real, &away).unwrap();
                symlink(&outside, &real).unwrap();
                fs::remove_file(&real).unwrap();
                fs::rename(&away, &real).unwrap();
            }
        });
        for round in 0..2000 {
            // A store of its own: none remembers the folder.
            arrived += usize::from(put(&open(&inside), &format!("d/{round}"), b"x").is_ok());
        }
        is_over.store(true, Ordering::Relaxed);
    });
    assert!(is_empty(&outside));
    assert_eq!(fs::read_dir(&real).unwrap().count(), arrived);
}

#[test]
fn bytes_beyond_the_file_and_unknown_files_are_refused() {
    let (_place, inside, _outside) = places();
    let store = open(&inside);
    let (file, _) = store.add(&told("f", Kind::File(10)));
    for (offset, length) in [(10, 1), (0, 11), (u64::MAX, 1), (u64::MAX - 3, 9)] {
        let trouble = store.write(file, offset, &vec![0; length]).unwrap_err();
        assert_eq!(trouble.kind, ProblemKind::Protocol, "{offset}");
    }
    assert_eq!(
        store.write(77, 0, b"x").unwrap_err().kind,
        ProblemKind::Protocol
    );
}

#[test]
fn two_copies_to_one_name_do_not_mix() {
    let (_place, inside, _outside) = places();
    let (first, second) = (open(&inside), open(&inside));
    let entry = told("f", Kind::File(200_000));
    let (file, _) = first.add(&entry);
    first.write(file, 0, b"first").unwrap();
    let (other, answer) = second.add(&entry);
    assert_eq!(answer.unwrap_err().kind, ProblemKind::Busy);
    assert_eq!(
        second.write(other, 0, b"second").unwrap_err().kind,
        ProblemKind::Busy
    );
    drop(first);
    second.write(other, 0, b"second").unwrap();
}

#[test]
fn a_file_longer_than_any_is_told_at_once() {
    let (_place, inside, _outside) = places();
    let store = open(&inside);
    let (file, _) = store.add(&told("f", Kind::File(u64::MAX)));
    assert!(store.write(file, 0, b"x").is_err());
    assert!(is_empty(&inside));
}

#[test]
fn what_takes_the_place_of_the_temporary_file_is_never_published() {
    let place = tempfile::tempdir().unwrap();
    let store = open(place.path());
    let bytes = content(100_000);
    let (file, answer) = store.add(&told("f", Kind::File(100_000)));
    let temporary = place.path().join(".f.trunkline-part");
    let read = |at: u64, into: &mut [u8]| {
        into.copy_from_slice(&bytes[at as usize..at as usize + into.len()]);
        Ok(())
    };
    send(&store, file, 100_000, answer.unwrap(), read).unwrap();
    fs::remove_file(&temporary).unwrap();
    fs::write(&temporary, b"another file").unwrap();
    let troubles = publish(&store);
    assert_eq!(troubles.len(), 1);
    assert!(
        troubles[0].what.contains("is not the file any more"),
        "{troubles:?}"
    );
    assert!(!place.path().join("f").exists());
    assert_eq!(fs::read(temporary).unwrap(), b"another file", "it stays");
}

#[test]
fn what_others_may_write_to_is_not_taken_up() {
    let place = tempfile::tempdir().unwrap();
    let temporary = place.path().join(".f.trunkline-part");
    let journal = place.path().join(".f.trunkline-journal");
    let bytes = content(300_000);
    for mode in [0o666, 0o620, 0o602] {
        for path in [&temporary, &journal] {
            fs::write(path, b"planted").unwrap();
            fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
        }
        let planted = fs::File::open(&temporary).unwrap();
        put(&open(place.path()), "f", &bytes).unwrap();
        assert!(fs::read(place.path().join("f")).unwrap() == bytes);
        let of = |file: &fs::Metadata| (file.ino(), file.mode() & 0o777);
        let made = fs::metadata(place.path().join("f")).unwrap();
        assert_ne!(of(&made).0, planted.metadata().unwrap().ino(), "{mode:o}");
        assert_eq!(of(&made).1, 0o644);
        assert_eq!(fs::read_dir(place.path()).unwrap().count(), 1);
        fs::remove_file(place.path().join("f")).unwrap();
    }
}

#[test]
fn what_another_user_made_is_not_taken_up() {
    if !nix::unistd::geteuid().is_root() {
        return testkit::skip("needs root: temporary files of another user");
    }
    let place = tempfile::tempdir().unwrap();
    let temporary = place.path().join(".f.trunkline-part");
    fs::write(&temporary, b"planted").unwrap();
    std::os::unix::fs::chown(&temporary, Some(65_534), None).unwrap();
    put(&open(place.path()), "f", &content(300_000)).unwrap();
    let made = fs::metadata(place.path().join("f")).unwrap();
    assert_eq!(made.uid(), nix::unistd::geteuid().as_raw());
    assert!(fs::read(place.path().join("f")).unwrap() == content(300_000));
}

#[test]
fn a_copy_that_ends_leaves_nothing_that_it_could_not_take_up() {
    let place = tempfile::tempdir().unwrap();
    let store = open(place.path());
    let (file, answer) = store.add(&told("f", Kind::File(3 << 30)));
    answer.unwrap();
    let temporary = place.path().join(".f.trunkline-part");
    let room = || fs::metadata(&temporary).map(|it| it.blocks() * 512);
    assert_eq!(room().unwrap(), 0, "no room before the first byte");
    store.write(file, 0, b"x").unwrap();
    drop(store);
    assert!(room().is_err(), "it is gone");
}

#[test]
fn many_begun_files_keep_their_locks() {
    let place = tempfile::tempdir().unwrap();
    let store = open(place.path());
    let other = open(place.path());
    let names: Vec<String> = (0..1500).map(|number| format!("{number:04}")).collect();
    let half = content(100_000);
    for name in &names {
        let (file, answer) = store.add(&told(name, Kind::File(200_000)));
        answer.unwrap();
        store.write(file, 0, &half[..65_536]).unwrap();
        store
            .note(file, &crate::common::piece_of(200_000, 0, &half[..65_536]))
            .unwrap();
    }
    for name in &names {
        let (file, answer) = other.add(&told(name, Kind::File(200_000)));
        let written = answer.and_then(|_| other.write(file, 0, b"x"));
        assert_eq!(written.unwrap_err().kind, ProblemKind::Busy, "{name}");
    }
}

#[test]
fn modes_from_the_wire_open_nothing_to_others() {
    let (_place, inside, _) = places();
    let mode_of = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o7777;
    fs::set_permissions(&inside, fs::Permissions::from_mode(0o750)).unwrap();
    let told_as = |name: &str, kind: Kind, mode: u32| {
        let mut entry = told(name, kind);
        entry.mode = mode;
        entry
    };
    let served = Root::beneath(&inside).unwrap();
    let here = StoreSpec {
        destination: b"/".to_vec(),
        ..into(&inside)
    };
    let store = Store::open(&served, here.clone()).unwrap();
    store.add(&told_as("", Kind::Folder, 0o777)).1.unwrap();
    store.add(&told_as("d", Kind::Folder, 0o7777)).1.unwrap();
    let (file, answer) = store.add(&told_as("f", Kind::File(1), 0o6666));
    send(&store, file, 1, answer.unwrap(), |_, into| {
        into.fill(1);
        Ok(())
    })
    .unwrap();
    assert_eq!(publish(&store), []);
    assert_eq!(store.end(), []);
    let mask = umask();
    assert_eq!(mode_of(&inside), 0o750, "the served folder itself");
    assert_eq!(mode_of(&inside.join("d")), 0o1777 & !mask);
    assert_eq!(mode_of(&inside.join("f")), 0o666 & !mask);

    // The user's own destination is not opened to others either.
    let store = open(&inside);
    store.add(&told_as("", Kind::Folder, 0o777)).1.unwrap();
    store.add(&told_as("own", Kind::Folder, 0o1777)).1.unwrap();
    assert_eq!(store.end(), []);
    assert_eq!(mode_of(&inside), 0o755);
    assert_eq!(mode_of(&inside.join("own")), 0o1777, "as asked for");
}

/// The mode of a file is not changed by who may not read it.
#[test]
fn who_may_only_write_changes_no_modes() {
    let (_place, inside, _) = places();
    let path = inside.join("f");
    fs::write(&path, b"x").unwrap();
    let time = std::time::UNIX_EPOCH + std::time::Duration::from_nanos(1_000_000_007);
    fs::File::open(&path).unwrap().set_modified(time).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
    let root = Root::beneath(&inside).unwrap().restricted(false, true);
    let here = StoreSpec {
        destination: b"/".to_vec(),
        ..into(&inside)
    };
    let store = Store::open(&root, here).unwrap();
    store.add(&told("f", Kind::File(1))).1.unwrap();
    let mode = fs::metadata(&path).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
}

/// Bits that new files do not get.
fn umask() -> u32 {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let mask = status.lines().find_map(|line| line.strip_prefix("Umask:"));
    u32::from_str_radix(mask.unwrap().trim(), 8).unwrap()
}
