//! Small files that are stored whole.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use copy_protocol::remote::{FailureKind, FileAttributes, STORE_MAX};
use copy_protocol::{Attributes, CopyBounds, Entry, Filter, Kind, Name};
use files::Root;
use files::store::{Store, StoreSpec};
use transfer::far::Keys;
use units::{Rate, Span};

use super::common::{
    GO_ON, Random, Server, kind, names_in, new_seed, noise, only_new, open, options, read,
    small_file, start_server_process, store, token, whole,
};
use remote_files::{RemoteError, SmallFile};

fn mode_of(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o7777
}

#[test]
fn a_file_is_stored_as_a_program_or_a_copy_writes_it() {
    let folder = tempfile::tempdir().unwrap();
    let place = |path: &str| folder.path().join(path);
    fs::write(place("usual"), b"").unwrap();
    let usual = mode_of(&place("usual"));
    let server = Server::start(folder.path());
    let files = server.files();
    store(&files, "new/deep/f", b"one").unwrap();
    assert_eq!(fs::read(place("new/deep/f")).unwrap(), b"one");
    assert_eq!(mode_of(&place("new/deep/f")), usual);
    // What was there keeps its mode, and a link gives way.
    fs::set_permissions(place("new/deep/f"), fs::Permissions::from_mode(0o640)).unwrap();
    store(&files, "new/deep/f", b"other").unwrap();
    assert_eq!(mode_of(&place("new/deep/f")), 0o640);
    symlink("usual", place("link")).unwrap();
    store(&files, "link", b"no link").unwrap();
    assert!(!fs::symlink_metadata(place("link")).unwrap().is_symlink());
    assert_eq!(fs::read(place("usual")).unwrap(), b"");
    // Like its source.
    let attributes = FileAttributes {
        mode: 0o6640,
        modified_nanoseconds: 1_234_567_890_123_456_789,
    };
    let like = SmallFile {
        attributes: Some(attributes),
        ..small_file("like", b"x")
    };
    files.store(like, GO_ON).unwrap();
    assert_eq!(mode_of(&place("like")), 0o640 & usual);
    let read = read(&files, whole("like")).unwrap();
    assert_eq!(read.mode, mode_of(&place("like")));
    assert_eq!(
        read.identity.modified_nanoseconds,
        attributes.modified_nanoseconds
    );
    assert_eq!(names_in(folder.path()), ["like", "link", "new", "usual"]);
    assert_eq!(names_in(&place("new/deep")), ["f"]);
    let told = server.events.lock().unwrap().join("\n");
    assert!(told.contains("stored new/deep/f"), "{told}");
}

#[test]
fn what_cannot_be_stored_is_told_in_the_words_of_the_system() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("d")).unwrap();
    fs::write(folder.path().join("f"), b"old").unwrap();
    nix::unistd::mkfifo(&folder.path().join("pipe"), nix::sys::stat::Mode::S_IRWXU).unwrap();
    let server = Server::start(folder.path());
    let files = server.files();
    assert_eq!(kind(store(&files, "d", b"x")), FailureKind::IsAFolder);
    assert_eq!(kind(store(&files, "f/x", b"x")), FailureKind::NotAFolder);
    assert_eq!(kind(store(&files, "f/x/y", b"x")), FailureKind::NotAFolder);
    assert_eq!(kind(store(&files, "", b"x")), FailureKind::Request);
    assert_eq!(kind(store(&files, "pipe", b"x")), FailureKind::Request);
    let only_new = |path: &str| files.store(only_new(path, b"x"), GO_ON);
    assert_eq!(kind(only_new("f")), FailureKind::Exists);
    assert_eq!(kind(only_new("d")), FailureKind::IsAFolder);
    only_new("new").unwrap();
    assert_eq!(kind(only_new("new")), FailureKind::Exists);
    let long = vec![0; STORE_MAX as usize + 1];
    let error = store(&files, "long", &long).unwrap_err();
    assert!(error.to_string().contains("1048577 bytes"), "{error}");
    assert_eq!(fs::read(folder.path().join("f")).unwrap(), b"old");
    assert_eq!(names_in(folder.path()), ["d", "f", "new", "pipe"]);
    assert_eq!(names_in(&folder.path().join("d")), [""; 0]);
}

#[test]
fn files_of_any_length_up_to_the_bound_come_whole() {
    let seed = new_seed();
    let mut random = Random(seed);
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(folder.path());
    let files = server.files();
    let bound = STORE_MAX as usize;
    for round in 0..60 {
        // Around the bounds of a buffer, a chunk and a file.
        let near = *random.one_of(&[0, 4096, 16 << 10, 64 << 10, 128 << 10, bound / 2, bound]);
        let length = (near + random.below(200) as usize).saturating_sub(100);
        let bytes = noise(length, random.next());
        let path = format!("{}/{}", random.below(3), random.below(3));
        let done = store(&files, &path, &bytes);
        let case = format!("seed {seed}, round {round}: {path} of {length}");
        match length <= bound {
            true => {
                done.expect(&case);
                assert!(
                    fs::read(folder.path().join(&path)).unwrap() == bytes,
                    "{case}"
                );
                assert!(read(&files, whole(&path)).unwrap().bytes == bytes, "{case}");
            }
            false => assert_eq!(kind(done), FailureKind::Request, "{case}"),
        }
    }
}

/// Several threads on the same names: each sees one that was stored whole.
#[test]
fn many_at_once_store_the_same_names() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(folder.path());
    let files = server.files();
    thread::scope(|scope| {
        for writer in 0..6u8 {
            let files = &files;
            scope.spawn(move || {
                for round in 0..25 {
                    let bytes = vec![writer; 1 + 40_000 * usize::from(writer)];
                    let path = format!("deep/{}", round % 3);
                    store(files, &path, &bytes).unwrap();
                    let got = read(files, whole(&path)).unwrap().bytes;
                    let of = got[0];
                    assert_eq!(got.len(), 1 + 40_000 * usize::from(of));
                    assert!(got.iter().all(|byte| *byte == of));
                }
            });
        }
    });
    assert_eq!(names_in(&folder.path().join("deep")), ["0", "1", "2"]);
}

/// One of several that store a new file has it.
#[test]
fn one_of_many_stores_what_is_to_be_new() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(folder.path());
    let taken = AtomicU64::new(0);
    thread::scope(|scope| {
        for _ in 0..8 {
            let (server, taken) = (&server, &taken);
            scope.spawn(move || {
                let files = server.files();
                match files.store(only_new("lock", b"mine"), GO_ON) {
                    Ok(()) => taken.fetch_add(1, Ordering::Relaxed),
                    Err(error) => {
                        assert_eq!(error.kind(), Some(FailureKind::Exists), "{error:?}");
                        0
                    }
                };
            });
        }
    });
    assert_eq!(taken.into_inner(), 1);
}

/// A copy that writes the file has it; when that is gone, so is what kept others away.
#[test]
fn a_file_that_a_copy_is_writing_is_busy() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(folder.path());
    let files = server.files();
    let root = Root::beneath(folder.path()).unwrap();
    let spec = StoreSpec {
        destination: b"f".to_vec(),
        into_folder: false,
        attributes: Attributes {
            permissions: false,
            times: false,
            links: false,
            kept: copy_protocol::Kept::NOTHING,
        },
        filter: Filter::All,
        verify: false,
        dry_run: false,
        claim_timeout: Duration::ZERO,
    };
    let copy = Store::open(&root, spec).unwrap();
    let entry = Entry {
        name: Name::default(),
        kind: Kind::File(3),
        mode: 0o644,
        modified_nanoseconds: 0,
        version: 0,
        is_sparse: false,
        digest: None,
    };
    copy.add(&entry).1.unwrap();
    let busy = store(&files, "f", b"new").unwrap_err();
    assert_eq!(busy.kind(), Some(FailureKind::Busy), "{busy:?}");
    assert!(
        busy.to_string().contains("another copy is writing"),
        "{busy}"
    );
    drop(copy);
    store(&files, "f", b"new").unwrap();
    assert_eq!(names_in(folder.path()), ["f"]);
}

/// The bound on the rate of copies holds for files that are stored: what comes late is no failure
/// of a slow machine.
#[test]
fn a_server_that_bounds_the_rate_takes_files_no_faster() {
    let folder = tempfile::tempdir().unwrap();
    let root = Root::beneath(folder.path()).unwrap();
    let token = token("test");
    let bounds = CopyBounds {
        rate: Some(Rate::from_bits_per_second(8_000_000)),
        ..CopyBounds::default()
    };
    let keys = Keys::One(token.clone());
    let server = Server::bounded(root, keys, token, None, bounds);
    let files = server.files();
    let began = Instant::now();
    for number in 0..3 {
        store(&files, &number.to_string(), &noise(1 << 20, number + 1)).unwrap();
    }
    // 3 MiB are 3.1 s; what a second may carry can come at once.
    assert!(
        began.elapsed() > Duration::from_secs(2),
        "{:?}",
        began.elapsed()
    );
}

#[test]
fn a_call_that_is_cancelled_leaves_the_old_or_the_new_file() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(folder.path());
    let files = server.files();
    let versions: Vec<_> = (1..21).map(|seed| noise(900_000, seed)).collect();
    for version in &versions {
        let done = files.store(small_file("f", version), &|| true);
        assert!(
            matches!(done, Ok(()) | Err(RemoteError::Cancelled)),
            "{done:?}"
        );
    }
    // Behind all of them.
    store(&files, "end", b"").unwrap();
    let got = fs::read(folder.path().join("f")).unwrap();
    assert!(versions.contains(&got));
}

/// As many as the connections take are on their way at once; each has an outcome of its own.
#[test]
fn many_files_are_stored_by_one_call() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("7")).unwrap();
    let server = Server::start(folder.path());
    let content = |number: usize| noise(number * 997 % 120_000, number as u64 + 1);
    let mut all: Vec<_> = (0..200)
        .map(|number| small_file(&number.to_string(), &content(number)))
        .collect();
    all[9].content = vec![0; STORE_MAX as usize + 1].into();
    let outcomes = server.files().store_many(&all, GO_ON).unwrap();
    for (number, outcome) in outcomes.into_iter().enumerate() {
        match number {
            7 => assert_eq!(kind(outcome), FailureKind::IsAFolder),
            9 => assert_eq!(kind(outcome), FailureKind::Request),
            _ => {
                outcome.unwrap();
                let got = fs::read(folder.path().join(number.to_string())).unwrap();
                assert!(got == content(number), "{number}");
            }
        }
    }
    assert_eq!(names_in(folder.path()).len(), 199);
}

/// The server is killed at random moments while versions of a file are stored, one after the other:
/// the name always stands for one of them, and never for one before the last that was answered.
#[test]
fn a_server_that_is_killed_leaves_the_old_or_the_new_file() {
    let seed = new_seed();
    let mut random = Random(seed);
    let folder = tempfile::tempdir().unwrap();
    let (token, mut known, mut version) = (token("test"), 0, 0);
    for round in 0..6 {
        let (mut process, port) = start_server_process(folder.path(), &token);
        let mut options = options();
        options.patience = Span::from_secs(1);
        let files = open(port, &token, options).unwrap();
        let pause = Duration::from_micros(random.below(150_000));
        let killer = thread::spawn(move || {
            thread::sleep(pause);
            process.kill().unwrap();
            process.wait().unwrap();
        });
        loop {
            version += 1;
            if store(&files, "f", &content_of(version)).is_err() {
                break;
            }
            known = version;
        }
        killer.join().unwrap();
        let got = fs::read(folder.path().join("f")).unwrap_or_default();
        let is_one = (known..=version).any(|one| content_of(one) == got);
        assert!(is_one, "seed {seed}, round {round}: {} bytes", got.len());
    }
    // What the last one left is taken over by the next.
    let _ = fs::remove_file(folder.path().join("port"));
    let server = Server::start(folder.path());
    store(&server.files(), "f", b"end").unwrap();
    assert_eq!(names_in(folder.path()), ["f"]);
}

/// Version 0 is that there is no file. No part of one version is in another.
fn content_of(version: u64) -> Vec<u8> {
    match version {
        0 => Vec::new(),
        _ => noise(300_000 + 1_000 * (version % 500) as usize, version),
    }
}
