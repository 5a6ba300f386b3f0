//! What the receiver writes to: a file, a pipe, what a program reads.

use std::fs::File;
use std::io::{self, ErrorKind, Write};
use std::os::fd::AsFd;
use std::time::Duration;

use copy_protocol::{Problem, ProblemKind};
use files::store::StreamFile;
use files::{failed, problem, with_hint};
use nix::poll::{PollFd, PollFlags};
use sockets::poll;

use super::incoming::{Incoming, Next, OutputState};
use super::program::ProgramInput;

/// How soon it is tried again where nothing is taken.
const WRITE_LOOK: Duration = Duration::from_secs(1);

/// What is written to.
#[derive(Debug)]
pub(crate) enum FileOutput {
    /// A file that has its name once it is whole.
    Stored(StreamFile),
    /// The input of a program.
    Program(ProgramInput),
    /// An open file or pipe; the name is for people.
    Open(File, String),
}

enum Trouble {
    Closed,
    Failed(Problem),
}

impl FileOutput {
    fn write(&mut self, bytes: &[u8]) -> Result<(), Trouble> {
        let (written, name) = match self {
            FileOutput::Stored(file) => return file.write(bytes).map_err(Trouble::Failed),
            FileOutput::Program(input) => (input.write(bytes), "the program's input"),
            FileOutput::Open(file, name) => (write_fully(file, bytes), &**name),
        };
        written.map_err(|error| match error.kind() {
            ErrorKind::BrokenPipe => Trouble::Closed,
            _ => Trouble::Failed(Problem {
                hint: None,
                ..failed("write", name, &error)
            }),
        })
    }

    /// Closes it as whole.
    fn finish(self) -> Result<(), Problem> {
        match self {
            FileOutput::Stored(file) => file.publish(),
            FileOutput::Program(input) => {
                input.close();
                Ok(())
            }
            FileOutput::Open(..) => Ok(()),
        }
    }
}

/// Waits where the other side does not take it at once, whatever its mode.
pub(super) fn write_fully(mut file: &File, mut bytes: &[u8]) -> io::Result<()> {
    while !bytes.is_empty() {
        match file.write(bytes) {
            Ok(0) => return Err(ErrorKind::WriteZero.into()),
            Ok(written) => bytes = bytes.get(written..).unwrap_or_default(),
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) if error.kind() == ErrorKind::WouldBlock => {
                let mut watched = [PollFd::new(file.as_fd(), PollFlags::POLLOUT)];
                poll::wait(&mut watched, WRITE_LOOK)?;
            }
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// Writes what comes, in its order. Only what came whole is closed as whole; otherwise it stays
/// open until the pipe is over, so that no program takes a broken input for a whole one.
pub(crate) fn write_all(mut output: FileOutput, from: &Incoming) {
    let mut hasher = blake3::Hasher::new();
    loop {
        match from.next() {
            Next::Block(bytes) => match output.write(&bytes) {
                Ok(()) => {
                    hasher.update(&bytes);
                    from.on_written();
                }
                Err(Trouble::Closed) => {
                    from.set(OutputState::Closed);
                    break;
                }
                Err(Trouble::Failed(problem)) => {
                    from.set(OutputState::Failed(problem));
                    break;
                }
            },
            Next::End(end) if hasher.finalize() == end.digest => {
                from.set(match output.finish() {
                    Ok(()) => OutputState::Whole,
                    Err(problem) => OutputState::Failed(problem),
                });
                return;
            }
            Next::End(_) => {
                from.set(OutputState::Failed(corrupt()));
                break;
            }
            Next::Over => return,
        }
    }
    from.wait_until_over();
}

fn corrupt() -> Problem {
    let what = "what arrived does not have the digest of what was read";
    let hint = "memory of one of the two hosts may be failing; send it again";
    with_hint(problem(ProblemKind::Corrupt, what), hint)
}
