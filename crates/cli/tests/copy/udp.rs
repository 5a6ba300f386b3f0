//! Copies over UDP to and from a standing server on this host.

use std::fs;
use std::io;
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Stdio};
use std::thread;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use super::server::{Server, assert_same, tree};
use super::{assert_told, common::complaint};
use crate::common::trunkline;

const UDP: [&str; 2] = ["--transport", "udp"];

#[test]
fn a_folder_goes_there_and_comes_back_over_udp() {
    let server = Server::start(&[]);
    tree(&server.near(), 20_000_000);
    let place = server.place("2026/");
    let put = server.copy(&[&UDP[..], &["-r", "run7", &place]].concat());
    assert_eq!(put.status.code(), Some(0), "{}", complaint(&put));
    let (near, root) = (server.near(), server.root());
    assert_same(&near.join("run7"), &root.join("2026/run7"));
    let place = server.place("2026/run7/");
    let get = server.copy(&[&UDP[..], &["-r", &place, "back"]].concat());
    assert_eq!(get.status.code(), Some(0), "{}", complaint(&get));
    assert_same(&near.join("run7"), &near.join("back"));
}

#[test]
fn several_streams_over_udp_are_several_connections() {
    let server = Server::start(&[]);
    tree(&server.near(), 20_000_000);
    let place = server.place("2026/");
    let words = ["-r", "-P", "3", "run7", &place];
    let put = server.copy(&[&UDP[..], &words].concat());
    assert_eq!(put.status.code(), Some(0), "{}", complaint(&put));
    let (near, root) = (server.near(), server.root());
    assert_same(&near.join("run7"), &root.join("2026/run7"));
}

#[test]
fn options_of_tcp_are_refused_over_udp() {
    let told = |further: &[&str], what: &str| {
        let words = ["copy", "a", "trunkline://127.0.0.1/x"];
        let words = [&words[..], &UDP, further].concat();
        let mut command = trunkline(&words);
        command.env("TRUNKLINE_TOKEN", super::TOKEN);
        let text = complaint(&command.output().unwrap());
        assert!(text.contains(what), "{text}");
    };
    told(&["--plain"], "`--plain` is for TCP");
    told(&["-C", "cubic"], "`--congestion` is for TCP");
    told(&["-w", "4M"], "`--window` is for TCP");
    let words = ["copy", "a", "h:x", "--transport", "udp"];
    let parts = [
        "between this host and a trunkline:// server",
        "leave it out",
    ];
    assert_told(&words, 2, &parts);
}

#[test]
fn a_congestion_control_that_this_host_lacks_is_refused_before_anything_is_sent() {
    let words = ["copy", "-C", "no_such_control", "a", "h:x"];
    let parts = ["`no_such_control` is not available", "check the spelling"];
    assert_told(&words, 2, &parts);
}

/// A port that passes TCP on to a server, and has no UDP.
fn tcp_alone(server: &Server) -> u16 {
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let (here, there) = (listener.local_addr().unwrap().port(), server.port());
    thread::spawn(move || {
        for near in listener.incoming().map_while(Result::ok) {
            let far = TcpStream::connect(("127.0.0.1", there)).unwrap();
            for (mut from, mut to) in [
                (near.try_clone().unwrap(), far.try_clone().unwrap()),
                (far, near),
            ] {
                thread::spawn(move || io::copy(&mut from, &mut to));
            }
        }
    });
    here
}

#[test]
fn a_server_without_udp_is_told_and_tcp_is_not_taken_instead() {
    let server = Server::start(&[]);
    tree(&server.near(), 1_000);
    let place = format!("trunkline://127.0.0.1:{}/x", tcp_alone(&server));
    let put = server.copy(&[&UDP[..], &["-r", "run7", &place]].concat());
    let text = complaint(&put);
    assert_eq!(put.status.code(), Some(1), "{text}");
    assert!(
        text.contains("no program takes UDP at 127.0.0.1:"),
        "{text}"
    );
    assert!(text.contains("leave out `--transport udp`"), "{text}");
    assert_eq!(fs::read_dir(server.root()).unwrap().count(), 0);
}

const PATH: &str = r#"
[forward]
rate = "50Mbit/s"
delay = "5ms"
queue = { kind = "drop-tail", limit = "128KiB" }
"#;

/// A far host that drops UDP says nothing of it.
#[test]
fn udp_that_is_dropped_on_the_way_is_told_within_seconds() {
    if !testkit::can_emulate() || !testkit::has_program("nft") {
        return;
    }
    let server = Server::start(&[]);
    tree(&server.near(), 1_000);
    let folder = server.near();
    let path = folder.join("path.toml");
    fs::write(&path, PATH).unwrap();
    let program = env!("CARGO_BIN_EXE_trunkline");
    let rules = "table inet t { chain c { type filter hook input priority 0; \
                 meta l4proto udp drop; }; }";
    let (root, tokens) = (server.root(), server.tokens());
    let far = format!(
        "nft '{rules}' && exec {program} serve --root {} --tokens {}",
        root.display(),
        tokens.display()
    );
    let words = ["emulate", path.to_str().unwrap(), "--far", &far, "--"];
    let copy = [program, "copy", "-r", "run7", "trunkline://far/x"];
    let mut command = trunkline(&[&words[..], &copy, &UDP].concat());
    command.env("TRUNKLINE_TOKEN", server.token());
    let output = command.current_dir(folder).output().unwrap();
    let text = complaint(&output);
    assert!(!output.status.success(), "{text}");
    assert!(
        text.contains("nothing came back over UDP from") && text.contains("within 8s"),
        "{text}"
    );
    assert!(text.contains("open that port for UDP"), "{text}");
    assert_eq!(fs::read_dir(root).unwrap().count(), 0);
}

/// No TCP connection is made: on a path that passes UDP alone, all of a copy goes over it.
#[test]
fn a_path_that_passes_udp_alone_carries_copies_both_ways() {
    if !testkit::can_emulate() || !testkit::has_program("nft") {
        return;
    }
    let server = Server::start(&[]);
    tree(&server.near(), 3_000_000);
    let folder = server.near();
    let path = folder.join("path.toml");
    fs::write(&path, PATH).unwrap();
    let program = env!("CARGO_BIN_EXE_trunkline");
    let rules = "table inet t { chain c { type filter hook input priority 0; \
                 meta l4proto tcp iif != lo drop; }; }";
    let (root, tokens) = (server.root(), server.tokens());
    let far = format!(
        "nft '{rules}' && exec {program} serve --root {} --tokens {}",
        root.display(),
        tokens.display()
    );
    let words = ["emulate", path.to_str().unwrap(), "--far", &far, "--", "sh"];
    let copies = format!(
        "{program} copy -r run7 trunkline://far/x --transport udp && \
         {program} copy -r trunkline://far/x/run7/ back --transport udp && \
         {program} measure far --transport udp -t 1s"
    );
    let mut command = trunkline(&[&words[..], &["-c", &copies]].concat());
    command.env("TRUNKLINE_TOKEN", server.token());
    let output = command.current_dir(&folder).output().unwrap();
    let text = complaint(&output);
    assert!(output.status.success(), "{text}");
    assert_same(&folder.join("run7"), &folder.join("back"));
}

fn begin(server: &Server) -> Child {
    let file = server.near().join("run7/hits.root");
    let mut copy = trunkline(&["copy", file.to_str().unwrap(), &server.place("hits.root")]);
    copy.args(UDP)
        .args(["--max-rate", "150Mbit/s", "--no-history"]);
    copy.env("TRUNKLINE_TOKEN", server.token());
    copy.stderr(Stdio::piped()).stdout(Stdio::null());
    copy.spawn().unwrap()
}

/// Random moments, as long as the copy takes.
fn moments(count: u64) -> (u64, Vec<Duration>) {
    let seed = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    let seed = seed.as_nanos() as u64;
    let mut state = seed;
    let mut next = || {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        Duration::from_millis((state >> 33) % 1_500)
    };
    (seed, (0..count).map(|_| next()).collect())
}

#[test]
fn a_copy_over_udp_outlives_kills_of_its_server() {
    let mut server = Server::start(&[]);
    tree(&server.near(), 30_000_000);
    let copy = begin(&server);
    let (seed, moments) = moments(3);
    for moment in moments {
        thread::sleep(moment);
        server.restart();
    }
    let output = copy.wait_with_output().unwrap();
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "seed {seed}: {told}");
    let (near, far) = (server.near().join("run7/hits.root"), server.root());
    let same = fs::read(near).unwrap() == fs::read(far.join("hits.root")).unwrap();
    assert!(same, "seed {seed}");
}

#[test]
fn the_same_command_goes_on_after_kills_of_a_copy_over_udp() {
    let server = Server::start(&[]);
    tree(&server.near(), 30_000_000);
    let (seed, moments) = moments(3);
    for moment in moments {
        let mut copy = begin(&server);
        thread::sleep(moment);
        copy.kill().unwrap();
        copy.wait().unwrap();
    }
    let output = begin(&server).wait_with_output().unwrap();
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "seed {seed}: {told}");
    let (near, far) = (server.near().join("run7/hits.root"), server.root());
    let same = fs::read(near).unwrap() == fs::read(far.join("hits.root")).unwrap();
    assert!(same, "seed {seed}");
}
