//! Causes in visits of other tasks of the same pair.

use stats::median;
use units::Span;

use super::{Cause, CauseKind, Evidence};
use crate::{Metric, UnixTime, Visit};

/// Visits before a change that have to know what is compared.
const BEFORE_MIN: usize = 3;
/// What other tasks show is told behind what the visits of the change show by themselves.
const ELSEWHERE: f64 = 0.98;
/// More probes than this share are lost where loss is a cause.
const LOSS_MIN: f64 = 0.01;

/// The candidates that visits of other tasks show. Each has to hold for all of their visits since
/// the change.
pub(crate) fn elsewhere(evidence: &Evidence<'_>) -> Vec<Cause> {
    let found = [
        route(evidence),
        far_host(evidence),
        round_trip(evidence),
        loss(evidence),
    ];
    found.into_iter().flatten().collect()
}

fn cause(kind: CauseKind, because: String, visits: Vec<UnixTime>) -> Option<Cause> {
    Some(Cause {
        kind,
        score: ELSEWHERE * kind.weight(),
        because,
        visits,
    })
}

fn route(evidence: &Evidence<'_>) -> Option<Cause> {
    let known = evidence.before.iter().filter(|visit| visit.route.is_some());
    let known = known.count();
    let (visits, routed) = evidence.new_routes();
    if known < BEFORE_MIN || visits.is_empty() || visits.len() < routed {
        return None;
    }
    let because = format!(
        "{} of {routed} visits of other tasks took a route that none of the {known} before took",
        visits.len()
    );
    cause(CauseKind::Route, because, visits)
}

fn far_host(evidence: &Evidence<'_>) -> Option<Cause> {
    let (visits, told) = evidence.new_far_hosts();
    if visits.is_empty() || visits.len() < told {
        return None;
    }
    let because = format!(
        "kernel or buffer limits of the far host are others in {} of {told} visits of other tasks",
        visits.len()
    );
    cause(CauseKind::FarHost, because, visits)
}

fn round_trip(evidence: &Evidence<'_>) -> Option<Cause> {
    let (before, after, visits) = apart(evidence, Metric::RoundTripMin)?;
    let moved = (after - before).abs();
    if moved < Metric::RoundTripMin.smallest_shift(before) {
        return None;
    }
    let seconds = |seconds: f64| Span::from_secs_f64(seconds).human();
    let because = format!(
        "the shortest round trip of other tasks went from {} to {}",
        seconds(before),
        seconds(after)
    );
    cause(CauseKind::RoundTrip, because, visits)
}

fn loss(evidence: &Evidence<'_>) -> Option<Cause> {
    let (before, after, visits) = apart(evidence, Metric::Loss)?;
    if (after - before).abs() < LOSS_MIN {
        return None;
    }
    let because = format!(
        "the loss of other tasks went from {:.1} % to {:.1} %",
        before * 100.0,
        after * 100.0
    );
    cause(CauseKind::Loss, because, visits)
}

/// Medians of a metric on both sides and the visits since, where all of those lie beyond all
/// before.
fn apart(evidence: &Evidence<'_>, metric: Metric) -> Option<(f64, f64, Vec<UnixTime>)> {
    let values = |side: &[&Visit]| -> Vec<f64> {
        side.iter().filter_map(|visit| metric.of(visit)).collect()
    };
    let (before, after) = (values(&evidence.before), values(&evidence.after));
    if before.len() < BEFORE_MIN || after.len() < 2 {
        return None;
    }
    let ends = |values: &[f64]| {
        let low = values.iter().copied().fold(f64::INFINITY, f64::min);
        (
            low,
            values.iter().copied().fold(f64::NEG_INFINITY, f64::max),
        )
    };
    let ((low, high), (least, most)) = (ends(&before), ends(&after));
    let is_apart = least > high || most < low;
    let told = evidence
        .after
        .iter()
        .filter(|visit| metric.of(visit).is_some());
    let visits = told.map(|visit| visit.at).collect();
    is_apart.then_some((median(&before)?, median(&after)?, visits))
}
