//! `trunkline simulate` as a user runs it.

mod common;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use common::{complaint, run, trunkline};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::Value;

/// Runs with an own folder for finished runs.
fn simulate(folder: &Path, arguments: &[&str]) -> Output {
    let mut command = trunkline(&[&["simulate"], arguments].concat());
    command.env("XDG_CACHE_HOME", folder).output().unwrap()
}

/// The JSON document of a run that has to succeed.
fn document(folder: &Path, arguments: &[&str]) -> Value {
    let output = simulate(folder, &[arguments, &["--json"]].concat());
    assert!(output.status.success(), "{}", complaint(&output));
    serde_json::from_slice(&output.stdout).unwrap()
}

/// What has to be the same each time: all but the date, the words of the command and the cost.
fn lasting(mut document: Value) -> Value {
    let cells = document["cells"].as_array_mut().into_iter().flatten();
    for cell in cells {
        cell.as_object_mut().unwrap().remove("cost");
    }
    for key in ["created", "command_line", "cost"] {
        document.as_object_mut().unwrap().remove(key).unwrap();
    }
    document
}

fn kept(folder: &Path) -> usize {
    kept_files(folder).len()
}

/// The files of finished runs, which lie in folders by the beginning of their names.
fn kept_files(folder: &Path) -> Vec<PathBuf> {
    let below = |folder: PathBuf| fs::read_dir(folder).into_iter().flatten().flatten();
    below(folder.join("trunkline/simulate"))
        .flat_map(|prefix| below(prefix.path()))
        .map(|file| file.path())
        .filter(|file| file.extension().is_some_and(|end| end == "run"))
        .collect()
}

#[test]
fn help_names_every_option_with_its_default() {
    let output = run(&["simulate", "--help"]);
    let text = String::from_utf8(output.stdout).unwrap();
    for part in [
        "-P, --streams",
        "-w, --window",
        "--variant",
        "-t, --duration",
        "--warmup",
        "--seeds",
        "--seed",
        "--bytes",
        "--per-stream-bytes",
        "--compat",
        "--initial-window",
        "--ecn",
        "--series",
        "--log",
        "--class",
        "--cache",
        "--no-cache",
        "--plots",
        "--json",
        "--save",
        "--report",
        "1..40",
        "16k..512k",
        "a fifth of the duration",
    ] {
        assert!(text.contains(part), "{part} is missing in:\n{text}");
    }
    assert!(
        text.lines().all(|line| line.chars().count() <= 100),
        "{text}"
    );
}

#[test]
fn wrong_requests_are_refused_with_value_and_bound() {
    let folder = tempfile::tempdir().unwrap();
    for (arguments, part) in [
        (&["-P", "0"][..], "0 streams are not between 1 and 1000000"),
        (&["-P", "100001"], "100001 streams are more than 100000"),
        (&["-P", "40..1"], "runs backwards; write 1..40"),
        (&["-P", "many"], "`many` is not a number of streams"),
        (&["-w", "64k..16k"], "runs backwards; write 16KiB..64KiB"),
        (
            &["-w", "100"],
            "a window of 100B is smaller than one segment",
        ),
        (&["-w", "wide"], "does not begin with a number"),
        (
            &["--variant", "westwood"],
            "`westwood` is not a TCP variant; known: tahoe",
        ),
        (
            &["-t", "5s", "--warmup", "5s"],
            "a warm-up of 5s leaves nothing of a run of 5s",
        ),
        (&["-t", "0"], "0ns is not between 1ms and 86400s"),
        (&["--seeds", "0"], "0 seeds are not between 1 and 10000"),
        (&["--seeds", "-1"], "`-1` is not a number of seeds"),
        (&["-t", "-1"], "`-1` is not a time"),
        (
            &["-P", "8", "-n", "100"],
            "hint: give at least 11.584kB, or fewer streams",
        ),
        (&["--bytes", "0"], "is not between 1B and"),
        (
            &["--bytes", "1M", "--per-stream-bytes", "1M"],
            "cannot be used with",
        ),
        (
            &["--bytes", "1MB", "--warmup", "20s", "-t", "60s"],
            "a warm-up of 20s with data that has an end",
        ),
        (
            &["-P", "1000", "--series", "10us", "-t", "30s"],
            "3012001004 recorded numbers are more than 20000000",
        ),
        (
            &["--seed", "18446744073709551615", "--seeds", "2"],
            "2 seeds from 18446744073709551615 go beyond",
        ),
        (
            &["--initial-window", "0"],
            "an initial window of 0 segments is not between 1",
        ),
        (
            &["-P", "1,2", "--series", "1s"],
            "`--series` is for one setting, and there are 2",
        ),
        (
            &["-P", "1,2", "--log", "x"],
            "`--log` is for one setting, and there are 2",
        ),
        (
            &["-P", "1..1000", "--seeds", "1000"],
            "1000000 runs are more than 100000",
        ),
        (&["--no-cache", "--cache", "x"], "cannot be used with"),
        (&["--compat", "ns3"], "invalid value 'ns3'"),
        (
            &["--class", "gold"],
            "`gold` is not a class of service; known: scavenger, best-effort, priority",
        ),
    ] {
        let output = simulate(folder.path(), &[&["slac-cern"], arguments].concat());
        let text = complaint(&output);
        assert!(
            text.contains(part),
            "{arguments:?}: `{part}` is missing in:\n{text}"
        );
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {text}");
        assert!(output.stdout.is_empty(), "{arguments:?} printed a result");
        assert!(!text.contains("panicked"), "{text}");
    }
    let output = simulate(folder.path(), &["slac-cren"]);
    assert!(complaint(&output).contains("neither a named path nor"));
    assert_eq!(output.status.code(), Some(2));
    assert_eq!(kept(folder.path()), 0, "nothing was run");
}

#[test]
fn one_setting_gives_the_keys_that_scripts_rely_on() {
    let folder = tempfile::tempdir().unwrap();
    let seen = document(
        folder.path(),
        &[
            "dadc-dumbbell-cross5",
            "-P",
            "4",
            "-t",
            "6s",
            "--seeds",
            "3",
        ],
    );
    assert_eq!(seen["schema"], "trunkline/simulate");
    assert_eq!(seen["path"]["name"], "dadc-dumbbell-cross5");
    assert_eq!(seen["scenario"]["seeds"], serde_json::json!([1, 2, 3]));
    assert_eq!(seen["scenario"]["warmup_seconds"], 1.2);
    // The link carries 100 Mbit/s of whole packets; streams and cross traffic fill most of it.
    let rate = |pointer: &str| seen.pointer(pointer).unwrap().as_f64().unwrap();
    let both = rate("/aggregate/goodput_bits_per_second") + rate("/cross/goodput_bits_per_second");
    assert!((60e6..97.1e6).contains(&both), "{both}");
    // Alone, five windows of 64 KiB each 40 ms and what the queue adds: at most 65.5 Mbit/s.
    let alone = rate("/cross/alone_bits_per_second");
    assert!((55e6..65.6e6).contains(&alone), "{alone}");
    let taken = 1.0 - rate("/cross/goodput_bits_per_second") / alone;
    assert!((rate("/cross/taken_ratio") - taken).abs() < 1e-6);
    assert!(taken > 0.05, "{taken}");
    let runs = seen["runs"].as_array().unwrap();
    let drops: f64 = runs.iter().map(|run| run["drops"].as_f64().unwrap()).sum();
    assert!((rate("/drops") * 3.0 - drops).abs() < 1e-6);
    assert!((0.25..=1.0).contains(&rate("/jain")));
    assert!(rate("/cost/cpu_seconds") > 0.0);
    assert_eq!(runs[0]["streams"].as_array().unwrap().len(), 4);
    assert!(seen.get("completion_seconds").is_none());
}

#[test]
fn data_with_an_end_says_when_it_was_done_or_how_often_it_was_not() {
    let folder = tempfile::tempdir().unwrap();
    let asked = ["oc3-striping", "-P", "10", "--bytes", "20MB"];
    let done = document(folder.path(), &asked);
    let seconds = done["completion_seconds"].as_f64().unwrap();
    // 20 MB take 1.03 s at 155 Mbit/s, and no start is free.
    assert!((1.1..20.0).contains(&seconds), "{seconds}");
    assert_eq!(done["unfinished_runs"], 0);
    assert_eq!(done["scenario"]["warmup_seconds"], 0.0);
    let short = [&asked[..], &["-t", "500ms"]].concat();
    let output = simulate(folder.path(), &[&short[..], &["--json"]].concat());
    assert_eq!(output.status.code(), Some(1));
    let text = complaint(&output);
    assert!(
        text.contains("error: 1 of 1 runs left data when their time was over"),
        "{text}"
    );
    let left: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert!(left.get("completion_seconds").is_none());
    let output = simulate(folder.path(), &short);
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains("unfinished  1 of 1 runs left data"), "{text}");
    assert_eq!(left["unfinished_runs"], 1);
}

#[test]
fn the_same_seed_gives_the_same_document_and_another_seed_another() {
    let folder = tempfile::tempdir().unwrap();
    let asked = [
        "slac-cern",
        "-P",
        "3",
        "-t",
        "10s",
        "--no-cache",
        "--series",
        "1s",
    ];
    let once = document(folder.path(), &asked);
    let again = document(folder.path(), &asked);
    let text = |document: &Value| lasting(document.clone()).to_string();
    assert_eq!(text(&once), text(&again));
    // At the beginning and after each of ten seconds.
    assert_eq!(once["runs"][0]["series"].as_array().unwrap().len(), 11);
    let other = document(folder.path(), &[&asked[..], &["--seed", "2"]].concat());
    assert_ne!(once["aggregate"], other["aggregate"]);
    assert_eq!(kept(folder.path()), 0, "--no-cache keeps nothing");
}

#[test]
fn what_was_kept_is_used_and_what_was_damaged_is_computed_again() {
    let folder = tempfile::tempdir().unwrap();
    let asked = ["slac-cern", "-P", "1,2", "-t", "5s", "--seeds", "2"];
    let first = document(folder.path(), &asked);
    assert_eq!(first["cost"]["cached_runs"], 0);
    assert_eq!(kept(folder.path()), 4);
    let file = kept_files(folder.path()).swap_remove(0);
    let text = fs::read_to_string(&file).unwrap();
    fs::write(
        &file,
        text.replacen("\n0 ", "\n9 ", 1).replacen('1', "2", 3),
    )
    .unwrap();
    let second = document(folder.path(), &asked);
    assert_eq!(second["cost"]["cached_runs"], 3);
    assert_eq!(lasting(first), lasting(second));
}

#[test]
fn a_campaign_that_was_interrupted_goes_on_where_it_stopped() {
    let folder = tempfile::tempdir().unwrap();
    // One more run than settings: the cross traffic alone.
    let asked = ["dadc-dumbbell-cross5", "-P", "1..24", "-t", "60s", "--json"];
    let mut command = trunkline(&[&["simulate"], &asked[..]].concat());
    command.env("XDG_CACHE_HOME", folder.path());
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let running = child.spawn().unwrap();
    let patience = Instant::now() + Duration::from_secs(120);
    while kept(folder.path()) < 3 {
        assert!(Instant::now() < patience, "no run was finished");
        thread::sleep(Duration::from_millis(5));
    }
    kill(Pid::from_raw(running.id() as i32), Signal::SIGINT).unwrap();
    let stopped = running.wait_with_output().unwrap();
    let text = complaint(&stopped);
    assert_eq!(stopped.status.code(), Some(1), "{text}");
    assert!(
        text.contains("stopped: ") && text.contains(" of 25 runs are done"),
        "{text}"
    );
    assert!(
        text.contains("hint: they are kept; run the same command again to resume"),
        "{text}"
    );
    let told: Value = serde_json::from_slice(&stopped.stdout).unwrap();
    assert_eq!(told["event"], "error");
    let finished = kept(folder.path());
    assert!((3..24).contains(&finished), "{finished}");
    child = command.stdout(Stdio::piped());
    let resumed = child.output().unwrap();
    let text = complaint(&resumed);
    assert!(
        text.contains(&format!("{finished} of 25 runs were kept from before")),
        "{text}"
    );
    let resumed: Value = serde_json::from_slice(&resumed.stdout).unwrap();
    assert_eq!(resumed["cost"]["cached_runs"], finished);
    let fresh = document(folder.path(), &[&asked[..5], &["--no-cache"]].concat());
    assert_eq!(lasting(resumed), lasting(fresh));
}

#[test]
fn a_campaign_is_a_table_a_document_and_a_page() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let (save, page, plots) = (at("grid.json"), at("grid.html"), at("plots"));
    let asked = [
        "dadc-dumbbell",
        "-P",
        "1,2,4",
        "-w",
        "16k..64k",
        "-t",
        "6s",
        "--variant",
        "sack,cubic",
    ];
    let asked = [
        &asked[..],
        &["--save", &save, "--report", &page, "--plots", &plots],
    ]
    .concat();
    let output = simulate(folder.path(), &asked);
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{text}");
    assert!(
        text.lines().all(|line| line.chars().count() <= 80),
        "{text}"
    );
    for part in [
        "sack: goodput in Mbit/s",
        "16KiB",
        "32KiB",
        "64KiB",
        "cubic: best with ",
    ] {
        assert!(text.contains(part), "{part}:\n{text}");
    }
    let saved: Value = serde_json::from_str(&fs::read_to_string(&save).unwrap()).unwrap();
    assert_eq!(saved["schema"], "trunkline/campaign");
    let settings: Vec<String> = saved["cells"]
        .as_array()
        .unwrap()
        .iter()
        .map(setting)
        .collect();
    assert_eq!(settings.len(), 18);
    assert_eq!(
        settings[..4],
        [
            "sack 1 16384",
            "sack 1 32768",
            "sack 1 65536",
            "sack 2 16384"
        ]
    );
    assert!(fs::read_to_string(&page).unwrap().matches("<svg").count() == 4);
    for name in [
        "streams-sack.svg",
        "heatmap-sack.svg",
        "streams-cubic.svg",
        "heatmap-cubic.svg",
    ] {
        assert!(
            fs::read_to_string(Path::new(&plots).join(name))
                .unwrap()
                .starts_with("<svg")
        );
    }
    let again = run(&["report", &save]);
    let again = String::from_utf8(again.stdout).unwrap();
    assert!(again.ends_with(&text), "{again}\n{text}");
}

fn setting(cell: &Value) -> String {
    let setting = &cell["setting"];
    format!(
        "{} {} {}",
        setting["variant"].as_str().unwrap(),
        setting["streams"],
        setting["window"]
    )
}

#[test]
fn a_log_has_a_line_for_every_packet() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("packets.txt");
    let name = file.to_str().unwrap();
    let output = simulate(folder.path(), &["slac-cern", "-t", "2s", "--log", name]);
    assert!(output.status.success(), "{}", complaint(&output));
    let text = fs::read_to_string(&file).unwrap();
    assert!(
        text.lines().count() > 50 && text.contains(" sent "),
        "{text:.200}"
    );
}

#[test]
fn a_log_that_ends_in_pcapng_is_a_capture_and_the_same_each_time() {
    let folder = tempfile::tempdir().unwrap();
    let capture = |name: &str| {
        let file = folder.path().join(name);
        let file_name = file.to_str().unwrap();
        let output = simulate(
            folder.path(),
            &["slac-cern", "-t", "2s", "--log", file_name],
        );
        assert!(output.status.success(), "{}", complaint(&output));
        fs::read(&file).unwrap()
    };
    let (first, second) = (capture("a.pcapng"), capture("b.pcapng"));
    assert!(first.len() > 1_000 && first == second);
    // The block type of a section header.
    assert_eq!(first[..4], [0x0a, 0x0d, 0x0d, 0x0a]);
}

#[test]
fn a_log_that_cannot_be_written_costs_no_run() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("missing/packets.txt");
    let output = simulate(
        folder.path(),
        &["slac-cern", "-t", "2s", "--log", file.to_str().unwrap()],
    );
    let text = complaint(&output);
    assert_eq!(output.status.code(), Some(1), "{text}");
    assert!(
        text.contains("missing/packets.txt") && text.contains("hint: "),
        "{text}"
    );
    assert_eq!(kept(folder.path()), 0);
}

#[test]
fn a_class_of_service_is_in_the_text_and_the_document() {
    let folder = tempfile::tempdir().unwrap();
    let asked = ["classes-ds3", "-t", "2s", "--class", "scavenger"];
    let seen = document(folder.path(), &asked);
    assert_eq!(seen["scenario"]["class"], "scavenger");
    let text = simulate(folder.path(), &asked).stdout;
    let text = String::from_utf8(text).unwrap();
    let words: Vec<&str> = text.split_whitespace().collect();
    assert!(
        words.join(" ").contains("; class scavenger; seed 1"),
        "{text}"
    );
}

#[test]
fn a_place_that_cannot_be_written_is_told_before_anything_runs() {
    let folder = tempfile::tempdir().unwrap();
    let taken = folder.path().join("taken");
    fs::write(&taken, "").unwrap();
    let below = taken.join("x");
    let below = below.to_str().unwrap();
    for option in ["--save", "--report", "--plots", "--log"] {
        let output = simulate(folder.path(), &["slac-cern", "-t", "1s", option, below]);
        let text = complaint(&output);
        assert_eq!(output.status.code(), Some(1), "{option}: {text}");
        assert!(text.contains("taken/x"), "{option}: {text}");
        assert!(output.stdout.is_empty(), "{option}");
    }
    assert_eq!(kept(folder.path()), 0, "nothing was run");
}

#[test]
fn a_log_that_fails_does_not_cost_the_result() {
    let folder = tempfile::tempdir().unwrap();
    // Every write to this device fails for want of room.
    let asked = ["slac-cern", "-t", "1s", "--log", "/dev/full"];
    let output = simulate(folder.path(), &asked);
    assert_eq!(output.status.code(), Some(1), "{}", complaint(&output));
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains("goodput"), "{text}");
}

#[test]
fn plots_of_a_transfer_fit_the_time_that_it_took() {
    let folder = tempfile::tempdir().unwrap();
    let page = folder.path().join("page.html");
    let asked = ["oc3-striping", "-P", "4", "--bytes", "20MB", "--seeds", "2"];
    let page = ["--report", page.to_str().unwrap()];
    let drawn = document(folder.path(), &[&asked[..], &page].concat());
    let samples = |run: &Value| run["series"].as_array().map_or(0, Vec::len);
    let runs = drawn["runs"].as_array().unwrap();
    // 300 parts of the time that the first seed took; the others are not drawn.
    assert!(
        (290..=302).contains(&samples(&runs[0])),
        "{}",
        samples(&runs[0])
    );
    assert_eq!(samples(&runs[1]), 0);
    let plain = document(folder.path(), &asked);
    assert_eq!(plain["aggregate"], drawn["aggregate"]);
}

#[test]
fn plots_of_endless_data_change_no_figure() {
    let folder = tempfile::tempdir().unwrap();
    let page = folder.path().join("page.html");
    let asked = ["slac-cern", "-P", "2", "-t", "6s", "--seeds", "2"];
    let page = ["--report", page.to_str().unwrap()];
    let drawn = document(folder.path(), &[&asked[..], &page].concat());
    let samples = |run: &Value| run["series"].as_array().map_or(0, Vec::len);
    let runs = drawn["runs"].as_array().unwrap();
    let seen: Vec<usize> = runs.iter().map(samples).collect();
    assert!((290..=302).contains(&seen[0]), "{seen:?}");
    assert_eq!(seen[1..], [0], "the first seed alone is drawn");
    assert_eq!(kept(folder.path()), 3, "both seeds, and the drawn run");
    let plain = document(folder.path(), &asked);
    assert_eq!(plain["cost"]["cached_runs"], 2);
    assert_eq!(plain["aggregate"], drawn["aggregate"]);
}

#[test]
fn the_other_simulators_tcp_is_what_the_document_says() {
    let folder = tempfile::tempdir().unwrap();
    let asked = ["dadc-dumbbell", "-t", "2s", "--compat", "ns2"];
    let seen = document(folder.path(), &asked);
    let tcp = &seen["scenario"]["tcp"];
    for (key, value) in [
        ("initial_window_segments", 2.0),
        ("header_bytes", 40.0),
        ("timeout_min_seconds", 0.2),
        ("delayed_ack_seconds", 0.1),
        ("send_jitter_seconds", 0.000_12),
    ] {
        assert_eq!(tcp[key].as_f64(), Some(value), "{key} in {tcp}");
    }
    assert_eq!(tcp["timestamps"], false);
}

#[test]
fn seeds_move_cross_traffic_that_comes_and_goes() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("bursts.toml");
    let text = r#"
[forward]
rate  = "20Mbit/s"
delay = "10ms"
queue = { kind = "drop-tail", limit = "64KiB" }

[hosts]
mtu = 1500
congestion = "reno"
send_buffer_max    = "4MiB"
receive_buffer_max = "4MiB"

[[cross]]
kind = "on-off"
sources = 2
rate = "5Mbit/s"
on   = "500ms"
off  = "500ms"
"#;
    fs::write(&path, text).unwrap();
    let asked = [path.to_str().unwrap(), "-t", "10s", "--seeds", "3"];
    let seen = document(folder.path(), &asked);
    let of = |run: &Value| {
        let cross = run["cross_goodput_bits_per_second"].as_u64();
        (cross, run["goodput_bits_per_second"].as_u64())
    };
    let runs: Vec<_> = seen["runs"].as_array().unwrap().iter().map(of).collect();
    for (place, run) in runs.iter().enumerate() {
        assert!(run.0.is_some_and(|rate| rate > 0), "{runs:?}");
        for other in &runs[..place] {
            assert!(run.0 != other.0 && run.1 != other.1, "{runs:?}");
        }
    }
}

#[test]
fn a_folder_that_cannot_be_used_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let taken = folder.path().join("taken");
    fs::write(&taken, "").unwrap();
    let asked = ["slac-cern", "-t", "1s", "--cache", taken.to_str().unwrap()];
    let output = simulate(folder.path(), &asked);
    assert_eq!(output.status.code(), Some(1));
    let text = complaint(&output);
    assert!(
        text.contains("taken") && text.contains("hint: name another folder"),
        "{text}"
    );
    // The default folder is a convenience: without it the answer comes all the same.
    let mut homeless = trunkline(&["simulate", "slac-cern", "-t", "1s"]);
    let output = homeless
        .env_remove("XDG_CACHE_HOME")
        .env_remove("HOME")
        .output()
        .unwrap();
    assert!(output.status.success());
    assert!(complaint(&output).contains("warning: there is no folder for finished runs"));
}

/// A million streams, as text, and kept beside packets with one command that compares both.
#[test]
fn a_fluid_model_takes_the_place_of_packets() {
    let folder = tempfile::tempdir().unwrap();
    let (wide, archive) = (folder.path().join("wide.toml"), folder.path().join("kept"));
    let text = "[forward]\nrate = \"1Tbit/s\"\ndelay = \"20ms\"\n\
        queue = { kind = \"drop-tail\", limit = \"3000000packets\" }\n";
    fs::write(&wide, text).unwrap();
    let wide = wide.to_str().unwrap();
    let many = ["-P", "1e6", "-t", "20s", "--fluid", "--no-history"];
    let seen = document(folder.path(), &[&[wide], &many[..]].concat());
    assert_eq!(seen["setting"]["streams"], 1_000_000);
    assert_eq!(seen["setting"]["variant"], "cubic");
    let goodput = seen["aggregate"]["goodput_bits_per_second"]
        .as_f64()
        .unwrap();
    // All of the link but headers: 1448 of 1500 bytes.
    let share = goodput / 1e12 / (1448.0 / 1500.0);
    assert!((0.95..1.001).contains(&share), "{share}");
    assert!(seen.get("drops").is_none() && seen.get("runs").is_none());

    let both = [
        "-P",
        "50",
        "-w",
        "64k",
        "--history",
        archive.to_str().unwrap(),
    ];
    for more in [&["--no-cache"][..], &["--fluid"]] {
        let output = simulate(folder.path(), &[&["oc12-100ms"], &both[..], more].concat());
        assert!(output.status.success(), "{}", complaint(&output));
        let text = String::from_utf8(output.stdout).unwrap();
        assert!(
            text.contains("goodput") && text.contains("Mbit/s"),
            "{text}"
        );
    }
    let compared = run(&["history", "--compare", "1", "2", "--json", both[4], both[5]]);
    let compared: Value = serde_json::from_slice(&compared.stdout).unwrap();
    let ratio = compared["goodput"]["difference_ratio"].as_f64().unwrap();
    assert!(ratio.abs() < 0.05, "{ratio}");
}
