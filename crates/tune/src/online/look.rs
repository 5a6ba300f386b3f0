//! What one number of streams showed, and whether another one is better.

use observe::{StreamCount, TcpSummary};
use units::{Bytes, Rate, Span};

use super::pool::Pool;
use crate::plan::Objective;

/// Payload of a segment where nobody told: that of Ethernet.
const SEGMENT: Bytes = Bytes::new(1448);
/// Of busy time: a buffer that holds the streams back for more than this binds.
const BUFFER_SHARE: f64 = 0.3;
/// Fewer packets on the way for each stream than this: most of them wait for timeouts.
const PACKETS_EACH: f64 = 2.0;

/// What each further stream must bring at the knee, as a share of what one of the others carries.
const SHARE_EACH: f64 = 0.1;
/// More streams must bring this share more, where the objective says no more than that they should.
const GAIN_MIN: f64 = 0.01;

/// What one number of streams showed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Look {
    pub streams: StreamCount,
    pub rate: Rate,
    /// Standard error of the rate, as a share of it.
    pub error: Option<f64>,
    pub rtt: Option<Span>,
    pub retransmitted_share: Option<f64>,
    /// A socket buffer held the streams back.
    pub buffer_binds: bool,
    /// The window that the receiver offered to one stream.
    pub peer_window: Option<Bytes>,
    segment: Bytes,
}

impl Look {
    pub fn of(streams: StreamCount, pool: &Pool) -> Self {
        let binds = |share: Option<f64>| share.is_some_and(|share| share >= BUFFER_SHARE);
        Look {
            streams,
            rate: pool.rate(),
            error: pool.error(),
            rtt: pool.rtt(),
            retransmitted_share: pool.retransmitted_share(),
            buffer_binds: binds(pool.receive_window_share()) || binds(pool.send_buffer_share()),
            peer_window: pool.tcp().peer_window,
            segment: pool.segment().unwrap_or(SEGMENT),
        }
    }

    /// Whether packets wait in a queue beside the streams: the link is full.
    pub fn queue_stands(&self, empty: Option<Span>) -> bool {
        let tcp = TcpSummary {
            rtt: self.rtt,
            ..TcpSummary::default()
        };
        empty.is_some_and(|empty| tcp.standing_queue(empty).is_some())
    }

    /// The streams for which there are packets enough on the way; `None` where there are enough for those that are.
    pub fn fewer_for_packets(&self) -> Option<StreamCount> {
        let on_the_way = self.rate.bytes_in(self.rtt?).as_f64() / self.segment.as_f64();
        let most = (on_the_way / PACKETS_EACH).floor().max(1.0) as u64;
        let most = StreamCount::new(most).ok()?;
        (most < self.streams).then_some(most)
    }

    /// What `objective` seeks to raise.
    fn score(&self, objective: Objective) -> f64 {
        let rate = self.rate.as_f64();
        match (objective, self.rtt) {
            (Objective::Power, Some(rtt)) if rtt > Span::ZERO => rate / rtt.as_secs_f64(),
            _ => rate,
        }
    }

    /// Whether it does more harm than `objective` allows.
    pub fn harms(&self, objective: Objective, empty: Option<Span>) -> bool {
        let Objective::Gentle {
            added_rtt_max,
            loss_max,
        } = objective
        else {
            return false;
        };
        let added = self.rtt.zip(empty).map(|(loaded, empty)| loaded - empty);
        let lost = self.retransmitted_share;
        added.is_some_and(|added| added > added_rtt_max) || lost.is_some_and(|lost| lost > loss_max)
    }

    /// How much better than `other` by what `objective` seeks, as a share.
    pub fn gain_over(&self, other: &Look, objective: Objective) -> f64 {
        match other.score(objective) {
            before if before > 0.0 => self.score(objective) / before - 1.0,
            _ => f64::INFINITY,
        }
    }
}

/// The least gain for which `objective` takes so many times the streams.
///
/// At the knee each of those that come must bring a tenth of what one of those before carries, too: a path that is nearly
/// full, or rates that still grow by themselves, would add streams without end otherwise.
pub(super) fn gain_wanted(objective: Objective, times: f64) -> f64 {
    match objective {
        Objective::Knee { share } => (1.0 - share).max(SHARE_EACH * (times - 1.0)),
        _ => GAIN_MIN,
    }
}

/// The most that `objective` gives away for fewer streams, as a share.
pub(super) fn loss_allowed(objective: Objective) -> f64 {
    match objective {
        Objective::Knee { share } => 1.0 - share,
        Objective::Gentle { .. } => GAIN_MIN,
        Objective::Max | Objective::Power => 0.0,
    }
}
