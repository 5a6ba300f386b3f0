//! The numbers that a verdict rests on.

use models::{Acks, Conditions, Response};
use units::{Rate, Span};

use super::Context;
use crate::{DirectionSummary, StreamCount, Summary, TcpSummary};

/// At this share of the best seen, the path and not the streams bounds a run.
const NEARLY_ALL: f64 = 0.9;

/// One direction of a run beside what is known of the path.
pub(super) struct Evidence<'a> {
    pub way: &'a DirectionSummary,
    pub tcp: &'a TcpSummary,
    pub context: &'a Context,
    /// Round-trip time of the empty path, as far as anything saw it.
    pub rtt_min: Option<Span>,
}

impl<'a> Evidence<'a> {
    pub fn new(summary: &Summary, way: &'a DirectionSummary, context: &'a Context) -> Self {
        let seen = [way.tcp.rtt_min, summary.rtt_unloaded, context.rtt_min];
        Evidence {
            way,
            tcp: &way.tcp,
            context,
            rtt_min: seen.into_iter().flatten().min(),
        }
    }

    pub fn goodput(&self) -> Rate {
        self.way.goodput.mean
    }

    pub fn streams(&self) -> usize {
        self.way.streams.len().max(1)
    }

    /// The most that the path has been seen to carry, this run included.
    pub fn best(&self) -> Rate {
        self.context
            .best_seen
            .map_or(self.goodput(), |best| best.max(self.goodput()))
    }

    /// Goodput as a share of the best seen.
    pub fn utilisation(&self) -> f64 {
        match self.best() {
            Rate::ZERO => 0.0,
            best => self.goodput().as_f64() / best.as_f64(),
        }
    }

    /// Goodput as a share of what more streams did not raise.
    pub fn share_of_plateau(&self) -> Option<f64> {
        let plateau = self
            .context
            .plateau
            .filter(|plateau| *plateau > Rate::ZERO)?;
        Some(self.goodput().as_f64() / plateau.as_f64())
    }

    /// Goodput with twice the streams.
    fn doubled(&self) -> Option<Rate> {
        let twice = |count: &StreamCount| usize::from(count.get()) == 2 * self.streams();
        let mut others = self.context.by_streams.iter();
        others.find_map(|(count, rate)| twice(count).then_some(*rate))
    }

    /// How much twice the streams brought: 2 when goodput doubled.
    pub fn gain(&self) -> Option<f64> {
        let doubled = self.doubled()?.as_f64();
        (self.goodput() > Rate::ZERO).then(|| doubled / self.goodput().as_f64())
    }

    /// Whether the run was long enough for windows to fall and grow back many times.
    pub fn is_long(&self) -> bool {
        self.rtt_min.is_some_and(|rtt| self.way.steady.is_long(rtt))
    }

    /// Whether twice the streams came so close to the best seen that the path bounded them.
    pub fn doubling_fills(&self) -> bool {
        let doubled = self.doubled().map_or(0.0, Rate::as_f64);
        doubled >= NEARLY_ALL * self.best().as_f64()
    }

    /// Time that packets waited in queues, on average.
    pub fn queueing(&self) -> Option<Span> {
        Some(self.tcp.rtt? - self.rtt_min?)
    }

    /// Queueing as a share of the empty path's round-trip time, when it is more than noise.
    pub fn standing_queue(&self) -> Option<f64> {
        self.tcp.standing_queue(self.rtt_min?)
    }

    /// Whether Mathis's formula gives no more than twice the rate of one stream for its losses.
    pub fn loss_explains_rate(&self) -> bool {
        let explained = || {
            let conditions = Conditions {
                segment: self.tcp.mss?,
                rtt: self.tcp.rtt?,
                loss: self.tcp.retransmitted_share?,
            };
            let mathis = Response::Reno(Acks::Every).rate(&conditions)?.as_f64();
            Some(mathis <= 2.0 * self.goodput().as_f64() / self.streams() as f64)
        };
        explained().unwrap_or(false)
    }
}
