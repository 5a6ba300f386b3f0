//! Which setting carries most, which is gentlest, and which to use.

use models::{Candidate, Cost, Rule};
use observe::Window;
use stats::Estimate;
use units::Rate;

use super::KNEE_SHARE;
use super::setting::Visited;
use super::shapes::{OperatingPoint, RecommendedPoint};

/// A setting of which a larger share of the visits starves a stream is passed over: one of four.
const STARVING_VISITS: f64 = 0.25;

/// The setting with the highest median goodput.
pub(super) fn highest<'a, 'b>(settings: &'a [Visited<'b>]) -> Option<&'a Visited<'b>> {
    let known: Vec<&Visited<'_>> = settings.iter().collect();
    let choice = models::choose(&candidates(&known, None), Rule::Max).ok()?;
    settings.get(choice.highest)
}

/// What is chosen among: each setting by its medians.
///
/// * `resolution`: of the dRTT, in seconds; without it that decides nothing.
fn candidates(settings: &[&Visited<'_>], resolution: Option<f64>) -> Vec<Candidate> {
    let mut windows: Vec<Window> = settings.iter().map(|s| s.figures.setting.window).collect();
    windows.sort_unstable();
    windows.dedup();
    let rank = |setting: &Visited<'_>| {
        let window = setting.figures.setting.window;
        windows.iter().take_while(|other| **other < window).count() as u32
    };
    let candidate = |setting: &&Visited<'_>| Candidate {
        streams: setting.streams().into(),
        window_rank: rank(setting),
        goodput: Estimate::bare(Rate::from_f64(rate(setting))),
        rtt_loaded: None,
        cost: setting
            .added()
            .zip(resolution)
            .map(|(added, resolution)| Cost { added, resolution }),
    };
    settings.iter().map(candidate).collect()
}

fn rate(setting: &Visited<'_>) -> f64 {
    setting.goodput().unwrap_or(0.0)
}

/// The setting with the least dRTT per throughput.
pub(super) fn gentlest<'a, 'b>(
    settings: &'a [Visited<'b>],
    resolution: Option<f64>,
) -> Option<&'a Visited<'b>> {
    let known = settings
        .iter()
        .filter_map(|setting| Some((cost(setting, resolution)?, setting)));
    known
        .min_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, setting)| setting)
}

/// dRTT per throughput, in seconds per bit/s. What lies below `resolution` counts as that:
/// otherwise the setting whose dRTT came out lowest by chance would win, however little it carries.
///
/// Source of the figure: Cottrell's measurements from SLAC in 2000-2001 had an optimum of it.
pub(super) fn cost(setting: &Visited<'_>, resolution: Option<f64>) -> Option<f64> {
    let goodput = setting.goodput().filter(|goodput| *goodput > 0.0)?;
    Some(setting.added()?.max(resolution?) / goodput)
}

/// The setting to use: the knee of those that do not starve streams in more than a quarter of their
/// visits, see [`Rule::Knee`]; the highest counts whether it starves any or not. Differences in
/// dRTT within `resolution` are none.
pub(super) fn recommended(
    settings: &[Visited<'_>],
    resolution: Option<f64>,
) -> Option<RecommendedPoint> {
    let most = rate(highest(settings)?);
    let good = |s: &&Visited<'_>| rate(s) >= KNEE_SHARE * most;
    let (starving, fair): (Vec<_>, Vec<_>) = settings.iter().filter(good).partition(|s| starves(s));
    let (usable, passed_over) = match fair.is_empty() {
        true => (starving, 0),
        false => (fair, starving.len()),
    };
    // All of these reach the share of the highest.
    let knee = models::choose(&candidates(&usable, resolution), Rule::Knee(0.0)).ok()?;
    let chosen = usable.get(knee.index)?;
    Some(RecommendedPoint {
        at: point(chosen)?,
        share_of_highest_ratio: rate(chosen) / most,
        passed_over: passed_over as u64,
    })
}

fn starves(setting: &Visited<'_>) -> bool {
    let starvation = setting.figures.starvation;
    starvation.is_some_and(|starvation| starvation.visits_ratio > STARVING_VISITS)
}

/// A setting with the figures by which it is chosen; `None` without a goodput.
pub(super) fn point(setting: &Visited<'_>) -> Option<OperatingPoint> {
    let figures = &setting.figures;
    Some(OperatingPoint {
        setting: figures.setting.clone(),
        // The target knows.
        window_granted: None,
        goodput: figures.goodput?,
        rtt_added_seconds: setting.added(),
        retransmitted_ratio: figures.retransmitted.map(|share| share.median_ratio),
        fairness: figures.fairness.map(|fairness| fairness.median_ratio),
        starvation: figures.starvation,
    })
}
