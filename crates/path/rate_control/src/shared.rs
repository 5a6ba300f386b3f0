//! What is sent beside others who fill the queue, too: no more than CUBIC would.

use units::{Span, Time};

use crate::cubic::CubicWindow;

/// The share of the longest wait that is left where a probe has emptied the queue.
const EMPTY: f64 = 0.1;
/// Windows of the last loss that show, without a queue, that the path carries more.
const ROOM: f64 = 1.25;
/// So many probes in a row may find the queue of others; then the path itself may have become
/// longer.
const PROBES_MAX: u32 = 6;

#[derive(Debug, Clone)]
pub(crate) struct Shared {
    cubic: CubicWindow,
    /// The window in packets.
    size: f64,
    /// Of the probe: the smallest round trip before it, and the rate in bits per second.
    least: Span,
    rate: f64,
    probes: u32,
}

/// Packets below which no window falls.
const LEAST: f64 = 2.0;

impl Shared {
    /// Others were met with so many packets on the way.
    pub(crate) fn new(size: f64) -> Self {
        Shared {
            cubic: CubicWindow::default(),
            size,
            least: Span::ZERO,
            rate: 0.0,
            probes: 0,
        }
    }

    pub(crate) fn size(&self) -> f64 {
        self.size
    }

    pub(crate) fn cut(&mut self) {
        self.size = self.cubic.cut(self.size).max(LEAST);
    }

    pub(crate) fn grow(&mut self, now: Time, round_trip: Span, acked: f64) {
        self.size = self.cubic.grown(self.size, now, round_trip, acked);
    }

    /// The window is far larger than it was when the queue was full.
    pub(crate) fn has_room(&self) -> bool {
        self.size >= ROOM * self.cubic.prior()
    }

    /// The rate before the probe, in bits per second.
    pub(crate) fn rate(&self) -> f64 {
        self.rate
    }

    /// Bytes of the rate in the smallest round trip.
    pub(crate) fn product(&self) -> f64 {
        self.rate / 8.0 * self.least.as_secs_f64()
    }

    pub(crate) fn begin_probe(&mut self, least: Span, rate: f64) {
        (self.least, self.rate) = (least, rate);
    }

    /// Whether others fill the queue, by the smallest round trip of the probe: then the one that
    /// counts.
    pub(crate) fn stays(&mut self, found: Span, longest: Span) -> Option<Span> {
        let over = |span: Span| (span.as_secs_f64() - self.least.as_secs_f64()).max(0.0);
        self.probes += 1;
        let stays = over(found) > EMPTY * over(longest) && self.probes <= PROBES_MAX;
        stays.then_some(self.least)
    }
}
