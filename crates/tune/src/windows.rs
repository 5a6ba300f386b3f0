//! Larger windows, only where the kernel says that a buffer holds the streams back.
//!
//! A fixed window switches the kernel's growth off, so it wins only where the kernel may grow less
//! than a program may ask for. Where it does win, the climb goes on with it.

use observe::{HostLimits, StreamCount, Window};
use units::Bytes;

use crate::controls;
use crate::history::{History, main_direction};
use crate::plan::{Axis, GAIN_MIN};
use crate::strategy::Request;
use crate::tuning::{Purpose, Sample};

/// A larger window is this many times what is in flight: two samples then go from 64 KiB to 16 MiB.
const STEP: u64 = 16;
/// What the host grants must be this much more than what is in flight, in hundredths.
const WORTH_PERCENT: u64 = 150;
/// Share of busy time in which a buffer holds the streams back, from which on it is what binds.
const BINDS: f64 = 0.3;
/// Share of readings at which the peer's window was full, for senders whose kernel tells no times.
const FULL: f64 = 0.5;
/// A queue of this share of the round trip behind full buffers: the link is full as well.
const QUEUE_BEHIND: f64 = 0.5;

/// The window on which the climb to so many streams goes on: the kernel's own, or the last larger
/// one that gained.
pub(crate) fn climbing(history: &History, streams: StreamCount) -> Window {
    let tried = history.taken_for(Purpose::Window);
    let gained = tried
        .iter()
        .rev()
        .find(|sample| has_gained(history, sample));
    let first = || in_turn(history, streams).unwrap_or(Window::Auto);
    gained.map_or_else(first, |sample| sample.setting.window)
}

/// What several streams need of a program that writes them in turn.
fn in_turn(history: &History, streams: StreamCount) -> Option<Window> {
    let wanted = history.target.mover.as_ref()?.window_in_turn?;
    let granted = granted_max(history.limits()).unwrap_or(wanted);
    let may = streams > StreamCount::ONE && history.plan.searches(Axis::Window);
    may.then(|| Window::Fixed(wanted.min(granted)))
}

/// Whether a larger window carried more than the same streams with any smaller one.
fn has_gained(history: &History, sample: &Sample) -> bool {
    let smaller = history.candidates().into_iter().map(|(_, other)| other);
    let smaller = smaller.filter(|other| {
        other.streams() == sample.streams()
            && other.setting.congestion == sample.setting.congestion
            && other.setting.window < sample.setting.window
    });
    let before = smaller.map(|other| other.rate()).max();
    before.is_none_or(|before| sample.rate().as_f64() > (1.0 + GAIN_MIN) * before.as_f64())
}

/// The same streams with a larger window, where a buffer binds and the host grants more. Not with
/// bbr, whose further streams are tried first.
pub(crate) fn larger(history: &History) -> Option<Request> {
    let last = history.samples.last()?;
    let climbs = matches!(
        last.purpose,
        Purpose::Streams | Purpose::Window | Purpose::Remembered
    ) && !controls::is_unasked(history, last);
    let is_searched = history.plan.searches(Axis::Window) && !was_in_vain(history);
    if !climbs || !is_searched || !buffer_binds(history, last) {
        return None;
    }
    let flight = main_direction(last)?.tcp.flight?;
    let window = larger_than(flight, granted_max(history.limits()))?;
    let setting = history.setting(last.streams(), Window::Fixed(window));
    let why = format!(
        "a buffer holds the {} in flight; {} leaves room",
        flight.human(),
        window.human()
    );
    history.of(&setting).is_none().then_some(Request {
        setting,
        plan: history.sample_plan()?,
        purpose: Purpose::Window,
        why,
    })
}

/// Whether a larger window was asked for and a buffer binds all the same: that of the far end,
/// where a program sets only its own.
fn was_in_vain(history: &History) -> bool {
    let tried = history.taken_for(Purpose::Window);
    let mut tried = tried.iter();
    tried.any(|sample| buffer_binds(history, sample) && !has_gained(history, sample))
}

/// Whether a buffer and not the path bounds a sample.
pub(crate) fn buffer_binds(history: &History, sample: &Sample) -> bool {
    let Some(way) = main_direction(sample) else {
        return false;
    };
    let shares = [way.tcp.receive_window_share, way.tcp.send_buffer_share];
    let held = shares.into_iter().flatten().any(|share| share > BINDS);
    let full = way.tcp.window_full_share.is_some_and(|share| share > FULL);
    let queue = history
        .rtt_min()
        .and_then(|rtt| way.tcp.standing_queue(rtt));
    (held || full) && queue.is_none_or(|share| share < QUEUE_BEHIND)
}

fn larger_than(flight: Bytes, granted: Option<Bytes>) -> Option<Bytes> {
    let wanted = Bytes::new(flight.times(STEP).get().checked_next_power_of_two()?);
    let window = granted.map_or(wanted, |granted| wanted.min(granted));
    (window.times(100) >= flight.times(WORTH_PERCENT)).then_some(window)
}

/// The largest window that both ends grant; the far end is taken to be like this one.
pub(crate) fn granted_max(limits: Option<HostLimits>) -> Option<Bytes> {
    limits.map(|limits| limits.send_fixed_max.min(limits.receive_fixed_max))
}
