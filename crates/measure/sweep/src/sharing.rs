//! How the streams of one run shared what there was: losses that hit them together, and streams
//! that starve.
//!
//! A queue that overflows drops packets of many streams at once. They all back off and the link
//! runs empty for a while, then they all grow again: synchronised losses cost goodput, and more
//! streams do not help against them. Losses on the wire hit one stream at a time.
//!
//! **What a moment is.** A stream learns of a loss when duplicate acknowledgements come back, so
//! streams that lose in the same overflow send again within about one round trip of each other. A
//! moment is therefore one telemetry interval (100 ms), or as many as the mean smoothed round trip
//! of the streams needs where that is longer. Moments lie on a fixed grid: an overflow across the
//! edge of two counts as two, each with a part of the streams, so that the share comes out somewhat
//! low rather than high.
//!
//! Left out: which packets were lost (telemetry counts what was sent again, spurious or not), and
//! anything shorter than an interval.

use observe::{Observation, SamplePlan, SteadyWindow, Stream, TcpSample};
use units::{Span, Time};

/// A stream below this share of its fair share, the mean of all, starves.
pub const STARVED_BELOW: f64 = 0.5;

/// How often streams lost together.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LossesTogether {
    /// Share of the moments with losses in which at least half of the streams, and two or more,
    /// lost.
    pub share: f64,
    /// The same share if each stream lost as often as it did, but at times of its own: synchronised
    /// losses lie well above it. With many losses it is high by itself.
    pub by_chance: f64,
    /// Moments in which any stream lost.
    pub moments: usize,
}

/// How often the streams of a run lost together over its steady part.
///
/// Streams of the two directions are apart: they do not share a queue. `None` with fewer than two
/// streams in a direction, without losses, and where a sender does not tell what it sent again.
///
/// Source of the question: streams from SLAC to Taiwan in 2006 lost at the same times (Cottrell et
/// al.). The share by chance is that of independent trials with unequal odds (the Poisson binomial
/// distribution).
pub fn losses(seen: &Observation) -> Option<LossesTogether> {
    let summary = seen.summary();
    let mut sum = Tally::default();
    for direction in &summary.directions {
        let streams = seen.streams.iter();
        let streams: Vec<&Stream> = streams
            .filter(|stream| stream.direction == direction.direction)
            .collect();
        if let Some(tally) = tally(&streams, &direction.steady) {
            sum.any += tally.any;
            sum.together += tally.together;
            sum.expected += tally.expected;
        }
    }
    (sum.any > 0).then(|| LossesTogether {
        share: sum.together as f64 / sum.any as f64,
        by_chance: (sum.expected / sum.any as f64).min(1.0),
        moments: sum.any,
    })
}

/// How many of the streams got less than half of their fair share, the mean; `None` with fewer than
/// two.
///
/// ```
/// // The mean is 10; half of it is 5.
/// assert_eq!(sweep::sharing::starved(&[14.0, 14.0, 4.0, 8.0]), Some(1));
/// ```
pub fn starved(goodputs: &[f64]) -> Option<usize> {
    let fair = stats::mean(goodputs).filter(|_| goodputs.len() > 1)?;
    let starves = |goodput: &&f64| **goodput < STARVED_BELOW * fair;
    Some(goodputs.iter().filter(starves).count())
}

#[derive(Debug, Default)]
struct Tally {
    /// Moments in which any stream lost.
    any: usize,
    /// Those in which enough of them did.
    together: usize,
    /// How many of `any` would be such by chance.
    expected: f64,
}

/// `None` where the streams cannot lose together, or one of them does not tell.
fn tally(streams: &[&Stream], steady: &SteadyWindow) -> Option<Tally> {
    let enough = streams.len().div_ceil(2).max(2);
    if streams.len() < enough {
        return None;
    }
    let grid = Grid::of(streams, steady);
    let lost: Vec<Vec<Option<bool>>> = streams
        .iter()
        .map(|stream| grid.lost(&stream.tcp))
        .collect::<Option<_>>()?;
    let told = |moment: &usize| lost.iter().all(|stream| stream[*moment].is_some());
    let moments: Vec<usize> = (0..grid.moments).filter(told).collect();
    let losing = |moment: usize| lost.iter().filter(|s| s[moment] == Some(true)).count();
    let losing: Vec<usize> = moments.iter().map(|moment| losing(*moment)).collect();
    let any = losing.iter().filter(|streams| **streams > 0).count();
    let together = losing.iter().filter(|streams| **streams >= enough).count();
    let odds = |stream: &Vec<Option<bool>>| {
        let losses = moments.iter().filter(|m| stream[**m] == Some(true));
        losses.count() as f64 / moments.len().max(1) as f64
    };
    let odds: Vec<f64> = lost.iter().map(odds).collect();
    Some(Tally {
        any,
        together,
        expected: by_chance(&odds, enough) * any as f64,
    })
}

/// The odds that `enough` or more of independent trials come true, given that one does.
fn by_chance(odds: &[f64], enough: usize) -> f64 {
    let mut count = vec![0.0; odds.len() + 1];
    count[0] = 1.0;
    for (trials, p) in odds.iter().enumerate() {
        for hits in (0..=trials).rev() {
            count[hits + 1] += count[hits] * p;
            count[hits] *= 1.0 - p;
        }
    }
    let at_least = |hits: usize| count[hits..].iter().sum::<f64>();
    match at_least(1) {
        any if any > 0.0 => at_least(enough) / any,
        _ => 0.0,
    }
}

/// The moments of a steady window.
struct Grid {
    from: Time,
    to: Time,
    moment: Span,
    moments: usize,
}

impl Grid {
    fn of(streams: &[&Stream], steady: &SteadyWindow) -> Self {
        let samples = || streams.iter().flat_map(|stream| &stream.tcp);
        let rtts: Vec<f64> = samples()
            .filter_map(|sample| sample.rtt)
            .map(Span::as_secs_f64)
            .collect();
        let gaps: Vec<f64> = streams
            .iter()
            .flat_map(|stream| stream.tcp.windows(2))
            .map(|pair| pair[1].at.since(pair[0].at).as_secs_f64())
            .collect();
        let longest = [stats::mean(&rtts), stats::median(&gaps)];
        let longest = longest.into_iter().flatten().fold(0.0, f64::max);
        let interval = SamplePlan::INTERVAL.as_secs_f64();
        // Readings wander by some milliseconds; an interval of 101 ms is no reason for a moment of
        // 200.
        let intervals = (longest / interval - 0.1).ceil().max(1.0);
        let moment = SamplePlan::INTERVAL.times(intervals as u64);
        let moments = steady.length().as_nanos() / moment.as_nanos();
        Grid {
            from: steady.from,
            to: steady.to,
            moment,
            moments: usize::try_from(moments).unwrap_or(0),
        }
    }

    /// Whether one stream lost in each moment; `None` for moments without a reading. `None`
    /// altogether where its sender does not count.
    fn lost(&self, samples: &[TcpSample]) -> Option<Vec<Option<bool>>> {
        let mut lost = vec![None; self.moments];
        for pair in samples.windows(2) {
            let (before, after) = (pair[0].retransmits?, pair[1].retransmits?);
            if let Some(moment) = self.place(pair[0].at, pair[1].at) {
                let seen: &mut Option<bool> = &mut lost[moment];
                *seen = Some(seen.unwrap_or(false) || after > before);
            }
        }
        (samples.len() > 1).then_some(lost)
    }

    /// The moment in which the middle of two readings lies; `None` outside of all, and where the
    /// reader paused for longer than a moment, so that the moment of a loss is unknown.
    fn place(&self, before: Time, after: Time) -> Option<usize> {
        let gap = after.since(before);
        let middle = before + Span::from_nanos(gap.as_nanos() / 2);
        if gap.as_nanos() / 3 * 2 > self.moment.as_nanos() || middle < self.from || middle > self.to
        {
            return None;
        }
        let moment = middle.since(self.from).as_nanos() / self.moment.as_nanos();
        let moment = usize::try_from(moment).ok()?;
        (moment < self.moments).then_some(moment)
    }
}

#[cfg(test)]
mod tests;
