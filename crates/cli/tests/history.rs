//! Results that are kept, listed, compared and remembered, as a user meets them.

mod common;

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use common::{complaint, run, trunkline};
use serde_json::Value;

/// What `iperf3 -J` printed, beside the reader's own tests.
const IPERF3: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../output/record/src/iperf3/sent.json"
);

fn text(arguments: &[&str]) -> String {
    let output = run(arguments);
    assert!(
        output.status.success(),
        "{arguments:?}: {}",
        complaint(&output)
    );
    String::from_utf8(output.stdout).unwrap()
}

fn json(arguments: &[&str]) -> Value {
    serde_json::from_str(&text(arguments)).unwrap()
}

/// A short measurement on a simulated path.
fn measure(more: &[&str]) -> String {
    let mut words = vec!["measure", "sim:lan", "-t", "2s"];
    words.extend(more);
    text(&words)
}

fn refused(arguments: &[&str], code: i32, parts: &[&str]) {
    let output = run(arguments);
    let told = complaint(&output);
    for part in parts {
        assert!(told.contains(part), "{arguments:?}: {part} in\n{told}");
    }
    assert_eq!(output.status.code(), Some(code), "{told}");
}

/// The numbers of the runs that are listed.
fn listed(more: &[&str]) -> Vec<i64> {
    let mut words = vec!["history", "--json"];
    words.extend(more);
    let list = json(&words);
    let entries = list["entries"].as_array().unwrap();
    entries
        .iter()
        .map(|entry| entry["id"].as_i64().unwrap())
        .collect()
}

#[test]
fn what_was_measured_is_listed_and_shown_again_as_it_was() {
    assert_eq!(listed(&[]), [0; 0]);
    let first = measure(&["-P", "2", "--json"]);
    measure(&["-w", "64K"]);
    assert_eq!(listed(&[]), [1, 2]);
    assert_eq!(listed(&["--last", "1"]), [2]);
    assert_eq!(listed(&["--target", "LAN"]), [1, 2]);
    assert_eq!(listed(&["--target", "wan"]), [0; 0]);
    assert_eq!(listed(&["--since", "1h"]), [1, 2]);
    assert_eq!(listed(&["--since", "2999-01-01"]), [0; 0]);
    assert_eq!(text(&["history", "1", "--json"]), first);
    let list = text(&["history"]);
    assert!(
        list.lines().all(|line| line.chars().count() <= 80),
        "{list}"
    );
    for part in ["sim:lan", "1 x 64KiB", "measure", "bit/s"] {
        assert!(list.contains(part), "{part} in\n{list}");
    }
    let csv = text(&["history", "--csv"]);
    assert_eq!(csv.lines().count(), 3);
    assert!(csv.contains(",sim:lan,simulated,"), "{csv}");
}

#[test]
fn a_run_is_shown_as_report_shows_the_saved_file() {
    let folder = tempfile::tempdir().unwrap();
    let (saved, page) = (
        folder.path().join("run.json"),
        folder.path().join("run.html"),
    );
    measure(&["--save", saved.to_str().unwrap()]);
    let again = text(&["history", "1", "--html", page.to_str().unwrap()]);
    assert_eq!(again, text(&["report", saved.to_str().unwrap()]));
    assert!(fs::read_to_string(page).unwrap().contains("sim:lan"));
}

#[test]
fn one_simulated_setting_is_kept_and_a_campaign_is_not() {
    let run = [
        "simulate",
        "lan",
        "--duration",
        "2s",
        "--no-cache",
        "--seeds",
        "3",
    ];
    text(&run);
    text(&[&run[..], &["--streams", "1,2"]].concat());
    let list = json(&["history", "--json"]);
    let entries = list["entries"].as_array().unwrap();
    assert_eq!(entries.len(), 1);
    assert_eq!(entries[0]["schema"], "trunkline/simulate");
    assert_eq!(entries[0]["target"]["kind"], "simulated");
    assert_eq!(entries[0]["degrees_of_freedom"], 2.0);
}

#[test]
fn who_wants_no_history_has_none_and_another_file_is_another_archive() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("mine.sqlite");
    let name = file.to_str().unwrap();
    measure(&["--no-history"]);
    measure(&["--history", name]);
    assert_eq!(listed(&[]), [0; 0]);
    assert_eq!(listed(&["--history", name]), [1]);
    let missing = folder.path().join("missing.sqlite");
    let missing = missing.to_str().unwrap();
    refused(
        &["history", "--history", missing],
        2,
        &["there is no archive", "hint:"],
    );
    refused(
        &["measure", "sim:lan", "--no-history", "--history", name],
        2,
        &["cannot be used with"],
    );
}

fn purposes(document: &Value) -> Vec<&str> {
    let samples = document["samples"].as_array().unwrap();
    let purposes = samples
        .iter()
        .map(|sample| sample["purpose"].as_str().unwrap());
    purposes.collect()
}

fn tune(target: &str, more: &[&str]) -> Value {
    let mut words = vec!["tune", target, "--json"];
    words.extend(more);
    json(&words)
}

#[test]
fn a_search_remembers_what_an_earlier_one_found_on_the_same_path_only() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("slow.toml");
    let target = format!("sim:{}", file.display());
    let describe = |delay: &str| {
        let link = format!(
            "rate = \"20Mbit/s\"\ndelay = \"{delay}\"\n\
             queue = {{ kind = \"drop-tail\", limit = \"64KiB\" }}\nloss = {{ kind = \"random\", \
             rate = 0.002 }}\n"
        );
        fs::write(
            &file,
            format!(
                "[forward]\n{link}\n[reverse]\nrate = \"20Mbit/s\"\ndelay = \
            \"{delay}\"\nqueue = {{ kind = \"drop-tail\", limit = \"64KiB\" }}\n"
            ),
        )
        .unwrap();
    };
    describe("20ms");
    let first = tune(&target, &[]);
    assert!(!purposes(&first).contains(&"remembered"));
    let found = &first["recommended"];
    assert!(
        found["streams"] != 1 || found["congestion"].is_string(),
        "there is something to remember: {found}"
    );
    let second = tune(&target, &["--seed", "2", "--budget", "10s"]);
    assert_eq!(purposes(&second)[1], "remembered");
    let setting = &second["samples"][1]["setting"];
    assert_eq!(setting["streams"], found["streams"]);
    if found["congestion"].is_string() {
        assert_eq!(setting["congestion"], found["congestion"]);
    }
    assert!(
        second["samples"][1]["why"]
            .as_str()
            .unwrap()
            .contains("UTC")
    );
    let without = tune(&target, &["--no-history", "--budget", "10s"]);
    assert!(!purposes(&without).contains(&"remembered"));
    let back = tune(&target, &["-R", "--budget", "10s"]);
    assert!(
        !purposes(&back).contains(&"remembered"),
        "another direction"
    );
    describe("21ms");
    let other = tune(&target, &["--budget", "10s"]);
    assert!(!purposes(&other).contains(&"remembered"), "another path");
}

#[test]
fn two_runs_are_compared_with_an_interval() {
    measure(&["-w", "64K"]);
    measure(&["-w", "16K"]);
    let told = text(&["history", "--compare", "1", "2"]);
    for part in [
        "run 1",
        "run 2",
        "1 x 64KiB",
        "1 x 16KiB",
        "Run 2 carried",
        "less than run 1",
    ] {
        assert!(told.contains(part), "{part} in\n{told}");
    }
    let document = json(&["history", "--compare", "1", "2", "--json"]);
    assert_eq!(document["schema"], "trunkline/comparison");
    let difference = document["goodput"]["difference_bits_per_second"]
        .as_f64()
        .unwrap();
    assert!(difference < 0.0);
    refused(
        &["history", "--compare", "1", "9"],
        2,
        &["there is no run 9", "hint:"],
    );
    refused(&["history", "9"], 2, &["there is no run 9"]);
}

#[test]
fn iperf3_s_own_results_are_taken_over() {
    let told = text(&["history", "--import", IPERF3]);
    assert!(told.trim_end().ends_with("sent.json: run 1"), "{told}");
    text(&["history", "--import", IPERF3]);
    assert_eq!(listed(&[]), [1], "the same file is the same run");
    let shown = text(&["history", "1"]);
    assert!(
        shown.contains("127.0.0.1:5399") && shown.contains("iperf-3.12"),
        "{shown}"
    );
    let folder = tempfile::tempdir().unwrap();
    let other = folder.path().join("x.json");
    let name = other.to_str().unwrap();
    fs::write(&other, "{\"title\": \"a song\"}").unwrap();
    refused(
        &["history", "--import", IPERF3, name],
        2,
        &["x.json", "hint:"],
    );
    refused(
        &["history", "--import", "/nowhere/x.json"],
        2,
        &["cannot read"],
    );
}

#[test]
fn our_own_saved_documents_are_taken_over_too() {
    let folder = tempfile::tempdir().unwrap();
    let saved = folder.path().join("run.json");
    let name = saved.to_str().unwrap();
    measure(&["--no-history", "--save", name]);
    text(&["history", "--import", name]);
    assert_eq!(
        text(&["history", "1", "--json"]),
        fs::read_to_string(&saved).unwrap()
    );
}

/// A measurement whose archive is at `state`.
fn measured_with(state: &Path) -> (String, String) {
    let mut command = trunkline(&["measure", "sim:lan", "-t", "2s"]);
    let output = command.env("TRUNKLINE_STATE", state).output().unwrap();
    assert!(output.status.success(), "{}", complaint(&output));
    let told = complaint(&output);
    (String::from_utf8(output.stdout).unwrap(), told)
}

#[test]
fn a_folder_that_cannot_be_used_costs_a_warning_and_no_result() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("a-file");
    fs::write(&file, "").unwrap();
    let (result, told) = measured_with(&file.join("below"));
    assert!(result.contains("goodput"), "{result}");
    assert!(
        told.contains("warning: cannot use") && told.contains("a-file/below"),
        "{told}"
    );
    assert!(
        told.contains("this result is not kept") && told.contains("hint:"),
        "{told}"
    );
}

#[test]
fn a_damaged_archive_is_named_left_alone_and_set_aside_on_request() {
    let folder = tempfile::tempdir().unwrap();
    let state = folder.path();
    let archive: PathBuf = state.join("archive.sqlite");
    let noise = "no database at all. ".repeat(300);
    fs::write(&archive, &noise).unwrap();
    let (result, told) = measured_with(state);
    assert!(result.contains("goodput"), "{result}");
    assert!(told.contains("archive.sqlite is damaged"), "{told}");
    assert!(told.contains("trunkline history --set-aside"), "{told}");
    assert_eq!(fs::read_to_string(&archive).unwrap(), noise);
    let with_state = |arguments: &[&str]| {
        let mut command = trunkline(arguments);
        command.env("TRUNKLINE_STATE", state).output().unwrap()
    };
    assert_eq!(with_state(&["history"]).status.code(), Some(1));
    let aside = with_state(&["history", "--set-aside"]);
    assert!(
        complaint(&aside).contains("archive.sqlite.damaged-"),
        "{aside:?}"
    );
    assert!(measured_with(state).1.contains("kept as run 1"));
    let again = with_state(&["history", "--set-aside"]);
    assert!(complaint(&again).contains("is not damaged"), "{again:?}");
    assert_eq!(again.status.code(), Some(2));
}

#[test]
fn many_processes_keep_their_results_at_once() {
    let processes: Vec<_> = (1..=6)
        .map(|seed: u32| {
            let mut command = trunkline(&["measure", "sim:lan", "-t", "1s"]);
            let command = command.args(["--seed", &seed.to_string()]);
            command.stdout(Stdio::null()).stderr(Stdio::piped());
            command.spawn().unwrap()
        })
        .collect();
    for process in processes {
        let output = process.wait_with_output().unwrap();
        assert!(complaint(&output).contains("kept as run"), "{output:?}");
    }
    assert_eq!(listed(&[]).len(), 6);
}

/// `| head`, and a terminal that went away.
#[test]
fn readers_that_go_away_cause_no_panic() {
    for arguments in [
        &["measure", "sim:lan", "-t", "1s"][..],
        &["history"],
        &["measure", "sim:nowhere"],
        &["tune", "--help"],
    ] {
        let mut command = trunkline(arguments);
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut process = command.spawn().unwrap();
        drop(process.stdout.take());
        drop(process.stderr.take());
        let status = process.wait().unwrap();
        assert!(
            matches!(status.code(), Some(0..=2)),
            "{arguments:?}: {status:?}"
        );
    }
    assert_eq!(listed(&[]), [1], "kept although the pipe was closed");
    // Standard error alone gone: the result is there.
    let mut command = trunkline(&["measure", "sim:lan", "-t", "1s"]);
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut process = command.spawn().unwrap();
    drop(process.stderr.take());
    let mut result = String::new();
    let mut stdout = process.stdout.take().unwrap();
    stdout.read_to_string(&mut result).unwrap();
    assert!(process.wait().unwrap().success());
    assert!(result.contains("goodput"), "{result}");
}

#[test]
fn the_guard_rails_reach_the_search() {
    let document = tune(
        "sim:slac-cern",
        &["--max-streams", "4", "--budget", "20s,500MB"],
    );
    let samples = document["samples"].as_array().unwrap();
    for sample in samples {
        assert!(sample["setting"]["streams"].as_u64().unwrap() <= 4);
    }
    assert!(document["cost"]["seconds"].as_f64().unwrap() <= 20.0);
    let gentle = [
        "--objective",
        "gentle",
        "--added-rtt",
        "10ms",
        "--loss",
        "0.05%",
    ];
    let document = tune("sim:lan", &gentle);
    assert_eq!(document["objective"]["added_rtt_max_seconds"], 0.01);
    assert_eq!(document["objective"]["retransmitted_max_ratio"], 0.0005);
}

#[test]
fn guard_rails_that_make_no_sense_are_refused() {
    let tune = |more: &[&'static str]| [&["tune", "sim:lan"], more].concat();
    refused(
        &tune(&["--loss", "0.1%"]),
        2,
        &[
            "`--loss 0.001` is a bound of `--objective gentle`, and this search is for `knee`",
            "hint: add",
        ],
    );
    refused(
        &tune(&["--objective", "max", "--added-rtt", "5ms"]),
        2,
        &["`--added-rtt 5ms`", "is for `max`"],
    );
    refused(&tune(&["--budget", "soon"]), 2, &["`500MB` is wanted"]);
    refused(
        &tune(&["--budget", "20s,30s"]),
        2,
        &["two bounds of one kind"],
    );
    refused(
        &tune(&["--axes", "height"]),
        2,
        &["streams, window, congestion, pacing"],
    );
    refused(
        &tune(&["--axes", "streams,congestion", "-C", "reno"]),
        2,
        &["`-C reno` fixes what `--axes congestion` would vary"],
    );
}
