//! The end that has the data: announces entries, and has the streams send what is wanted.
//!
//! Reading order: `state` and `entries` for the decisions, this file for what runs them on threads,
//! `send_queue` for what the streams share, `stream` for one of them and `outgoing` for what it
//! sends, `streams` for all of them, `piece_size`, `stream_control` and `stall` for the state of
//! each, `findings`, `compression`, `watchdog`.

mod compression;
mod entries;
mod findings;
mod outgoing;
pub(crate) mod piece_size;
pub(crate) mod send_queue;
pub(crate) mod stall;
pub(crate) mod state;
pub(crate) mod stream;
pub(crate) mod stream_control;
mod streams;
mod watchdog;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use copy_protocol::{Activity, CopyDirection, CopyEvent, Message, Opening};
use observe::StreamCount;
use steer::online::RateMax;
use units::{Bytes, Rate, Span, Time};

use self::send_queue::SendQueue;
use self::state::SenderState;
use self::streams::Streams;
use self::watchdog::Watchdog;
use crate::activity::Reporter;
use crate::budget::CopyShare;
use crate::copy_stats::CopyStats;
use crate::opening::stream_count;
use crate::session::{Event, NO_PROGRESS_MAX, Outbox, Role, SessionContext, SessionEnd};
use crate::standstill::{other_waits_for, waits_for};
use crate::stream_options::Part;
use crate::stream_set::StreamSet;
use files::source::Source;

/// Entries in one message, and bytes of their names: so that it stays below `MESSAGE_MAX`.
const BATCH: usize = 512;
const BATCH_BYTES: usize = 100 << 10;
/// Entries that may be told before the receiver has answered.
const AHEAD: usize = 16_384;
/// Files that may be on their way at once; bounds the memory of both ends.
const UNFINISHED: usize = 65_536;
/// How long a receiver that has all bytes may take to name the files.
const PUBLISHING_MAX: Duration = Duration::from_secs(6 * 3600);
/// How often streams are steered, and how often this end reports its activity.
const TICK: Span = Span::from_millis(250);

/// The sender's half of a session, on threads.
pub(crate) struct Sender<'a, 'o> {
    state: SenderState<'a, 'o>,
    streams: Streams,
    /// What the near end fixed, and this copy's part of the streams of all copies between both
    /// hosts. The first holds.
    fixed: Option<StreamCount>,
    part: Option<StreamCount>,
    /// The bound on the rate that was asked for.
    asked: Option<Rate>,
    /// This copy's part of what a server allows, here and at the other end: both are servers where
    /// one sends to another. A number of streams is followed four times a second, however often
    /// another one is told.
    own_share: CopyShare,
    told_share: CopyShare,
    /// Which of them the streams follow.
    followed: Option<StreamCount>,
    is_near: bool,
    reporter: Reporter,
    mine: Option<Activity>,
    theirs: Option<Activity>,
    /// When that came.
    heard: Time,
    last: Time,
    ticks: u32,
    watchdog: Watchdog,
}

/// What a sender needs to begin.
pub(crate) struct SenderSetup {
    /// Where the files are.
    pub source: Arc<Source>,
    /// Where streams come from.
    pub stream_set: StreamSet,
    /// The receiver has nothing yet.
    pub is_fresh: bool,
    /// Smallest round trip of the handshake.
    pub rtt: Option<Span>,
}

impl<'a, 'o> Sender<'a, 'o> {
    pub(crate) fn new(stats: &'a mut CopyStats<'o>, opening: &Opening, setup: SenderSetup) -> Self {
        let rate_max = opening
            .rate_max_bits_per_second
            .map(Rate::from_bits_per_second);
        let is_gentle = opening.gentle_nanoseconds.is_some();
        let queue = Arc::new(SendQueue::new(rate_max, is_gentle));
        let source = setup.source;
        let streams = Streams::new(
            setup.stream_set,
            Arc::clone(&queue),
            Arc::clone(&source),
            opening,
            setup.rtt,
            stats.now(),
        );
        let now = stats.now();
        let state = SenderState::new(stats, opening, source, queue, setup.is_fresh);
        Sender {
            state,
            streams,
            fixed: stream_count(opening.streams),
            part: None,
            asked: rate_max,
            own_share: CopyShare::default(),
            told_share: CopyShare::default(),
            followed: stream_count(opening.streams),
            is_near: opening.direction == CopyDirection::Put,
            reporter: Reporter::start(),
            mine: None,
            theirs: None,
            heard: now,
            last: now,
            ticks: 0,
            watchdog: Watchdog::default(),
        }
    }

    fn on_message(&mut self, message: Message, context: &SessionContext) -> Result<(), SessionEnd> {
        match message {
            Message::Alive(activity) => {
                (self.theirs, self.heard) = (Some(activity), context.now());
            }
            Message::Complete => {
                if !self.state.is_dry {
                    self.look(context);
                }
                return self.state.on_message(Message::Complete, context);
            }
            Message::RateMax(rate) => {
                self.asked = rate.map(Rate::from_bits_per_second);
                self.keep_rate(context.now());
            }
            Message::ServerBounds { rate, streams } => {
                self.told_share = CopyShare::told(rate, streams);
                self.keep_rate(context.now());
            }
            Message::FixedStreams(streams) => self.fixed = stream_count(streams),
            Message::SharedStreams(part) => self.part = stream_count(part),
            other => return self.state.on_message(other, context),
        }
        Ok(())
    }

    /// As many streams as were fixed or given; none leaves it to the steering. A peer that says
    /// another number each moment is heard four times a second.
    fn follow(&mut self, context: &SessionContext) {
        if let Some(streams) = self.state.stats.new_streams() {
            self.fixed = streams;
            if self.is_near {
                context.send(Message::FixedStreams(streams.map(StreamCount::get)));
            }
        }
        if let Some(part) = self.state.stats.new_part(self.fixed.is_some()) {
            self.part = part;
        }
        let moved = Bytes::new(self.state.queue.on_wire.load(Ordering::Relaxed));
        if let Some(share) = self.state.stats.new_share(moved) {
            self.own_share = share;
        }
        self.keep_rate(context.now());
        if let Some(streams) = self.streams.limit(self.share().streams) {
            let why = "the server bounds the streams of copies";
            self.state.stats.on_steered(streams, why.to_owned());
        }
        let wanted = self.fixed.or(self.part);
        if wanted == self.followed {
            return;
        }
        self.followed = wanted;
        if let Some(streams) = self.streams.fix(wanted)
            && self.fixed.is_none()
        {
            let why = "the server steers all copies between both hosts as one";
            self.state.stats.on_steered(streams, why.to_owned());
        }
    }

    fn share(&self) -> CopyShare {
        self.own_share.lower(self.told_share)
    }

    /// The rate of all streams together stays below what was asked for and what the server allows.
    fn keep_rate(&mut self, now: Time) {
        let bound = RateMax::lower(self.asked, self.share().rate);
        self.streams.set_rate_max(bound, now);
    }

    fn tick(&mut self, context: &SessionContext) -> Result<(), SessionEnd> {
        let now = context.now();
        if let Some(streams) = self.streams.give_way(now) {
            let why = "their own windows keep those that are there from the rate that is free";
            self.state.stats.on_steered(streams, why.to_owned());
        }
        if let Some(rate) = self.state.stats.new_rate_max() {
            self.asked = rate;
            self.keep_rate(now);
        }
        if now.since(self.last) < TICK {
            return Ok(());
        }
        self.last = now;
        self.follow(context);
        if self.state.is_dry {
            self.say_alive(context);
            return Ok(());
        }
        let queue = &self.state.queue;
        let load = |count: &AtomicU64| count.load(Ordering::Relaxed);
        let happened = load(&queue.on_wire) + load(&queue.told);
        let rate_max = self.streams.rate_max();
        if self
            .watchdog
            .is_too_long(now, queue.left(), happened, rate_max)
        {
            return Err(SessionEnd::Lost(watchdog::text()));
        }
        self.look(context);
        self.streams.keep(context);
        self.ticks += 1;
        if self.ticks.is_multiple_of(2) {
            self.say_alive(context);
            self.tell_standstill(now);
            self.state.stats.on_tick();
        }
        Ok(())
    }

    /// Looks at the streams, and at what both ends did.
    fn look(&mut self, context: &SessionContext) {
        let now = context.now();
        let spent = &self.state.queue.spent;
        self.mine = Some(self.reporter.report(spent, self.streams.count()));
        let left = self
            .state
            .is_all_added
            .then(|| Bytes::new(self.state.queue.left()));
        let (mine, theirs) = (self.mine, self.theirs);
        let look = self.streams.look(context, left, mine, theirs);
        if let Some((streams, why)) = look.steered {
            self.state.stats.on_steered(streams, why);
        }
        let again = self.streams.reassign_unconfirmed(now);
        let stats = &mut *self.state.stats;
        stats.outcome.sent_again += Bytes::new(again);
        let (binds, limited) = self.streams.limited();
        stats.on_limited(binds, limited);
        stats.on_streams(self.streams.count(), &look.seen, self.streams.unpacked());
        stats.on_activity(self.mine.as_ref(), self.theirs.as_ref());
    }

    /// Says what both ends wait for, where nothing happens.
    fn tell_standstill(&mut self, at: Time) {
        let written = self.state.queue.on_wire.load(Ordering::Relaxed);
        let Some(still) = self.state.stats.stalled(written) else {
            return;
        };
        let mine = self.mine.unwrap_or_default();
        let doing = waits_for(Part::Sends, &mine);
        let here = format!("{}, and {doing}", self.state.open_question());
        let silence = at.since(self.heard);
        let there = other_waits_for(Part::Receives, self.theirs.as_ref(), silence);
        self.state.stats.tell(&CopyEvent::Stalled {
            at,
            still,
            here,
            there,
        });
    }

    fn say_alive(&mut self, context: &SessionContext) {
        context.send(Message::Alive(self.mine.unwrap_or_default()));
        context.send(self.state.stats.sending());
    }
}

impl Role for Sender<'_, '_> {
    /// It is done with the receiver's last word, and the conversation with it.
    fn is_done(&self) -> bool {
        false
    }

    /// A receiver that has everything may read it again from its disk, and flush it, for hours;
    /// either end may read for hours where contents are compared.
    fn progress_timeout(&self) -> Option<Duration> {
        Some(match self.state.compares || self.state.has_nothing_left() {
            true => PUBLISHING_MAX,
            false => NO_PROGRESS_MAX,
        })
    }

    fn on(&mut self, event: Event, context: &SessionContext) -> Result<(), SessionEnd> {
        match event {
            Event::Message(message) => return self.on_message(message, context),
            Event::Joined(number, channel) => {
                let news = self.streams.on_joined(number, channel, context);
                self.state.stats.on_pair(self.streams.count(), news);
            }
            Event::NotJoined(number, why) => {
                let news = self.streams.on_not_joined(number, context, &why)?;
                self.state.stats.on_pair(self.streams.count(), news);
            }
            Event::StreamOver(number, end) => {
                let (bytes, news) = self.streams.on_over(number, &end, context.now());
                self.state.stats.outcome.sent_again += Bytes::new(bytes);
                self.state.stats.on_pair(self.streams.count(), news);
                self.streams.keep(context);
            }
            Event::FileRead(file) => self.state.on_file_read(file),
            Event::Failed(problem) => self.state.fail(problem, context),
            _ => (),
        }
        Ok(())
    }

    fn on_idle(&mut self, context: &SessionContext) -> Result<Duration, SessionEnd> {
        if self.ticks == 0 && self.state.told == 0 && !self.state.is_dry {
            self.follow(context);
            self.streams.keep(context);
        }
        let has_more = self.state.on_idle(context, BATCH);
        self.tick(context)?;
        Ok(match has_more {
            true => Duration::ZERO,
            false => self.streams.next_look(context.now()),
        })
    }
}

impl Drop for Sender<'_, '_> {
    fn drop(&mut self) {
        self.state.queue.close();
        self.streams.shut_down();
        let load = |counter: &AtomicU64| Bytes::new(counter.load(Ordering::Relaxed));
        let outcome = &mut self.state.stats.outcome;
        outcome.sent += load(&self.state.queue.arrived);
        outcome.holes += load(&self.state.queue.holes);
        outcome.unchanged += load(&self.state.queue.unchanged);
        outcome.on_wire += load(&self.state.queue.on_wire);
        outcome.sent_again += load(&self.state.queue.repeated);
        outcome.streams_replaced += self.streams.replaced;
    }
}
