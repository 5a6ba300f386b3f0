//! Servers that go away and come back, files that change, calls that are cancelled.

use std::cell::Cell;
use std::fs;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use copy_protocol::remote::{FailureKind, Listed};
use files::Root;
use nix::mount::{MsFlags, mount};
use nix::sched::{CloneFlags, unshare};
use transfer::far::Keys;

use super::common::{GO_ON, Server, kind, name, noise, options, part, read, store, token, whole};
use remote_files::RemoteError;

#[test]
fn a_server_that_comes_back_is_asked_again() {
    let folder = tempfile::tempdir().unwrap();
    let bytes = noise(3_000_000, 9);
    fs::write(folder.path().join("f"), &bytes).unwrap();
    let token = token("test");
    let start = |port| {
        let root = Root::beneath(folder.path()).unwrap();
        Server::with(root, Keys::One(token.clone()), token.clone(), port)
    };
    let mut server = start(None);
    let port = server.port;
    let files = super::common::open(port, &token, options()).unwrap();
    let is_over = AtomicBool::new(false);
    thread::scope(|scope| {
        let reader = scope.spawn(|| {
            let mut count = 0;
            while !is_over.load(Ordering::Relaxed) {
                let ranges: Vec<_> = (0..20).map(|_| whole("f")).collect();
                for got in files.read_many(&ranges, GO_ON).unwrap() {
                    assert!(got.unwrap().bytes == bytes);
                }
                count += 1;
            }
            count
        });
        for _ in 0..4 {
            thread::sleep(Duration::from_millis(300));
            drop(server);
            server = start(Some(port));
        }
        is_over.store(true, Ordering::Relaxed);
        assert!(reader.join().unwrap() > 0);
    });
}

#[test]
fn a_server_that_stays_away_is_an_error_and_a_new_one_helps() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("f"), b"x").unwrap();
    let token = token("test");
    let start = |port| {
        let root = Root::beneath(folder.path()).unwrap();
        Server::with(root, Keys::One(token.clone()), token.clone(), port)
    };
    let server = start(None);
    let port = server.port;
    let mut options = options();
    options.patience = units::Span::from_secs(1);
    let files = super::common::open(port, &token, options).unwrap();
    drop(server);
    let error = files.info(&name("f"), GO_ON).unwrap_err();
    assert!(matches!(error, RemoteError::Lost { .. }), "{error:?}");
    let _server = start(Some(port));
    assert_eq!(files.info(&name("f"), GO_ON).unwrap().identity.size, 1);
}

#[test]
fn a_file_that_changes_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().join("f");
    fs::write(&place, noise(1_000_000, 3)).unwrap();
    let server = Server::start(folder.path());
    let files = server.files();
    let first = read(&files, part("f", 0, Some(10))).unwrap();
    let mut range = part("f", 10, Some(20));
    range.expected = Some(first.identity);
    assert_eq!(
        files.read(range.clone(), GO_ON).unwrap().identity,
        first.identity
    );
    // Of the same size, as an editor or a copy replaces it.
    fs::write(folder.path().join("new"), noise(1_000_000, 4)).unwrap();
    fs::rename(folder.path().join("new"), &place).unwrap();
    assert_eq!(kind(files.read(range, GO_ON)), FailureKind::Changed);
    assert_ne!(read(&files, whole("f")).unwrap().identity, first.identity);
}

/// What is read is of one version, or an error: never a mixture.
#[test]
fn versions_are_never_mixed() {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().join("f");
    let size = 2_000_000;
    fs::write(&place, vec![0; size]).unwrap();
    let server = Server::start(folder.path());
    let files = server.files();
    let is_over = AtomicBool::new(false);
    let (whole_ones, refused) = thread::scope(|scope| {
        scope.spawn(|| {
            let mut version = 0u8;
            while !is_over.load(Ordering::Relaxed) {
                version = version.wrapping_add(1);
                fs::write(folder.path().join("new"), vec![version; size]).unwrap();
                fs::rename(folder.path().join("new"), &place).unwrap();
                thread::sleep(Duration::from_millis(3));
            }
        });
        let (mut whole_ones, mut refused) = (0, 0);
        for _ in 0..150 {
            match read(&files, whole("f")) {
                Ok(got) => {
                    assert_eq!(got.bytes.len(), size);
                    assert!(got.bytes.iter().all(|byte| *byte == got.bytes[0]));
                    whole_ones += 1;
                }
                Err(error) => {
                    assert_eq!(error.kind(), Some(FailureKind::Changed), "{error:?}");
                    refused += 1;
                }
            }
        }
        is_over.store(true, Ordering::Relaxed);
        (whole_ones, refused)
    });
    println!("{whole_ones} whole, {refused} refused");
}

#[test]
fn a_call_ends_soon_after_it_is_cancelled() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("f"), vec![7; 30_000_000]).unwrap();
    let server = Server::start(folder.path());
    let files = server.files();
    let calls = Cell::new(0);
    let ranges: Vec<_> = (0..100).map(|_| whole("f")).collect();
    let stop = || {
        calls.set(calls.get() + 1);
        calls.get() > 3
    };
    let began = Instant::now();
    let error = files.read_many(&ranges, &stop).unwrap_err();
    assert!(matches!(error, RemoteError::Cancelled), "{error:?}");
    assert!(
        began.elapsed() < Duration::from_secs(20),
        "3 GB were asked for"
    );
    assert_eq!(read(&files, part("f", 5, Some(9))).unwrap().bytes, [7; 4]);
}

/// The far end waits for a slow caller, and other calls go on.
#[test]
fn a_listing_waits_for_its_caller_and_holds_up_no_other() {
    let folder = tempfile::tempdir().unwrap();
    for number in 0..3_000 {
        if number % 100 == 0 {
            fs::create_dir(folder.path().join(format!("{}", number / 100))).unwrap();
        }
        fs::write(
            folder.path().join(format!("{}/{number}", number / 100)),
            b"",
        )
        .unwrap();
    }
    let server = Server::start(folder.path());
    let files = server.files();
    let mut count = 0;
    let mut each = |batch: Vec<Listed>| {
        count += batch.len();
        // From within: on other connections.
        files.info(&name("0/7"), GO_ON).map(drop)
    };
    files.list(&name(""), true, &mut each, GO_ON).unwrap();
    assert_eq!(count, 3_030);
    // One that is not taken to its end leaves nothing behind.
    let mut first = |_: Vec<Listed>| Err(RemoteError::Cancelled);
    files.list(&name(""), true, &mut first, GO_ON).unwrap_err();
    files.info(&name("0/7"), GO_ON).unwrap();
}

#[test]
fn a_full_disk_is_told_and_harms_nothing() {
    if !testkit::can_emulate() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    // In a mount namespace of this thread and those that it starts.
    let test = || {
        unshare(CloneFlags::CLONE_NEWNS | CloneFlags::CLONE_FS).unwrap();
        let private = MsFlags::MS_REC | MsFlags::MS_PRIVATE;
        mount(None::<&str>, "/", None::<&str>, private, None::<&str>).unwrap();
        full_disk(folder.path());
    };
    thread::scope(|scope| scope.spawn(test).join().unwrap());
}

fn full_disk(place: &Path) {
    let limits = Some("size=64k,nr_inodes=4");
    mount(Some("none"), place, Some("tmpfs"), MsFlags::empty(), limits).unwrap();
    let server = Server::start(place);
    let files = server.files();
    store(&files, "f", b"old").unwrap();
    for path in ["f", "new"] {
        let full = store(&files, path, &noise(100_000, 1));
        assert_eq!(kind(full), FailureKind::DiskFull);
    }
    assert_eq!(fs::read(place.join("f")).unwrap(), b"old");
    assert_eq!(fs::read_dir(place).unwrap().count(), 1);
    fs::remove_file(place.join("f")).unwrap();
    let made: Vec<_> = (0..6)
        .map(|at| files.make_folder(&name(&format!("d{at}")), false, GO_ON))
        .collect();
    let full = made.into_iter().find_map(Result::err).unwrap();
    assert_eq!(full.kind(), Some(FailureKind::DiskFull), "{full:?}");
    assert!(files.info(&name("d0"), GO_ON).unwrap().is_folder());
}

/// The far end of the test below: this program once more, as a process of its own.
#[test]
fn server_process() {
    let Some(folder) = std::env::var_os("TRUNKLINE_TEST_SERVES") else {
        return;
    };
    let token: copy_protocol::Token = std::env::var("TRUNKLINE_TEST_TOKEN")
        .unwrap()
        .parse()
        .unwrap();
    let root = Root::beneath(Path::new(&folder)).unwrap();
    let server = Server::with(root, Keys::One(token.clone()), token, None);
    fs::write(Path::new(&folder).join("port"), server.port.to_string()).unwrap();
    thread::sleep(Duration::from_secs(120));
}

#[test]
fn a_killed_server_ends_a_read_with_an_error() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("f"), vec![3; 50_000_000]).unwrap();
    let token = token("test");
    let (mut process, port) = super::common::start_server_process(folder.path(), &token);
    let mut options = options();
    options.patience = units::Span::from_secs(1);
    let files = super::common::open(port, &token, options).unwrap();
    let ranges: Vec<_> = (0..200).map(|_| whole("f")).collect();
    let error = thread::scope(|scope| {
        let reader = scope.spawn(|| files.read_many(&ranges, GO_ON));
        // 10 GB are asked for, so it is within.
        thread::sleep(Duration::from_millis(300));
        process.kill().unwrap();
        process.wait().unwrap();
        reader.join().unwrap().unwrap_err()
    });
    assert!(matches!(error, RemoteError::Lost { .. }), "{error:?}");
}

/// One of the connections takes requests and delivers nothing: what was asked of it is asked of
/// others, long before it counts as lost.
#[test]
fn a_connection_that_hangs_holds_up_no_read() {
    let folder = tempfile::tempdir().unwrap();
    let bytes = noise(8_000_000, 2);
    fs::write(folder.path().join("f"), &bytes).unwrap();
    let server = Server::start(folder.path());
    let proxy = TcpListener::bind((testkit::loopback(), 0)).unwrap();
    let at = proxy.local_addr().unwrap();
    let (port, far) = (at.port(), server.port);
    let hangs = Arc::new(AtomicBool::new(false));
    let is_hanging = Arc::clone(&hangs);
    thread::spawn(move || {
        for (number, near) in proxy.incoming().enumerate() {
            let (near, hangs) = (near.unwrap(), Arc::clone(&is_hanging));
            let far = TcpStream::connect((at.ip(), far)).unwrap();
            let (from_near, to_near) = (near.try_clone().unwrap(), near);
            let (from_far, to_far) = (far.try_clone().unwrap(), far);
            thread::spawn(move || pass(from_near, to_far, &|| false));
            let stops = move || number == 2 && hangs.load(Ordering::Relaxed);
            thread::spawn(move || pass(from_far, to_near, &stops));
        }
    });
    let options = remote_files::RemoteOptions {
        streams: observe::StreamCount::new(4).ok(),
        ..Default::default()
    };
    let files = super::common::open(port, &server.token, options).unwrap();
    // All connections are there and in use.
    for _ in 0..50 {
        read(&files, whole("f")).unwrap();
        if files.connections() == 4 {
            break;
        }
    }
    assert_eq!(files.connections(), 4);
    hangs.store(true, Ordering::Relaxed);
    let began = Instant::now();
    assert!(read(&files, whole("f")).unwrap().bytes == bytes);
    let took = began.elapsed();
    assert!(
        took < Duration::from_secs(20),
        "{took:?}, and 60 s until it counts as lost"
    );
}

/// Until the end, or until it stops; it then hangs.
fn pass(mut from: TcpStream, mut to: TcpStream, stops: &dyn Fn() -> bool) {
    let mut buffer = [0; 1 << 14];
    while let Ok(got @ 1..) = from.read(&mut buffer) {
        while stops() {
            thread::sleep(Duration::from_millis(100));
        }
        if to.write_all(&buffer[..got]).is_err() {
            return;
        }
    }
}
