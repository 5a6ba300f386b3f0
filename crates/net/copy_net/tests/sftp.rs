//! Connections to SFTP servers that answer otherwise than they may, or not at all. A script takes
//! ssh's place.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::time::{Duration, Instant};

use copy_net::{SftpDialer, SftpError, Ssh, SshManners};
use copy_protocol::FarProgram;
use copy_protocol::sftp::Request;
use tempfile::TempDir;

struct Host {
    _folder: TempDir,
    dialer: SftpDialer,
}

fn host(script: &str, silence: Duration) -> Host {
    let folder = tempfile::tempdir().unwrap();
    let client = folder.path().join("ssh");
    fs::write(
        &client,
        format!("#!/bin/sh\n[ \"$1\" = -G ] && exit\n{script}\n"),
    )
    .unwrap();
    fs::set_permissions(&client, fs::Permissions::from_mode(0o700)).unwrap();
    let ssh = Ssh {
        client: client.to_str().unwrap().to_owned(),
        destination: "h".to_owned(),
        options: Vec::new(),
        program: FarProgram::Sftp,
        runs_programs: false,
    };
    Host {
        _folder: folder,
        dialer: SftpDialer::new(ssh, silence),
    }
}

fn refused(script: &str) -> SftpError {
    let host = host(script, Duration::from_secs(10));
    host.dialer
        .open(SshManners::Alone, &|| false)
        .expect_err("a connection")
}

#[test]
fn what_ssh_said_is_the_reason() {
    let error = refused("echo banner >&2; echo 'h: Permission denied (publickey).' >&2; exit 255");
    assert!(matches!(error, SftpError::NotConnected { .. }), "{error}");
    assert!(
        error.to_string().contains("Permission denied (publickey)"),
        "{error}"
    );
    let error = refused("echo 'subsystem request failed on channel 0' >&2; exit 255");
    assert!(matches!(error, SftpError::NoSftp { .. }), "{error}");
    let error = refused("echo 'This account is not available.'; exit 1");
    assert!(matches!(error, SftpError::NoSftp { .. }), "{error}");
}

#[test]
fn a_silent_server_is_given_up_and_a_stop_is_noticed_at_once() {
    let silent = host("exec sleep 60", Duration::from_secs(1));
    let began = Instant::now();
    let error = silent
        .dialer
        .open(SshManners::Alone, &|| false)
        .unwrap_err();
    assert!(matches!(error, SftpError::Silent { .. }), "{error}");
    let error = silent.dialer.open(SshManners::Alone, &|| true).unwrap_err();
    assert!(matches!(error, SftpError::Stopped), "{error}");
    assert!(began.elapsed() < Duration::from_secs(20));
}

#[test]
fn a_server_that_stops_answering_is_given_up() {
    // Its first packet, a name for the round trip, and no more.
    let hello = r"printf '\000\000\000\005\002\000\000\000\003'";
    let name = r"printf '\000\000\000\011\150\000\000\000\001\000\000\000\000'";
    let host = host(
        &format!("{hello}; {name}; exec sleep 60"),
        Duration::from_secs(1),
    );
    let mut channel = host.dialer.open(SshManners::Alone, &|| false).unwrap();
    assert!(
        channel
            .receive(Duration::from_millis(10))
            .unwrap()
            .is_none(),
        "nothing is owed"
    );
    channel.send(&Request::LStat(b"a"));
    let until = Instant::now() + Duration::from_secs(20);
    let error = loop {
        match channel.receive(Duration::from_millis(50)) {
            Ok(None) => assert!(Instant::now() < until),
            Ok(Some(reply)) => unreachable!("{reply:?}"),
            Err(error) => break error,
        }
    };
    assert!(matches!(error, SftpError::Silent { .. }), "{error}");
}

#[test]
fn replies_in_another_order_go_to_their_requests() {
    // Its first packet, the reply to the second request, and then the one to the first.
    let hello = r"printf '\000\000\000\005\002\000\000\000\003'";
    let status = r"printf '\000\000\000\011\145\000\000\000\002\000\000\000\002'";
    let name = r"printf '\000\000\000\011\150\000\000\000\001\000\000\000\000'";
    let host = host(
        &format!("{hello}; {status}; sleep 1; {name}; exec sleep 60"),
        Duration::from_secs(20),
    );
    let mut channel = host.dialer.open(SshManners::Alone, &|| false).unwrap();
    let number = channel.send(&Request::LStat(b"a"));
    let until = Instant::now() + Duration::from_secs(20);
    let mut heard = Vec::new();
    while (heard.is_empty() || channel.rtt().is_none()) && Instant::now() < until {
        heard.extend(channel.receive(Duration::from_millis(50)).unwrap());
    }
    let numbers: Vec<u32> = heard.iter().map(|(number, _)| *number).collect();
    assert_eq!(numbers, [number]);
    assert!(channel.rtt().is_some());
    assert_eq!(channel.owed(), 0);
}
