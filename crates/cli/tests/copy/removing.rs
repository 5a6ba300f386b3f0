//! `--delete`: what goes, what stays, and who may ask for it.

use std::fs::{self, File};
use std::os::unix::fs::symlink;
use std::time::{Duration, SystemTime};

use crate::common::complaint;
use crate::selection::{done, files, found};
use crate::server::Server;

/// A folder here, and one there with more in it.
fn two(server: &Server) {
    files(&server.near().join("run7"), &["a", "d/b"]);
    let there = server.root().join("run7");
    files(
        &there,
        &[
            "a",
            "d/b",
            "d/old",
            "gone/x/y",
            "z.log",
            ".q.trunkline-part",
        ],
    );
    files(&server.root(), &["beside", "outside/kept"]);
    symlink("../outside", there.join("link")).unwrap();
}

#[test]
fn what_the_source_does_not_have_goes_and_nothing_else() {
    let server = Server::start(&[]);
    two(&server);
    let words = [
        "-r",
        "--delete",
        "--exclude",
        "*.log",
        "run7",
        &server.place(""),
    ];
    let dry = done(&server, &[&["-n"], &words[..]].concat());
    for name in ["run7/d/old", "run7/gone/", "run7/gone/x/y", "run7/link"] {
        assert!(
            dry.contains(&format!("{name}  would be removed")),
            "{name}: {dry}"
        );
    }
    assert!(!dry.contains("z.log") && !dry.contains("beside"), "{dry}");
    assert!(
        server.root().join("run7/gone/x/y").exists(),
        "a dry run removes nothing"
    );
    let text = done(&server, &words);
    assert!(text.contains("removed     5 names"), "{text}");
    let left = [
        "beside",
        "outside/kept",
        "run7/.q.trunkline-part",
        "run7/a",
        "run7/d/b",
        "run7/z.log",
    ];
    assert_eq!(found(&server.root()), left);
    assert!(!server.root().join("run7/gone").exists());
    let again = done(&server, &words);
    assert!(again.contains("removed     nothing"), "{again}");
}

#[test]
fn unfinished_files_of_others_are_named_and_go_with_the_flag_after_a_day() {
    let server = Server::start(&[]);
    files(&server.near(), &["run7/a"]);
    let names = [
        "run7/a",
        "run7/.new.trunkline-part",
        "run7/.old.trunkline-part",
        "run7/.old.trunkline-journal",
        "run7/.held.trunkline-part",
        "run7/gone/.old.trunkline-part",
    ];
    files(&server.root(), &names);
    let two_days = SystemTime::now() - Duration::from_secs(2 * 24 * 60 * 60);
    let old = names[2..]
        .iter()
        .map(|name| File::open(server.root().join(name)).unwrap());
    let old: Vec<File> = old.collect();
    for file in &old {
        file.set_modified(two_days).unwrap();
    }
    old[2].lock().unwrap();
    let words = ["-r", "run7", &server.place("")];
    let text = done(&server, &words).replace("\n  ", " ");
    assert!(text.contains("unfinished  2 of other copies"), "{text}");
    assert!(
        text.contains("run7/.new.trunkline-part, run7/.old.trunkline-part;"),
        "{text}"
    );
    assert_eq!(found(&server.root()).len(), names.len());
    let text = done(&server, &[&["--delete"], &words[..]].concat()).replace("\n  ", " ");
    assert!(text.contains("unfinished  1 of other copies"), "{text}");
    let left = [
        "run7/.held.trunkline-part",
        "run7/.new.trunkline-part",
        "run7/a",
    ];
    assert_eq!(found(&server.root()), left);
    assert!(!server.root().join("run7/gone").exists());
    // Out of the folder they are no failure.
    let text = done(&server, &["-r", &server.place("run7/"), "back"]);
    assert!(text.contains("unfinished  2 of other copies"), "{text}");
    assert_eq!(found(&server.near().join("back")), ["a"]);
}

#[test]
fn without_the_flag_nothing_goes() {
    let server = Server::start(&[]);
    two(&server);
    done(&server, &["-r", "run7", &server.place("")]);
    assert!(server.root().join("run7/gone/x/y").exists());
}

#[test]
fn a_get_removes_here() {
    let server = Server::start(&[]);
    files(&server.root(), &["run7/a"]);
    files(&server.near(), &["run7/a", "run7/old", "beside"]);
    done(&server, &["-r", "--delete", &server.place("run7"), "."]);
    assert_eq!(found(&server.near()), ["beside", "run7/a"]);
}

#[test]
fn nothing_goes_where_something_could_not_be_copied() {
    let server = Server::start(&[]);
    two(&server);
    // A name that no copy takes, so the source is not known as a whole.
    fs::create_dir(server.near().join("run7/.x.trunkline-part")).unwrap();
    let output = server.copy(&["-r", "--delete", "run7", &server.place("")]);
    let text = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(1), "{text}");
    assert!(
        text.contains("nothing, since not everything could be copied"),
        "{text}"
    );
    assert!(server.root().join("run7/gone/x/y").exists());
}

#[test]
fn who_may_not_read_and_write_removes_nothing() {
    for (right, part) in [
        ("--write-only", "except for those who may read and write"),
        ("--no-delete", "this server removes nothing"),
    ] {
        let server = Server::start(&[right]);
        two(&server);
        let output = server.copy(&["-r", "--delete", "run7", &server.place("")]);
        let text = complaint(&output);
        assert_eq!(output.status.code(), Some(1), "{text}");
        assert!(text.contains(part), "{text}");
        assert!(server.root().join("run7/gone/x/y").exists());
    }
}

#[test]
fn it_goes_with_folders_and_without_a_list() {
    let server = Server::start(&[]);
    files(&server.near(), &["a", "list"]);
    let place = server.place("");
    for words in [
        &["--delete", "a", &place][..],
        &["-r", "--delete", "--files-from", "list", ".", &place],
    ] {
        let output = server.copy(words);
        assert_eq!(output.status.code(), Some(2), "{}", complaint(&output));
    }
}

#[test]
fn an_empty_source_empties_no_destination() {
    let server = Server::start(&[]);
    two(&server);
    fs::create_dir(server.near().join("empty")).unwrap();
    for (source, place) in [("empty/", "run7"), ("empty", "")] {
        let there = found(&server.root());
        if place.is_empty() {
            files(&server.root(), &["empty/kept"]);
        }
        let output = server.copy(&["-r", "--delete", source, &server.place(place)]);
        let text = format!(
            "{}{}",
            complaint(&output),
            String::from_utf8_lossy(&output.stdout)
        );
        assert_eq!(output.status.code(), Some(1), "{text}");
        assert!(text.contains("is mounted"), "{text}");
        assert!(
            there
                .iter()
                .all(|name| found(&server.root()).contains(name))
        );
    }
    assert!(server.root().join("empty/kept").exists());
}

#[test]
fn a_pipe_in_the_source_protects_its_name_and_is_no_failure() {
    let server = Server::start(&[]);
    two(&server);
    let pipe = server.near().join("run7/z.log");
    nix::unistd::mkfifo(&pipe, nix::sys::stat::Mode::S_IRUSR).unwrap();
    let text = done(&server, &["-r", "--delete", "run7", &server.place("")]);
    assert!(
        text.contains("1 without content (pipes, sockets, devices): run7/z.log"),
        "{text}"
    );
    assert!(server.root().join("run7/z.log").exists());
    assert!(!server.root().join("run7/gone").exists());
    fs::remove_file(pipe).unwrap();
}
