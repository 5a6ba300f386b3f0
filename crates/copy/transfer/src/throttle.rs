//! Holds threads that have moved bytes to a rate. Where they have read them TCP slows the sender
//! down.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use steer::{Bucket, Turn};
use units::{Bytes, Rate, Span, Time};

/// Longest sleep, after which it is seen whether the bound was lifted or the copy has ended.
const NAP_MAX: Duration = Duration::from_millis(100);

/// A bound on the rate of all streams of a copy or a session.
#[derive(Debug)]
pub(crate) struct Throttle {
    bucket: Mutex<Bucket>,
    room: f64,
    began: Instant,
}

impl Throttle {
    /// Without a bound.
    ///
    /// * `room`: bytes are held at so many times the rate.
    pub fn new(room: f64) -> Self {
        Throttle {
            bucket: Mutex::new(Bucket::new(None, Time::ZERO)),
            room,
            began: Instant::now(),
        }
    }

    /// Another bound from now on.
    pub fn set(&self, rate: Option<Rate>) {
        let now = self.now();
        let rate = rate.map(|rate| Rate::from_f64(self.room * rate.as_f64()));
        self.bucket().set_rate(rate, now);
    }

    /// A place in the queue for so many bytes that were moved; none without a bound.
    pub fn turn(&self, bytes: usize) -> Option<Turn> {
        let now = self.now();
        let mut bucket = self.bucket();
        bucket.rate()?;
        Some(bucket.queue(Bytes::new(bytes as u64), now))
    }

    /// Waits until these bytes may have been moved.
    pub fn wait(&self, turn: Turn, is_over: &dyn Fn() -> bool) {
        loop {
            let wait = Duration::from(self.bucket().wait(turn, self.now()));
            if wait.is_zero() || is_over() {
                return;
            }
            std::thread::sleep(wait.min(NAP_MAX));
        }
    }

    /// How long these bytes still have to wait.
    pub fn left(&self, turn: Turn) -> Duration {
        Duration::from(self.bucket().wait(turn, self.now()))
    }

    fn now(&self) -> Time {
        Time::ZERO + Span::from(self.began.elapsed())
    }

    fn bucket(&self) -> MutexGuard<'_, Bucket> {
        // Each change is complete, even when another thread panicked.
        self.bucket.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
