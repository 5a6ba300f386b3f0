//! The time that an agent goes by.

use std::fmt::Debug;
use std::thread;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use changes::UnixTime;

/// What tells an agent the time, and lets it wait.
pub trait Clock: Debug + Send + Sync {
    /// The time of day.
    fn now(&self) -> UnixTime;

    /// Waits for so long.
    fn wait(&self, span: Duration);
}

/// The clock of this host, which may be set at any time.
#[derive(Debug)]
pub struct HostClock;

impl Clock for HostClock {
    fn now(&self) -> UnixTime {
        let since = SystemTime::now().duration_since(UNIX_EPOCH);
        UnixTime::from_seconds(since.map_or(0, |since| since.as_secs()))
    }

    fn wait(&self, span: Duration) {
        thread::sleep(span);
    }
}
