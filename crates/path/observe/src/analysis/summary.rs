//! The figures that a run comes down to.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use stats::CONFIDENCE;
use units::{Bytes, Rate, Span, Time};

use crate::{Counted, StreamDirection};

/// Whether a run reached a steady rate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Steadiness {
    /// The rate settled; everything before was cut off as warm-up.
    Settled,
    /// It never settled, or the run was too short to tell: figures are over its later half.
    NeverSettled,
    /// Only totals are known, so figures are over the whole run.
    TotalsOnly,
}

/// The part of a run over which its figures hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SteadyWindow {
    /// Where the warm-up ends.
    pub from: Time,
    /// Where the readings end.
    pub to: Time,
    /// Whether a warm-up could be told apart.
    pub steadiness: Steadiness,
}

impl SteadyWindow {
    /// How long it is.
    pub fn length(&self) -> Span {
        self.to.since(self.from)
    }

    /// Whether `at` lies in it, both ends included.
    pub fn contains(&self, at: Time) -> bool {
        (self.from..=self.to).contains(&at)
    }
}

/// A range that holds the true rate with the stated confidence.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RateInterval {
    /// Lower end.
    #[serde(rename = "low_bits_per_second")]
    pub low: Rate,
    /// Upper end.
    #[serde(rename = "high_bits_per_second")]
    pub high: Rate,
    /// 0.95 for a 95 % interval.
    pub confidence: f64,
}

impl RateInterval {
    /// A 95 % interval.
    pub const fn new(low: Rate, high: Rate) -> Self {
        RateInterval {
            low,
            high,
            confidence: CONFIDENCE,
        }
    }

    /// `half_width` to either side of `mean`, both in bits per second; a rate is never below zero.
    pub(crate) fn around(mean: f64, half_width: f64) -> Self {
        let low = Rate::from_f64((mean - half_width).max(0.0));
        RateInterval::new(low, Rate::from_f64(mean + half_width))
    }

    /// Half of its width in bits per second.
    pub fn half_width(&self) -> f64 {
        (self.high.as_f64() - self.low.as_f64()) / 2.0
    }
}

/// Bytes delivered to the receiver per time, over the steady window.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Goodput {
    /// The mean.
    pub mean: Rate,
    /// Where the mean of a much longer run of the same setting lies with 95 % confidence; `None`
    /// when this run cannot tell, see [`DirectionSummary::unsettled`].
    pub interval: Option<RateInterval>,
    /// How far the scatter within this run leaves its own mean open. That is what a search stops
    /// by, and says nothing of another run: where losses are rare, all of this one may have been
    /// one half of a tooth.
    pub scatter: Option<RateInterval>,
}

/// One stream's part.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StreamGoodput {
    /// Its number within the run.
    pub number: u16,
    /// Its mean over the same window.
    pub goodput: Rate,
}

/// What the senders' kernels said over the steady window: differences from its start to its end,
/// summed over the streams of one direction.
///
/// Every figure is absent where no kernel gave what it needs.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct TcpSummary {
    /// Time with data outstanding, as a share of the window.
    #[serde(rename = "busy_ratio", skip_serializing_if = "Option::is_none")]
    pub busy_share: Option<f64>,
    /// Busy time held back by the receiver's window, as a share of busy time.
    #[serde(
        rename = "receive_window_limited_ratio",
        skip_serializing_if = "Option::is_none"
    )]
    pub receive_window_share: Option<f64>,
    /// Busy time held back by the send buffer, as a share of busy time.
    #[serde(
        rename = "send_buffer_limited_ratio",
        skip_serializing_if = "Option::is_none"
    )]
    pub send_buffer_share: Option<f64>,
    /// Readings at which the kernel had nothing left to send, as a share of all.
    #[serde(
        rename = "not_sent_empty_ratio",
        skip_serializing_if = "Option::is_none"
    )]
    pub not_sent_empty_share: Option<f64>,
    /// Readings with at least 90 % of the peer's window in flight, as a share of all.
    #[serde(rename = "window_full_ratio", skip_serializing_if = "Option::is_none")]
    pub window_full_share: Option<f64>,
    /// Mean window that the peer offered to one stream.
    #[serde(rename = "peer_window_bytes", skip_serializing_if = "Option::is_none")]
    pub peer_window: Option<Bytes>,
    /// The largest fall of the peer's window from its highest reading before, as a share of that: a
    /// receiver that keeps up offers a window that grows or stays.
    #[serde(skip)]
    pub peer_window_fall: Option<f64>,
    /// Mean bytes in flight of one stream.
    #[serde(rename = "flight_bytes", skip_serializing_if = "Option::is_none")]
    pub flight: Option<Bytes>,
    /// Mean congestion window of one stream.
    #[serde(
        rename = "congestion_window_bytes",
        skip_serializing_if = "Option::is_none"
    )]
    pub congestion_window: Option<Bytes>,
    /// Growth of one stream's congestion window from the first to the last third of the window.
    #[serde(
        rename = "congestion_window_growth_ratio",
        skip_serializing_if = "Option::is_none"
    )]
    pub congestion_window_growth: Option<f64>,
    /// Payload of a segment.
    #[serde(rename = "mss_bytes", skip_serializing_if = "Option::is_none")]
    pub mss: Option<Bytes>,
    /// Retransmitted bytes as a share of the bytes sent.
    #[serde(
        rename = "retransmitted_ratio",
        skip_serializing_if = "Option::is_none"
    )]
    pub retransmitted_share: Option<f64>,
    /// Retransmitted segments.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retransmits: Option<u64>,
    /// Segments of which an acknowledgement echoed a congestion mark, as a share of those that
    /// arrived. More than queues have marked: a receiver echoes a mark for about a round trip.
    /// Absent without ECN.
    #[serde(rename = "mark_echoed_ratio", skip_serializing_if = "Option::is_none")]
    pub mark_echoed_share: Option<f64>,
    /// Whether all streams agreed on ECN with the far end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ecn: Option<bool>,
    /// Retransmissions that the receiver reported as duplicates, as a share of retransmissions.
    #[serde(rename = "duplicate_ratio", skip_serializing_if = "Option::is_none")]
    pub duplicate_share: Option<f64>,
    /// Reordering events.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reorderings: Option<u64>,
    /// Mean smoothed round-trip time.
    #[serde(rename = "rtt_seconds", skip_serializing_if = "Option::is_none")]
    pub rtt: Option<Span>,
    /// Smallest round-trip time.
    #[serde(rename = "rtt_min_seconds", skip_serializing_if = "Option::is_none")]
    pub rtt_min: Option<Span>,
}

/// Everything about one direction of a run.
#[derive(Debug, Clone, PartialEq)]
pub struct DirectionSummary {
    /// Which way, seen from the client.
    pub direction: StreamDirection,
    /// The window over which the figures hold.
    pub steady: SteadyWindow,
    /// All streams together.
    pub goodput: Goodput,
    /// Why the run does not tell what a longer one would carry; `None` when it does, and goodput
    /// has an interval.
    pub unsettled: Option<Unsettled>,
    /// Who counted: the receiver, only where it did for every stream.
    pub counted: Counted,
    /// Each stream.
    pub streams: Vec<StreamGoodput>,
    /// Jain's fairness index over the streams: 1 when all get the same.
    pub fairness: Option<f64>,
    /// What the senders' kernels said.
    pub tcp: TcpSummary,
    /// Retransmitted segments over the whole run, warm-up included.
    pub retransmits_total: Option<u64>,
    /// The busiest thread at this end, as a share of one processor over the whole run.
    pub thread_cpu_share: Option<f64>,
}

/// The figures of one run.
#[derive(Debug, Clone, PartialEq)]
pub struct Summary {
    /// The direction or directions that carried data: sending first.
    pub directions: Vec<DirectionSummary>,
    /// This end's processor use as shares of one processor: (user, kernel).
    pub cpu_near: Option<(f64, f64)>,
    /// The far end's, the same way.
    pub cpu_far: Option<(f64, f64)>,
    /// Mean round-trip time before the streams.
    pub rtt_unloaded: Option<Span>,
    /// Mean round-trip time beside the streams: from probes, else as the streams' senders saw it.
    pub rtt_loaded: Option<Span>,
}

impl Summary {
    /// The direction that a run is judged by: sending, unless only the far end sent.
    pub fn main(&self) -> Option<&DirectionSummary> {
        self.directions.first()
    }

    /// Goodput of all directions together; zero when there was no stream.
    ///
    /// The directions' errors are taken as independent: half widths add as squares.
    pub fn goodput(&self) -> Goodput {
        let means = self.directions.iter().map(|way| way.goodput.mean.as_f64());
        let mean: f64 = means.sum();
        Goodput {
            mean: Rate::from_f64(mean),
            interval: self.together(mean, |goodput| goodput.interval),
            scatter: self.together(mean, |goodput| goodput.scatter),
        }
    }

    fn together(
        &self,
        mean: f64,
        of_one: impl Fn(&Goodput) -> Option<RateInterval>,
    ) -> Option<RateInterval> {
        let squares = self.directions.iter().map(|way| {
            let half = of_one(&way.goodput)?.half_width();
            Some(half * half)
        });
        let half = squares.sum::<Option<f64>>()?.sqrt();
        (mean > 0.0).then(|| RateInterval::around(mean, half))
    }

    /// Why the run does not tell what a longer one would carry; `None` when it does in all
    /// directions.
    pub fn unsettled(&self) -> Option<Unsettled> {
        self.directions.iter().find_map(|way| way.unsettled)
    }

    /// Round-trip time that the run added to the idle path's; `None` when one of the two is
    /// unknown.
    pub fn rtt_added(&self) -> Option<Span> {
        Some(self.rtt_loaded? - self.rtt_unloaded?)
    }
}

/// A standing queue: the round trip is longer than the empty path's by this share of it ...
const QUEUE_SHARE: f64 = 0.25;
/// The least of a standing queue: more than hosts alone add.
const QUEUE_MIN: Span = Span::from_micros(500);

impl TcpSummary {
    /// The time that packets waited in queues, as a share of the round trip `empty` of the idle
    /// path; `None` when it is no more than noise, or unknown.
    ///
    /// ```
    /// # use observe::TcpSummary;
    /// # use units::Span;
    /// let beside = |ms| TcpSummary { rtt: Some(Span::from_millis(ms)), ..TcpSummary::default() };
    /// // 148 ms beside the streams on a path of 20 ms: packets waited 6.4 round trips.
    /// assert_eq!(beside(148).standing_queue(Span::from_millis(20)), Some(6.4));
    /// assert_eq!(beside(22).standing_queue(Span::from_millis(20)), None);
    /// ```
    pub fn standing_queue(&self, empty: Span) -> Option<f64> {
        let waits = self.rtt? - empty;
        let share = waits.as_secs_f64() / empty.as_secs_f64();
        (waits > QUEUE_MIN && share > QUEUE_SHARE).then_some(share)
    }
}

/// Why a run does not tell what its setting carries in the long run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Unsettled {
    /// What is missing.
    pub why: Lacking,
    /// How long a run would have to be, about; `None` where that cannot be told.
    pub takes: Option<Span>,
}

/// What a run lacks to tell the long-run mean.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Lacking {
    /// Readings over time: only totals are known.
    Readings,
    /// Two seconds of readings.
    Time,
    /// A rate that has stopped rising or falling.
    Steadiness,
    /// Losses after slow start: they decide on the rate, and too few were seen.
    Losses,
    /// Narrowness: the interval would be nearly as wide as the mean.
    Evenness,
}
