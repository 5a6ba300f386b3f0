//! Available bandwidth: what others leave of the tightest link, as a range.
//!
//! Streams of packets at a steady rate: where they are faster than what is left, their delays grow.
//! Fleets of them at rates chosen from what was seen close in on the rate at which that begins.
//! Others' traffic is not steady, so there is no such rate, but a range of them: below it streams
//! hardly ever grow, above it nearly always.
//!
//! Differences from pathload, which this follows otherwise: the first fleet is a little faster than
//! the capacity, and how fast its delays grow says where to go on, which saves half of the fleets
//! of a bisection; four streams that agree decide a fleet; packets are as large as they can be for
//! the time that a stream may take, because short streams see others' traffic vary more; streams
//! get longer where stamps are coarse.
//!
//! What is left out: links that do not serve in order (schedulers with a queue for each flow tell a
//! stream what is its own share), and others who yield to the streams; the pauses between streams
//! keep that small.
//!
//! Source: Jain & Dovrolis, "End-to-end available bandwidth: measurement methodology, dynamics, and
//! relation with TCP throughput", SIGCOMM 2002.
//!
//! Reading order: `stream.rs`, `fleet.rs`, `search.rs`, [`measure`].

mod fleet;
mod search;
mod stream;

use observe::{Probes, ProbesError, RunObserver, Way};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use units::{Bytes, Rate, Span};

use crate::Cost;
use crate::chirp;
use crate::trend::Trend;
use fleet::{Fleets, Outcome, Verdict};
use search::Search;

/// What others leave of the tightest link of one direction, at the IP layer.
#[derive(Debug, Clone, PartialEq)]
pub struct Available {
    /// Which direction.
    pub way: Way,
    /// The range, or why there is none: a sentence without a full stop.
    pub range: Result<AvailableRange, String>,
    /// A second opinion: the mean of a few chirps.
    pub chirps: Option<Rate>,
    /// What was tried, in order.
    pub fleets: Vec<Fleet>,
    /// What it cost, chirps included.
    pub cost: Cost,
}

/// What streams of one rate did.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Fleet {
    /// The rate at which they left.
    #[serde(rename = "bits_per_second")]
    pub rate: Rate,
    /// How many were judged.
    pub streams: u32,
    /// How many of them found a growing queue.
    pub increasing: u32,
    /// What they decided.
    pub trend: Trend,
}

/// The range within which the available bandwidth varied.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AvailableRange {
    /// Trains of this rate made no queue grow.
    pub low: Rate,
    /// Trains of this rate did.
    pub high: Rate,
}

impl AvailableRange {
    /// Half-way between its ends.
    pub fn middle(&self) -> Rate {
        Rate::from_f64((self.low.as_f64() + self.high.as_f64()) / 2.0)
    }

    /// How wide it is, as a share of `whole`: of the capacity, or of its own middle.
    ///
    /// ```
    /// # use probing::AvailableRange;
    /// # use units::Rate;
    /// let mbps = |rate: u64| Rate::from_bits_per_second(rate * 1_000_000);
    /// let range = AvailableRange { low: mbps(27), high: mbps(33) };
    /// assert_eq!(range.width_of(mbps(100)), 0.06);
    /// assert_eq!(range.width_of(range.middle()), 0.2);
    /// ```
    pub fn width_of(&self, whole: Rate) -> f64 {
        (self.high.as_f64() - self.low.as_f64()) / whole.as_f64()
    }
}

/// What has to be known before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Known {
    /// The largest packet that passes unfragmented.
    pub mtu: Bytes,
    /// The rate of the narrowest link.
    pub capacity: Rate,
    /// The round-trip time: streams are at least that far apart.
    pub rtt: Span,
}

/// The rate of the first fleet, as a share of the capacity: on an idle path, too, its queue grows.
const FIRST: f64 = 1.05;
/// The fastest rate that is tried: the estimate of the capacity may be too low.
const FASTEST: f64 = 1.3;
/// Where to begin when nothing else says: in the middle.
const UNKNOWN: f64 = 0.5;

/// Measures what others leave in one direction.
///
/// # Errors
/// When the path, peer or user does not allow trains. A path that allows them but cannot be
/// measured has its reason in [`Available::range`].
pub fn measure(
    probes: &mut dyn Probes,
    way: Way,
    known: &Known,
    watch: &mut dyn RunObserver,
) -> Result<Available, ProbesError> {
    let chirps = chirp::measure(probes, way, known.capacity, watch)?;
    let mut fleets = Fleets {
        probes,
        way,
        mtu: known.mtu,
        capacity: known.capacity,
        rtt: known.rtt,
        watch,
        cost: chirps.cost,
        longer: 1,
    };
    let mut tried = Vec::new();
    let range = close_in(&mut fleets, chirps.rate, &mut tried)?;
    Ok(Available {
        way,
        range,
        chirps: chirps.rate,
        fleets: tried,
        cost: fleets.cost,
    })
}

fn close_in(
    fleets: &mut Fleets,
    chirps: Option<Rate>,
    tried: &mut Vec<Fleet>,
) -> Result<Result<AvailableRange, String>, ProbesError> {
    let capacity = fleets.capacity.as_f64();
    let guess = chirps.map_or(capacity * UNKNOWN, Rate::as_f64);
    let mut search = Search::new(capacity, guess, capacity * FASTEST);
    let mut next = Some(capacity * FIRST);
    while let Some(rate) = next {
        let verdict = match fleets.send(Rate::from_f64(rate))? {
            Outcome::Verdict(verdict) => verdict,
            Outcome::Unmeasurable(why) => return Ok(Err(why)),
        };
        if verdict.slow_sender && verdict.trend != Trend::Increasing {
            return Ok(Err(sender_too_slow(&verdict, rate)));
        }
        tried.push(Fleet::of(&verdict));
        learn(&mut search, &verdict, tried.len() == 1);
        next = search.next();
    }
    Ok(range_of(&search, tried))
}

/// A fleet that is much too fast says by how much; once fleets are close their verdicts are better
/// than that.
fn learn(search: &mut Search, verdict: &Verdict, first: bool) {
    search.on_verdict(verdict.rate, verdict.trend, verdict.unanimous);
    if verdict.coarse {
        search.on_variation();
    }
    search.on_blur(verdict.unseen);
    if let Some(hint) = verdict.hint.filter(|_| first) {
        search.on_guess(hint);
    }
}

fn range_of(search: &Search, tried: &[Fleet]) -> Result<AvailableRange, String> {
    let rates = || tried.iter().map(|fleet| fleet.rate);
    let at = |rate: Option<Rate>| rate.unwrap_or_default().human();
    if let Some((low, high)) = search.range() {
        return Ok(AvailableRange {
            low: Rate::from_f64(low),
            high: Rate::from_f64(high),
        });
    }
    match search.low() {
        None => Err(format!(
            "even trains of {} found a growing queue, or lost packets",
            at(rates().min())
        )),
        Some(_) => Err(format!(
            "even trains of {} found no growing queue: the capacity is more than was measured",
            at(rates().max())
        )),
    }
}

fn sender_too_slow(verdict: &Verdict, asked: f64) -> String {
    format!(
        "the sender sent {} where {} was asked for, and the path had room for that",
        Rate::from_f64(verdict.rate).human(),
        Rate::from_f64(asked).human()
    )
}

impl Fleet {
    fn of(verdict: &Verdict) -> Self {
        Fleet {
            rate: Rate::from_f64(verdict.rate),
            streams: verdict.streams,
            increasing: verdict.increasing,
            trend: verdict.trend,
        }
    }
}
