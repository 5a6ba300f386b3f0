//! The end that has the data: announces entries, and has the streams send what is wanted.
//!
//! Reading order: `state` and `entries` for what is decided, this file for what leads it on
//! threads, `work` for what the streams share, `stream` for one of them and `outgoing` for what it
//! sends, `streams` for all of them, `wish` and `line` for what is known of each, `findings`,
//! `stall`, `quiet`.

mod entries;
mod findings;
mod line;
mod outgoing;
mod packing;
mod quiet;
mod stall;
pub(crate) mod state;
pub(crate) mod stream;
mod streams;
pub(crate) mod wish;
pub(crate) mod work;

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use units::{Bytes, Rate, Span, Time};
use wire::copying::{Activity, Message, Opening};

use self::quiet::Quiet;
use self::state::SenderState;
use self::streams::Streams;
use self::work::Work;
use crate::activity::{Reporter, for_tuner};
use crate::chronicle::Chronicle;
use crate::lines::Roster;
use crate::session::{Desk, End, Happening, NO_PROGRESS_MAX, Role, Voice};
use crate::source::Source;

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
    reporter: Reporter,
    mine: Option<Activity>,
    theirs: Option<Activity>,
    last: Time,
    ticks: u32,
    quiet: Quiet,
}

/// What a sender needs to begin.
pub(crate) struct Sending {
    /// Where the files are.
    pub source: Arc<Source>,
    /// Where streams come from.
    pub roster: Roster,
    /// The receiver has nothing yet.
    pub is_fresh: bool,
    /// Smallest round trip of the handshake.
    pub rtt: Option<Span>,
}

impl<'a, 'o> Sender<'a, 'o> {
    pub(crate) fn new(
        chronicle: &'a mut Chronicle<'o>,
        opening: &Opening,
        sending: Sending,
    ) -> Self {
        let rate_max = opening
            .rate_max_bits_per_second
            .map(Rate::from_bits_per_second);
        let is_gentle = opening.gentle_nanoseconds.is_some();
        let work = Arc::new(Work::new(rate_max, is_gentle));
        let source = sending.source;
        let streams = Streams::new(
            sending.roster,
            Arc::clone(&work),
            Arc::clone(&source),
            opening,
            sending.rtt,
            chronicle.now(),
        );
        let now = chronicle.now();
        let state = SenderState::new(chronicle, opening, source, work, sending.is_fresh);
        Sender {
            state,
            streams,
            reporter: Reporter::start(),
            mine: None,
            theirs: None,
            last: now,
            ticks: 0,
            quiet: Quiet::default(),
        }
    }

    fn on_message(&mut self, message: Message, desk: &Desk) -> Result<(), End> {
        match message {
            Message::Alive(activity) => self.theirs = Some(activity),
            Message::Complete => {
                if !self.state.is_dry {
                    self.look(desk);
                }
                return self.state.on_message(Message::Complete, desk);
            }
            Message::RateMax(rate) => {
                self.set_rate_max(rate.map(Rate::from_bits_per_second), desk.now());
            }
            other => return self.state.on_message(other, desk),
        }
        Ok(())
    }

    /// Another bound on the rate of all streams together.
    fn set_rate_max(&mut self, rate: Option<Rate>, now: Time) {
        self.streams.set_rate_max(rate, now);
    }

    fn tick(&mut self, desk: &Desk) -> Result<(), End> {
        let now = desk.now();
        if let Some(streams) = self.streams.give_way(now) {
            let why = "their own windows keep those that are there from the rate that is free";
            self.state.chronicle.on_steered(streams, why.to_owned());
        }
        if let Some(rate) = self.state.chronicle.wished_rate() {
            self.set_rate_max(rate, now);
        }
        if now.since(self.last) < TICK {
            return Ok(());
        }
        self.last = now;
        if self.state.is_dry {
            self.say_alive(desk);
            return Ok(());
        }
        let written = self.state.work.on_wire.load(Ordering::Relaxed);
        let rate_max = self.streams.rate_max();
        if self
            .quiet
            .is_too_long(now, self.state.work.left(), written, rate_max)
        {
            return Err(End::Lost(quiet::text()));
        }
        self.look(desk);
        self.streams.keep(desk);
        self.ticks += 1;
        if self.ticks.is_multiple_of(2) {
            self.say_alive(desk);
            self.state.chronicle.on_tick();
        }
        Ok(())
    }

    /// Looks at the streams, and at what both ends did.
    fn look(&mut self, desk: &Desk) {
        let now = desk.now();
        let spent = &self.state.work.spent;
        self.mine = Some(self.reporter.report(spent, self.streams.count()));
        let left = self
            .state
            .is_all_added
            .then(|| Bytes::new(self.state.work.left()));
        let (mine, theirs) = (
            self.mine.as_ref().map(for_tuner),
            self.theirs.as_ref().map(for_tuner),
        );
        let look = self.streams.look(desk, left, mine, theirs);
        if let Some((streams, why)) = look.steered {
            self.state.chronicle.on_steered(streams, why);
        }
        let again = self.streams.settle(now);
        let chronicle = &mut *self.state.chronicle;
        chronicle.outcome.sent_again += Bytes::new(again);
        let (binds, limited) = self.streams.limited();
        chronicle.on_limited(binds, limited);
        chronicle.on_streams(self.streams.count(), &look.seen);
    }

    fn say_alive(&mut self, desk: &Desk) {
        desk.say(Message::Alive(self.mine.unwrap_or_default()));
        desk.say(self.state.chronicle.sending());
    }
}

impl Role for Sender<'_, '_> {
    /// It is done with the receiver's last word, and the conversation with it.
    fn is_done(&self) -> bool {
        false
    }

    /// A receiver that has everything may read it again from its disk, and flush it, for hours;
    /// either end may read for hours where contents are compared.
    fn patience(&self) -> Option<Duration> {
        Some(match self.state.compares || self.state.has_nothing_left() {
            true => PUBLISHING_MAX,
            false => NO_PROGRESS_MAX,
        })
    }

    fn on(&mut self, happening: Happening, desk: &Desk) -> Result<(), End> {
        match happening {
            Happening::Message(message) => return self.on_message(message, desk),
            Happening::Joined(number, channel) => self.streams.on_joined(number, channel, desk),
            Happening::NotJoined(why) => return self.streams.on_not_joined(desk, &why),
            Happening::StreamOver(number, end) => {
                let bytes = self.streams.on_over(number, &end, desk.now());
                self.state.chronicle.outcome.sent_again += Bytes::new(bytes);
                self.streams.keep(desk);
            }
            Happening::FileRead(file) => self.state.on_file_read(file),
            Happening::Failed(problem) => self.state.fail(problem, desk),
            _ => (),
        }
        Ok(())
    }

    fn on_quiet(&mut self, desk: &Desk) -> Result<Duration, End> {
        if self.ticks == 0 && self.state.told == 0 && !self.state.is_dry {
            self.streams.keep(desk);
        }
        let has_more = self.state.on_quiet(desk, BATCH);
        self.tick(desk)?;
        Ok(match has_more {
            true => Duration::ZERO,
            false => self.streams.patience(desk.now()),
        })
    }
}

impl Drop for Sender<'_, '_> {
    fn drop(&mut self) {
        self.state.work.close();
        self.streams.shut_down();
        let load =
            |counter: &std::sync::atomic::AtomicU64| Bytes::new(counter.load(Ordering::Relaxed));
        let outcome = &mut self.state.chronicle.outcome;
        outcome.sent += load(&self.state.work.sent);
        outcome.holes += load(&self.state.work.holes);
        outcome.on_wire += load(&self.state.work.on_wire);
        outcome.sent_again += load(&self.state.work.repeated);
        outcome.streams_replaced += self.streams.replaced;
    }
}
