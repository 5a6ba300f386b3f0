//! Another program that turns a short input into a short output, within a time.

use std::ffi::OsString;
use std::io::{self, Read, Write};
use std::os::fd::AsFd;
use std::process::{Child, ExitStatus, Output, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use nix::fcntl::{FcntlArg, OFlag, fcntl};
use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;

use crate::child::piped;

/// Most bytes of input: any pipe takes them at once (pipe(7)), so that writing never waits.
const INPUT_MAX: usize = 4_096;
/// Most bytes that are read of each output.
const OUTPUT_MAX: u64 = 16 << 10;
/// How often the program is looked at.
const TICK: Duration = Duration::from_millis(2);

/// Runs `program` with `input` on its standard input, in the language of the C locale. It has no
/// terminal, so that it asks for nothing, and ends with the thread that calls this.
///
/// # Errors
/// When it cannot be started, the input is longer than 4 KiB, or it takes longer than `limit`,
/// after which it is ended.
pub fn filter(
    program: &str,
    arguments: &[OsString],
    input: &[u8],
    limit: Duration,
) -> io::Result<Output> {
    if input.len() > INPUT_MAX {
        let why = format!("{} bytes of input; at most {INPUT_MAX}", input.len());
        return Err(io::Error::new(io::ErrorKind::InvalidInput, why));
    }
    let mut command = piped(program);
    let mut child = command.args(arguments).stdin(Stdio::piped()).spawn()?;
    if let Some(mut pipe) = child.stdin.take() {
        // One that reads nothing says by its end what is wrong.
        let _ = pipe.write_all(input);
    }
    let status = ended(&mut child, limit)?;
    Ok(Output {
        status,
        stdout: child.stdout.take().map(written).unwrap_or_default(),
        stderr: child.stderr.take().map(written).unwrap_or_default(),
    })
}

fn ended(child: &mut Child, limit: Duration) -> io::Result<ExitStatus> {
    let begun = Instant::now();
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(status);
        }
        if begun.elapsed() >= limit {
            let _ = killpg(Pid::from_raw(child.id() as i32), Signal::SIGKILL);
            child.wait()?;
            let why = format!("it did not end within {} s", limit.as_secs());
            return Err(io::Error::new(io::ErrorKind::TimedOut, why));
        }
        thread::sleep(TICK);
    }
}

/// What stands in the pipe of a program that has ended. Others that still hold its other end are
/// not waited for.
fn written(mut pipe: impl Read + AsFd) -> Vec<u8> {
    let mut bytes = Vec::new();
    if fcntl(&pipe, FcntlArg::F_SETFL(OFlag::O_NONBLOCK)).is_ok() {
        // An error comes where nothing more stands there, and what was read before is kept.
        let _ = pipe.by_ref().take(OUTPUT_MAX).read_to_end(&mut bytes);
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sh(script: &str, input: &[u8]) -> io::Result<Output> {
        let arguments = ["-c", script].map(OsString::from);
        filter("sh", &arguments, input, Duration::from_secs(20))
    }

    #[test]
    fn the_input_comes_out_changed_with_what_was_said() {
        let done = sh("tr a-z A-Z; echo no >&2; exit 3", b"words").unwrap();
        let said = (done.stdout.as_slice(), done.stderr.as_slice());
        assert_eq!(said, (&b"WORDS"[..], &b"no\n"[..]));
        assert_eq!(done.status.code(), Some(3));
    }

    #[test]
    fn one_that_reads_nothing_and_leaves_a_child_behind_is_not_waited_for() {
        let done = sh("sleep 300 & echo $!; exit 0", &[7; INPUT_MAX]).unwrap();
        let left = String::from_utf8(done.stdout).unwrap();
        let left = Pid::from_raw(left.trim().parse().unwrap());
        // It still runs and holds the pipe.
        nix::sys::signal::kill(left, Signal::SIGKILL).unwrap();
    }

    #[test]
    fn time_and_lengths_are_bounded() {
        let limit = Duration::from_millis(50);
        let endless = filter("sleep", &["300".into()], b"", limit).unwrap_err();
        assert_eq!(endless.kind(), io::ErrorKind::TimedOut);
        let long = sh("cat", &[7; INPUT_MAX + 1]).unwrap_err();
        assert_eq!(long.kind(), io::ErrorKind::InvalidInput);
        let done = sh("head -c 30000 /dev/zero", b"").unwrap();
        assert_eq!(done.stdout.len() as u64, OUTPUT_MAX);
    }
}
