//! One connection, as its reading, writing, watching threads and the driver of its socket share it.

use std::io::{self, ErrorKind};
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use bytes::Bytes as Chunk;
use nix::sys::eventfd::{EfdFlags, EventFd};
use observe::TcpSample;
use quinn_proto::{ConnectionError, Dir, StreamId, VarInt};
use units::{Bytes, Rate, Span, Time};

use crate::config::{WINDOW_FIRST, WINDOW_MAX};
use crate::controller::PathState;

/// How a connection is closed: all was said and heard, or not.
const CLOSED_WELL: u32 = 0;
const CLOSED_EARLY: u32 = 1;

/// Wakes the thread of a socket for some of its connections.
#[derive(Debug)]
pub(crate) struct Wakeup {
    event: EventFd,
    woken: Mutex<Vec<usize>>,
}

impl Wakeup {
    pub fn new() -> io::Result<Self> {
        let flags = EfdFlags::EFD_NONBLOCK | EfdFlags::EFD_CLOEXEC;
        Ok(Wakeup {
            event: EventFd::from_value_and_flags(0, flags)?,
            woken: Mutex::default(),
        })
    }

    pub fn event(&self) -> &EventFd {
        &self.event
    }

    fn wake(&self, number: usize) {
        lock(&self.woken).push(number);
        // A counter that is full has woken it already.
        let _ = self.event.write(1);
    }

    /// The connections for which it was woken.
    pub fn take(&self) -> Vec<usize> {
        let _ = self.event.read();
        std::mem::take(&mut *lock(&self.woken))
    }
}

/// Why a connection is over.
#[derive(Debug, Clone)]
pub(crate) enum Ended {
    /// This end closed it.
    Here,
    /// The other end closed it when all was said and heard.
    Well,
    /// Anything else.
    Broken(ErrorKind, String),
}

/// What the driver and the threads of a connection change.
#[derive(Debug)]
pub(crate) struct State {
    pub proto: quinn_proto::Connection,
    /// The one stream, once keys are agreed on.
    pub stream: Option<StreamId>,
    /// Why it is over. What came before can still be read.
    pub ended: Option<Ended>,
    /// The peer has ended the stream, and all of it was read.
    pub is_read: bool,
    /// This end has ended the stream.
    pub is_finished: bool,
    /// And the peer has all of it.
    pub is_delivered: bool,
    /// The stream is not used here any more.
    pub is_dropped: bool,
    /// The next packets leave then.
    pub next_send: Instant,
    receive_window: u64,
    /// Most bytes that may be on the way or wait, in each direction.
    window_max: u64,
    /// Bytes that had come at the last look at the window, and when that was.
    looked: (u64, Instant),
}

/// One connection.
#[derive(Debug)]
pub(crate) struct Connection {
    pub number: usize,
    pub peer: SocketAddr,
    pub local: SocketAddr,
    pub path: Arc<PathState>,
    state: Mutex<State>,
    changed: Condvar,
    wakeup: Arc<Wakeup>,
    /// The driver is told already.
    rings: AtomicBool,
    /// Processor time of a thread that drives nothing but this, in nanoseconds; zero of another.
    driver_cpu: AtomicU64,
}

impl Connection {
    pub fn new(
        number: usize,
        proto: quinn_proto::Connection,
        local: SocketAddr,
        path: Arc<PathState>,
        wakeup: Arc<Wakeup>,
    ) -> Self {
        let now = Instant::now();
        Connection {
            number,
            peer: proto.remote_address(),
            local,
            path,
            state: Mutex::new(State {
                proto,
                stream: None,
                ended: None,
                is_read: false,
                is_finished: false,
                is_delivered: false,
                is_dropped: false,
                next_send: now,
                receive_window: 0,
                window_max: WINDOW_MAX,
                looked: (0, now),
            }),
            changed: Condvar::new(),
            wakeup,
            rings: AtomicBool::new(false),
            driver_cpu: AtomicU64::new(0),
        }
    }

    pub fn lock(&self) -> MutexGuard<'_, State> {
        lock(&self.state)
    }

    /// Wakes those who wait for the connection to change.
    pub fn notify(&self) {
        self.changed.notify_all();
    }

    /// Waits for a change, until `end` where there is one.
    pub fn wait<'a>(
        &self,
        state: MutexGuard<'a, State>,
        end: Option<Instant>,
    ) -> io::Result<MutexGuard<'a, State>> {
        let Some(end) = end else {
            let waited = self.changed.wait(state);
            return Ok(waited.unwrap_or_else(PoisonError::into_inner));
        };
        let left = end.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(ErrorKind::WouldBlock.into());
        }
        let waited = self.changed.wait_timeout(state, left);
        Ok(waited.unwrap_or_else(PoisonError::into_inner).0)
    }

    /// Has the driver look at this connection.
    pub fn wake(&self) {
        if !self.rings.swap(true, Ordering::AcqRel) {
            self.wakeup.wake(self.number);
        }
    }

    /// A thread that drives nothing else has used so much of a processor.
    pub fn set_driver_cpu(&self, used: Span) {
        self.driver_cpu.store(used.as_nanos(), Ordering::Relaxed);
    }

    /// The driver looks now.
    pub fn is_looked_at(&self) {
        self.rings.store(false, Ordering::Release);
    }

    /// Ends it at once.
    pub fn shut_down(&self) {
        self.lock().close(CLOSED_EARLY);
        self.notify();
        self.wake();
    }

    /// The stream is not used any more: what was written and ended still arrives.
    pub fn let_go(&self) {
        let mut state = self.lock();
        state.is_dropped = true;
        state.close_if_done();
        drop(state);
        self.wake();
    }
}

impl State {
    /// The stream to write to, once there is one.
    pub fn writable(&self) -> io::Result<Option<StreamId>> {
        match &self.ended {
            Some(ended) => Err(ended.error()),
            None => Ok(self.stream),
        }
    }

    /// The driver heard that keys are agreed on, or that streams can be opened: makes or takes the
    /// one stream.
    pub fn find_stream(&mut self) {
        if self.stream.is_some() || self.proto.is_handshaking() {
            return;
        }
        let is_client = self.proto.side().is_client();
        let mut streams = self.proto.streams();
        self.stream = match is_client {
            true => streams.open(Dir::Bi),
            false => streams.accept(Dir::Bi),
        };
        if is_client && self.receive_window == 0 {
            self.receive_window = WINDOW_FIRST;
        }
    }

    pub fn end(&mut self, ended: Ended) {
        let peer = self.proto.remote_address();
        tracing::debug!(%peer, ?ended, "connection over UDP is over");
        self.ended.get_or_insert(ended);
    }

    fn close(&mut self, code: u32) {
        if self.ended.is_none() {
            let now = Instant::now();
            self.proto.close(now, VarInt::from_u32(code), Chunk::new());
            self.end(Ended::Here);
        }
    }

    /// Closes what is no longer used, once what was written has arrived.
    pub fn close_if_done(&mut self) {
        if !self.is_dropped {
            return;
        }
        match (self.is_finished, self.is_delivered, self.is_read) {
            // What this end has ended is still on its way, whatever it has read.
            (true, false, _) => {}
            (false, _, false) => self.close(CLOSED_EARLY),
            _ => self.close(CLOSED_WELL),
        }
    }

    /// The peer belongs here: it may send as much as a path needs, up to a bound.
    pub fn trust(&mut self, window_max: Bytes) {
        self.window_max = window_max.get().min(WINDOW_MAX);
        self.set_receive_window(WINDOW_FIRST.min(self.window_max));
    }

    /// The sender may have so many bytes that are not acknowledged.
    pub fn set_send_window(&mut self, bytes: u64) {
        self.proto.set_send_window(bytes.min(self.window_max));
    }

    fn set_receive_window(&mut self, bytes: u64) {
        self.receive_window = bytes;
        if let Ok(window) = VarInt::from_u64(bytes) {
            self.proto.set_receive_window(window);
        }
    }

    /// Once a round trip: the window is four times what came meanwhile, so that it holds what
    /// arrives behind a lost packet until that was sent again.
    pub fn fit_receive_window(&mut self, now: Instant) {
        let (before, at) = self.looked;
        if self.receive_window == 0 || now.saturating_duration_since(at) < self.proto.rtt() {
            return;
        }
        let received = self.proto.stats().udp_rx.bytes;
        self.looked = (received, now);
        let wanted = (received - before).saturating_mul(4);
        if wanted > self.receive_window && self.receive_window < self.window_max {
            let doubled = self.receive_window.saturating_mul(2);
            self.set_receive_window(doubled.min(self.window_max));
        }
    }
}

impl Ended {
    pub fn of(reason: &ConnectionError) -> Self {
        match reason {
            ConnectionError::LocallyClosed => Ended::Here,
            ConnectionError::ApplicationClosed(close)
                if close.error_code == VarInt::from_u32(CLOSED_WELL) =>
            {
                Ended::Well
            }
            ConnectionError::ApplicationClosed(_) | ConnectionError::Reset => Ended::Broken(
                ErrorKind::ConnectionReset,
                "the other end gave up".to_owned(),
            ),
            ConnectionError::TimedOut => Ended::Broken(
                ErrorKind::TimedOut,
                "nothing was heard of the other end".to_owned(),
            ),
            other => Ended::Broken(ErrorKind::InvalidData, other.to_string()),
        }
    }

    pub fn error(&self) -> io::Error {
        match self {
            Ended::Here => ErrorKind::NotConnected.into(),
            Ended::Well => ErrorKind::BrokenPipe.into(),
            Ended::Broken(kind, why) => io::Error::new(*kind, why.clone()),
        }
    }
}

/// A connection that another thread reads or writes. Clones mean the same one.
#[derive(Debug, Clone)]
pub struct Handle(pub(crate) Arc<Connection>);

impl Handle {
    /// What the sending side knows now, in the terms of TCP; `at` is what the reading is stamped
    /// with. Bytes are those of packets, some 3 % more than those of the stream.
    pub fn sample(&self, at: Time) -> TcpSample {
        let state = self.0.lock();
        let (rtt, rtt_min) = (state.proto.rtt(), state.proto.min_rtt());
        let stats = state.proto.stats();
        let mtu = u64::from(state.proto.current_mtu()).max(1);
        drop(state);
        let path = &self.0.path;
        let load = |value: &AtomicU64| value.load(Ordering::Relaxed);
        let (delivered, lost) = (load(&path.delivered), load(&path.lost));
        let segments = |bytes: u64| u32::try_from(bytes.div_ceil(mtu)).ok();
        let is_known = delivered > 0;
        TcpSample {
            at,
            rtt: is_known.then(|| rtt.into()),
            rtt_min: (is_known && rtt_min < Duration::MAX).then(|| Span::from(rtt_min)),
            cwnd_segments: segments(load(&path.window)),
            mss: Some(Bytes::new(mtu)),
            unacked_segments: segments(load(&path.in_flight)),
            bytes_acked: Some(Bytes::new(delivered)),
            bytes_sent: Some(Bytes::new(stats.udp_tx.bytes)),
            bytes_retransmitted: Some(Bytes::new(lost)),
            retransmits: u32::try_from(stats.path.lost_packets).ok(),
            mark_echoed: segments(load(&path.mark_echoed)),
            not_sent: (load(&path.app_limited) > 0).then_some(Bytes::ZERO),
            delivery_rate: Some(Rate::from_bits_per_second(load(&path.bandwidth))),
            ..TcpSample::default()
        }
    }

    /// Packets leave at most so fast from now on; `None` lifts the bound.
    pub fn set_pacing(&self, rate: Option<Rate>) {
        self.0.path.set_rate_max(rate);
        self.0.wake();
    }

    /// Processor time of the thread that encrypts, sends and receives its packets; `None` at a
    /// server, where one thread does that for all.
    pub fn driver_cpu(&self) -> Option<Span> {
        let nanos = self.0.driver_cpu.load(Ordering::Relaxed);
        (nanos > 0).then(|| Span::from_nanos(nanos))
    }

    /// Whether the peer has all that was written before [`Stream::finish`](crate::Stream::finish).
    pub fn is_delivered(&self) -> bool {
        self.0.lock().is_delivered
    }

    /// Whether it is over.
    pub fn is_over(&self) -> bool {
        self.0.lock().ended.is_some()
    }

    /// Ends both directions: threads that read or write are woken with an error.
    pub fn shut_down(&self) {
        self.0.shut_down();
    }

    /// Where the other end is.
    pub fn peer(&self) -> SocketAddr {
        canonical(self.0.peer)
    }

    /// Where this end is.
    pub fn local(&self) -> SocketAddr {
        canonical(self.0.local)
    }
}

pub(crate) fn canonical(address: SocketAddr) -> SocketAddr {
    SocketAddr::new(address.ip().to_canonical(), address.port())
}

/// Each change is complete, even when another thread panicked.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
