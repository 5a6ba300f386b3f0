//! What the threads of this end spend their time on, for the verdict on what limits.

mod stopwatch;
mod throttle;

use std::fs;
use std::thread;
use std::time::{Duration, Instant};

use copy_protocol::Activity;
use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeValLike;
use nix::unistd::{SysconfVar, sysconf};
use units::{Bytes, Span};

use self::stopwatch::Totals;
pub(crate) use self::stopwatch::nanoseconds;
pub(crate) use self::stopwatch::{Stopwatch, TimeSpent, Waiting};
use self::throttle::Throttle;

/// Turns sums into what happened since the last report.
#[derive(Debug)]
pub(crate) struct Reporter {
    at: Instant,
    last: Sums,
    throttle: Throttle,
}

#[derive(Debug, Clone, Copy, Default)]
struct Sums {
    threads: Totals,
    processor: u64,
    host_busy: u64,
    throttled: u64,
}

impl Reporter {
    /// Begins to count now.
    pub(crate) fn start() -> Self {
        let throttle = Throttle::of_this_process();
        Reporter {
            at: Instant::now(),
            last: Sums::of(&TimeSpent::default(), &throttle),
            throttle,
        }
    }

    /// Since the last report.
    pub(crate) fn report(&mut self, spent: &TimeSpent, streams: u16) -> Activity {
        let now = Instant::now();
        let sums = Sums::of(spent, &self.throttle);
        let last = self.last;
        self.last = Sums {
            threads: sums.threads.at_least(&last.threads),
            ..sums
        };
        let length = now.saturating_duration_since(self.at);
        self.at = now;
        let processors = thread::available_parallelism().map_or(0, |count| count.get());
        let part = |of: fn(&Totals) -> u64| of(&sums.threads).saturating_sub(of(&last.threads));
        let length = nanoseconds(length);
        let activity = Activity {
            nanoseconds: length,
            streams,
            bytes: part(|it| it.bytes),
            disk: part(|it| it.disk),
            network: part(|it| it.network),
            idle: part(|it| it.idle),
            held: part(|it| it.held),
            computed: part(|it| it.computed),
            queued: part(|it| it.queued),
            flush: part(|it| it.flush),
            processor: sums.processor.saturating_sub(last.processor),
            processors: u16::try_from(processors).unwrap_or(u16::MAX),
            host_busy: sums.host_busy.saturating_sub(last.host_busy),
        };
        throttled(activity, sums.throttled.saturating_sub(last.throttled))
    }
}

/// Activity of threads that were throttled for `nanoseconds`: whatever else they waited for in that
/// time, none of them could have continued.
fn throttled(activity: Activity, nanoseconds: u64) -> Activity {
    let share = nanoseconds as f64 / activity.nanoseconds.max(1) as f64;
    let of = |wait: u64| (wait as f64 * share.min(1.0)) as u64;
    let (disk, network) = (of(activity.disk), of(activity.network));
    Activity {
        disk: activity.disk - disk,
        network: activity.network - network,
        queued: activity.queued + disk + network,
        ..activity
    }
}

impl Sums {
    fn of(spent: &TimeSpent, throttle: &Throttle) -> Self {
        Sums {
            threads: spent.totals(),
            processor: nanoseconds(processor()),
            host_busy: host_busy().unwrap_or(0),
            throttled: throttle.nanoseconds(),
        }
    }
}

impl Totals {
    /// A wait that turns out to have been one for a processor makes a sum smaller afterwards. What
    /// was reported too much is left out of the next reports.
    fn at_least(&self, before: &Totals) -> Totals {
        Totals {
            disk: self.disk.max(before.disk),
            network: self.network.max(before.network),
            idle: self.idle.max(before.idle),
            held: self.held.max(before.held),
            flush: self.flush.max(before.flush),
            ..*self
        }
    }
}

/// As the tuner takes it.
pub(crate) fn to_steer(activity: &Activity) -> steer::online::Activity {
    steer::online::Activity {
        length: Span::from_nanos(activity.nanoseconds),
        streams: activity.streams,
        bytes: Bytes::new(activity.bytes),
        disk: Span::from_nanos(activity.disk),
        network: Span::from_nanos(activity.network),
        idle: Span::from_nanos(activity.idle),
        held: Span::from_nanos(activity.held),
        computed: Span::from_nanos(activity.computed),
        queued: Span::from_nanos(activity.queued),
        flush: Span::from_nanos(activity.flush),
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

/// Nanoseconds that all processors of the host were busy since it was started: the first line of
/// `/proc/stat`, in ticks: user, nice, system, idle, iowait, irq, softirq, steal (proc_stat(5)).
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_tells_what_came_since_the_one_before() {
        let spent = TimeSpent::default();
        let mut reporter = Reporter::start();
        spent.count(5);
        assert_eq!(reporter.report(&spent, 2).bytes, 5);
        spent.count(3);
        let second = reporter.report(&spent, 2);
        assert_eq!((second.bytes, second.idle, second.streams), (3, 0, 2));
        assert!(second.processors > 0);
    }

    #[test]
    fn what_a_throttled_group_waits_for_is_a_processor() {
        let mut reporter = Reporter::start();
        let waited = Activity {
            nanoseconds: 1_000,
            network: 600,
            disk: 200,
            queued: 10,
            ..reporter.report(&TimeSpent::default(), 1)
        };
        let half = throttled(waited, 500);
        assert_eq!((half.network, half.disk, half.queued), (300, 100, 410));
        let all = throttled(waited, 5_000);
        assert_eq!((all.network, all.disk, all.queued), (0, 0, 810));
    }
}
