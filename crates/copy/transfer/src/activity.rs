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
        let time = |of: fn(&Totals) -> u64| Span::from_nanos(part(of));
        let since = |now: u64, last: u64| Span::from_nanos(now.saturating_sub(last));
        let activity = Activity {
            length: Span::from(length),
            streams,
            bytes: Bytes::new(part(|it| it.bytes)),
            disk: time(|it| it.disk),
            network: time(|it| it.network),
            idle: time(|it| it.idle),
            held: time(|it| it.held),
            computed: time(|it| it.computed),
            queued: time(|it| it.queued),
            flush: time(|it| it.flush),
            processor: since(sums.processor, last.processor),
            processors: u16::try_from(processors).unwrap_or(u16::MAX),
            host_busy: since(sums.host_busy, last.host_busy),
        };
        throttled(activity, since(sums.throttled, last.throttled))
    }
}

/// Activity of threads that were throttled for `time`: whatever else they waited for then, none of
/// them could have continued.
fn throttled(activity: Activity, time: Span) -> Activity {
    let share = match activity.length > Span::ZERO {
        true => time.as_secs_f64() / activity.length.as_secs_f64(),
        false => 0.0,
    };
    let of = |wait: Span| Span::from_nanos((wait.as_nanos() as f64 * share.min(1.0)) as u64);
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
        assert_eq!(reporter.report(&spent, 2).bytes, Bytes::new(5));
        spent.count(3);
        let second = reporter.report(&spent, 2);
        let counts = (second.bytes, second.idle, second.streams);
        assert_eq!(counts, (Bytes::new(3), Span::ZERO, 2));
        assert!(second.processors > 0);
    }

    #[test]
    fn what_a_throttled_group_waits_for_is_a_processor() {
        let mut reporter = Reporter::start();
        let nanos = Span::from_nanos;
        let waited = Activity {
            length: nanos(1_000),
            network: nanos(600),
            disk: nanos(200),
            queued: nanos(10),
            ..reporter.report(&TimeSpent::default(), 1)
        };
        let waits = |activity: Activity| {
            [activity.network, activity.disk, activity.queued].map(Span::as_nanos)
        };
        assert_eq!(waits(throttled(waited, nanos(500))), [300, 100, 410]);
        assert_eq!(waits(throttled(waited, nanos(5_000))), [0, 0, 810]);
    }
}
