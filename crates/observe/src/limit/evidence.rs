//! The numbers that a verdict rests on.

use models::{Acks, Conditions, Response};
use units::{Bytes, Rate, Span};

use super::Context;
use crate::analysis::stands;
use crate::{DirectionSummary, OtherCount, Summary, TcpSummary};

/// At this share of the best seen, the path and not the streams bounds a run.
const NEARLY_ALL: f64 = 0.9;
/// A queue that holds this share of the bandwidth-delay product on average holds more when it is
/// full: CUBIC's window, which falls by 30 %, needs 0.43 to keep the pipe from emptying.
const DEEP: f64 = 0.35;
/// A queue below this share, even while many streams fill it, lets every fall of the window empty
/// the pipe.
const SHORT: f64 = 0.3;
/// More streams that lose this much have overflowed the queue.
const OVERFLOW_MIN: f64 = 0.003;
/// That holds at this many times what the fewer streams lost: random loss strikes all alike.
const OVERFLOW_GROWTH: f64 = 3.0;
/// Waiting beyond this on the idle path is cross traffic.
const WAIT_MIN: Span = Span::from_millis(1);
/// The same as a share of the round trip.
const WAIT_SHARE: f64 = 0.04;
/// Payload of a segment where it is unknown: that of Ethernet with time stamps.
pub(super) const SEGMENT: f64 = 1448.0;

/// One direction of a run beside what is known of the path.
pub(super) struct Evidence<'a> {
    pub summary: &'a Summary,
    pub way: &'a DirectionSummary,
    pub tcp: &'a TcpSummary,
    pub context: &'a Context,
    /// Round-trip time of the empty path, as far as anything saw it.
    pub rtt_min: Option<Span>,
}

impl<'a> Evidence<'a> {
    pub fn new(summary: &'a Summary, way: &'a DirectionSummary, context: &'a Context) -> Self {
        let seen = [way.tcp.rtt_min, summary.rtt_unloaded, context.rtt_min];
        Evidence {
            summary,
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

    /// The run with the fewest more streams that were sampled.
    pub fn more_streams(&self) -> Option<&OtherCount> {
        let more = |other: &&OtherCount| usize::from(other.streams.get()) > self.streams();
        let others = self.context.by_streams.iter().filter(more);
        others.min_by_key(|other| other.streams)
    }

    /// How much a doubling of the streams brought, on average where they were multiplied by more: 2
    /// when goodput grew as the streams did.
    pub fn gain_of_doubling(&self) -> Option<f64> {
        let more = self.more_streams()?;
        let times = f64::from(more.streams.get()) / self.streams() as f64;
        let gain = more.goodput.as_f64() / self.goodput().as_f64();
        (self.goodput() > Rate::ZERO).then(|| gain.powf(1.0 / times.log2()))
    }

    /// Whether the run was long enough for windows to fall and grow back many times.
    pub fn is_long(&self) -> bool {
        self.rtt_min.is_some_and(|rtt| self.way.steady.is_long(rtt))
    }

    /// Whether more streams came so close to the best seen that the path bounded them.
    pub fn more_streams_fill(&self) -> bool {
        let more = self
            .more_streams()
            .map_or(0.0, |more| more.goodput.as_f64());
        more >= NEARLY_ALL * self.best().as_f64()
    }

    /// Whether the sender's kernel told of losses at all.
    pub fn knows_tcp(&self) -> bool {
        self.tcp.retransmitted_share.is_some()
    }

    /// Time that packets waited in queues, on average.
    pub fn queueing(&self) -> Option<Span> {
        self.summary.queueing(self.rtt_min?)
    }

    /// Queueing as a share of the empty path's round-trip time, when it is more than noise.
    pub fn standing_queue(&self) -> Option<f64> {
        stands(self.queueing()?, self.rtt_min?)
    }

    /// The longest queueing of any run as a share of the empty path's round trip: the size of the
    /// queue in bandwidth-delay products, once something filled it.
    fn depth(&self) -> Option<f64> {
        let (queue, empty) = (self.context.queue_most?, self.rtt_min?);
        (empty > Span::ZERO).then(|| queue.as_secs_f64() / empty.as_secs_f64())
    }

    /// Whether the queue has held so much that one stream's bursts fit.
    pub fn queue_is_deep(&self) -> bool {
        self.depth().is_some_and(|depth| depth >= DEEP)
    }

    /// Whether the queue overflowed beside more streams and never held much: those lost many times
    /// what this run did.
    pub fn queue_is_short(&self) -> bool {
        let own = self.tcp.retransmitted_share.unwrap_or(0.0);
        let more = self
            .context
            .by_streams
            .iter()
            .filter_map(|other| other.retransmitted_share);
        let most = more.fold(0.0, f64::max);
        let overflowed = most > OVERFLOW_MIN && most > OVERFLOW_GROWTH * own;
        overflowed && self.depth().is_some_and(|depth| depth < SHORT)
    }

    /// The time that packets waited on average before any stream of ours sent, beyond what hosts
    /// add.
    pub fn waited_before(&self) -> Option<Span> {
        let (idle, empty) = (self.context.rtt_unloaded?, self.rtt_min?);
        let waited = idle - empty;
        let share = waited.as_secs_f64() / empty.as_secs_f64();
        (waited > WAIT_MIN && share > WAIT_SHARE).then_some(waited)
    }

    /// The loss that goes with the rate of one stream, by Mathis or by CUBIC's formula, whichever
    /// is more: a window of W segments goes with 1.5 / W^2, and with T (1.0538 / W)^(4/3) (RFC
    /// 9438, 5.1).
    pub fn loss_for_rate(&self) -> Option<f64> {
        let rtt = self.rtt_min?.as_secs_f64();
        let segment = self.tcp.mss.map_or(SEGMENT, Bytes::as_f64);
        let each = self.goodput().as_f64() / 8.0 / self.streams() as f64 / segment;
        let window = (each * rtt).max(1.0);
        let cubic = rtt * (1.0538 / window).powf(4.0 / 3.0);
        Some(cubic.max(1.5 / (window * window)).min(1.0))
    }

    /// Whether random loss that leaves a stream this rate would have struck in the steady window,
    /// and did not.
    ///
    /// By Mathis a window of W segments goes with a loss of 1.5 / W^2; three or more losses
    /// expected and none seen is chance in 5 % of all cases (Poisson, exp(-3)). CUBIC needs more
    /// loss for the same window, so it would have been struck sooner.
    pub fn excludes_random_loss(&self) -> bool {
        let unstruck = || {
            let segment = self.tcp.mss.map_or(SEGMENT, Bytes::as_f64);
            let each = self.goodput().as_f64() / 8.0 / self.streams() as f64 / segment;
            let window = each * self.rtt_min?.as_secs_f64();
            let sent = each * self.streams() as f64 * self.way.steady.length().as_secs_f64();
            Some(self.tcp.retransmits? == 0 && sent * 1.5 / (window * window).max(1.0) >= 3.0)
        };
        unstruck().unwrap_or(false)
    }

    /// Whether Mathis's formula gives no more than twice the rate of one stream for its losses.
    pub fn loss_explains_rate(&self) -> bool {
        let each = self.goodput().as_f64() / self.streams() as f64;
        self.mathis().is_some_and(|mathis| mathis <= 2.0 * each)
    }

    /// What Mathis's formula gives one stream for its losses, in bits per second.
    pub fn mathis(&self) -> Option<f64> {
        let conditions = Conditions {
            segment: self.tcp.mss?,
            rtt: self.tcp.rtt?,
            loss: self.tcp.retransmitted_share?,
        };
        Some(Response::Reno(Acks::Every).rate(&conditions)?.as_f64())
    }
}
