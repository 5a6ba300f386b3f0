//! The rate of each hop, from how much longer larger packets take to it than to the hop before.
//!
//! The shortest of many round trips to a hop has waited in no queue: it is a constant, and for each
//! byte the time that the byte takes to be sent on every link up to there. The answers of routers
//! are equally long, so the slope over the size of packets is the sum of those times, and what a
//! hop adds to it is the rate of its link. The slope is the median of all slopes between two sizes,
//! which a few sizes that always met a queue do not turn.
//!
//! What is left out: links below IP that store and forward by themselves (switches, bridges of
//! modems) count as part of the hop behind them and make it look slower. Links that carry several
//! packets at once, and routers that hand larger packets to a slower processor, look like others. A
//! link ten times as fast as one in front of it drowns in that one's noise: nothing is said of it.
//!
//! Sources: Jacobson, "pathchar: a tool to infer characteristics of Internet paths", MSRI 1997;
//! Downey, "Using pathchar to estimate Internet link characteristics", SIGCOMM 1999 (clink); Mah's
//! pchar.

use std::collections::BTreeMap;
use std::net::IpAddr;

use observe::{SizedHop, SizedPlan, Trace};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use units::{Bytes, Rate, Span};

use crate::size_slope::{Flat, NOT_GROWING, Sloped, UNSTEADY, keep_least};

/// Sizes between the smallest and the largest: 120 pairs of them.
const SIZES: u16 = 16;
/// Probes of each size. A link that is busy half of the time holds up all of them once in a
/// million.
const ROUNDS: u16 = 20;
/// Nothing is sent after this time. Routers that answer once a second then have four probes of each
/// size.
const LASTING: Span = Span::from_secs(60);
/// Sizes closer together than this tell nothing.
const RANGE_MIN: u16 = 100;
/// Sizes of which a probe has to be answered.
const SIZES_MIN: usize = 8;
/// Probes of a hop that have to be answered by the same router.
const ANSWERS_MIN: usize = 30;
/// Probes use this share of the narrowest link, within `SPACING_MIN` and `SPACING_MAX`.
const SHARE: u64 = 10;
/// Distance of probes where its rate is not known: at most 600 kbit/s.
const SPACING: Span = Span::from_millis(20);
const SPACING_MIN: Span = Span::from_millis(4);
const SPACING_MAX: Span = Span::from_millis(200);
const UNEVEN: &str = "round trips do not grow evenly with the size of packets";

/// The rate of the link that leads to a hop, at the IP layer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct HopCapacity {
    /// Routers up to and including this one.
    pub distance: u8,
    /// Who answered most often; absent without an answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub address: Option<String>,
    /// The rate; absent like the next two where it cannot be told.
    #[serde(
        default,
        rename = "bits_per_second",
        skip_serializing_if = "Option::is_none"
    )]
    pub rate: Option<Rate>,
    /// Lower end of the 95 % interval.
    #[serde(
        default,
        rename = "low_bits_per_second",
        skip_serializing_if = "Option::is_none"
    )]
    pub low: Option<Rate>,
    /// Upper end.
    #[serde(
        default,
        rename = "high_bits_per_second",
        skip_serializing_if = "Option::is_none"
    )]
    pub high: Option<Rate>,
    /// Why there is no rate: a sentence without a full stop.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unknown_because: Option<String>,
    /// Probes sent.
    pub probes: u32,
    /// Probes that this router answered.
    pub answers: u32,
    /// The shortest round trip of each size that was answered, smallest size first.
    pub shortest: Vec<SizeTrip>,
}

/// The shortest round trip of one size of packets.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SizeTrip {
    /// The size at the IP layer.
    pub packet_bytes: u16,
    /// The shortest round trip.
    #[serde(rename = "rtt_seconds")]
    pub rtt: Span,
}

/// Which packets go to the hops of `trace`.
///
/// * `largest`: the path MTU.
/// * `capacity`: the rate of the narrowest link, where it is known.
///
/// # Errors
/// Where no hop answered, or all packets of which routers' answers have one size are too much
/// alike.
pub(crate) fn plan(
    trace: &Trace,
    largest: Bytes,
    capacity: Option<Rate>,
    patience: Span,
) -> Result<SizedPlan, String> {
    let answered = trace.hops.iter().filter(|hop| !hop.addresses().is_empty());
    let distances: Vec<u8> = answered.clone().map(|hop| hop.distance).collect();
    let first = answered.flat_map(|hop| hop.addresses()).next();
    let smallest = smallest(first.ok_or("no hop answered")?);
    let largest = u16::try_from(largest.get()).unwrap_or(u16::MAX);
    let range = largest.saturating_sub(smallest);
    if range < RANGE_MIN {
        return Err(format!(
            "packets from {smallest} bytes on, of which routers quote the same, up to the path MTU \
             of {largest} bytes differ too little"
        ));
    }
    let last = u32::from(SIZES - 1);
    let size = |step: u32| smallest + (u32::from(range) * step / last) as u16;
    let spacing = capacity.map_or(SPACING, |rate| {
        rate.time_to_send(Bytes::new(largest.into())).times(SHARE)
    });
    Ok(SizedPlan {
        distances,
        sizes: (0..=last).map(size).collect(),
        rounds: ROUNDS,
        spacing: spacing.clamp(SPACING_MIN, SPACING_MAX),
        lasting: LASTING,
        patience,
    })
}

/// From this size on routers quote the same of each packet: a message has 576 bytes at the most
/// (RFC 1812, section 4.3.2.3), over IPv6 1,280 (RFC 4443, section 2.4).
fn smallest(hop: IpAddr) -> u16 {
    match hop {
        IpAddr::V4(_) => 576,
        IpAddr::V6(_) => 1_280,
    }
}

/// The rate of each hop, nearest first.
///
/// ```
/// use observe::{HopAnswer, SizedHop, SizedProbe};
/// use units::Span;
/// // 80 ns a byte on the first link, 100 Mbit/s, and 800 ns on the second, 10 Mbit/s.
/// let hop = |distance: u8, nanos: u64| SizedHop {
///     distance,
///     probes: (0..48).map(|number| {
///         let size = 576 + number % 16 * 60;
///         let rtt = Span::from_millis(5) + Span::from_nanos(nanos).times(size.into());
///         let answer = HopAnswer { from: [192, 0, 2, distance].into(), rtt };
///         SizedProbe { size, answer: Some(answer) }
///     }).collect(),
/// };
/// let found = probing::hop_capacity::analyse(&[hop(1, 80), hop(2, 880)]);
/// let rate = |at: usize| (found[at].rate.unwrap().as_f64() / 1e6).round();
/// assert_eq!((rate(0), rate(1)), (100.0, 10.0));
/// ```
pub fn analyse(hops: &[SizedHop]) -> Vec<HopCapacity> {
    // Of this host itself, which adds nothing.
    let mut before = Some((0, Sloped::NONE));
    let mut found = Vec::new();
    for hop in hops {
        let (seen, sloped) = Seen::of(hop);
        let outcome = sloped.and_then(|sloped| {
            let outcome = rate(before, (hop.distance, sloped));
            before = Some((hop.distance, sloped));
            outcome
        });
        found.push(seen.told(hop, outcome));
    }
    found
}

/// The figure with its interval, or why there is none.
type Outcome = Result<[Rate; 3], String>;

/// What the link between two hops carries; a hop is its distance and the slope up to it.
fn rate(before: Option<(u8, Sloped)>, (distance, there): (u8, Sloped)) -> Outcome {
    let (known, here) = before
        .filter(|(known, _)| known.checked_add(1) == Some(distance))
        .ok_or_else(|| format!("nothing is known of hop {}", distance.saturating_sub(1)))?;
    there.beyond(here).map_err(|flat| match (flat, known) {
        (Flat::NotGrowing, 0) => NOT_GROWING.to_owned(),
        (Flat::NotGrowing, known) => {
            format!("round trips do not grow by more than to hop {known}, as far as they tell")
        }
        (Flat::Unsteady { off }, _) => {
            let percent = (100.0 * off).round();
            format!("{UNSTEADY}: it would be off by {percent} %")
        }
    })
}

/// What came back from a hop.
struct Seen {
    from: Option<IpAddr>,
    answers: usize,
    minima: BTreeMap<u16, Span>,
}

impl Seen {
    /// The minima of the router that answered most, and their slope or why they have none.
    fn of(hop: &SizedHop) -> (Self, Result<Sloped, String>) {
        let from = usual(hop);
        let mut seen = Seen {
            from,
            answers: 0,
            minima: BTreeMap::new(),
        };
        for probe in &hop.probes {
            let Some(answer) = probe.answer.filter(|answer| Some(answer.from) == from) else {
                continue;
            };
            seen.answers += 1;
            keep_least(&mut seen.minima, probe.size, answer.rtt);
        }
        let sloped = match seen.answers < ANSWERS_MIN || seen.minima.len() < SIZES_MIN {
            true => Err(format!(
                "{} of its {} probes were answered, which are too few",
                seen.answers,
                hop.probes.len()
            )),
            false => Sloped::of(&seen.minima).ok_or_else(|| UNEVEN.to_owned()),
        };
        (seen, sloped)
    }

    fn told(self, hop: &SizedHop, outcome: Outcome) -> HopCapacity {
        let count = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
        let trip = |(size, rtt): (u16, Span)| SizeTrip {
            packet_bytes: size,
            rtt,
        };
        let rates = outcome.as_ref().ok();
        HopCapacity {
            distance: hop.distance,
            address: self.from.map(|from| from.to_string()),
            rate: rates.map(|[rate, ..]| *rate),
            low: rates.map(|[_, low, _]| *low),
            high: rates.map(|[.., high]| *high),
            unknown_because: outcome.as_ref().err().cloned(),
            probes: count(hop.probes.len()),
            answers: count(self.answers),
            shortest: self.minima.into_iter().map(trip).collect(),
        }
    }
}

/// Who answered most often.
fn usual(hop: &SizedHop) -> Option<IpAddr> {
    let mut counts: BTreeMap<IpAddr, usize> = BTreeMap::new();
    for answer in hop.probes.iter().filter_map(|probe| probe.answer) {
        *counts.entry(answer.from).or_default() += 1;
    }
    let most = counts.into_iter().max_by_key(|(_, count)| *count);
    most.map(|(address, _)| address)
}

#[cfg(test)]
mod tests;
