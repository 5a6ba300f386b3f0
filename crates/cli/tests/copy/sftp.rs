//! Hosts where nothing may be started: their SFTP server is the far end. A script takes ssh's
//! place, and starts the system's `sftp-server`.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use serde_json::Value;

use crate::common::{complaint, trunkline};
use crate::sent::FarHost;

const SAID: &str = "Copying over the SFTP server of h instead, which is slower";

/// The system's SFTP server; `None` where there is none.
pub(crate) fn server() -> Option<String> {
    let places = ["/usr/lib/openssh", "/usr/libexec/openssh", "/usr/lib/ssh"];
    let servers = places.map(|folder| format!("{folder}/sftp-server"));
    let found = servers
        .into_iter()
        .find(|server| Path::new(server).exists());
    if found.is_none() {
        testkit::skip("no sftp-server");
    }
    found
}

/// A far host that runs `script` for any command, and has SFTP; `None` where there is no server.
pub(crate) fn host(script: &str) -> Option<FarHost> {
    let server = server()?;
    let host = FarHost::new();
    host.runs(&format!(
        "case \" $* \" in *' -s '*) exec {server};; esac\n{script}"
    ));
    Some(host)
}

/// One whose sessions note their process numbers in `sessions`, and run `before` first.
fn watched(before: &str) -> Option<FarHost> {
    let server = server()?;
    let host = FarHost::new();
    let sessions = text(&host.path("sessions"));
    host.runs(&format!("echo $$ >> {sessions}; {before}\nexec {server}"));
    Some(host)
}

/// The process numbers of all sessions that began.
fn sessions(host: &FarHost) -> Vec<String> {
    let text = fs::read_to_string(host.path("sessions")).unwrap_or_default();
    text.lines().map(str::to_owned).collect()
}

/// A copy over SFTP that is not started yet, with its events on standard output.
fn command(host: &FarHost, words: &[&str]) -> Command {
    let ssh = text(&host.path("ssh"));
    let first = ["copy", "--no-history", "--json", "-e", &ssh, "--sftp"];
    let mut command = trunkline(&[&first[..], words].concat());
    command.env("TRUNKLINE_STATE", host.path("state"));
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// Waits for `what`, for as long as all of these go on.
fn while_running(running: &mut [Child], what: &str, is_so: impl Fn() -> bool) {
    let until = Instant::now() + Duration::from_secs(60);
    while !is_so() {
        let has_ended = running
            .iter_mut()
            .any(|it| it.try_wait().unwrap().is_some());
        assert!(!has_ended && Instant::now() < until, "{what}");
        thread::sleep(Duration::from_millis(20));
    }
}

/// The document at the end of a copy that succeeds.
fn ended(running: Child) -> Value {
    let output = running.wait_with_output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let text = String::from_utf8(output.stdout).unwrap();
    serde_json::from_str(text.lines().last().unwrap()).unwrap()
}

/// Whether the session has moved more than what it takes to begin.
fn carries(session: &str) -> bool {
    let text = fs::read_to_string(format!("/proc/{session}/io")).unwrap_or_default();
    let count = |line: &str| {
        let number = line.strip_prefix("rchar: ");
        let number = number.or_else(|| line.strip_prefix("wchar: "));
        number.and_then(|it| it.parse::<u64>().ok())
    };
    text.lines().filter_map(count).sum::<u64>() > 400_000
}

/// How many files of a folder are not whole.
fn parts(folder: &Path) -> usize {
    let all = fs::read_dir(folder).into_iter().flatten().flatten();
    let names = all.map(|one| one.file_name().into_string().unwrap());
    names
        .filter(|name| name.ends_with(".trunkline-part"))
        .count()
}

pub(crate) fn copy(host: &FarHost, words: &[&str]) -> Output {
    let ssh = host.path("ssh");
    let words = [
        &["copy", "--no-history", "-e", ssh.to_str().unwrap()],
        words,
    ]
    .concat();
    trunkline(&words).output().unwrap()
}

/// What a copy said, on both outputs.
pub(crate) fn all_said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned() + &complaint(output)
}

pub(crate) fn copied(host: &FarHost, words: &[&str]) -> (Vec<Value>, String) {
    let output = copy(host, &[&["--json"], words].concat());
    let text = complaint(&output);
    assert_eq!(output.status.code(), Some(0), "{words:?}: {text}");
    let lines = String::from_utf8(output.stdout).unwrap();
    let lines = lines
        .lines()
        .map(|line| serde_json::from_str(line).unwrap());
    (lines.collect(), text)
}

pub(crate) fn document(host: &FarHost, words: &[&str]) -> Value {
    copied(host, words).0.pop().unwrap()
}

/// Numbers from a seed, for trees.
pub(crate) struct Draw(u64);

impl Draw {
    pub(crate) fn seeded() -> Self {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
        let seed = now.as_nanos() as u64 | 1;
        println!("seed {seed}");
        Draw(seed)
    }

    pub(crate) fn below(&mut self, most: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % most.max(1)
    }

    pub(crate) fn bytes(&mut self, length: u64) -> Vec<u8> {
        (0..length).map(|_| self.below(256) as u8).collect()
    }
}

fn tree(folder: &Path, draw: &mut Draw, depth: u64) {
    fs::create_dir_all(folder).unwrap();
    for at in 0..draw.below(7) + 1 {
        let name = ["a", "b c", "ü", "-x", "'q'"][draw.below(5) as usize];
        let path = folder.join(format!("{name}{at}"));
        match draw.below(5) {
            0 if depth > 0 => tree(&path, draw, depth - 1),
            0 => fs::create_dir(&path).unwrap(),
            1 => symlink(["nowhere", "..", "a0"][draw.below(3) as usize], &path).unwrap(),
            kind => {
                let lengths = [0, 1, 5000, 1 << 20, (1 << 20) + 1, (3 << 20) + 77];
                let length = lengths[draw.below(6) as usize];
                let content = draw.bytes(if kind == 2 { 3 } else { length });
                fs::write(&path, content).unwrap();
                let mode = [0o644, 0o600, 0o755, 0o440][draw.below(4) as usize];
                fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
                let then = UNIX_EPOCH + Duration::from_secs(1_000_000 + draw.below(1 << 30));
                let file = fs::File::open(&path).unwrap();
                file.set_modified(then).unwrap();
            }
        }
    }
}

/// All that is in it: names, kinds, modes, whole seconds and contents.
fn content(folder: &Path) -> Vec<(PathBuf, u32, i64, Vec<u8>)> {
    let mut all = Vec::new();
    let mut names: Vec<_> = fs::read_dir(folder)
        .unwrap()
        .map(|it| it.unwrap())
        .collect();
    names.sort_by_key(|one| one.file_name());
    for one in names {
        let (path, meta) = (one.path(), one.path().symlink_metadata().unwrap());
        let name = PathBuf::from(one.file_name());
        if meta.is_dir() {
            all.push((name.clone(), meta.mode(), 0, Vec::new()));
            let below = content(&path).into_iter();
            all.extend(below.map(|it| (name.join(it.0), it.1, it.2, it.3)));
        } else if meta.is_symlink() {
            let text = fs::read_link(&path).unwrap();
            all.push((name, 0, 0, text.as_os_str().as_encoded_bytes().to_vec()));
        } else {
            all.push((name, meta.mode(), meta.mtime(), fs::read(&path).unwrap()));
        }
    }
    all
}

pub(crate) fn text(path: &Path) -> String {
    path.to_str().unwrap().to_owned()
}

#[test]
fn a_host_that_runs_nothing_is_copied_to_over_sftp_which_is_said_once() {
    for script in [
        "echo 'This account is closed'; exit 1",
        "exit 127",
        "exec sh -c 'head -c 5 >/dev/null; exit 11'",
    ] {
        let Some(host) = host(script) else {
            return;
        };
        let (events, said) = copied(&host, &[&text(&host.path("a")), "h:b"]);
        assert_eq!(fs::read_to_string(host.path("home/b")).unwrap(), "kept");
        assert_eq!(said.matches(SAID).count(), 1, "{said}");
        let told = events.iter().filter(|event| event["event"] == "over-sftp");
        let told: Vec<_> = told.collect();
        assert_eq!(told.len(), 1, "{events:?}");
        assert_eq!(told[0]["host"], "h");
        let (_, said) = copied(&host, &["h:b", &text(&host.path("back"))]);
        assert_eq!(said.matches(SAID).count(), 1, "{said}");
        assert_eq!(fs::read_to_string(host.path("back")).unwrap(), "kept");
        // The user has chosen it, so that there is nothing to say.
        let (_, said) = copied(&host, &["--sftp", &text(&host.path("a")), "h:c"]);
        assert!(!said.contains("SFTP"), "{said}");
    }
}

#[test]
fn drawn_trees_arrive_as_they_are_and_are_not_sent_again() {
    let Some(host) = host("exit 1") else {
        return;
    };
    let mut draw = Draw::seeded();
    for round in 0..4 {
        let verify: &[&str] = if round % 2 == 0 { &["--verify"] } else { &[] };
        let from = host.path(&format!("run{round}"));
        tree(&from, &mut draw, 3);
        let words = [verify, &["--sftp", "-r"]].concat();
        let run = |places: [&str; 2]| document(&host, &[&words[..], &places].concat());
        let source = text(&from);
        let put = [source.as_str(), "h:store"];
        run(put);
        let stored = host.path(&format!("home/store/run{round}"));
        assert_eq!(content(&stored), content(&from));
        let again = run(put);
        assert_eq!(again["sent_bytes"], 0, "{again}");
        let back = host.path(&format!("back{round}"));
        fs::create_dir(&back).unwrap();
        let far = format!("h:store/run{round}");
        let get = [far.as_str(), back.to_str().unwrap()];
        run(get);
        let got = back.join(format!("run{round}"));
        assert_eq!(content(&got), content(&from));
        let again = run(get);
        assert_eq!(again["sent_bytes"], 0, "{again}");
    }
}

#[test]
fn copies_that_are_killed_go_on_and_leave_nothing_behind() {
    let Some(host) = host("exit 1") else {
        return;
    };
    let mut draw = Draw::seeded();
    let from = host.path("whole/big");
    fs::create_dir_all(&from).unwrap();
    fs::write(from.join("large"), draw.bytes(24 << 20)).unwrap();
    for at in 0..40 {
        fs::write(from.join(format!("s{at}")), draw.bytes(at * 700)).unwrap();
    }
    for (way, places) in [
        ("put", [text(&from), "h:store".to_owned()]),
        ("get", ["h:store/big".to_owned(), text(&host.path("back"))]),
    ] {
        let ssh = text(&host.path("ssh"));
        let words = [
            "copy",
            "--no-history",
            "-e",
            &ssh,
            "--sftp",
            "-r",
            "--max-rate",
        ];
        let places = [places[0].as_str(), places[1].as_str()];
        for _ in 0..4 {
            let words = [&words[..], &["80M"], &places].concat();
            let mut running = trunkline(&words).stderr(Stdio::null()).spawn().unwrap();
            thread::sleep(Duration::from_millis(100 + draw.below(900)));
            running.kill().unwrap();
            running.wait().unwrap();
        }
        // What a killed near end has begun the far end may still be writing.
        thread::sleep(Duration::from_millis(200));
        document(&host, &[&["--sftp", "-r"], &places[..]].concat());
        let to = match way {
            "put" => host.path("home/store"),
            _ => host.path("back"),
        };
        assert_eq!(content(&to), content(&host.path("whole")), "{way}");
    }
}

/// Bytes that the one journal below `state` has: the lengths within its notes.
fn noted(state: &Path) -> u64 {
    let file = fs::read_dir(state.join("sftp"))
        .into_iter()
        .flatten()
        .next();
    let bytes = file.map(|file| fs::read(file.unwrap().path()).unwrap());
    let bytes = bytes.unwrap_or_default();
    let notes = bytes.get(12..).unwrap_or_default().chunks_exact(72);
    notes
        .map(|note| u64::from(u32::from_le_bytes(note[32..36].try_into().unwrap())))
        .sum()
}

#[test]
fn an_upload_that_was_stopped_sends_no_more_than_what_was_not_noted() {
    let Some(host) = host("exit 1") else {
        return;
    };
    let from = text(&host.path("large"));
    fs::write(&from, Draw::seeded().bytes(16 << 20)).unwrap();
    let slow = ["--max-rate", "10M", &from, "h:b"];
    let mut running = [command(&host, &slow).spawn().unwrap()];
    // What has arrived is flushed and noted every few seconds.
    let state = host.path("state");
    while_running(&mut running, "a note", || noted(&state) > 0);
    running[0].kill().unwrap();
    running[0].wait().unwrap();
    let noted = noted(&state);
    let done = ended(command(&host, &[&from, "h:b"]).spawn().unwrap());
    assert_eq!(done["sent_bytes"], (16 << 20) - noted, "{done}");
    let there = fs::read(host.path("home/b")).unwrap();
    assert!(there == fs::read(&from).unwrap());
}

#[test]
fn a_connection_that_is_killed_among_others_is_made_again() {
    let Some(host) = watched("") else {
        return;
    };
    let from = text(&host.path("large"));
    let content = Draw::seeded().bytes(32 << 20);
    fs::write(&from, &content).unwrap();
    fs::create_dir(host.path("back")).unwrap();
    let back = text(&host.path("back"));
    for (way, places, folder) in [
        ("put", [from.as_str(), "h:b"], "home"),
        ("get", ["h:b", back.as_str()], "back"),
    ] {
        let _ = fs::remove_file(host.path("sessions"));
        let words = ["--streams", "3", "--max-rate", "60M", places[0], places[1]];
        let mut running = [command(&host, &words).spawn().unwrap()];
        while_running(&mut running, way, || {
            let sessions = sessions(&host);
            sessions.len() == 3 && carries(&sessions[1])
        });
        let killed = sessions(&host).remove(1);
        let kill = Command::new("kill").args(["-9", &killed]).status();
        assert!(kill.unwrap().success());
        while_running(&mut running, way, || sessions(&host).len() > 3);
        let [running] = running;
        let done = ended(running);
        assert_eq!(done["streams_replaced"], 1, "{way}: {done}");
        assert_eq!(done["reconnects"], 0, "{way}: {done}");
        let name = if way == "put" { "home/b" } else { "back/b" };
        assert!(fs::read(host.path(name)).unwrap() == content, "{way}");
        assert_eq!(parts(&host.path(folder)), 0, "{way}");
    }
}

#[test]
fn a_server_that_may_open_few_files_takes_many() {
    let Some(host) = watched("ulimit -n 100") else {
        return;
    };
    let from = host.path("whole/many");
    for folder in 0..120 {
        let folder = from.join(format!("d{folder}"));
        fs::create_dir_all(&folder).unwrap();
        for at in 0..3_u8 {
            fs::write(folder.join(format!("f{at}")), [at; 9]).unwrap();
        }
    }
    let (source, back) = (text(&from), text(&host.path("back")));
    for places in [
        [source.as_str(), "h:store"],
        ["h:store/many", back.as_str()],
    ] {
        let words = ["-r", "--verify", places[0], places[1]];
        ended(command(&host, &words).spawn().unwrap());
    }
    let whole = content(&host.path("whole"));
    assert!(content(&host.path("home/store")) == whole);
    assert!(content(&host.path("back")) == whole);
}

#[test]
fn what_sftp_cannot_do_is_refused_by_name() {
    let Some(host) = host("echo 'This account is closed'; exit 1") else {
        return;
    };
    for words in [
        &["-z"][..],
        &["--plain"],
        &["--gentle"],
        &["-w", "4M"],
        &["--port-range", "5000-5001"],
        &["-P", "17"],
    ] {
        let asked = [&["--sftp"], words].concat();
        let said = host.refused(&asked);
        assert!(
            said.contains("`--") && !said.contains(SAID),
            "{words:?}: {said}"
        );
        let fallen = host.refused(words);
        assert!(
            fallen.contains("closed") && fallen.contains("SFTP would"),
            "{fallen}"
        );
    }
}

#[test]
fn copies_to_one_place_at_once_do_not_mix() {
    let Some(host) = watched("until [ -e ../go ]; do sleep 0.05; done") else {
        return;
    };
    let mut draw = Draw::seeded();
    let (one, other) = (draw.bytes(9 << 20), draw.bytes(9 << 20));
    fs::write(host.path("one"), &one).unwrap();
    fs::write(host.path("other"), &other).unwrap();
    let start = |name: &str| {
        let from = text(&host.path(name));
        let words = ["--streams", "1", "--max-rate", "20M", &from, "h:b"];
        command(&host, &words).spawn().unwrap()
    };
    let mut running = [start("one"), start("other"), start("one")];
    while_running(&mut running, "three logins", || sessions(&host).len() == 3);
    fs::write(host.path("go"), "").unwrap();
    // All are under way at one moment, each with a part of its own.
    let home = host.path("home");
    while_running(&mut running, "three parts", || parts(&home) == 3);
    for one in running {
        ended(one);
    }
    let there = fs::read(host.path("home/b")).unwrap();
    assert!(there == one || there == other);
    assert_eq!(fs::read_dir(home).unwrap().count(), 1);
}
