//! What the round trips of all visits of a direction show.

use stats::Frequencies;

use super::fit;
use super::setting::Visited;
use super::shapes::{Distribution, ExponentialFit, LineFit, LoadFit, LogarithmFit};
use super::visit::Visit;

/// Visits below which the form of a distribution cannot be told.
const DISTRIBUTION_MIN: usize = 20;

/// Bins at the most.
const BINS_MAX: f64 = 50.0;

/// Settings above this share of the highest goodput are left out of the line through `1 / (1 - L)`:
/// the highest is known to some per cent, so `1 - L` is not known beyond.
const LOAD_MAX: f64 = 0.95;

/// RV up to here was called good at SLAC in 2001.
const VARIABILITY_GOOD: f64 = 0.1;

/// Differences of round trips below this tell nothing: what the idle path scatters by itself (the
/// median interquartile range), at least a hundredth of its round trip.
pub(super) fn resolution(visits: &[Visit<'_>]) -> Option<f64> {
    let ranges: Vec<f64> = visits.iter().filter_map(Visit::unloaded_range).collect();
    let idle = visits.iter().filter_map(|visit| visit.figures.rtt_unloaded);
    let idle: Vec<f64> = idle.map(|round_trips| round_trips.median).collect();
    Some(stats::median(&ranges)?.max(stats::median(&idle)? / 100.0))
}

/// How RV scatters; `None` below two visits.
pub(super) fn distribution(values: &[f64]) -> Option<Distribution> {
    let good = values.iter().filter(|value| **value <= VARIABILITY_GOOD);
    let enough = values.len() >= DISTRIBUTION_MIN;
    let largest = values.iter().copied().fold(0.0, f64::max);
    let width = stats::bin_width(values).map(|width| width.max(largest / BINS_MAX));
    let frequencies = width
        .filter(|_| enough)
        .and_then(|width| stats::frequencies(values, width));
    let bins = frequencies.as_ref();
    let counts = |bins: &Frequencies| bins.counts.iter().map(|count| *count as u64).collect();
    let below = stats::cumulative(values).filter(|_| enough);
    Some(Distribution {
        spread: stats::spread(values)?.into(),
        mean_ratio: stats::mean(values)?,
        standard_deviation_ratio: stats::standard_deviation(values)?,
        at_most_tenth_ratio: good.count() as f64 / values.len() as f64,
        exponential: bins
            .and_then(|bins| stats::fit_exponential(&bins.shares()))
            .map(ExponentialFit::from),
        bin_width_ratio: bins.map(|bins| bins.bin_width),
        bin_counts: bins.map_or_else(Vec::new, counts),
        logarithm: below
            .and_then(|points| stats::fit_logarithm(&points))
            .map(LogarithmFit::from),
    })
}

/// Loaded RV against dRTT: whether both tell the same.
pub(super) fn variability_against_added(visits: &[Visit<'_>]) -> Option<LineFit> {
    let points = visits
        .iter()
        .filter_map(|visit| Some((visit.added()?, visit.variability_loaded()?)));
    fit(&points.collect::<Vec<_>>())
}

/// The median interquartile range of each setting's loaded round trips against `1 / (1 - L)`.
pub(super) fn spread_against_load(settings: &[Visited<'_>]) -> Option<LoadFit> {
    let visits = settings.iter().flat_map(|setting| &setting.visits);
    let reference = visits.map(|visit| visit.goodput()).fold(0.0, f64::max);
    let point = |setting: &Visited<'_>| {
        let ranges: Vec<f64> = setting
            .visits
            .iter()
            .filter_map(Visit::loaded_range)
            .collect();
        let load = setting.goodput()? / reference;
        Some((load, stats::median(&ranges)?)).filter(|_| load <= LOAD_MAX)
    };
    let points: Vec<(f64, f64)> = settings.iter().filter_map(point).collect();
    Some(LoadFit {
        fit: LineFit::of(stats::fit_crowding(&points)?, points.len()),
        reference_bits_per_second: super::whole(reference),
        load_max_ratio: LOAD_MAX,
    })
}
