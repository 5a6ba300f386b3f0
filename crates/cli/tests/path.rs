//! `trunkline path` and `trunkline responsiveness` as a user runs them.

mod common;

use std::net::TcpListener;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

use common::{complaint, run};
use serde_json::Value;

/// A path that is quick to examine: 20 Mbit/s, a round trip of 10 ms.
const PATH: &str = r#"
[forward]
rate = "20Mbit/s"
delay = "5ms"
queue = { kind = "drop-tail", limit = "64KiB" }
"#;

/// The path in a file, and the name of the target of `kind` on it.
fn on_path(kind: &str) -> (tempfile::TempDir, String) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("mine.toml");
    std::fs::write(&file, PATH).unwrap();
    let target = format!("{kind}:{}", file.display());
    (folder, target)
}

fn json(arguments: &[&str]) -> Value {
    let output = run(arguments);
    let status = output.status;
    assert!(status.success(), "{arguments:?}: {}", complaint(&output));
    serde_json::from_slice(&output.stdout).unwrap()
}

fn number(document: &Value, path: &str) -> f64 {
    let value = document.pointer(path).and_then(Value::as_f64);
    value.unwrap_or_else(|| panic!("{path} is missing in {document}"))
}

/// Why `part` was left out.
fn left_out(document: &Value, part: &str) -> String {
    let all = document["left_out"].as_array().cloned().unwrap_or_default();
    let left = all.iter().find(|left| left["part"] == part);
    let why = left.and_then(|left| left["why"].as_str());
    why.unwrap_or_default().to_owned()
}

/// A port without a listener.
fn closed_port() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.local_addr().unwrap().port()
}

/// Killed at the end.
struct Server(Child);

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn a_simulated_path_is_loaded_in_virtual_time() {
    let (_folder, target) = on_path("sim");
    let document = json(&["responsiveness", &target, "--ways", "forward", "--json"]);
    assert_eq!(document["schema"], "trunkline/responsiveness");
    let way = &document["ways"][0];
    // 64 KiB at 20 Mbit/s hold a packet for 26 ms: a full path takes more than the idle 10 ms and
    // no more than 37 with the packet itself. The streams' own round trips also wait for delayed
    // acknowledgements, 40 ms at the most and seldom.
    let idle = number(way, "/idle/median_seconds");
    assert!((0.010..0.012).contains(&idle), "{idle}");
    for (part, most) in [
        ("/foreign/mean_seconds", 0.038),
        ("/loaded/mean_seconds", 0.077),
    ] {
        let seconds = number(way, part);
        assert!((0.015..most).contains(&seconds), "{part}: {seconds}");
    }
    let rpm = number(way, "/round_trips_per_minute");
    let of = |part| 60.0 / number(way, part);
    let expected = (of("/foreign/mean_seconds") + of("/loaded/mean_seconds")) / 2.0;
    assert!((rpm / expected - 1.0).abs() < 1e-9);
    assert_eq!(way["confidence"], "high");
    // The same seed shows the same.
    let again = json(&["responsiveness", &target, "--ways", "forward", "--json"]);
    assert_eq!(document["ways"], again["ways"]);
}

#[test]
fn a_simulated_path_has_streams_and_no_hops() {
    let (_folder, target) = on_path("sim");
    let ways = ["--ways", "forward", "-t", "3s", "--json"];
    let document = json(&[&["path", &target][..], &ways].concat());
    let goodput = number(&document, "/loads/0/one/goodput_bits_per_second");
    assert!((10e6..20e6).contains(&goodput), "{goodput}");
    let rules = document["buffers"][0]["advice"].as_array().unwrap();
    assert!(rules.iter().any(|advice| advice["rule"] == "BDP5"));
    assert_ne!(left_out(&document, "hops under load forward"), "");
    assert_eq!(document.get("traces"), None);
    let quick = ["path", &target, "--quick", "--hop-capacity", "--json"];
    let why = left_out(&json(&quick), "capacity of hops");
    assert_eq!(why, "no hop is known that answers UDP");
}

#[test]
fn an_emulated_path_tells_its_length_and_width() {
    if !testkit::can_emulate() {
        return;
    }
    let (_folder, target) = on_path("emu");
    let ways = ["--ways", "forward", "--no-load", "--json"];
    let document = json(&[&["path", &target][..], &ways].concat());
    let rtt = number(&document, "/round_trips/min_seconds");
    assert!((0.010..0.015).contains(&rtt), "{rtt}");
    assert_eq!(number(&document, "/variations/0/loss_ratio"), 0.0);
    // Half and twice: the accuracy is measured elsewhere, on a machine that does nothing else.
    let capacity = number(&document, "/capacities/0/bits_per_second");
    assert!((10e6..40e6).contains(&capacity), "{capacity}");
    assert_eq!(document.get("loads"), None);
    let quick = json(&["path", &target, "--quick", "--json"]);
    assert_eq!(quick.get("capacities"), None);
    assert!(quick.get("round_trips").is_some());
}

#[test]
fn the_way_back_has_the_links_of_the_way_there() {
    if !testkit::can_emulate() {
        return;
    }
    let quick = [
        "path",
        "emu:three-links",
        "--quick",
        "--way-back",
        "--flows",
        "2",
        "--json",
    ];
    let document = json(&quick);
    let back = &document["way_back"];
    let addresses = back["trace"]["hops"].as_array().unwrap();
    let addresses: Vec<&Value> = addresses.iter().map(|hop| &hop["addresses"][0]).collect();
    // From the far end: the near ends of the third and the second link, and this host.
    assert_eq!(addresses[..2], ["198.18.3.1", "198.18.2.1"]);
    assert_eq!(addresses.len(), 3);
    assert_eq!(back["same"], true, "{back}");
    // Emulated paths have one way.
    let branches = document["branches"]["branches"].as_array().unwrap();
    assert_eq!(
        (branches.len(), &branches[0]["sent"]),
        (1, &Value::from(100))
    );
}

/// 100 Mbit/s behind 1 Gbit/s and before 622 Mbit/s; others load it.
#[test]
fn the_narrow_link_is_found_at_its_hop() {
    if !testkit::can_emulate() {
        return;
    }
    let quick = [
        "path",
        "emu:three-links",
        "--quick",
        "--hop-capacity",
        "--json",
    ];
    // Other programs may hold up the carrier of the packets: it is looked at again. What it says
    // then is that round trips are unsteady, and no wrong figure.
    let mut seen = Vec::new();
    for _ in 0..3 {
        let document = json(&quick);
        let hops = document["hop_capacities"].as_array().unwrap();
        assert_eq!(hops.len(), 3);
        for hop in hops {
            // A figure or a reason, and never both.
            let is_known = hop.get("bits_per_second").is_some();
            assert_ne!(is_known, hop.get("unknown_because").is_some(), "{hop}");
        }
        seen.push(hops[1].clone());
        if let Some(rate) = hops[1]["bits_per_second"].as_f64() {
            assert!((50e6..200e6).contains(&rate), "{seen:?}");
            return;
        }
    }
    let is_unsteady = |hop: &Value| {
        let why = hop["unknown_because"].as_str();
        why.is_some_and(|why| why.contains("unsteady"))
    };
    assert!(seen.iter().all(is_unsteady), "{seen:?}");
}

#[test]
fn an_iperf3_server_is_loaded_all_at_once() {
    if !testkit::has_program("iperf3") {
        return;
    }
    let port = closed_port();
    let mut server = Command::new("iperf3");
    let server = server.args(["-s", "-p", &port.to_string()]);
    let _server = Server(server.stdout(Stdio::null()).spawn().unwrap());
    // Asking by connecting would begin a test, so the kernel's list is read.
    let wanted = format!(":{port:04X} ");
    let is_listening = |list: &str| {
        let sockets = std::fs::read_to_string(list).unwrap_or_default();
        let mut lines = sockets.lines();
        lines.any(|line| line.contains(&wanted) && line.contains(" 0A "))
    };
    while !(is_listening("/proc/net/tcp") || is_listening("/proc/net/tcp6")) {
        thread::sleep(Duration::from_millis(5));
    }
    let target = format!("127.0.0.1:{port}");
    let ways = ["--ways", "reverse", "-t", "3s", "--json"];
    let document = json(&[&["responsiveness", &target][..], &ways].concat());
    let way = &document["ways"][0];
    assert_eq!(way["growth"], "all-at-once");
    assert_eq!(way["peer"], "iperf3");
    // The far end sends and tells nothing of its round trips.
    assert_eq!(way.get("loaded"), None);
    let document = json(&[&["path", &target][..], &ways].concat());
    assert!(number(&document, "/loads/0/one/goodput_bits_per_second") > 0.0);
    assert_ne!(left_out(&document, "capacity reverse"), "");
}

#[test]
fn an_unknown_host_is_named_with_the_next_step() {
    for command in ["path", "responsiveness"] {
        let output = run(&[command, "no-such-host.invalid"]);
        let told = complaint(&output);
        assert_ne!(output.status.code(), Some(0), "{told}");
        assert!(told.contains("`no-such-host.invalid` is unknown"), "{told}");
        assert!(told.contains("hint: check the spelling"), "{told}");
    }
}

#[test]
fn a_closed_port_still_has_round_trips() {
    let target = format!("127.0.0.1:{}", closed_port());
    let document = json(&["path", &target, "--no-load", "--json"]);
    assert!(number(&document, "/round_trips/min_seconds") > 0.0);
    let why = left_out(&document, "capacity forward");
    assert!(why.contains("refused the connection"), "{why}");
    let output = run(&["responsiveness", &target]);
    assert_eq!(output.status.code(), Some(1));
    assert!(complaint(&output).contains("hint: start `trunkline serve`"));
}

#[test]
fn what_contradicts_itself_is_refused() {
    for (arguments, complaint_has) in [
        (
            &["path", "sim:lan", "--quick", "--no-load"][..],
            "--no-load",
        ),
        (&["path", "sim:lan", "--flows", "1"], "2..=32"),
        (
            &["path", "sim:lan", "--ways", "sideways"],
            "forward, reverse, both",
        ),
        (
            &["responsiveness", "sim:lan", "-t", "0"],
            "is not between 1s and",
        ),
        (&["responsiveness", "sim:no-such-path"], "no-such-path"),
    ] {
        let output = run(arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        let told = complaint(&output);
        assert!(told.contains(complaint_has), "{arguments:?}: {told}");
    }
}

/// What is written is what every other command reads, and it is like the path that was examined.
#[test]
fn the_inferred_path_is_taken_as_it_is() {
    let (folder, target) = on_path("sim");
    let file = folder.path().join("found.toml");
    let file = file.to_str().unwrap();
    let document = json(&[
        "path",
        &target,
        "--ways",
        "forward",
        "--path-file",
        file,
        "--json",
    ]);
    let written = std::fs::read_to_string(file).unwrap();
    assert_eq!(document["path_file"], written.as_str());
    let read = trunkline::load_path(file).unwrap();
    let rtt = read.base_rtt().as_secs_f64();
    assert!((0.0098..0.0102).contains(&rtt), "{written}");
    let found = format!("sim:{file}");
    let carried = |target: &str| {
        let measured = json(&["measure", target, "-P", "4", "--json"]);
        number(&measured, "/goodput_bits_per_second")
    };
    let ratio = carried(&found) / carried(&target);
    assert!((0.9..1.1).contains(&ratio), "{ratio}\n{written}");
    for command in [
        vec!["simulate", file, "-t", "5s", "--no-cache"],
        vec!["predict", file],
        vec!["tune", &found, "--budget", "5s"],
        vec!["history", "1", "--path-file", file],
    ] {
        let output = run(&command);
        let status = output.status;
        assert!(status.success(), "{command:?}: {}", complaint(&output));
    }
    assert_eq!(std::fs::read_to_string(file).unwrap(), written);
    let refused = run(&["path", &target, "--quick", "--path-file", file]);
    assert!(
        complaint(&refused).contains("--quick"),
        "{}",
        complaint(&refused)
    );
}
