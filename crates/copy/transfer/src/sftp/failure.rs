//! What a server refuses, told to people.

use copy_protocol::sftp::{Reply, Status, StatusCode};
use copy_protocol::{Problem, ProblemKind};
use files::{problem, shown, with_hint};
use units::printable;

/// Codes of later versions that servers of version 3 send, too (draft 13, section 9.1).
const NO_SPACE: u32 = 14;
const QUOTA: u32 = 15;
const TEXT_CHARACTERS: usize = 100;

const ROOM: &str = "make room there and give the same command again: what has arrived is kept";

/// Why `trying` with `name` did not work.
pub(super) fn refused(trying: &str, name: &[u8], reply: &Reply) -> Problem {
    let Reply::Status(status) = reply else {
        return odd(trying, name);
    };
    let (kind, why, hint) = meaning(trying, status);
    let what = format!("cannot {trying} `{}` at the far end: {why}", shown(name));
    let problem = problem(kind, what);
    match hint {
        Some(hint) => with_hint(problem, hint),
        None => problem,
    }
}

/// A reply of the wrong kind.
pub(super) fn odd(trying: &str, name: &[u8]) -> Problem {
    let what = format!(
        "the SFTP server answers otherwise than it may when it is to {trying} `{}`",
        shown(name)
    );
    problem(ProblemKind::Protocol, what)
}

/// What a removal leaves, and why.
pub(super) fn stays(what: String, hint: &str) -> Problem {
    with_hint(problem(ProblemKind::Request, what), hint)
}

/// There is no room for it.
pub(super) fn full(name: &[u8], free: u64) -> Problem {
    let free = units::Bytes::new(free).human();
    let what = format!(
        "cannot write `{}` at the far end: its disk has {free} free",
        shown(name)
    );
    with_hint(problem(ProblemKind::DiskFull, what), ROOM)
}

/// The part of a file is opened by each connection that writes to it.
const WRITE_RIGHT: &str = "give the account there the right to it, or name another folder; \
    ProFTPD needs `AllowOverwrite on`";

fn meaning(trying: &str, status: &Status) -> (ProblemKind, String, Option<&'static str>) {
    let text = printable(&status.text, TEXT_CHARACTERS);
    match status.code {
        StatusCode::Missing => (
            ProblemKind::NotFound,
            "there is no such file or folder".to_owned(),
            (trying == "make").then_some("make the folder that it is in first"),
        ),
        StatusCode::Denied => (
            ProblemKind::Permission,
            "this account has no right to it".to_owned(),
            Some(match trying {
                "write" => WRITE_RIGHT,
                _ => "give the account there the right to it, or name another folder",
            }),
        ),
        StatusCode::Unsupported => (
            ProblemKind::Request,
            "its SFTP server does not do that".to_owned(),
            attributes(trying),
        ),
        StatusCode::Other(NO_SPACE) => (
            ProblemKind::DiskFull,
            "its disk is full".to_owned(),
            Some(ROOM),
        ),
        StatusCode::Other(QUOTA) => (
            ProblemKind::DiskFull,
            "the quota of this account is used up".to_owned(),
            Some(ROOM),
        ),
        StatusCode::Failure if trying == "write" => (
            ProblemKind::Disk,
            format!("it says no more than `{text}`"),
            Some(
                "mostly its disk or the quota of this account is full: see `df` there, make room, \
                and give the same command again",
            ),
        ),
        _ => (
            ProblemKind::Disk,
            format!("it says no more than `{text}`"),
            attributes(trying),
        ),
    }
}

fn attributes(trying: &str) -> Option<&'static str> {
    (trying == "set mode and time of")
        .then_some("where it sets none, copy with `--no-preserve times,permissions`")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_told_with_the_name_and_the_next_step() {
        let told = |trying, code| {
            let text = "Fail\u{1b}[2Jure".to_owned();
            refused(trying, b"a/b", &Reply::Status(Status { code, text }))
        };
        let denied = told("write", StatusCode::Denied);
        assert_eq!(denied.kind, ProblemKind::Permission);
        assert!(
            denied.what.contains("cannot write `a/b`"),
            "{}",
            denied.what
        );
        let full = told("write", StatusCode::Failure);
        assert!(full.hint.unwrap().contains("df"));
        assert!(!full.what.contains('\u{1b}'));
        assert_eq!(
            told("write", StatusCode::Other(14)).kind,
            ProblemKind::DiskFull
        );
        assert_eq!(
            refused("read", b"x", &Reply::Data(Vec::new())).kind,
            ProblemKind::Protocol
        );
    }
}
