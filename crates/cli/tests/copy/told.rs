//! What a user reads beside the result, and what a server's owner reads.

use std::fs;
use std::io::{Read, Write};
use std::net::TcpListener;
use std::os::unix::fs::symlink;

use crate::common::{complaint, run, trunkline};
use crate::selection::{done, files};
use crate::server::Server;

#[test]
fn a_copy_that_changes_nothing_says_so() {
    let server = Server::start(&[]);
    files(&server.near(), &["run7/a", "run7/d/b"]);
    symlink("a", server.near().join("run7/latest")).unwrap();
    let words = ["-rv", "run7", &server.place("")];
    let first = done(&server, &words);
    assert!(
        first.contains("copied      2 files, 2 folders, 1 link"),
        "{first}"
    );
    for words in [&words[..], &["-rnv", "run7", &server.place("")]] {
        let again = done(&server, words);
        assert!(
            !again.contains("latest") && !again.contains("run7/a"),
            "{again}"
        );
        assert!(
            !again.contains("folder") && again.contains("2 whole files among them"),
            "{again}"
        );
    }
    files(&server.near(), &["run7/new"]);
    let dry = done(&server, &["-rnv", "run7", &server.place("")]);
    assert!(dry.contains("run7/new") && !dry.contains("run7/a"), "{dry}");
    let go_on = done(&server, &words);
    assert!(go_on.contains("are there already;"), "{go_on}");
}

#[test]
fn what_follows_from_a_folder_that_failed_is_folded() {
    let server = Server::start(&[]);
    files(&server.root(), &["run7"]);
    let names: Vec<String> = (0..40).map(|at| format!("run7/d/{at}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    files(&server.near(), &names);
    let output = server.copy(&["-r", "run7", &server.place("")]);
    let text = String::from_utf8_lossy(&output.stdout).replace("\n  ", " ");
    assert_eq!(output.status.code(), Some(1), "{text}");
    assert!(text.contains("1 folder was not copied"), "{text}");
    assert!(text.contains("nor are the 41 things in it"), "{text}");
    assert_eq!(text.matches("run7/d/").count(), 0, "{text}");
}

#[test]
fn a_failed_dry_run_does_not_tell_to_repeat_it() {
    let server = Server::start(&[]);
    files(&server.root(), &["run7"]);
    files(&server.near(), &["run7/a"]);
    let output = server.copy(&["-rn", "run7", &server.place("")]);
    let text = complaint(&output);
    assert!(text.contains("the same command without `-n`"), "{text}");
}

#[test]
fn a_flag_of_another_program_is_answered_with_ours() {
    let output = run(&["copy", "-r", "--bwlimit=1000", "a", "h:b"]);
    let text = complaint(&output);
    assert_eq!(output.status.code(), Some(2), "{text}");
    assert!(
        text.starts_with("error: there is no `--bwlimit` here"),
        "{text}"
    );
    assert!(text.contains("hint: write `--max-rate RATE`"), "{text}");
}

#[test]
fn a_bound_by_the_clock_is_told_with_its_end() {
    let server = Server::start(&[]);
    fs::write(server.near().join("large"), vec![7; 3 << 20]).unwrap();
    // It began an hour ago or two, and holds for an hour more at least.
    let hour = jiff::Zoned::now().hour();
    let at = |later: i8| format!("{:02}:00", (hour + later) % 24);
    let limit = format!("{}=16M,{}=none", at(22), at(2));
    let words = ["--json", "--max-rate", &limit, "large", &server.place("")];
    let output = server.copy(&words);
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{text}");
    let progress = text
        .lines()
        .find(|line| line.contains("\"event\":\"progress\""));
    let progress = progress.unwrap_or_else(|| panic!("{text}"));
    let until = format!("\"rate_max_until\":\"{}\"", at(2));
    for part in ["\"rate_max_bits_per_second\":16000000", &until] {
        assert!(progress.contains(part), "{part}: {progress}");
    }
    let part = format!("{}=16Mbit/s", at(22));
    let document = text.lines().last().unwrap_or_default();
    assert!(document.contains("\"rate_schedule\":\""), "{document}");
    assert!(document.contains(&part), "{document}");
    // 25 Mbit at 16 Mbit/s are 1.6 s, less what a bucket saves.
    let document: serde_json::Value = serde_json::from_str(document).unwrap();
    let elapsed = document["elapsed_seconds"].as_f64();
    assert!(elapsed > Some(1.0), "{document}");
}

#[test]
fn a_web_server_in_the_way_is_recognised() {
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        for socket in listener.incoming().take(4) {
            let mut socket = socket.unwrap();
            let _ = socket.read(&mut [0; 512]);
            let _ = socket.write_all(b"HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n");
        }
    });
    let folder = tempfile::tempdir().unwrap();
    files(folder.path(), &["a"]);
    let place = format!("trunkline://127.0.0.1:{port}/x");
    let mut command = trunkline(&["copy", "a", &place]);
    command
        .env("TRUNKLINE_TOKEN", crate::TOKEN)
        .current_dir(folder.path());
    let text = complaint(&command.output().unwrap());
    assert!(text.contains("a web server answers there"), "{text}");
    let text = complaint(&run(&["measure", &format!("127.0.0.1:{port}")]));
    assert!(text.contains("a web server answers there"), "{text}");
}

/// What a copy to that port of this host complains of.
fn complaint_at(port: u16) -> String {
    let folder = tempfile::tempdir().unwrap();
    files(folder.path(), &["a"]);
    let mut command = trunkline(&["copy", "a", &format!("trunkline://127.0.0.1:{port}/x")]);
    command
        .env("TRUNKLINE_TOKEN", crate::TOKEN)
        .current_dir(folder.path());
    complaint(&command.output().unwrap())
}

#[test]
fn one_fact_is_told_once() {
    let free = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let port = free.local_addr().unwrap().port();
    drop(free);
    let text = complaint_at(port);
    assert!(
        text.starts_with(&format!("error: 127.0.0.1:{port} refuses connections\n")),
        "{text}"
    );
}

#[test]
fn a_server_that_goes_away_in_mid_greeting_is_told_to_be_away() {
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || drop(listener.accept().unwrap()));
    let text = complaint_at(port);
    assert!(text.contains("refuses connections"), "{text}");
}

#[test]
fn the_log_of_a_server_has_times_numbers_names_and_its_end() {
    let server = Server::start(&["--verbose"]);
    files(&server.near(), &["a", "b"]);
    done(&server, &["a", &server.place("x")]);
    let began = server.logged("puts into x");
    let (time, rest) = began.split_once(' ').unwrap();
    assert!(time.len() == 25 && time.as_bytes()[10] == b'T', "{began}");
    assert!(
        rest.starts_with("#1 127.0.0.1:") && rest.contains(" ana: "),
        "{began}"
    );
    assert!(server.logged("#1 a  1").ends_with("1 B"));
    assert!(server.logged("#1 127").contains("done: 1 file, 1 B in "));
    // A near end does not wait for its server: the second copy could begin before the end of the
    // first is told.
    done(&server, &["b", &server.place("y")]);
    assert!(server.logged("#2 127").contains("puts into y"));
    assert!(server.logged("#2 127").contains("done: 1 file"));
    nix::sys::signal::kill(server.process(), nix::sys::signal::SIGTERM).unwrap();
    assert!(server.logged("stopping").contains("no copy runs"));
    assert!(server.logged("stopped").ends_with(" stopped"));
}

#[test]
fn tokens_are_listed_without_their_secrets_and_need_a_purpose() {
    let server = Server::start(&[]);
    let file = server.tokens();
    let file = file.to_str().unwrap();
    let output = run(&["serve", "--tokens", file, "--list-tokens"]);
    let text = String::from_utf8(output.stdout).unwrap();
    let words: Vec<&str> = text.split_whitespace().collect();
    assert_eq!(words, ["ana", "rw"]);
    let secret = fs::read_to_string(file).unwrap();
    let secret = secret.split_whitespace().nth(2).unwrap().to_owned();
    assert!(!text.contains(&secret));
    let alone = run(&["serve", "--tokens", file]);
    assert_eq!(alone.status.code(), Some(2), "{}", complaint(&alone));
    assert!(
        complaint(&alone).contains("--root"),
        "{}",
        complaint(&alone)
    );
    let wrong = run(&["serve", "--tokens", file, "--new-token", "bad name!"]);
    assert!(
        complaint(&wrong).contains("this one has a space in it"),
        "{}",
        complaint(&wrong)
    );
}
