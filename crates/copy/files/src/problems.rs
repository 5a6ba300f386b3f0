//! Errors of files, told to people.

use std::fmt::Display;
use std::io;

use copy_protocol::{Problem, ProblemKind};
use nix::errno::Errno;
use units::steers;

/// A problem that is about no particular entry yet.
pub fn problem(kind: ProblemKind, what: impl Into<String>) -> Problem {
    Problem {
        kind,
        file: None,
        what: what.into(),
        hint: None,
    }
}

/// The same with the next step.
pub fn with_hint(mut problem: Problem, hint: impl Into<String>) -> Problem {
    problem.hint = Some(hint.into());
    problem
}

/// What the system said when something was tried with a file.
pub fn failed(trying: &str, name: impl Display, error: &io::Error) -> Problem {
    let errno = Errno::from_raw(error.raw_os_error().unwrap_or(0));
    let (kind, hint) = meaning(errno);
    let why = match error.raw_os_error() {
        // What openat2(2) says where a name would lead out of the folder below which it has to
        // stay.
        Some(_) if errno == Errno::EXDEV => {
            "that is outside of the folder that is served".to_owned()
        }
        Some(_) => errno.desc().to_owned(),
        None => error.to_string(),
    };
    let what = format!("cannot {trying} `{name}`: {why}");
    Problem {
        hint: hint.map(str::to_owned),
        ..problem(kind, what)
    }
}

fn meaning(errno: Errno) -> (ProblemKind, Option<&'static str>) {
    match errno {
        Errno::ENOENT => (ProblemKind::NotFound, None),
        Errno::EACCES | Errno::EPERM => (
            ProblemKind::Permission,
            Some("give the user that copies the right to it, or copy as another user"),
        ),
        Errno::EROFS => (
            ProblemKind::Permission,
            Some("the file system is mounted read-only; choose another destination"),
        ),
        Errno::ENOSPC => (
            ProblemKind::DiskFull,
            Some("make room and start the same copy again: what has arrived is kept"),
        ),
        Errno::EDQUOT => (
            ProblemKind::DiskFull,
            Some(
                "the quota is used up; make room and start the same copy again: what has arrived \
                is kept",
            ),
        ),
        Errno::EXDEV => (
            ProblemKind::Permission,
            Some("names, and links in them, must stay below the folder that is served"),
        ),
        Errno::ELOOP => (
            ProblemKind::Request,
            Some("a link stands in the way; name the folder that it points to"),
        ),
        Errno::ENOTDIR => (
            ProblemKind::Request,
            Some("a part of the name is no folder; move it away or choose another destination"),
        ),
        Errno::ENAMETOOLONG => (
            ProblemKind::Request,
            Some("the file system does not take names this long"),
        ),
        Errno::EMFILE | Errno::ENFILE => (
            ProblemKind::Disk,
            Some("raise the limit of open files (`ulimit -n`)"),
        ),
        _ => (ProblemKind::Disk, None),
    }
}

/// Bytes of a name as people read them: what is no UTF-8, would move the cursor or turns other
/// characters round is escaped.
/// ```
/// # use files::shown;
/// assert_eq!(shown(b"run 7/\xC3\xA9\x1B[2J\xFF"), "run 7/\u{e9}\\x1b[2J\\xff");
/// assert_eq!(shown("\u{202e}txt.exe".as_bytes()), "\\u{202e}txt.exe");
/// ```
pub fn shown(name: &[u8]) -> String {
    let mut text = String::with_capacity(name.len());
    for chunk in name.utf8_chunks() {
        for sign in chunk.valid().chars() {
            match steers(sign) {
                true if sign.is_ascii() => text.push_str(&format!("\\x{:02x}", sign as u32)),
                true => text.extend(sign.escape_unicode()),
                false => text.push(sign),
            }
        }
        for byte in chunk.invalid() {
            text.push_str(&format!("\\x{byte:02x}"));
        }
    }
    text
}
