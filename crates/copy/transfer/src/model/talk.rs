//! One conversation: both roles, the queues between them, and whose turn it is.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;
use std::sync::mpsc::Receiver;

use copy_protocol::{
    Activity, CopyDirection, Entry, FileId, HASH_LENGTH, Message, Problem, Speaker,
};

use super::around::{Around, Over};
use super::draw::Draw;
use super::events::Faults;
use super::streams::Stream;
use super::world::World;
use crate::control::CopyControl;
use crate::copy_stats::CopyStats;
use crate::receiver::publisher::{Publisher, Whole, publish};
use crate::receiver::rereader::{Left, Rereader};
use crate::receiver::shared::Shared;
use crate::receiver::state::ReceiverState;
use crate::sender::send_queue::SendQueue;
use crate::sender::state::SenderState;
use crate::session::{Event, Outbox, SessionEnd, for_role};

/// No case needs so many turns.
const TURNS_MAX: usize = 3_000;

/// Whether nothing breaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Calm {
    Yes,
    No,
}

/// What a conversation came to.
#[derive(Debug, Default)]
pub(super) struct Told {
    pub entries: Vec<Entry>,
    pub published: BTreeMap<FileId, [u8; HASH_LENGTH]>,
    pub failed: BTreeMap<FileId, Problem>,
    /// Published, whether that was heard or not, or failed.
    pub gone: BTreeSet<FileId>,
    /// Bytes of files that the sender read for its streams.
    pub sent: u64,
    pub was_dry: bool,
}

/// A conversation.
pub(super) struct Talk<'w, 'c, 'o> {
    pub world: &'w mut World,
    pub draw: &'w mut Draw,
    pub sender: SenderState<'c, 'o>,
    pub receiver: ReceiverState<'c, 'o>,
    /// Around the sender and around the receiver.
    pub near_sender: Around,
    pub near_receiver: Around,
    pub streams: Vec<Stream>,
    pub target: usize,
    whole: crate::sync::mpsc::Receiver<Whole>,
    left: Receiver<Left>,
    waiting_whole: VecDeque<Whole>,
    waiting_left: VecDeque<Left>,
    pub faults: Faults,
    pub told: Told,
    buffer: Vec<u8>,
}

/// Whose turn it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Turn {
    SenderSpeaks,
    ReceiverSpeaks,
    SenderHears,
    ReceiverHears,
    SenderNotes,
    ReceiverNotes,
    Publish,
    Reread,
    Join,
    Send(usize),
    Receive(usize),
    SenderMisses(usize),
    ReceiverMisses(usize),
    Settle(usize),
    SenderIsAlone,
    ReceiverIsAlone,
}

/// Both ends open their files, talk until they end, and let go.
pub(super) fn hold(world: &mut World, draw: &mut Draw, calm: Calm) -> Told {
    world.begin_try();
    let is_dry = calm == Calm::No && draw.chance(8);
    let mut opening = world.opening(is_dry);
    let source = world.source().unwrap();
    let store = world.store(&opening).unwrap();
    let is_fresh = store.is_fresh();
    opening.fresh = is_fresh && opening.direction == CopyDirection::Get;
    let control = CopyControl::default();
    let (mut no_watch, mut no_other_watch) = ((), ());
    let mut chronicles = [
        CopyStats::new(&mut no_watch, &control),
        CopyStats::new(&mut no_other_watch, &control),
    ];
    let [of_sender, of_receiver] = &mut chronicles;
    let (publisher, whole) = Publisher::queue();
    let (rereader, left) = Rereader::queue();
    let shared = Arc::new(Shared::new(
        Arc::new(store),
        publisher,
        rereader,
        Arc::default(),
    ));
    let queue = Arc::new(SendQueue::new(None, false));
    let (sends, receives) = match opening.direction {
        CopyDirection::Put => (Speaker::Near, Speaker::Far),
        CopyDirection::Get => (Speaker::Far, Speaker::Near),
    };
    let talk = Talk {
        sender: SenderState::new(of_sender, &opening, source, queue, is_fresh),
        receiver: ReceiverState::new(of_receiver, &opening, shared, None).unwrap(),
        near_sender: Around::new(sends, &opening, is_fresh),
        near_receiver: Around::new(receives, &opening, is_fresh),
        streams: Vec::new(),
        target: if is_dry { 0 } else { 1 + draw.below(3) },
        whole,
        left,
        waiting_whole: VecDeque::new(),
        waiting_left: VecDeque::new(),
        faults: Faults::new(calm, draw),
        told: Told {
            was_dry: is_dry,
            ..Told::default()
        },
        buffer: Vec::new(),
        world,
        draw,
    };
    talk.lead(calm)
}

impl Talk<'_, '_, '_> {
    fn lead(mut self, calm: Calm) -> Told {
        for _ in 0..TURNS_MAX {
            self.fault();
            if !self.near_sender.is_active() && !self.near_receiver.is_active() {
                return self.end(calm);
            }
            let turns = self.turns();
            if turns.is_empty() {
                self.is_stuck();
                continue;
            }
            let turn = self.draw.pick(&turns);
            self.draw.note(|| format!("  {turn:?}"));
            self.take(turn);
            self.settle();
        }
        panic!("it goes on after {TURNS_MAX} turns");
    }

    /// Only a damaged header may leave both ends without anything to do; they notice after a
    /// minute.
    fn is_stuck(&mut self) {
        let (sender, receiver) = (&self.near_sender, &self.near_receiver);
        assert!(
            self.faults.header_was_damaged,
            "nothing is left to happen, sender {:?}, receiver {:?}, {} bytes left",
            sender.over,
            receiver.over,
            self.sender.queue.left()
        );
        self.draw.note(|| "nothing happens any more".to_owned());
        self.lose();
    }

    fn end(self, calm: Calm) -> Told {
        let ends = [self.near_sender.over, self.near_receiver.over];
        if calm == Calm::Yes {
            assert_eq!(ends, [Some(Over::Done); 2], "nothing disturbed it");
        }
        let sent = &self.sender.queue.arrived;
        Told {
            sent: sent.load(std::sync::atomic::Ordering::Relaxed),
            ..self.told
        }
    }

    /// What can happen next, the simplest first.
    fn turns(&self) -> Vec<Turn> {
        let (sender, receiver) = (&self.near_sender, &self.near_receiver);
        let to_receiver = !sender.mouth.queue.borrow().is_empty();
        let to_sender = !receiver.mouth.queue.borrow().is_empty();
        let mut turns = Vec::with_capacity(16);
        if receiver.is_active() {
            let whole = !self.waiting_whole.is_empty();
            let left = !self.waiting_left.is_empty();
            let is_alone = !to_receiver && (!sender.is_active() || sender.mouth.is_cut.get());
            let all = [
                (to_receiver, Turn::ReceiverHears),
                (!receiver.events.is_empty(), Turn::ReceiverNotes),
                (receiver.has_news, Turn::ReceiverSpeaks),
                (whole, Turn::Publish),
                (left, Turn::Reread),
                (is_alone, Turn::ReceiverIsAlone),
            ];
            turns.extend(all.iter().filter(|one| one.0).map(|one| one.1));
        }
        if sender.is_active() {
            let is_alone = !to_sender && (!receiver.is_active() || sender.mouth.is_cut.get());
            let all = [
                (to_sender, Turn::SenderHears),
                (!sender.events.is_empty(), Turn::SenderNotes),
                (sender.has_news, Turn::SenderSpeaks),
                (self.may_join(), Turn::Join),
                (is_alone, Turn::SenderIsAlone),
            ];
            turns.extend(all.iter().filter(|one| one.0).map(|one| one.1));
        }
        self.stream_turns(&mut turns);
        turns
    }

    fn take(&mut self, turn: Turn) {
        match turn {
            Turn::SenderSpeaks => self.sender_speaks(),
            Turn::ReceiverSpeaks => self.receiver_speaks(),
            Turn::SenderHears => self.sender_hears(),
            Turn::ReceiverHears => self.receiver_hears(),
            Turn::SenderNotes => self.sender_notes(),
            Turn::ReceiverNotes => self.receiver_notes(),
            Turn::Publish => self.publish(),
            Turn::Reread => self.reread(),
            Turn::SenderIsAlone => self.sender_ends(Over::Lost),
            Turn::ReceiverIsAlone => {
                let over = match self.receiver.is_complete {
                    true => Over::Done,
                    false => Over::Lost,
                };
                self.receiver_ends(over);
            }
            other => self.take_on_stream(other),
        }
    }

    /// What a turn brought about is put where it can be taken.
    fn settle(&mut self) {
        self.near_sender.collect();
        self.near_receiver.collect();
        self.waiting_whole.extend(self.whole.try_iter());
        self.waiting_left.extend(self.left.try_iter());
        let said = std::mem::take(&mut *self.near_sender.mouth.said.borrow_mut());
        said.into_iter()
            .for_each(|message| self.sender_said(message));
        let said = std::mem::take(&mut *self.near_receiver.mouth.said.borrow_mut());
        said.into_iter()
            .for_each(|message| self.receiver_said(message));
    }

    fn sender_speaks(&mut self) {
        let most = 1 + self.draw.below(4);
        let has_more = self.sender.on_idle(&self.near_sender.mouth, most);
        self.near_sender.has_news = has_more;
        if self.draw.chance(16) {
            let mouth = &self.near_sender.mouth;
            mouth.send(Message::Alive(Activity::default()));
            mouth.send(self.sender.stats.sending());
        }
        self.wake_streams();
    }

    fn receiver_speaks(&mut self) {
        self.near_receiver.has_news = false;
        if self.draw.chance(16) {
            let mouth = &self.near_receiver.mouth;
            mouth.send(Message::Alive(Activity::default()));
        }
        let said = self.receiver.on_idle(&self.near_receiver.mouth);
        self.near_receiver.has_news = matches!(said, Ok(true));
        self.receiver_goes_on(said.map(drop));
    }

    fn sender_hears(&mut self) {
        let message = self.near_receiver.mouth.queue.borrow_mut().pop_front();
        let message = self.near_sender.mouth.hear(message.unwrap());
        if matches!(message, Message::Alive(_)) {
            return;
        }
        self.near_sender.has_news = true;
        let heard = match for_role(message) {
            Ok(message) => self.sender.on_message(message, &self.near_sender.mouth),
            Err(end) => Err(end),
        };
        match heard {
            Ok(()) => self.wake_streams(),
            Err(SessionEnd::Done) => self.sender_ends(Over::Done),
            Err(other) => panic!("the sender gives up: {other:?}"),
        }
    }

    fn receiver_hears(&mut self) {
        let message = self.near_sender.mouth.queue.borrow_mut().pop_front();
        let message = self.near_receiver.mouth.hear(message.unwrap());
        if matches!(message, Message::Alive(_)) {
            return;
        }
        self.near_receiver.has_news = true;
        let heard = match for_role(message) {
            Ok(message) => self.receiver.on_message(message, &self.near_receiver.mouth),
            Err(end) => Err(end),
        };
        self.receiver_goes_on(heard);
    }

    fn sender_notes(&mut self) {
        self.near_sender.has_news = true;
        match self.near_sender.events.pop_front() {
            Some(Event::FileRead(file)) => self.sender.on_file_read(file),
            Some(Event::Failed(problem)) => {
                self.sender.fail(problem, &self.near_sender.mouth);
            }
            other => panic!("{other:?} at the sender"),
        }
        self.wake_streams();
    }

    fn receiver_notes(&mut self) {
        self.near_receiver.has_news = true;
        let event = self.near_receiver.events.pop_front().unwrap();
        let mouth = &self.near_receiver.mouth;
        let noted = self.receiver.on_event(event, mouth);
        self.receiver_goes_on(noted);
    }

    fn receiver_goes_on(&mut self, result: Result<(), SessionEnd>) {
        match result {
            Ok(()) => {}
            Err(SessionEnd::Done) => self.receiver_ends(Over::Done),
            Err(other) => panic!("the receiver gives up: {other:?}"),
        }
    }

    fn publish(&mut self) {
        let count = 1 + self.draw.below(self.waiting_whole.len());
        self.publish_some(count);
    }

    fn publish_some(&mut self, count: usize) {
        let whole: Vec<Whole> = self.waiting_whole.drain(..count).collect();
        let told = publish(&self.receiver.shared.store, whole);
        for event in &told {
            match event {
                // It has its name, whether or not the message arrives.
                Event::Published(file, _) => self.forget(*file),
                Event::Failed(problem) => self.forget(problem.file.unwrap()),
                _ => {}
            }
        }
        self.near_receiver.events.extend(told);
    }

    fn reread(&mut self) {
        let Some(left) = self.waiting_left.front_mut() else {
            return;
        };
        let store = &self.receiver.shared.store;
        if let Some(told) = left.step(store, &mut self.buffer) {
            if matches!(told, Event::ReadBack(.., true)) {
                self.waiting_left.pop_front();
            }
            self.near_receiver.events.push_back(told);
        }
    }

    pub fn sender_ends(&mut self, over: Over) {
        self.near_sender.over = Some(over);
        self.break_streams();
    }

    /// Its publisher does what it has to do, unless it is killed; what it reads back it leaves.
    pub fn receiver_ends(&mut self, over: Over) {
        self.near_receiver.over = Some(over);
        self.near_sender.mouth.is_cut.set(true);
        self.break_streams();
        self.streams.iter_mut().for_each(Stream::receiver_goes);
        let store = &self.receiver.shared.store;
        match over {
            Over::Killed => store.killed(),
            Over::Done | Over::Lost => {
                self.settle();
                self.publish_some(self.waiting_whole.len());
            }
        }
    }

    /// Both ends will miss each other, each once it has heard what still arrives.
    pub fn lose(&mut self) {
        for mouth in [&self.near_sender.mouth, &self.near_receiver.mouth] {
            mouth.is_cut.set(true);
            let mut queue = mouth.queue.borrow_mut();
            let arrives = self.draw.below(queue.len() + 1);
            queue.truncate(arrives);
        }
        self.break_streams();
    }
}
