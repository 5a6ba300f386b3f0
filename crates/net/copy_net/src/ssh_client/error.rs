//! Why ssh did not start a far end, for people.

use std::io;
use std::process::ExitStatus;

use copy_protocol::StartError;
use errors::{Fault, Hint};
use thiserror::Error;

use super::FAR_COMMAND;

/// Exit status of a shell that does not find a command, and of one that may not run it.
const NOT_FOUND: i32 = 127;
const NOT_ALLOWED: i32 = 126;
/// Exit status of ssh itself when it did not get through.
const NOT_CONNECTED: i32 = 255;
const SHOWN_CHARACTERS: usize = 100;

/// Why ssh did not start a far end.
#[derive(Debug, Error)]
pub enum SshError {
    /// There is no ssh client here.
    #[error("`{client}` cannot be started")]
    Client {
        /// The client.
        client: String,
        /// The system's reason.
        source: io::Error,
    },
    /// ssh did not get through. It has said why itself.
    #[error("ssh did not get through to {destination}")]
    NotConnected {
        /// Where to.
        destination: String,
    },
    /// The program is not there.
    #[error("there is no program `{program}` at {destination}")]
    NoProgram {
        /// The program.
        program: String,
        /// Where.
        destination: String,
    },
    /// The program ended, or said something else.
    #[error(
        "`{program} {FAR_COMMAND}` at {destination} {how} without saying where it listens{}",
        after(.noise)
    )]
    NoAnswer {
        /// The program.
        program: String,
        /// Where.
        destination: String,
        /// How it ended.
        how: String,
        /// What it said instead.
        noise: String,
    },
    /// The account runs no commands, or others than it is asked for.
    #[error("{destination} runs no command of this account: `sh` {how}{}", after(.noise))]
    NoShell {
        /// Where.
        destination: String,
        /// How it ended.
        how: String,
        /// What was said instead.
        noise: String,
    },
    /// The program here cannot be started there.
    #[error("trunkline cannot be sent to {destination}: {why}")]
    NotSent {
        /// Where.
        destination: String,
        /// What is missing here or there.
        why: String,
    },
    /// It talks without end.
    #[error("the far end says other things than where it listens: `{0}`")]
    Noise(String),
    /// It is of another version.
    #[error(transparent)]
    Version(StartError),
    /// The pipe to ssh broke.
    #[error("the pipe to ssh broke")]
    Pipe(#[source] io::Error),
    /// The user stopped it.
    #[error("stopped while ssh was connecting")]
    Stopped,
}

impl SshError {
    /// What the end of ssh says, where the far end said nothing.
    ///
    /// * `program`: what should have said something; none where the shell there should have.
    pub(super) fn ended(
        destination: &str,
        program: Option<&str>,
        status: Option<ExitStatus>,
        noise: String,
    ) -> Self {
        let destination = destination.to_owned();
        let code = status.and_then(|status| status.code());
        match (code, program) {
            (Some(NOT_CONNECTED), _) => SshError::NotConnected { destination },
            (Some(NOT_FOUND | NOT_ALLOWED), Some(program)) => SshError::NoProgram {
                program: program.to_owned(),
                destination,
            },
            (code, Some(program)) => SshError::NoAnswer {
                program: program.to_owned(),
                destination,
                how: how(code, status),
                noise,
            },
            (code, None) => SshError::NoShell {
                destination,
                how: how(code, status),
                noise,
            },
        }
    }

    /// Whether the host was reached, and no program of ours can be started there.
    pub fn is_without_program(&self) -> bool {
        matches!(
            self,
            SshError::NoProgram { .. }
                | SshError::NoAnswer { .. }
                | SshError::NoShell { .. }
                | SshError::NotSent { .. }
                | SshError::Noise(_)
        )
    }

    /// Whether trying again may help.
    pub fn may_pass(&self) -> bool {
        matches!(self, SshError::NotConnected { .. } | SshError::Pipe(_))
    }
}

impl Hint for SshError {
    fn fault(&self) -> Fault {
        match self {
            SshError::Stopped => Fault::Cancelled,
            passing if passing.may_pass() => Fault::Run,
            _ => Fault::Request,
        }
    }

    fn hint(&self) -> Option<String> {
        Some(match self {
            SshError::Client { .. } => "install an ssh client, or copy to a `trunkline serve \
                --root` instead"
                .to_owned(),
            SshError::NotConnected { destination } => {
                format!("`ssh {destination}` has to work first; what it says stands above")
            }
            SshError::NoProgram { .. } => "install trunkline there, or name it with \
                `--far-program`; `trunkline copy` without that and `--no-install` sends it"
                .to_owned(),
            SshError::NoShell { destination, .. } => {
                format!("see what `ssh {destination} uname -sm` says")
            }
            SshError::NotSent { .. } => "install trunkline there, and say where it is with \
                `--far-program`"
                .to_owned(),
            SshError::NoAnswer {
                destination,
                program,
                ..
            } => format!(
                "see what `ssh {destination} {program} --version` says: it may be older than \
                copying, or the account run no commands"
            ),
            SshError::Noise(_) => "a start-up file of the shell there prints it: let it be silent \
                where there is no terminal"
                .to_owned(),
            SshError::Version(error) => return error.hint().map(str::to_owned),
            SshError::Pipe(_) | SshError::Stopped => return None,
        })
    }
}

fn how(code: Option<i32>, status: Option<ExitStatus>) -> String {
    match (code, status) {
        (Some(code), _) => format!("ended with status {code}"),
        (None, Some(_)) => "was ended by a signal".to_owned(),
        (None, None) => "closed its output".to_owned(),
    }
}

fn after(noise: &str) -> String {
    match noise {
        "" => String::new(),
        noise => format!("; it said `{noise}`"),
    }
}

/// `text` without characters that steer a terminal or turn others round, and short.
pub(super) fn printable(text: &str) -> String {
    units::printable(text, SHOWN_CHARACTERS)
}
