//! The streams of one session: made, steered while they run, replaced where they break.

use std::collections::BTreeMap;
use std::io::{self, ErrorKind, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::SyncSender;
use std::thread;

use copy_net::{Channel, IncomingStreams, StreamDialer};
use copy_protocol::CopyOptions;
use copy_protocol::pipe::{BLOCK_HEADER_LENGTH, BlockHeader, STREAMS_MAX};
use observe::{StreamCount, TcpSample, Window};
use sockets::options::StreamOptions;
use steer::online::{Interval, Meter, Online, OnlinePlan, RateMax, SetBy};
use units::{Bytes, Rate, Span, Time};

use super::events::Event;
use super::incoming::Incoming;
use super::outgoing::{Next, Outgoing};
use super::side::Data;
use crate::activity::{Reporter, Stopwatch, TimeSpent, Waiting};
use crate::preconnect::{PendingConnection, Preconnected};
use crate::remote::Flow;
use crate::sender::piece_size::PieceSize;
use crate::sender::stream_control::StreamControl;

/// A stream whose data is not acknowledged for so long is broken.
const USER_TIMEOUT: Span = Span::from_secs(30);
/// Unsent bytes in the kernel until the rate of a stream is known.
const UNSENT_MAX: Bytes = Bytes::from_kib(128);
/// After a stream that could not be made the next ones wait, longer each time up to 64 times this.
const PAUSE: Span = Span::from_millis(250);
/// When no stream at all can be made for so long, there will be none.
const FAILING_MAX: Span = Span::from_secs(30);
/// A question that brought no stream is asked again after this.
const ASK_AGAIN: Span = Span::from_secs(2);
/// Streams whose threads mostly wait for something to send say nothing of the path.
const IDLE: f64 = 0.5;

/// Where streams come from.
pub(crate) enum Origin {
    /// This end connects them.
    Dial {
        /// Knows where to.
        dialer: Box<StreamDialer>,
        /// What every stream says first.
        session: u64,
        /// Connections that were made ahead.
        preconnected: Preconnected,
    },
    /// They come by themselves.
    Arrive(Arc<IncomingStreams>),
}

impl Origin {
    /// Streams that come by themselves.
    pub(super) fn arrivals(&self) -> Option<Arc<IncomingStreams>> {
        match self {
            Origin::Arrive(streams) => Some(Arc::clone(streams)),
            Origin::Dial { .. } => None,
        }
    }
}

/// By what the sender's streams are steered.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Steering {
    /// This many and no search.
    pub streams: Option<StreamCount>,
    /// The bound on the rate, which is kept where the input is read.
    pub rate_max: Option<Rate>,
    /// Round trip of the handshake.
    pub rtt: Option<Span>,
}

/// What the threads of streams share.
#[derive(Clone)]
pub(super) struct Shared {
    pub data: Data,
    pub report: SyncSender<Event>,
    pub is_over: Arc<AtomicBool>,
    /// What a server allows.
    pub flow: Option<Arc<Flow>>,
    pub spent: Arc<TimeSpent>,
}

/// The streams of one session.
pub(super) struct Lanes {
    origin: Origin,
    shared: Shared,
    options: StreamOptions,
    lanes: BTreeMap<u32, Lane>,
    next: u32,
    coming: u16,
    target: u16,
    asked: Option<(u16, Time)>,
    failures: u32,
    failing_since: Option<Time>,
    not_before: Time,
    steering: Steering,
    online: Online,
    meter: Meter,
    reporter: Reporter,
    last: Time,
}

struct Lane {
    control: StreamControl,
}

impl Steering {
    /// What the streams are steered by.
    pub fn online(&self) -> Online {
        Online::new(OnlinePlan {
            objective: CopyOptions::KNEE,
            streams: self.streams,
            rtt: self.rtt,
            ..OnlinePlan::default()
        })
    }
}

/// How the sockets of streams are set.
pub(super) fn stream_options() -> StreamOptions {
    StreamOptions {
        no_delay: true,
        user_timeout: Some(USER_TIMEOUT),
        unsent_max: Some(UNSENT_MAX),
        ..StreamOptions::default()
    }
}

impl Lanes {
    pub fn new(origin: Origin, shared: Shared, steering: Steering, now: Time) -> Self {
        let options = stream_options();
        if let Origin::Arrive(streams) = &origin {
            streams.set_options(options.clone());
        }
        let online = steering.online();
        Lanes {
            target: match shared.data {
                Data::Sends(_) => online.streams().get(),
                Data::Receives(_) => 0,
            },
            origin,
            shared,
            options,
            lanes: BTreeMap::new(),
            next: 0,
            coming: 0,
            asked: None,
            failures: 0,
            failing_since: None,
            not_before: Time::ZERO,
            steering,
            online,
            meter: Meter::default(),
            reporter: Reporter::start(),
            last: now,
        }
    }

    /// How many there are.
    pub fn count(&self) -> u16 {
        u16::try_from(self.lanes.len()).unwrap_or(u16::MAX)
    }

    /// Without those that end.
    fn staying(&self) -> u16 {
        let staying = self.lanes.values();
        let staying = staying.filter(|lane| !lane.control.is_leaving);
        u16::try_from(staying.count()).unwrap_or(u16::MAX)
    }

    /// The sender at the other end wants so many.
    pub fn want(&mut self, streams: u16) {
        self.target = streams.clamp(1, STREAMS_MAX);
    }

    /// Makes those that are missing. Returns how many to ask the other end for, where that makes
    /// them and is to be asked now.
    pub fn grow(&mut self, now: Time) -> Option<u16> {
        self.leave_surplus();
        let there = self.staying();
        match &mut self.origin {
            Origin::Arrive(_) => {
                let is_new = |(asked, at): (u16, Time)| {
                    asked != self.target || there < self.target && now.since(at) > ASK_AGAIN
                };
                if self.target == 0 || !self.asked.is_none_or(is_new) {
                    return None;
                }
                self.asked = Some((self.target, now));
                Some(self.target)
            }
            Origin::Dial { .. } if now < self.not_before => None,
            Origin::Dial {
                dialer,
                session,
                preconnected,
            } => {
                for _ in there + self.coming..self.target {
                    let pending = preconnected.take();
                    let dial = (**dialer).clone();
                    let (session, number, options) = (*session, self.next, self.options.clone());
                    let report = self.shared.report.clone();
                    thread::spawn(move || {
                        let made = pending.and_then(PendingConnection::join);
                        let greeted = made.and_then(|raw| dial.greet(raw, session, number).ok());
                        let connect = || dial.stream(session, number, &options, false);
                        let event = match greeted.map_or_else(connect, Ok) {
                            Ok(channel) => Event::Joined(number, channel),
                            Err(error) => Event::NotJoined(error.to_string()),
                        };
                        // After the end of the session nothing takes this.
                        let _ = report.send(event);
                    });
                    self.next += 1;
                    self.coming += 1;
                }
                if self.target > 0 {
                    preconnected.clear();
                }
                None
            }
        }
    }

    /// The sender ends those that are too many, and those that the receiver or a fault on the way
    /// has closed: a thread that waits for a block would not notice.
    fn leave_surplus(&mut self) {
        let Data::Sends(outgoing) = &self.shared.data else {
            return;
        };
        let mut staying = 0;
        for (number, Lane { control }) in &mut self.lanes {
            if control.is_leaving {
                continue;
            }
            if staying < self.target && !control.handle.is_let_go() {
                staying += 1;
                continue;
            }
            control.is_leaving = true;
            outgoing.leave(*number);
        }
    }

    /// One came; one too many is closed.
    pub fn on_joined(&mut self, number: u32, channel: Channel) {
        self.coming = self.coming.saturating_sub(1);
        (self.failures, self.failing_since) = (0, None);
        let handle = channel.handle();
        if self.count() >= STREAMS_MAX || self.lanes.contains_key(&number) {
            return handle.shut_down();
        }
        tracing::debug!(stream = number, "joined");
        let control = StreamControl::new(handle, PieceSize::default());
        self.lanes.insert(number, Lane { control });
        let shared = self.shared.clone();
        thread::spawn(move || shared.carry(number, channel));
    }

    /// One did not come.
    ///
    /// # Errors
    /// When none has come for long.
    pub fn on_not_joined(&mut self, now: Time, why: &str) -> Result<(), String> {
        self.coming = self.coming.saturating_sub(1);
        let since = *self.failing_since.get_or_insert(now);
        if !self.lanes.is_empty() {
            // Those that are there carry on.
            self.failing_since = None;
        } else if now.since(since) > FAILING_MAX {
            return Err(format!("no stream can be connected: {why}"));
        }
        let pause = PAUSE.times(1 << self.failures.min(6));
        tracing::warn!(why, %pause, "a stream cannot be connected");
        self.failures += 1;
        self.not_before = now + pause;
        Ok(())
    }

    /// One is over.
    pub fn on_over(&mut self, number: u32, end: &Result<(), String>) {
        tracing::debug!(stream = number, ?end, "over");
        self.lanes.remove(&number);
        self.asked = None;
        if let (Data::Sends(outgoing), Err(_)) = (&self.shared.data, end) {
            outgoing.on_lost(number);
        }
    }

    /// Looks at all of them, at the sender: replaces those that hang, and asks how many there
    /// should be. Returns that where it changes, with the reason.
    pub fn look(&mut self, now: Time) -> Option<(u16, String)> {
        let samples = self.samples(now);
        let length = now.since(self.last);
        self.last = now;
        self.cut_stalled(now, length, &samples);
        let seen = self.meter.read(samples);
        let sender = self.reporter.report(&self.shared.spent, self.count());
        let interval = Interval {
            length,
            streams: seen,
            rate_max: self.steering.rate_max.map(|rate| RateMax {
                rate,
                set_by: SetBy::User,
            }),
            is_one_host: self.is_one_host(),
            transport: self.transport(),
            sender: Some(sender),
            ..Interval::default()
        };
        let is_idle = sender.shares().is_none_or(|shares| shares.idle >= IDLE);
        if is_idle {
            return None;
        }
        let steer = self.online.on_interval(&interval)?;
        self.target = steer.streams.get();
        self.options.window = match steer.window {
            Window::Auto => None,
            Window::Fixed(bytes) => Some(bytes),
        };
        Some((self.target, steer.why))
    }

    fn samples(&self, now: Time) -> Vec<(u32, TcpSample)> {
        let sample =
            |(number, lane): (&u32, &Lane)| Some((*number, lane.control.handle.sample(now).ok()?));
        self.lanes.iter().filter_map(sample).collect()
    }

    fn cut_stalled(&mut self, now: Time, over: Span, samples: &[(u32, TcpSample)]) {
        let mut newest = Time::ZERO;
        for (number, sample) in samples {
            if let Some(Lane { control }) = self.lanes.get_mut(number) {
                control.on_acked(sample.bytes_acked.unwrap_or(Bytes::ZERO), over);
                control.stall.on_sample(now, sample);
                newest = newest.max(control.stall.last_moved());
            }
        }
        // Where one alone owes something, all wait for it, and none moves.
        let owes = |sample: &TcpSample| sample.unacked_segments.unwrap_or(0) > 0;
        let owing = samples.iter().filter(|(_, sample)| owes(sample)).count();
        if owing == 1 && samples.len() > 1 {
            newest = now;
        }
        for (number, sample) in samples {
            if let Some(Lane { control }) = self.lanes.get(number)
                && control.stall.is_stalled(now, newest, sample.rtt)
            {
                control.handle.shut_down();
            }
        }
    }

    fn transport(&self) -> observe::Transport {
        let any = self.lanes.values().next();
        any.map(|lane| lane.control.handle.transport())
            .unwrap_or_default()
    }

    fn is_one_host(&self) -> bool {
        let ends = |lane: &Lane| {
            let handle = &lane.control.handle;
            Some((handle.local().ok()?.ip(), handle.peer().ok()?.ip()))
        };
        let mut all = self.lanes.values().filter_map(ends);
        all.next().is_some_and(|(local, peer)| local == peer)
    }

    /// Ends all of them.
    pub fn shut_down(&self) {
        let all = self.lanes.values();
        all.for_each(|lane| lane.control.handle.shut_down());
    }
}

impl Shared {
    /// The work of one stream's thread.
    fn carry(self, number: u32, mut channel: Channel) {
        let event = match &self.data {
            Data::Sends(outgoing) => {
                let sent = self.send(number, &mut channel, outgoing);
                Event::StreamOver(number, sent.map_err(|error| error.to_string()))
            }
            Data::Receives(incoming) => match self.receive(&mut channel, incoming) {
                Ok(()) => Event::StreamOver(number, Ok(())),
                Err(End::Lost(error)) => Event::StreamOver(number, Err(error.to_string())),
                Err(End::Broken(why)) => Event::Broken(why),
            },
        };
        channel.handle().shut_down();
        // After the end of the session nothing takes this.
        let _ = self.report.send(event);
    }

    fn send(&self, number: u32, channel: &mut Channel, outgoing: &Outgoing) -> io::Result<()> {
        let mut stopwatch = Stopwatch::start();
        let is_over = || self.is_over.load(Ordering::Relaxed);
        loop {
            let next = || outgoing.next(number, &self.is_over);
            match self.spent.during(&mut stopwatch, Waiting::Work, next) {
                Next::Block(header, bytes) => {
                    if let Some(flow) = &self.flow {
                        flow.on_moved(bytes.len(), &is_over);
                    }
                    let write = || channel.write_parts(&[&header.encode(), &bytes]);
                    self.spent.during(&mut stopwatch, Waiting::Network, write)?;
                    self.spent.count(header.length.into());
                }
                Next::Leave => {
                    channel.finish()?;
                    return until_closed(channel);
                }
                Next::Over => return Ok(()),
            }
        }
    }

    fn receive(&self, channel: &mut Channel, incoming: &Incoming) -> Result<(), End> {
        let is_over = || self.is_over.load(Ordering::Relaxed);
        let mut head = [0; BLOCK_HEADER_LENGTH];
        while read_head(channel, &mut head)? {
            let broken = |error: copy_protocol::pipe::PipeViolation| End::Broken(error.to_string());
            let header = BlockHeader::decode(&head).map_err(broken)?;
            incoming.check(header).map_err(broken)?;
            let mut bytes = vec![0; header.length as usize];
            channel.read_exact(&mut bytes).map_err(End::Lost)?;
            if let Some(flow) = &self.flow {
                flow.on_moved(bytes.len(), &is_over);
            }
            incoming.offer(header.offset, bytes).map_err(broken)?;
        }
        // The sender waits for this to know that all has arrived.
        channel.finish().map_err(End::Lost)
    }
}

/// Why a stream ends.
enum End {
    Lost(io::Error),
    Broken(String),
}

/// Reads a header; `false` at the clean end of the stream.
fn read_head(channel: &mut Channel, head: &mut [u8]) -> Result<bool, End> {
    let mut got = 0;
    while let Some(room) = head.get_mut(got..)
        && !room.is_empty()
    {
        match channel.read(room) {
            Ok(0) if got == 0 => return Ok(false),
            Ok(0) => return Err(End::Lost(ErrorKind::UnexpectedEof.into())),
            Ok(read) => got += read,
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(End::Lost(error)),
        }
    }
    Ok(true)
}

/// Waits until the receiver has read all of a stream and closes its side.
fn until_closed(channel: &mut Channel) -> io::Result<()> {
    match channel.read(&mut [0; 16]) {
        Ok(0) => Ok(()),
        Ok(_) => Err(io::Error::other("the receiver wrote to a stream")),
        Err(error) => Err(error),
    }
}
