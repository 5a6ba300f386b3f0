//! What goes wrong with other programs, in words for the user.

use std::io;
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;

use movers::{Client, Invocation, Unable, Version};
use observe::{Fault, TargetError};
use units::Span;

/// Lines of a program's output that an error repeats: the last ones.
const LINES: usize = 6;
/// The most characters of them.
const CHARACTERS: usize = 800;

fn failed(what: String, hint: Option<String>) -> TargetError {
    TargetError {
        fault: Fault::Run,
        what,
        hint,
        source: None,
    }
}

/// Streams over UDP are our own alone.
pub(super) fn no_udp(client: &dyn Client) -> TargetError {
    TargetError {
        fault: Fault::Request,
        what: format!(
            "`--transport udp` is for streams of trunkline, and this target is run by {}",
            client.program()
        ),
        hint: Some("leave it out, or name a host that runs `trunkline serve`".to_owned()),
        source: None,
    }
}

/// The last words of a program, as part of a sentence.
pub(super) fn last_words(said: &str) -> String {
    let lines = said.split(['\n', '\r']).map(str::trim);
    let lines: Vec<&str> = lines.filter(|line| !line.is_empty()).collect();
    let last = lines
        .get(lines.len().saturating_sub(LINES)..)
        .unwrap_or_default();
    let last = last.join(" / ").replace(|c: char| c.is_control(), " ");
    let cut = last.chars().count().saturating_sub(CHARACTERS);
    match last.is_empty() {
        true => "it said nothing".to_owned(),
        false => format!("it said: {}", last.chars().skip(cut).collect::<String>()),
    }
}

pub(super) fn cancelled() -> TargetError {
    TargetError {
        fault: Fault::Cancelled,
        what: "cancelled".to_owned(),
        hint: None,
        source: None,
    }
}

pub(super) fn unable(_client: &dyn Client, unable: Unable) -> TargetError {
    TargetError {
        fault: Fault::Request,
        what: unable.what,
        hint: unable.hint,
        source: None,
    }
}

pub(super) fn not_started(
    client: &dyn Client,
    invocation: &Invocation,
    source: io::Error,
) -> TargetError {
    let program = &invocation.program;
    match source.kind() {
        io::ErrorKind::NotFound => failed(
            format!("`{program}` is not installed here"),
            Some(format!("on Debian: `apt-get install {}`", client.package())),
        ),
        _ => TargetError {
            source: Some(Box::new(source)),
            ..failed(format!("`{program}` could not be started"), None)
        },
    }
}

pub(super) fn unknown_version(client: &dyn Client, answer: &str) -> TargetError {
    let program = client.program();
    failed(
        format!(
            "`{program}` does not tell its version; {}",
            last_words(answer)
        ),
        Some(format!(
            "is it the `{program}` of the Debian package {}?",
            client.package()
        )),
    )
}

pub(super) fn too_old(client: &dyn Client, version: &Version) -> TargetError {
    let program = client.program();
    failed(
        format!("`{program}` {version} is older than {}", client.oldest()),
        Some(format!("install a newer {}", client.package())),
    )
}

pub(super) fn no_test_data(source: io::Error) -> TargetError {
    TargetError {
        source: Some(Box::new(source)),
        ..failed(
            format!(
                "test data could not be made in {}",
                std::env::temp_dir().display()
            ),
            Some("name another folder: `TMPDIR=FOLDER trunkline ...`".to_owned()),
        )
    }
}

pub(super) fn no_kernel(source: io::Error) -> TargetError {
    TargetError {
        source: Some(Box::new(source)),
        ..failed("the kernel does not tell of connections".to_owned(), None)
    }
}

/// It ended by itself, and not well.
pub(super) fn ended_badly(client: &dyn Client, status: ExitStatus, said: &str) -> TargetError {
    let program = client.program();
    let how = match (status.signal(), status.code()) {
        (Some(signal), _) => format!("was ended by signal {signal}"),
        (_, Some(code)) => format!("ended with exit code {code}"),
        _ => "ended".to_owned(),
    };
    failed(format!("`{program}` {how}; {}", last_words(said)), None)
}

pub(super) fn nothing_moved(client: &dyn Client, said: &str) -> TargetError {
    let program = client.program();
    failed(
        format!(
            "`{program}` ended without moving data; {}",
            last_words(said)
        ),
        None,
    )
}

pub(super) fn hangs(client: &dyn Client, after: Span, has_begun: bool, said: &str) -> TargetError {
    let program = client.program();
    let what = match has_begun {
        true => "moved nothing more",
        false => "moved nothing",
    };
    failed(
        format!(
            "`{program}` {what} for {}; {}",
            after.human(),
            last_words(said)
        ),
        Some("does the same command work by hand? `-v` or `--help` may tell more".to_owned()),
    )
}

/// Fewer than this of a file that is fetched show nothing.
pub(super) fn too_short(client: &dyn Client, lasted: Span, said: &str) -> TargetError {
    let program = client.program();
    let words = last_words(said);
    failed(
        format!(
            "`{program}` had moved all of it after {}; {words}",
            lasted.human()
        ),
        Some("name a larger file: a sample runs for some seconds".to_owned()),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn last_words_are_bounded_and_hold_no_control_characters() {
        assert_eq!(last_words(" \n\r"), "it said nothing");
        let many: String = (0..100).map(|line| format!("line {line}\n")).collect();
        assert!(last_words(&many).starts_with("it said: line 94 / line 95"));
        let coloured = last_words("\x1b[31merror\x1b[0m");
        assert!(!coloured.chars().any(char::is_control), "{coloured:?}");
        assert!(last_words(&"x".repeat(10_000)).len() < 900);
    }
}
