//! One session, the same at both ends: events in order, on one thread.
//!
//! Messages, connections and streams are [`Event`]s in one queue. The thread that
//! runs the session takes them one by one; a role (sender or receiver) decides what follows.

mod message_loop;

use std::sync::mpsc::{RecvTimeoutError, SyncSender};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use copy_net::Channel;
use copy_protocol::{
    Chunk, Entry, FileId, HASH_LENGTH, Message, NoPlace, Problem, ProblemKind, Range,
};
use units::{Bytes, Span, Time};

use files::store::EntryPlan;

pub(crate) use message_loop::MessageLoop;

/// Longest time between two readings of the clock.
pub(crate) const TICK: Duration = Duration::from_millis(25);
/// How long an end may send signs of life without progress.
pub(crate) const NO_PROGRESS_MAX: Duration = Duration::from_secs(600);
/// How long threads may take to end.
const THREADS_MAX: Duration = Duration::from_secs(10);
/// Events taken before the role may send.
const BATCH: usize = 256;

/// An event for the thread that runs the session.
#[derive(Debug)]
pub(crate) enum Event {
    /// The peer said something.
    Message(Message),
    /// The control connection is gone.
    Gone(String),
    /// The peer said what cannot be read.
    Broken(String),
    /// Another stream.
    Joined(u32, Channel),
    /// The stream of that number could not be connected.
    NotJoined(u32, String),
    /// A stream ended: between two pieces, or for a reason.
    StreamOver(u32, Result<(), String>),
    /// (sender) All that is wanted of a file was read, and it is still the same.
    FileRead(FileId),
    /// (receiver) A piece is where it belongs; so many bytes of it are no holes.
    Arrived(Range, u64),
    /// (receiver) A piece is where it belongs, taken from an older version of its file but for so
    /// many bytes.
    Kept(Range, u64),
    /// (receiver) An older version has other bytes at the place of a piece that was offered.
    Refused(Range),
    /// (receiver) An older version has these chunks from here on; nothing where there are no more.
    Cut(FileId, Option<(u64, Vec<Chunk>)>),
    /// (receiver) A piece came that is there already, or whose file was given up; so many bytes of
    /// it may be no holes.
    Unneeded(u64),
    /// (receiver) A piece came otherwise than it was sent.
    Damaged(Range),
    /// (receiver) Some or, where so said, all of what an earlier try left of a file was read back;
    /// these parts (start and length) are wrong.
    ReadBack(FileId, Vec<(u64, u64)>, bool),
    /// (receiver) A file is whole and waits for its name.
    Finished(FileId),
    /// (receiver) An entry was compared with what is there, and this is what it needs.
    EntryPlanned(Box<(Entry, FileId, Result<EntryPlan, Problem>)>),
    /// (receiver) A file has its final name.
    Published(FileId, [u8; HASH_LENGTH]),
    /// A file cannot be read or written.
    Failed(Problem),
}

/// How a session ended.
#[derive(Debug)]
pub(crate) enum SessionEnd {
    /// It was complete.
    Done,
    /// One of the two ends cannot go on.
    Problem(Problem),
    /// The peer is not there any more.
    Lost(String),
    /// The far end has no place for it now.
    NoPlace(NoPlace),
    /// The user here or there ended it.
    Cancelled,
}

/// Sends messages to the peer.
pub(crate) trait Outbox {
    /// Sends it to the peer; a peer that is gone is noticed where its messages are awaited.
    fn send(&self, message: Message);
}

/// What a role can use: the peer, the queue of events, the clock.
pub(crate) struct SessionContext {
    message_loop: MessageLoop,
    /// When the copy began.
    began: Instant,
}

impl SessionContext {
    pub(crate) fn new(message_loop: MessageLoop, began: Instant) -> Self {
        SessionContext {
            message_loop,
            began,
        }
    }

    /// Since the copy began.
    pub(crate) fn now(&self) -> Time {
        Time::ZERO + Span::from(self.began.elapsed())
    }

    /// Where threads send their events.
    pub(crate) fn report(&self) -> SyncSender<Event> {
        self.message_loop.report.clone()
    }

    /// Waits until threads have ended that may be waiting to report something; not for ever, since
    /// a disk may hang.
    pub(crate) fn wait_for(&self, threads: &[JoinHandle<()>]) {
        let until = Instant::now() + THREADS_MAX;
        while threads.iter().any(|thread| !thread.is_finished()) && Instant::now() < until {
            while self.message_loop.events.try_recv().is_ok() {}
            thread::sleep(Duration::from_millis(1));
        }
    }

    /// Ends the session; see [`MessageLoop::finish`].
    pub(crate) fn finish(self, is_done: bool) {
        self.message_loop.finish(is_done);
    }
}

impl Outbox for SessionContext {
    fn send(&self, message: Message) {
        self.message_loop.send(message);
    }
}

/// Sender or receiver.
pub(crate) trait Role {
    /// Nothing that the peer might still say matters, so that it may go.
    fn is_done(&self) -> bool;
    /// How long nothing may get on before the conversation counts as lost; `None` while this end is
    /// busy itself.
    fn progress_timeout(&self) -> Option<Duration>;
    /// What follows from it; an end ends the conversation.
    fn on(&mut self, event: Event, context: &SessionContext) -> Result<(), SessionEnd>;
    /// Nothing more is waiting: what was gathered can be said, and deadlines looked at. Returns
    /// when to ask again at the latest, which is no later than after a [`TICK`].
    fn on_idle(&mut self, context: &SessionContext) -> Result<Duration, SessionEnd>;
}

/// Runs the role until the session ends. `stopped` is asked often; it returns how this end wants it
/// to end.
pub(crate) fn run_role(
    role: &mut dyn Role,
    context: &SessionContext,
    stopped: &dyn Fn() -> Option<SessionEnd>,
) -> SessionEnd {
    // The first turn sends at once.
    let mut next_turn = Duration::ZERO;
    let mut moved = Instant::now();
    loop {
        if let Some(end) = stopped() {
            if matches!(end, SessionEnd::Cancelled) {
                context.send(Message::Cancel);
            }
            return end;
        }
        let first = match context.message_loop.events.recv_timeout(next_turn) {
            Ok(event) => Some(event),
            Err(RecvTimeoutError::Timeout) => None,
            Err(RecvTimeoutError::Disconnected) => {
                return SessionEnd::Lost("the threads of this end have ended".to_owned());
            }
        };
        let all = first
            .into_iter()
            .chain(context.message_loop.events.try_iter().take(BATCH));
        for event in all {
            if is_progress(&event) {
                moved = Instant::now();
            }
            if let Err(end) = take(role, event, context) {
                return end;
            }
        }
        match role.progress_timeout() {
            None => moved = Instant::now(),
            Some(most) if moved.elapsed() >= most => return SessionEnd::Lost(no_progress(most)),
            Some(_) => {}
        }
        match role.on_idle(context) {
            Ok(asked) => next_turn = asked,
            Err(end) => return end,
        }
        if let Some(error) = context.message_loop.own_error() {
            return protocol(format!("this end was about to break the protocol: {error}"));
        }
    }
}

/// Signs of life alone are no progress: a peer that only sends them would hold files, and the
/// copies that wait for them, for ever.
fn is_progress(event: &Event) -> bool {
    match event {
        Event::Message(Message::Alive(activity)) => activity.bytes > Bytes::ZERO,
        Event::Message(message) => !matches!(
            message,
            Message::Sending(..)
                | Message::Streams(_)
                | Message::RateMax(_)
                | Message::FixedStreams(_)
                | Message::SharedStreams(_)
                | Message::ServerBounds { .. }
        ),
        Event::Joined(..) | Event::NotJoined(..) | Event::StreamOver(..) => false,
        _ => true,
    }
}

fn no_progress(most: Duration) -> String {
    let most = Span::from(most);
    format!("the other end gave signs of life and nothing else for {most}")
}

fn take(role: &mut dyn Role, event: Event, context: &SessionContext) -> Result<(), SessionEnd> {
    let message = match event {
        Event::Gone(_) if role.is_done() => return Err(SessionEnd::Done),
        Event::Gone(why) => return Err(SessionEnd::Lost(why)),
        Event::Broken(why) => return Err(protocol(why)),
        Event::Message(message) => context.message_loop.check_message(message)?,
        other => return role.on(other, context),
    };
    role.on(Event::Message(for_role(message)?), context)
}

/// A message that a role acts upon; with the others every conversation ends.
pub(crate) fn for_role(message: Message) -> Result<Message, SessionEnd> {
    match message {
        Message::Cancel => Err(SessionEnd::Cancelled),
        Message::Failed(problem) if problem.file.is_none() => Err(SessionEnd::Problem(problem)),
        other => Ok(other),
    }
}

/// The peer said what may not be said now.
pub(crate) fn unexpected(message: &Message) -> SessionEnd {
    let name = name_of(message);
    protocol(format!("the other end said `{name}` out of turn"))
}

/// The first word of its `Debug`.
fn name_of(message: &Message) -> String {
    let text = format!("{message:?}");
    let name = text.split([' ', '(', '{']).next();
    name.unwrap_or_default().to_owned()
}

/// The peer broke the protocol.
pub(crate) fn protocol(what: String) -> SessionEnd {
    SessionEnd::Problem(Problem {
        kind: ProblemKind::Protocol,
        file: None,
        what,
        hint: Some("use the same version of trunkline at both ends".to_owned()),
    })
}

/// Streams cannot be connected although the conversation can.
pub(crate) fn no_streams(why: &str) -> SessionEnd {
    SessionEnd::Problem(Problem {
        kind: ProblemKind::Request,
        file: None,
        what: format!("no stream can be connected: {why}"),
        hint: Some("a firewall may let too few connections through: try `-P 1`".to_owned()),
    })
}
