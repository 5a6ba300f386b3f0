//! What of the sources is copied: rules, lists, and files whose content is there.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, SystemTime};

use crate::common::{complaint, trunkline};
use crate::server::Server;

/// Makes files of these names, each with its name in it.
pub(super) fn files(folder: &Path, names: &[&str]) {
    for name in names {
        let path = folder.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, name).unwrap();
    }
}

/// Names of all files below, in order.
pub(super) fn found(folder: &Path) -> Vec<String> {
    let mut names = Vec::new();
    let mut folders = vec![PathBuf::new()];
    while let Some(below) = folders.pop() {
        let Ok(entries) = fs::read_dir(folder.join(&below)) else {
            continue;
        };
        for entry in entries {
            let entry = entry.unwrap();
            let name = below.join(entry.file_name());
            match entry.file_type().unwrap().is_dir() {
                true => folders.push(name),
                false => names.push(name.to_str().unwrap().to_owned()),
            }
        }
    }
    names.sort();
    names
}

/// The copy succeeded; what it said.
pub(super) fn done(server: &Server, words: &[&str]) -> String {
    let output = server.copy(words);
    let text = complaint(&output) + &String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(0), "{words:?}\n{text}");
    text
}

#[test]
fn rules_leave_out_what_fits_in_both_directions() {
    let server = Server::start(&[]);
    let names = [
        "a.root",
        "a.tmp",
        "raw/b.root",
        "raw/deep/c.tmp",
        "x/raw/d",
        "x/.e",
    ];
    files(&server.near().join("run7"), &names);
    let put = [
        "-r",
        "--exclude",
        "*.tmp",
        "--exclude",
        "/run7/raw/",
        "run7",
        &server.place(""),
    ];
    done(&server, &put);
    assert_eq!(
        found(&server.root()),
        ["run7/a.root", "run7/x/.e", "run7/x/raw/d"]
    );
    let all = ["-r", "run7/", &server.place("all")];
    done(&server, &all);
    let get = [
        "-r",
        "--include",
        "*/",
        "--include",
        "*.root",
        "--exclude",
        "*",
        &server.place("all/"),
        "got",
    ];
    done(&server, &get);
    assert_eq!(found(&server.near().join("got")), ["a.root", "raw/b.root"]);
}

#[test]
fn a_list_names_what_is_copied_in_both_directions() {
    let server = Server::start(&[]);
    let names = ["a", "b/c", "b/d", "e/f/g", "e/h", "#i"];
    files(&server.near().join("run7"), &names);
    let list = server.near().join("list");
    fs::write(&list, "# some\nb/c\ne/f\n./#i\n").unwrap();
    done(
        &server,
        &["-r", "--files-from", "list", "run7", &server.place("some")],
    );
    assert_eq!(found(&server.root().join("some")), ["#i", "b/c", "e/f/g"]);
    done(&server, &["-r", "run7/", &server.place("all")]);
    let words = [
        "copy",
        "-0",
        "--files-from",
        "-",
        &server.place("all"),
        "got",
    ];
    let mut command = trunkline(&words);
    command
        .env("TRUNKLINE_TOKEN", server.token())
        .current_dir(server.near());
    let mut copy = command
        .stdin(Stdio::piped())
        .stderr(Stdio::piped())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    copy.stdin
        .take()
        .unwrap()
        .write_all(b"a\0e/h\0missing\0")
        .unwrap();
    let output = copy.wait_with_output().unwrap();
    let text = complaint(&output);
    assert_eq!(output.status.code(), Some(1), "one name is missing: {text}");
    assert_eq!(found(&server.near().join("got")), ["a", "e/h"]);
}

#[test]
fn a_list_that_leads_elsewhere_or_is_empty_is_refused() {
    let server = Server::start(&[]);
    files(&server.near(), &["run7/a", "secret"]);
    for (list, part) in [
        ("../secret\n", "names nothing below"),
        ("\n#x\n", "lists no names"),
    ] {
        fs::write(server.near().join("list"), list).unwrap();
        let output = server.copy(&["--files-from", "list", "run7", &server.place("x")]);
        let text = complaint(&output);
        assert_eq!(output.status.code(), Some(2), "{text}");
        assert!(text.contains(part), "{text}");
    }
    assert!(found(&server.root()).is_empty());
}

fn set_time(file: &Path, seconds: u64) {
    let then = SystemTime::UNIX_EPOCH + Duration::from_secs(seconds);
    fs::File::open(file).unwrap().set_modified(then).unwrap();
}

#[test]
fn contents_are_compared_where_that_is_asked_for() {
    let server = Server::start(&[]);
    let (near, there) = (server.near().join("run7"), server.root().join("run7"));
    for (folder, b) in [(&near, "new"), (&there, "old")] {
        fs::create_dir_all(folder).unwrap();
        fs::write(folder.join("a"), "same").unwrap();
        fs::write(folder.join("b"), b).unwrap();
    }
    set_time(&near.join("a"), 1_000_000);
    set_time(&there.join("a"), 2_000_000);
    set_time(&near.join("b"), 3_000_000);
    set_time(&there.join("b"), 3_000_000);
    let place = server.place("");
    let by_time = done(&server, &["-rn", "run7", &place]);
    assert!(
        by_time.contains("run7/a ") && !by_time.contains("run7/b "),
        "{by_time}"
    );
    let compared = done(&server, &["-rv", "-c", "run7", &place]);
    assert!(
        compared.contains("run7/b ") && compared.contains("1 whole file among them"),
        "{compared}"
    );
    assert_eq!(fs::read_to_string(there.join("b")).unwrap(), "new");
    let time = |file: &Path| fs::metadata(file).unwrap().modified().unwrap();
    assert_eq!(
        time(&there.join("a")),
        time(&near.join("a")),
        "it gets the time of the source"
    );
    fs::write(near.join("b"), "xyz").unwrap();
    set_time(&near.join("b"), 3_000_000);
    done(&server, &["-rc", &server.place("run7/"), "run7"]);
    assert_eq!(
        fs::read_to_string(near.join("b")).unwrap(),
        "new",
        "a get compares too"
    );
}

#[test]
fn contents_are_not_compared_for_those_who_may_not_read() {
    let server = Server::start(&["--write-only"]);
    files(&server.near(), &["a"]);
    files(&server.root(), &["a"]);
    let output = server.copy(&["-c", "a", &server.place("a")]);
    let text = complaint(&output);
    assert_eq!(output.status.code(), Some(1), "{text}");
    assert!(
        text.contains("compared only for those who may read and write"),
        "{text}"
    );
}
