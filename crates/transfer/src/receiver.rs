//! The end that gets the data: asks for what is missing, has the streams write it, names the files.
//!
//! Reading order: `state` and `entries` for what is decided, this file for what leads it on
//! threads, `shelf` for what the streams share, `intake` and `stream` for one of them, `publisher`,
//! `rereader`, `comparer`, `removing`.

pub(crate) mod comparer;
mod entries;
#[cfg(feature = "fuzzing")]
pub(crate) mod fuzzing;
pub(crate) mod intake;
pub(crate) mod publisher;
mod removing;
pub(crate) mod rereader;
pub(crate) mod shelf;
pub(crate) mod state;
mod stream;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use copy_net::StreamHandle;
use units::{Bytes, Rate, Span, Time};
use wire::copying::{Filter, Message, Opening, Problem};

use self::comparer::Comparer;
use self::publisher::Publisher;
use self::rereader::Rereader;
use self::shelf::Shelf;
use self::state::ReceiverState;
use self::stream::Inflow;
use crate::activity::{Reporter, Spent};
use crate::chronicle::Chronicle;
use crate::lines::Roster;
use crate::session::{self, Desk, End, Happening, NO_PROGRESS_MAX, Role, Voice};
use crate::store::Store;

/// How often this end reports its activity.
const TICK: Span = Span::from_millis(250);
/// Streams that one conversation may have.
const STREAMS_MAX: u16 = 256;

/// What the receiver's threads share.
pub(crate) struct Shared {
    pub store: Arc<Store>,
    pub shelf: Shelf,
    publisher: Publisher,
    rereader: Rereader,
    spent: Arc<Spent>,
    /// Bytes read from streams.
    on_wire: AtomicU64,
    /// The conversation ended before everything was there: what streams still hold is of no use,
    /// and holes in it may take long to hash.
    is_given_up: AtomicBool,
}

impl Shared {
    /// Nothing has arrived yet.
    pub(crate) fn new(
        store: Arc<Store>,
        publisher: Publisher,
        rereader: Rereader,
        spent: Arc<Spent>,
    ) -> Self {
        Shared {
            store,
            shelf: Shelf::default(),
            publisher,
            rereader,
            spent,
            on_wire: AtomicU64::new(0),
            is_given_up: AtomicBool::new(false),
        }
    }
}

/// The receiver's half of a session, on threads.
pub(crate) struct Receiver<'a, 'o> {
    state: ReceiverState<'a, 'o>,
    roster: Roster,
    streams: Vec<(StreamHandle, JoinHandle<()>)>,
    reporter: Reporter,
    last: Time,
    ticks: u32,
}

impl<'a, 'o> Receiver<'a, 'o> {
    /// # Errors
    /// When a wildcard or a pattern cannot be read.
    pub(crate) fn new(
        chronicle: &'a mut Chronicle<'o>,
        opening: &Opening,
        store: Store,
        roster: Roster,
        desk: &Desk,
    ) -> Result<Self, Problem> {
        let store = Arc::new(store);
        let spent = Arc::new(Spent::default());
        let publisher = Publisher::start(Arc::clone(&store), desk.report(), Arc::clone(&spent));
        let rereader = Rereader::start(Arc::clone(&store), desk.report());
        let compares = opening.filter == Filter::Content;
        let comparer = compares.then(|| Comparer::start(Arc::clone(&store), desk.report()));
        let shared = Arc::new(Shared::new(store, publisher, rereader, spent));
        Ok(Receiver {
            last: chronicle.now(),
            state: ReceiverState::new(chronicle, opening, shared, comparer)?,
            roster,
            streams: Vec::new(),
            reporter: Reporter::start(),
            ticks: 0,
        })
    }

    fn on_message(&mut self, message: Message, desk: &Desk) -> Result<(), End> {
        match message {
            Message::Streams(count) => self.roster.grow(count.min(STREAMS_MAX), desk),
            Message::Alive(_) | Message::RateMax(_) => (),
            other => return self.state.on_message(other, desk),
        }
        Ok(())
    }

    fn on_joined(&mut self, number: u32, channel: copy_net::Channel, desk: &Desk) {
        if self.roster.present >= STREAMS_MAX {
            return;
        }
        self.roster.on_joined();
        self.streams.retain(|(_, thread)| !thread.is_finished());
        let handle = channel.handle();
        let shared = Arc::clone(&self.state.shared);
        let inflow = Inflow::new(number, channel, shared, desk.report());
        self.streams
            .push((handle, thread::spawn(move || inflow.run())));
    }

    fn tick(&mut self, desk: &Desk) {
        if let Some(rate) = self.state.chronicle.wished_rate() {
            desk.say(Message::RateMax(rate.map(Rate::bits_per_second)));
        }
        let now = desk.now();
        if now.since(self.last) >= TICK {
            self.last = now;
            let activity = self
                .reporter
                .report(&self.state.shared.spent, self.roster.present);
            desk.say(Message::Alive(activity));
            self.ticks += 1;
            if self.ticks.is_multiple_of(2) {
                self.state.chronicle.on_tick();
            }
        }
    }
}

impl Role for Receiver<'_, '_> {
    fn is_done(&self) -> bool {
        self.state.is_complete
    }

    /// What is whole waits for this end's disk.
    fn patience(&self) -> Option<Duration> {
        (!self.state.is_busy()).then_some(NO_PROGRESS_MAX)
    }

    fn on(&mut self, happening: Happening, desk: &Desk) -> Result<(), End> {
        match happening {
            Happening::Message(message) => return self.on_message(message, desk),
            Happening::Joined(number, channel) => self.on_joined(number, channel, desk),
            Happening::NotJoined(why) => return self.roster.on_not_joined(desk.now(), &why),
            Happening::StreamOver(..) => {
                self.roster.on_over();
                self.streams.retain(|(_, thread)| !thread.is_finished());
            }
            other => return self.state.on_happening(other, desk),
        }
        Ok(())
    }

    fn on_quiet(&mut self, desk: &Desk) -> Result<Duration, End> {
        let has_more = self.state.on_quiet(desk)?;
        self.tick(desk);
        Ok(match has_more {
            true => Duration::ZERO,
            false => session::TICK,
        })
    }
}

impl Receiver<'_, '_> {
    /// Ends what its threads do and waits for them, so that the files are free when the
    /// conversation is over. Where all is complete, streams only wait for the sender to close them;
    /// the near end does not.
    pub(crate) fn end(mut self, desk: &Desk) {
        self.state.shared.shelf.close();
        let (handles, mut threads): (Vec<_>, Vec<_>) = self.streams.drain(..).unzip();
        if !self.state.is_complete {
            self.state.shared.is_given_up.store(true, Ordering::Relaxed);
            handles.iter().for_each(StreamHandle::shut_down);
        } else if self.state.is_near {
            threads.clear();
        }
        threads.extend(self.state.shared.publisher.close());
        threads.extend(self.state.shared.rereader.close());
        threads.extend(self.state.comparer.as_mut().and_then(Comparer::close));
        desk.wait_for(&threads);
        if !self.state.is_near {
            handles.iter().for_each(StreamHandle::shut_down);
        }
        let on_wire = self.state.shared.on_wire.load(Ordering::Relaxed);
        self.state.chronicle.outcome.on_wire += Bytes::new(on_wire);
    }
}
