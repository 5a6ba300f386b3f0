//! Connections to the SFTP server of a host's ssh: no program of ours runs there.
//!
//! Each connection is a process of the system's ssh client. Requests go out without waiting for
//! the replies before them; one thread serves a connection and waits for both ways at once, so that
//! neither pipe can block it. Each wait has an end: [`SftpChannel::receive`] returns within the
//! time it is given, and a server that owes replies and is silent for too long is given up.

mod error;
mod stderr;

use std::collections::BTreeSet;
use std::io::{self, ErrorKind, Read, Write};
use std::os::fd::AsFd;
use std::process::{Child, ChildStdin, ChildStdout, Stdio};
use std::time::{Duration, Instant};

use copy_protocol::sftp::{Packets, Reply, Request, Server, hello};
use nix::fcntl::{FcntlArg, OFlag, fcntl};
use nix::poll::{PollFd, PollFlags};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use sockets::poll;

use crate::Ssh;
use crate::ssh_client::stopped_too;
use stderr::LastWords;

pub use error::SftpError;

/// How soon a stop is noticed while a connection is made.
const TICK: Duration = Duration::from_millis(100);
/// Bytes that are read at once.
const BLOCK: usize = 256 << 10;
/// Bytes that a pipe to or from ssh holds.
const PIPE: i32 = 512 << 10;
/// How long ssh may take to end when it is asked to.
const TERM_WAIT: Duration = Duration::from_millis(200);
/// How long a server may take for its first packet.
const HELLO_MAX: Duration = Duration::from_secs(90);
/// How long ssh may take to end that has closed its output.
const END_WAIT: Duration = Duration::from_secs(2);

/// How ssh is to behave.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SshManners {
    /// As always: it may ask its user for a password.
    MayAsk,
    /// It asks nothing, and makes a connection of its own even where its configuration shares one.
    Alone,
    /// It asks nothing, and may share a connection.
    Shared,
}

/// Opens connections to one server.
#[derive(Debug, Clone)]
pub struct SftpDialer {
    ssh: Ssh,
    newer: Vec<&'static str>,
    silence: Duration,
}

/// One connection.
#[derive(Debug)]
pub struct SftpChannel {
    child: Child,
    input: Option<ChildStdin>,
    output: ChildStdout,
    words: LastWords,
    destination: String,
    outgoing: Vec<u8>,
    sent: usize,
    packets: Packets,
    block: Vec<u8>,
    number: u32,
    owed: usize,
    /// Requests whose replies nothing waits for.
    unheard: BTreeSet<u32>,
    /// The first request, and when it went out.
    first: Option<(u32, Instant)>,
    moved: Instant,
    silence: Duration,
    server: Server,
    rtt: Option<Duration>,
}

impl SftpDialer {
    /// * `silence`: how long a server that owes replies may say nothing.
    pub fn new(ssh: Ssh, silence: Duration) -> Self {
        SftpDialer {
            newer: ssh.newer_options(),
            ssh,
            silence,
        }
    }

    /// Opens a connection. Its user may take any time for a password, and may stop it. What the
    /// server's limits are comes with the first replies; requests need not wait for it.
    ///
    /// * `is_stopped`: asked ten times a second.
    ///
    /// # Errors
    /// When ssh does not get through, the host has no SFTP, or the user stops it.
    pub fn open(
        &self,
        manners: SshManners,
        is_stopped: &dyn Fn() -> bool,
    ) -> Result<SftpChannel, SftpError> {
        let mut channel = self.start(manners)?;
        let asked = Instant::now();
        channel.outgoing = hello();
        let may_ask = manners == SshManners::MayAsk && crate::may_ask();
        loop {
            if is_stopped() {
                return Err(SftpError::Stopped);
            }
            let hello = match channel.packets.take() {
                Ok(packet) => packet.map(Server::decode),
                Err(mistake) => Some(Err(mistake)),
            };
            if let Some(hello) = hello {
                channel.server = hello.map_err(|error| channel.no_sftp(error.to_string()))?;
                break;
            }
            if !may_ask && asked.elapsed() > self.silence.min(HELLO_MAX) {
                return Err(channel.silent());
            }
            channel
                .pump(TICK)
                .map_err(|error| channel.not_begun(error, is_stopped))?;
        }
        channel.measure()?;
        Ok(channel)
    }

    fn start(&self, manners: SshManners) -> Result<SftpChannel, SftpError> {
        let mut command = self.ssh.client_command(&self.newer);
        // A path that is gone is noticed within a minute, whatever the configuration says.
        command.args([
            "-o",
            "ServerAliveInterval=15",
            "-o",
            "ServerAliveCountMax=3",
        ]);
        if manners != SshManners::MayAsk {
            command.args(["-o", "BatchMode=yes"]);
        }
        if manners == SshManners::Alone {
            command.args(["-o", "ControlPath=none"]);
        }
        let mut child = command
            .args(["-s", "--", &self.ssh.destination, "sftp"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(|source| SftpError::Client {
                client: self.ssh.client.clone(),
                source,
            })?;
        let words = LastWords::of(child.stderr.take());
        let (Some(input), Some(output)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(SftpError::Pipe(io::Error::other("there is none")));
        };
        let channel = SftpChannel {
            child,
            words,
            destination: self.ssh.destination.clone(),
            outgoing: Vec::new(),
            sent: 0,
            packets: Packets::default(),
            block: vec![0; BLOCK],
            number: 0,
            owed: 0,
            unheard: BTreeSet::new(),
            first: None,
            moved: Instant::now(),
            silence: self.silence,
            server: Server::OLDEST,
            rtt: None,
            input: Some(input),
            output,
        };
        channel.unblock().map_err(SftpError::Pipe)?;
        Ok(channel)
    }
}

impl SftpChannel {
    /// What the server can do.
    pub fn server(&self) -> Server {
        self.server
    }

    /// The round trip of the first request; `None` until it was answered.
    pub fn rtt(&self) -> Option<Duration> {
        self.rtt
    }

    /// Requests that are not answered.
    pub fn owed(&self) -> usize {
        self.owed
    }

    /// Bytes of requests that ssh has not taken.
    pub fn unsent(&self) -> usize {
        self.outgoing.len() - self.sent
    }

    /// Queues a request; the number comes back with its reply.
    pub fn send(&mut self, request: &Request<'_>) -> u32 {
        if self.owed == 0 {
            self.moved = Instant::now();
        }
        self.number = self.number.wrapping_add(1);
        request.encode(self.number, &mut self.outgoing);
        self.owed += 1;
        self.number
    }

    /// Queues a request whose reply says nothing of use, such as the end of reading.
    pub fn send_unheard(&mut self, request: &Request<'_>) {
        let number = self.send(request);
        self.unheard.insert(number);
    }

    /// Nothing waits any more for the reply to this request.
    ///
    /// * `number`: of a request that is not answered.
    pub fn ignore(&mut self, number: u32) {
        self.unheard.insert(number);
    }

    /// The next reply; `None` where none came within `limit`.
    ///
    /// # Errors
    /// When the connection has ended, the server says what is no reply, or has been silent for too
    /// long.
    pub fn receive(&mut self, limit: Duration) -> Result<Option<(u32, Reply)>, SftpError> {
        if let Some(reply) = self.next_reply()? {
            return Ok(Some(reply));
        }
        self.pump(limit)?;
        let reply = self.next_reply()?;
        if reply.is_none() && self.owed > 0 && self.moved.elapsed() > self.silence {
            return Err(self.silent());
        }
        Ok(reply)
    }

    /// Hands requests to ssh as far as it takes them now.
    ///
    /// # Errors
    /// When the connection has ended.
    pub fn flush(&mut self) -> Result<(), SftpError> {
        let Some(input) = &mut self.input else {
            return Ok(());
        };
        while self.sent < self.outgoing.len() {
            match input.write(&self.outgoing[self.sent..]) {
                Ok(0) => break,
                Ok(some) => {
                    self.sent += some;
                    self.moved = Instant::now();
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(_) => return Err(self.ended()),
            }
        }
        if self.sent == self.outgoing.len() {
            self.outgoing.clear();
            self.sent = 0;
        } else if self.sent > (1 << 20) {
            self.outgoing.drain(..self.sent);
            self.sent = 0;
        }
        Ok(())
    }

    fn next_reply(&mut self) -> Result<Option<(u32, Reply)>, SftpError> {
        loop {
            let packet = match self.packets.take() {
                Ok(packet) => packet,
                Err(mistake) => return Err(self.broken(mistake.to_string())),
            };
            let Some(packet) = packet else {
                return Ok(None);
            };
            let (number, reply) = match Reply::decode(packet) {
                Ok(_) if self.owed == 0 => {
                    return Err(self.broken("a reply that was not asked for".into()));
                }
                Ok(reply) => reply,
                Err(mistake) => return Err(self.broken(mistake.to_string())),
            };
            self.owed -= 1;
            if !self.is_own(number, &reply) && !self.unheard.remove(&number) {
                return Ok(Some((number, reply)));
            }
        }
    }

    /// Whether it is the reply to the first request, which shows the round trip.
    fn is_own(&mut self, number: u32, reply: &Reply) -> bool {
        let Some((_, asked)) = self.first.filter(|(first, _)| *first == number) else {
            return false;
        };
        self.first = None;
        self.rtt = Some(asked.elapsed());
        if self.server.limits {
            self.server.set_limits(reply);
        }
        true
    }

    /// Moves bytes both ways, once.
    fn pump(&mut self, limit: Duration) -> Result<(), SftpError> {
        self.flush()?;
        let mut watched = vec![poll::readable(self.output.as_fd())];
        if let Some(input) = self.input.as_ref().filter(|_| self.unsent() > 0) {
            watched.push(PollFd::new(input.as_fd(), PollFlags::POLLOUT));
        }
        poll::wait(&mut watched, limit).map_err(SftpError::Pipe)?;
        let may_read = poll::is_ready(&watched[0]);
        drop(watched);
        if may_read {
            self.read()?;
        }
        self.flush()
    }

    fn read(&mut self) -> Result<(), SftpError> {
        match self.output.read(&mut self.block) {
            Ok(0) => Err(self.ended()),
            Ok(some) => {
                self.packets.push(&self.block[..some]);
                self.moved = Instant::now();
                Ok(())
            }
            Err(error) => match error.kind() {
                ErrorKind::WouldBlock | ErrorKind::Interrupted => Ok(()),
                _ => Err(SftpError::Pipe(error)),
            },
        }
    }

    /// Asks for limits where the server has them, and for a name where not.
    fn measure(&mut self) -> Result<(), SftpError> {
        let number = self.send(match self.server.limits {
            true => &Request::Limits,
            false => &Request::RealPath(b"."),
        });
        self.first = Some((number, Instant::now()));
        self.flush()
    }

    fn unblock(&self) -> io::Result<()> {
        let input = self.input.iter().map(AsFd::as_fd);
        for pipe in input.chain([self.output.as_fd()]) {
            let flags = OFlag::from_bits_truncate(fcntl(pipe, FcntlArg::F_GETFL)?);
            fcntl(pipe, FcntlArg::F_SETFL(flags | OFlag::O_NONBLOCK))?;
            // A pipe that holds more is filled and emptied less often; it works as it is, too.
            let _ = fcntl(pipe, FcntlArg::F_SETPIPE_SZ(PIPE));
        }
        Ok(())
    }

    fn silent(&mut self) -> SftpError {
        SftpError::Silent {
            destination: self.destination.clone(),
            silence: self.silence,
        }
    }

    fn broken(&self, what: String) -> SftpError {
        let destination = self.destination.clone();
        SftpError::Broken { destination, what }
    }

    fn ended(&mut self) -> SftpError {
        let (status, said) = self.end();
        SftpError::Ended {
            destination: self.destination.clone(),
            how: error::how(status),
            said,
        }
    }

    /// What came in place of a server's first packet.
    fn no_sftp(&self, how: String) -> SftpError {
        SftpError::NoSftp {
            destination: self.destination.clone(),
            how: format!("it answers with {how}"),
            said: self.words.last(),
        }
    }

    fn not_begun(&mut self, error: SftpError, is_stopped: &dyn Fn() -> bool) -> SftpError {
        let SftpError::Ended { .. } = error else {
            return error;
        };
        let (status, said) = self.end();
        if stopped_too(status, is_stopped) {
            return SftpError::Stopped;
        }
        SftpError::before_the_first(&self.destination, status, said)
    }

    /// The end of ssh, and what it said last.
    fn end(&mut self) -> (Option<std::process::ExitStatus>, String) {
        drop(self.input.take());
        let until = Instant::now() + END_WAIT;
        let status = loop {
            match self.child.try_wait() {
                Ok(Some(status)) => break Some(status),
                Ok(None) if Instant::now() < until => std::thread::sleep(Duration::from_millis(10)),
                _ => break None,
            }
        };
        (status, self.words.last())
    }
}

/// ssh ends with its connection. It gives a terminal back as it was where it is asked to end.
impl Drop for SftpChannel {
    fn drop(&mut self) {
        drop(self.input.take());
        if matches!(self.child.try_wait(), Ok(None)) {
            let ssh = Pid::from_raw(self.child.id().cast_signed());
            // It may have ended by itself.
            let _ = kill(ssh, Signal::SIGTERM);
            let until = Instant::now() + TERM_WAIT;
            while matches!(self.child.try_wait(), Ok(None)) && Instant::now() < until {
                std::thread::sleep(Duration::from_millis(5));
            }
        }
        // It has ended or is of no use any more.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
