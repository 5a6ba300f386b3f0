//! Additive increase, multiplicative decrease (RFC 5681).

use super::{Acked, Window};

/// One segment more each round trip, half as many after a loss.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Aimd;

impl Aimd {
    /// RFC 5681 section 3.1: slow start below the threshold, then equation 3.
    #[inline]
    pub(crate) fn on_ack(&mut self, window: &mut Window, acked: &Acked) {
        if acked.must_not_grow {
            return;
        }
        let mut growth = acked.growth;
        if window.is_in_slow_start() {
            growth = window.slow_start(growth);
        }
        window.size += growth / window.size;
    }

    /// RFC 5681 equation 4.
    pub(crate) fn on_congestion(&mut self, window: &mut Window) {
        window.cut_to(window.size / 2.0);
    }
}
