//! The end that gets the data: asks for what is missing, has the streams write it, names the files.
//!
//! Reading order: `state` and `entries` for the decisions, this file for what runs them on threads,
//! `incoming_files` for what the streams share, `piece_decoder` and `stream` for one of them,
//! `publisher`, `rereader`, `comparer`, `moved` (older versions, with `cutter`), `removal`.

pub(crate) mod comparer;
mod cutter;
mod entries;
#[cfg(feature = "fuzzing")]
pub(crate) mod fuzzing;
pub(crate) mod incoming_files;
mod moved;
pub(crate) mod piece_decoder;
pub(crate) mod publisher;
mod removal;
pub(crate) mod rereader;
pub(crate) mod shared;
pub(crate) mod state;
mod stream;

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use copy_net::StreamHandle;
use copy_protocol::{Activity, CopyEvent, Filter, Message, Opening, Problem};
use observe::StreamCount;
use units::{Bytes, Rate, Span, Time};

use self::comparer::Comparer;
use self::cutter::Cutter;
use self::moved::Moved;
use self::publisher::Publisher;
use self::rereader::Rereader;
use self::shared::Shared;
use self::state::ReceiverState;
use self::stream::ReceiveStream;
use crate::activity::{Reporter, TimeSpent};
use crate::budget::CopyShare;
use crate::copy_stats::CopyStats;
use crate::opening::stream_count;
use crate::session::{self, Event, NO_PROGRESS_MAX, Outbox, Role, SessionContext, SessionEnd};
use crate::standstill::{other_waits_for, waits_for};
use crate::stream_options::Part;
use crate::stream_set::StreamSet;
use files::store::Store;

/// How often this end reports its activity.
const TICK: Span = Span::from_millis(250);
/// Streams that one conversation may have.
const STREAMS_MAX: u16 = 256;
/// How long a sender may take to end streams that this server does not allow: they end with their
/// piece, which takes long on a slow path.
const OBEYED_MAX: Span = Span::from_secs(30);

/// The receiver's half of a session, on threads.
pub(crate) struct Receiver<'a, 'o> {
    state: ReceiverState<'a, 'o>,
    stream_set: StreamSet,
    streams: Vec<(StreamHandle, JoinHandle<()>)>,
    /// The near end has fixed the number of streams.
    is_fixed: bool,
    share: CopyShare,
    /// Since when there are more streams than this server allows.
    over_since: Option<Time>,
    reporter: Reporter,
    /// What the sender's threads did last.
    theirs: Option<Activity>,
    /// When that came.
    heard: Time,
    last: Time,
    ticks: u32,
}

impl<'a, 'o> Receiver<'a, 'o> {
    /// # Errors
    /// When a wildcard or a pattern cannot be read.
    pub(crate) fn new(
        stats: &'a mut CopyStats<'o>,
        opening: &Opening,
        store: Store,
        stream_set: StreamSet,
        context: &SessionContext,
    ) -> Result<Self, Problem> {
        let store = Arc::new(store);
        let spent = Arc::new(TimeSpent::default());
        let publisher = Publisher::start(Arc::clone(&store), context.report(), Arc::clone(&spent));
        let rereader = Rereader::start(Arc::clone(&store), context.report());
        // In a new folder there is nothing to compare with, and the sender waits for no answers:
        // the end of a file must not come before its plan.
        let compares = opening.filter == Filter::Content && !store.is_fresh();
        let comparer = compares.then(|| Comparer::start(Arc::clone(&store), context.report()));
        let shared = Arc::new(Shared::new(store, publisher, rereader, spent));
        let older = shared.store.has_older().then(|| Arc::clone(&shared.store));
        let cutter = older.map(|store| Cutter::start(store, context.report()));
        // It was told behind the answer to the opening.
        let share = stats.present_share();
        shared.throttle.set(share.rate);
        let (last, heard) = (stats.now(), stats.now());
        let mut state = ReceiverState::new(stats, opening, shared, comparer)?;
        state.moved = Moved::new(cutter);
        Ok(Receiver {
            last,
            heard,
            state,
            stream_set,
            streams: Vec::new(),
            is_fixed: false,
            share,
            over_since: None,
            reporter: Reporter::start(),
            theirs: None,
            ticks: 0,
        })
    }

    fn on_message(&mut self, message: Message, context: &SessionContext) -> Result<(), SessionEnd> {
        match message {
            Message::Streams(count) => self.stream_set.grow(count.min(STREAMS_MAX), context),
            Message::FixedStreams(streams) => self.is_fixed = stream_count(streams).is_some(),
            Message::Alive(activity) => {
                (self.theirs, self.heard) = (Some(activity), context.now());
            }
            Message::RateMax(_) => (),
            other => return self.state.on_message(other, context),
        }
        Ok(())
    }

    fn on_joined(&mut self, number: u32, channel: copy_net::Channel, context: &SessionContext) {
        if self.stream_set.present >= STREAMS_MAX {
            return;
        }
        tracing::debug!(stream = number, "joined");
        let handle = channel.handle();
        let news = self
            .stream_set
            .on_joined(number, handle.clone(), context.now());
        self.state.stats.on_joined(self.stream_set.present);
        self.state.stats.on_pair(self.stream_set.present, news);
        self.streams.retain(|(_, thread)| !thread.is_finished());
        let shared = Arc::clone(&self.state.shared);
        let stream = ReceiveStream::new(number, channel, shared, context.report());
        self.streams
            .push((handle, thread::spawn(move || stream.run())));
    }

    fn tick(&mut self, context: &SessionContext) {
        if let Some(rate) = self.state.stats.new_rate_max() {
            context.send(Message::RateMax(rate.map(Rate::bits_per_second)));
        }
        if let Some(streams) = self.state.stats.new_streams() {
            context.send(Message::FixedStreams(streams.map(StreamCount::get)));
        }
        if let Some(part) = self.state.stats.new_part(self.is_fixed) {
            context.send(Message::SharedStreams(part.map(StreamCount::get)));
        }
        self.keep_share(context);
        let now = context.now();
        if now.since(self.last) >= TICK {
            self.last = now;
            self.stream_set.look(Part::Receives, context);
            let activity = self
                .reporter
                .report(&self.state.shared.spent, self.stream_set.present);
            context.send(Message::Alive(activity));
            let theirs = self.theirs.as_ref();
            self.state.stats.on_activity(theirs, Some(&activity));
            self.ticks += 1;
            if self.ticks.is_multiple_of(2) {
                self.tell_standstill(now, &activity);
                self.state.stats.on_tick();
            }
        }
    }

    /// Says what both ends wait for, where nothing happens.
    fn tell_standstill(&mut self, at: Time, mine: &Activity) {
        let moved = self.state.shared.on_wire.load(Ordering::Relaxed);
        let Some(still) = self.state.stats.stalled(moved) else {
            return;
        };
        let doing = waits_for(Part::Receives, mine);
        let here = format!("{}, and {doing}", self.state.open_question());
        let silence = at.since(self.heard);
        let there = other_waits_for(Part::Sends, self.theirs.as_ref(), silence);
        self.state.stats.tell(&CopyEvent::Stalled {
            at,
            still,
            here,
            there,
        });
    }
}

impl Receiver<'_, '_> {
    /// Tells the sender its part of what this server allows. One that does not keep to it is held
    /// to the rate here, and loses the streams that are too many.
    fn keep_share(&mut self, context: &SessionContext) {
        let moved = self.state.shared.on_wire.load(Ordering::Relaxed);
        if let Some(share) = self.state.stats.new_share(Bytes::new(moved)) {
            self.share = share;
            self.state.shared.throttle.set(share.rate);
            context.send(share.message());
        }
        let most = self
            .share
            .streams
            .map_or(usize::MAX, |most| most.get().into());
        let is_over = self.streams.len() > most;
        let now = context.now();
        match self.over_since {
            Some(since) if is_over && now.since(since) >= OBEYED_MAX => {
                let surplus = self.streams.iter().skip(most);
                surplus.for_each(|(handle, _)| handle.shut_down());
                self.over_since = Some(now);
            }
            Some(_) if is_over => {}
            _ => self.over_since = is_over.then_some(now),
        }
    }
}

impl Role for Receiver<'_, '_> {
    fn is_done(&self) -> bool {
        self.state.is_complete
    }

    /// What is whole waits for this end's disk.
    fn progress_timeout(&self) -> Option<Duration> {
        (!self.state.is_busy()).then_some(NO_PROGRESS_MAX)
    }

    fn on(&mut self, event: Event, context: &SessionContext) -> Result<(), SessionEnd> {
        match event {
            Event::Message(message) => return self.on_message(message, context),
            Event::Joined(number, channel) => self.on_joined(number, channel, context),
            Event::NotJoined(number, why) => {
                let news = self.stream_set.on_not_joined(number, context.now(), &why)?;
                self.state.stats.on_pair(self.stream_set.present, news);
            }
            Event::StreamOver(stream, end) => {
                tracing::debug!(stream, ?end, "over");
                let news = self.stream_set.on_over(stream, &end, context.now());
                self.state.stats.on_pair(self.stream_set.present, news);
                self.streams.retain(|(_, thread)| !thread.is_finished());
            }
            other => return self.state.on_event(other, context),
        }
        Ok(())
    }

    fn on_idle(&mut self, context: &SessionContext) -> Result<Duration, SessionEnd> {
        let has_more = self.state.on_idle(context)?;
        self.tick(context);
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
    pub(crate) fn end(mut self, context: &SessionContext) {
        self.state.shared.files.close();
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
        threads.extend(self.state.moved.close());
        context.wait_for(&threads);
        if !self.state.is_near {
            handles.iter().for_each(StreamHandle::shut_down);
        }
        let on_wire = self.state.shared.on_wire.load(Ordering::Relaxed);
        self.state.stats.outcome.on_wire += Bytes::new(on_wire);
    }
}
