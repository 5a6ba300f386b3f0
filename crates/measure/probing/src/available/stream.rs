//! One stream: how it is sent at a rate, and what it shows.

use observe::{Passages, Train};
use units::{Bytes, Rate, Span};

use crate::passage::{Seen, last_of_batches, loss, seen, sender_lag, sending};
use crate::trend::{self, Trend};

/// Packets of a stream at the least.
const PACKETS_MIN: u64 = 100;
/// And at the most, unless stamps scatter: what a fleet costs grows with it.
const PACKETS_USUAL: u64 = 200;
/// Never more: a fleet of them is some 10 MB.
const PACKETS_MAX: u64 = 800;
/// A stream lasts at least so long where that takes no more than the usual packets: the growth of
/// the queue is the share by which the stream is too fast of this time, and has to stand out
/// against stamps.
const LENGTH_MIN: f64 = 5e-3;
/// No stream of the fewest packets is longer: at low rates smaller packets are sent instead.
const LENGTH_MAX: f64 = 200e-3;
/// Unless others' full packets would be too few in it for their load to average out; up to a bound
/// that patience sets.
const OTHERS_MIN: u64 = 200;
const LENGTH_LIMIT: f64 = 2.0;
/// No packet is smaller: below it, per-packet costs of hosts and routers count more than bits
/// (pathload's, too).
const PACKET_MIN: u64 = 200;
/// Share of a stream that may be lost before it counts as too fast, and before the whole fleet
/// does.
const LOSSY: f64 = 0.03;
const LOST: f64 = 0.15;
/// A sender that was away for this share of the stream did not send it.
const LAG_MAX: f64 = 0.05;
/// Packets that arrive closer together than this share of their time at capacity were handed over
/// together.
const BATCHED: f64 = 0.5;
/// Packets without which the groups are too few.
const SEEN_MIN: usize = 36;
/// A queue that grows by less than this per second is none: clocks differ by up to 100 ppm and are
/// steered by up to 500.
const SLOPE_MIN: f64 = 1e-3;
/// Scatter of a median, as a share of the stream's length, beyond which growth of a few per cent is
/// not seen.
const BLUR_MAX: f64 = 0.01;
/// And beyond which a close look would see the scatter.
const BLUR_FINE: f64 = 0.001;

/// How a stream is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Plan {
    pub packet: Bytes,
    pub gap: Span,
    pub packets: u64,
}

impl Plan {
    /// A stream of `rate` over a path of `capacity`, with packets of at most `mtu`; `longer` times
    /// as many packets as usual.
    pub fn new(rate: Rate, capacity: Rate, mtu: Bytes, longer: u64) -> Self {
        let others = capacity.time_to_send(mtu.times(OTHERS_MIN));
        let length = others.as_secs_f64().clamp(LENGTH_MAX, LENGTH_LIMIT);
        let long = rate.as_f64() * length / 8.0 / PACKETS_MIN as f64;
        let size = (long as u64).clamp(PACKET_MIN.min(mtu.get()), mtu.get());
        let packet = Bytes::new(size);
        let gap = rate.time_to_send(packet);
        let packets = (LENGTH_MIN / gap.as_secs_f64()).ceil() as u64;
        let packets = packets.clamp(PACKETS_MIN, PACKETS_USUAL) * longer;
        Plan {
            packet,
            gap,
            packets: packets.min(PACKETS_MAX),
        }
    }

    pub fn train(&self) -> Train {
        Train::spaced(self.packets as usize, self.packet, self.gap)
    }

    pub fn length(&self) -> Span {
        self.gap.times(self.packets)
    }

    /// Whether a stream of twice as many packets is within bounds.
    pub fn may_be_longer(&self) -> bool {
        self.packets * 2 <= PACKETS_MAX && self.length().as_secs_f64() * 2.0 <= LENGTH_LIMIT
    }
}

/// What a stream showed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Showing {
    /// What its delays do, and by how much.
    Delays(Delays),
    /// So much of it was lost that it was too fast.
    Lossy,
    /// So much that no other is needed to tell.
    Lost,
    /// The sender was away meanwhile: not the stream that was asked for.
    SenderAway,
    /// The receiver took packets in batches that leave too few times.
    Batched,
    /// Delays scatter so much by themselves that growth would not be seen.
    Blurred,
}

/// The delays of a stream.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Delays {
    pub trend: Trend,
    /// Seconds of delay added per second.
    pub slope: f64,
    /// Growth that scatter may have hidden, in the same unit.
    pub unseen: f64,
    /// The rate at which the stream did leave, in bits per second.
    pub rate: f64,
    /// Whether the receiver took packets in batches, or delays scatter: a close look would not see
    /// more.
    pub coarse: bool,
}

/// What became of a stream sent as `plan`, over a path of `capacity`.
pub(super) fn judge(passages: &Passages, plan: &Plan, capacity: Rate) -> Showing {
    let lost = loss(&passages.packets);
    if sender_lag(passages, &plan.train().departures) > plan.length().as_secs_f64() * LAG_MAX {
        return Showing::SenderAway;
    }
    if lost >= LOST {
        return Showing::Lost;
    }
    if lost > LOSSY {
        return Showing::Lossy;
    }
    let all = seen(&passages.packets);
    let apart = capacity.time_to_send(plan.packet).as_secs_f64() * BATCHED;
    let kept = last_of_batches(&all, apart);
    if kept.len() < SEEN_MIN {
        return Showing::Batched;
    }
    delays(&kept, plan, passages, kept.len() * 10 < all.len() * 9)
}

fn delays(kept: &[Seen], plan: &Plan, passages: &Passages, batched: bool) -> Showing {
    let delays: Vec<f64> = kept.iter().map(Seen::delay).collect();
    let Some(trend) = trend::of(&delays) else {
        return Showing::Batched;
    };
    let slope = slope(kept);
    let trend = match trend {
        _ if slope < SLOPE_MIN => Trend::NotIncreasing,
        other => other,
    };
    let blur = blur(&delays) / plan.length().as_secs_f64();
    if trend != Trend::Increasing && blur > BLUR_MAX {
        return Showing::Blurred;
    }
    let bits = plan.packet.as_f64() * 8.0 * (passages.packets.len() - 1) as f64;
    Showing::Delays(Delays {
        trend,
        slope,
        unseen: 2.0 * blur,
        rate: bits / sending(&passages.packets).max(1e-9),
        coarse: batched || blur > BLUR_FINE,
    })
}

fn slope(kept: &[Seen]) -> f64 {
    let points: Vec<(f64, f64)> = kept.iter().map(|seen| (seen.left, seen.delay())).collect();
    stats::fit_line(&points).map_or(0.0, |line| line.slope)
}

/// How far a group's median is off by chance: the usual step between neighbours, less by averaging.
/// Steps between neighbours are short of a queue's slow swings, which are the path's own.
fn blur(delays: &[f64]) -> f64 {
    let steps: Vec<f64> = delays
        .windows(2)
        .map(|two| (two[1] - two[0]).abs())
        .collect();
    let members = delays.len() as f64 / delays.len().isqrt() as f64;
    stats::median(&steps).unwrap_or(0.0) / members.sqrt()
}

#[cfg(test)]
mod tests;
