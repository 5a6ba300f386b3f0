//! Control of a running copy, and the observer of its events.

use std::sync::atomic::{AtomicBool, AtomicU16, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use copy_net::control_socket::Status;
use copy_protocol::CopyEvent;
use observe::StreamCount;
use units::{Bytes, Rate, RateBound, RateLimit, RateSchedule, Span, TimeOfDay};

/// Stops a running copy, bounds its rate and fixes its streams. Clones control the same copy, from
/// any thread.
#[derive(Debug, Clone, Default)]
pub struct CopyControl {
    stop: Arc<AtomicBool>,
    /// Bits per second; zero where there is no bound.
    rate_max: Arc<AtomicU64>,
    /// In the place of that, where the bound changes with the time of day.
    schedule: Arc<Mutex<Option<RateSchedule>>>,
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

    /// All is copied, and so many bytes are still to be read for lists of checksums.
    fn on_checksums(&mut self, _left: Bytes) {}
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

    /// Bounds the rate of all streams together from now on; `None` lifts the bound. A bound by the
    /// time of day ends with this.
    pub fn set_rate_max(&self, rate: Option<Rate>) {
        *self.schedule() = None;
        let bits = rate.map_or(0, |rate| rate.bits_per_second().max(1));
        self.rate_max.store(bits, Ordering::Relaxed);
    }

    /// Bounds the rate of all streams together from now on, by this host's clock where the bound
    /// changes with the time of day; `None` lifts it.
    pub fn set_rate_limit(&self, limit: Option<&RateLimit>) {
        self.set_rate_max(limit.and_then(RateLimit::always));
        *self.schedule() = limit.and_then(RateLimit::by_clock).cloned();
    }

    fn schedule(&self) -> MutexGuard<'_, Option<RateSchedule>> {
        // It is replaced as a whole.
        self.schedule.lock().unwrap_or_else(PoisonError::into_inner)
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
        self.rate_bound().rate
    }

    /// The bound in force, and until when.
    pub fn rate_bound(&self) -> RateBound {
        if let Some(schedule) = &*self.schedule() {
            return schedule.at(local_time());
        }
        let rate = match self.rate_max.load(Ordering::Relaxed) {
            0 => None,
            bits => Some(Rate::from_bits_per_second(bits)),
        };
        RateBound { rate, until: None }
    }

    /// Whether a bound was set: one at least at some time of the day.
    pub(crate) fn has_limit(&self) -> bool {
        self.schedule().is_some() || self.rate_max.load(Ordering::Relaxed) > 0
    }
}

/// What the clock of this host shows, in its time zone.
fn local_time() -> TimeOfDay {
    let now = jiff::Zoned::now();
    TimeOfDay::new(now.hour().unsigned_abs(), now.minute().unsigned_abs())
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_bound_takes_the_place_of_a_schedule() {
        let control = CopyControl::default();
        assert!(!control.has_limit());
        // The same at all times, so that the time of the test does not matter.
        let limit: RateLimit = "08:00=50M,18:00=50M".parse().unwrap();
        control.set_rate_limit(Some(&limit));
        assert_eq!(control.rate_max(), "50Mbit/s".parse().ok());
        assert!(control.has_limit());
        let limit: RateLimit = "08:00=none".parse().unwrap();
        control.set_rate_limit(Some(&limit));
        assert_eq!((control.rate_max(), control.has_limit()), (None, true));
        control.set_rate_max("20M".parse().ok());
        assert_eq!(control.rate_max(), "20Mbit/s".parse().ok());
        control.set_rate_max(None);
        assert!(!control.has_limit());
    }
}
