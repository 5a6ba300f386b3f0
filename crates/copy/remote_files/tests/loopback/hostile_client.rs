//! Token holders that send bytes of their own.

use std::fs;
use std::io::{Read, Write};
use std::os::unix::fs::symlink;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use copy_net::{Channel, DialedRemote, Dialer};
use copy_protocol::remote::{
    Answer, Ask, FailureKind, NewFile, REQUEST_MAX, Removing, Request, STORE_MAX, Told,
};
use copy_protocol::{Frames, Rights};
use units::Span;

use super::common::{GO_ON, Random, Server, name, names, names_in, noise, read, store, whole};

/// A connection without any rules.
struct Raw {
    channel: Channel,
    frames: Frames,
    input: Vec<u8>,
}

impl Raw {
    fn open(server: &Server) -> Raw {
        let place = units::Address::new(testkit::loopback().to_string(), server.port);
        let DialedRemote { channel, .. } =
            Dialer::default().remote(&[place], &server.token).unwrap();
        channel.set_timeout(Some(Span::from_secs(20))).unwrap();
        let mut raw = Raw {
            channel,
            frames: Frames::messages(),
            input: Vec::new(),
        };
        let welcome = raw.answer().expect("a welcome");
        assert!(matches!(welcome.told, Told::Welcome(_)));
        raw
    }

    fn send(&mut self, bytes: &[u8]) {
        // The server may have closed by now.
        let _ = self.channel.write_all(bytes);
    }

    fn ask(&mut self, id: u32, ask: Ask) {
        self.send(&Request { id, ask }.encode().unwrap());
    }

    /// The next answer; `None` when the server has closed.
    fn answer(&mut self) -> Option<Answer> {
        loop {
            let mut rest = self.input.as_slice();
            let next = self.frames.next_message(&mut rest).unwrap();
            self.input = rest.to_vec();
            if next.is_some() {
                return next;
            }
            let mut buffer = [0; 1 << 16];
            match self.channel.read(&mut buffer) {
                Ok(0) | Err(_) => return None,
                Ok(got) => self.input.extend_from_slice(&buffer[..got]),
            }
        }
    }

    fn kind(&mut self) -> Option<FailureKind> {
        match self.answer()?.told {
            Told::Failed(failure) => Some(failure.kind),
            told => panic!("{told:?}"),
        }
    }
}

fn info(path: &str) -> Ask {
    Ask::Info { path: name(path) }
}

fn range(offset: u64, length: u32) -> Ask {
    Ask::Read {
        path: name("f"),
        offset,
        length,
        expected: None,
    }
}

/// A file that is announced so, whatever follows.
fn new_file(path: &str, length: u32, content: &[u8]) -> Ask {
    Ask::Store(NewFile {
        path: name(path),
        length,
        digest: *blake3::hash(content).as_bytes(),
        attributes: None,
        replaces: true,
    })
}

fn served() -> (tempfile::TempDir, Server) {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("f"), noise(300_000, 5)).unwrap();
    let server = Server::start(folder.path());
    (folder, server)
}

#[test]
fn wrong_numbers_and_ranges_end_the_session_with_a_word() {
    let (_folder, server) = served();
    let cases = [
        (0, info("f")),
        (2, info("f")),
        (u32::MAX, info("f")),
        (1, range(0, u32::MAX)),
        (1, range(0, (16 << 20) + 1)),
        (1, range(u64::MAX, 1)),
        (1, range(u64::MAX, u32::MAX)),
        (1, range(i64::MAX as u64, 1)),
        (1, range(1 << 63, 0)),
        (1, new_file("new", STORE_MAX + 1, b"")),
        (1, new_file("new", u32::MAX, b"")),
        (2, new_file("new", 0, b"")),
    ];
    for (id, ask) in cases {
        let mut raw = Raw::open(&server);
        let case = format!("{id} {ask:?}");
        raw.ask(id, ask);
        assert_eq!(raw.kind(), Some(FailureKind::Protocol), "{case}");
        assert!(raw.answer().is_none(), "{case}");
    }
    // The same number twice.
    let mut raw = Raw::open(&server);
    raw.ask(1, info("f"));
    raw.ask(1, info("f"));
    assert!(matches!(raw.answer().unwrap().told, Told::Info(_)));
    assert_eq!(raw.kind(), Some(FailureKind::Protocol));
    assert!(raw.answer().is_none());
}

/// Names cannot be encoded by our own types, so they are patched into a frame.
#[test]
fn names_that_lead_elsewhere_are_no_requests() {
    let (folder, server) = served();
    for ask in [info("xxxxxxxx"), new_file("xxxxxxxx", 0, b"")] {
        let frame = Request { id: 1, ask }.encode().unwrap();
        let at = frame
            .windows(8)
            .position(|bytes| bytes == b"xxxxxxxx")
            .unwrap();
        for wrong in [
            b"../beside".get(..8).unwrap(),
            b"..//xxxx",
            b"/etc/pas",
            b"a/../../",
            b"xxx\0xxxx",
            b"./././xx",
            b"a//b//cc",
            b"aaaaaaa/",
        ] {
            let mut bytes = frame.clone();
            bytes[at..at + 8].copy_from_slice(wrong);
            let mut raw = Raw::open(&server);
            raw.send(&bytes);
            assert_eq!(raw.kind(), Some(FailureKind::Protocol), "{wrong:?}");
            assert!(raw.answer().is_none(), "{wrong:?}");
        }
    }
    assert_eq!(names_in(folder.path()), ["f"]);
}

/// Waits until what a connection that is gone has begun is gone, too.
fn settled(folder: &Path) -> Vec<String> {
    for _ in 0..500 {
        if names_in(folder)
            .iter()
            .all(|name| !name.contains("trunkline"))
        {
            break;
        }
        thread::sleep(std::time::Duration::from_millis(20));
    }
    names_in(folder)
}

#[test]
fn content_that_is_not_what_was_announced_is_stored_nowhere() {
    let (folder, server) = served();
    let bytes = noise(100_000, 6);
    // Of the same length, and of another digest.
    let mut raw = Raw::open(&server);
    raw.ask(1, new_file("new/f", 100_000, b"other"));
    raw.send(&bytes);
    assert_eq!(raw.kind(), Some(FailureKind::Protocol));
    assert!(raw.answer().is_none());
    // Less than was announced, and then nothing.
    let mut raw = Raw::open(&server);
    raw.ask(1, new_file("short", 100_001, &bytes));
    raw.send(&bytes);
    drop(raw);
    // More than was announced: what is too much is no request.
    let mut raw = Raw::open(&server);
    raw.ask(1, new_file("long", 99_999, &bytes[..99_999]));
    raw.send(&bytes);
    raw.send(&[0xFF; 8]);
    assert_eq!(raw.answer().unwrap().told, Told::Done);
    assert_eq!(raw.kind(), Some(FailureKind::Protocol));
    assert_eq!(
        fs::read(folder.path().join("long")).unwrap(),
        bytes[..99_999]
    );
    assert_eq!(settled(folder.path()), ["f", "long", "new"]);
    assert_eq!(settled(&folder.path().join("new")), [""; 0]);
}

/// What is refused is read, so that the next request is understood, and kept nowhere.
#[test]
fn content_of_a_file_that_may_not_be_stored_is_passed_over() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("f"), b"old").unwrap();
    let root = files::Root::beneath(folder.path()).unwrap();
    let rights = Rights {
        read: true,
        write: false,
    };
    let server = Server::with_rights(root, rights);
    let mut raw = Raw::open(&server);
    let bytes = noise(STORE_MAX as usize, 8);
    let before = memory();
    for id in 1..=60 {
        raw.ask(id, new_file("f", STORE_MAX, &bytes));
        raw.send(&bytes);
        assert_eq!(raw.kind(), Some(FailureKind::Rights));
    }
    let after = memory();
    assert!(after < before + (16 << 20), "{before} to {after} bytes");
    raw.ask(61, info("f"));
    assert!(matches!(raw.answer().unwrap().told, Told::Info(_)));
    assert_eq!(names_in(folder.path()), ["f"]);
    assert_eq!(fs::read(folder.path().join("f")).unwrap(), b"old");
}

/// Many that begin to store and bring nothing more: each holds its name, some memory and no other.
#[test]
fn files_that_are_begun_and_not_brought_keep_no_other_waiting() {
    let (folder, server) = served();
    let before = memory();
    let begun: Vec<Raw> = (0..40)
        .map(|number| {
            let mut raw = Raw::open(&server);
            raw.ask(1, new_file(&format!("begun{number}"), STORE_MAX, b""));
            raw.send(&noise(200_000, number + 1));
            raw
        })
        .collect();
    let files = server.files();
    store(&files, "other", b"content").unwrap();
    assert_eq!(read(&files, whole("other")).unwrap().bytes, b"content");
    let after = memory();
    assert!(after < before + (64 << 20), "{before} to {after} bytes");
    drop(begun);
    assert_eq!(settled(folder.path()), ["f", "other"]);
}

#[test]
fn a_frame_with_content_in_it_is_too_long() {
    let (_folder, server) = served();
    let mut raw = Raw::open(&server);
    raw.send(&(REQUEST_MAX + 1).to_be_bytes());
    assert_eq!(raw.kind(), Some(FailureKind::Protocol));
}

#[test]
fn noise_is_refused_and_others_are_served() {
    let (_folder, server) = served();
    let files = server.files();
    for seed in 1..60 {
        let mut random = Random(seed);
        let mut bytes = noise(1 + random.below(300) as usize, seed);
        match seed % 3 {
            // Announces more than may be.
            0 => bytes.splice(..0, [0, 0, 0x40, 1]),
            // Announces a little, and has it.
            1 => bytes.splice(..0, (bytes.len() as u32).to_be_bytes()),
            _ => bytes.splice(..0, [0xFF; 4]),
        };
        let mut raw = Raw::open(&server);
        raw.send(&bytes);
        assert_eq!(raw.kind(), Some(FailureKind::Protocol), "seed {seed}");
        assert!(raw.answer().is_none(), "seed {seed}");
    }
    assert_eq!(read(&files, whole("f")).unwrap().bytes.len(), 300_000);
}

#[test]
fn thousands_of_open_requests_take_no_memory_and_all_are_answered() {
    let (_folder, server) = served();
    let mut raw = Raw::open(&server);
    let before = memory();
    let count = 20_000;
    let mut asked = 0;
    let mut answered = 0;
    // Both ways at once would take a thread: the requests that fit into buffers, then answers.
    while answered < count {
        while asked < count && asked - answered < 500 {
            asked += 1;
            raw.ask(asked, range(0, 0));
        }
        let answer = raw.answer().unwrap();
        answered += 1;
        assert_eq!(answer.id, answered);
        assert!(matches!(answer.told, Told::Data { is_last: true, .. }));
    }
    let after = memory();
    assert!(after < before + (64 << 20), "{before} to {after} bytes");
}

/// A client that takes no answers stops the server's thread, and its memory stays.
#[test]
fn answers_that_are_not_taken_wait_in_the_network() {
    let (folder, server) = served();
    fs::write(folder.path().join("f"), vec![7; 8 << 20]).unwrap();
    let mut held = Vec::new();
    let before = memory();
    for _ in 0..8 {
        let mut raw = Raw::open(&server);
        for id in 1..=40 {
            raw.ask(id, range(0, 8 << 20));
        }
        held.push(raw);
    }
    thread::sleep(std::time::Duration::from_millis(500));
    let after = memory();
    assert!(
        after < before + (64 << 20),
        "2.5 GB were asked for: {before} to {after}"
    );
    drop(held);
    assert_eq!(
        server
            .files()
            .info(&name("f"), GO_ON)
            .unwrap()
            .identity
            .size,
        8 << 20
    );
}

/// Of this process, which has both ends.
fn memory() -> u64 {
    let status = fs::read_to_string("/proc/self/statm").unwrap();
    let pages: u64 = status.split(' ').nth(1).unwrap().parse().unwrap();
    pages * 4096
}

#[test]
fn links_never_lead_out_however_often_they_are_swapped() {
    let folder = tempfile::tempdir().unwrap();
    let (inside, outside) = (folder.path().join("in"), folder.path().join("out"));
    fs::create_dir_all(inside.join("real")).unwrap();
    fs::create_dir_all(&outside).unwrap();
    fs::write(inside.join("real/f"), b"inside").unwrap();
    fs::write(outside.join("f"), b"outside").unwrap();
    fs::write(outside.join("keep"), b"outside").unwrap();
    let server = Server::start(&inside);
    let files = server.files();
    let is_over = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| swap(&inside, &outside, &is_over));
        for _ in 0..1_500 {
            if let Ok(got) = read(&files, whole("x/f")) {
                assert_eq!(got.bytes, b"inside");
            }
            if let Ok(info) = files.info(&name("x/f"), GO_ON) {
                assert_eq!(info.identity.size, 6);
            }
            let mut each = |batch: Vec<copy_protocol::remote::Listed>| {
                for entry in batch {
                    assert_ne!(entry.name.as_bytes(), b"keep");
                    assert_ne!(entry.name.as_bytes(), b"x/keep");
                }
                Ok(())
            };
            let _ = files.list(&name("x"), true, &mut each, GO_ON);
            let _ = files.list(&name(""), true, &mut each, GO_ON);
            let _ = files.make_folder(&name("x/made"), false, GO_ON);
            let _ = store(&files, "x/stored", b"inside");
            let _ = store(&files, "x/new/stored", b"inside");
            let _ = files.remove(&name("x/keep"), Removing::File, GO_ON);
            let _ = files.remove(&name("x"), Removing::Tree, GO_ON);
            let _ = files.rename(&name("real/f"), &name("x/moved"), true, GO_ON);
            let _ = fs::write(inside.join("real/f"), b"inside");
        }
        is_over.store(true, Ordering::Relaxed);
    });
    let left = fs::read_dir(&outside).unwrap().count();
    assert_eq!(left, 2, "nothing came, nothing went");
    assert_eq!(fs::read(outside.join("keep")).unwrap(), b"outside");
}

/// Makes `x` a folder, a link out by an absolute and a relative name, and a link to a folder
/// inside.
fn swap(inside: &Path, outside: &Path, is_over: &AtomicBool) {
    let x = inside.join("x");
    let mut turn = 0;
    while !is_over.load(Ordering::Relaxed) {
        let fresh = inside.join("fresh");
        let _ = match turn % 4 {
            0 => fs::create_dir(&fresh),
            1 => symlink(outside, &fresh),
            2 => symlink("../out", &fresh),
            _ => symlink("real", &fresh),
        };
        let _ = fs::rename(&fresh, &x);
        if fs::symlink_metadata(&fresh).is_ok() {
            let _ = fs::remove_file(&x).or_else(|_| fs::remove_dir_all(&x));
            let _ = fs::rename(&fresh, &x);
        }
        turn += 1;
    }
}

#[test]
fn temporary_files_of_copies_are_out_of_reach() {
    let (folder, server) = served();
    fs::write(folder.path().join(".f.trunkline-part"), b"half").unwrap();
    let files = server.files();
    assert_eq!(names(&files, "", true), ["f"]);
    let part = name(".f.trunkline-part");
    let is_refused = |result: Result<(), remote_files::RemoteError>| {
        assert_eq!(result.unwrap_err().kind(), Some(FailureKind::Request));
    };
    is_refused(files.info(&part, GO_ON).map(drop));
    is_refused(read(&files, whole(".f.trunkline-part")).map(drop));
    is_refused(files.remove(&part, Removing::File, GO_ON));
    is_refused(files.rename(&name("f"), &part, true, GO_ON));
    is_refused(files.rename(&part, &name("g"), true, GO_ON));
    is_refused(files.make_folder(&name(".x.trunkline-journal/y"), true, GO_ON));
    is_refused(store(&files, ".f.trunkline-part", b""));
    is_refused(store(&files, ".x.trunkline-link/y", b""));
}
