//! How a window grows and shrinks.

mod aimd;
mod bbr;
mod cubic;
mod ensemble;
mod fast;
mod highspeed;
mod hystart;
mod ledbat;
mod netblt;
mod path_model;
mod rbudp;
mod round;
mod scalable;
mod udt;
mod vegas;

use units::{Bytes, Rate, Span, Time};

use crate::Variant;
use crate::scenario::Growth;

use aimd::Aimd;
use bbr::Bbr;
use cubic::Cubic;
pub(crate) use ensemble::Common;
use ensemble::Ensemble;
use fast::Fast;
use highspeed::HighSpeed;
use ledbat::LedbatPlusPlus;
use netblt::Netblt;
use path_model::PathModel;
use rbudp::Rbudp;
use scalable::Scalable;
use udt::Udt;
use vegas::Vegas;

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
    /// Segments that it shows to be lost.
    pub lost: u32,
    /// Losses are being repaired, or the acknowledgement echoes a mark (RFC 3168 section 6.1.2).
    pub must_not_grow: bool,
    /// Losses are being repaired.
    pub in_recovery: bool,
    /// What was outstanding at a timeout is not acknowledged yet.
    pub after_timeout: bool,
}

/// What a sender knows before it begins.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Facts {
    /// Size of a full segment on the wire.
    pub segment: Bytes,
    /// Segments sent before the first acknowledgement.
    pub initial_window: u32,
    /// The path's rate divided by the streams that share it.
    pub share: Rate,
    /// Decides what is left to chance.
    pub seed: u64,
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

/// Congestion control of one flow. What has a state keeps it elsewhere: the simplest kinds, of
/// which there may be thousands, then need no memory but the sender's.
#[derive(Debug, Clone)]
pub(crate) enum Control {
    Aimd(Aimd),
    Cubic(Box<Cubic>),
    HighSpeed(HighSpeed),
    Scalable(Scalable),
    Vegas(Box<Vegas>),
    Fast(Box<Fast>),
    LedbatPlusPlus(Box<LedbatPlusPlus>),
    Bbr(Box<Bbr>),
    PathModel(Box<PathModel>),
    Udt(Box<Udt>),
    Rbudp(Rbudp),
    Netblt(Box<Netblt>),
    Ensemble(Box<Ensemble>),
}

impl Control {
    pub(crate) fn new(variant: Variant, facts: &Facts) -> Self {
        match variant {
            Variant::Tahoe | Variant::Reno | Variant::NewReno | Variant::Sack | Variant::Fack => {
                Control::Aimd(Aimd)
            }
            Variant::Cubic => Control::Cubic(Box::new(Cubic::new())),
            Variant::HighSpeed => Control::HighSpeed(HighSpeed),
            Variant::Scalable => Control::Scalable(Scalable),
            Variant::Vegas => Control::Vegas(Box::new(Vegas::new())),
            Variant::Fast => Control::Fast(Box::new(Fast::new())),
            Variant::LedbatPlusPlus => Control::LedbatPlusPlus(Box::new(LedbatPlusPlus::new())),
            Variant::Bbr => Control::Bbr(Box::new(Bbr::new(facts))),
            Variant::PathModel => Control::PathModel(Box::new(PathModel::new(facts))),
            Variant::Udt => Control::Udt(Box::new(Udt::new(facts))),
            Variant::Rbudp => Control::Rbudp(Rbudp::new(facts)),
            Variant::Netblt => Control::Netblt(Box::new(Netblt::new(facts))),
            Variant::Ensemble => {
                Control::Ensemble(Box::new(Common::new(facts.initial_window).ensemble))
            }
        }
    }

    /// The connection stands.
    pub(crate) fn on_connected(&mut self, window: &mut Window, round_trip: Span, now: Time) {
        match self {
            Control::Bbr(bbr) => bbr.on_connected(window, round_trip, now),
            Control::PathModel(model) => model.on_connected(window, now),
            Control::Udt(udt) => udt.on_connected(window, now),
            Control::Rbudp(_) => Rbudp::open(window),
            Control::Netblt(_) => Netblt::open(window),
            Control::Ensemble(ensemble) => {
                ensemble.join();
                *window = ensemble.share();
            }
            _ => {}
        }
    }

    /// A segment leaves. `una` is the first that is not acknowledged; `first` tells that nothing
    /// else is outstanding.
    #[inline]
    pub(crate) fn on_sent(&mut self, number: u32, una: u32, first: bool, now: Time) {
        match self {
            Control::Bbr(bbr) => bbr.on_sent(number, una, first, now),
            Control::PathModel(model) => model.on_sent(number, una, now),
            _ => {}
        }
    }

    /// Segments are acknowledged, in order or not; some of them perhaps were before.
    #[inline]
    pub(crate) fn on_delivered(&mut self, numbers: impl Iterator<Item = u32>, now: Time) {
        match self {
            Control::Bbr(bbr) => numbers.for_each(|number| bbr.on_delivered(number, now)),
            Control::PathModel(model) => numbers.for_each(|number| model.on_delivered(number, now)),
            _ => {}
        }
    }

    /// Something was acknowledged.
    #[inline]
    pub(crate) fn on_ack(&mut self, window: &mut Window, acked: &Acked) {
        match self {
            Control::Aimd(aimd) => aimd.on_ack(window, acked),
            Control::Cubic(cubic) => cubic.on_ack(window, acked),
            Control::HighSpeed(highspeed) => highspeed.on_ack(window, acked),
            Control::Scalable(scalable) => scalable.on_ack(window, acked),
            Control::Vegas(vegas) => vegas.on_ack(window, acked),
            Control::Fast(fast) => fast.on_ack(window, acked),
            Control::LedbatPlusPlus(ledbat) => ledbat.on_ack(window, acked),
            Control::Bbr(bbr) => bbr.on_ack(window, acked),
            Control::PathModel(model) => model.on_ack(window, acked),
            Control::Udt(udt) => udt.on_ack(window, acked),
            Control::Rbudp(_) => Rbudp::open(window),
            Control::Netblt(netblt) => netblt.on_ack(window, acked),
            Control::Ensemble(ensemble) => ensemble.on_ack(window, acked),
        }
    }

    /// A loss or a mark: once for all that were on the way together.
    pub(crate) fn on_congestion(&mut self, window: &mut Window, now: Time) {
        match self {
            Control::Aimd(aimd) => aimd.on_congestion(window),
            Control::Cubic(cubic) => cubic.on_congestion(window, now),
            Control::HighSpeed(highspeed) => highspeed.on_congestion(window),
            Control::Scalable(scalable) => scalable.on_congestion(window),
            Control::Vegas(vegas) => vegas.on_congestion(window),
            Control::Fast(fast) => fast.on_congestion(window),
            Control::LedbatPlusPlus(ledbat) => ledbat.on_congestion(window),
            Control::Bbr(bbr) => bbr.on_congestion(window),
            Control::Udt(udt) => udt.on_congestion(),
            Control::PathModel(_) | Control::Rbudp(_) | Control::Netblt(_) => {}
            Control::Ensemble(ensemble) => ensemble.on_congestion(window, now),
        }
    }

    /// A mark, once a round trip: as a loss, also for those that losses alone do not slow down.
    pub(crate) fn on_mark(&mut self, window: &mut Window, now: Time) {
        match self {
            Control::PathModel(model) => model.on_mark(window, now),
            _ => self.on_congestion(window, now),
        }
    }

    /// Whether its segments say that they understand marks whatever the hosts' TCP does: those of
    /// streams over UDP do.
    #[inline]
    pub(crate) fn always_speaks_ecn(&self) -> bool {
        matches!(self, Control::PathModel(_))
    }

    /// The retransmission timer went off; a window falls to one segment.
    pub(crate) fn on_timeout(&mut self, window: &mut Window, now: Time) {
        match self {
            Control::Bbr(bbr) => bbr.on_timeout(window),
            Control::PathModel(model) => model.on_timeout(),
            Control::Udt(_) | Control::Rbudp(_) | Control::Netblt(_) => {}
            Control::Cubic(cubic) => cubic.on_timeout(window, now),
            Control::Ensemble(ensemble) => ensemble.on_timeout(window, now),
            _ => {
                self.on_congestion(window, now);
                window.size = 1.0;
            }
        }
    }

    /// How fast segments may leave; `None` as fast as the window opens.
    #[inline]
    pub(crate) fn pacing(&self) -> Option<Rate> {
        match self {
            Control::Bbr(bbr) => bbr.pacing(),
            Control::PathModel(model) => Some(model.pacing()),
            Control::Udt(udt) => Some(udt.pacing()),
            Control::Rbudp(rbudp) => Some(rbudp.pacing()),
            Control::Netblt(netblt) => Some(netblt.pacing()),
            _ => None,
        }
    }

    /// Whether a loss reduces its window in proportion to what arrives where hosts are as Linux: of
    /// those whose window is that of RFC 5681 with another size of the cut.
    #[inline]
    pub(crate) fn reduces_in_proportion(&self) -> bool {
        matches!(
            self,
            Control::Aimd(_) | Control::Cubic(_) | Control::HighSpeed(_) | Control::Scalable(_)
        )
    }

    /// What the streams of an ensemble have in common; `None` of any other flow.
    pub(crate) fn ensemble(&mut self) -> Option<&mut Ensemble> {
        match self {
            Control::Ensemble(ensemble) => Some(ensemble),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests;
