//! Access to files over the loopback device, both ends in one process.

mod common;
mod hostile_client;
mod hostile_server;
mod lost;
mod model;
mod rights;
mod stored;

use std::fs;
use std::os::unix::fs::symlink;

use common::{GO_ON, Server, kind, name, names, noise, part, read, whole};
use copy_protocol::remote::{FailureKind, FileKind, Removing};

#[test]
fn a_file_is_looked_at_and_read() {
    let folder = tempfile::tempdir().unwrap();
    let bytes = noise(5_000_001, 1);
    fs::create_dir(folder.path().join("d")).unwrap();
    fs::write(folder.path().join("d/f"), &bytes).unwrap();
    symlink("d/f", folder.path().join("l")).unwrap();
    let server = Server::start(folder.path());
    let files = server.files();
    let info = files.info(&name("d/f"), GO_ON).unwrap();
    assert_eq!((info.kind, info.identity.size), (FileKind::File, 5_000_001));
    let link = files.info(&name("l"), GO_ON).unwrap();
    assert_eq!(link.link.as_deref(), Some(&b"d/f"[..]));
    assert_eq!(link.identity, info.identity);
    assert!(read(&files, whole("d/f")).unwrap().bytes == bytes);
    assert!(read(&files, whole("l")).unwrap().bytes == bytes);
    for (start, end) in [(0, 1), (4_999_999, 6_000_000), (7, 7), (262_143, 786_433)] {
        let got = read(&files, part("d/f", start, Some(end))).unwrap().bytes;
        let end = (end as usize).min(bytes.len());
        assert!(got == bytes[start as usize..end], "{start}..{end}");
    }
    assert!(
        read(&files, part("d/f", u64::MAX / 2, None))
            .unwrap()
            .bytes
            .is_empty()
    );
    assert_eq!(names(&files, "", false), ["d", "l"]);
    assert_eq!(names(&files, "", true), ["d", "d/f", "l"]);
}

#[test]
fn names_are_made_changed_and_removed() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(folder.path());
    let files = server.files();
    let make = |path: &str, parents| files.make_folder(&name(path), parents, GO_ON);
    assert_eq!(kind(make("a/b", false)), FailureKind::NotFound);
    make("a/b/c", true).unwrap();
    make("a/b/c", true).unwrap();
    fs::write(folder.path().join("a/f"), b"x").unwrap();
    assert_eq!(kind(make("a/f", false)), FailureKind::Exists);
    assert_eq!(kind(make("a/f/g", true)), FailureKind::NotAFolder);
    let remove = |path: &str, what| files.remove(&name(path), what, GO_ON);
    assert_eq!(
        kind(remove("a/b", Removing::EmptyFolder)),
        FailureKind::NotEmpty
    );
    assert_eq!(kind(remove("a", Removing::File)), FailureKind::IsAFolder);
    assert_eq!(
        kind(remove("a/f", Removing::EmptyFolder)),
        FailureKind::NotAFolder
    );
    assert_eq!(kind(remove("", Removing::Tree)), FailureKind::Request);
    let rename =
        |from: &str, to: &str, replaces| files.rename(&name(from), &name(to), replaces, GO_ON);
    rename("a/f", "a/g", false).unwrap();
    fs::write(folder.path().join("a/h"), b"y").unwrap();
    assert_eq!(kind(rename("a/g", "a/h", false)), FailureKind::Exists);
    rename("a/g", "a/h", true).unwrap();
    assert_eq!(fs::read(folder.path().join("a/h")).unwrap(), b"x");
    assert_eq!(kind(rename("a", "a/b/c/d", true)), FailureKind::Request);
    remove("a", Removing::Tree).unwrap();
    assert_eq!(names(&files, "", true), [""; 0]);
    assert_eq!(kind(remove("a", Removing::Tree)), FailureKind::NotFound);
    let told = server.events.lock().unwrap().join("\n");
    for what in [
        "made folder a/b/c",
        "renamed a/f to a/g",
        "removed a\"",
        "not done: cannot",
    ] {
        assert!(told.contains(what), "{what} in {told}");
    }
}
