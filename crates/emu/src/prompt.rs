//! A thread that the kernel wakes without delay.

use std::mem;

/// A carrier that waits for a processor delays every packet, so it goes before ordinary programs.
const NICE: libc::c_int = -15;
/// The shortest turn on a processor that may be asked for, in nanoseconds. Since Linux 6.12 who asks for a shorter
/// turn than the running program has gets its processor at once, and not after the milliseconds of that one's turn.
const TURN_NANOS: u64 = 100_000;

/// Asks the kernel to wake this thread promptly: by default it may add 50 us to each wakeup, and
/// lets busy programs end their turn. What this user may not ask for costs accuracy, not correctness.
pub(crate) fn wake_promptly() {
    let _ = nix::sys::prctl::set_timerslack(1);
    // From the best to what every user may have.
    let _ = ask(Class::RealTime) || ask(Class::Nice) || ask(Class::Ordinary);
}

/// What to ask for.
#[derive(Clone, Copy)]
enum Class {
    /// Before every ordinary program, those of other sessions too, among which niceness does not count.
    RealTime,
    Nice,
    Ordinary,
}

/// Whether it was granted.
fn ask(class: Class) -> bool {
    // SAFETY: `sched_attr` is a C structure of integers, for which all zero is valid.
    let mut attributes: libc::sched_attr = unsafe { mem::zeroed() };
    attributes.size = mem::size_of::<libc::sched_attr>() as u32;
    match class {
        Class::RealTime => {
            attributes.sched_policy = libc::SCHED_FIFO as u32;
            attributes.sched_priority = 1;
        }
        Class::Nice | Class::Ordinary => {
            attributes.sched_policy = libc::SCHED_OTHER as u32;
            attributes.sched_nice = if matches!(class, Class::Nice) {
                NICE
            } else {
                0
            };
            attributes.sched_runtime = TURN_NANOS;
        }
    }
    // SAFETY: the kernel reads `size` bytes at the pointer, which is to a structure of that size that lives across
    // the call; thread 0 is the calling one, and no flags are given.
    let outcome = unsafe { libc::syscall(libc::SYS_sched_setattr, 0, &raw const attributes, 0) };
    outcome == 0
}

#[cfg(test)]
mod tests {
    #[test]
    fn an_ordinary_user_may_ask_for_short_turns() {
        let asked = std::thread::spawn(|| super::ask(super::Class::Ordinary)).join();
        assert!(asked.unwrap());
    }
}
