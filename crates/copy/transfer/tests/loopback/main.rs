//! Whole copies over the loopback device, both ends in one process.

mod delta;
mod follow;
mod interrupted;
mod meddled;
mod multipath;
mod pairs;
mod parts;
mod sparse;
mod together;

use std::fs;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};

use copy_net::{AcceptLimits, Listener, new_secret};
use copy_protocol::{
    Attributes, Connect, CopyDirection, CopyEvent, CopyOptions, CopySpec, Credentials, FarHost,
    Filter, NearEnd, Outcome, Patience, Place, ProblemKind, Token,
};
use files::source::{Found, Source, SourceSpec};
use files::store::{Piece, Store, StoreSpec};
use files::{PieceHasher, Root};
use observe::Transport;
use transfer::far::{FarEnd, FarEvent, Keys};
use transfer::{CopyControl, CopyError, CopyObserver, copy};
use units::Span;

/// Everything is kept.
const ATTRIBUTES: Attributes = Attributes {
    permissions: true,
    times: true,
    links: true,
    kept: copy_protocol::Kept::NOTHING,
};

fn spec(direction: CopyDirection, near: &Path, server: &Server, far: &str) -> CopySpec {
    CopySpec {
        direction,
        near: NearEnd::Here(vec![near.to_owned()]),
        far: Place {
            host: FarHost::Server {
                address: units::Address::new(testkit::loopback().to_string(), server.port),
                credentials: Credentials(server.token.text()),
            },
            paths: vec![far.into()],
        },
        options: CopyOptions {
            recursive: true,
            ..CopyOptions::default()
        },
        connect: Connect::ToFar(None),
        transport: Transport::Tcp,
        pairs: Vec::new(),
        all_addresses: false,
        patience: Patience::once_there(Span::from_secs(20)),
    }
}

/// A far end that serves one folder until it is dropped.
struct Server {
    port: u16,
    token: Token,
    stop: Arc<AtomicBool>,
    conversations_stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Server {
    fn start(root: &Path) -> Self {
        let token = Token {
            name: "test".to_owned().try_into().unwrap(),
            secret: new_secret().unwrap(),
        };
        Server::start_with(root, token, None)
    }

    fn start_with(root: &Path, token: Token, port: Option<u16>) -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        Server::start_until(root, token, port, stop)
    }

    /// One that opens conversations only to end them.
    fn start_stopped(root: &Path, token: Token) -> Self {
        let stop = Arc::new(AtomicBool::new(true));
        Server::start_until(root, token, None, stop)
    }

    /// * `conversations_stop`: ends all conversations.
    fn start_until(
        root: &Path,
        token: Token,
        port: Option<u16>,
        conversations_stop: Arc<AtomicBool>,
    ) -> Self {
        let listener = Listener::bind(port.map(|port| port..=port)).unwrap();
        let port = listener.port();
        let stop = Arc::new(AtomicBool::new(false));
        let log = |event: &FarEvent| eprintln!("far: {event:?}");
        let far = FarEnd::new(
            Keys::One(token.clone()),
            Root::beneath(root).unwrap(),
            Arc::clone(&conversations_stop),
            Box::new(log),
        );
        let is_stopped = Arc::clone(&stop);
        let thread = thread::spawn(move || {
            let handler: Arc<dyn copy_net::CopyHandler> = Arc::new(far);
            listener.run(AcceptLimits::default(), handler, &|| {
                is_stopped.load(Ordering::Relaxed)
            });
        });
        Server {
            port,
            token,
            stop,
            conversations_stop,
            thread: Some(thread),
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        self.conversations_stop.store(true, Ordering::Relaxed);
        let thread = self.thread.take().unwrap();
        if !thread::panicking() {
            thread.join().unwrap();
        }
    }
}

/// Writes events to the test's output.
struct Log(Vec<CopyEvent>);

impl CopyObserver for Log {
    fn on_event(&mut self, event: &CopyEvent) {
        eprintln!("near: {event:?}");
        self.0.push(event.clone());
    }
}

fn run(direction: CopyDirection, near: &Path, root: &Path, far: &str) -> Outcome {
    run_as(&|_| (), direction, near, root, far).unwrap()
}

fn run_as(
    change: &dyn Fn(&mut CopySpec),
    direction: CopyDirection,
    near: &Path,
    root: &Path,
    far: &str,
) -> Result<Outcome, CopyError> {
    let server = Server::start(root);
    let mut spec = spec(direction, near, &server, far);
    change(&mut spec);
    copy(&spec, &CopyControl::default(), &mut Log(Vec::new()))
}

/// Bytes that do not repeat.
fn noise(length: usize) -> Vec<u8> {
    let mut state = 0x9E37_79B9_7F4A_7C15_u64;
    let mut bytes = Vec::with_capacity(length + 8);
    while bytes.len() < length {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        bytes.extend_from_slice(&state.to_ne_bytes());
    }
    bytes.truncate(length);
    bytes
}

fn tree(folder: &Path) -> Vec<(&'static str, Vec<u8>)> {
    let files = vec![
        ("empty", vec![]),
        ("one byte", vec![7]),
        ("sub/deeper/three MB", noise(3 << 20)),
        ("sub/4KiB", noise(4096)),
        ("sub/\u{e9}t\u{e9}\nnew line", noise(100_000)),
        ("odd length", noise(5_000_001)),
    ];
    for (name, bytes) in &files {
        let path = folder.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }
    fs::create_dir(folder.join("nothing in it")).unwrap();
    std::os::unix::fs::symlink("sub/4KiB", folder.join("link")).unwrap();
    files
}

fn assert_tree(folder: &Path, files: &[(&str, Vec<u8>)]) {
    for (name, bytes) in files {
        let got = fs::read(folder.join(name)).unwrap();
        assert!(
            got == *bytes,
            "{name} differs: {} of {} bytes",
            got.len(),
            bytes.len()
        );
    }
    assert!(folder.join("nothing in it").is_dir());
    assert_eq!(
        fs::read_link(folder.join("link")).unwrap(),
        Path::new("sub/4KiB")
    );
    let hidden = fs::read_dir(folder).unwrap().filter(|entry| {
        let name = entry.as_ref().unwrap().file_name();
        name.to_string_lossy().starts_with(".")
    });
    assert_eq!(hidden.count(), 0, "temporary files are left");
}

#[test]
fn one_file_goes_there() {
    let (near, far) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let bytes = noise(10_000_000);
    let source = near.path().join("a");
    fs::write(&source, &bytes).unwrap();
    let outcome = run(CopyDirection::Put, &source, far.path(), "b");
    assert!(fs::read(far.path().join("b")).unwrap() == bytes);
    assert_eq!(outcome.files, 1);
    assert_eq!(outcome.sent.get(), 10_000_000);
}

#[test]
fn one_file_comes_here() {
    let (near, far) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let bytes = noise(10_000_000);
    fs::write(far.path().join("b"), &bytes).unwrap();
    let target = near.path().join("a");
    let outcome = run(CopyDirection::Get, &target, far.path(), "b");
    assert!(fs::read(target).unwrap() == bytes);
    assert_eq!(outcome.files, 1);
    assert!(outcome.sent.get() >= 10_000_000, "{}", outcome.sent);
    assert!(outcome.on_wire > outcome.sent, "headers too");
}

#[test]
fn a_tree_goes_there_and_only_once() {
    let (near, far) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let files = tree(near.path());
    // A closing slash copies what is in the folder.
    let source = near.path().join("");
    let outcome = run(CopyDirection::Put, &source, far.path(), "t");
    assert_tree(&far.path().join("t"), &files);
    assert_eq!((outcome.files, outcome.links), (6, 1));
    let again = run(CopyDirection::Put, &source, far.path(), "t");
    assert_eq!((again.files, again.skipped), (0, 6));
    assert_eq!(again.sent.get(), 0);
}

/// In a new folder nothing is compared, and the second time everything is.
#[test]
fn contents_are_compared_with_those_of_a_new_folder_and_an_old_one() {
    for direction in [CopyDirection::Put, CopyDirection::Get] {
        let (near, far) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let (source, target) = match direction {
            CopyDirection::Put => (near.path(), far.path().join("t")),
            CopyDirection::Get => (far.path(), near.path().join("t")),
        };
        let files = tree(source);
        let server = Server::start(far.path());
        let mut spec = match direction {
            CopyDirection::Put => spec(direction, &near.path().join(""), &server, "t"),
            CopyDirection::Get => spec(direction, &target, &server, "./"),
        };
        spec.options.filter = Filter::Content;
        for expected in [(6, 1, 0), (0, 0, 6)] {
            let control = CopyControl::default();
            let outcome = copy(&spec, &control, &mut ()).unwrap();
            let (files, links) = (outcome.files, outcome.links);
            assert_eq!((files, links, outcome.skipped), expected);
        }
        assert_tree(&target, &files);
    }
}

#[test]
fn a_tree_comes_here() {
    let (near, far) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let files = tree(far.path());
    let target = near.path().join("t");
    let outcome = run(CopyDirection::Get, &target, far.path(), "./");
    assert_tree(&target, &files);
    assert_eq!(outcome.files, 6);
}

#[test]
fn a_tree_goes_there_in_the_clear() {
    let (near, far) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let files = tree(near.path());
    let plain = |spec: &mut CopySpec| spec.options.plain = true;
    let source = near.path().join("");
    run_as(&plain, CopyDirection::Put, &source, far.path(), "t").unwrap();
    assert_tree(&far.path().join("t"), &files);
}

#[test]
fn a_wrong_token_is_refused() {
    let (near, far) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    fs::write(near.path().join("a"), b"a").unwrap();
    let other = Token {
        name: "test".to_owned().try_into().unwrap(),
        secret: new_secret().unwrap(),
    };
    let wrong = |spec: &mut CopySpec| {
        let FarHost::Server { credentials, .. } = &mut spec.far.host else {
            unreachable!()
        };
        *credentials = Credentials(other.text());
    };
    let result = run_as(
        &wrong,
        CopyDirection::Put,
        &near.path().join("a"),
        far.path(),
        "a",
    );
    let Err(CopyError::Problem { kind, .. }) = result else {
        panic!("{result:?}")
    };
    assert_eq!(kind, copy_protocol::ProblemKind::Permission);
    assert!(!far.path().join("a").exists());
}

/// Calls something at the first progress that fulfils a condition.
struct At<'a> {
    log: Log,
    when: &'a dyn Fn(&CopyEvent) -> bool,
    what: Option<Box<dyn FnOnce() + 'a>>,
}

impl CopyObserver for At<'_> {
    fn on_event(&mut self, event: &CopyEvent) {
        self.log.on_event(event);
        if (self.when)(event)
            && let Some(what) = self.what.take()
        {
            what();
        }
    }
}

fn has_moved(event: &CopyEvent) -> bool {
    matches!(event, CopyEvent::Progress(progress) if progress.done.get() > 4_000_000)
}

fn slowly(spec: &mut CopySpec) {
    spec.options.rate_max = Some("64Mbit/s".parse().unwrap());
    spec.options.streams = Some(observe::StreamCount::new(3).unwrap());
}

#[test]
fn a_folder_that_cannot_be_made_is_told_once() {
    for direction in [CopyDirection::Put, CopyDirection::Get] {
        let (near, far) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let (from, to) = match direction {
            CopyDirection::Put => (near.path(), far.path()),
            CopyDirection::Get => (far.path(), near.path()),
        };
        fs::create_dir_all(from.join("d/e")).unwrap();
        fs::write(from.join("d/e/x"), b"x").unwrap();
        fs::create_dir(to.join("t")).unwrap();
        fs::write(to.join("t/d"), b"in the way").unwrap();
        let (here, there) = match direction {
            CopyDirection::Put => (from.join("d"), "t"),
            CopyDirection::Get => (to.join("t"), "d"),
        };
        let outcome = run(direction, &here, far.path(), there);
        let failed = outcome.failed.iter().map(|it| (it.name.as_str(), it.below));
        let failed: Vec<(&str, u64)> = failed.collect();
        assert_eq!(failed, [("d/", 2)], "{outcome:?}");
        assert_eq!((outcome.files, outcome.folders), (0, 0), "{outcome:?}");
    }
}

#[test]
fn a_dry_run_writes_nothing() {
    let (near, far) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    tree(near.path());
    let server = Server::start(far.path());
    let mut spec = spec(CopyDirection::Put, &near.path().join(""), &server, "t");
    spec.options.dry_run = true;
    let mut log = Log(Vec::new());
    let outcome = copy(&spec, &CopyControl::default(), &mut log).unwrap();
    let would = |event: &&CopyEvent| matches!(event, CopyEvent::WouldCopy { .. });
    // Six files, three folders, a link.
    assert_eq!(log.0.iter().filter(would).count(), 10);
    assert_eq!(outcome.sent.get(), 0);
    assert_eq!(fs::read_dir(far.path()).unwrap().count(), 0);
}

#[test]
fn a_rate_limit_is_kept() {
    let (near, far) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    fs::write(near.path().join("a"), noise(8_000_000)).unwrap();
    let slow = |spec: &mut CopySpec| slowly(spec);
    let source = near.path().join("a");
    let outcome = run_as(&slow, CopyDirection::Put, &source, far.path(), "a").unwrap();
    // 64 Mbit at 64 Mbit/s, less what a bucket saves: nothing can be faster, and a slow machine may
    // be slower.
    assert!(outcome.took > Span::from_millis(900), "{outcome:?}");
}

#[test]
fn what_can_be_compressed_takes_less_of_a_slow_path() {
    let (near, far) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let text: Vec<u8> = (0..6_000_000u32).map(|at| (at / 64) as u8).collect();
    let source = near.path().join("a");
    fs::write(&source, &text).unwrap();
    let slow = |spec: &mut CopySpec| {
        slowly(spec);
        spec.options.compress = true;
    };
    let outcome = run_as(&slow, CopyDirection::Put, &source, far.path(), "a").unwrap();
    assert!(fs::read(far.path().join("a")).unwrap() == text);
    assert_eq!(outcome.files, 1);
    assert!(
        outcome.on_wire <= outcome.sent + units::Bytes::from_kib(64),
        "{outcome:?}"
    );
}

#[test]
fn a_far_end_that_answers_and_goes_away_each_time_is_given_up() {
    let (near, far) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let source = near.path().join("a");
    fs::write(&source, noise(100_000)).unwrap();
    let token = Token {
        name: "test".to_owned().try_into().unwrap(),
        secret: new_secret().unwrap(),
    };
    // It opens conversations and ends them at once.
    let server = Server::start_stopped(far.path(), token);
    let mut spec = spec(CopyDirection::Put, &source, &server, "b");
    spec.patience = Patience::once_there(Span::from_secs(1));
    let end = copy(&spec, &CopyControl::default(), &mut Log(Vec::new()));
    assert!(matches!(end, Err(CopyError::Lost { .. })), "{end:?}");
}

#[test]
fn where_nothing_can_be_copied_the_request_is_wrong() {
    let (near, far) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let missing = near.path().join("missing");
    let kind_of = |direction, recursive, near: &Path, name| {
        let change = |spec: &mut CopySpec| spec.options.recursive = recursive;
        match run_as(&change, direction, near, far.path(), name) {
            Err(CopyError::Problem { kind, .. }) => kind,
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(
        kind_of(CopyDirection::Put, true, &missing, "b"),
        ProblemKind::NotFound
    );
    assert_eq!(
        kind_of(CopyDirection::Get, true, &missing, "b"),
        ProblemKind::NotFound
    );
    let folder = near.path();
    assert_eq!(
        kind_of(CopyDirection::Put, false, folder, "b"),
        ProblemKind::Request
    );
    assert_eq!(
        kind_of(CopyDirection::Get, false, &missing, "."),
        ProblemKind::Request
    );
    // Nothing leaves the folder that is served.
    assert_eq!(
        kind_of(CopyDirection::Get, true, &missing, "../b"),
        ProblemKind::Permission
    );
}
