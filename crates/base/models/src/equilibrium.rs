//! Streams that cause the loss and the delay which hold them back.
//!
//! A response function says what a stream makes of a loss and a round trip. A bottleneck says what
//! comes of streams that send more than it carries: first a queue, then losses. The equilibrium is
//! where both agree. In steps: if all windows together do not fill the link, there is neither. If a
//! queue that is not full slows them to the link's rate, there is a queue. Else the queue is full
//! at times, and the loss is the one under which they send what the link carries.
//!
//! A full queue is not full always: each overflow takes one stream's share of a window away, and
//! the aggregate climbs back (`saw_tooth.rs`). A short queue runs empty meanwhile, which is what
//! parallel streams are for on a path without loss of its own.
//!
//! Left out, and what that costs:
//! - Slow start, timeouts and windows below one segment. With more streams than the pipe holds
//!   packets, loss is larger than predicted.
//! - That streams lose together. They do when the queue is short against their bursts; then the
//!   link runs empty for longer than predicted.
//! - Queues that drop before they are full (RED, CoDel) and classes of traffic. They are taken for
//!   drop-tail.
//! - That random losses come in clusters, so that near the filled link windows vary: the corner of
//!   the curve is sharper here than on a path.
//! - How streams that go by bandwidth (BBR) share a link with others: each is given an equal part.
//!
//! Reading order: [`Bottleneck`], [`Flows`], [`Bottleneck::equilibrium`]; `group.rs` for what one
//! kind of stream sends, `capped.rs` for that under a window, `saw_tooth.rs` for a full queue.

mod capped;
mod group;
mod saw_tooth;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use units::{Bytes, Rate, Span};

use crate::Response;
use crate::root::bisect;
use group::{Group, Pressure};
use saw_tooth::SawTooth;

/// Loss below which no search goes: one in 10^15 packets is years apart.
const LOSS_LEAST: f64 = 1e-15;

/// The link that limits a path, counted in payload.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bottleneck {
    /// Payload that it carries: its rate less headers and what is not TCP.
    pub capacity: Rate,
    /// Round trip of the path while its queue is empty.
    pub rtt: Span,
    /// Payload that its drop-tail queue holds.
    pub queue: Bytes,
    /// Loss events for each packet that come of no queue, 0 to 1.
    pub loss: f64,
    /// Payload of a full segment.
    pub segment: Bytes,
}

/// How streams decide what to send.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Control {
    /// By their losses.
    Loss(Response),
    /// By the bandwidth that they find, as BBR version 1 does: losses up to a fifth do not slow
    /// them.
    ///
    /// Source: draft-cardwell-iccrg-bbr-congestion-control-00.
    Bandwidth,
}

/// Streams of one kind.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Flows {
    /// How many.
    pub streams: u32,
    /// The most that each keeps outstanding; `None` when that never limits.
    pub window: Option<Bytes>,
    /// How they decide what to send.
    pub control: Control,
    /// What their round trip is longer than the path's.
    pub rtt_added: Span,
}

/// What keeps the streams from more.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Binds {
    /// Their windows; the link is not full.
    Window,
    /// The path's own loss; the link is not full.
    Loss,
    /// The link.
    Link,
}

impl Binds {
    /// Its name in tables and documents.
    pub const fn name(self) -> &'static str {
        match self {
            Binds::Window => "window",
            Binds::Loss => "loss",
            Binds::Link => "link",
        }
    }
}

/// What streams and bottleneck agree on.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Equilibrium {
    /// Payload of all of one's own streams.
    #[serde(rename = "goodput_bits_per_second")]
    pub throughput: Rate,
    /// Payload of all streams of others.
    #[serde(rename = "others_bits_per_second")]
    pub others: Rate,
    /// Loss events for each packet, the path's own among them; absent where streams go by bandwidth
    /// and overrun a short queue, which no formula here describes.
    #[serde(rename = "lost_ratio", skip_serializing_if = "Option::is_none")]
    pub loss: Option<f64>,
    /// Mean round trip, queue included.
    #[serde(rename = "rtt_seconds")]
    pub rtt: Span,
    /// What keeps one's own streams from more.
    #[serde(rename = "limit")]
    pub binds: Binds,
}

impl Bottleneck {
    /// The loss, round trip and throughput at which `own` streams and those of `others` fit the
    /// bottleneck.
    ///
    /// Loss `p` and queueing delay `q` solve `sum of n f(p, RTT + q) = A u`, with `f` the response
    /// function under the window cap, `A` the capacity and `u` the share of it that a full queue
    /// leaves used between losses.
    ///
    /// `None` without own streams, for a capacity, segment or round trip of zero, and for a loss
    /// outside 0 to 1.
    /// ```
    /// use models::{Acks, Binds, Bottleneck, Control, Flows, Response};
    /// use units::{Bytes, Rate, Span};
    /// // SLAC to CERN, 2000-2001: 45 Mbit/s of packets, 165 ms, a loss of 4e-4, and windows of 64 KiB.
    /// let path = Bottleneck {
    ///     capacity: Rate::from_bits_per_second(43_440_000),
    ///     rtt: Span::from_millis(165),
    ///     queue: Bytes::from_kib(126),
    ///     loss: 4e-4,
    ///     segment: Bytes::new(1448),
    /// };
    /// let streams = |streams, window| Flows {
    ///     streams,
    ///     window,
    ///     control: Control::Loss(Response::Reno(Acks::Every)),
    ///     rtt_added: Span::ZERO,
    /// };
    /// // One stream by its window, 45.26 segments a round trip less what losses cost: 45.26 / (1 + 4e-4 x 45.26^2 / 8)
    /// // = 41.06. Its loss alone would allow sqrt(1.5 / 4e-4) = 61.24 segments, 4.30 Mbit/s.
    /// let windowed = path.equilibrium(&streams(1, Some(Bytes::from_kib(64))), &[]).unwrap();
    /// assert_eq!((windowed.throughput.human(), windowed.binds), ("2.88 Mbit/s".to_owned(), Binds::Window));
    /// let lossy = path.equilibrium(&streams(8, None), &[]).unwrap();
    /// assert_eq!((lossy.throughput.human(), lossy.binds), ("34.4 Mbit/s".to_owned(), Binds::Loss));
    /// // Sixteen fill the link. To send 43.4 Mbit/s at the loaded round trip they lose more often.
    /// let full = path.equilibrium(&streams(16, None), &[]).unwrap();
    /// assert_eq!(full.binds, Binds::Link);
    /// assert!(full.loss.unwrap() > 7e-4 && full.rtt > Span::from_millis(180));
    /// ```
    pub fn equilibrium(&self, own: &Flows, others: &[Flows]) -> Option<Equilibrium> {
        if own.streams == 0 || !self.is_usable() {
            return None;
        }
        let all = own.streams + others.iter().map(|flows| flows.streams).sum::<u32>();
        let group = |flows| Group::new(flows, self, f64::from(all));
        let solving = Solving {
            path: self,
            own: group(own),
            others: others.iter().map(group).collect(),
        };
        Some(solving.solve())
    }

    /// The equilibrium for each number of own streams in `streams`, in that order; those that have
    /// none are left out.
    ///
    /// * `one`: one's own streams, whose number is not read.
    pub fn curve(&self, one: &Flows, others: &[Flows], streams: &[u32]) -> Vec<(u32, Equilibrium)> {
        let at = |n: &u32| {
            let own = Flows {
                streams: *n,
                ..*one
            };
            Some((*n, self.equilibrium(&own, others)?))
        };
        streams.iter().filter_map(at).collect()
    }

    fn is_usable(&self) -> bool {
        let sized = self.capacity > Rate::ZERO && self.segment > Bytes::ZERO;
        sized && self.rtt > Span::ZERO && (0.0..=1.0).contains(&self.loss)
    }

    /// Segments a second.
    fn capacity_segments(&self) -> f64 {
        self.capacity.as_f64() / 8.0 / self.segment.as_f64()
    }

    /// Seconds that a full queue takes to drain.
    fn queue_seconds(&self) -> f64 {
        self.queue.as_f64() * 8.0 / self.capacity.as_f64()
    }
}

struct Solving<'a> {
    path: &'a Bottleneck,
    own: Group,
    others: Vec<Group>,
}

impl Solving<'_> {
    fn solve(&self) -> Equilibrium {
        let under = |queued| Pressure {
            loss: self.path.loss,
            queued,
            overflows: false,
        };
        let fits = |queued| self.demand(&under(queued)) <= self.path.capacity_segments();
        let full = self.path.queue_seconds();
        match fits(full) {
            true => self.at(&under(bisect(0.0, full, |queued| !fits(queued))), 1.0),
            false => self.overflowing(),
        }
    }

    fn overflowing(&self) -> Equilibrium {
        let teeth = self.saw_tooth();
        let under = |loss| Pressure {
            loss,
            queued: teeth.queued * self.path.rtt.as_secs_f64(),
            overflows: true,
        };
        let carried = teeth.used * self.path.capacity_segments();
        let least = self.path.loss.max(LOSS_LEAST).ln();
        let loss = bisect(least, 0.0, |log| self.demand(&under(log.exp())) > carried).exp();
        self.at(&under(loss), teeth.used)
    }

    fn groups(&self) -> impl Iterator<Item = &Group> {
        std::iter::once(&self.own).chain(&self.others)
    }

    /// Segments a second that all streams send.
    fn demand(&self, under: &Pressure) -> f64 {
        self.groups().map(|group| group.demand(under)).sum()
    }

    /// What a full queue does while its streams lose in turn.
    fn saw_tooth(&self) -> SawTooth {
        let streams: f64 = self.groups().map(|group| group.streams).sum();
        let (rtt, queue) = (self.path.rtt.as_secs_f64(), self.path.queue_seconds());
        let window = self.path.capacity_segments() * (rtt + queue) / streams;
        let given_up = self
            .groups()
            .map(|group| group.streams * group.given_up(window));
        let mean = given_up.sum::<f64>() / streams;
        SawTooth::new(1.0 + queue / rtt, mean / streams)
    }

    /// The answer where streams meet this, and the link carries at most so large a share of its
    /// capacity.
    fn at(&self, under: &Pressure, used: f64) -> Equilibrium {
        let path = self.path;
        let demand = self.demand(under);
        let carried = demand.min(path.capacity_segments() * used);
        // What the path loses at random has passed the queue, and is not delivered.
        let delivered = carried * (1.0 - path.loss) * path.segment.as_f64() * 8.0;
        let share = |group: &Group| group.demand(under) / demand;
        let unknown_loss = self.groups().any(|group| group.overruns(under));
        Equilibrium {
            throughput: Rate::from_f64(delivered * share(&self.own)),
            others: Rate::from_f64(delivered * self.others.iter().map(share).sum::<f64>()),
            loss: (!unknown_loss).then_some(under.loss),
            rtt: path.rtt + Span::from_secs_f64(under.queued),
            binds: self.binds(under),
        }
    }

    fn binds(&self, under: &Pressure) -> Binds {
        let full = self.demand(under) >= self.path.capacity_segments() * (1.0 - 1e-9);
        let full = full || under.overflows;
        match self.own.is_capped(under) {
            // Beside others on a full link, a larger window would take more of it.
            true if !full || !self.others.is_empty() => Binds::Window,
            _ if full => Binds::Link,
            _ => Binds::Loss,
        }
    }
}

#[cfg(test)]
mod tests;
