//! Questions on one connection, and their answers in order.

use std::collections::BTreeMap;
use std::time::Duration;

use copy_net::{SftpChannel, SftpError};
use copy_protocol::sftp::{Reply, Request, Status, StatusCode};
use copy_protocol::{Problem, ProblemKind};
use files::problem;
use units::Bytes;

use crate::CopyControl;

/// Questions that are not answered yet.
pub(super) const AHEAD: usize = 1024;
/// Bytes that answers to what is asked together may take here: more is no answer to that.
const HELD_MAX: usize = 512 << 20;
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
    /// What was asked before its time: packets without a number, and their numbers.
    ahead: BTreeMap<Vec<u8>, u32>,
    /// Answers to that.
    early: BTreeMap<u32, Reply>,
    /// Bytes of answers that are kept.
    held: usize,
}

impl Talk {
    pub fn new(channel: SftpChannel, control: CopyControl) -> Self {
        Talk {
            channel,
            control,
            ahead: BTreeMap::new(),
            early: BTreeMap::new(),
            held: 0,
        }
    }

    /// Asks what is likely asked next, so that its answer is under way by then.
    pub fn ask_ahead(&mut self, request: &Request<'_>) {
        let packet = packet(request);
        if self.ahead.len() < AHEAD && !self.ahead.contains_key(&packet) {
            let number = self.channel.send(request);
            self.ahead.insert(packet, number);
        }
    }

    /// Waits for the first answer of the connection, which shows the round trip.
    pub fn measure(&mut self) -> Result<Duration, Halt> {
        loop {
            if let Some(rtt) = self.channel.rtt() {
                return Ok(rtt);
            }
            if self.control.is_stopped() {
                return Err(Halt::Stopped);
            }
            if let Some((number, reply)) = self.receive()? {
                self.keep(number, reply)?;
            }
        }
    }

    /// No more is asked. Returns the connection, for requests of others.
    pub fn end(mut self) -> SftpChannel {
        for number in self.ahead.into_values() {
            if self.early.remove(&number).is_none() {
                self.channel.ignore(number);
            }
        }
        self.channel
    }

    fn send(&mut self, request: &Request<'_>) -> u32 {
        if !self.ahead.is_empty()
            && let Some(number) = self.ahead.remove(&packet(request))
        {
            return number;
        }
        self.channel.send(request)
    }

    /// A server may answer any question with a whole packet of names.
    fn receive(&mut self) -> Result<Option<(u32, Reply)>, Halt> {
        let received = self.channel.receive(TICK)?;
        self.held += match &received {
            Some((_, Reply::Names(names))) => {
                names.iter().map(|one| one.name.len() + 128).sum::<usize>()
            }
            Some((_, Reply::Data(bytes) | Reply::Extended(bytes))) => bytes.len(),
            _ => 0,
        };
        match self.held > HELD_MAX {
            true => Err(too_much()),
            false => Ok(received),
        }
    }

    /// An answer that came before its question.
    fn keep(&mut self, number: u32, reply: Reply) -> Result<(), Halt> {
        let is_ahead = self.ahead.values().any(|asked| *asked == number);
        match is_ahead && self.early.insert(number, reply).is_none() {
            true => Ok(()),
            false => Err(unasked()),
        }
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
        self.held = 0;
        while next < requests.len() || !open.is_empty() {
            while next < requests.len() && open.len() < AHEAD {
                let number = self.send(&requests[next]);
                match self.early.remove(&number) {
                    Some(reply) => replies[next] = Some(reply),
                    None => {
                        open.insert(number, next);
                    }
                }
                next += 1;
            }
            if open.is_empty() {
                continue;
            }
            if self.control.is_stopped() {
                return Err(Halt::Stopped);
            }
            let Some((number, reply)) = self.receive()? else {
                continue;
            };
            match open.remove(&number) {
                Some(at) => replies[at] = Some(reply),
                None => self.keep(number, reply)?,
            }
        }
        let whole: Option<Vec<Reply>> = replies.into_iter().collect();
        whole.ok_or_else(unasked)
    }
}

/// Files and folders that may be open at once. Servers bound that, and some say how.
pub(super) fn open_max(channel: &SftpChannel) -> usize {
    (channel.server().handles_max as usize / 2).max(1)
}

fn packet(request: &Request<'_>) -> Vec<u8> {
    let mut packet = Vec::new();
    request.encode(0, &mut packet);
    packet
}

fn too_much() -> Halt {
    let what = format!(
        "the SFTP server answered with more than {} to questions asked together",
        Bytes::new(HELD_MAX as u64).human()
    );
    Halt::Problem(problem(ProblemKind::Protocol, what))
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
