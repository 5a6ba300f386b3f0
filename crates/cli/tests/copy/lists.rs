//! Lists of checksums that a copy writes.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

use crate::assert_told;
use crate::common::{complaint, run};
use crate::selection::{done, files};
use crate::server::Server;

/// Checks the files below a folder against a list, with this program.
fn verified(list: &Path, folder: &Path) {
    let output = run(&["verify", list.to_str().unwrap(), folder.to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(0), "{}", complaint(&output));
}

fn lines(list: &Path) -> usize {
    let text = fs::read(list).unwrap();
    text.iter().filter(|byte| **byte == b'\n').count()
}

#[test]
fn lists_of_what_was_put_hold_at_the_other_end() {
    let server = Server::start(&[]);
    let near = server.near();
    files(&near, &["run7/a", "run7/deep/b c", "run7/new\nline"]);
    fs::write(near.join("run7/empty"), "").unwrap();
    symlink("a", near.join("run7/l")).unwrap();
    let place = server.place("");
    let words = [
        "-r",
        "--digest",
        "sha256=SUMS.sha256",
        "--digest",
        "adler32=SUMS.adler32",
        "run7",
        &place,
    ];
    let told = done(&server, &words);
    let told = told.replace("\n  ", " ");
    assert!(told.contains("SUMS.sha256, SUMS.adler32"), "{told}");
    let list = near.join("SUMS.sha256");
    for list in [&list, &near.join("SUMS.adler32")] {
        assert_eq!(lines(list), 4, "a link has none");
        verified(list, &server.root());
    }
    let mut check = Command::new("sha256sum");
    check.args(["-c", "--strict"]).arg(&list);
    let output = check.current_dir(server.root()).output().unwrap();
    assert!(output.status.success(), "{}", complaint(&output));

    // What was there already is listed with what is new.
    let first = fs::read(&list).unwrap();
    fs::remove_file(&list).unwrap();
    done(&server, &words);
    assert_eq!(fs::read(&list).unwrap(), first);
    files(&near, &["run7/more"]);
    done(&server, &words);
    assert_eq!(lines(&list), 5);
    verified(&list, &server.root());
}

#[test]
fn events_tell_what_the_lists_have() {
    let server = Server::start(&[]);
    files(&server.near(), &["run7/a", "run7/deep/b c"]);
    let place = server.place("");
    let (md5, crc) = ("md5=l.md5", "crc32c=l.crc");
    let words = [
        "-r", "--json", "--digest", md5, "--digest", crc, "run7", &place,
    ];
    // The second time, all is there already.
    for round in 0..2 {
        let output = server.copy(&words);
        assert!(output.status.success(), "{}", complaint(&output));
        let text = String::from_utf8(output.stdout).unwrap();
        let (mut told, mut count) = (Vec::new(), 0);
        for line in text.lines() {
            let event: Value = serde_json::from_str(line).unwrap();
            if event["event"] == "checksum" {
                count += 1;
                let word = |key: &str| event[key].as_str().unwrap().to_owned();
                if event["algorithm"] == "md5" {
                    told.push(format!("{}  {}\n", word("digest"), word("name")));
                }
            }
        }
        told.sort_by_key(|line| line[34..].to_owned());
        let list = fs::read_to_string(server.near().join("l.md5")).unwrap();
        assert_eq!(told.concat(), list, "round {round}");
        assert_eq!(count, 4, "two checksums of two files");
    }
}

#[test]
fn lists_of_what_was_got_are_of_the_files_here() {
    let server = Server::start(&[]);
    files(&server.root(), &["run7/a", "run7/deep/b"]);
    let near = server.near();
    let from = server.place("run7/");
    done(&server, &["-r", "--digest", "md5=got.md5", &from, "got"]);
    assert_eq!(lines(&near.join("got.md5")), 2);
    verified(&near.join("got.md5"), &near.join("got"));

    // One file that gets another name is listed under that.
    let from = server.place("run7/a");
    done(&server, &["--digest", "sha1=one.sha1", &from, "renamed"]);
    let list = fs::read_to_string(near.join("one.sha1")).unwrap();
    assert!(list.ends_with("  renamed\n"), "{list}");
    verified(&near.join("one.sha1"), &near);
}

#[test]
fn what_cannot_be_listed_is_refused_at_the_start() {
    let cases: [(&[&str], &str); 5] = [
        (
            &["-n", "--digest", "md5=l", "a", "h:b"],
            "a dry run copies nothing",
        ),
        (
            &["--digest", "md5=l", "g:a", "h:b"],
            "between two other hosts has none here",
        ),
        (
            &["--digest", "md5=l", "--digest", "md5=m", "a", "h:b"],
            "`md5=l` and `md5=m`",
        ),
        (
            &["--digest", "md5", "a", "h:b"],
            "`md5` names no file for the list; write `md5=FILE`",
        ),
        (&["--digest", "rot13=l", "a", "h:b"], "`rot13` is none of"),
    ];
    for (words, part) in cases {
        assert_told(&[&["copy"], words].concat(), 2, &[part]);
    }
    let server = Server::start(&[]);
    files(&server.near(), &["a"]);
    let words = ["--digest", "md5=none/l", "a", &server.place("")];
    let output = server.copy(&words);
    let text = complaint(&output);
    assert!(
        !output.status.success() && text.contains("none/l"),
        "{text}"
    );
    assert!(!server.root().join("a").exists(), "refused before the copy");
}
