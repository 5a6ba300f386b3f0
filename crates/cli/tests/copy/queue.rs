//! Copies that find no place at a server, and wait for their turn.

use std::fs;
use std::process::{Child, Stdio};

use super::server::Server;
use crate::common::trunkline;

fn starts(server: &Server, name: &str, bytes: usize) -> Child {
    let file = server.near().join(name);
    fs::write(&file, vec![7; bytes]).unwrap();
    let mut copy = trunkline(&["copy", file.to_str().unwrap(), &server.place("")]);
    copy.args(["--max-rate", "8Mbit/s", "--no-history"]);
    copy.env("TRUNKLINE_TOKEN", server.token());
    copy.stderr(Stdio::piped()).spawn().unwrap()
}

fn ends(copy: Child) -> String {
    let output = copy.wait_with_output().unwrap();
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{told}");
    told
}

#[test]
fn a_copy_without_a_place_waits_for_its_turn() {
    let server = Server::start(&["--copies", "1"]);
    let first = starts(&server, "first", 4_000_000);
    // Its own file is there from its first byte on.
    while fs::read_dir(server.root()).unwrap().next().is_none() {
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    let second = starts(&server, "second", 1000);
    let told = ends(second);
    let expected = "waiting: 1 copy is connected, the most this end allows; this copy is the next";
    assert!(told.contains(expected), "{told}");
    ends(first);
    assert_eq!(fs::read(server.root().join("second")).unwrap().len(), 1000);
}
