//! How a window grows and shrinks.

mod aimd;
mod cubic;
mod hystart;

use units::{Rate, Span, Time};

use crate::Variant;
use crate::scenario::Growth;

pub(crate) use aimd::Aimd;
pub(crate) use cubic::Cubic;

/// No window is smaller after a loss (RFC 5681 section 3.1).
pub(crate) const WINDOW_MIN: f64 = 2.0;

/// The congestion window and where slow start ends, in segments.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Window {
    pub size: f64,
    pub threshold: f64,
}

impl Window {
    pub(crate) fn new(initial: u32) -> Self {
        Window {
            size: f64::from(initial),
            threshold: f64::INFINITY,
        }
    }

    #[inline]
    pub(crate) fn is_in_slow_start(&self) -> bool {
        self.size < self.threshold
    }

    /// Grows by `segments`, up to the threshold; what is left is for congestion avoidance.
    #[inline]
    pub(crate) fn slow_start(&mut self, segments: f64) -> f64 {
        let grown = (self.size + segments).min(self.threshold);
        let left = segments - (grown - self.size);
        self.size = grown;
        left
    }

    /// Shrinks to `size`, and slow start ends there.
    pub(crate) fn cut_to(&mut self, size: f64) {
        self.size = size.max(WINDOW_MIN);
        self.threshold = self.size;
    }
}

/// An acknowledgement as congestion control sees it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Acked {
    pub now: Time,
    /// Segments that it covers for the first time, in order or not.
    pub delivered: u32,
    /// What the window may grow by: segments, or one for the acknowledgement ([`Growth`]).
    pub growth: f64,
    /// What this acknowledgement measured.
    pub round_trip: Option<Span>,
    pub round_trip_smoothed: Span,
    pub round_trip_min: Span,
    /// Segments on the way now.
    pub pipe: u32,
    /// First segment not acknowledged, and the one to be sent next.
    pub una: u32,
    pub next: u32,
    /// Losses are being repaired: the window must not grow.
    pub in_recovery: bool,
}

impl Growth {
    /// What a window may grow by when `segments` are acknowledged at once.
    #[inline]
    pub(crate) fn of(self, segments: u32) -> f64 {
        match self {
            Growth::PerAcknowledgement => f64::from(segments.min(1)),
            Growth::PerByte => f64::from(segments),
        }
    }
}

/// Congestion control of one flow.
#[derive(Debug, Clone)]
pub(crate) enum Control {
    Aimd(Aimd),
    Cubic(Cubic),
}

impl Control {
    pub(crate) fn new(variant: Variant) -> Self {
        match variant {
            Variant::Cubic => Control::Cubic(Cubic::new()),
            _ => Control::Aimd(Aimd),
        }
    }

    /// Something was acknowledged.
    #[inline]
    pub(crate) fn on_ack(&mut self, window: &mut Window, acked: &Acked) {
        match self {
            Control::Aimd(aimd) => aimd.on_ack(window, acked),
            Control::Cubic(cubic) => cubic.on_ack(window, acked),
        }
    }

    /// A loss or a mark: once for all that were on the way together.
    pub(crate) fn on_congestion(&mut self, window: &mut Window, now: Time) {
        match self {
            Control::Aimd(aimd) => aimd.on_congestion(window),
            Control::Cubic(cubic) => cubic.on_congestion(window, now),
        }
    }

    /// The retransmission timer went off; the window falls to one segment.
    pub(crate) fn on_timeout(&mut self, window: &mut Window, now: Time) {
        self.on_congestion(window, now);
        window.size = 1.0;
    }

    /// How fast segments may leave; `None` as fast as the window opens.
    #[inline]
    pub(crate) fn pacing(&self) -> Option<Rate> {
        None
    }
}
