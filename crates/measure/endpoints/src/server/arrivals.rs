//! What the acceptor hands over to a session: streams that arrive, and what both know of its test.

use std::io::Write;
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender};

use copy_net::Channel;
use sockets::Clock;
use units::{Span, Time};

/// A stream that has told its cookie, and its place among those of its session.
///
/// The place is the stream's number between two trunkline ends. Otherwise it is the order of
/// accepting: cookies may be read in another one when a segment is lost.
pub(super) struct Arrival {
    pub place: u64,
    pub channel: Channel,
}

/// What hands streams over to a session. Clones mean the same one.
#[derive(Debug, Clone)]
pub(super) struct ArrivalSender {
    pub streams: SyncSender<Arrival>,
    pub bell: Arc<UnixStream>,
}

impl ArrivalSender {
    /// A session that is full or over does not take it, and the connection closes.
    pub fn send(&self, arrival: Arrival) {
        if self.streams.try_send(arrival).is_ok() {
            // A full bell rings already.
            let _ = (&*self.bell).write(&[1]);
        }
    }
}

/// The session's end: streams that arrive, and a bell that rings for each.
pub(super) struct Arrivals {
    pub streams: Receiver<Arrival>,
    pub bell: UnixStream,
    /// Set by the session when the streams to come are numbered.
    pub numbered: Arc<AtomicBool>,
    /// Set by the session when it knows how long its test takes.
    pub ends: TestEndTime,
}

/// About when a test ends, on a clock that the acceptor and its session share.
#[derive(Clone)]
pub(super) struct TestEndTime {
    clock: Clock,
    /// Nanoseconds; `u64::MAX` while it is not known.
    at: Arc<AtomicU64>,
}

impl TestEndTime {
    pub fn unknown(clock: Clock) -> Self {
        let at = Arc::new(AtomicU64::new(u64::MAX));
        TestEndTime { clock, at }
    }

    /// The test takes about `span` from now on.
    pub fn set_after(&self, span: Span) {
        let at = (self.clock.now() + span).since(Time::ZERO).as_nanos();
        self.at.store(at, Ordering::Relaxed);
    }

    /// Zero when it should be over.
    pub fn time_left(&self) -> Option<Span> {
        let at = self.at.load(Ordering::Relaxed);
        let at = (at < u64::MAX).then(|| Time::ZERO + Span::from_nanos(at));
        at.map(|at| at.since(self.clock.now()))
    }
}
