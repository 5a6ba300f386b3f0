//! Copies that go on while their sources are written, files of which only a part is sent, and
//! copies over several addresses.

use std::fs;
use std::io::{BufRead, BufReader};
use std::process::Stdio;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::Value;

use super::server::Server;
use crate::common::trunkline;

#[test]
fn a_signal_between_two_passes_is_the_end_of_a_copy_that_follows() {
    let server = Server::start(&[]);
    let run7 = server.near().join("run7");
    fs::create_dir(&run7).unwrap();
    fs::write(run7.join("a"), "first").unwrap();
    let words = ["copy", "-r", "--follow", "--no-history"];
    let mut copy = trunkline(&words);
    copy.args([run7.to_str().unwrap(), &server.place("")]);
    copy.env("TRUNKLINE_TOKEN", server.token());
    copy.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut copy = copy.spawn().unwrap();
    let said = BufReader::new(copy.stderr.take().unwrap()).lines();
    let mut said = said.map(Result::unwrap);
    let is_told = |line: &str| line.starts_with("following: 1 file, 5 B copied; none new");
    assert!(said.any(|line| is_told(&line)), "it ended before");
    assert_eq!(fs::read(server.root().join("run7/a")).unwrap(), b"first");
    kill(Pid::from_raw(copy.id() as i32), Signal::SIGTERM).unwrap();
    let output = copy.wait_with_output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(0), "{text}");
    let waited = "no file was new or being written when it ended";
    assert!(text.contains(waited), "{text}");
}

#[test]
fn what_a_delta_saved_is_told() {
    let server = Server::start(&[]);
    let older: Vec<u8> = (0..3_000_000_u32).map(|at| (at % 251) as u8).collect();
    let mut newer = older.clone();
    newer[1_500_000] ^= 1;
    newer.push(7);
    let file = server.near().join("a");
    fs::write(server.root().join("a"), &older).unwrap();
    fs::write(&file, &newer).unwrap();
    let copy = |words: &[&str]| {
        let mut copy = trunkline(&["copy", "--delta", "--no-history", "-P", "1"]);
        copy.args(words);
        copy.args([file.to_str().unwrap(), &server.place("")]);
        let output = copy.env("TRUNKLINE_TOKEN", server.token()).output();
        let output = output.unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        assert_eq!(output.status.code(), Some(0), "{text}");
        text
    };
    let text = copy(&[]);
    assert!(text.contains("of 3.00 MB sent; the rest was"), "{text}");
    assert!(fs::read(server.root().join("a")).unwrap() == newer);
    newer.push(8);
    fs::write(&file, &newer).unwrap();
    let text = copy(&["--json"]);
    let document: Value = serde_json::from_str(text.lines().last().unwrap()).unwrap();
    assert_eq!(document["asked"]["delta"], true, "{text}");
    let bytes = |key: &str| document[key].as_u64().unwrap();
    assert_eq!(bytes("sent_bytes") + bytes("unchanged_bytes"), 3_000_002);
    assert!(bytes("sent_bytes") <= 3 * 128 * 1024, "{text}");
}

#[test]
fn pairs_of_addresses_are_used_and_told() {
    let server = Server::start_at(std::net::Ipv4Addr::UNSPECIFIED.into(), &[]);
    let content: Vec<u8> = (0..8_000_000_u32).map(|at| (at % 251) as u8).collect();
    fs::write(server.near().join("large"), &content).unwrap();
    let place = format!("trunkline://127.0.0.1:{}/", server.port());
    let pairs = ["127.0.0.1", "127.0.0.2"];
    let via = pairs.join(",");
    // Slow enough for both streams to come.
    let slowly = ["--no-history", "--json", "--max-rate", "40M", "-P", "2"];
    let output = server.copy(&[&slowly[..], &["--via", &via, "large", &place]].concat());
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{text}");
    let document: Value = serde_json::from_str(text.lines().last().unwrap()).unwrap();
    assert_eq!(document["asked"]["via"], serde_json::json!(pairs), "{text}");
    let shares = document["pairs"].as_array().unwrap();
    let named: Vec<&Value> = shares.iter().map(|one| &one["addresses"]).collect();
    assert_eq!(named, pairs);
    for share in shares {
        // More than what it takes to connect.
        assert!(share["wire_bytes"].as_u64() > Some(50_000), "{text}");
    }
    assert!(fs::read(server.root().join("large")).unwrap() == content);
}
