//! What the threads of this end spend their time on, for the verdict on what limits.

use std::fs;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeValLike;
use nix::unistd::{SysconfVar, sysconf};
use units::{Bytes, Span};
use wire::copying::Activity;

/// Sums over all threads that carry data, since the beginning, in nanoseconds.
#[derive(Debug, Default)]
pub(crate) struct Spent {
    /// In reading or writing files.
    pub disk: AtomicU64,
    /// In sending or receiving.
    pub network: AtomicU64,
    /// In waiting for work.
    pub idle: AtomicU64,
    /// Bytes of files, not nanoseconds.
    pub bytes: AtomicU64,
}

impl Spent {
    /// Adds the time since `since` to `counter`, and returns now.
    pub(crate) fn note(counter: &AtomicU64, since: Instant) -> Instant {
        let now = Instant::now();
        let passed = now.saturating_duration_since(since);
        counter.fetch_add(nanoseconds(passed), Ordering::Relaxed);
        now
    }
}

/// Turns sums into what happened since the last report.
#[derive(Debug)]
pub(crate) struct Reporter {
    at: Instant,
    last: Sums,
}

#[derive(Debug, Clone, Copy, Default)]
struct Sums {
    disk: u64,
    network: u64,
    idle: u64,
    bytes: u64,
    processor: u64,
    host_busy: u64,
}

impl Reporter {
    /// Begins to count now.
    pub(crate) fn start() -> Self {
        Reporter {
            at: Instant::now(),
            last: Sums::of(&Spent::default()),
        }
    }

    /// Since the last report.
    pub(crate) fn report(&mut self, spent: &Spent, streams: u16) -> Activity {
        let now = Instant::now();
        let sums = Sums::of(spent);
        let last = std::mem::replace(&mut self.last, sums);
        let length = now.saturating_duration_since(self.at);
        self.at = now;
        let processors = thread::available_parallelism().map_or(0, |count| count.get());
        Activity {
            nanoseconds: nanoseconds(length),
            streams,
            bytes: sums.bytes - last.bytes,
            disk: sums.disk - last.disk,
            network: sums.network - last.network,
            idle: sums.idle - last.idle,
            processor: sums.processor.saturating_sub(last.processor),
            processors: u16::try_from(processors).unwrap_or(u16::MAX),
            host_busy: sums.host_busy.saturating_sub(last.host_busy),
        }
    }
}

impl Sums {
    fn of(spent: &Spent) -> Self {
        let load = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        Sums {
            disk: load(&spent.disk),
            network: load(&spent.network),
            idle: load(&spent.idle),
            bytes: load(&spent.bytes),
            processor: nanoseconds(processor()),
            host_busy: host_busy().unwrap_or(0),
        }
    }
}

/// As the tuner takes it.
pub(crate) fn for_tuner(activity: &Activity) -> tune::online::Activity {
    tune::online::Activity {
        length: Span::from_nanos(activity.nanoseconds),
        streams: activity.streams,
        bytes: Bytes::new(activity.bytes),
        disk: Span::from_nanos(activity.disk),
        network: Span::from_nanos(activity.network),
        idle: Span::from_nanos(activity.idle),
        processor: Span::from_nanos(activity.processor),
        processors: activity.processors,
        host_busy: Span::from_nanos(activity.host_busy),
    }
}

/// Processor time of this process.
pub(crate) fn processor() -> Duration {
    let Ok(usage) = getrusage(UsageWho::RUSAGE_SELF) else {
        return Duration::ZERO;
    };
    let micros = usage.user_time().num_microseconds() + usage.system_time().num_microseconds();
    Duration::from_micros(u64::try_from(micros).unwrap_or(0))
}

/// Nanoseconds that all processors of the host were busy since it was started: the first line of `/proc/stat`, in
/// ticks: user, nice, system, idle, iowait, irq, softirq, steal (proc_stat(5)).
fn host_busy() -> Option<u64> {
    let text = fs::read_to_string("/proc/stat").ok()?;
    let ticks: Vec<u64> = text
        .lines()
        .next()?
        .split_whitespace()
        .skip(1)
        .map_while(|word| word.parse().ok())
        .collect();
    let busy: u64 = [0, 1, 2, 5, 6, 7]
        .into_iter()
        .filter_map(|at| ticks.get(at))
        .sum();
    let per_second = sysconf(SysconfVar::CLK_TCK).ok()??;
    let tick = 1_000_000_000 / u64::try_from(per_second).ok()?.max(1);
    Some(busy * tick)
}

fn nanoseconds(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_tells_what_came_since_the_one_before() {
        let spent = Spent::default();
        let mut reporter = Reporter::start();
        spent.disk.fetch_add(5, Ordering::Relaxed);
        assert_eq!(reporter.report(&spent, 2).disk, 5);
        spent.disk.fetch_add(3, Ordering::Relaxed);
        let second = reporter.report(&spent, 2);
        assert_eq!((second.disk, second.idle, second.streams), (3, 0, 2));
        assert!(second.processors > 0);
    }
}
