//! Questions on one connection, and their answers in order.

use std::collections::BTreeMap;
use std::time::Duration;

use copy_net::{SftpChannel, SftpError};
use copy_protocol::sftp::{Reply, Request, Status, StatusCode};
use copy_protocol::{Problem, ProblemKind};
use files::problem;

use crate::CopyControl;

/// Questions that are not answered yet.
const AHEAD: usize = 256;
const TICK: Duration = Duration::from_millis(100);

/// Why a copy over SFTP does not go on for now.
#[derive(Debug)]
pub(super) enum Halt {
    /// The user ended it.
    Stopped,
    /// The far end is not there any more.
    Lost(String),
    /// It cannot be done.
    Problem(Problem),
}

impl From<Problem> for Halt {
    fn from(problem: Problem) -> Self {
        Halt::Problem(problem)
    }
}

impl From<SftpError> for Halt {
    fn from(error: SftpError) -> Self {
        match error {
            SftpError::Stopped => Halt::Stopped,
            SftpError::Broken { .. } => {
                Halt::Problem(problem(ProblemKind::Protocol, error.to_string()))
            }
            other => Halt::Lost(other.to_string()),
        }
    }
}

/// A connection on which questions are asked.
pub(super) struct Talk {
    pub channel: SftpChannel,
    control: CopyControl,
}

impl Talk {
    pub fn new(channel: SftpChannel, control: CopyControl) -> Self {
        Talk { channel, control }
    }

    pub fn ask(&mut self, request: Request<'_>) -> Result<Reply, Halt> {
        let mut replies = self.ask_all(&[request])?;
        replies.pop().ok_or(Halt::Lost("no reply".to_owned()))
    }

    /// All answers, in the order of the questions, which go out without waiting for each other.
    pub fn ask_all(&mut self, requests: &[Request<'_>]) -> Result<Vec<Reply>, Halt> {
        let mut replies: Vec<Option<Reply>> = requests.iter().map(|_| None).collect();
        let mut open: BTreeMap<u32, usize> = BTreeMap::new();
        let mut next = 0;
        while next < requests.len() || !open.is_empty() {
            while next < requests.len() && open.len() < AHEAD {
                open.insert(self.channel.send(&requests[next]), next);
                next += 1;
            }
            if self.control.is_stopped() {
                return Err(Halt::Stopped);
            }
            let Some((number, reply)) = self.channel.receive(TICK)? else {
                continue;
            };
            let Some(at) = open.remove(&number) else {
                return Err(unasked());
            };
            replies[at] = Some(reply);
        }
        let whole: Option<Vec<Reply>> = replies.into_iter().collect();
        whole.ok_or_else(unasked)
    }
}

/// A reply to nothing that was asked.
pub(super) fn unasked() -> Halt {
    let what = "the SFTP server answered what it was not asked";
    Halt::Problem(problem(ProblemKind::Protocol, what))
}

/// Whether it was done.
pub(super) fn is_ok(reply: &Reply) -> bool {
    has_code(reply, StatusCode::Ok)
}

/// Whether there is nothing of that name.
pub(super) fn is_missing(reply: &Reply) -> bool {
    has_code(reply, StatusCode::Missing)
}

pub(super) fn has_code(reply: &Reply, wanted: StatusCode) -> bool {
    matches!(reply, Reply::Status(Status { code, .. }) if *code == wanted)
}
