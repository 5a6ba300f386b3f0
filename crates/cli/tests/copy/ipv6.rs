//! Tests and copies over IPv6.

use std::fs::{self, Permissions};
use std::net::Ipv6Addr;
use std::os::unix::fs::PermissionsExt;

use serde_json::Value;

use super::server::Server;
use crate::common::{complaint, run};

fn server() -> Option<Server> {
    let host = Ipv6Addr::LOCALHOST.into();
    match std::net::TcpListener::bind((host, 0)) {
        Ok(_) => Some(Server::start_at(host, &[])),
        Err(_) => {
            testkit::skip("this host has no IPv6");
            None
        }
    }
}

#[test]
fn files_go_there_and_back_over_tcp_and_udp() {
    let Some(server) = server() else { return };
    let token = server.near().join("token");
    fs::write(&token, server.token()).unwrap();
    fs::set_permissions(&token, Permissions::from_mode(0o600)).unwrap();
    let content: Vec<u8> = (0..3_000_000u32).map(|i| (i % 251) as u8).collect();
    let near = server.near().join("a");
    fs::write(&near, &content).unwrap();
    for transport in ["tcp", "udp"] {
        let (there, back) = (server.place(transport), server.near().join(transport));
        let ends = [(near.to_str().unwrap(), there.as_str())];
        let ends = ends
            .into_iter()
            .chain([(there.as_str(), back.to_str().unwrap())]);
        for (from, to) in ends {
            let words = ["copy", "-6", "--transport", transport, "--no-history"];
            let token = ["--token-file", token.to_str().unwrap(), from, to];
            let done = run(&[&words[..], &token[..]].concat());
            assert!(done.status.success(), "{from} {to}: {}", complaint(&done));
        }
        assert!(fs::read(&back).unwrap() == content, "over {transport}");
    }
}

#[test]
fn a_path_is_measured_each_way() {
    let Some(server) = server() else { return };
    let target = server.address().to_string();
    let short = ["-t", "1s", "--json", "--no-history"];
    for way in [
        &["-P", "2"][..],
        &["-P", "2", "-R"],
        &["--transport", "udp"],
    ] {
        let done = run(&[&["measure", &target][..], way, &short].concat());
        assert!(done.status.success(), "{way:?}: {}", complaint(&done));
        let document: Value = serde_json::from_slice(&done.stdout).unwrap();
        let goodput = document["goodput_bits_per_second"].as_u64();
        assert!(goodput.is_some_and(|rate| rate > 0), "{document}");
    }
    let done = run(&["path", &target, "--quick", "--json", "--no-history"]);
    assert!(done.status.success(), "{}", complaint(&done));
    let document: Value = serde_json::from_slice(&done.stdout).unwrap();
    let reached = document["traces"][0]["reached"].as_bool();
    assert_eq!(reached, Some(true), "{document}");
}
