//! The thread of a conversation: one socket, one bell, never waiting for either alone.

use std::io::{self, ErrorKind};
use std::net::{Shutdown, TcpStream};
use std::os::fd::AsFd;
use std::sync::Arc;
use std::time::{Duration, Instant};

use copy_protocol::{Frames, Incoming};
use nix::poll::{PollFd, PollFlags};
use units::Span;

use super::{ConversationError, Shared, Tls};
use sockets::poll::{readable, wait};

/// How often silence is looked at.
const TICK: Duration = Duration::from_millis(500);
/// Bytes that are encrypted ahead of what the socket takes.
const AHEAD_MAX: usize = 256 << 10;

pub(super) struct Carrier<M> {
    socket: Arc<TcpStream>,
    tls: Box<Tls>,
    shared: Arc<Shared<M>>,
    frames: Frames,
    /// Bytes that came of a message that is not whole.
    begun: usize,
    silence: Span,
    heard: Instant,
    said_goodbye: bool,
    /// The socket has all of it.
    is_ended: bool,
    /// What comes is read, so that the peer is not cut off before it has read this end's last
    /// words, and dropped: it may be any amount.
    is_deaf: bool,
}

impl<M: Incoming> Carrier<M> {
    pub(super) fn new(
        socket: Arc<TcpStream>,
        tls: Box<Tls>,
        version: u16,
        shared: Arc<Shared<M>>,
        silence: Span,
    ) -> Self {
        Carrier {
            socket,
            tls,
            shared,
            frames: Frames::of_version(version),
            begun: 0,
            silence,
            heard: Instant::now(),
            said_goodbye: false,
            is_ended: false,
            is_deaf: false,
        }
    }

    /// Carries until the conversation is over.
    pub(super) fn run(mut self) {
        let ended = loop {
            if let Err(ended) = self.turn() {
                break ended;
            }
        };
        tracing::info!(why = %ended, "the conversation is over");
        let mut state = self.shared.lock();
        state.ended = Some(match state.closing {
            Some(_) => ConversationError::Over,
            None => ended,
        });
        drop(state);
        let _ = self.socket.shutdown(Shutdown::Both);
        self.shared.changed.notify_all();
    }

    /// Everything that can be done now, then a wait.
    fn turn(&mut self) -> Result<(), ConversationError> {
        self.say()?;
        // What TLS read with the handshake is taken before the socket is waited for.
        let is_full = self.listen()?;
        self.check_closing()?;
        if self.tls.wants_write() {
            would_block(self.tls.flush(&self.socket))?;
        }
        self.wait(is_full)
    }

    /// Encrypts and sends what waits, as far as the socket takes it.
    fn say(&mut self) -> Result<(), ConversationError> {
        loop {
            would_block(self.tls.flush(&self.socket))?;
            if self.tls.wants_write() {
                return Ok(());
            }
            let frames = self.next_frames();
            if frames.is_empty() {
                return Ok(());
            }
            for frame in frames {
                self.tls.put(&frame).map_err(lost)?;
            }
            self.shared.changed.notify_all();
        }
    }

    fn next_frames(&mut self) -> Vec<Vec<u8>> {
        let mut state = self.shared.lock();
        let mut frames = Vec::new();
        let mut bytes = 0;
        while bytes < AHEAD_MAX
            && let Some(frame) = state.outbox.pop_front()
        {
            bytes += frame.len();
            frames.push(frame);
        }
        state.outbox_bytes -= bytes;
        frames
    }

    /// Reads all that has come while the inbox has room. Returns whether it is full.
    fn listen(&mut self) -> Result<bool, ConversationError> {
        loop {
            if self.shared.lock().is_full() && !self.is_deaf {
                // The peer may well be talking.
                self.heard = Instant::now();
                return Ok(true);
            }
            self.read_messages()?;
            match self.tls.fill(&self.socket) {
                // A second look finds what that end was.
                Ok(0) => self.read_messages()?,
                // A peer that sends without end does not keep this end from closing.
                Ok(_) if self.is_deaf => return Ok(false),
                Ok(_) => self.heard = Instant::now(),
                Err(error) if is_idle(&error) => return Ok(false),
                Err(error) => return Err(lost(error)),
            }
        }
    }

    /// Takes apart what TLS holds.
    fn read_messages(&mut self) -> Result<(), ConversationError> {
        let mut buffer = [0; 16 << 10];
        loop {
            let got = match self.tls.take(&mut buffer) {
                Ok(0) => return Err(ConversationError::Closed),
                Ok(got) => got,
                Err(error) if is_idle(&error) => return Ok(()),
                Err(error) => return Err(lost(error)),
            };
            self.take_apart(buffer.get(..got).unwrap_or_default());
        }
    }

    /// Puts whole messages into the inbox.
    fn take_apart(&mut self, mut input: &[u8]) {
        while !self.is_deaf {
            let before = input.len();
            let next = self.frames.next_message(&mut input);
            self.begun += before - input.len();
            let mut state = self.shared.lock();
            match next {
                Ok(None) => return,
                Ok(Some(message)) => {
                    let length = std::mem::take(&mut self.begun);
                    state.inbox_bytes += length;
                    state.inbox.push_back((message, length));
                }
                Err(error) => {
                    state.unreadable = Some(error);
                    self.is_deaf = true;
                }
            }
            drop(state);
            self.shared.changed.notify_all();
        }
    }

    /// Once this end wants to close: goodbye behind the last message, then until the peer closes
    /// too. Closing while bytes of the peer's are unread would reset the connection, and the
    /// goodbye might never arrive.
    fn check_closing(&mut self) -> Result<(), ConversationError> {
        let state = self.shared.lock();
        let Some(by) = state.closing else {
            return Ok(());
        };
        let is_said = state.outbox.is_empty();
        drop(state);
        if is_said && !self.said_goodbye {
            self.said_goodbye = true;
            self.is_deaf = true;
            self.tls.close();
            would_block(self.tls.flush(&self.socket))?;
        }
        if self.said_goodbye && !self.tls.wants_write() && !self.is_ended {
            // Nothing follows the goodbye. A relay over UDP ends its stream with this.
            let _ = self.socket.shutdown(Shutdown::Write);
            self.is_ended = true;
            self.shared.lock().is_said = true;
            self.shared.changed.notify_all();
        }
        match Instant::now() >= by {
            true => Err(ConversationError::Over),
            false => Ok(()),
        }
    }

    fn wait(&mut self, is_full: bool) -> Result<(), ConversationError> {
        if self.heard.elapsed() >= Duration::from(self.silence) {
            return Err(ConversationError::Silent(self.silence));
        }
        let mut wanted = PollFlags::empty();
        wanted.set(PollFlags::POLLIN, !is_full);
        wanted.set(PollFlags::POLLOUT, self.tls.wants_write());
        let bell = &self.shared.bell;
        let mut watched = [
            PollFd::new(self.socket.as_fd(), wanted),
            readable(bell.as_fd()),
        ];
        wait(&mut watched, self.until_next()).map_err(lost)?;
        // The bell only wakes: what it is about is in the state.
        let _ = bell.read();
        Ok(())
    }

    fn until_next(&self) -> Duration {
        let closing = self.shared.lock().closing;
        let left = closing.map(|by| by.saturating_duration_since(Instant::now()));
        left.map_or(TICK, |left| left.min(TICK))
    }
}

fn is_idle(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted)
}

fn would_block(done: io::Result<()>) -> Result<(), ConversationError> {
    match done {
        Err(error) if !is_idle(&error) => Err(lost(error)),
        _ => Ok(()),
    }
}

fn lost(error: io::Error) -> ConversationError {
    ConversationError::Lost(Arc::new(error))
}
