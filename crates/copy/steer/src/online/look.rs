//! What one number of streams showed, and whether another number is better.

use observe::{StreamCount, TcpSummary};
use units::{Bytes, Rate, Span};

use super::pool::Pool;
use models::Objective;

/// Payload of a segment where it is not known: that of Ethernet.
const SEGMENT: Bytes = Bytes::new(1448);
/// Share of busy time from which a buffer that limits the streams binds.
const BUFFER_SHARE: f64 = 0.3;

/// Multiple of the path's own losses that streams may have: short looks at one loss rate differ by
/// as much.
const PATH_LOSS_ROOM: f64 = 1.5;
/// Where three quarters of the streams lose less than this share, the streams caused the losses.
const SAME_LOSS: f64 = 0.75;

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
    /// What all streams may have on the way by their congestion windows.
    windows: Option<Bytes>,
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
            windows: pool
                .tcp()
                .congestion_window
                .map(|each| each.times(streams.get().into())),
            segment: pool.segment().unwrap_or(SEGMENT),
        }
    }

    /// Whether packets wait in a queue: the link is full.
    pub fn queue_stands(&self, empty: Option<Span>) -> bool {
        let tcp = TcpSummary {
            rtt: self.rtt,
            ..TcpSummary::default()
        };
        empty.is_some_and(|empty| tcp.standing_queue(empty).is_some())
    }

    /// Packets that fit on the path: the rate times the round trip under load, or the windows where
    /// they are larger. A busy host sends little with windows that stay; those of too many streams
    /// are down to a packet or two.
    pub fn packets(&self) -> Option<f64> {
        let carried = self.rate.bytes_in(self.rtt?);
        let room = carried.max(self.windows.unwrap_or(Bytes::ZERO));
        Some(room.as_f64() / self.segment.as_f64())
    }

    /// What `objective` seeks to raise.
    fn score(&self, objective: Objective) -> f64 {
        let rate = self.rate.as_f64();
        match (objective, self.rtt) {
            (Objective::Power, Some(rtt)) if rtt > Span::ZERO => rate / rtt.as_secs_f64(),
            _ => rate,
        }
    }

    /// Whether it does more harm than `objective` allows, on a path that itself loses the share
    /// `path_loss`.
    pub fn harms(&self, objective: Objective, empty: Option<Span>, path_loss: f64) -> bool {
        self.delays(objective, empty) || self.loses(objective, path_loss)
    }

    fn delays(&self, objective: Objective, empty: Option<Span>) -> bool {
        let added = self.rtt.zip(empty).map(|(loaded, empty)| loaded - empty);
        match objective {
            Objective::Gentle { added_rtt_max, .. } => {
                added.is_some_and(|added| added > added_rtt_max)
            }
            _ => false,
        }
    }

    fn loses(&self, objective: Objective, path_loss: f64) -> bool {
        let lost = self.retransmitted_share;
        match objective {
            Objective::Gentle { loss_max, .. } => {
                let allowed = loss_max.max(PATH_LOSS_ROOM * path_loss);
                lost.is_some_and(|lost| lost > allowed)
            }
            _ => false,
        }
    }

    /// Loss rate of the path itself, as far as this look tells: fewer streams than `before` lose as
    /// much.
    pub fn path_loss(
        &self,
        before: &Look,
        objective: Objective,
        empty: Option<Span>,
    ) -> Option<f64> {
        let (lost, more) = (self.retransmitted_share?, before.retransmitted_share?);
        let is_the_paths = lost >= SAME_LOSS * more && !self.delays(objective, empty);
        (self.loses(objective, 0.0) && is_the_paths).then_some(lost)
    }

    /// How much better than `other` by what `objective` seeks, as a share.
    pub fn gain_over(&self, other: &Look, objective: Objective) -> f64 {
        match other.score(objective) {
            before if before > 0.0 => self.score(objective) / before - 1.0,
            _ => f64::INFINITY,
        }
    }
}

/// Fewer packets on the way for each stream than this: most of them wait for timeouts.
const PACKETS_EACH: f64 = 2.0;

/// The most streams for so many packets on the way.
pub(super) fn streams_for_packets(packets: f64) -> StreamCount {
    let most = (packets / PACKETS_EACH).floor().max(1.0) as u64;
    StreamCount::new(most).unwrap_or(StreamCount::MAX)
}

/// The least gain for which `objective` takes so many times the streams.
///
/// At the knee each new stream must also bring a tenth of what one of the others carries. Otherwise
/// a path that is nearly full, or rates that still grow, would add streams without end.
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
