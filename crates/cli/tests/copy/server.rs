//! Copies to and from a standing server on this host: what is shown, the documents and the events.

use std::fs;
use std::io::{BufRead, BufReader};
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::{Child, Output, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use serde_json::Value;
use tempfile::TempDir;

use crate::common::{complaint, run, trunkline};

/// A server with a root of its own; it ends with the test.
pub(super) struct Server {
    process: Child,
    folder: TempDir,
    host: IpAddr,
    port: u16,
    token: String,
    further: Vec<String>,
    log: Receiver<String>,
}

/// The process, once it listens, and what it logs from then on.
fn serve(folder: &Path, at: SocketAddr, further: &[String]) -> (Child, Receiver<String>) {
    let (root, tokens) = (folder.join("root"), folder.join("tokens"));
    let (host, port) = (at.ip().to_string(), at.port().to_string());
    let mut words = vec!["serve", "--bind", &host, "--port", &port];
    words.extend(["--root", root.to_str().unwrap()]);
    words.extend(["--tokens", tokens.to_str().unwrap()]);
    words.extend(further.iter().map(String::as_str));
    let mut process = trunkline(&words).stderr(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(process.stderr.take().unwrap()).lines();
    let serves = lines.any(|line| line.unwrap().starts_with("serving"));
    assert!(serves);
    // Its log is read to the end, so that it never blocks.
    let (sender, log) = channel();
    std::thread::spawn(move || {
        lines
            .map_while(Result::ok)
            .for_each(|line| drop(sender.send(line)))
    });
    (process, log)
}

impl Drop for Server {
    fn drop(&mut self) {
        // A process that has ended needs no signal.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

impl Server {
    pub(super) fn start(further: &[&str]) -> Self {
        Server::start_at(Ipv4Addr::LOCALHOST.into(), further)
    }

    pub(super) fn start_at(host: IpAddr, further: &[&str]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("root")).unwrap();
        fs::create_dir(folder.path().join("near")).unwrap();
        let tokens = folder.path().join("tokens");
        let tokens = tokens.to_str().unwrap();
        let made = run(&["serve", "--tokens", tokens, "--new-token", "ana"]);
        let token = String::from_utf8(made.stdout).unwrap().trim().to_owned();
        // A port that was free a moment ago; the one that serves may be asked for the one only by
        // its number.
        let probe = TcpListener::bind((host, 0)).unwrap();
        let at = probe.local_addr().unwrap();
        drop(probe);
        let further: Vec<String> = further.iter().map(|word| (*word).to_owned()).collect();
        let (process, log) = serve(folder.path(), at, &further);
        Server {
            process,
            folder,
            host,
            port: at.port(),
            token,
            further,
            log,
        }
    }

    /// Kills it, as `kill -9` does.
    pub(super) fn kill(&mut self) {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
    }

    /// Kills it, and starts it again on its port.
    pub(super) fn restart(&mut self) {
        self.kill();
        (self.process, self.log) = serve(self.folder.path(), self.address(), &self.further);
    }

    pub(super) fn address(&self) -> SocketAddr {
        SocketAddr::new(self.host, self.port)
    }

    pub(super) fn port(&self) -> u16 {
        self.port
    }

    pub(super) fn root(&self) -> PathBuf {
        self.folder.path().join("root")
    }

    pub(super) fn near(&self) -> PathBuf {
        self.folder.path().join("near")
    }

    /// A place at the server.
    pub(super) fn place(&self, path: &str) -> String {
        format!("trunkline://{}/{path}", self.address())
    }

    pub(super) fn tokens(&self) -> PathBuf {
        self.folder.path().join("tokens")
    }

    /// The next line of its log that has `part` in it.
    pub(super) fn logged(&self, part: &str) -> String {
        let next = || self.log.recv_timeout(Duration::from_secs(60)).unwrap();
        std::iter::repeat_with(next)
            .find(|line| line.contains(part))
            .unwrap()
    }

    pub(super) fn token(&self) -> &str {
        &self.token
    }

    pub(super) fn process(&self) -> nix::unistd::Pid {
        nix::unistd::Pid::from_raw(self.process.id() as i32)
    }

    /// Has it read its tokens again, and gives the line that it says then.
    pub(super) fn reread(&self) -> String {
        let process = nix::unistd::Pid::from_raw(self.process.id() as i32);
        nix::sys::signal::kill(process, nix::sys::signal::SIGHUP).unwrap();
        let next = || self.log.recv_timeout(Duration::from_secs(60)).unwrap();
        std::iter::repeat_with(next)
            .find(|line| line.contains(" again: ") || line.contains(" stay "))
            .unwrap()
    }

    pub(super) fn copy(&self, words: &[&str]) -> Output {
        self.copy_as(&self.token, words)
    }

    pub(super) fn copy_as(&self, token: &str, words: &[&str]) -> Output {
        let words = [&["copy"], words].concat();
        let mut command = trunkline(&words);
        command.env("TRUNKLINE_TOKEN", token);
        command.current_dir(self.near()).output().unwrap()
    }
}

/// Two files and a link in a folder, `bytes` in the larger file.
pub(super) fn tree(folder: &Path, bytes: usize) {
    fs::create_dir_all(folder.join("run7/deep")).unwrap();
    let content: Vec<u8> = (0..bytes).map(|at| (at % 251) as u8).collect();
    fs::write(folder.join("run7/hits.root"), content).unwrap();
    fs::write(folder.join("run7/deep/setup.json"), "{}").unwrap();
    std::os::unix::fs::symlink("hits.root", folder.join("run7/latest")).unwrap();
}

fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

pub(super) fn assert_same(one: &Path, other: &Path) {
    for name in ["hits.root", "deep/setup.json"] {
        let (one, other) = (one.join(name), other.join(name));
        assert!(
            fs::read(&one).unwrap() == fs::read(&other).unwrap(),
            "{name}"
        );
        let modified = |path: &Path| fs::metadata(path).unwrap().modified().unwrap();
        assert_eq!(modified(&one), modified(&other), "{name}");
    }
    let link = fs::read_link(other.join("latest")).unwrap();
    assert_eq!(link, Path::new("hits.root"));
}

#[test]
fn a_folder_goes_there_and_comes_back() {
    let server = Server::start(&[]);
    tree(&server.near(), 5_000_000);
    let put = server.copy(&["-r", "run7", &server.place("2026/")]);
    assert_eq!(put.status.code(), Some(0), "{}", complaint(&put));
    let text = stdout(&put);
    assert!(text.contains("copied      2 files"), "{text}");
    assert!(
        text.lines().all(|line| line.chars().count() <= 80),
        "{text}"
    );
    assert_same(
        &server.near().join("run7"),
        &server.root().join("2026/run7"),
    );
    let get = server.copy(&["-r", &server.place("2026/run7"), "back"]);
    assert_eq!(get.status.code(), Some(0), "{}", complaint(&get));
    // As with rsync: the folder itself, below a destination that was not there; with a slash, what
    // is in it.
    let near = server.near();
    assert_same(&near.join("run7"), &near.join("back/run7"));
    let get = server.copy(&["-r", &server.place("2026/run7/"), "content"]);
    assert_eq!(get.status.code(), Some(0), "{}", complaint(&get));
    assert_same(&near.join("run7"), &near.join("content"));
}

#[test]
fn what_is_there_already_is_skipped_and_told() {
    let server = Server::start(&[]);
    tree(&server.near(), 100_000);
    let words = ["-r", "run7", &server.place("run7")];
    assert_eq!(server.copy(&words).status.code(), Some(0));
    let again = server.copy(&words);
    assert_eq!(again.status.code(), Some(0), "{}", complaint(&again));
    let text = stdout(&again);
    assert!(text.contains("2 whole files among them"), "{text}");
}

#[test]
fn a_dry_run_names_what_would_be_copied_and_writes_nothing() {
    let server = Server::start(&[]);
    tree(&server.near(), 100_000);
    let dry = server.copy(&["-rn", "run7", &server.place("run7")]);
    assert_eq!(dry.status.code(), Some(0), "{}", complaint(&dry));
    let text = stdout(&dry);
    assert!(text.contains("hits.root  100 kB\n"), "{text}");
    assert!(text.contains("would copy  2 files"), "{text}");
    assert_eq!(fs::read_dir(server.root()).unwrap().count(), 0);
}

#[test]
fn events_are_lines_and_the_document_is_the_last() {
    let server = Server::start(&[]);
    tree(&server.near(), 3_000_000);
    let output = server.copy(&["--json", "-r", "run7", &server.place("run7")]);
    assert_eq!(output.status.code(), Some(0), "{}", complaint(&output));
    let text = stdout(&output);
    let lines: Vec<Value> = text
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let (document, events) = lines.split_last().unwrap();
    assert_eq!(document["schema"], "trunkline/copy");
    assert_eq!(document["files"], 2);
    assert_eq!(document["bytes"], 3_000_002);
    assert_eq!(document["direction"], "forward");
    let kinds: Vec<&str> = events
        .iter()
        .map(|event| event["event"].as_str().unwrap())
        .collect();
    for kind in ["connected", "planned", "published"] {
        assert!(kinds.contains(&kind), "{kinds:?}");
    }
    let of = |end: &str| {
        let is_it = |event: &&Value| {
            event["name"]
                .as_str()
                .is_some_and(|name| name.ends_with(end))
        };
        events.iter().find(is_it).unwrap()["blake3"].clone()
    };
    // 64 hexadecimal digits, and not those of an empty file.
    let (setup, hits) = (of("setup.json"), of("hits.root"));
    assert!(
        setup != hits && setup.as_str().unwrap().len() == 64,
        "{setup}"
    );
}

#[test]
fn a_saved_copy_is_shown_again_and_listed() {
    let server = Server::start(&[]);
    tree(&server.near(), 3_000_000);
    let words = [
        "-r",
        "run7",
        &server.place("run7"),
        "--save",
        "copy.json",
        "--report",
        "copy.html",
    ];
    let output = server.copy(&words);
    assert_eq!(output.status.code(), Some(0), "{}", complaint(&output));
    let file = server.near().join("copy.json");
    let again = run(&["report", file.to_str().unwrap()]);
    assert!(
        stdout(&again).contains(stdout(&output).trim_end()),
        "{}",
        stdout(&again)
    );
    let page = fs::read_to_string(server.near().join("copy.html")).unwrap();
    assert!(page.contains("trunkline copy"));
    let listed = stdout(&run(&["history"]));
    assert!(listed.contains("copy"), "{listed}");
}

#[test]
fn a_missing_source_is_told() {
    let server = Server::start(&[]);
    let output = server.copy(&["no-such-file", &server.place("x")]);
    let text = complaint(&output);
    assert_ne!(output.status.code(), Some(0), "{text}");
    assert!(
        text.contains("no-such-file") || stdout(&output).contains("no-such-file"),
        "{text}"
    );
}

#[test]
fn a_folder_needs_the_flag() {
    let server = Server::start(&[]);
    tree(&server.near(), 10);
    let output = server.copy(&["run7", &server.place("x")]);
    let text = complaint(&output) + &stdout(&output);
    assert_ne!(output.status.code(), Some(0), "{text}");
    assert!(text.contains("-r"), "{text}");
}

#[test]
fn nothing_is_put_into_a_root_that_is_only_read() {
    let server = Server::start(&["--read-only"]);
    tree(&server.near(), 10);
    let output = server.copy(&["-r", "run7", &server.place("x")]);
    let text = complaint(&output) + &stdout(&output);
    assert_ne!(output.status.code(), Some(0), "{text}");
    assert_eq!(fs::read_dir(server.root()).unwrap().count(), 0);
}

#[test]
fn another_token_opens_nothing() {
    let server = Server::start(&[]);
    tree(&server.near(), 10);
    let mut stranger = server.token.clone();
    stranger.replace_range(8..60, &"a".repeat(52));
    let place = server.place("x");
    let mut command = trunkline(&["copy", "-r", "run7", &place]);
    command
        .env("TRUNKLINE_TOKEN", &stranger)
        .current_dir(server.near());
    let output = command.output().unwrap();
    assert_eq!(output.status.code(), Some(1), "{}", complaint(&output));
    assert!(!complaint(&output).contains(&stranger));
    assert_eq!(fs::read_dir(server.root()).unwrap().count(), 0);
}

#[test]
fn a_server_of_files_alone_takes_copies_and_no_tests() {
    let server = Server::start(&["--files-only"]);
    tree(&server.near(), 100_000);
    let put = server.copy(&["-r", "run7", &server.place("run7")]);
    assert_eq!(put.status.code(), Some(0), "{}", complaint(&put));
    let refused = run(&["serve", "--files-only"]);
    assert!(complaint(&refused).contains("--root"));
}

#[test]
fn tokens_are_read_again_and_may_be_bound_to_a_folder() {
    let server = Server::start(&[]);
    fs::create_dir(server.root().join("bo")).unwrap();
    fs::write(server.root().join("mine"), "ana's").unwrap();
    fs::write(server.near().join("a"), "from bo").unwrap();
    let file = server.tokens();
    let made = run(&[
        "serve",
        "--tokens",
        file.to_str().unwrap(),
        "--new-token",
        "bo",
    ]);
    let bo = stdout(&made).trim().to_owned();
    let early = server.copy_as(&bo, &["a", &server.place("b")]);
    assert_ne!(early.status.code(), Some(0));
    let bound = fs::read_to_string(&file).unwrap().trim_end().to_owned() + " root=bo\n";
    fs::write(&file, &bound).unwrap();
    assert!(server.reread().contains("again: 2 tokens"));
    let put = server.copy_as(&bo, &["a", &server.place("b")]);
    assert_eq!(put.status.code(), Some(0), "{}", complaint(&put));
    assert_eq!(
        fs::read_to_string(server.root().join("bo/b")).unwrap(),
        "from bo"
    );
    for outside in ["mine", "../mine"] {
        let got = server.copy_as(&bo, &[&server.place(outside), "taken"]);
        assert_ne!(got.status.code(), Some(0), "{outside}");
    }
    assert!(!server.near().join("taken").exists());
    fs::write(&file, "nonsense\n").unwrap();
    assert!(server.reread().contains("the tokens stay as they were: "));
    let again = server.copy_as(&bo, &["a", &server.place("c")]);
    assert_eq!(again.status.code(), Some(0), "{}", complaint(&again));
    fs::write(&file, bound.lines().next().unwrap()).unwrap();
    assert!(server.reread().contains("again: 1 token"));
    let late = server.copy_as(&bo, &["a", &server.place("d")]);
    assert_ne!(late.status.code(), Some(0));
}

#[test]
fn links_and_plain_copies_can_be_refused() {
    let server = Server::start(&["--no-links", "--no-plain"]);
    tree(&server.near(), 100_000);
    let put = server.copy(&["-r", "run7", &server.place("2026/")]);
    let text = complaint(&put) + &stdout(&put);
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert_ne!(put.status.code(), Some(0), "{text}");
    assert!(text.contains("takes none (`--no-links`)"), "{text}");
    let there = server.root().join("2026/run7");
    assert!(there.join("hits.root").exists() && there.join("latest").symlink_metadata().is_err());
    let plain = server.copy(&["--plain", "run7/hits.root", &server.place("b")]);
    let text = complaint(&plain);
    assert_ne!(plain.status.code(), Some(0), "{text}");
    assert!(text.contains("without `--plain`"), "{text}");
    assert!(!server.root().join("b").exists());
}
