//! Throughput against streams with one window: where it grows in proportion, and its knee.

use models::{Candidate, Rule};
use rand_core::{Rng, SeedableRng};
use rand_pcg::Pcg64;
use stats::{CONFIDENCE, Estimate, Interval};
use units::Rate;

use super::choice::cost;
use super::setting::Visited;
use super::shapes::{Curve, Knee, Linear};
use super::{KNEE_SHARE, fit, whole};

/// A point this far below the line through those before it is no longer on it. Medians of some ten
/// visits scatter by a few per cent.
const BELOW_LINE: f64 = 0.1;

/// How often the cycles are drawn anew for the interval of a knee. The ends of a 95 % interval are
/// then the 25th values from either end, which settles them to about one stream of a dense grid.
const DRAWS: usize = 1000;

/// Cycles that are needed for an interval: of fewer there are too few different draws.
const CYCLES_MIN: usize = 5;

/// The curves of one direction, in the order of the settings.
pub(super) fn curves(settings: &[Visited<'_>], resolution: Option<f64>, seed: u64) -> Vec<Curve> {
    settings
        .chunk_by(Visited::shares_curve)
        .map(|settings| curve(settings, resolution, seed))
        .collect()
}

fn curve(settings: &[Visited<'_>], resolution: Option<f64>, seed: u64) -> Curve {
    let known: Vec<&Visited<'_>> = settings.iter().filter(|s| s.goodput().is_some()).collect();
    let gentlest = known
        .iter()
        .filter_map(|setting| Some((setting.streams(), cost(setting, resolution)?)))
        .min_by(|a, b| a.1.total_cmp(&b.1));
    let linear = linear(&known);
    let still_rising = linear.is_some_and(|linear| !linear.ends);
    let mut knee = knee(&known, seed);
    if let Some(knee) = knee.as_mut() {
        knee.at_edge |= still_rising;
    }
    Curve {
        window: settings[0].figures.setting.window,
        congestion: settings[0].figures.setting.congestion.clone(),
        streams: known.iter().map(|setting| setting.streams()).collect(),
        linear,
        knee,
        gentlest_streams: gentlest.map(|(streams, _)| streams),
    }
}

/// The longest beginning of the curve of which each point reaches 90 % of what the line through the
/// origin and the points before it says.
fn linear(settings: &[&Visited<'_>]) -> Option<Linear> {
    let points: Vec<(f64, f64)> = settings
        .iter()
        .filter_map(|setting| Some((f64::from(setting.streams()), setting.goodput()?)))
        .collect();
    let on_line = |next: &usize| {
        let (before, (streams, goodput)) = (&points[..*next], points[*next]);
        let products: f64 = before.iter().map(|(x, y)| x * y).sum();
        let squares: f64 = before.iter().map(|(x, _)| x * x).sum();
        goodput >= (1.0 - BELOW_LINE) * products / squares * streams
    };
    let count = 1 + (1..points.len()).take_while(on_line).count();
    let part = settings.get(..count).filter(|part| part.len() > 2)?;
    let visits: Vec<(f64, f64)> = part
        .iter()
        .flat_map(|setting| &setting.visits)
        .map(|visit| (f64::from(visit.streams()), visit.goodput()))
        .collect();
    Some(Linear {
        until_streams: part.last()?.streams(),
        ends: count < settings.len(),
        fit: fit(&visits)?,
    })
}

fn knee(settings: &[&Visited<'_>], seed: u64) -> Option<Knee> {
    let medians: Vec<(u16, f64)> = settings
        .iter()
        .filter_map(|setting| Some((setting.streams(), setting.goodput()?)))
        .collect();
    let (streams, goodput, highest) = knee_of(&medians)?;
    // One number of streams is no curve.
    let last = medians.last().filter(|_| medians.len() > 1)?.0;
    let interval = interval(settings, seed);
    Some(Knee {
        streams,
        low_streams: interval.map(|interval| interval.low),
        high_streams: interval.map(|interval| interval.high),
        confidence: interval.map(|interval| interval.confidence),
        share_ratio: KNEE_SHARE,
        goodput_bits_per_second: whole(goodput),
        highest_bits_per_second: whole(highest),
        at_edge: streams == last,
    })
}

/// The fewest streams that carry the share of the highest, with their goodput and the highest.
fn knee_of(points: &[(u16, f64)]) -> Option<(u16, f64, f64)> {
    let candidate = |(streams, goodput): &(u16, f64)| Candidate {
        streams: (*streams).into(),
        window_rank: 0,
        goodput: Estimate::bare(Rate::from_f64(*goodput)),
        rtt_loaded: None,
        cost: None,
    };
    let candidates: Vec<Candidate> = points.iter().map(candidate).collect();
    let knee = models::choose(&candidates, Rule::Knee(KNEE_SHARE)).ok()?;
    let (streams, goodput) = points.get(knee.index)?;
    Some((*streams, *goodput, points.get(knee.highest)?.1))
}

/// Where the knee lies in 95 % of 1000 sweeps whose cycles are drawn with replacement from those
/// that were made. Cycles and not visits are drawn: what the path did during a cycle moved all its
/// visits.
///
/// Source: the percentile interval of Efron and Tibshirani, "An Introduction to the Bootstrap"
/// (1993), chapter 13.
fn interval(settings: &[&Visited<'_>], seed: u64) -> Option<Interval<u16>> {
    let visits = || settings.iter().flat_map(|setting| &setting.visits);
    let mut cycles: Vec<u32> = visits().map(|visit| visit.cycle).collect();
    cycles.sort_unstable();
    cycles.dedup();
    if cycles.len() < CYCLES_MIN {
        return None;
    }
    let table: Vec<(u16, Vec<Vec<f64>>)> = settings
        .iter()
        .map(|setting| (setting.streams(), by_cycle(setting, &cycles)))
        .collect();
    let mut random = Pcg64::seed_from_u64(seed);
    let mut knees: Vec<u16> = (0..DRAWS)
        .filter_map(|_| drawn(&table, &draw(&mut random, cycles.len())))
        .collect();
    knees.sort_unstable();
    let tail = (knees.len() as f64 * (1.0 - CONFIDENCE) / 2.0).floor() as usize;
    Some(Interval {
        low: *knees.get(tail)?,
        high: *knees.get(knees.len().checked_sub(1 + tail)?)?,
        confidence: CONFIDENCE,
    })
}

/// The goodputs of a setting in each of the cycles; none where its visit failed.
fn by_cycle(setting: &Visited<'_>, cycles: &[u32]) -> Vec<Vec<f64>> {
    let of = |cycle: &u32| {
        let visits = setting.visits.iter().filter(|visit| visit.cycle == *cycle);
        visits.map(|visit| visit.goodput()).collect()
    };
    cycles.iter().map(of).collect()
}

fn draw(random: &mut Pcg64, count: usize) -> Vec<usize> {
    // The high half of the product of a draw and the count: uniform but for one part in 2^32.
    let one = |_| ((u64::from(random.next_u32()) * count as u64) >> 32) as usize;
    (0..count).map(one).collect()
}

fn drawn(table: &[(u16, Vec<Vec<f64>>)], cycles: &[usize]) -> Option<u16> {
    let median = |(streams, goodputs): &(u16, Vec<Vec<f64>>)| {
        let drawn = cycles.iter().flat_map(|cycle| &goodputs[*cycle]);
        let drawn: Vec<f64> = drawn.copied().collect();
        Some((*streams, stats::median(&drawn)?))
    };
    let medians: Vec<(u16, f64)> = table.iter().filter_map(median).collect();
    knee_of(&medians).map(|(streams, _, _)| streams)
}
