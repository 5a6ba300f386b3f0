//! The connections of a copy over SFTP: how many there are, and what they tell.
//!
//! Their number is steered as that of a copy's streams is. A connection that dies gives its jobs
//! back and is made again; where the last one dies the far end is lost.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicU16, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::thread::{Scope, ScopedJoinHandle};
use std::time::{Duration, Instant};

use copy_net::SftpChannel;
use copy_protocol::{CopyEvent, FileId, SFTP_CONNECTIONS_MAX};
use observe::StreamCount;
use steer::online::{Interval, Online, OnlinePlan, RateMax, Streams};
use units::{Bytes, Span};

use super::early::EarlyDials;
use super::handles::Handles;
use super::item::Item;
use super::shared::{Note, Shared, Side};
use super::talk::Halt;
use super::worker::Worker;
use crate::copy_stats::CopyStats;
use crate::session::Event;

/// Connections to begin with, where there is enough to do.
pub(super) const FIRST: u64 = 4;
/// Between two looks at what happened.
const TICK: Duration = Duration::from_millis(20);
const STEER: Duration = Duration::from_millis(250);
const TELL: Duration = Duration::from_millis(500);
/// Connections that are made at the same time.
const DIALS_MAX: usize = 4;
/// Before a connection is made again.
const AGAIN_PAUSE: Duration = Duration::from_millis(500);
/// Connections that could not be made, one after the other, before no more are tried.
const REFUSALS_MAX: u32 = 4;
/// A copy that ends sooner is over before another connection brings anything.
const PAYS_AFTER: Duration = Duration::from_secs(6);
/// A connection for less than this costs more than it brings.
const EACH_BYTES: u64 = 2 << 20;
const EACH_FILES: u64 = 16;

/// Runs the connections.
pub(super) struct Crew<'a, 'o> {
    pub stats: &'a mut CopyStats<'o>,
    pub shared: &'a Shared,
    pub early: &'a EarlyDials,
    /// Files that have no name yet.
    pub unfinished: BTreeMap<FileId, Arc<Item>>,
    most: u16,
    online: Online,
    is_fixed: bool,
    rtt: Span,
    /// Numbers of connections that carry data, and of those that are being made.
    joined: u16,
    numbers: BTreeSet<u16>,
    refusals: u32,
    next_dial: Instant,
    moved: u64,
    steered: Instant,
    told: Instant,
}

type Hands<'scope> = Vec<ScopedJoinHandle<'scope, Option<SftpChannel>>>;

impl<'a, 'o> Crew<'a, 'o> {
    /// * `streams`: so many, without a search.
    pub fn new(
        stats: &'a mut CopyStats<'o>,
        shared: &'a Shared,
        early: &'a EarlyDials,
        unfinished: BTreeMap<FileId, Arc<Item>>,
        plan: OnlinePlan,
    ) -> Self {
        let now = Instant::now();
        let sizes = unfinished.values().map(|item| item.size);
        let bytes = sizes.fold(0, u64::saturating_add);
        let files = unfinished.len() as u64;
        let useful = (bytes / EACH_BYTES + files / EACH_FILES + 1).min(SFTP_CONNECTIONS_MAX.into());
        let useful = StreamCount::new(useful).unwrap_or(StreamCount::ONE);
        let rtt = plan.rtt.unwrap_or(Span::ZERO);
        let first = StreamCount::new(FIRST).ok();
        let is_fixed = plan.streams.is_some();
        let online = Online::new(OnlinePlan {
            found: first.map(|first| first.min(useful)),
            streams_max: useful,
            streams: plan.streams.map(|fixed| fixed.min(useful)),
            remembered: None,
            ..plan
        });
        Crew {
            stats,
            shared,
            early,
            unfinished,
            most: useful.get(),
            is_fixed,
            online,
            rtt,
            joined: 0,
            numbers: BTreeSet::new(),
            refusals: 0,
            next_dial: now,
            moved: 0,
            steered: now,
            told: now,
        }
    }

    /// Until all files have their names or failed. Returns a connection that is left.
    ///
    /// * `first`: a connection that is there, and what is open on it.
    /// * `events`: of the thread that names files here.
    pub fn run(
        mut self,
        (first, handles): (SftpChannel, Handles),
        notes: &Receiver<Note>,
        events: Option<&Receiver<Event>>,
    ) -> Result<Option<SftpChannel>, Halt> {
        if self.unfinished.is_empty() {
            return Ok(Some(first));
        }
        let wanted = AtomicU16::new(self.online.streams().get());
        let (ended, left) = std::thread::scope(|scope| {
            let mut hands: Hands<'_> = Vec::new();
            let (shared, wanted) = (self.shared, &wanted);
            self.numbers.insert(0);
            self.joined = 1;
            hands.push(
                scope.spawn(move || Worker::new(first, Some(handles), shared).run(0, wanted)),
            );
            let ended = self.rule(scope, wanted, &mut hands, notes, events);
            self.shared.is_over.store(true, Ordering::Relaxed);
            let channels = hands.into_iter().map(|hand| hand.join().ok().flatten());
            let left = channels.fold(None, |left, one| left.or(one));
            (ended, left)
        });
        while let Ok(note) = notes.try_recv() {
            // What was done in the last moment counts.
            if matches!(note, Note::Published(..) | Note::Arrived(_)) {
                self.on_note(note)?;
            }
        }
        self.stats.outcome.on_wire += Bytes::new(self.shared.moved.load(Ordering::Relaxed));
        ended.map(|()| left)
    }

    fn rule<'scope, 'env>(
        &mut self,
        scope: &'scope Scope<'scope, 'env>,
        wanted: &'scope AtomicU16,
        hands: &mut Hands<'scope>,
        notes: &Receiver<Note>,
        events: Option<&Receiver<Event>>,
    ) -> Result<(), Halt>
    where
        'a: 'scope,
    {
        self.tell_start();
        while !self.unfinished.is_empty() {
            if self.stats.is_stopped() {
                return Err(Halt::Stopped);
            }
            match notes.recv_timeout(TICK) {
                Ok(note) => self.on_note(note)?,
                Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => {}
            }
            while let Ok(note) = notes.try_recv() {
                self.on_note(note)?;
            }
            while let Some(Ok(event)) = events.map(Receiver::try_recv) {
                self.on_event(event)?;
            }
            self.steer(wanted);
            self.dial(scope, wanted, hands);
        }
        Ok(())
    }

    fn on_note(&mut self, note: Note) -> Result<(), Halt> {
        match note {
            Note::Joined => {
                self.joined += 1;
                self.refusals = 0;
            }
            Note::NotJoined(number, halt) => {
                self.numbers.remove(&number);
                return self.not_joined(halt);
            }
            Note::Left(number, halt) => {
                self.numbers.remove(&number);
                self.joined = self.joined.saturating_sub(1);
                return self.left(halt);
            }
            Note::Arrived(bytes) => {
                self.stats.on_arrived(bytes);
                self.stats.outcome.sent += Bytes::new(bytes);
            }
            Note::Again(bytes) => self.stats.outcome.sent_again += Bytes::new(bytes),
            Note::Published(id, digest) => self.published(id, digest),
            Note::Failed(id, problem) => {
                if let Some(item) = self.unfinished.remove(&id) {
                    self.stats.on_failed(Some(&item.entry), problem);
                }
            }
            Note::Fatal(problem) => return Err(Halt::Problem(problem)),
        }
        Ok(())
    }

    fn published(&mut self, id: FileId, digest: [u8; 32]) {
        if let Some(item) = self.unfinished.remove(&id) {
            item.end();
            self.stats.on_published(&item.entry, Some(digest));
        }
    }

    fn on_event(&mut self, event: Event) -> Result<(), Halt> {
        match event {
            Event::Published(id, digest) => self.published(id, digest),
            Event::Failed(problem) => {
                let file = problem
                    .file
                    .and_then(|id| self.unfinished.get(&id).cloned());
                match file {
                    Some(item) => self.shared.fail(&item, problem),
                    None => return Err(Halt::Problem(problem)),
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// Others that are there do the work; what refuses them once may let them in later.
    fn not_joined(&mut self, halt: Halt) -> Result<(), Halt> {
        self.refusals += 1;
        self.next_dial = Instant::now() + AGAIN_PAUSE * 2_u32.pow(self.refusals.min(6));
        if self.joined == 0 && self.numbers.is_empty() {
            return Err(halt);
        }
        let why = match halt {
            Halt::Lost(why) => why,
            Halt::Problem(problem) => problem.what,
            Halt::Stopped => return Ok(()),
        };
        // Where a password is needed for each, asking again would only be noted there.
        let is_final = self.refusals >= REFUSALS_MAX || why.contains("Permission denied");
        if is_final && self.joined > 0 && self.most > self.joined {
            self.most = self.joined;
            self.stats.on_steered(
                self.joined,
                format!("no more connections are let in: {why}"),
            );
        }
        Ok(())
    }

    fn left(&mut self, halt: Option<Halt>) -> Result<(), Halt> {
        match halt {
            None => Ok(()),
            Some(Halt::Lost(why)) if self.joined > 0 || !self.numbers.is_empty() => {
                tracing::warn!(why, "a connection is lost, and others go on");
                self.stats.outcome.streams_replaced += 1;
                self.next_dial = Instant::now() + AGAIN_PAUSE;
                Ok(())
            }
            Some(halt) => Err(halt),
        }
    }

    fn tell_start(&mut self) {
        let streams = self.online.streams().get();
        let why = match self.is_fixed {
            true => "asked for",
            false => "a first guess for connections over SFTP",
        };
        self.stats.on_steered(streams, why.to_owned());
    }

    fn steer(&mut self, wanted: &AtomicU16) {
        let length = self.steered.elapsed();
        if length < STEER {
            return;
        }
        self.steered = Instant::now();
        if let Some(rate) = self.stats.new_rate_max() {
            self.shared.throttle.set(rate);
        }
        if let Some(fixed) = self.stats.new_streams() {
            self.online.fix(fixed);
        }
        let moved = self.shared.moved.load(Ordering::Relaxed);
        let streams = Streams {
            count: self.joined,
            arrived: Bytes::new(moved.saturating_sub(self.moved)),
            rtt: Some(self.rtt),
            rtt_min: Some(self.rtt),
            ..Streams::default()
        };
        self.moved = moved;
        if self.may_judge(streams.arrived, length) {
            let steered = self.online.on_interval(&Interval {
                length: length.into(),
                streams,
                left: Some(self.left_bytes()),
                rate_max: RateMax::lower(self.shared.control.rate_max(), None),
                ..Interval::default()
            });
            if let Some(steer) = steered {
                self.stats.on_steered(steer.streams.get(), steer.why);
            }
        }
        let most = self.online.streams().get().min(self.most);
        wanted.store(most.max(1), Ordering::Relaxed);
        self.stats.on_streams(self.joined, &streams, 1.0);
        if self.told.elapsed() >= TELL {
            self.told = Instant::now();
            self.tell(moved);
        }
    }

    /// Whether what happened is that of as many connections as are wanted, and there is time for
    /// another one to bring something.
    fn may_judge(&self, arrived: Bytes, length: Duration) -> bool {
        let wanted = self.online.streams().get().min(self.most);
        let pays = arrived.as_f64() * PAYS_AFTER.as_secs_f64() / length.as_secs_f64();
        self.joined >= wanted && self.left_bytes().as_f64() > pays
    }

    fn tell(&mut self, moved: u64) {
        self.stats.on_tick();
        if let Some(still) = self.stats.stalled(moved) {
            let at = self.stats.now();
            let count = self.unfinished.len();
            self.stats.tell(&CopyEvent::Stalled {
                at,
                still,
                here: format!("lacks replies, with {count} files to go"),
                there: "is an SFTP server, which says nothing of itself".to_owned(),
            });
        }
        if let Side::Get(get) = &self.shared.side {
            get.publisher.hurry(self.shared.work.is_empty());
        }
    }

    fn left_bytes(&self) -> Bytes {
        // All of more files take too long to add up: the others are as the first ones.
        const ADDED: usize = 1_000;
        let missing = |item: &Arc<Item>| item.size.saturating_sub(item.present());
        let missing = self.unfinished.values().take(ADDED).map(missing);
        let added = missing.fold(0, u64::saturating_add);
        let times = self.unfinished.len().div_ceil(ADDED) as u64;
        Bytes::new(added.saturating_mul(times))
    }

    /// Makes a connection where one is missing.
    fn dial<'scope, 'env>(
        &mut self,
        scope: &'scope Scope<'scope, 'env>,
        wanted: &'scope AtomicU16,
        hands: &mut Hands<'scope>,
    ) where
        'a: 'scope,
    {
        // Those that are being made show whether the far end is still there.
        if self.joined == 0 && !self.numbers.is_empty() {
            return;
        }
        let target = wanted.load(Ordering::Relaxed).min(self.most.max(1));
        // More at once than those that may log in together would be refused.
        let together = usize::from(self.joined) + DIALS_MAX;
        let most = usize::from(target).min(together);
        while Instant::now() >= self.next_dial && self.numbers.len() < most {
            let Some(number) = (0..target).find(|number| !self.numbers.contains(number)) else {
                return;
            };
            self.numbers.insert(number);
            let (shared, early) = (self.shared, self.early);
            hands.push(scope.spawn(move || serve(early, shared, number, wanted)));
        }
    }
}

/// Makes a connection, and works on it.
fn serve(
    early: &EarlyDials,
    shared: &Shared,
    number: u16,
    wanted: &AtomicU16,
) -> Option<SftpChannel> {
    match early.next(&|| shared.is_over()) {
        Ok(channel) => {
            shared.tell(Note::Joined);
            Worker::new(channel, None, shared).run(number, wanted)
        }
        Err(error) => {
            shared.tell(Note::NotJoined(number, error.into()));
            None
        }
    }
}
