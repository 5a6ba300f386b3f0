//! Processor time of this process and of single threads.

use nix::sys::resource::{Usage, UsageWho, getrusage};
use nix::sys::time::{TimeVal, TimeValLike};
use observe::CpuSample;
use units::{Span, Time};

/// What the whole process has used so far: on an emulated path that is both ends.
pub(crate) fn of_process(at: Time) -> Option<CpuSample> {
    let usage = getrusage(UsageWho::RUSAGE_SELF).ok()?;
    Some(CpuSample {
        at,
        user: span(usage.user_time()),
        kernel: span(usage.system_time()),
    })
}

/// What the calling thread has used so far.
pub(crate) fn of_thread() -> Option<Span> {
    let usage = getrusage(UsageWho::RUSAGE_THREAD).ok();
    usage.map(|usage: Usage| span(usage.user_time()) + span(usage.system_time()))
}

fn span(time: TimeVal) -> Span {
    Span::from_micros(u64::try_from(time.num_microseconds()).unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;

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
}
