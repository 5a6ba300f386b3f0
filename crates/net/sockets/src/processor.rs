//! Processor time of this process and of single threads.

use std::os::unix::thread::JoinHandleExt;
use std::thread::JoinHandle;

use nix::sys::resource::{Usage, UsageWho, getrusage};
use nix::sys::time::{TimeVal, TimeValLike};
use observe::CpuSample;
use units::{Span, Time};

/// What the whole process has used so far: on an emulated path that is both ends.
pub fn of_process(at: Time) -> Option<CpuSample> {
    let usage = getrusage(UsageWho::RUSAGE_SELF).ok()?;
    Some(CpuSample {
        at,
        user: span(usage.user_time()),
        kernel: span(usage.system_time()),
    })
}

/// What the calling thread has used so far.
pub fn of_thread() -> Option<Span> {
    let usage = getrusage(UsageWho::RUSAGE_THREAD).ok();
    usage.map(|usage: Usage| span(usage.user_time()) + span(usage.system_time()))
}

/// What another thread has used so far; `None` once it has ended.
#[expect(
    unsafe_code,
    reason = "no safe crate reads the processor time of another thread"
)]
pub fn of_running<T>(thread: &JoinHandle<T>) -> Option<Span> {
    if thread.is_finished() {
        return None;
    }
    // The standard library's number, as the C library's type: musl has a pointer there.
    let identifier = thread.as_pthread_t() as libc::pthread_t;
    let mut clock = 0;
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: the handle keeps the thread joinable, so its identifier stays valid even when it ends
    // meanwhile, which the two calls then report; both write only where the references point.
    let failed = unsafe {
        libc::pthread_getcpuclockid(identifier, &mut clock) != 0
            || libc::clock_gettime(clock, &mut time) != 0
    };
    let (seconds, nanos) = (u64::try_from(time.tv_sec), u64::try_from(time.tv_nsec));
    let used = Span::from_secs(seconds.ok()?) + Span::from_nanos(nanos.ok()?);
    (!failed).then_some(used)
}

fn span(time: TimeVal) -> Span {
    Span::from_micros(u64::try_from(time.num_microseconds()).unwrap_or(0))
}

/// Processor time of this machine up to a moment: all of it, and what the hypervisor gave to other
/// machines meanwhile.
#[derive(Debug, Clone, Copy)]
pub struct Stolen {
    all: u64,
    stolen: u64,
}

/// What `/proc/stat` counts now; `None` where it cannot be read.
pub fn stolen() -> Option<Stolen> {
    Stolen::parse(&std::fs::read_to_string("/proc/stat").ok()?)
}

impl Stolen {
    /// The first line: ticks of user, nice, system, idle, iowait, irq, softirq, steal (proc(5)).
    /// What follows is counted in user and nice already.
    fn parse(text: &str) -> Option<Self> {
        let line = text.lines().next()?.strip_prefix("cpu ")?;
        let ticks = line.split_whitespace().take(8).map(str::parse);
        let ticks: Vec<u64> = ticks.collect::<Result<_, _>>().ok()?;
        Some(Stolen {
            all: ticks.iter().sum(),
            stolen: *ticks.get(7)?,
        })
    }

    /// The share that was stolen since then; `None` where no time has passed.
    pub fn share_until_now(self) -> Option<f64> {
        self.share_until(stolen()?)
    }

    fn share_until(self, now: Stolen) -> Option<f64> {
        let all = now.all.saturating_sub(self.all);
        let stolen = now.stolen.saturating_sub(self.stolen).min(all);
        (all > 0).then(|| stolen as f64 / all as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, Ordering};

    #[test]
    fn work_shows_as_processor_time() {
        let before = of_thread().unwrap();
        let mut sum = 0u64;
        while of_thread().unwrap() == before {
            sum = std::hint::black_box(sum.wrapping_add(1));
        }
        let process = of_process(Time::ZERO).unwrap();
        assert!(process.user + process.kernel > Span::ZERO);
    }

    #[test]
    fn stolen_time_is_a_share_of_all() {
        let before = Stolen::parse("cpu  10 0 20 1000 5 0 0 100 7 0\ncpu0 1").unwrap();
        let after = Stolen::parse("cpu  20 0 30 1060 5 0 0 120 9 0\n").unwrap();
        assert_eq!(before.share_until(after), Some(0.2));
        assert_eq!(before.share_until(before), None);
        assert!(Stolen::parse("intr 1").is_none());
    }

    #[test]
    fn work_of_another_thread_shows_until_it_ends() {
        let stop = Arc::new(AtomicBool::new(false));
        let asked = Arc::clone(&stop);
        let thread = std::thread::spawn(move || while !asked.load(Ordering::Relaxed) {});
        let before = of_running(&thread).unwrap();
        while of_running(&thread).unwrap() == before {}
        stop.store(true, Ordering::Relaxed);
        while !thread.is_finished() {}
        assert_eq!(of_running(&thread), None);
    }
}
