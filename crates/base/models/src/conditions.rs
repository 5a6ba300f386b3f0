//! What one stream meets on its path.

use units::{Bytes, Rate, Span};

/// What one stream meets on its path.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Conditions {
    /// Payload of a full segment.
    pub segment: Bytes,
    /// Round-trip time, queues included.
    pub rtt: Span,
    /// Loss events for each packet sent, 0 to 1.
    pub loss: f64,
}

impl Conditions {
    /// The rate at which a window of so many segments is sent once a round trip.
    ///
    /// `None` for an empty segment or a round-trip time of zero.
    pub(crate) fn rate_of(&self, window_segments: f64) -> Option<Rate> {
        let usable = self.segment > Bytes::ZERO && self.rtt > Span::ZERO;
        let bits = window_segments * self.segment.as_f64() * 8.0;
        usable.then(|| Rate::from_f64(bits / self.rtt.as_secs_f64()))
    }

    /// `window` counted in segments; `None` when it or the segment is empty.
    pub(crate) fn segments_in(&self, window: Bytes) -> Option<f64> {
        let usable = self.segment > Bytes::ZERO && window > Bytes::ZERO;
        usable.then(|| window.as_f64() / self.segment.as_f64())
    }

    /// The loss, when there is some and it is a share.
    pub(crate) fn some_loss(&self) -> Option<f64> {
        (self.loss > 0.0 && self.loss <= 1.0).then_some(self.loss)
    }
}

/// How the receiver acknowledges.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Acks {
    /// Every segment.
    Every,
    /// Every second segment (delayed acknowledgements, RFC 9293 section 3.8.6.3).
    Delayed,
}

impl Acks {
    /// Segments covered by one acknowledgement.
    pub fn segments(self) -> f64 {
        match self {
            Acks::Every => 1.0,
            Acks::Delayed => 2.0,
        }
    }

    /// Factor by which slow start grows the window in one round trip: `1 + 1/segments`.
    ///
    /// Source: Cardwell, Savage and Anderson, "Modeling TCP latency", INFOCOM 2000. Linux counts
    /// bytes (RFC 3465) and doubles either way; 1.5 holds where a sender counts acknowledgements.
    pub fn slow_start_growth(self) -> f64 {
        1.0 + 1.0 / self.segments()
    }
}
