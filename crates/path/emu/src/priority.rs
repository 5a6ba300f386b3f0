//! A thread that the kernel wakes without delay.

use std::mem;

/// A carrier that waits for a processor delays every packet, so it goes before ordinary programs.
const NICE: libc::c_int = -15;
/// The shortest turn on a processor that may be asked for, in nanoseconds. Since Linux 6.12 who
/// asks for a shorter turn than the running program has gets its processor at once, and not after
/// the milliseconds of that one's turn.
const TURN_NANOS: u64 = 100_000;

/// Asks the kernel to wake this thread promptly: by default it may add 50 us to each wakeup, and
/// lets busy programs end their turn. What this user may not ask for costs accuracy, not
/// correctness.
///
/// Real-time threads would be woken sooner still on a busy machine. On an idle one they do harm:
/// such a thread is woken on the processor where its packet was sent, in place of the sender, which
/// then waits while the carrier watches.
pub(crate) fn wake_promptly() {
    let _ = nix::sys::prctl::set_timerslack(1);
    // From the better to what every user may have.
    let _ = ask(NICE) || ask(0);
}

/// Whether short turns were granted, at this niceness.
fn ask(nice: i32) -> bool {
    // SAFETY: `sched_attr` is a C structure of integers, for which all zero is valid.
    let mut attributes: libc::sched_attr = unsafe { mem::zeroed() };
    attributes.size = mem::size_of::<libc::sched_attr>() as u32;
    attributes.sched_policy = libc::SCHED_OTHER as u32;
    attributes.sched_nice = nice;
    attributes.sched_runtime = TURN_NANOS;
    // SAFETY: the kernel reads `size` bytes at the pointer, which is to a structure of that size
    // that lives across the call; thread 0 is the calling one, and no flags are given.
    let outcome = unsafe { libc::syscall(libc::SYS_sched_setattr, 0, &raw const attributes, 0) };
    outcome == 0
}

#[cfg(test)]
mod tests {
    #[test]
    fn an_ordinary_user_may_ask_for_short_turns() {
        let asked = std::thread::spawn(|| super::ask(0)).join();
        assert!(asked.unwrap());
    }
}
