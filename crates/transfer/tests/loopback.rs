//! Whole copies over the loopback device, both ends in one process.

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};

use net::copying::{DoorLimits, Listener, new_secret};
use observe::Window;
use transfer::far::{FarEnd, FarEvent, Keys};
use transfer::{
    Connect, CopyError, CopyEvent, CopySpec, Credentials, FarHost, Onlooker, Outcome, Place, Root,
    Steering, copy,
};
use tune::online::OnlinePlan;
use units::Span;
use wire::copying::{Attributes, Filter, Token, Way};

fn spec(way: Way, near: &Path, server: &Server, far: &str) -> CopySpec {
    CopySpec {
        way,
        near: vec![near.to_owned()],
        far: Place {
            host: FarHost::Server {
                address: format!("127.0.0.1:{}", server.port).parse().unwrap(),
                credentials: Credentials(server.token.text()),
            },
            paths: vec![far.into()],
        },
        recursive: true,
        attributes: Attributes {
            permissions: true,
            times: true,
            links: true,
        },
        filter: Filter::Changed,
        plain: false,
        verify: false,
        dry_run: false,
        compress: false,
        objective: OnlinePlan::KNEE,
        streams: None,
        remembered: None,
        window: Window::Auto,
        congestion: None,
        rate_max: None,
        gentle: None,
        connect: Connect::ToFar(None),
        patience: Span::from_secs(20),
    }
}

/// A far end that serves one folder until it is dropped.
struct Server {
    port: u16,
    token: Token,
    stop: Arc<AtomicBool>,
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
        let listener = Listener::bind(port.map(|port| port..=port)).unwrap();
        let port = listener.port();
        let stop = Arc::new(AtomicBool::new(false));
        let log = |event: &FarEvent| eprintln!("far: {event:?}");
        let far = FarEnd::new(
            Keys::One(token.clone()),
            Root::beneath(root).unwrap(),
            Arc::clone(&stop),
            Box::new(log),
        );
        let is_stopped = Arc::clone(&stop);
        let thread = thread::spawn(move || {
            let handler = Arc::new(far);
            listener.run(DoorLimits::default(), handler, &|| {
                is_stopped.load(Ordering::Relaxed)
            });
        });
        Server {
            port,
            token,
            stop,
            thread: Some(thread),
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        let thread = self.thread.take().unwrap();
        if !thread::panicking() {
            thread.join().unwrap();
        }
    }
}

/// Writes events to the test's output.
struct Log(Vec<CopyEvent>);

impl Onlooker for Log {
    fn on_event(&mut self, event: &CopyEvent) {
        eprintln!("near: {event:?}");
        self.0.push(event.clone());
    }
}

fn run(way: Way, near: &Path, root: &Path, far: &str) -> Outcome {
    run_as(&|_| (), way, near, root, far).unwrap()
}

fn run_as(
    change: &dyn Fn(&mut CopySpec),
    way: Way,
    near: &Path,
    root: &Path,
    far: &str,
) -> Result<Outcome, CopyError> {
    let server = Server::start(root);
    let mut spec = spec(way, near, &server, far);
    change(&mut spec);
    copy(&spec, &Steering::default(), &mut Log(Vec::new()))
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
    let outcome = run(Way::Put, &source, far.path(), "b");
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
    let outcome = run(Way::Get, &target, far.path(), "b");
    assert!(fs::read(target).unwrap() == bytes);
    assert_eq!(outcome.files, 1);
}

#[test]
fn a_tree_goes_there_and_only_once() {
    let (near, far) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let files = tree(near.path());
    // A closing slash copies what is in the folder.
    let source = near.path().join("");
    let outcome = run(Way::Put, &source, far.path(), "t");
    assert_tree(&far.path().join("t"), &files);
    assert_eq!((outcome.files, outcome.links), (6, 1));
    let again = run(Way::Put, &source, far.path(), "t");
    assert_eq!((again.files, again.skipped), (0, 6));
    assert_eq!(again.sent.get(), 0);
}

#[test]
fn a_tree_comes_here() {
    let (near, far) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let files = tree(far.path());
    let target = near.path().join("t");
    let outcome = run(Way::Get, &target, far.path(), "./");
    assert_tree(&target, &files);
    assert_eq!(outcome.files, 6);
}

#[test]
fn a_tree_goes_there_in_the_clear() {
    let (near, far) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let files = tree(near.path());
    let plain = |spec: &mut CopySpec| spec.plain = true;
    let source = near.path().join("");
    run_as(&plain, Way::Put, &source, far.path(), "t").unwrap();
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
    let result = run_as(&wrong, Way::Put, &near.path().join("a"), far.path(), "a");
    let Err(CopyError::Problem { kind, .. }) = result else {
        panic!("{result:?}")
    };
    assert_eq!(kind, wire::copying::ProblemKind::Permission);
    assert!(!far.path().join("a").exists());
}
