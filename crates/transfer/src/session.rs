//! One conversation, as both ends lead it: what happens, in order, on one thread.
//!
//! Whatever comes from elsewhere (messages, connections, streams) is a [`Happening`] in one queue. The thread that
//! leads the conversation takes them one by one; a role (sender or receiver) says what follows.

mod pump;

use std::cell::RefCell;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender};
use std::time::{Duration, Instant};

use net::copying::{Channel, Conversation};
use units::{Span, Time};
use wire::copying::{FileId, HASH_LENGTH, Message, Problem, ProblemKind, Range, Referee, Speaker};

pub(crate) use pump::Pump;

/// Longest time between two looks at the clock.
const TICK: Duration = Duration::from_millis(25);
/// Happenings taken before the role gets to say something.
const BATCH: usize = 256;

/// Something that the leading thread has to know.
#[derive(Debug)]
pub(crate) enum Happening {
    /// The peer said something.
    Message(Message),
    /// The control connection is gone.
    Gone(String),
    /// Another stream.
    Joined(u32, Channel),
    /// There will be no stream of this number.
    NotJoined(u32, String),
    /// A stream ended: between two pieces, or for a reason.
    StreamOver(u32, Result<(), String>),
    /// (sender) All that is wanted of a file was read, and it is still the same.
    FileRead(FileId),
    /// (receiver) A piece is where it belongs.
    Arrived(Range),
    /// (receiver) A piece came otherwise than it was sent.
    Damaged(Range),
    /// (receiver) A file is whole and waits for its name.
    Finished(FileId),
    /// (receiver) A file has its final name.
    Published(FileId, [u8; HASH_LENGTH]),
    /// A file cannot be read or written.
    Failed(Problem),
}

/// How a conversation ended.
#[derive(Debug)]
pub(crate) enum End {
    /// Everything was said.
    Done,
    /// One of the two ends cannot go on.
    Problem(Problem),
    /// The peer is not there any more.
    Lost(String),
    /// The user here or there ended it.
    Cancelled,
}

/// What a role has around it.
pub(crate) struct Desk {
    /// With the peer.
    pub conversation: Arc<Conversation>,
    /// Comes back to [`lead`].
    pub report: SyncSender<Happening>,
    /// When the copy began.
    pub began: Instant,
    /// Which end this is.
    pub me: Speaker,
    /// Judges what is said by either end.
    pub referee: RefCell<Referee>,
}

impl Desk {
    /// Since the copy began.
    pub(crate) fn now(&self) -> Time {
        Time::ZERO + Span::from(self.began.elapsed())
    }

    /// Says it to the peer; a peer that is gone is noticed where its messages are awaited.
    pub(crate) fn say(&self, message: &Message) {
        let judged = self.referee.borrow_mut().pass(self.me, message.clone());
        let _ = match judged {
            Ok(message) => self.conversation.send(&message),
            Err(error) => {
                // An error of this program. The other end will see it too, and end the copy with these words.
                debug_assert!(false, "{error}: {message:?}");
                self.conversation.send(message)
            }
        };
    }

    /// What of the peer's message can be acted upon.
    fn hear(&self, message: Message) -> Result<Message, End> {
        let peer = match self.me {
            Speaker::Near => Speaker::Far,
            Speaker::Far => Speaker::Near,
        };
        let judged = self.referee.borrow_mut().pass(peer, message);
        judged.map_err(|error| protocol(error.to_string()))
    }
}

/// Sender or receiver.
pub(crate) trait Role {
    /// What follows from it; an end ends the conversation.
    fn on(&mut self, happening: Happening, desk: &Desk) -> Result<(), End>;
    /// Nothing more is waiting: what was gathered can be said, and deadlines looked at. Returns whether there is more to
    /// do at once.
    fn on_quiet(&mut self, desk: &Desk) -> Result<bool, End>;
}

/// Leads the conversation until it ends. `stopped` is asked often, and says how it ends where this end wants that.
pub(crate) fn lead(
    role: &mut dyn Role,
    desk: &Desk,
    happenings: &Receiver<Happening>,
    stopped: &dyn Fn() -> Option<End>,
) -> End {
    // Whoever leads has something to say at once.
    let mut has_more = true;
    loop {
        if let Some(end) = stopped() {
            if matches!(end, End::Cancelled) {
                desk.say(&Message::Cancel);
            }
            return end;
        }
        let patience = if has_more { Duration::ZERO } else { TICK };
        let first = match happenings.recv_timeout(patience) {
            Ok(happening) => Some(happening),
            Err(RecvTimeoutError::Timeout) => None,
            Err(RecvTimeoutError::Disconnected) => return End::Lost("nobody is left".to_owned()),
        };
        let all = first.into_iter().chain(happenings.try_iter().take(BATCH));
        for happening in all {
            if let Err(end) = take(role, happening, desk) {
                return end;
            }
        }
        match role.on_quiet(desk) {
            Ok(more) => has_more = more,
            Err(end) => return end,
        }
    }
}

fn take(role: &mut dyn Role, happening: Happening, desk: &Desk) -> Result<(), End> {
    let happening = match happening {
        Happening::Message(message) => Happening::Message(desk.hear(message)?),
        other => other,
    };
    match happening {
        Happening::Gone(why) => Err(End::Lost(why)),
        Happening::Message(Message::Cancel) => Err(End::Cancelled),
        Happening::Message(Message::Failed(problem)) if problem.file.is_none() => {
            Err(End::Problem(problem))
        }
        other => role.on(other, desk),
    }
}

/// The peer said what may not be said now.
pub(crate) fn unexpected(message: &Message) -> End {
    let text = format!("{message:?}");
    let name = text.split([' ', '(', '{']).next().unwrap_or_default();
    protocol(format!("the other end said `{name}` out of turn"))
}

/// The peer broke the protocol.
pub(crate) fn protocol(what: String) -> End {
    End::Problem(Problem {
        kind: ProblemKind::Protocol,
        file: None,
        what,
        hint: Some("use the same version of trunkline at both ends".to_owned()),
    })
}
