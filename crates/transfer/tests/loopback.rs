//! Whole copies over the loopback device.

use std::fs;
use std::net::TcpListener;
use std::path::Path;
use std::thread::{self, JoinHandle};

use observe::Window;
use transfer::{Connect, CopySpec, Credentials, FarHost, Outcome, Place, Steering, copy, far};
use tune::Objective;
use units::Span;
use wire::copying::{Attributes, Filter, Way};

fn spec(way: Way, near: &Path, port: u16, far: &str) -> CopySpec {
    CopySpec {
        way,
        near: vec![near.to_owned()],
        far: Place {
            host: FarHost::Server {
                address: format!("127.0.0.1:{port}").parse().unwrap(),
                credentials: Credentials(String::new()),
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
        plain: true,
        verify: false,
        dry_run: false,
        compress: false,
        objective: Objective::Max,
        streams: None,
        remembered: None,
        window: Window::Auto,
        congestion: None,
        rate_max: None,
        gentle: None,
        connect: Connect::ToFar(None),
        patience: Span::from_secs(5),
    }
}

fn server(root: &Path) -> (u16, JoinHandle<std::io::Result<()>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let root = root.to_owned();
    (
        port,
        thread::spawn(move || far::serve_once(&listener, &root)),
    )
}

fn run(way: Way, near: &Path, root: &Path, far: &str) -> Outcome {
    let (port, server) = server(root);
    let outcome = copy(&spec(way, near, port, far), &Steering::default(), &mut ()).unwrap();
    server.join().unwrap().unwrap();
    outcome
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
    let outcome = run(Way::Put, near.path(), far.path(), "t");
    assert_tree(&far.path().join("t"), &files);
    assert_eq!((outcome.files, outcome.links), (6, 1));
    let again = run(Way::Put, near.path(), far.path(), "t");
    assert_eq!((again.files, again.skipped), (0, 6));
    assert_eq!(again.sent.get(), 0);
}

#[test]
fn a_tree_comes_here() {
    let (near, far) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let files = tree(far.path());
    let target = near.path().join("t");
    let outcome = run(Way::Get, &target, far.path(), "");
    assert_tree(&target, &files);
    assert_eq!(outcome.files, 6);
}
