//! What one train of bulks tells of the narrowest link.
//!
//! A bulk is a few packets sent back to back; a pair is the smallest. The narrowest link pulls them
//! apart: from the arrival of the first to that of the last pass the times that the others need to
//! get through. Others' packets can add to that (between the packets of a bulk) or take from it (in
//! a queue behind the narrow link, which holds the first up). A bulk without others' packets
//! has the smallest sum of delays of first and last packet: that one is believed, provided that its
//! sum is what the smallest delays of first and last packets add up to, wherever in the train they
//! were seen.
//!
//! All bulks of a train share a zero of time, which is why they are sent as one train.

use observe::{Passage, Passages};
use units::{Bytes, Rate};

use crate::passage::{Seen, loss, seen, sending};

/// The most by which sum of delays and sum of minima may differ, as a share of the dispersion: it
/// bounds the error of the estimate.
const EXCESS_MAX: f64 = 0.02;
/// The most by which the gaps within a bulk may be unequal: mean against median.
const UNEVEN_MAX: f64 = 0.05;
/// A sender that takes this share of the dispersion to send a bulk did the pulling apart itself.
const SENDER_SHARE_MAX: f64 = 0.9;
/// Gaps of fewer ticks of the clock are not compared.
const TICKS_OF_GAP: f64 = 20.0;
/// The longest gap of a bulk that came in batches, as a share of the dispersion: what the first and
/// the last batch can be wrong by.
const BATCH_MAX: f64 = 0.03;
/// Gaps that are so small against the mean gap of their bulk were made by a receiver that takes
/// batches.
const BATCHED_GAP: f64 = 0.5;

/// Why no bulk of a train is believed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Doubt {
    /// Others were in the way of every bulk: by at least this share of the dispersion.
    Disturbed(f64),
    /// The receiver took packets in batches of about so many.
    Batched(f64),
    /// The sender was no faster than what it was to measure.
    SenderTooSlow,
}

/// What a train of bulks showed.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Finding {
    /// The estimate of the bulk with the smallest sum of delays, in bits per second.
    pub rate: f64,
    /// The time from its first to its last arrival, in seconds.
    pub dispersion: f64,
    /// Sum of delays less sum of minima, as a share of the dispersion.
    pub excess: f64,
    /// How often the receiver's clock ticks, in seconds; zero where that does not show.
    pub tick: f64,
    /// Why it is not believed.
    pub doubt: Option<Doubt>,
    /// What each bulk would say by itself, where all of it arrived, in order.
    pub estimates: Vec<Rate>,
}

/// A bulk all of which arrived in order.
struct Bulk {
    packets: Vec<Seen>,
    sending: f64,
}

impl Bulk {
    fn of(packets: &[Passage]) -> Option<Self> {
        let whole = packets.len() > 1 && loss(packets) == 0.0;
        let sending = sending(packets);
        let packets = whole.then(|| seen(packets))?;
        let in_order = packets
            .windows(2)
            .all(|two| two[0].arrived <= two[1].arrived);
        let bulk = Bulk { packets, sending };
        (in_order && bulk.dispersion() > 0.0).then_some(bulk)
    }

    fn first(&self) -> Seen {
        self.packets[0]
    }

    fn last(&self) -> Seen {
        self.packets[self.packets.len() - 1]
    }

    fn dispersion(&self) -> f64 {
        self.last().arrived - self.first().arrived
    }

    /// Bits per second: all packets but the first passed in the time from its arrival to the last
    /// one's.
    fn rate(&self, packet: Bytes) -> f64 {
        let passed = packet.times(self.packets.len() as u64 - 1);
        passed.as_f64() * 8.0 / self.dispersion()
    }

    /// Delay of the last packet as if it had left with the first: what its bulk's sending took does
    /// not make its way longer.
    fn last_delay(&self) -> f64 {
        self.last().arrived - self.first().left
    }

    fn gap(&self) -> f64 {
        self.dispersion() / (self.packets.len() - 1) as f64
    }

    fn gaps(&self) -> Vec<f64> {
        let gaps = self.packets.windows(2);
        gaps.map(|two| two[1].arrived - two[0].arrived).collect()
    }

    fn sum(&self) -> f64 {
        self.first().delay() + self.last_delay()
    }

    /// Mean number of packets that arrived together.
    fn batch(&self) -> f64 {
        let mean = self.gap();
        let gaps = self.gaps();
        let together = gaps.iter().filter(|gap| **gap < mean * BATCHED_GAP).count();
        let batches = self.packets.len() - together;
        self.packets.len() as f64 / batches as f64
    }

    /// How much larger the mean gap is than the usual one: others' packets inside.
    fn unevenness(&self) -> f64 {
        let gaps = self.gaps();
        let (mean, median) = (stats::mean(&gaps), stats::median(&gaps));
        match (mean, median) {
            (Some(mean), Some(median)) if median > 0.0 => mean / median - 1.0,
            _ => f64::INFINITY,
        }
    }
}

/// What a train of bulks of `size` packets shows; `None` where no bulk arrived whole and in order,
/// or all of them at one moment.
pub(super) fn judge(passages: &Passages, size: usize, packet: Bytes) -> Option<Finding> {
    let bulks: Vec<Bulk> = passages.packets.chunks(size).filter_map(Bulk::of).collect();
    let smallest = |delay: fn(&Bulk) -> f64| bulks.iter().map(delay).reduce(f64::min);
    let minima = smallest(|bulk| bulk.first().delay())? + smallest(Bulk::last_delay)?;
    let best = bulks
        .iter()
        .min_by(|one, other| one.sum().total_cmp(&other.sum()))?;
    let excess = (best.sum() - minima) / best.dispersion();
    let tick = tick(&bulks);
    Some(Finding {
        rate: best.rate(packet),
        dispersion: best.dispersion(),
        excess,
        tick,
        doubt: doubt_of(best, excess, tick),
        estimates: bulks
            .iter()
            .map(|bulk| Rate::from_f64(bulk.rate(packet)))
            .collect(),
    })
}

/// The step of the receiver's clock, in seconds: what all times between arrivals are multiples of,
/// in whole nanoseconds. Bulks leave at times that have no common measure, so that this is not the
/// path's doing.
fn tick(bulks: &[Bulk]) -> f64 {
    let nanos = |packet: &Seen| (packet.arrived * 1e9).round() as i64;
    let mut arrivals = bulks.iter().flat_map(|bulk| bulk.packets.iter().map(nanos));
    let Some(first) = arrivals.next() else {
        return 0.0;
    };
    let steps = arrivals.map(|arrival| arrival.abs_diff(first));
    steps.fold(0, common_measure) as f64 / 1e9
}

/// The greatest common divisor, by Euclid; of zero and another the other.
fn common_measure(one: u64, other: u64) -> u64 {
    match other {
        0 => one,
        _ => common_measure(other, one % other),
    }
}

fn doubt_of(best: &Bulk, excess: f64, tick: f64) -> Option<Doubt> {
    let batch = best.batch();
    let longest = best.gaps().into_iter().fold(0.0, f64::max);
    if best.sending > best.dispersion() * SENDER_SHARE_MAX {
        Some(Doubt::SenderTooSlow)
    } else if batch > 1.0 && longest > best.dispersion() * BATCH_MAX {
        // First and last batch may be anything from whole to one packet.
        Some(Doubt::Batched(batch))
    } else if excess > EXCESS_MAX {
        Some(Doubt::Disturbed(excess))
    } else if batch == 1.0 && best.gap() > tick * TICKS_OF_GAP && best.unevenness() > UNEVEN_MAX {
        Some(Doubt::Disturbed(best.unevenness()))
    } else {
        None
    }
}

#[cfg(test)]
mod tests;
