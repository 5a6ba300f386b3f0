//! How the wall clock, which stamps packets, stands to the monotonic one.

use measure_protocol::trains::Zero;
use nix::time::{ClockId, clock_gettime};
use units::Span;

/// More than this is no error of reading the two clocks one after the other.
const STEP_MIN: i128 = 50_000;
/// Readings of which the quickest counts: a thread may be held up between its two clocks.
const READINGS: usize = 5;

/// The difference of the two clocks, in nanoseconds. It changes when the wall clock is set; where
/// the kernel makes clocks go slower or faster, both do.
#[derive(Debug, Clone, Copy)]
pub(super) struct WallClock {
    ahead: i128,
}

impl WallClock {
    /// Reads it.
    pub(super) fn read() -> Self {
        let reading = |_| {
            let before = monotonic();
            let wall = nanos(ClockId::CLOCK_REALTIME);
            let after = monotonic();
            (after - before, wall - (before + after) / 2)
        };
        let quickest = (0..READINGS).map(reading).min();
        WallClock {
            ahead: quickest.unwrap_or_default().1,
        }
    }

    /// A reading of the wall clock on the monotonic one.
    pub(super) fn to_monotonic(self, wall: i128) -> i128 {
        wall - self.ahead
    }

    /// A reading of the monotonic clock on the wall clock.
    pub(super) fn of_monotonic(self, monotonic: i128) -> i128 {
        monotonic + self.ahead
    }

    /// How far the wall clock was set since `earlier`; `None` when it was not.
    pub(super) fn step_since(self, earlier: WallClock) -> Option<Span> {
        let step = (self.ahead - earlier.ahead).abs();
        let nanos = u64::try_from(step).unwrap_or(u64::MAX);
        (step > STEP_MIN).then(|| Span::from_nanos(nanos))
    }
}

/// A reading of the monotonic clock as the zero of stamps.
pub(super) fn zero(clock: WallClock, monotonic: i128) -> Option<Zero> {
    Some(Zero {
        unix_ns: u64::try_from(clock.of_monotonic(monotonic)).ok()?,
        error_ns: error().map(|error| error.as_nanos()),
    })
}

/// The most by which the kernel takes this host's wall clock to be off; `None` where nothing keeps
/// it right. `adjtimex(2)`: what keeps the clock, such as chrony, sets the bound to half of the
/// round trip to its source and all that adds up on the way, and the kernel lets it grow by 0.5 ms
/// a second until it is set again.
#[expect(unsafe_code, reason = "no safe crate covers adjtimex")]
fn error() -> Option<Span> {
    // SAFETY: zeros are a valid `timex`, a struct of numbers alone.
    let mut timex: libc::timex = unsafe { std::mem::zeroed() };
    // SAFETY: no mode is set, so that the call reads and changes nothing; it writes one `timex`.
    let state = unsafe { libc::adjtimex(&mut timex) };
    let is_kept = state >= 0 && timex.status & libc::STA_UNSYNC == 0;
    let micros = u64::try_from(timex.maxerror).ok()?;
    is_kept.then(|| Span::from_micros(micros))
}

/// The monotonic clock, in nanoseconds.
pub(super) fn monotonic() -> i128 {
    nanos(ClockId::CLOCK_MONOTONIC)
}

fn nanos(clock: ClockId) -> i128 {
    // Linux has both clocks; one that could not be read would show as a step.
    clock_gettime(clock).map_or(0, |time| {
        i128::from(time.tv_sec()) * 1_000_000_000 + i128::from(time.tv_nsec())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_set_clock_is_a_step() {
        let ahead = |ahead| WallClock { ahead };
        assert_eq!(ahead(1_040_000).step_since(ahead(1_000_000)), None);
        let step = ahead(1_000_000).step_since(ahead(3_000_000));
        assert_eq!(step, Some(Span::from_millis(2)));
    }

    #[test]
    fn a_wall_time_is_found_on_the_monotonic_clock() {
        let clock = WallClock::read();
        let between = monotonic();
        let wall = nanos(ClockId::CLOCK_REALTIME);
        // A second, so that a thread that is held up does not matter: a wrong sign is off by
        // decades.
        let off = clock.to_monotonic(wall) - between;
        assert!((-1_000_000..1_000_000_000).contains(&off), "{off}");
        assert_eq!(clock.of_monotonic(clock.to_monotonic(wall)), wall);
    }
}
