//! Larger windows, only where the kernel says that a buffer held the default stream back.
//!
//! A fixed window switches the kernel's growth off, so it wins only where the kernel may grow less
//! than a program may ask for.

use observe::{HostLimits, Limit, StreamCount, Window};
use units::Bytes;

use crate::history::{History, main_direction};
use crate::plan::GAIN_MIN;
use crate::strategy::Request;
use crate::tuning::{Purpose, Sample};

/// Windows ask for this much of the bandwidth-delay product in hundredths: a buffer also holds what
/// the kernel adds to the payload, and the highest goodput seen is not quite the capacity.
const ROOM_PERCENT: u64 = 125;
/// At most this many samples of larger windows: a first one, and two doublings of its streams.
const LARGER_MAX: usize = 3;
/// The smallest window worth asking for: a dozen packets.
const WINDOW_MIN: Bytes = Bytes::from_kib(16);
/// Streams at this share of the best need no larger window.
const NEARLY_BEST: f64 = 0.95;

/// A larger window where a buffer held the default stream back.
pub(crate) fn larger(history: &History) -> Option<Request> {
    let default = history.of(&history.setting(StreamCount::ONE, Window::Auto))?;
    let verdict = history.verdict(default);
    if !matches!(verdict.limit, Limit::ReceiveBuffer | Limit::SendBuffer) {
        return None;
    }
    match history.taken_for(Purpose::Window).as_slice() {
        [] => first_larger(history, default, verdict.limit),
        taken => more_streams(history, taken),
    }
}

/// As few streams as can hold the bandwidth-delay product in the windows that the host grants.
fn first_larger(history: &History, default: &Sample, limit: Limit) -> Option<Request> {
    let needed = percent_of(history.product()?, ROOM_PERCENT);
    let streams = fewest_streams(needed, granted_max(history.limits()))?;
    let window = window_for(needed, streams, granted_max(history.limits()));
    let enough = fewest_auto_streams(history)?;
    let larger = main_direction(default)?
        .tcp
        .flight
        .is_none_or(|flight| window > flight);
    if !larger || streams >= enough {
        return None;
    }
    let why = format!(
        "{limit} limits one stream; {streams} x {} hold the {} that fill the path",
        window.human(),
        needed.human(),
    );
    Some(request(history, streams, window, Purpose::Window, why))
}

/// The smallest ladder rung that came close to the best: fixed windows must do with fewer.
fn fewest_auto_streams(history: &History) -> Option<StreamCount> {
    let enough = NEARLY_BEST * history.rate_best()?.as_f64();
    let rungs = history.taken_for(Purpose::Streams);
    let reaching = rungs
        .iter()
        .filter(|sample| sample.rate().as_f64() >= enough);
    reaching.map(|sample| sample.streams()).min()
}

/// The same window with twice the streams, while that pays.
fn more_streams(history: &History, taken: &[&Sample]) -> Option<Request> {
    let last = taken.last().filter(|_| taken.len() < LARGER_MAX)?;
    let Window::Fixed(window) = last.setting.window else {
        return None;
    };
    let before = match taken {
        [.., before, _] => before.rate(),
        _ => history
            .of(&history.setting(last.streams(), Window::Auto))?
            .rate(),
    };
    let pays = last.rate().as_f64() > (1.0 + GAIN_MIN) * before.as_f64();
    let best = last.rate() >= history.rate_best()?;
    let streams = last
        .streams()
        .doubled()
        .filter(|next| *next <= history.plan.streams_max)?;
    let fewer = best || streams < fewest_auto_streams(history)?;
    let verdict = history.verdict(last).limit;
    (pays && fewer && verdict != Limit::Link).then(|| {
        let why = format!("{} x {} still gained", last.streams(), window.human());
        request(history, streams, window, Purpose::Window, why)
    })
}

/// The largest window that both ends grant; the far end is taken to be like this one.
pub(crate) fn granted_max(limits: Option<HostLimits>) -> Option<Bytes> {
    limits.map(|limits| limits.send_fixed_max.min(limits.receive_fixed_max))
}

fn fewest_streams(needed: Bytes, granted: Option<Bytes>) -> Option<StreamCount> {
    let Some(granted) = granted.filter(|granted| *granted > Bytes::ZERO) else {
        return Some(StreamCount::ONE);
    };
    let streams = needed.get().div_ceil(granted.get()).max(1);
    StreamCount::new(streams.checked_next_power_of_two()?).ok()
}

/// One stream's share of `needed`, rounded up to a power of two, within what the host grants.
pub(crate) fn window_for(needed: Bytes, streams: StreamCount, granted: Option<Bytes>) -> Bytes {
    let share = needed.get().div_ceil(u64::from(streams.get()));
    let window = Bytes::new(share.checked_next_power_of_two().unwrap_or(share)).max(WINDOW_MIN);
    granted.map_or(window, |granted| window.min(granted))
}

fn percent_of(bytes: Bytes, percent: u64) -> Bytes {
    Bytes::new(bytes.times(percent).get() / 100)
}

pub(crate) fn request(
    history: &History,
    streams: StreamCount,
    window: Bytes,
    purpose: Purpose,
    why: String,
) -> Request {
    Request {
        setting: history.setting(streams, Window::Fixed(window)),
        plan: history.plan.sample_plan(history.rtt_for_sampling()),
        purpose,
        why,
    }
}
