//! SFTP servers that lie: nothing of theirs is written elsewhere, nothing is taken for whole that
//! is not, and no copy waits for ever.

use std::fs;
use std::time::{Duration, Instant};

use crate::sent::FarHost;
use crate::sftp::{all_said, copy};

const SERVER: &str = include_str!("sftp_hostile.py");

/// A host whose server lies so; `None` where there is no Python.
pub(crate) fn host(lie: &str) -> Option<FarHost> {
    let python = std::process::Command::new("python3").arg("-V").output();
    if python.is_err() {
        testkit::skip("no python3");
        return None;
    }
    let host = FarHost::new();
    fs::write(host.path("server.py"), SERVER).unwrap();
    let server = host.path("server.py").display().to_string();
    host.runs(&format!("exec python3 {server} {lie}"));
    Some(host)
}

/// Copies from it; what was said.
fn get(lie: &str, codes: &[i32]) -> Option<(FarHost, String)> {
    let host = host(lie)?;
    let to = host.path("got");
    let began = Instant::now();
    let to = to.to_str().unwrap();
    let output = copy(&host, &["--sftp", "-r", "--patience", "2s", "h:d", to]);
    let said = all_said(&output);
    let code = output.status.code().unwrap();
    assert!(codes.contains(&code), "{lie}: {code}: {said}");
    assert!(!said.contains("panicked"), "{lie}: {said}");
    assert!(began.elapsed() < Duration::from_secs(100), "{lie}");
    Some((host, said))
}

#[test]
fn an_honest_answer_of_that_server_is_taken() {
    if let Some((host, said)) = get("honest", &[0]) {
        assert_eq!(
            fs::read(host.path("got/d/f")).unwrap().len(),
            100_000,
            "{said}"
        );
    }
}

#[test]
fn short_answers_and_those_in_another_order_make_whole_files() {
    for lie in ["short", "reorder"] {
        let Some((host, said)) = get(lie, &[0]) else {
            return;
        };
        let got = fs::read(host.path("got/d/f")).unwrap();
        assert_eq!(got.len(), 100_000);
        assert!(
            got.iter()
                .enumerate()
                .all(|(at, byte)| *byte == (at % 251) as u8),
            "{said}"
        );
    }
}

#[test]
fn names_that_lead_elsewhere_end_the_copy() {
    for lie in ["slash", "dots", "zero"] {
        let Some((host, said)) = get(lie, &[0, 1]) else {
            return;
        };
        assert!(
            !host.path("evil").exists() && !host.path("home/evil").exists(),
            "{lie}"
        );
        if lie != "dots" {
            assert!(said.contains("is no name in a folder"), "{lie}: {said}");
        }
    }
}

#[test]
fn sizes_and_contents_that_are_lies_are_no_files() {
    for lie in ["huge", "grows", "ends", "long", "denied", "offsets"] {
        let Some((host, said)) = get(lie, &[1]) else {
            return;
        };
        assert!(!host.path("got/d/f").exists(), "{lie}: {said}");
    }
}

#[test]
fn what_is_no_protocol_ends_the_copy() {
    for lie in ["wrong-number", "length", "garbage", "version", "dies"] {
        if let Some((host, said)) = get(lie, &[1, 2, 75]) {
            assert!(!host.path("got/d/f").exists(), "{lie}: {said}");
        }
    }
}

#[test]
fn a_listing_without_end_is_bounded() {
    get("endless", &[1, 2]);
}

#[test]
fn folders_without_end_are_not_removed_and_the_copy_ends() {
    let Some(host) = host("deep") else {
        return;
    };
    let from = host.path("s");
    fs::create_dir(&from).unwrap();
    fs::write(from.join("f"), "f").unwrap();
    let source = format!("{}/", from.display());
    let output = copy(
        &host,
        &["--sftp", "-r", "--delete", "--streams", "1", &source, "h:d"],
    );
    let said = all_said(&output);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("more than 256 folders"), "{said}");
    assert!(!host.path("home/removed").exists(), "{said}");
}
