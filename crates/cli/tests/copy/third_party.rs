//! Copies from one server to another, commanded from here.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Output, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;

use super::server::Server;
use crate::common::{complaint, trunkline};

/// Two servers and the tokens of the one who commands.
struct Site {
    source: Server,
    destination: Server,
}

impl Site {
    /// The token of the source may have files sent to the destination.
    fn new(of_source: &[&str], of_destination: &[&str]) -> Site {
        let site = Site {
            source: Server::start(of_source),
            destination: Server::start(of_destination),
        };
        let place = site.destination.place("");
        let host = place
            .trim_start_matches("trunkline://")
            .trim_end_matches('/');
        site.allow(host);
        for (server, name) in [(&site.source, "source"), (&site.destination, "destination")] {
            let file = site.file(name);
            fs::write(&file, server.token()).unwrap();
            let mode = std::os::unix::fs::PermissionsExt::from_mode(0o600);
            fs::set_permissions(&file, mode).unwrap();
        }
        site
    }

    /// Hosts to which the source may be told to send; none without a word.
    fn allow(&self, hosts: &str) {
        let file = self.source.tokens();
        let text = fs::read_to_string(&file).unwrap();
        let line: Vec<&str> = text.split_whitespace().take(3).collect();
        let to = match hosts {
            "" => String::new(),
            hosts => format!(" to={hosts}"),
        };
        fs::write(&file, format!("{}{to}\n", line.join(" "))).unwrap();
        assert!(self.source.reread().contains("again: 1 token"));
    }

    fn file(&self, name: &str) -> PathBuf {
        self.source.near().join(name)
    }

    fn command(&self, words: &[&str]) -> std::process::Command {
        let mut command = trunkline(&["copy", "--no-history"]);
        command.args(words);
        command.arg("--source-token-file").arg(self.file("source"));
        command.arg("--token-file").arg(self.file("destination"));
        command
    }

    fn copy(&self, words: &[&str]) -> Output {
        self.command(words).output().unwrap()
    }

    fn starts(&self, words: &[&str]) -> Child {
        let mut command = self.command(words);
        command.stdout(Stdio::null()).stderr(Stdio::piped());
        command.spawn().unwrap()
    }

    /// One file of so many bytes at the source.
    fn has(&self, name: &str, bytes: usize) -> Vec<u8> {
        let content: Vec<u8> = (0..bytes).map(|at| (at % 251) as u8).collect();
        let file = self.source.root().join(name);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, &content).unwrap();
        content
    }
}

fn code_and_text(output: &Output) -> (Option<i32>, String) {
    let text = complaint(output) + &String::from_utf8_lossy(&output.stdout);
    assert!(!text.contains("panicked"), "{text}");
    (
        output.status.code(),
        text.split_whitespace().collect::<Vec<_>>().join(" "),
    )
}

/// Waits until something is there.
fn appears(folder: &Path) {
    let until = Instant::now() + Duration::from_secs(60);
    while fs::read_dir(folder).is_ok_and(|mut entries| entries.next().is_none()) {
        assert!(
            Instant::now() < until,
            "nothing came into {}",
            folder.display()
        );
        thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn files_go_from_server_to_server_and_the_document_says_so() {
    let site = Site::new(&["--verbose"], &[]);
    let hits = site.has("run7/hits.root", 3_000_000);
    site.has("run7/deep/setup.json", 2);
    std::os::unix::fs::symlink("hits.root", site.source.root().join("run7/latest")).unwrap();
    let (from, to) = (site.source.place("run7"), site.destination.place("2026/"));
    let output = site.copy(&["--json", "-r", &from, &to]);
    assert_eq!(output.status.code(), Some(0), "{}", complaint(&output));
    let there = site.destination.root().join("2026/run7");
    assert!(fs::read(there.join("hits.root")).unwrap() == hits);
    assert_eq!(
        fs::read_link(there.join("latest")).unwrap(),
        Path::new("hits.root")
    );
    let text = String::from_utf8(output.stdout).unwrap();
    let lines: Vec<Value> = text
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let (document, events) = lines.split_last().unwrap();
    let source = site.source.place("");
    let source = source
        .trim_start_matches("trunkline://")
        .trim_end_matches('/');
    assert_eq!(document["source_host"], source);
    assert_eq!(document["direction"], "forward");
    assert_eq!(
        (&document["files"], &document["links"]),
        (&2.into(), &1.into())
    );
    assert_eq!(document["folders"], 2);
    assert_eq!(document["sent_bytes"], 3_000_002);
    let kinds: Vec<&str> = events
        .iter()
        .map(|event| event["event"].as_str().unwrap())
        .collect();
    for kind in ["connected", "planned", "published"] {
        assert!(kinds.contains(&kind), "{kinds:?}");
    }
    assert!(site.source.logged("sent to").contains("run7"));
    assert!(site.source.logged("hits.root").contains("3.00 MB"));
    assert!(site.source.logged("done: ").contains("2 files"));
    assert!(site.destination.logged("one copy into").contains("2026"));
    let (code, again) = code_and_text(&site.copy(&["-r", &from, &to]));
    assert_eq!(code, Some(0), "{again}");
    assert!(again.contains("2 whole files among them"), "{again}");
}

#[test]
fn a_source_sends_only_where_its_operator_allows() {
    let site = Site::new(&[], &[]);
    site.has("a", 10);
    let (from, to) = (site.source.place("a"), site.destination.place("a"));
    for (hosts, told) in [
        ("", "it may to no host"),
        ("127.0.0.1:1", "only to 127.0.0.1:1"),
        ("localhost,example.org", "only to localhost,example.org"),
    ] {
        site.allow(hosts);
        let (code, text) = code_and_text(&site.copy(&[&from, &to]));
        assert_eq!(code, Some(1), "{text}");
        let parts = [
            "may not have the source send to 127.0.0.1:",
            told,
            "to=HOST[:PORT]",
        ];
        for part in parts {
            assert!(
                text.contains(part),
                "{hosts}: `{part}` is missing in {text}"
            );
        }
        assert!(!site.destination.root().join("a").exists());
    }
    site.allow("127.0.0.1");
    let (code, text) = code_and_text(&site.copy(&[&from, &to]));
    assert_eq!(code, Some(0), "{text}");
}

#[test]
fn both_ends_keep_to_their_rights() {
    let site = Site::new(&["--write-only"], &[]);
    site.has("a", 10);
    let refused = site.copy(&[&site.source.place("a"), &site.destination.place("a")]);
    assert_ne!(refused.status.code(), Some(0));
    let site = Site::new(&[], &["--read-only"]);
    site.has("a", 10);
    let (from, to) = (site.source.place("a"), site.destination.place("a"));
    let (code, text) = code_and_text(&site.copy(&[&from, &to]));
    assert_eq!(code, Some(1), "{text}");
    assert!(
        text.contains("nothing may be put here with the token `ana`"),
        "{text}"
    );
    let site = Site::new(&[], &["--no-delete"]);
    site.has("run7/a", 10);
    let (from, to) = (site.source.place("run7/"), site.destination.place("x"));
    let (code, text) = code_and_text(&site.copy(&["-r", "--delete", &from, &to]));
    assert_eq!(code, Some(1), "{text}");
    assert!(text.contains("(`--no-delete`)"), "{text}");
}

#[test]
fn files_that_differ_are_removed_compared_and_selected_as_by_any_copy() {
    let site = Site::new(&[], &[]);
    let (from, to) = (site.source.place("run7/"), site.destination.place("x"));
    for name in ["run7/a", "run7/b", "run7/c.tmp"] {
        site.has(name, 1000);
    }
    fs::create_dir(site.destination.root().join("x")).unwrap();
    fs::write(site.destination.root().join("x/old"), "old").unwrap();
    fs::write(site.destination.root().join("x/a"), vec![0; 1000]).unwrap();
    let words = ["-r", "-c", "--delete", "--exclude", "*.tmp", &from, &to];
    let (code, text) = code_and_text(&site.copy(&words));
    assert_eq!(code, Some(0), "{text}");
    let there = site.destination.root().join("x");
    assert_eq!(fs::read(there.join("a")).unwrap(), site.has("run7/a", 1000));
    assert!(there.join("b").exists() && !there.join("old").exists());
    assert!(!there.join("c.tmp").exists());
    fs::write(site.file("list"), "b\n").unwrap();
    let list = site.file("list");
    let listed = [
        "-r",
        "--files-from",
        list.to_str().unwrap(),
        &from,
        &site.destination.place("y"),
    ];
    let (code, text) = code_and_text(&site.copy(&listed));
    assert_eq!(code, Some(0), "{text}");
    assert_eq!(
        fs::read_dir(site.destination.root().join("y"))
            .unwrap()
            .count(),
        1
    );
}

#[test]
fn a_missing_source_and_a_destination_that_is_gone_are_told() {
    let site = Site::new(&[], &[]);
    let to = site.destination.place("a");
    let (code, text) = code_and_text(&site.copy(&[&site.source.place("none"), &to]));
    assert_eq!(code, Some(2), "{text}");
    assert!(text.contains("there is no `none`"), "{text}");
    let mut site = site;
    site.destination.kill();
    site.has("a", 10);
    let (code, text) = code_and_text(&site.copy(&[&site.source.place("a"), &to]));
    assert_eq!(code, Some(1), "{text}");
    assert!(
        text.contains("refuses connections") && text.contains("hint: "),
        "{text}"
    );
}

/// The copy in the middle of which the rest happens.
fn slow<'a>(from: &'a str, to: &'a str) -> [&'a str; 4] {
    ["--max-rate", "40M", from, to]
}

#[test]
fn a_controller_that_is_killed_ends_the_copy_and_the_same_command_goes_on() {
    let site = Site::new(&[], &[]);
    let content = site.has("a", 20_000_000);
    let (from, to) = (site.source.place("a"), site.destination.place("a"));
    let mut copy = site.starts(&slow(&from, &to));
    appears(&site.destination.root());
    thread::sleep(Duration::from_millis(700));
    copy.kill().unwrap();
    copy.wait().unwrap();
    let ended = site.source.logged("ended early");
    assert!(ended.contains("stopped"), "{ended}");
    assert!(!site.destination.root().join("a").exists());
    let (code, text) = code_and_text(&site.copy(&[&from, &to]));
    assert_eq!(code, Some(0), "{text}");
    assert!(text.contains("are there already"), "{text}");
    assert!(fs::read(site.destination.root().join("a")).unwrap() == content);
}

#[test]
fn a_signal_at_the_controller_ends_the_copy_with_its_code() {
    let site = Site::new(&[], &[]);
    site.has("a", 20_000_000);
    let (from, to) = (site.source.place("a"), site.destination.place("a"));
    let copy = site.starts(&slow(&from, &to));
    appears(&site.destination.root());
    let process = nix::unistd::Pid::from_raw(copy.id() as i32);
    nix::sys::signal::kill(process, nix::sys::signal::SIGINT).unwrap();
    let output = copy.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(75), "{}", complaint(&output));
    assert!(site.source.logged("ended early").contains("stopped"));
}

#[test]
fn a_source_and_a_destination_that_come_back_end_the_same_command() {
    let mut site = Site::new(&[], &[]);
    let content = site.has("a", 20_000_000);
    let (from, to) = (site.source.place("a"), site.destination.place("a"));
    let copy = site.starts(&slow(&from, &to));
    appears(&site.destination.root());
    thread::sleep(Duration::from_millis(500));
    site.source.restart();
    thread::sleep(Duration::from_millis(1500));
    site.destination.restart();
    let output = copy.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", complaint(&output));
    assert!(fs::read(site.destination.root().join("a")).unwrap() == content);
    let left = fs::read_dir(site.destination.root()).unwrap().count();
    assert_eq!(left, 1, "temporary files are left");
}

/// The words of `trunkline campaign`, and what it printed.
fn campaign(words: &[&str], code: i32) -> String {
    let words = [&["campaign"], words].concat();
    let output = crate::common::run(&words);
    let (ended, text) = code_and_text(&output);
    assert_eq!(ended, Some(code), "{words:?}: {text}");
    text
}

#[test]
fn a_campaign_between_two_servers_is_planned_run_and_verified_from_a_third_host() {
    let site = Site::new(&[], &[]);
    for at in 0..300 {
        site.has(&format!("raw/run{}/event{at}", at % 3), 10 + at);
    }
    site.has("raw/hits.root", 3_000_000);
    site.has("raw/scratch/x", 10);
    site.has("raw/run1/x.tmp", 10);
    fs::create_dir(site.source.root().join("raw/empty")).unwrap();
    std::os::unix::fs::symlink("hits.root", site.source.root().join("raw/latest")).unwrap();
    let address = |server: &Server| server.place("").trim_end_matches('/').to_owned();
    let text = format!(
        "[shards]\nfiles = 60\n[hosts]\n\
         a = {{ address = \"{}\", token = \"{}\" }}\n\
         b = {{ address = \"{}\", token = \"{}\" }}\n\
         [links.wan]\ncopies = 3\n\
         [groups.raw]\nfrom = \"a:raw\"\nto = \"b:store\"\nlink = \"wan\"\n\
         exclude = [\"*.tmp\", \"/scratch/\"]\n",
        address(&site.source),
        site.file("source").display(),
        address(&site.destination),
        site.file("destination").display(),
    );
    let (plan, folder) = (site.file("plan.toml"), site.file("july"));
    fs::write(&plan, text).unwrap();
    let (plan, folder) = (plan.to_str().unwrap(), folder.to_str().unwrap());
    let planned = campaign(&["plan", plan, folder], 0);
    // 300 events, the large file, the link and the folder with nothing in it.
    assert!(planned.contains("raw 303"), "{planned}");
    let mut killed = crate::common::trunkline(&["campaign", "run", folder]);
    let mut killed = killed.stderr(Stdio::null()).spawn().unwrap();
    appears(&site.destination.root());
    killed.kill().unwrap();
    killed.wait().unwrap();
    campaign(&["run", folder, "--wait"], 0);
    let there = site.destination.root().join("store");
    assert_eq!(fs::read(there.join("hits.root")).unwrap().len(), 3_000_000);
    assert!(there.join("empty").is_dir() && !there.join("scratch").exists());
    assert!(!there.join("run1/x.tmp").exists());
    assert_eq!(
        fs::read_link(there.join("latest")).unwrap(),
        Path::new("hits.root")
    );
    let verified = campaign(&["verify", folder], 0);
    assert!(verified.contains("301 files"), "{verified}");
    let again = campaign(&["plan", plan, folder], 0);
    assert!(again.contains("Nothing is new"), "{again}");
    site.has("raw/run2/event5", 77);
    let changed = campaign(&["plan", plan, folder], 0);
    assert!(changed.contains("raw 0 1 302"), "{changed}");
    site.has("raw/run2/event5", 78);
    let failed = campaign(&["run", folder], 1);
    assert!(failed.contains("1 failed"), "{failed}");
    assert!(campaign(&["status", folder], 0).contains("source-changed 1"));
}
