//! What the slowest link of a path carries at the least, from echoes of several sizes.
//!
//! The shortest of several round trips has waited in no queue. It grows with the size of packets by
//! the time that the bytes take to be sent on every link, there and back. One link that took as
//! long alone would have the rate of that slope, so no link is slower. PingER sends 100 and 1,000
//! bytes of data for this; here sizes between them say how sure the slope is. It is the median of
//! all slopes between two sizes, which a few sizes that always met a queue do not turn.
//!
//! What is left out: links that compress what they carry look faster, hosts that take longer over
//! larger packets make the bound lower. It says little of fast paths: 900 bytes more take 14
//! microseconds on 1 Gbit/s both ways, about as much as a host's own scheduling.
//!
//! Sources: Cottrell, Matthews and Logg, "Tutorial on Internet monitoring and PingER at SLAC";
//! Jacobson, "pathchar: a tool to infer characteristics of Internet paths", MSRI 1997.

use std::collections::BTreeMap;

use observe::SizedEcho;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use stats::{MedianSlope, median_slope};
use units::{Rate, Span};

/// Smallest and largest echo at the IP layer: 100 and 1,000 bytes of data, as PingER has them.
const SMALLEST: u16 = 128;
const LARGEST: u16 = 1_028;
const STEP: u16 = 100;
/// Echoes of each size.
const ROUNDS: usize = 4;
/// Sizes apart from one echo to the next, which has no divisor in common with their number: what
/// comes and goes on the path does not meet neighbours together.
const STRIDE: usize = 3;
/// Sizes of which an echo has to be answered.
const SIZES_MIN: usize = 7;
/// An interval wider than this share of the slope, to either side, is no figure.
const HALF_WIDTH_MAX: f64 = 0.5;

pub(crate) const NOT_GROWING: &str =
    "round trips do not grow with the size of packets, as far as they tell";
pub(crate) const UNSTEADY: &str = "round trips are too unsteady";

/// What the slowest link of a path carries, by echoes of several sizes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SlowestLink {
    /// At least the `low` of this slope.
    Slope(SizeSlope),
    /// Nothing can be said.
    Unknown(NoSlope),
}

/// How much longer larger packets take there and back, as the rate of one link that would take as
/// long.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SizeSlope {
    /// The rate, at the IP layer.
    #[serde(rename = "bits_per_second")]
    pub rate: Rate,
    /// Lower end of its 95 % interval: no link of the path is slower.
    #[serde(rename = "low_bits_per_second")]
    pub low: Rate,
    /// Upper end.
    #[serde(rename = "high_bits_per_second")]
    pub high: Rate,
}

/// Why echoes of several sizes say nothing.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum NoSlope {
    /// None could be sent, or the far end answers none.
    NoEchoes,
    /// The time of the visit was over before.
    NoTime,
    /// Too few were answered.
    Unanswered,
    /// The slope may be zero: the path is too fast, or too busy.
    NotGrowing,
    /// The interval is too wide.
    Unsteady,
}

impl NoSlope {
    /// In words, as a part of a sentence.
    pub fn words(self) -> &'static str {
        match self {
            NoSlope::NoEchoes => "no ICMP echoes of chosen sizes pass",
            NoSlope::NoTime => "the time of the visit was over before",
            NoSlope::Unanswered => "too few echoes of several sizes were answered",
            NoSlope::NotGrowing => NOT_GROWING,
            NoSlope::Unsteady => UNSTEADY,
        }
    }
}

impl SlowestLink {
    /// The bound, where it is known.
    pub fn at_least(self) -> Option<Rate> {
        match self {
            SlowestLink::Slope(slope) => Some(slope.low),
            SlowestLink::Unknown(_) => None,
        }
    }

    /// Why there is none.
    pub fn unknown(self) -> Option<NoSlope> {
        match self {
            SlowestLink::Slope(_) => None,
            SlowestLink::Unknown(why) => Some(why),
        }
    }
}

/// The sizes of the echoes to send, in order, at the IP layer.
///
/// ```
/// let sizes = probing::size_slope::sizes();
/// assert_eq!((sizes.len(), &sizes[..3]), (40, &[128, 428, 728][..]));
/// ```
pub fn sizes() -> Vec<u16> {
    let all: Vec<u16> = (SMALLEST..=LARGEST).step_by(STEP.into()).collect();
    let order = all.iter().cycle().step_by(STRIDE);
    order.take(all.len() * ROUNDS).copied().collect()
}

/// What echoes of [`sizes`] say.
///
/// ```
/// use observe::SizedEcho;
/// use probing::size_slope::{SlowestLink, sizes, slowest_link};
/// use units::Span;
/// // 10 ms, and 1.6 us for each byte: 5 Mbit/s, which is 10 Mbit/s each way.
/// let rtt = |size: u16| Some(Span::from_millis(10) + Span::from_nanos(1_600 * u64::from(size)));
/// let seen: Vec<_> = sizes().into_iter().map(|size| SizedEcho { size, rtt: rtt(size) }).collect();
/// let SlowestLink::Slope(slope) = slowest_link(&seen) else { panic!() };
/// assert_eq!((slope.rate.as_f64() / 1e6).round(), 5.0);
/// ```
pub fn slowest_link(echoes: &[SizedEcho]) -> SlowestLink {
    let mut minima = BTreeMap::new();
    for (size, rtt) in echoes
        .iter()
        .filter_map(|echo| Some((echo.size, echo.rtt?)))
    {
        keep_least(&mut minima, size, rtt);
    }
    let sloped = match minima.len() < SIZES_MIN {
        true => None,
        false => Sloped::of(&minima),
    };
    let found = sloped.ok_or(NoSlope::Unanswered).and_then(|sloped| {
        sloped.beyond(Sloped::NONE).map_err(|flat| match flat {
            Flat::NotGrowing => NoSlope::NotGrowing,
            Flat::Unsteady { .. } => NoSlope::Unsteady,
        })
    });
    match found {
        Ok([rate, low, high]) => SlowestLink::Slope(SizeSlope { rate, low, high }),
        Err(why) => SlowestLink::Unknown(why),
    }
}

pub(crate) fn keep_least(minima: &mut BTreeMap<u16, Span>, size: u16, rtt: Span) {
    let least = minima.entry(size).or_insert(rtt);
    *least = rtt.min(*least);
}

/// The slope of round trips in seconds for each byte.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Sloped {
    slope: f64,
    half_width: f64,
}

/// Why a slope has no rate.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Flat {
    /// It may be zero.
    NotGrowing,
    /// It may be off by this share.
    Unsteady { off: f64 },
}

impl Sloped {
    pub const NONE: Sloped = Sloped {
        slope: 0.0,
        half_width: 0.0,
    };

    /// Of shortest round trips by size; `None` where they are too few for an interval.
    pub fn of(minima: &BTreeMap<u16, Span>) -> Option<Self> {
        let points: Vec<(f64, f64)> = minima
            .iter()
            .map(|(size, rtt)| (f64::from(*size), rtt.as_secs_f64()))
            .collect();
        let MedianSlope { slope, interval } = median_slope(&points)?;
        let interval = interval?;
        Some(Sloped {
            slope,
            half_width: (interval.high - interval.low) / 2.0,
        })
    }

    /// The rate of what comes behind `before`, with the ends of its interval.
    pub fn beyond(self, before: Sloped) -> Result<[Rate; 3], Flat> {
        let seconds = self.slope - before.slope;
        let half = self.half_width.hypot(before.half_width);
        if seconds <= half {
            return Err(Flat::NotGrowing);
        }
        if half > seconds * HALF_WIDTH_MAX {
            let off = half / seconds;
            return Err(Flat::Unsteady { off });
        }
        let of = |seconds: f64| Rate::from_f64(8.0 / seconds);
        Ok([of(seconds), of(seconds + half), of(seconds - half)])
    }
}

#[cfg(test)]
mod tests;
