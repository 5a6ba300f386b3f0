//! Buffers of twice the size until throughput flattens, at one number of streams.
//!
//! Left out: buffers below 256 KiB, what the hosts of the paper had by default. On a path whose
//! queue overflows, a smaller one can carry more; a larger one is never tried where the hosts would
//! not grant it.

use observe::{StreamCount, Window};
use tune::History;
use units::{Bytes, Rate};

use super::sampling::{carried, default_window, gains, granted_max};

const WINDOW_MIN: Bytes = Bytes::from_kib(256);

/// Where the sampling of buffers stands.
pub(super) enum Buffers {
    /// This one is to be sampled next.
    Sample(Window),
    /// This one carried most.
    Found(Window),
}

/// At `streams` streams, of which the default window has been sampled before.
pub(super) fn buffers(history: &History, streams: StreamCount) -> Buffers {
    let auto = default_window(history);
    let mut best = (auto, carried(history, streams, auto).unwrap_or(Rate::ZERO));
    let mut before: Option<Rate> = None;
    for window in sizes(history).map(Window::Fixed) {
        let Some(rate) = carried(history, streams, window) else {
            return Buffers::Sample(window);
        };
        if rate > best.1 {
            best = (window, rate);
        }
        if before.is_some_and(|before| !gains(before, rate)) {
            break;
        }
        before = Some(rate);
    }
    Buffers::Found(best.0)
}

/// Up to the first that the hosts do not grant in full.
fn sizes(history: &History) -> impl Iterator<Item = Bytes> {
    let granted = granted_max(history);
    let larger = move |size: &Bytes| (*size < granted).then(|| size.times(2));
    std::iter::successors(Some(WINDOW_MIN), larger)
}
