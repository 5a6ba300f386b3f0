//! Sweeps as a user meets them: kept visit by visit, interrupted, taken up again, refused where
//! they would be lost.

mod common;

use std::fs;
use std::io::{BufRead, BufReader};
use std::net::{IpAddr, Ipv4Addr};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

use common::{complaint, run, trunkline};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::Value;

/// Two settings, twice, of two simulated seconds.
const SMALL: [&str; 8] = [
    "sweep",
    "sim:lan",
    "--streams",
    "1,2",
    "--cycles",
    "2",
    "-t",
    "2s",
];

/// More visits than are made before a test interrupts them, each of a second or two: what limits it
/// is inferred.
const LONG: [&str; 8] = [
    "sweep",
    "sim:slac-cern",
    "--streams",
    "1..4",
    "--cycles",
    "3",
    "-t",
    "15s",
];

fn text(arguments: &[&str]) -> String {
    let output = run(arguments);
    let told = complaint(&output);
    assert!(output.status.success(), "{arguments:?}: {told}");
    String::from_utf8(output.stdout).unwrap()
}

fn json(arguments: &[&str]) -> Value {
    serde_json::from_str(&text(arguments)).unwrap()
}

/// What is refused, with its exit code and parts of what is said.
fn refused(arguments: &[&str], code: i32, parts: &[&str]) {
    let output = run(arguments);
    let told = complaint(&output);
    for part in parts {
        assert!(told.contains(part), "{arguments:?}: {part} in\n{told}");
    }
    assert_eq!(output.status.code(), Some(code), "{told}");
}

/// How many visits of the first sweep were measured; 0 while there is none.
fn measured() -> u64 {
    let list = json(&["history", "--json"]);
    list["entries"][0]["measured"].as_u64().unwrap_or(0)
}

/// A sweep of [`LONG`] that has finished some visits, and not all.
fn under_way() -> Child {
    let mut command = trunkline(&LONG);
    command.stdout(Stdio::null()).stderr(Stdio::null());
    let sweep = command.spawn().unwrap();
    while measured() < 2 {
        thread::sleep(Duration::from_millis(20));
    }
    sweep
}

fn end(mut sweep: Child, signal: Signal) -> Option<i32> {
    let pid = Pid::from_raw(i32::try_from(sweep.id()).unwrap());
    kill(pid, signal).unwrap();
    let code = sweep.wait().unwrap().code();
    let done = measured();
    assert!((2..12).contains(&done), "{done} visits: not in the middle");
    code
}

/// The visits without what differs from one time to the next: numbers of runs, dates.
fn visits(id: &str) -> Vec<String> {
    let csv = text(&["history", id, "--csv"]);
    let line = |line: &str| {
        let cells: Vec<&str> = line.split(',').collect();
        let kept = cells.iter().enumerate();
        let kept = kept.filter(|(place, _)| ![2, 3].contains(place));
        kept.map(|(_, cell)| *cell).collect::<Vec<_>>().join(",")
    };
    csv.lines().map(line).collect()
}

#[test]
fn a_sweep_is_one_entry_and_its_visits_are_measurements() {
    let document = json(&[&SMALL[..], &["--json"]].concat());
    assert_eq!(document["schema"], "trunkline/sweep");
    assert!(document["cut_because"].is_null());
    let cells = document["cells"].as_array().unwrap();
    assert_eq!(cells.len(), 4);
    assert_eq!(json(&["history", "1", "--json"]), document);
    let list = text(&["history"]);
    assert!(list.contains("4 of 4 "), "{list}");
    assert_eq!(list.lines().count(), 2, "{list}");
    assert!(
        list.lines().all(|line| line.chars().count() <= 80),
        "{list}"
    );
    let runs = json(&["history", "--sweep", "1", "--json"]);
    let runs = runs["entries"].as_array().unwrap();
    assert_eq!(runs.len(), 4);
    for (run, cell) in runs.iter().zip(cells) {
        assert_eq!(run["id"], cell["run"]);
        let figures = &cell["figures"];
        let goodput = &figures["goodput_bits_per_second"];
        assert_eq!(&run["goodput_bits_per_second"], goodput);
        let whole = json(&["history", &run["id"].to_string(), "--json"]);
        assert_eq!(whole["schema"], "trunkline/measure");
        assert_eq!(&whole["goodput_bits_per_second"], goodput);
        assert!(whole["streams"][0]["delivery"]["progress"].is_array());
        assert!(figures["rtt_unloaded"]["median_seconds"].is_f64());
        assert!(figures["rtt_loaded"]["quartile3_seconds"].is_f64());
    }
    let csv = text(&["history", "1", "--csv"]);
    let columns: Vec<usize> = csv.lines().map(|line| line.split(',').count()).collect();
    assert_eq!(columns.len(), 5);
    assert!(columns.iter().all(|count| *count == columns[0]), "{csv}");
    refused(&["history", "2", "--csv"], 2, &["only a sweep", "--json"]);
}

#[test]
fn what_is_said_before_and_meanwhile_has_visits_and_time() {
    let output = run(&SMALL);
    let told = complaint(&output);
    for part in [
        "sweep 1: 2 settings in 2 cycles, 4 visits",
        "visit 4 of 4, cycle 2: ",
        "0 s left",
        "`trunkline history 1` shows it again",
    ] {
        assert!(told.contains(part), "{part} in\n{told}");
    }
}

#[test]
fn a_saved_sweep_is_shown_and_taken_over_elsewhere() {
    let folder = tempfile::tempdir().unwrap();
    let name = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let (saved, page, other) = (name("s.json"), name("s.html"), name("other.sqlite"));
    let shown = text(&[&SMALL[..], &["--save", &saved, "--report", &page]].concat());
    assert!(fs::read_to_string(&page).unwrap().contains("sim:lan"));
    let again = text(&["report", &saved]);
    assert!(again.ends_with(&shown), "{again}");
    assert_eq!(again, text(&["history", "1"]));
    let told = text(&["history", "--import", &saved, "--history", &other]);
    assert!(told.contains("run 1"), "{told}");
    let there = text(&["history", "1", "--csv", "--history", &other]);
    let here = text(&["history", "1", "--csv"]);
    assert_eq!(there.lines().count(), here.lines().count());
    let none = text(&["history", "--sweep", "1", "--json", "--history", &other]);
    assert!(none.contains("\"entries\": []"), "{none}");
}

#[test]
fn a_killed_sweep_goes_on_and_ends_as_if_nothing_had_been() {
    end(under_way(), Signal::SIGKILL);
    let before = visits("1");
    let resumed = run(&["sweep", "--resume"]);
    let told = complaint(&resumed);
    assert!(resumed.status.success(), "{told}");
    assert!(told.contains("of 12 visits are there"), "{told}");
    let after = visits("1");
    assert_eq!(after.len(), 13);
    assert_eq!(after[..before.len()], before[..], "what was finished stays");
    refused(&["sweep", "--resume"], 2, &["no sweep in", "is unfinished"]);
    let folder = tempfile::tempdir().unwrap();
    let other = folder.path().join("other.sqlite");
    let other = ["--history", other.to_str().unwrap()];
    text(&[&LONG[..], &other].concat());
    let csv = text(&[&["history", "1", "--csv"], &other[..]].concat());
    let goodputs = |csv: &str| -> Vec<String> {
        let cell = |line: &str| line.split(',').nth(11).map(str::to_owned);
        csv.lines().filter_map(cell).collect()
    };
    let here = text(&["history", "1", "--csv"]);
    assert_eq!(goodputs(&here), goodputs(&csv), "to the last bit");
}

#[test]
fn who_ends_a_sweep_is_told_how_to_go_on() {
    let mut command = trunkline(&LONG);
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let sweep = command.spawn().unwrap();
    while measured() < 2 {
        thread::sleep(Duration::from_millis(20));
    }
    let pid = Pid::from_raw(i32::try_from(sweep.id()).unwrap());
    kill(pid, Signal::SIGTERM).unwrap();
    let output = sweep.wait_with_output().unwrap();
    let told = complaint(&output);
    assert_eq!(output.status.code(), Some(1), "{told}");
    for part in [
        "stopped: the sweep ended early",
        "of 12 visits are kept",
        "`trunkline sweep --resume 1` goes on",
    ] {
        assert!(told.contains(part), "{part} in\n{told}");
    }
    assert!(!output.stdout.is_empty(), "what there is is shown");
    let document = json(&["history", "1", "--json"]);
    assert_eq!(document["cut_because"], "cancelled");
    // The same command again is another sweep, but the hint stands there.
    let mut again = trunkline(&LONG);
    again.stdout(Stdio::null()).stderr(Stdio::piped());
    let again = again.spawn().unwrap();
    while json(&["history", "--json"])["entries"]
        .as_array()
        .unwrap()
        .len()
        < 2
    {
        thread::sleep(Duration::from_millis(20));
    }
    let pid = Pid::from_raw(i32::try_from(again.id()).unwrap());
    kill(pid, Signal::SIGTERM).unwrap();
    let told = complaint(&again.wait_with_output().unwrap());
    assert!(told.contains("hint: sweep 1 is the same"), "{told}");
}

#[test]
fn several_paths_are_visited_in_turn_and_shown_in_one_table() {
    let folder = tempfile::tempdir().unwrap();
    let page = folder.path().join("paths.html").display().to_string();
    let mut words = SMALL.to_vec();
    words.splice(1..2, ["sim:lan", "sim:slac-cern", "sim:slac-in2p3"]);
    let told = text(&[&words[..], &["--report", &page]].concat());
    for part in [
        "3 paths with the same settings",
        "carries the most",
        "slac-cern: sweep 2",
    ] {
        assert!(told.contains(part), "{part} in\n{told}");
    }
    assert!(
        told.lines().all(|line| line.chars().count() <= 80),
        "{told}"
    );
    let html = fs::read_to_string(&page).unwrap();
    assert!(html.contains("against the number of streams, each path"));
    let list = json(&["history", "--json"]);
    let entries = list["entries"].as_array().unwrap();
    assert_eq!(entries.len(), 3);
    assert!(entries.iter().all(|entry| entry["measured"] == 4), "{list}");
    // By itself a path has the same visits.
    let together = json(&["history", "1", "--json"]);
    let alone: Value = serde_json::from_str(&text(&[&SMALL[..], &["--json"]].concat())).unwrap();
    let goodputs = |document: &Value| -> Vec<u64> {
        let cells = document["cells"].as_array().unwrap().iter();
        cells
            .map(|cell| cell["figures"]["goodput_bits_per_second"].as_u64().unwrap())
            .collect()
    };
    assert_eq!(goodputs(&together), goodputs(&alone));
    refused(
        &[&words[..], &["--json"]].concat(),
        2,
        &["`--json` is for one path, and 3 are named", "hint: "],
    );
    words[2] = "sim:lan";
    refused(&words, 2, &["sim:lan is named twice"]);
}

#[test]
fn two_processes_do_not_make_one_sweep() {
    let first = under_way();
    refused(
        &["sweep", "--resume", "1"],
        1,
        &["sweep 1 in", "another process", "hint:"],
    );
    end(first, Signal::SIGKILL);
}

#[test]
fn a_resumed_sweep_keeps_its_plan() {
    end(under_way(), Signal::SIGINT);
    for (more, parts) in [
        (&["99"][..], &["there is no sweep 99"][..]),
        (&["1", "--cycles", "3"], &["cannot be used with"]),
        (&["1", "--seed", "3"], &["cannot be used with"]),
        (&["1", "-C", "bbr"], &["are fixed", "leave out `-C`"]),
        (&["1", "sim:lan"], &["measures sim:slac-cern, not sim:lan"]),
        (&["1", "--dscp", "LE"], &["is fixed", "leave out `-4`"]),
    ] {
        refused(&[&["sweep", "--resume"], more].concat(), 2, parts);
    }
    text(&["sweep", "--resume", "1", "sim:slac-cern"]);
    assert_eq!(measured(), 12);
}

/// A server at this address with these options, what it logs from now on, and its name as a target.
fn serving(at: IpAddr, options: &[&str]) -> (Child, impl Iterator<Item = String> + use<>, String) {
    let free = std::net::TcpListener::bind((at, 0)).unwrap();
    let place = free.local_addr().unwrap();
    drop(free);
    let (at, port) = (at.to_string(), place.port().to_string());
    let words = ["serve", "--bind", &at, "--port", &port];
    let mut server = trunkline(&[&words[..], options].concat());
    server.stdout(Stdio::null()).stderr(Stdio::piped());
    let mut server = server.spawn().unwrap();
    let log = BufReader::new(server.stderr.take().unwrap()).lines();
    let mut log = log.map(Result::unwrap);
    assert!(log.any(|line| line.starts_with("serving")), "it ended");
    (server, log, place.to_string())
}

/// A server's key, and `mario` among its users, whose password is `rossi`; `None`, told as a skip,
/// without `openssl`.
fn users() -> Option<tempfile::TempDir> {
    if !testkit::has_program("openssl") {
        return None;
    }
    let folder = tempfile::tempdir().unwrap();
    for words in [
        "genrsa -out key.pem 2048",
        "rsa -in key.pem -pubout -out public.pem",
    ] {
        let mut openssl = Command::new("openssl");
        let made = openssl.args(words.split(' ')).current_dir(folder.path());
        assert!(made.output().unwrap().status.success(), "{words}");
    }
    let hash = "bf7a49a846d44b454a5d11e7acfaf13d138bbe0b7483aa3e050879700572709b";
    fs::write(folder.path().join("users"), format!("mario,{hash}\n")).unwrap();
    Some(folder)
}

#[test]
fn the_user_is_kept_with_the_plan_and_the_password_nowhere() {
    const PASSWORD: &str = "rossi";
    let Some(folder) = users() else {
        return;
    };
    let file = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let (key, public, history) = (file("key.pem"), file("public.pem"), file("archive"));
    let users = ["--iperf3-users", &file("users"), "--iperf3-key", &key];
    let (mut server, mut log, target) = serving(testkit::loopback(), &users);
    let with_password = |words: &[&str]| {
        let mut sweep = trunkline(&["sweep", "--history", &history]);
        sweep.args(words).env("IPERF3_PASSWORD", PASSWORD);
        sweep
    };
    let begun = format!("{target} -P 1 --cycles 3 -t 1s --user mario --user-key {public}");
    let mut begun = with_password(&begun.split(' ').collect::<Vec<_>>());
    let mut begun = begun.stdout(Stdio::null()).spawn().unwrap();
    let kept = || run(&["history", "1", "--history", &history, "--json"]).stdout;
    let cells = |kept: &[u8]| {
        let document = serde_json::from_slice::<Value>(kept).unwrap_or_default();
        document["cells"].as_array().map_or(0, Vec::len)
    };
    while cells(&kept()) == 0 {
        assert_eq!(begun.try_wait().unwrap(), None, "it ended");
        thread::sleep(Duration::from_millis(20));
    }
    kill(Pid::from_raw(begun.id().cast_signed()), Signal::SIGINT).unwrap();
    begun.wait().unwrap();
    let other = ["--resume", "1", "--user", "luigi", "--user-key", &public];
    let refused = with_password(&other).output().unwrap();
    assert!(complaint(&refused).contains("logs in as user `mario`"));
    assert_eq!(refused.status.code(), Some(2));
    let resumed = with_password(&["--resume", "--json"]).output().unwrap();
    assert!(resumed.status.success(), "{}", complaint(&resumed));
    server.kill().unwrap();
    server.wait().unwrap();
    assert!(log.all(|line| !line.contains(PASSWORD)));
    assert_eq!(cells(&resumed.stdout), 3);
    // Archives are packed.
    assert!(!String::from_utf8_lossy(&resumed.stdout).contains(PASSWORD));
    let document: Value = serde_json::from_slice(&resumed.stdout).unwrap();
    let user = serde_json::json!({"name": "mario", "key": public});
    assert_eq!(document["plan"]["user"], user);
    for file in fs::read_dir(folder.path()).unwrap() {
        let bytes = fs::read(file.unwrap().path()).unwrap();
        let mut parts = bytes.windows(PASSWORD.len());
        assert!(parts.all(|part| part != PASSWORD.as_bytes()));
    }
}

#[test]
fn how_packets_leave_is_kept_with_the_plan() {
    let (mut server, log, target) = serving(Ipv4Addr::LOCALHOST.into(), &[]);
    let small = ["-P", "1", "--cycles", "2", "-t", "1s", "--json"];
    let leaving = ["--bind", "127.0.0.2", "--dscp", "AF11"];
    let document = json(&[&["sweep", target.as_str()], &small[..], &leaving].concat());
    server.kill().unwrap();
    server.wait().unwrap();
    let tests: Vec<String> = log.filter(|line| line.contains(": test of ")).collect();
    let is_so = |line: &String| line.contains(" 127.0.0.2:");
    assert!(!tests.is_empty() && tests.iter().all(is_so), "{tests:?}");
    let via = serde_json::json!({"bind": "127.0.0.2", "dscp": "AF11"});
    assert_eq!(document["plan"]["via"], via);
    assert_eq!(measured(), 2);
    refused(&["sweep", "sim:lan", "-6"], 2, &["hint: "]);
    let user = [
        "sweep",
        "sim:lan",
        "--user",
        "ana",
        "--user-key",
        "none.pem",
    ];
    refused(&user, 2, &["logs in to", "this target is none", "hint: "]);
}

#[test]
fn a_path_that_was_edited_is_another_path() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("mine.toml");
    let path = |delay: u32| {
        format!(
            "[forward]\nrate = \"20Mbit/s\"\ndelay = \"{delay}ms\"\n\
             queue = {{ kind = \"drop-tail\", limit = \"60packets\" }}\n"
        )
    };
    fs::write(&file, path(2)).unwrap();
    let target = format!("sim:{}", file.display());
    let small = ["--streams", "1", "--cycles", "1", "-t", "2s"];
    text(&[&["sweep", target.as_str()], &small[..]].concat());
    text(&["sweep", "--resume", "1"]);
    fs::write(&file, path(3)).unwrap();
    refused(
        &["sweep", "--resume", "1"],
        2,
        &["was changed since sweep 1 began", "hint:"],
    );
}

#[test]
fn without_a_place_for_its_visits_no_sweep_begins() {
    let folder = tempfile::tempdir().unwrap();
    let name = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    refused(
        &[&SMALL[..], &["--no-history"]].concat(),
        2,
        &["keeps every visit", "leave out `--no-history`"],
    );
    let (taken, letter, newer) = (name("taken"), name("letter"), name("newer"));
    fs::write(&taken, "").unwrap();
    let below = format!("{taken}/archive.sqlite");
    fs::write(&letter, "a letter, and no database. ".repeat(100)).unwrap();
    text(&[&SMALL[..], &["--history", &newer]].concat());
    version_99(Path::new(&newer));
    for (file, code, parts) in [
        (&below, 1, ["cannot use", "--history FILE"]),
        (&letter, 1, ["is damaged", "--set-aside"]),
        (
            &newer,
            2,
            ["has version 99", "use the trunkline that wrote it"],
        ),
    ] {
        refused(&[&SMALL[..], &["--history", file]].concat(), code, &parts);
        let resume = ["sweep", "--resume", "1", "--history", file];
        let output = run(&resume);
        assert!(!output.status.success() && !complaint(&output).contains("visit 1"));
    }
}

/// The version of the tables stands in four bytes of the head (SQLite's file format, offset 60).
fn version_99(file: &Path) {
    let mut bytes = fs::read(file).unwrap();
    bytes[60..64].copy_from_slice(&99_u32.to_be_bytes());
    fs::write(file, bytes).unwrap();
}

#[test]
fn grids_that_cannot_be_are_refused_and_what_is_left_out_is_told() {
    let output = run(&[
        "sweep",
        "sim:lan",
        "--streams",
        "1,64",
        "--product",
        "128k",
        "--cycles",
        "1",
        "-t",
        "1s",
    ]);
    let told = complaint(&output);
    assert!(output.status.success(), "{told}");
    let part = "left out: 128KiB over 64 streams is a window of 2KiB";
    assert!(told.contains(part), "{told}");
    assert!(told.contains("1 setting in 1 cycle, 1 visit"), "{told}");
    for (more, part) in [
        (&["--streams", "1..200"][..], "200 streams are not between"),
        (
            &["--streams", "64", "--product", "64k"],
            "no window of this grid",
        ),
        (&["--cycles", "100000"], "are more than 100000 visits"),
        (
            &["--product", "1M", "--windows", "64k"],
            "cannot be used with",
        ),
        (&["--bidir"], "one way at a time"),
        (&["-C", "nonsense"], "nonsense"),
    ] {
        refused(&[&["sweep", "sim:lan"], more].concat(), 2, &[part]);
    }
    refused(&["sweep"], 2, &["TARGET"]);
    let list = json(&["history", "--json"]);
    let left = list["entries"].as_array().unwrap().len();
    assert_eq!(left, 1, "what was refused leaves nothing behind: {list}");
}

#[test]
fn two_sweeps_are_compared_and_a_sweep_with_a_run_is_not() {
    text(&SMALL);
    text(&[&SMALL[..], &["--seed", "2"]].concat());
    let comparison = json(&["history", "--compare", "1", "6", "--json"]);
    assert_eq!(comparison["from"]["visits"], 4);
    assert_eq!(comparison["settings"].as_array().unwrap().len(), 2);
    let shown = text(&["history", "--compare", "1", "6"]);
    assert!(
        shown.lines().all(|line| line.chars().count() <= 80),
        "{shown}"
    );
    assert!(shown.contains("sim:lan"), "{shown}");
    refused(
        &["history", "--compare", "1", "2"],
        2,
        &["1 is a sweep and 2 is not", "hint:"],
    );
}

/// The simulator on the inferred path stands beside the measured curves, and stays there.
#[test]
fn a_sweep_is_simulated_beside() {
    let page = std::env::temp_dir().join(format!("beside-{}.html", std::process::id()));
    let file = page.with_extension("toml");
    let (page, file) = (page.to_str().unwrap(), file.to_str().unwrap());
    let grid = [
        "sweep",
        "sim:slac-cern",
        "--streams",
        "1,4,16",
        "--cycles",
        "2",
    ];
    let asked = ["--both-ways", "--beside", "sim", "--report", page, "--json"];
    let document = json(&[&grid[..], &asked].concat());
    let beside = document["beside"].as_array().unwrap();
    assert_eq!(beside.len(), 2, "one for each direction");
    for one in beside {
        let settings = one["settings"].as_array().unwrap();
        assert_eq!(settings.len(), 3);
        let ratio = |setting: &Value| {
            let rate = |key: &str| setting[key].as_f64().unwrap();
            rate("simulated_bits_per_second") / rate("goodput_bits_per_second")
        };
        let near = settings
            .iter()
            .filter(|one| (ratio(one) - 1.0).abs() <= 0.1);
        assert_eq!(one["near_ratio"], near.count() as f64 / 3.0);
        // Far off is another path.
        assert!(
            settings.iter().all(|one| (0.4..2.5).contains(&ratio(one))),
            "{one}"
        );
    }
    assert!(
        fs::read_to_string(page)
            .unwrap()
            .contains("Dashed: what the simulator carries")
    );
    assert_eq!(
        json(&["history", "1", "--json"])["beside"],
        document["beside"]
    );
    text(&["history", "1", "--path-file", file]);
    assert_eq!(beside[0]["path_file"], fs::read_to_string(file).unwrap());
    let csv = text(&["history", "1", "--csv"]);
    let filled = csv.lines().skip(1).filter(|line| !line.ends_with(','));
    assert_eq!(filled.count(), 12, "{csv}");
    // One without is compared on the path that the other found.
    text(&[&grid[..], &["--seed", "2"]].concat());
    let comparison = json(&["history", "--compare", "1", "14", "--json"]);
    let of: Vec<i64> = comparison["beside"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["run"].as_i64().unwrap())
        .collect();
    assert_eq!(of, [1, 1, 14], "{comparison}");
    let shown = text(&["history", "--compare", "1", "14"]);
    assert!(shown.contains("simulated / measured"), "{shown}");
    // A finished sweep is simulated when it is asked for again.
    let told = text(&["sweep", "--resume", "14", "--beside", "sim"]);
    assert!(told.contains("within 10 %"), "{told}");
    fs::remove_file(page).unwrap();
    fs::remove_file(file).unwrap();
}

/// A search has a path; what else was measured there is simulated on it.
#[test]
fn a_run_is_compared_on_the_path_of_a_search() {
    text(&["tune", "sim:lan", "--budget", "3s"]);
    text(&["measure", "sim:lan", "-P", "2"]);
    text(&["measure", "sim:slac-cern"]);
    let beside =
        |other: &str| json(&["history", "--compare", "1", other, "--json"])["beside"].clone();
    let runs = |beside: &Value| beside.as_array().map_or(0, Vec::len);
    assert_eq!(runs(&beside("2")), 2);
    assert_eq!(runs(&beside("3")), 1, "another path has its own");
    let none = json(&["history", "--compare", "2", "3", "--json"]);
    assert!(none["beside"].is_null());
}
