//! Which setting carries most, which is gentlest, and which to use.

use super::KNEE_SHARE;
use super::setting::Visited;
use super::shapes::{OperatingPoint, Recommendation};

/// A setting of which a larger share of the visits starves a stream is passed over: one of four.
const STARVING_VISITS: f64 = 0.25;

/// The setting with the highest median goodput.
pub(super) fn highest<'a, 'b>(settings: &'a [Visited<'b>]) -> Option<&'a Visited<'b>> {
    let known = settings
        .iter()
        .filter(|setting| setting.goodput() > Some(0.0));
    known.max_by(|a, b| rate(a).total_cmp(&rate(b)))
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

/// dRTT per throughput, in seconds per bit/s. What lies below `resolution` counts as that: otherwise the setting whose
/// dRTT came out lowest by chance would win, however little it carries.
///
/// Source of the figure: Cottrell's measurements from SLAC in 2000-2001 had an optimum of it.
pub(super) fn cost(setting: &Visited<'_>, resolution: Option<f64>) -> Option<f64> {
    let goodput = setting.goodput().filter(|goodput| *goodput > 0.0)?;
    Some(setting.added()?.max(resolution?) / goodput)
}

/// The setting to use: of those that reach 90 % of the highest median goodput and do not starve streams in more than a quarter of
/// their visits, the fewest streams of each window; of these the one with the least dRTT. Settings whose dRTT is as
/// low within `resolution`, or unknown for one of them, are told apart by their streams: fewer are better.
pub(super) fn recommended(
    settings: &[Visited<'_>],
    resolution: Option<f64>,
) -> Option<Recommendation> {
    let most = rate(highest(settings)?);
    let good = |s: &&Visited<'_>| rate(s) >= KNEE_SHARE * most;
    let (starving, fair): (Vec<_>, Vec<_>) = settings.iter().filter(good).partition(|s| starves(s));
    let (usable, passed_over) = match fair.is_empty() {
        true => (starving, 0),
        false => (fair, starving.len()),
    };
    let fewest = usable
        .chunk_by(|a, b| a.shares_curve(b))
        .map(|curve| curve[0]);
    let chosen = gentle(fewest.collect(), resolution)?;
    Some(Recommendation {
        at: point(chosen)?,
        share_of_highest: rate(chosen) / most,
        passed_over,
    })
}

/// The fewest streams of those whose dRTT is the least.
fn gentle<'a, 'b>(
    mut settings: Vec<&'a Visited<'b>>,
    resolution: Option<f64>,
) -> Option<&'a Visited<'b>> {
    let added: Option<Vec<f64>> = settings.iter().map(|setting| setting.added()).collect();
    if let (Some(added), Some(resolution)) = (added, resolution) {
        let least = added.iter().copied().fold(f64::INFINITY, f64::min);
        settings.retain(|setting| setting.added() <= Some(least + resolution));
    }
    settings.into_iter().min_by_key(|setting| setting.streams())
}

fn starves(setting: &Visited<'_>) -> bool {
    let starvation = setting.figures.starvation;
    starvation.is_some_and(|starvation| starvation.visits > STARVING_VISITS)
}

/// A setting with the figures by which it is chosen; `None` without a goodput.
pub(super) fn point(setting: &Visited<'_>) -> Option<OperatingPoint> {
    let figures = &setting.figures;
    Some(OperatingPoint {
        setting: figures.setting.clone(),
        goodput: figures.goodput?,
        rtt_added: setting.added(),
        retransmitted: figures.retransmitted.map(|share| share.median),
        fairness: figures.fairness.map(|fairness| fairness.median),
        starvation: figures.starvation,
    })
}
