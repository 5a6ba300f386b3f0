//! What the visits of a sweep show together: medians of every setting, curves and knees, and the
//! setting to use.
//!
//! Everything is a median with quartiles, because visits scatter and some go wrong. Where the data
//! are too few for a figure it is absent. Settings are judged one direction at a time;
//! [`DirectionsApart`] compares the two.
//!
//! Left out: models of why a curve bends (`models` has those), and change over the time of the
//! sweep: its cycles are shuffled so that change scatters the visits of all settings alike.
//!
//! Reading order: `shapes.rs` for what comes out, `visit.rs` for the figures of one visit,
//! `setting.rs`, `curve.rs` with the knee, `choice.rs` for the recommendation, `round_trips.rs` and
//! `processor.rs` for the relations over all visits.

mod choice;
mod curve;
mod processor;
mod quantities;
mod round_trips;
pub(crate) mod setting;
mod shapes;
mod visit;

use observe::Direction;

use crate::Cell;
pub(crate) use quantities::whole;
pub use quantities::{RateShift, RateSpread, RatioSpread, TimeShift, TimeSpread};
use setting::Visited;
pub use shapes::{
    Curve, DirectionAnalysis, DirectionsApart, Distribution, DurationFigures, ExponentialFit, Knee,
    LineFit, Linear, LoadFit, LogarithmFit, OperatingPoint, Product, RecommendedPoint,
    SettingFigures, Starvation, SweepAnalysis,
};
use visit::Visit;

/// The share of the highest goodput that makes a knee, and that a recommendation has to reach.
///
/// Source: the advice for the path from SLAC to Taiwan in 2006, about 90 % of what can be had, near
/// the top of the knee rather than at the maximum: something is left for others, and rates are
/// steadier.
pub const KNEE_SHARE: f64 = models::KNEE_FRACTION;

/// What visits show.
///
/// * `seed`: decides which cycles are drawn for the intervals of the knees.
pub fn analyse(cells: &[Cell], seed: u64) -> SweepAnalysis {
    let settings = setting::visited(cells);
    let directions: Vec<DirectionAnalysis> = settings
        .chunk_by(|a, b| a.figures.setting.direction == b.figures.setting.direction)
        .map(|settings| direction(settings, seed))
        .collect();
    SweepAnalysis {
        directions_apart: apart(&settings, &directions),
        directions,
        settings: settings
            .into_iter()
            .map(|setting| setting.figures)
            .collect(),
    }
}

fn direction(settings: &[Visited<'_>], seed: u64) -> DirectionAnalysis {
    let visits: Vec<Visit<'_>> = settings
        .iter()
        .flat_map(|setting| &setting.visits)
        .copied()
        .collect();
    let resolution = round_trips::resolution(&visits);
    let all = |figure: fn(&Visit<'_>) -> Option<f64>| -> Vec<f64> {
        visits.iter().filter_map(figure).collect()
    };
    DirectionAnalysis {
        direction: settings
            .first()
            .map_or(Direction::Forward, |first| first.figures.setting.direction),
        curves: curve::curves(settings, resolution, seed),
        highest: choice::highest(settings).and_then(choice::point),
        gentlest: choice::gentlest(settings, resolution).and_then(choice::point),
        recommended: choice::recommended(settings, resolution),
        rate_variability_unloaded: round_trips::distribution(&all(|visit| {
            visit.variability_unloaded()
        })),
        rate_variability_loaded: round_trips::distribution(&all(|visit| {
            visit.variability_loaded()
        })),
        variability_against_added: round_trips::variability_against_added(&visits),
        cpu_against_goodput: processor::against_goodput(&visits),
        kernel_to_user_ratio: processor::kernel_to_user(&visits),
        products: processor::products(settings),
        rtt_spread_against_load: round_trips::spread_against_load(settings),
        durations: setting::durations(settings),
        fairness: stats::spread(&all(|visit| visit.fairness())).map(RatioSpread::from),
    }
}

/// Forward and reverse compared, where both were measured.
fn apart(settings: &[Visited<'_>], directions: &[DirectionAnalysis]) -> Option<DirectionsApart> {
    let best = |direction| {
        let way = directions.iter().find(|way| way.direction == direction)?;
        let highest = &way.highest.as_ref()?.setting;
        settings.iter().find(|s| s.figures.setting == *highest)
    };
    let (forward, reverse) = (best(Direction::Forward)?, best(Direction::Reverse)?);
    Some(DirectionsApart {
        forward_bits_per_second: whole(forward.goodput()?),
        reverse_bits_per_second: whole(reverse.goodput()?),
        shift: stats::shift(&forward.goodputs(), &reverse.goodputs())?.into(),
    })
}

/// A line through three points or more.
fn fit(points: &[(f64, f64)]) -> Option<LineFit> {
    let line = stats::fit_line(points).filter(|_| points.len() > 2)?;
    Some(LineFit::of(line, points.len()))
}

#[cfg(test)]
pub(crate) mod fixtures;

#[cfg(test)]
mod tests;
