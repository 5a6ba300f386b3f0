//! `trunkline pipe`: a script takes ssh's place, and a server stands where none is needed.

use std::fs;
use std::io::{Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use tempfile::TempDir;

use super::server::Server;
use crate::common::{complaint, trunkline};

/// How long anything here may take.
const LIMIT: Duration = Duration::from_secs(30);

/// A host behind a script that takes ssh's place.
struct Host {
    folder: TempDir,
}

impl Host {
    /// It runs what it is asked for.
    fn new() -> Self {
        Host::running("exec sh -c \"$last\"")
    }

    /// It runs `script` instead; `$last` is what it is asked for.
    fn running(script: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("far")).unwrap();
        let program = Path::new(env!("CARGO_BIN_EXE_trunkline"));
        let text = format!(
            "#!/bin/sh\nif [ \"$1\" = -G ]; then echo 'hostname 127.0.0.1'; exit; fi\n\
             for last; do :; done\n\
             export SSH_CONNECTION='127.0.0.1 50000 127.0.0.1 22'\n\
             export SSH_ORIGINAL_COMMAND=\"$last\"\n\
             PATH={}:$PATH\ncd {}/far\n{script}\n",
            program.parent().unwrap().display(),
            folder.path().display(),
        );
        let host = Host { folder };
        fs::write(host.ssh(), text).unwrap();
        fs::set_permissions(host.ssh(), fs::Permissions::from_mode(0o700)).unwrap();
        host
    }

    fn ssh(&self) -> PathBuf {
        self.folder.path().join("ssh")
    }

    fn far(&self, name: &str) -> PathBuf {
        self.folder.path().join("far").join(name)
    }

    /// Names at the far end.
    fn names(&self) -> Vec<String> {
        let all = fs::read_dir(self.folder.path().join("far")).unwrap();
        let mut names: Vec<String> = all
            .map(|one| one.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }

    fn command(&self, words: &[&str]) -> Command {
        let ssh = self.ssh();
        let begin = ["pipe", "-e", ssh.to_str().unwrap(), "--no-install"];
        let mut command = trunkline(&[&begin[..], words].concat());
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    fn pipe(&self, words: &[&str], input: &[u8]) -> Output {
        let mut child = self.command(words).spawn().unwrap();
        let mut stdin = child.stdin.take().unwrap();
        let input = input.to_vec();
        let writing = thread::spawn(move || drop(stdin.write_all(&input)));
        let output = child.wait_with_output().unwrap();
        writing.join().unwrap();
        output
    }
}

fn assert_code(output: &Output, code: i32) {
    assert_eq!(output.status.code(), Some(code), "{}", complaint(output));
}

/// Bytes that differ everywhere.
fn noise(length: usize) -> Vec<u8> {
    let mixed = |at: u64| (at.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 40) as u8;
    (0..length as u64).map(mixed).collect()
}

fn wait_until(what: &str, is_so: impl Fn() -> bool) {
    let until = Instant::now() + LIMIT;
    while !is_so() {
        assert!(Instant::now() < until, "{what}");
        thread::sleep(Duration::from_millis(10));
    }
}

/// A program that takes the end of its input for the end of a whole one.
const TAKES: &str = "cat > part && mv part whole";

#[test]
fn all_of_the_input_reaches_a_file_a_program_and_comes_back() {
    let host = Host::new();
    let input = noise(30_000_001);
    assert_code(&host.pipe(&["-", "h:file"], &input), 0);
    assert!(fs::read(host.far("file")).unwrap() == input);
    assert_code(&host.pipe(&["h", "--", "sh", "-c", TAKES], &input), 0);
    assert!(fs::read(host.far("whole")).unwrap() == input);
    assert_eq!(host.names(), ["file", "whole"]);
    let back = host.pipe(&["h:file", "-"], b"");
    assert_code(&back, 0);
    assert!(back.stdout == input);
    let back = host.pipe(&["-n", "h", "--", "cat", "file"], b"");
    assert_code(&back, 0);
    assert!(back.stdout == input);
    assert_eq!(complaint(&back), "");
}

#[test]
fn nothing_is_a_whole_input_too() {
    let host = Host::new();
    assert_code(&host.pipe(&["-", "h:file"], b""), 0);
    assert_eq!(fs::read(host.far("file")).unwrap(), b"");
    let counted = host.pipe(&["h", "--", "wc", "-c"], b"");
    assert_code(&counted, 0);
    assert_eq!(counted.stdout, b"0\n");
}

#[test]
fn the_code_and_the_outputs_of_the_program_are_this_commands() {
    let host = Host::new();
    let script = "read line; echo out $line; echo err $line >&2; exit 7";
    let output = host.pipe(&["-q", "h", "--", "sh", "-c", script], b"x\n");
    assert_code(&output, 7);
    assert_eq!(output.stdout, b"out x\n");
    assert_eq!(complaint(&output), "err x\n");
    let output = host.pipe(&["-n", "h", "--", "sh", "-c", "echo a; kill -TERM $$"], b"");
    assert_code(&output, 128 + 15);
    assert_eq!(output.stdout, b"a\n");
}

/// Words of a program are not read by a shell.
#[test]
fn words_of_the_program_stay_what_they_are() {
    let host = Host::new();
    let output = host.pipe(&["-n", "h", "--", "printf", "%s\n", "a b", "$HOME *"], b"");
    assert_eq!(output.stdout, b"a b\n$HOME *\n");
    let output = host.pipe(&["h", "--", "cat > file"], b"");
    assert_code(&output, 2);
    assert!(
        complaint(&output).contains("sh -c"),
        "{}",
        complaint(&output)
    );
}

#[test]
fn a_program_that_reads_no_further_ends_the_pipe_at_once() {
    let host = Host::new();
    let mut child = host
        .command(&["h", "--", "head", "-n", "1"])
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    // Without an end.
    let writing =
        thread::spawn(move || while stdin.write_all(&[b'y', b'\n'].repeat(9_000)).is_ok() {});
    let output = child.wait_with_output().unwrap();
    writing.join().unwrap();
    assert_code(&output, 0);
    assert_eq!(output.stdout, b"y\n");
    assert!(complaint(&output).contains("the rest of the input was not sent"));
}

#[test]
fn a_reader_that_goes_away_ends_the_pipe() {
    let host = Host::new();
    fs::write(host.far("file"), noise(30_000_000)).unwrap();
    for words in [&["h:file", "-"][..], &["-n", "h", "--", "cat", "file"]] {
        let mut child = host.command(words).spawn().unwrap();
        let mut first = [0; 10];
        child.stdout.take().unwrap().read_exact(&mut first).unwrap();
        let output = child.wait_with_output().unwrap();
        assert_code(&output, 1);
        let text = complaint(&output);
        assert!(text.contains("standard output was closed after"), "{text}");
    }
}

fn begun(host: &Host, words: &[&str]) -> Child {
    let mut child = host.command(words).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(&noise(3_000_000)).unwrap();
    // Until it is killed.
    thread::spawn(move || {
        thread::sleep(2 * LIMIT);
        drop(stdin);
    });
    child
}

fn stopped(words: &[&str], name: &str, signal: Signal, is_quick: bool) {
    let host = Host::new();
    let child = begun(&host, words);
    let is_there = || {
        let names = host.names();
        let found = names.iter().find(|one| one.contains(name));
        found.is_some_and(|one| fs::metadata(host.far(one)).is_ok_and(|it| it.len() > 2_000_000))
    };
    wait_until("nothing arrives", is_there);
    let id = Pid::from_raw(child.id() as i32);
    let began = Instant::now();
    kill(id, signal).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(began.elapsed() < Duration::from_secs(15));
    if is_quick {
        assert_code(&output, 1);
        assert!(complaint(&output).contains("stopped: the pipe was stopped"));
    }
    // The far end has ended once nothing holds the folder; a program is dead by then.
    let is_over = || !runs_in(&host);
    wait_until("the far end goes on", is_over);
    assert!(!host.far("whole").exists(), "{:?}", host.names());
    assert!(!host.far("file").exists(), "{:?}", host.names());
}

/// Whether a process has its current folder at the far end.
fn runs_in(host: &Host) -> bool {
    let far = fs::canonicalize(host.folder.path().join("far")).unwrap();
    let all = fs::read_dir("/proc").unwrap().filter_map(Result::ok);
    all.into_iter()
        .any(|one| fs::read_link(one.path().join("cwd")).is_ok_and(|cwd| cwd == far))
}

#[test]
fn what_is_stopped_leaves_no_file_and_no_program_with_half_an_input() {
    for (signal, is_quick) in [
        (Signal::SIGINT, true),
        (Signal::SIGTERM, true),
        (Signal::SIGKILL, false),
    ] {
        stopped(&["h", "--", "sh", "-c", TAKES], "part", signal, is_quick);
        stopped(&["-", "h:file"], "file", signal, is_quick);
    }
}

#[test]
fn an_input_that_cannot_be_read_is_no_whole_one() {
    let host = Host::new();
    for words in [&["h", "--", "sh", "-c", TAKES][..], &["-", "h:file"]] {
        let mut command = host.command(words);
        // A folder: reading fails.
        command.stdin(fs::File::open("/").unwrap());
        let output = command.output().unwrap();
        assert_code(&output, 1);
        let text = complaint(&output);
        assert!(text.contains("cannot read `standard input`"), "{text}");
        wait_until("the far end goes on", || !runs_in(&host));
        assert!(!host.far("whole").exists() && !host.far("file").exists());
    }
}

#[test]
fn a_forced_command_runs_no_programs_whatever_is_asked_for() {
    let host = Host::running("exec trunkline copy-far");
    let output = host.pipe(&["h", "--", "touch", "made"], b"x");
    assert_code(&output, 1);
    let text = complaint(&output);
    assert!(text.contains("this far end runs no programs"), "{text}");
    assert!(host.names().is_empty());
    assert_code(&host.pipe(&["-", "h:file"], b"x"), 0);
    let host = Host::running("mkdir -p root; exec trunkline copy-far --root root --read-only");
    let output = host.pipe(&["-", "h:file"], b"x");
    assert_code(&output, 1);
    assert!(complaint(&output).contains("nothing may be written here"));
    let output = host.pipe(&["h:../../ssh", "-"], b"");
    assert_code(&output, 1);
    assert_eq!(output.stdout, b"");
}

#[test]
fn a_host_of_the_version_before_says_that_it_is_older() {
    let answer = "read -r line; echo 'trunkline: error: version 5' >&2; exit 2";
    let host = Host::running(answer);
    let output = host.pipe(&["-", "h:file"], b"x");
    assert_code(&output, 2);
    let told = complaint(&output);
    assert!(
        told.contains("hint: ") && told.contains("version"),
        "{told}"
    );
}

#[test]
fn a_copy_names_the_pipe_for_standard_input() {
    let output = trunkline(&["copy", "-", "h:file"]).output().unwrap();
    assert_code(&output, 2);
    assert!(complaint(&output).contains("trunkline pipe - HOST:FILE"));
}

/// The far end's own process.
fn far_end(host: &Host) -> Pid {
    let all = fs::read_dir("/proc").unwrap().filter_map(Result::ok);
    let far = fs::canonicalize(host.folder.path().join("far")).unwrap();
    let is_it = |place: &Path| {
        let words = fs::read(place.join("cmdline")).unwrap_or_default();
        let is_far = fs::read_link(place.join("cwd")).is_ok_and(|cwd| cwd == far);
        is_far && String::from_utf8_lossy(&words).contains("trunkline\0copy-far")
    };
    let found = all
        .map(|one| one.path())
        .find(|place| is_it(place))
        .unwrap();
    let name = found.file_name().unwrap().to_str().unwrap();
    Pid::from_raw(name.parse().unwrap())
}

/// The kernel then closes what the program reads, which must not be taken for the end of it.
#[test]
fn a_far_end_that_is_killed_takes_its_program_along() {
    let host = Host::new();
    let child = begun(&host, &["h", "--", "sh", "-c", TAKES]);
    let part = host.far("part");
    wait_until("nothing arrives", || {
        fs::metadata(&part).is_ok_and(|it| it.len() > 2_000_000)
    });
    kill(far_end(&host), Signal::SIGKILL).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_code(&output, 1);
    assert!(
        complaint(&output).contains("h is gone"),
        "{}",
        complaint(&output)
    );
    wait_until("the program goes on", || !runs_in(&host));
    assert!(!host.far("whole").exists());
}

fn to_server(server: &Server, words: &[&str], input: &[u8]) -> Output {
    let words = [&["pipe"][..], words].concat();
    let mut command = trunkline(&words);
    command.env("TRUNKLINE_TOKEN", server.token());
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let input = input.to_vec();
    let writing = thread::spawn(move || drop(stdin.write_all(&input)));
    let output = child.wait_with_output().unwrap();
    writing.join().unwrap();
    output
}

#[test]
fn a_server_takes_and_gives_over_tcp_and_udp_and_logs_it() {
    let server = Server::start(&[]);
    let input = noise(20_000_000);
    let place = server.place("file");
    for transport in ["tcp", "udp"] {
        let with = ["--transport", transport];
        let put = to_server(&server, &[&with[..], &["-", &place]].concat(), &input);
        assert_code(&put, 0);
        assert!(fs::read(server.root().join("file")).unwrap() == input);
        let got = to_server(&server, &[&with[..], &[&place, "-"]].concat(), b"");
        assert_code(&got, 0);
        assert!(got.stdout == input);
    }
    assert!(server.logged("pipes into").contains("ana: pipes into file"));
    assert!(server.logged("done").contains("20.0 MB through the pipe"));
    let outside = to_server(&server, &["-", &server.place("../outside")], b"x");
    assert_code(&outside, 1);
    let read_only = Server::start(&["--read-only"]);
    let refused = to_server(&read_only, &["-", &read_only.place("file")], b"x");
    assert_code(&refused, 1);
    assert!(complaint(&refused).contains("nothing may be written here"));
}

#[test]
fn a_server_that_stops_leaves_nothing_of_a_pipe() {
    let server = Server::start(&[]);
    let place = server.place("file");
    let mut command = trunkline(&["pipe", "--patience", "1s", "-", &place]);
    command.env("TRUNKLINE_TOKEN", server.token());
    command.stdin(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(&noise(100_000)).unwrap();
    let names = || fs::read_dir(server.root()).unwrap().count();
    wait_until("nothing arrives", || names() == 1);
    kill(server.process(), Signal::SIGTERM).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_code(&output, 1);
    wait_until("something is left", || names() == 0);
}
