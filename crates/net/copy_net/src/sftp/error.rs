//! Why there is no connection to an SFTP server (any more).

use std::io;
use std::process::ExitStatus;
use std::time::Duration;

use errors::{Fault, Hint};
use thiserror::Error;
use units::Span;

/// Exit status of ssh itself when it did not get through.
const NOT_CONNECTED: i32 = 255;

/// Why there is no connection to an SFTP server, or none any more.
#[derive(Debug, Error)]
pub enum SftpError {
    /// There is no ssh client here.
    #[error("`{client}` cannot be started")]
    Client {
        /// The client.
        client: String,
        /// The system's reason.
        source: io::Error,
    },
    /// ssh did not get through.
    #[error("ssh did not get through to {destination}{}", reason(.said))]
    NotConnected {
        /// Where to.
        destination: String,
        /// What ssh said last.
        said: String,
    },
    /// The host answers, and has no SFTP for this account.
    #[error("{destination} has no SFTP for this account: {how}{}", reason(.said))]
    NoSftp {
        /// Where.
        destination: String,
        /// What came instead.
        how: String,
        /// What ssh or the server said last.
        said: String,
    },
    /// The connection has ended.
    #[error("ssh to {destination} {how}{}", reason(.said))]
    Ended {
        /// Where to.
        destination: String,
        /// How ssh ended.
        how: String,
        /// What it said last.
        said: String,
    },
    /// The server says what it may not.
    #[error("the SFTP server of {destination} sent {what}")]
    Broken {
        /// Where.
        destination: String,
        /// What.
        what: String,
    },
    /// The server owes a reply and says nothing.
    #[error(
        "the SFTP server of {destination} has said nothing for {}",
        Span::from(*.silence).human()
    )]
    Silent {
        /// Where.
        destination: String,
        /// For how long.
        silence: Duration,
    },
    /// The pipe to ssh broke.
    #[error("the pipe to ssh broke")]
    Pipe(#[source] io::Error),
    /// The user stopped it.
    #[error("stopped while ssh was connecting")]
    Stopped,
}

impl SftpError {
    /// The end of ssh before the server said anything.
    pub(super) fn before_the_first(
        destination: &str,
        status: Option<ExitStatus>,
        said: String,
    ) -> Self {
        let destination = destination.to_owned();
        let is_refused = said.contains("subsystem request failed");
        match status.and_then(|status| status.code()) {
            Some(NOT_CONNECTED) if !is_refused => SftpError::NotConnected { destination, said },
            _ => SftpError::NoSftp {
                destination,
                how: format!("its server {}", how(status)),
                said,
            },
        }
    }

    /// Whether trying again may help.
    pub fn may_pass(&self) -> bool {
        matches!(
            self,
            SftpError::NotConnected { .. }
                | SftpError::Ended { .. }
                | SftpError::Silent { .. }
                | SftpError::Pipe(_)
        )
    }
}

impl Hint for SftpError {
    fn fault(&self) -> Fault {
        match self {
            SftpError::Stopped => Fault::Cancelled,
            passing if passing.may_pass() => Fault::Run,
            _ => Fault::Request,
        }
    }

    fn hint(&self) -> Option<String> {
        Some(match self {
            SftpError::Client { .. } => "install an ssh client".to_owned(),
            SftpError::NotConnected { destination, .. } => {
                format!("`ssh {destination}` has to work first")
            }
            SftpError::NoSftp { destination, .. } => {
                format!("see what `sftp {destination}` says; its owner may have turned SFTP off")
            }
            SftpError::Broken { .. } => "what it sends before may be a shell's greeting: let its \
                start-up files be silent where there is no terminal"
                .to_owned(),
            _ => return None,
        })
    }
}

pub(super) fn how(status: Option<ExitStatus>) -> String {
    match status.map(|status| status.code()) {
        Some(Some(code)) => format!("ended with status {code}"),
        Some(None) => "was ended by a signal".to_owned(),
        None => "closed its output".to_owned(),
    }
}

fn reason(said: &str) -> String {
    match said {
        "" => String::new(),
        said => format!(": {said}"),
    }
}
