//! Available bandwidth from a few chirps: packets closer and closer together, so that one short
//! train tries all rates. Light and rough; a second opinion beside the fleets of
//! [`crate::available`].
//!
//! Source: Ribeiro, Riedi, Baraniuk, Navratil & Cottrell, "pathChirp: efficient available bandwidth
//! estimation for network paths", PAM 2003; the constants are those of their program, pathchirp
//! 2.3.7.

use observe::{Passages, Probes, ProbesError, RunObserver, Train, Way};
use units::{Bytes, Rate, Span};

use crate::Cost;
use crate::passage::{loss, seen};

/// Each gap is the one before divided by this.
const SPREAD: f64 = 1.2;
/// Size of the packets.
pub const PACKET: Bytes = Bytes::new(1000);
/// Chirps of which the mean is taken.
const CHIRPS: u64 = 11;
/// An excursion has ended when the delay fell to its largest by this.
const DECREASE: f64 = 1.5;
/// Excursions of fewer packets are noise.
const BUSY_MIN: usize = 5;
/// A delay that grows by less than this share of the gap does not grow: clocks differ by up to 500
/// ppm.
const SLOPE_MIN: f64 = 1e-3;
/// Rates tried, as shares of the capacity: a twentieth to one and a half.
const SLOWEST: f64 = 0.05;
const FASTEST: f64 = 1.5;
/// Chirps use this share of the capacity on average, or [`LOAD_MIN`] where that is more.
const LOAD: f64 = 0.05;
/// What pathchirp takes.
const LOAD_MIN: f64 = 300e3;

/// What a few chirps said.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Chirps {
    /// Mean of their estimates; `None` where too many packets were lost or reordered.
    pub rate: Option<Rate>,
    /// What they cost.
    pub cost: Cost,
}

/// A chirp that tries rates from `slowest` to `fastest`.
///
/// ```
/// use units::{Rate, Span};
/// let mbps = |rate: u64| Rate::from_bits_per_second(rate * 1_000_000);
/// let chirp = probing::chirp::train(mbps(1), mbps(2));
/// // 1000 B at 1 Mbit/s take 8 ms, then 6.667 ms, 5.556 ms and so on down to 4 ms.
/// assert_eq!(chirp.departures[1], Span::from_millis(8));
/// assert_eq!(chirp.departures[2], Span::from_nanos(14_666_667));
/// assert_eq!(chirp.departures.len(), 5);
/// ```
pub fn train(slowest: Rate, fastest: Rate) -> Train {
    let bits = PACKET.as_f64() * 8.0;
    let (mut gap, least) = (bits / slowest.as_f64(), bits / fastest.as_f64());
    let mut at = 0.0;
    let mut departures = vec![Span::ZERO];
    while gap >= least {
        at += gap;
        departures.push(Span::from_secs_f64(at));
        gap /= SPREAD;
    }
    Train {
        packet: PACKET,
        departures,
    }
}

/// What one chirp says; `None` of one that lost packets, as the program discards those, or that has
/// fewer than three.
pub fn estimate(chirp: &Passages) -> Option<Rate> {
    if loss(&chirp.packets) > 0.0 || chirp.packets.len() < 3 {
        return None;
    }
    let seen = seen(&chirp.packets);
    let delays: Vec<f64> = seen.iter().map(|seen| seen.delay()).collect();
    let gaps: Vec<f64> = seen
        .windows(2)
        .map(|two| two[1].left - two[0].left)
        .collect();
    let (estimates, last) = excursions(&delays, &gaps);
    let weighed = |(gap, own): (&f64, &Option<f64>)| gap * own.unwrap_or(last);
    let sum: f64 = gaps.iter().zip(&estimates).map(weighed).sum();
    Some(Rate::from_f64(sum / gaps.iter().sum::<f64>()))
}

/// For each gap the rate that its packet says by itself, where it lies on the rise of an excursion
/// that ended; and the rate for all others: where the excursion began that never ended, or the
/// fastest there was.
fn excursions(delays: &[f64], gaps: &[f64]) -> (Vec<Option<f64>>, f64) {
    let rate = |at: usize| PACKET.as_f64() * 8.0 / gaps[at].max(1e-9);
    let mut own = vec![None; gaps.len()];
    let mut last = rate(gaps.len() - 1);
    let mut at = 0;
    while at < gaps.len() {
        if delays[at + 1] - delays[at] <= gaps[at] * SLOPE_MIN {
            at += 1;
            continue;
        }
        match end_of(delays, at) {
            None => {
                last = rate(at);
                break;
            }
            Some(end) if end - at >= BUSY_MIN => {
                let rising = (at..end.min(gaps.len())).filter(|k| delays[*k] <= delays[k + 1]);
                rising.for_each(|k| own[k] = Some(rate(k)));
                at = end;
            }
            Some(end) => at = end.max(at + 1),
        }
    }
    (own, last)
}

/// Where the excursion that begins at `start` has ended; `None` while the delay stays up to the
/// end.
fn end_of(delays: &[f64], start: usize) -> Option<usize> {
    let mut highest = 0.0f64;
    for (at, delay) in delays.iter().enumerate().skip(start + 1) {
        let above = delay - delays[start];
        highest = highest.max(above);
        if above < highest / DECREASE {
            return Some(at);
        }
    }
    None
}

/// Sends chirps that try rates around `capacity` and takes the mean of what they say.
///
/// # Errors
/// When the path, peer or user does not allow trains.
pub fn measure(
    probes: &mut dyn Probes,
    way: Way,
    capacity: Rate,
    watch: &mut dyn RunObserver,
) -> Result<Chirps, ProbesError> {
    let share = |share: f64| Rate::from_f64(capacity.as_f64() * share);
    let chirp = train(share(SLOWEST), share(FASTEST));
    let load = (capacity.as_f64() * LOAD).max(LOAD_MIN);
    let pause = Span::from_secs_f64(chirp.bytes().as_f64() * 8.0 / load);
    let mut cost = Cost::default();
    let mut said = Vec::new();
    for _ in 0..CHIRPS {
        cost.add(&chirp);
        let passages = probes.train(way, &chirp, watch)?;
        // A sender that falls behind sends gaps that were not planned.
        let fastest = capacity.as_f64() * FASTEST;
        said.extend(estimate(&passages).map(|rate| rate.as_f64().min(fastest)));
        probes.pause(pause);
    }
    // Fewer than half were whole: what is left is not the path's average.
    let enough = said.len() as u64 * 2 > CHIRPS;
    let rate = stats::mean(&said).filter(|_| enough).map(Rate::from_f64);
    Ok(Chirps { rate, cost })
}

#[cfg(test)]
mod tests;
