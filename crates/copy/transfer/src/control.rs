//! Control of a running copy, and the observer of its events.

use std::sync::atomic::{AtomicBool, AtomicU16, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use copy_net::control_socket::Status;
use copy_protocol::CopyEvent;
use observe::StreamCount;
use units::{Rate, Span};

/// Stops a running copy, bounds its rate and fixes its streams. Clones control the same copy, from
/// any thread.
#[derive(Debug, Clone, Default)]
pub struct CopyControl {
    stop: Arc<AtomicBool>,
    /// Bits per second; zero where there is no bound.
    rate_max: Arc<AtomicU64>,
    /// Zero where the copy finds its own number.
    streams: Arc<AtomicU16>,
    status: Arc<Mutex<Status>>,
    /// Nanoseconds; zero for the usual time.
    stalled_after: Arc<AtomicU64>,
}

/// Nothing happens for so long until it is said that a copy stands still.
const STALLED_AFTER: Span = Span::from_secs(30);

/// Receives the events in order, on the thread that called [`crate::copy`].
pub trait CopyObserver {
    /// Something happened.
    fn on_event(&mut self, event: &CopyEvent);
}

/// Ignores all events.
impl CopyObserver for () {
    fn on_event(&mut self, _event: &CopyEvent) {}
}

impl CopyControl {
    /// A control whose stop flag exists already, such as one that a signal sets.
    pub fn with_stop(stop: Arc<AtomicBool>) -> Self {
        CopyControl {
            stop,
            ..CopyControl::default()
        }
    }

    /// Asks the copy to end; what arrived stays, so that the next one goes on from there.
    pub fn stop(&self) {
        self.stop.store(true, Ordering::Relaxed);
    }

    /// Whether the copy was asked to end.
    pub fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// Bounds the rate of all streams together from now on; `None` lifts the bound.
    pub fn set_rate_max(&self, rate: Option<Rate>) {
        let bits = rate.map_or(0, |rate| rate.bits_per_second().max(1));
        self.rate_max.store(bits, Ordering::Relaxed);
    }

    /// Fixes the number of streams from now on; `None` leaves it to the copy.
    pub fn set_streams(&self, streams: Option<StreamCount>) {
        let count = streams.map_or(0, StreamCount::get);
        self.streams.store(count, Ordering::Relaxed);
    }

    /// The number of streams that is fixed.
    pub fn streams(&self) -> Option<StreamCount> {
        StreamCount::new(self.streams.load(Ordering::Relaxed).into()).ok()
    }

    /// A copy that begins from now on is said to stand still when nothing has happened for so long;
    /// usually 30 s.
    pub fn set_stalled_after(&self, time: Span) {
        self.stalled_after.store(time.as_nanos(), Ordering::Relaxed);
    }

    pub(crate) fn stalled_after(&self) -> Span {
        match self.stalled_after.load(Ordering::Relaxed) {
            0 => STALLED_AFTER,
            nanos => Span::from_nanos(nanos),
        }
    }

    /// Sets the status that other programs are told.
    pub(crate) fn set_status(&self, status: Status) {
        *self.status.lock().unwrap_or_else(PoisonError::into_inner) = status;
    }

    /// The bound in force.
    pub fn rate_max(&self) -> Option<Rate> {
        match self.rate_max.load(Ordering::Relaxed) {
            0 => None,
            bits => Some(Rate::from_bits_per_second(bits)),
        }
    }
}

impl copy_net::control_socket::Controllable for CopyControl {
    fn rate_max(&self) -> Option<Rate> {
        self.rate_max()
    }

    fn set_rate_max(&self, rate: Option<Rate>) {
        self.set_rate_max(rate);
    }

    fn status(&self) -> Status {
        *self.status.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
