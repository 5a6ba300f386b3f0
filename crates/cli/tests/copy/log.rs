//! The log for the day on which something hangs, and what a copy says that stands still.

use std::fs;

use nix::sys::signal::{Signal, kill};
use trunkline::copy::{
    Access, CopyControl, CopyEvent, CopyObserver, CopyOptions, CopyRequest, copy,
};
use trunkline::units::Span;

use super::assert_told;
use super::server::{Server, tree};
use crate::common::{complaint, trunkline};

/// No word of a log is as long as a key in letters and digits.
const WORD_MAX: usize = 40;

fn assert_no_secret(log: &str, token: &str) {
    let secret = token.rsplit('-').next().unwrap();
    assert!(secret.len() > WORD_MAX, "{token}");
    assert!(!log.contains(secret), "the log has the token");
    let words = log.split(|letter: char| !letter.is_ascii_alphanumeric());
    let longest = words.max_by_key(|word| word.len()).unwrap_or_default();
    assert!(longest.len() <= WORD_MAX, "{longest}");
}

/// Copies a folder to a server; both ends log everything. Returns the log of this end and that of
/// the server.
fn logs_of_a_copy(further: &[&str]) -> (Server, String, String) {
    let folder = tempfile::tempdir().unwrap();
    let log = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let (near, far) = (log("near=log"), log("far.log"));
    let (near_all, far_all) = (format!("{near}=trace"), format!("{far}=trace"));
    let server = Server::start(&["--log-file", &far_all]);
    tree(&server.near(), 3_000_000);
    let place = server.place("2026/");
    let words = [further, &["--log-file", &near_all, "-r", "run7", &place]].concat();
    let put = server.copy(&words);
    assert_eq!(put.status.code(), Some(0), "{}", complaint(&put));
    // The server's last word comes behind that of this end.
    server.logged("#1 ");
    server.logged("#1 ");
    let [near, far] = [near, far].map(|file| fs::read_to_string(file).unwrap());
    for log in [&near, &far] {
        assert_no_secret(log, server.token());
        let is_stamped = |line: &str| line.starts_with("20") && line.contains('Z');
        assert!(log.lines().all(is_stamped), "{log}");
    }
    (server, near, far)
}

fn assert_has(log: &str, parts: &[&str]) {
    for part in parts {
        assert!(log.contains(part), "`{part}` is missing in:\n{log}");
    }
}

#[test]
fn both_ends_log_the_joints_of_a_copy_and_no_secret() {
    let (_server, near, far) = logs_of_a_copy(&[]);
    let both = [
        "both ends know each other",
        "joined",
        "published",
        "hits.root",
        r#"kind="Entries""#,
        "the conversation is over",
    ];
    assert_has(&near, &both);
    assert_has(
        &near,
        &["connected over TCP", "TLS is up", "the session is over"],
    );
    assert_has(
        &far,
        &["a stream arrives", "a copy begins", "the copy is over"],
    );
    assert_has(&far, &both);
}

#[test]
fn a_copy_over_udp_has_its_packets_beside_the_log() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(&[]);
    tree(&server.near(), 300_000);
    let file = folder.path().join("near.log");
    let (log, place) = (format!("{}=trace", file.display()), server.place("2026/"));
    let words = [
        "--transport",
        "udp",
        "--log-file",
        &log,
        "-r",
        "run7",
        &place,
    ];
    let put = server.copy(&words);
    assert_eq!(put.status.code(), Some(0), "{}", complaint(&put));
    assert_no_secret(&fs::read_to_string(&file).unwrap(), server.token());
    let all = fs::read_dir(folder.path()).unwrap();
    let names = all.map(|entry| entry.unwrap().path());
    let mut qlogs = names.filter(|name| name.extension().is_some_and(|end| end == "sqlog"));
    let qlog = fs::read_to_string(qlogs.next().unwrap()).unwrap();
    assert_no_secret(&qlog, server.token());
    // RFC 7464: each record is JSON behind a record separator.
    let mut records = qlog.split('\u{1e}').skip(1);
    let mut next = || serde_json::from_str::<serde_json::Value>(records.next().unwrap()).unwrap();
    assert!(next()["qlog_version"].is_string());
    assert!(next()["name"].as_str().unwrap().contains(':'));
}

#[test]
fn the_environment_asks_for_a_log_as_the_option_does() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("log");
    let with = |value: &str| {
        let mut command = trunkline(&["path", "sim:slac-cern"]);
        command.env("TRUNKLINE_LOG", value).output().unwrap()
    };
    let logged = with(&format!("{}=info", file.display()));
    assert_eq!(logged.status.code(), Some(0), "{}", complaint(&logged));
    assert_has(&fs::read_to_string(&file).unwrap(), &["INFO", "log begins"]);
    let refused = with("a=loud");
    assert_eq!(refused.status.code(), Some(2));
    let parts = [
        "TRUNKLINE_LOG: `loud` is no level",
        "error, warn, info, debug, trace",
        "hint: set TRUNKLINE_LOG",
    ];
    assert_has(&complaint(&refused), &parts);
    assert_eq!(with("").status.code(), Some(0));
}

#[test]
fn a_log_that_cannot_be_written_is_told_before_anything_is_done() {
    let words = ["copy", "a", "h:x", "--log-file", "/nowhere/copy.log"];
    assert_told(
        &words,
        1,
        &["cannot write /nowhere/copy.log", "hint: name a place"],
    );
    let words = ["--log-file", "copy.log=all", "copy", "a", "h:x"];
    assert_told(&words, 2, &["`all` is no level", "error, warn, info"]);
}

/// Stops the server at the first sign of data, and lets it go on once that was told.
struct Stopping<'a> {
    server: &'a Server,
    control: CopyControl,
    is_stopped: bool,
    told: Vec<CopyEvent>,
}

impl CopyObserver for Stopping<'_> {
    fn on_event(&mut self, event: &CopyEvent) {
        match event {
            CopyEvent::Progress(progress) if !self.is_stopped && progress.done.get() > 0 => {
                self.is_stopped = true;
                kill(self.server.process(), Signal::SIGSTOP).unwrap();
            }
            CopyEvent::Stalled { .. } => {
                self.told.push(event.clone());
                kill(self.server.process(), Signal::SIGCONT).unwrap();
                self.control.set_rate_max(None);
            }
            CopyEvent::Moving { .. } => self.told.push(event.clone()),
            _ => {}
        }
    }
}

/// Copies a file, of which the far end stops for a while. Returns what each side waits for.
fn standstill(server: &Server, places: &[String]) -> (String, String) {
    let access = Access {
        token: Some(server.token().parse().unwrap()),
        ..Access::default()
    };
    let options = CopyOptions {
        rate_max: Some("60Mbit/s".parse().unwrap()),
        ..CopyOptions::default()
    };
    let request = CopyRequest::new(places, options, access).unwrap();
    let control = CopyControl::default();
    control.set_stalled_after(Span::from_secs(3));
    let mut observer = Stopping {
        server,
        control: control.clone(),
        is_stopped: false,
        told: Vec::new(),
    };
    let copied = copy(&request, &control, &mut observer).unwrap();
    assert_eq!(copied.outcome.files, 1);
    assert!(copied.cut.is_none(), "{:?}", copied.cut);
    match &observer.told[..] {
        [
            CopyEvent::Stalled {
                still, here, there, ..
            },
            CopyEvent::Moving { .. },
        ] => {
            assert!(*still >= Span::from_secs(3), "{still}");
            (here.clone(), there.clone())
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_copy_that_stands_still_says_once_what_each_side_waits_for_and_when_it_moves_again() {
    let server = Server::start(&[]);
    let content: Vec<u8> = (0..60_000_000).map(|at| (at % 251) as u8).collect();
    fs::write(server.near().join("hits"), &content).unwrap();
    let near = |name: &str| server.near().join(name).to_str().unwrap().to_owned();
    let (here, there) = standstill(&server, &[near("hits"), server.place("hits")]);
    assert!(here.contains("waits for the far end to confirm"), "{here}");
    assert!(there.contains("has not been heard for"), "{there}");
    let (here, there) = standstill(&server, &[server.place("hits"), near("back")]);
    assert_eq!(here, "lacks parts of 1 file, and waits for data");
    assert!(there.contains("has not been heard for"), "{there}");
    assert!(fs::read(server.near().join("back")).unwrap() == content);
}
