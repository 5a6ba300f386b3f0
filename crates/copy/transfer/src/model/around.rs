//! What both ends have around their roles: what they say and hear, and what is reported to them.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

use copy_protocol::{ConversationState, Message, Opening, Speaker};

use crate::session::{Event, Outbox};

/// More than a turn brings about.
const HAPPENINGS_MAX: usize = 256;

/// How an end ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Over {
    Done,
    Lost,
    Killed,
}

/// What an end sends: checked against the protocol at once, received by the peer later.
pub(super) struct Mouth {
    me: Speaker,
    protocol: RefCell<ConversationState>,
    pub queue: RefCell<VecDeque<Message>>,
    /// For the model.
    pub said: RefCell<Vec<Message>>,
    /// The connection is lost.
    pub is_cut: Cell<bool>,
}

impl Mouth {
    fn new(me: Speaker, opening: &Opening, is_fresh: bool) -> Self {
        Mouth {
            me,
            protocol: RefCell::new(ConversationState::opened(opening, is_fresh).unwrap()),
            queue: RefCell::default(),
            said: RefCell::default(),
            is_cut: Cell::new(false),
        }
    }

    /// What this end hears from its peer.
    pub fn hear(&self, message: Message) -> Message {
        let peer = match self.me {
            Speaker::Near => Speaker::Far,
            Speaker::Far => Speaker::Near,
        };
        let passed = self.protocol.borrow_mut().pass(peer, message);
        passed.unwrap_or_else(|error| panic!("an honest peer was refused: {error}"))
    }
}

impl Outbox for Mouth {
    fn send(&self, message: Message) {
        let passed = self.protocol.borrow_mut().pass(self.me, message);
        let message = passed.unwrap_or_else(|error| panic!("it spoke out of turn: {error}"));
        self.said.borrow_mut().push(message.clone());
        if !self.is_cut.get() {
            self.queue.borrow_mut().push_back(message);
        }
    }
}

/// What both ends have around their roles.
pub(super) struct Around {
    pub mouth: Mouth,
    pub report: SyncSender<Event>,
    reported: Receiver<Event>,
    pub events: VecDeque<Event>,
    /// Something happened since it was last asked what it has to say.
    pub has_news: bool,
    pub over: Option<Over>,
}

impl Around {
    pub fn new(me: Speaker, opening: &Opening, is_fresh: bool) -> Self {
        let (report, reported) = sync_channel(HAPPENINGS_MAX);
        Around {
            mouth: Mouth::new(me, opening, is_fresh),
            report,
            reported,
            events: VecDeque::new(),
            has_news: true,
            over: None,
        }
    }

    pub fn collect(&mut self) {
        self.events.extend(self.reported.try_iter());
    }

    pub fn is_active(&self) -> bool {
        self.over.is_none()
    }
}
