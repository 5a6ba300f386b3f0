//! One connection: requests out, answers in.

use std::collections::VecDeque;
use std::io;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use copy_net::{Channel, Conversation, ConversationError, StreamHandle};
use copy_protocol::remote::{Answer, Asking, Event, Told, Welcome};
use sockets::Clock;
use units::{Span, Time};

use crate::slot::{Slot, lock};
use crate::window::Window;

/// Requests that may wait for their answers on one connection.
const OPEN_MAX: usize = 64;
/// The far end says nothing while it is asked nothing; who waits for an answer looks at the clock.
const SILENCE: Span = Span::from_secs(366 * 86_400);
/// How long goodbyes may take.
const GOODBYE: Duration = Duration::from_secs(2);

/// What a connection is used for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Use {
    /// All requests.
    Common,
    /// One long listing, whose caller may make the far end wait.
    Listing,
}

/// One connection of a session.
#[derive(Debug)]
pub(crate) struct Connection {
    conversation: Conversation<Answer>,
    handle: StreamHandle,
    state: Mutex<State>,
    clock: Clock,
    /// When something was heard last, or asked while nothing was open.
    heard_nanoseconds: AtomicU64,
    delivered: AtomicU64,
    is_dead: AtomicBool,
    /// The caller of a listing has much to take before more is heard.
    is_held: AtomicBool,
    /// This end wants no answers any more.
    is_closing: AtomicBool,
    has_answered: AtomicBool,
    pub used_for: Use,
    /// The session ends with it.
    pub is_first: bool,
}

#[derive(Debug)]
struct State {
    asking: Asking,
    slots: VecDeque<Arc<Slot>>,
    open_bytes: u64,
    window: Window,
}

impl Connection {
    pub fn new(
        channel: Channel,
        rtt: Option<Span>,
        used_for: Use,
        is_first: bool,
    ) -> io::Result<Self> {
        channel.set_timeout(None)?;
        let handle = channel.handle();
        let clock = Clock::start();
        Ok(Connection {
            conversation: channel.into_conversation(SILENCE)?,
            handle,
            state: Mutex::new(State {
                asking: Asking::default(),
                slots: VecDeque::new(),
                open_bytes: 0,
                window: Window::new(rtt, clock.now()),
            }),
            clock,
            heard_nanoseconds: AtomicU64::new(0),
            delivered: AtomicU64::new(0),
            is_dead: AtomicBool::new(false),
            is_held: AtomicBool::new(false),
            is_closing: AtomicBool::new(false),
            has_answered: AtomicBool::new(false),
            used_for,
            is_first,
        })
    }

    /// The first answer on the connection that authenticates.
    pub fn welcome(&self, timeout: Duration) -> Result<Welcome, String> {
        match self.conversation.receive(timeout) {
            Ok(Some(Answer {
                told: Told::Welcome(welcome),
                ..
            })) => Ok(welcome),
            Ok(Some(_)) => Err("the far end began with another answer than its welcome".to_owned()),
            Ok(None) => Err("the far end let this end in and then said nothing".to_owned()),
            Err(error) => Err(error.to_string()),
        }
    }

    /// Gives its answers to the slots, on a thread of its own; `on_end` runs behind the last.
    pub fn start(
        self: &Arc<Self>,
        on_end: impl FnOnce(&Arc<Connection>) + Send + 'static,
    ) -> io::Result<()> {
        let connection = Arc::clone(self);
        let work = move || {
            let why = connection.take_answers();
            connection.end(&why);
            on_end(&connection);
        };
        thread::Builder::new()
            .name("remote-answers".to_owned())
            .spawn(work)?;
        Ok(())
    }

    /// Sends a request, where it has room for one.
    ///
    /// Returns whether it was taken: it is answered, or lost, by its slot.
    pub fn ask(&self, slot: &Arc<Slot>) -> bool {
        let mut state = lock(&self.state);
        // In order, so under the lock, which nothing may hold for long.
        let would_wait = self.conversation.is_full();
        if self.is_dead() || would_wait || !state.has_room() {
            return false;
        }
        if state.slots.is_empty() {
            self.touch();
        }
        let Ok(mut frame) = state.asking.ask(slot.ask.clone()) else {
            // Its numbers are used up.
            drop(state);
            self.shut_down();
            return false;
        };
        state.slots.push_back(Arc::clone(slot));
        state.open_bytes += slot.weight();
        frame.extend_from_slice(&slot.content);
        let _ = self.conversation.send_frame(frame);
        true
    }

    /// Bytes that are asked for or brought, without an answer; `None` where it takes no more.
    pub fn load(&self) -> Option<(u64, usize)> {
        let state = lock(&self.state);
        let takes = !self.is_dead() && state.has_room();
        takes.then(|| (state.open_bytes, state.slots.len()))
    }

    /// Bytes of files that have come over it.
    pub fn delivered(&self) -> u64 {
        self.delivered.load(Ordering::Relaxed)
    }

    pub fn is_dead(&self) -> bool {
        self.is_dead.load(Ordering::Relaxed)
    }

    /// Whether the far end took it.
    pub fn has_answered(&self) -> bool {
        self.has_answered.load(Ordering::Relaxed)
    }

    /// Whether an answer has been due for so long.
    pub fn is_stalled(&self, timeout: Span) -> bool {
        let is_open = !lock(&self.state).slots.is_empty();
        let is_held = self.is_held.load(Ordering::Relaxed);
        is_open && !is_held && self.silent_for() >= timeout
    }

    /// Since when nothing was heard.
    pub fn silent_for(&self) -> Span {
        let heard = Time::from_nanos(self.heard_nanoseconds.load(Ordering::Relaxed));
        self.clock.now().since(heard)
    }

    /// Breaks it; its slots are told.
    pub fn shut_down(&self) {
        self.handle.shut_down();
    }

    /// Ends it with a goodbye.
    pub fn close(&self) {
        self.is_closing.store(true, Ordering::Relaxed);
        self.conversation.begin_to_close(GOODBYE);
    }

    fn touch(&self) {
        let now = self.clock.now().as_nanos();
        self.heard_nanoseconds.store(now, Ordering::Relaxed);
    }

    fn take_answers(&self) -> String {
        loop {
            match self.conversation.receive(Duration::from_secs(3_600)) {
                Ok(None) => {}
                Ok(Some(answer)) => {
                    self.touch();
                    self.has_answered.store(true, Ordering::Relaxed);
                    if let Err(why) = self.on_answer(answer) {
                        return why;
                    }
                }
                Err(ConversationError::Codec(error)) => {
                    let first = lock(&self.state).slots.pop_front();
                    if let Some(slot) = first {
                        slot.broken(&error.to_string());
                    }
                    return error.to_string();
                }
                Err(error) => return error.to_string(),
            }
        }
    }

    fn on_answer(&self, answer: Answer) -> Result<(), String> {
        let mut state = lock(&self.state);
        let first = state.slots.front().cloned();
        let event = match (state.asking.on_answer(answer), &first) {
            (Ok(event), _) => event,
            (Err(violation), first) => {
                state.slots.pop_front();
                if let Some(slot) = first {
                    slot.violated(&violation);
                }
                return Err(violation.to_string());
            }
        };
        if let Event::Data { bytes, .. } = &event {
            let came = bytes.len() as u64;
            state.window.on_delivered(came, self.clock.now());
            self.delivered.fetch_add(came, Ordering::Relaxed);
        }
        if event.is_last()
            && let Some(slot) = state.slots.pop_front()
        {
            state.open_bytes -= slot.weight();
            if !slot.content.is_empty() {
                state.window.on_delivered(slot.weight(), self.clock.now());
            }
        }
        drop(state);
        self.is_held.store(true, Ordering::Relaxed);
        let is_wanted = first.is_none_or(|slot| slot.on_event(event));
        self.touch();
        self.is_held.store(false, Ordering::Relaxed);
        match is_wanted {
            true => Ok(()),
            false => Err("the rest of a listing is not wanted".to_owned()),
        }
    }

    /// What waits is lost.
    fn end(&self, why: &str) {
        let mut state = lock(&self.state);
        self.is_dead.store(true, Ordering::Relaxed);
        let slots = std::mem::take(&mut state.slots);
        drop(state);
        for slot in slots {
            slot.lost(why);
        }
        if !self.is_closing.load(Ordering::Relaxed) {
            self.shut_down();
        }
    }
}

impl State {
    /// Whatever the next one weighs: what is larger than the window waits no longer than others.
    fn has_room(&self) -> bool {
        self.open_bytes < self.window.bytes() && self.slots.len() < OPEN_MAX
    }
}
