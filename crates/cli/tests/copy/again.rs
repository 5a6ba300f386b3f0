//! Copies that wait: for another one that has their files, for a server that is not there yet.

use std::fs::{self, File};
use std::io::{BufRead, BufReader, Read};
use std::process::{Child, ChildStderr, Stdio};

use crate::common::{complaint, trunkline};
use crate::selection::{files, found};
use crate::server::Server;

/// A file of the destination as another copy holds it.
fn held(server: &Server, name: &str) -> File {
    let part = server.root().join(format!(".{name}.trunkline-part"));
    let part = File::create(part).unwrap();
    part.lock().unwrap();
    part
}

fn starts(server: &Server, words: &[&str]) -> Child {
    let mut copy = trunkline(&[&["copy", "--no-history"], words].concat());
    copy.env("TRUNKLINE_TOKEN", server.token());
    copy.current_dir(server.near()).stderr(Stdio::piped());
    copy.spawn().unwrap()
}

/// Waits until a copy says `part`.
fn says(copy: &mut Child, part: &str) -> BufReader<ChildStderr> {
    let (mut log, mut told) = (BufReader::new(copy.stderr.take().unwrap()), String::new());
    while !told.contains(part) {
        assert!(log.read_line(&mut told).unwrap() > 0, "{told}");
    }
    log
}

/// Waits until it ends well.
fn ends(mut copy: Child, mut log: BufReader<ChildStderr>) {
    let mut told = String::new();
    log.read_to_string(&mut told).unwrap();
    assert_eq!(copy.wait().unwrap().code(), Some(0), "{told}");
}

#[test]
fn files_that_another_copy_still_has_are_waited_for() {
    let server = Server::start(&[]);
    files(&server.near(), &["src/a", "src/b", "src/c"]);
    for name in ["a", "b"] {
        let other = held(&server, name);
        let mut copy = starts(&server, &["-r", "src/", &server.place("")]);
        let log = says(&mut copy, "waiting: another copy is writing");
        drop(other);
        ends(copy, log);
        assert_eq!(found(&server.root()), ["a", "b", "c"]);
        fs::remove_file(server.root().join("a")).unwrap();
        fs::remove_file(server.root().join("b")).unwrap();
    }
}

#[test]
fn a_copy_whose_file_another_one_keeps_is_not_finished() {
    let server = Server::start(&[]);
    files(&server.near(), &["src/a", "src/b", "src/c"]);
    let _other = held(&server, "b");
    let words = ["--json", "-r", "src/", &server.place("")];
    let mut copy = trunkline(&[&["copy", "--no-history"], &words[..]].concat());
    copy.env("TRUNKLINE_TOKEN", server.token());
    let output = copy.current_dir(server.near()).output().unwrap();
    let told = complaint(&output);
    assert_eq!(output.status.code(), Some(75), "{told}");
    assert!(
        told.contains("not finished: another copy is writing `b`"),
        "{told}"
    );
    let document = String::from_utf8(output.stdout).unwrap();
    assert!(
        document.lines().last().unwrap().contains("cut_because"),
        "{document}"
    );
    assert!(server.root().join("a").exists() && server.root().join("c").exists());
}

#[test]
fn a_server_that_is_not_there_yet_is_waited_for_where_that_was_asked_for() {
    let mut server = Server::start(&[]);
    files(&server.near(), &["a"]);
    server.kill();
    let mut copy = starts(&server, &["--patience", "60s", "a", &server.place("")]);
    let log = says(&mut copy, "refuses connections");
    server.restart();
    ends(copy, log);
    assert_eq!(found(&server.root()), ["a"]);
}
