//! What a user reads when something is wrong: value, bound, next step, and the exit code.

mod common;

use std::fs;
use std::net::TcpListener;

use common::{complaint, run};

/// Exit code and text of a failing command.
fn failure(arguments: &[&str]) -> (i32, String) {
    let output = run(arguments);
    assert!(output.stdout.is_empty(), "{arguments:?} printed a result");
    (output.status.code().unwrap(), complaint(&output))
}

fn assert_told(arguments: &[&str], code: i32, parts: &[&str]) {
    let (exit, text) = failure(arguments);
    for part in parts {
        assert!(
            text.contains(part),
            "{arguments:?}: `{part}` is missing in:\n{text}"
        );
    }
    assert_eq!(exit, code, "{arguments:?}:\n{text}");
    for line in text.lines() {
        assert!(!line.contains("panicked"), "{text}");
    }
}

#[test]
fn an_unknown_host_may_be_known_later() {
    assert_told(
        &["measure", "no-such-host.invalid"],
        1,
        &[
            "host `no-such-host.invalid` is unknown",
            "hint: check the spelling",
        ],
    );
}

#[test]
fn how_packets_leave_is_checked() {
    let wrong = "10.0.0.1%";
    let cases: [(&[&str], i32, &[&str]); 6] = [
        (&["--dscp", "AF44", "h"], 2, &["`AF44`", "0 to 63"]),
        (&["--bind", wrong, "h"], 2, &["1 to 15 characters"]),
        (&["--bind", "eth0", "h"], 2, &["`eth0`", "%DEVICE"]),
        (&["-4", "sim:slac-cern"], 2, &["`--bind`", "name a host"]),
        (
            &["-6", "127.0.0.1"],
            1,
            &["127.0.0.1", "as asked", "hint: leave out `-4`, `-6`"],
        ),
        (
            &["--bind", "192.0.2.7", "127.0.0.1"],
            2,
            &["cannot send from `192.0.2.7`", "hint: `ip address`"],
        ),
    ];
    for (arguments, code, parts) in cases {
        let arguments: Vec<&str> = ["measure"].iter().chain(arguments).copied().collect();
        assert_told(&arguments, code, parts);
    }
}

#[test]
fn a_refused_port_says_what_to_start() {
    // A port that was free a moment ago.
    let port = TcpListener::bind(("127.0.0.1", 0))
        .unwrap()
        .local_addr()
        .unwrap()
        .port();
    let target = format!("127.0.0.1:{port}");
    assert_told(
        &["tune", &target],
        1,
        &[
            &format!("{target} refused the connection"),
            "hint: start `trunkline serve` or `iperf3 -s`",
        ],
    );
}

#[test]
fn a_wrong_path_file_is_told_with_line_and_bound() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("bad.toml");
    let text = "[forward]\nrate = \"1Gbit/s\"\ndelay = \"1ms\"\nqueue = { kind = \"drop-tail\", \
        limit = \"1KiB\" }\n";
    fs::write(&file, text).unwrap();
    let target = format!("emu:{}", file.display());
    assert_told(
        &["measure", &target],
        2,
        &[
            "error: a 1.5kB packet cannot pass a 1KiB queue",
            "bad.toml:4, field `forward.queue.limit`",
            "hint: raise `limit` to 1.5kB or more",
        ],
    );
}

#[test]
fn an_unknown_path_lists_the_known_ones() {
    let parts = [
        "`slac-cren` is neither a named path nor a readable file",
        "slac-cern",
    ];
    assert_told(&["measure", "emu:slac-cren"], 2, &parts);
    assert_told(&["emulate", "slac-cren", "--", "true"], 2, &parts);
}

#[test]
fn absurd_numbers_are_refused_with_their_bounds() {
    for (arguments, part) in [
        (["-P", "0"], "0 streams are not between 1 and 128"),
        (
            ["-P", "1000000000"],
            "1000000000 streams are not between 1 and 128",
        ),
        (["-t", "0"], "0ns is not between 1s and 86400s"),
        (["-t", "soon"], "does not begin with a number"),
        (["-w", "-5"], ""),
        (["-w", "9999999T"], "is not between"),
        (["-n", "0"], "is not between"),
        (["-M", "5"], "5 is not between 88 and 32767"),
        (["--pacing", "0bit/s"], "is not between"),
    ] {
        assert_told(
            &["measure", "emu:lan", arguments[0], arguments[1]],
            2,
            &[part],
        );
    }
}

#[test]
fn what_is_not_a_document_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("x.json");
    let name = file.to_str().unwrap();
    assert_told(&["report", name], 2, &["x.json", "hint:"]);
    fs::write(&file, "{\"schema\": \"trunkline/tune\",").unwrap();
    assert_told(&["report", name], 2, &["x.json", "hint:"]);
    fs::write(&file, "{\"schema\": \"other/program\"}").unwrap();
    assert_told(&["report", name], 2, &["other/program", "hint:"]);
}

#[test]
fn a_port_in_use_is_named() {
    let holder = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let port = holder.local_addr().unwrap().port().to_string();
    assert_told(
        &["serve", "--bind", "127.0.0.1", "--port", &port],
        1,
        &[
            "cannot listen on TCP 127.0.0.1:",
            "hint: another server uses this port",
        ],
    );
}

#[test]
fn two_directions_at_once_are_refused() {
    assert_told(
        &["measure", "emu:lan", "-R", "--bidir"],
        2,
        &["cannot be used with"],
    );
}
