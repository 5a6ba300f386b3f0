//! Time that threads spend computing and waiting.
//!
//! The kernel counts for each thread how long it ran and how long it waited for a processor. The
//! rest of the time within [`TimeSpent::during`] is the wait for what the thread was there for: a
//! read that the page cache answers is processor time, and only the rest is waiting for the disk.
//! Outside of it a thread waits for a processor only. A control group that has used up its share
//! has to wait where no counter of the thread shows it.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use nix::time::{ClockId, clock_gettime};

/// What a thread waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Waiting {
    /// Files being read or written.
    Disk,
    /// The connection.
    Network,
    /// Work.
    Work,
    /// The rate that was set.
    Rate,
    /// Whole files being flushed.
    Flush,
}

/// Sums over all threads since the beginning, in nanoseconds.
#[derive(Debug)]
pub(crate) struct TimeSpent {
    began: Instant,
    sums: Mutex<Sums>,
}

#[derive(Debug, Clone, Copy, Default)]
struct Sums {
    waits: [Wait; 5],
    totals: Totals,
}

/// Waits of one kind: those that are over, and those that are not, as their number and minus the
/// sum of their beginnings. So the sum grows while a thread waits, however long that takes.
#[derive(Debug, Clone, Copy, Default)]
struct Wait {
    sum: i128,
    open: u32,
}

/// Nanoseconds since the beginning, and bytes of files.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Totals {
    pub disk: u64,
    pub network: u64,
    pub idle: u64,
    pub held: u64,
    pub flush: u64,
    pub computed: u64,
    pub queued: u64,
    pub bytes: u64,
}

impl Default for TimeSpent {
    fn default() -> Self {
        TimeSpent {
            began: Instant::now(),
            sums: Mutex::default(),
        }
    }
}

impl TimeSpent {
    fn sums(&self) -> MutexGuard<'_, Sums> {
        self.sums.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn now(&self) -> i128 {
        i128::try_from(self.began.elapsed().as_nanos()).unwrap_or(i128::MAX)
    }

    /// Has a thread do something in which it may wait.
    pub(crate) fn during<R>(
        &self,
        stopwatch: &mut Stopwatch,
        waiting: Waiting,
        work: impl FnOnce() -> R,
    ) -> R {
        self.add(stopwatch.lap().without_waits());
        self.enter(waiting);
        let result = work();
        let lap = stopwatch.lap();
        self.leave(waiting, lap.computed + lap.queued);
        self.add(lap);
        result
    }

    /// Flushes, on a thread that does nothing else.
    pub(crate) fn flushing<R>(&self, work: impl FnOnce() -> R) -> R {
        self.enter(Waiting::Flush);
        let result = work();
        self.leave(Waiting::Flush, 0);
        result
    }

    /// Bytes of files were read or written.
    pub(crate) fn count(&self, bytes: u64) {
        self.sums().totals.bytes += bytes;
    }

    fn add(&self, lap: Lap) {
        let totals = &mut self.sums().totals;
        totals.computed += lap.computed;
        totals.queued += lap.queued;
    }

    fn enter(&self, waiting: Waiting) {
        let now = self.now();
        let wait = &mut self.sums().waits[waiting as usize];
        wait.sum -= now;
        wait.open += 1;
    }

    /// `otherwise`: nanoseconds of it that were not spent in waiting for that.
    fn leave(&self, waiting: Waiting, otherwise: u64) {
        let now = self.now();
        let wait = &mut self.sums().waits[waiting as usize];
        wait.sum += now - i128::from(otherwise);
        wait.open -= 1;
    }

    /// All sums as they are now.
    pub(crate) fn totals(&self) -> Totals {
        let sums = *self.sums();
        let now = self.now();
        let of = |waiting: Waiting| {
            let wait = sums.waits[waiting as usize];
            u64::try_from(wait.sum + now * i128::from(wait.open)).unwrap_or(0)
        };
        Totals {
            disk: of(Waiting::Disk),
            network: of(Waiting::Network),
            idle: of(Waiting::Work),
            held: of(Waiting::Rate),
            flush: of(Waiting::Flush),
            ..sums.totals
        }
    }
}

/// Shorter waits are not worth the question whether they were for a processor.
const WAIT_MIN: u64 = 50_000;

/// The clocks of the thread that made it.
#[derive(Debug)]
pub(crate) struct Stopwatch {
    at: Instant,
    processor: u64,
    queued: u64,
    /// The kernel's own sums; `None` where there are none.
    schedstat: Option<File>,
}

/// Nanoseconds.
#[derive(Debug, Clone, Copy)]
struct Lap {
    passed: u64,
    computed: u64,
    queued: u64,
}

impl Lap {
    /// Of a time in which the thread waited for nothing but a processor.
    fn without_waits(self) -> Self {
        Lap {
            queued: self.passed - self.computed,
            ..self
        }
    }
}

impl Stopwatch {
    /// Begins now.
    pub(crate) fn start() -> Self {
        let schedstat = File::open("/proc/thread-self/schedstat").ok();
        Stopwatch {
            at: Instant::now(),
            processor: thread_processor(),
            queued: schedstat.as_ref().and_then(run_delay).unwrap_or(0),
            schedstat,
        }
    }

    /// Since the last one.
    fn lap(&mut self) -> Lap {
        let now = Instant::now();
        let processor = thread_processor();
        let passed = nanoseconds(now.saturating_duration_since(self.at));
        let computed = processor.saturating_sub(self.processor).min(passed);
        (self.at, self.processor) = (now, processor);
        let waited = passed - computed;
        let queued = match waited > WAIT_MIN {
            true => self.queued_since().min(waited),
            false => 0,
        };
        Lap {
            passed,
            computed,
            queued,
        }
    }

    fn queued_since(&mut self) -> u64 {
        let queued = self.schedstat.as_ref().and_then(run_delay);
        let queued = queued.unwrap_or(self.queued);
        queued - std::mem::replace(&mut self.queued, queued).min(queued)
    }
}

/// The second number: nanoseconds on a run queue (Documentation/scheduler/sched-stats.rst of
/// Linux).
fn run_delay(schedstat: &File) -> Option<u64> {
    let mut text = [0; 96];
    let length = schedstat.read_at(&mut text, 0).ok()?;
    let text = std::str::from_utf8(text.get(..length)?).ok()?;
    text.split_whitespace().nth(1)?.parse().ok()
}

fn thread_processor() -> u64 {
    let time = clock_gettime(ClockId::CLOCK_THREAD_CPUTIME_ID);
    time.map_or(0, |time| nanoseconds(time.into()))
}

pub(crate) fn nanoseconds(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::thread;
    use std::time::Duration;

    #[test]
    fn sleeping_counts_as_waiting_and_computing_does_not() {
        let spent = TimeSpent::default();
        let mut stopwatch = Stopwatch::start();
        spent.during(&mut stopwatch, Waiting::Disk, || {
            thread::sleep(Duration::from_millis(20))
        });
        spent.during(&mut stopwatch, Waiting::Network, || {
            spin(Duration::from_millis(20))
        });
        let totals = spent.totals();
        assert!(totals.disk >= 15_000_000, "{totals:?}");
        assert!(totals.computed >= 15_000_000, "{totals:?}");
        assert!(totals.network < totals.computed, "{totals:?}");
    }

    #[test]
    fn outside_of_waits_a_thread_that_does_not_compute_waits_for_a_processor() {
        let spent = TimeSpent::default();
        let mut stopwatch = Stopwatch::start();
        // As one whose control group has used up its share.
        thread::sleep(Duration::from_millis(20));
        spent.during(&mut stopwatch, Waiting::Network, || ());
        let totals = spent.totals();
        assert!(totals.queued >= 15_000_000, "{totals:?}");
        assert!(totals.network < totals.queued, "{totals:?}");
    }

    #[test]
    fn a_wait_counts_before_it_is_over() {
        let spent = TimeSpent::default();
        spent.enter(Waiting::Network);
        spent.enter(Waiting::Network);
        thread::sleep(Duration::from_millis(5));
        assert!(spent.totals().network >= 10_000_000);
        spent.leave(Waiting::Network, 0);
        spent.leave(Waiting::Network, 0);
        let after = spent.totals().network;
        assert_eq!(spent.totals().network, after);
    }

    /// Until the thread's own clock has advanced so far.
    fn spin(time: Duration) {
        let until = thread_processor() + super::nanoseconds(time);
        while thread_processor() < until {}
    }
}
