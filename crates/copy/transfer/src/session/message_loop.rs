//! Moves the peer's messages into the queue of events and this end's to the peer; both are checked
//! against the protocol.

use std::cell::RefCell;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use copy_net::{Conversation, ConversationError};
use copy_protocol::{ConversationState, Message, Problem, ProtocolViolation, Speaker};

use super::{Event, SessionEnd, name_of, protocol};

/// Messages of the peer that may wait besides those in its inbox: one may take 4 MiB once decoded.
const MESSAGES_MAX: usize = 4;
/// Events that may wait; streams wait when there are more.
const HAPPENINGS_MAX: usize = 1024;
/// Longest wait before the loop checks whether it is to end.
const TICK: Duration = Duration::from_millis(100);
/// How long goodbyes may take.
const GOODBYE: Duration = Duration::from_secs(2);
/// The same for the far end of a copy that is done: what it said last may be lost on a congested
/// path several times, and a near end that does not hear it connects once more.
const GOODBYE_HEARD: Duration = Duration::from_secs(15);

/// A conversation whose messages come as events.
pub(crate) struct MessageLoop {
    conversation: Arc<Conversation>,
    me: Speaker,
    protocol: RefCell<ConversationState>,
    own_error: RefCell<Option<ProtocolViolation>>,
    /// Where threads send their events.
    pub report: SyncSender<Event>,
    /// What is reported.
    pub events: Receiver<Event>,
    /// One for each message among them.
    permits: Receiver<()>,
    is_over: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl MessageLoop {
    /// Starts the thread that listens.
    pub(crate) fn start(conversation: Conversation, me: Speaker) -> std::io::Result<Self> {
        let conversation = Arc::new(conversation);
        let (report, events) = sync_channel(HAPPENINGS_MAX);
        let (permit, permits) = sync_channel(MESSAGES_MAX);
        let is_over = Arc::new(AtomicBool::new(false));
        let heard = Arc::clone(&conversation);
        let (to, stop) = (report.clone(), Arc::clone(&is_over));
        let builder = thread::Builder::new().name("messages".to_owned());
        let thread = builder.spawn(move || listen(&heard, &permit, &to, &stop))?;
        Ok(MessageLoop {
            conversation,
            me,
            protocol: RefCell::default(),
            own_error: RefCell::default(),
            report,
            events,
            permits,
            is_over,
            thread: Some(thread),
        })
    }

    /// The next message that is no sign of life, where nothing else can happen yet. `stopped` is
    /// asked ten times a second, and says how it ends where this end wants that.
    pub(crate) fn await_first(
        &self,
        timeout: Duration,
        stopped: &dyn Fn() -> Option<SessionEnd>,
    ) -> Result<Message, SessionEnd> {
        if let Some(error) = self.own_error() {
            return Err(protocol(error.to_string()));
        }
        let until = Instant::now() + timeout;
        while Instant::now() < until {
            if let Some(end) = stopped() {
                return Err(end);
            }
            match self.events.recv_timeout(TICK) {
                Ok(Event::Message(message)) => match self.check_message(message)? {
                    Message::Cancel => return Err(SessionEnd::Cancelled),
                    Message::Alive(_) => {}
                    other => return Ok(other),
                },
                Ok(Event::Gone(why)) => return Err(SessionEnd::Lost(why)),
                Ok(Event::Broken(why)) => return Err(protocol(why)),
                Err(RecvTimeoutError::Timeout) => {}
                _ => break,
            }
        }
        Err(SessionEnd::Lost("the other end does not answer".to_owned()))
    }

    /// Tells the peer why there will be no conversation, whatever it has said or not said before.
    pub(crate) fn refuse(&self, problem: Problem) {
        let _ = self.conversation.send(&Message::Failed(problem));
    }

    /// Sends it to the peer; a peer that is gone is noticed where its messages are awaited.
    pub(crate) fn send(&self, message: Message) {
        match self.protocol.borrow_mut().pass(self.me, message) {
            Ok(message) => {
                tracing::trace!(kind = name_of(&message), "said");
                let _ = self.conversation.send(&message);
            }
            Err(error) => *self.own_error.borrow_mut() = Some(error),
        }
    }

    /// This message was said before the conversation came here.
    pub(crate) fn note_sent(&self, message: Message) {
        if let Err(error) = self.protocol.borrow_mut().pass(self.me, message) {
            *self.own_error.borrow_mut() = Some(error);
        }
    }

    /// What this end said against the rules: a mistake of ours.
    pub(crate) fn own_error(&self) -> Option<ProtocolViolation> {
        self.own_error.borrow_mut().take()
    }

    /// What of a message of the peer's can be believed.
    pub(crate) fn check_message(&self, message: Message) -> Result<Message, SessionEnd> {
        // Another one may come into the queue.
        let _ = self.permits.try_recv();
        tracing::trace!(kind = name_of(&message), "heard");
        let peer = match self.me {
            Speaker::Near => Speaker::Far,
            Speaker::Far => Speaker::Near,
        };
        let passed = self.protocol.borrow_mut().pass(peer, message);
        passed.map_err(|error| protocol(error.to_string()))
    }

    /// Says what is left to say, and goodbye.
    ///
    /// * `is_done`: nothing that the peer might still say matters. The interactive near end then
    ///   exits without the peer's goodbye, which would take a round trip.
    pub(crate) fn finish(mut self, is_done: bool) {
        let may_leave = is_done && self.me == Speaker::Near;
        let most = match is_done && self.me == Speaker::Far {
            true => GOODBYE_HEARD,
            false => GOODBYE,
        };
        self.conversation.begin_to_close(most);
        self.end();
        let MessageLoop { conversation, .. } = &mut self;
        let conversation = Arc::clone(conversation);
        drop(self);
        match Arc::try_unwrap(conversation) {
            Ok(conversation) if may_leave => conversation.leave(most),
            Ok(conversation) => conversation.close(most),
            Err(_) => (),
        }
    }

    fn end(&mut self) {
        self.is_over.store(true, Ordering::Relaxed);
        // Room for an event that the thread may be waiting to report.
        while let Some(thread) = &self.thread {
            while self.events.try_recv().is_ok() {}
            while self.permits.try_recv().is_ok() {}
            if thread.is_finished() {
                break;
            }
            thread::sleep(Duration::from_millis(1));
        }
        if let Some(thread) = self.thread.take() {
            // It does not panic; if it did, the conversation would be over as well.
            let _ = thread.join();
        }
    }
}

impl Drop for MessageLoop {
    fn drop(&mut self) {
        self.end();
    }
}

fn listen(
    conversation: &Conversation,
    permit: &SyncSender<()>,
    report: &SyncSender<Event>,
    is_over: &AtomicBool,
) {
    while !is_over.load(Ordering::Relaxed) {
        let event = match conversation.receive(TICK) {
            Ok(None) => continue,
            Ok(Some(message)) if permit.send(()).is_ok() => Event::Message(message),
            Ok(Some(_)) => return,
            Err(error @ ConversationError::Codec(_)) => Event::Broken(error.to_string()),
            Err(error) => Event::Gone(error.to_string()),
        };
        let is_last = matches!(event, Event::Gone(_) | Event::Broken(_));
        if report.send(event).is_err() || is_last {
            return;
        }
    }
}
