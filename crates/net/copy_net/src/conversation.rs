//! The control connection of a copy: messages both ways, carried by a thread of its own.
//!
//! A sender waits only when much is queued already; an end that does not receive makes the peer
//! wait, not this end's memory grow. Ends that both send without ever receiving therefore wait for
//! each other: receive on a thread of its own.

mod carrier;

use std::collections::VecDeque;
use std::io;
use std::net::TcpStream;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use copy_protocol::{CodecError, Incoming, Message, encode_in};
use nix::sys::eventfd::{EfdFlags, EventFd};
use thiserror::Error;
use units::Span;

use super::handle::StreamHandle;
use super::tls::Tls;
use super::udp_relay::RelayGoodbye;
use carrier::Carrier;

/// Bytes that may wait to be sent before [`Conversation::send`] waits.
const OUTBOX_MAX: usize = 1 << 20;
/// Bytes of messages that may wait to be received before the socket is left alone.
const INBOX_MAX: usize = 1 << 20;

/// A connection on which both ends know each other, and the peer says `M`. Can be used by several
/// threads at once.
#[derive(Debug)]
pub struct Conversation<M = Message> {
    version: u16,
    shared: Arc<Shared<M>>,
    handle: StreamHandle,
    thread: Option<JoinHandle<()>>,
    /// Of a connection over UDP.
    goodbye: Option<RelayGoodbye>,
}

/// Why a conversation is over.
#[derive(Debug, Clone, Error)]
pub enum ConversationError {
    /// The peer ended it cleanly.
    #[error("the other end has closed the conversation")]
    Closed,
    /// This end did.
    #[error("this end has closed the conversation")]
    Over,
    /// The connection broke.
    #[error("the control connection is lost: {0}")]
    Lost(Arc<io::Error>),
    /// No sign of life.
    #[error("nothing was heard of the other end for {0}")]
    Silent(Span),
    /// A message of the peer cannot be decoded, or one of this end is too long.
    #[error(transparent)]
    Codec(#[from] CodecError),
}

#[derive(Debug)]
struct Shared<M> {
    state: Mutex<State<M>>,
    changed: Condvar,
    bell: EventFd,
}

#[derive(Debug)]
struct State<M> {
    outbox: VecDeque<Vec<u8>>,
    outbox_bytes: usize,
    inbox: VecDeque<(M, usize)>,
    inbox_bytes: usize,
    /// By when it has to be closed, once this end wants that.
    closing: Option<Instant>,
    /// Goodbye was given to the kernel, behind all else.
    is_said: bool,
    /// A message of the peer cannot be decoded. It can still be told so.
    unreadable: Option<CodecError>,
    ended: Option<ConversationError>,
}

impl Conversation {
    /// Queues a message. Waits while a megabyte is queued.
    ///
    /// # Errors
    /// When the conversation is over, or the message too long.
    pub fn send(&self, message: &Message) -> Result<(), ConversationError> {
        self.send_frame(encode_in(self.version, message)?)
    }
}

impl<M: Incoming> Conversation<M> {
    /// Takes over a connection whose handshake is done.
    ///
    /// * `version`: of the copy protocol.
    /// * `silence`: it counts as lost when nothing is heard for so long.
    pub(super) fn start(
        socket: Arc<TcpStream>,
        tls: Box<Tls>,
        version: u16,
        silence: Span,
    ) -> io::Result<Conversation<M>> {
        socket.set_nonblocking(true)?;
        socket.set_nodelay(true)?;
        let flags = EfdFlags::EFD_NONBLOCK | EfdFlags::EFD_CLOEXEC;
        let shared = Arc::new(Shared {
            state: Mutex::new(State::new()),
            changed: Condvar::new(),
            bell: EventFd::from_value_and_flags(0, flags)?,
        });
        let handle = StreamHandle::new(&socket);
        let carrier = Carrier::new(socket, tls, version, Arc::clone(&shared), silence);
        let thread = thread::Builder::new()
            .name("conversation".to_owned())
            .spawn(move || carrier.run())?;
        Ok(Conversation {
            version,
            shared,
            handle,
            thread: Some(thread),
            goodbye: None,
        })
    }

    /// The same on the socket of a connection over UDP.
    pub(super) fn with_goodbye(mut self, goodbye: Option<RelayGoodbye>) -> Self {
        self.goodbye = goodbye;
        self
    }
}

impl<M> Conversation<M> {
    /// Whether [`Conversation::send_frame`] would wait now.
    pub fn is_full(&self) -> bool {
        self.shared.lock().outbox_bytes >= OUTBOX_MAX
    }

    /// Queues the frame of a message. Waits while a megabyte is queued.
    ///
    /// # Errors
    /// When the conversation is over.
    pub fn send_frame(&self, frame: Vec<u8>) -> Result<(), ConversationError> {
        let mut state = self.shared.lock();
        loop {
            if let Some(ended) = &state.ended {
                return Err(ended.clone());
            }
            if state.closing.is_some() {
                return Err(ConversationError::Over);
            }
            if state.outbox_bytes < OUTBOX_MAX {
                break;
            }
            state = self.shared.wait(state, Duration::MAX);
        }
        let was_empty = state.outbox.is_empty();
        state.outbox_bytes += frame.len();
        state.outbox.push_back(frame);
        drop(state);
        if was_empty {
            self.shared.ring();
        }
        Ok(())
    }

    /// The next message of the peer; `None` when none comes within `timeout`.
    ///
    /// # Errors
    /// When the conversation is over and all that was heard before has been received, or when this
    /// end closes it.
    pub fn receive(&self, timeout: Duration) -> Result<Option<M>, ConversationError> {
        let end = Instant::now().checked_add(timeout);
        let mut state = self.shared.lock();
        loop {
            if let Some((message, length)) = state.inbox.pop_front() {
                let was_full = state.is_full();
                state.inbox_bytes -= length;
                if was_full && !state.is_full() {
                    self.shared.ring();
                }
                return Ok(Some(message));
            }
            if let Some(error) = &state.unreadable {
                return Err(error.clone().into());
            }
            if let Some(ended) = &state.ended {
                return Err(ended.clone());
            }
            if state.closing.is_some() {
                return Err(ConversationError::Over);
            }
            let left = end.map_or(Duration::MAX, |end| {
                end.saturating_duration_since(Instant::now())
            });
            if left.is_zero() {
                return Ok(None);
            }
            state = self.shared.wait(state, left);
        }
    }

    /// Why it is over, where it is; what was heard before may still wait to be received.
    pub fn ended(&self) -> Option<ConversationError> {
        self.shared.lock().ended.clone()
    }

    /// Begins to end it: receivers are told at once. What is queued is still sent, with a goodbye
    /// behind it.
    pub fn begin_to_close(&self, timeout: Duration) {
        let mut state = self.shared.lock();
        state.closing.get_or_insert(Instant::now() + timeout);
        drop(state);
        self.shared.ring();
        self.shared.changed.notify_all();
    }

    /// Sends what waits, says goodbye and waits for the peer to do the same, all within `timeout`.
    pub fn close(mut self, timeout: Duration) {
        self.end(timeout);
    }

    /// The same without waiting for the peer: returns when the kernel has all that was said, or
    /// over UDP when it has arrived, after a second at most. Should this program end at once, the
    /// peer may find the connection broken behind that, or, where packets are lost, before it.
    pub fn leave(mut self, timeout: Duration) {
        self.begin_to_close(timeout);
        let mut state = self.shared.lock();
        while let Some(by) = state.closing
            && !state.is_said
            && state.ended.is_none()
            && Instant::now() < by
        {
            let left = by.saturating_duration_since(Instant::now());
            state = self.shared.wait(state, left);
        }
        drop(state);
        // It ends with the peer's goodbye, or when the time is over.
        self.thread.take();
    }

    /// The connection, to be watched, marked or broken.
    pub fn handle(&self) -> StreamHandle {
        self.handle.clone()
    }

    fn end(&mut self, timeout: Duration) {
        let Some(thread) = self.thread.take() else {
            return;
        };
        self.begin_to_close(timeout);
        // It does not panic; if it did, the conversation would be over as well.
        let _ = thread.join();
    }
}

/// Does not wait for the peer; use [`Conversation::close`] for a goodbye that arrives. Over UDP it
/// waits a second at most until what was said has arrived.
impl<M> Drop for Conversation<M> {
    fn drop(&mut self) {
        self.end(Duration::ZERO);
    }
}

impl<M> State<M> {
    fn new() -> Self {
        State {
            outbox: VecDeque::new(),
            outbox_bytes: 0,
            inbox: VecDeque::new(),
            inbox_bytes: 0,
            closing: None,
            is_said: false,
            unreadable: None,
            ended: None,
        }
    }

    fn is_full(&self) -> bool {
        self.inbox_bytes >= INBOX_MAX
    }
}

impl<M> Shared<M> {
    fn lock(&self) -> MutexGuard<'_, State<M>> {
        // Each change is complete, even when another thread panicked.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait<'a>(
        &self,
        state: MutexGuard<'a, State<M>>,
        limit: Duration,
    ) -> MutexGuard<'a, State<M>> {
        // The longest wait that every platform's clock can count.
        let limit = limit.min(Duration::from_secs(3_600));
        let waited = self.changed.wait_timeout(state, limit);
        waited.unwrap_or_else(PoisonError::into_inner).0
    }

    /// Wakes the carrier. A bell that cannot count further rings already.
    fn ring(&self) {
        let _ = self.bell.write(1);
    }
}
