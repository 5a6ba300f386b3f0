//! At which hop the queue grows: a trace of the idle path beside one under load.
//!
//! Round trips grow with every hop that a probe passes, so what a queue adds shows at the first hop
//! behind it and at all later ones. A rise that later hops do not show is the router's own slowness
//! in answering. Medians are compared, since one probe may meet a burst.
//!
//! Left out: which direction the queue is in. An answer comes back through the queues of the other
//! direction, and from a router that may use another way back.

use observe::{Hop, HopAnswer, Trace};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use stats::median;
use units::Span;

/// A rise is one from here on, whatever the path: routers need up to some milliseconds to answer at
/// all.
pub const RISE_MIN: Span = Span::from_millis(2);
/// And from this share of the largest rise on: what a nearer hop shows of it is noise.
pub const RISE_SHARE: f64 = 0.5;
/// Probes of a hop that have to be answered in each trace, so that its median is more than chance.
const ANSWERS_MIN: usize = 2;

/// A path idle and loaded.
#[derive(Debug, Clone, PartialEq)]
pub struct Comparison {
    /// The hops of both traces, nearest first.
    pub hops: Vec<HopChange>,
    /// Where the queue grows; `None` where nothing rose, or it cannot be told where.
    pub queue: Option<QueueAt>,
}

/// One hop idle and loaded.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct HopChange {
    /// Routers up to and including this one.
    pub distance: u8,
    /// Before the load.
    pub idle: HopSummary,
    /// Under load.
    pub loaded: HopSummary,
    /// How much later its answers came under load, by the medians; zero when they came earlier.
    /// `None` where one of the two has too few.
    pub rise: Option<Span>,
}

/// The probes of one hop in short.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct HopSummary {
    /// Probes sent.
    pub probes: usize,
    /// Probes answered.
    pub answers: usize,
    /// The shortest round trip.
    pub rtt_min: Option<Span>,
    /// The median round trip.
    pub rtt_median: Option<Span>,
}

/// The queue of the link that leads to a hop.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct QueueAt {
    /// The last hop that can be told to lie before it; 0 for this host itself.
    pub after: u8,
    /// The first hop behind it. More than one further than `after` where those between said
    /// nothing.
    #[serde(rename = "distance")]
    pub hop: u8,
    /// What it adds to a round trip: the least rise of that hop and those behind it.
    #[serde(rename = "added_seconds")]
    pub rise: Span,
}

impl HopSummary {
    fn of(hop: &Hop) -> Self {
        let answers: Vec<HopAnswer> = hop.probes.iter().flatten().copied().collect();
        let seconds: Vec<f64> = answers
            .iter()
            .map(|answer| answer.rtt.as_secs_f64())
            .collect();
        HopSummary {
            probes: hop.probes.len(),
            answers: answers.len(),
            rtt_min: answers.iter().map(|answer| answer.rtt).min(),
            rtt_median: median(&seconds).map(Span::from_secs_f64),
        }
    }

    /// The share of probes without an answer; `None` where none was sent.
    pub fn loss_ratio(&self) -> Option<f64> {
        let lost = self.probes.saturating_sub(self.answers);
        (self.probes > 0).then(|| lost as f64 / self.probes as f64)
    }
}

/// Compares two traces of one flow, hop by hop.
///
/// The queue is before the first hop from which on every hop that can be told rose by at least
/// [`RISE_MIN`] and [`RISE_SHARE`] of what the furthest did.
///
/// ```
/// use observe::{Hop, HopAnswer, Trace, TraceProtocol};
/// use units::Span;
/// let trace = |millis: [u64; 3]| Trace {
///     protocol: TraceProtocol::Udp,
///     one_flow: true,
///     hops: (1..).zip(millis).map(|(distance, millis)| Hop {
///         distance,
///         probes: vec![Some(HopAnswer { from: [192, 0, 2, distance].into(), rtt: Span::from_millis(millis) }); 3],
///     }).collect(),
///     reached: true,
/// };
/// // 30 ms more from the second hop on.
/// let seen = probing::hops::compare(&trace([1, 10, 20]), &trace([1, 40, 50]));
/// let queue = seen.queue.unwrap();
/// assert_eq!((queue.after, queue.hop, queue.rise), (1, 2, Span::from_millis(30)));
/// ```
pub fn compare(idle: &Trace, loaded: &Trace) -> Comparison {
    let loaded_at = |distance| loaded.hops.iter().find(|hop| hop.distance == distance);
    let pairs = idle
        .hops
        .iter()
        .filter_map(|hop| Some((hop, loaded_at(hop.distance)?)));
    let hops: Vec<HopChange> = pairs.map(|(idle, loaded)| change(idle, loaded)).collect();
    // Flows that a router sends over different links cannot be compared.
    let comparable = idle.one_flow && loaded.one_flow && idle.protocol == loaded.protocol;
    let queue = find(&hops).filter(|_| comparable);
    Comparison { hops, queue }
}

fn change(idle: &Hop, loaded: &Hop) -> HopChange {
    let (before, under) = (HopSummary::of(idle), HopSummary::of(loaded));
    let enough = before.answers.min(under.answers) >= ANSWERS_MIN && share_a_router(idle, loaded);
    let medians = before.rtt_median.zip(under.rtt_median);
    HopChange {
        distance: idle.distance,
        idle: before,
        loaded: under,
        rise: medians
            .filter(|_| enough)
            .map(|(idle, loaded)| loaded - idle),
    }
}

/// Whether the same router answered: the way may have changed between the traces.
fn share_a_router(idle: &Hop, loaded: &Hop) -> bool {
    let mut answers = idle.probes.iter().flatten();
    answers.any(|one| {
        loaded
            .probes
            .iter()
            .flatten()
            .any(|other| one.from == other.from)
    })
}

fn find(hops: &[HopChange]) -> Option<QueueAt> {
    let known: Vec<(u8, Span)> = hops
        .iter()
        .filter_map(|hop| Some((hop.distance, hop.rise?)))
        .collect();
    let (_, furthest) = *known.last()?;
    if furthest < RISE_MIN {
        return None;
    }
    let bound = RISE_MIN.max(Span::from_secs_f64(furthest.as_secs_f64() * RISE_SHARE));
    let behind = known
        .iter()
        .rev()
        .take_while(|(_, rise)| *rise >= bound)
        .count();
    let (before, behind) = known.split_at(known.len() - behind);
    Some(QueueAt {
        after: before.last().map_or(0, |(distance, _)| *distance),
        hop: behind.first()?.0,
        rise: behind.iter().map(|(_, rise)| *rise).min()?,
    })
}

#[cfg(test)]
mod tests;
