//! One function for each candidate.

use units::{Rate, Span};

use super::{Cause, CauseKind, Evidence};
use crate::{Metric, Moved, UnixTime, Visit};

/// More of the own processor than this was taken.
const STOLEN_MIN: f64 = 0.03;
/// The queue beside our streams grew or shrank by less: it is the same queue.
const QUEUE_SAME: f64 = 0.87;

/// A resent share that explains another goodput grew by this factor, and by this share of the
/// bytes.
const RESENT_GROWS: f64 = 1.4;
const RESENT_MIN: f64 = 2e-4;

/// The candidates for a change with these shifts, the likeliest first.
pub(crate) fn find(evidence: &Evidence<'_>, shifts: &[Moved]) -> Vec<Cause> {
    let candidates = [
        own_processor(evidence, shifts),
        route(evidence),
        far_host(evidence),
        round_trip(evidence, shifts),
        loss(evidence, shifts),
        path_rate(evidence, shifts),
        limit(evidence),
        queue(evidence, shifts),
    ];
    let mut causes: Vec<Cause> = candidates.into_iter().flatten().collect();
    causes.sort_by(|a, b| b.score.total_cmp(&a.score));
    causes
}

fn moved(shifts: &[Moved], metric: Metric) -> Option<&Moved> {
    shifts.iter().find(|moved| moved.metric == metric)
}

fn cause(kind: CauseKind, share: f64, because: String, visits: Vec<UnixTime>) -> Cause {
    Cause {
        kind,
        score: kind.weight() * share,
        because,
        visits,
    }
}

/// The visits on the new side for which `shows` holds.
fn showing(evidence: &Evidence<'_>, shows: impl Fn(&Visit) -> bool) -> Vec<UnixTime> {
    let visits = evidence.after.iter().filter(|visit| shows(visit));
    visits.map(|visit| visit.at).collect()
}

/// A processor that others use makes goodput fall and delays probes; it makes no longer path.
fn own_processor(evidence: &Evidence<'_>, shifts: &[Moved]) -> Option<Cause> {
    let stolen = |visit: &Visit| visit.stolen.map(f64::from);
    let (before, after) = evidence.medians(stolen)?;
    let goodput = moved(shifts, Metric::Goodput)?;
    let explains = (after - before).abs() > STOLEN_MIN && (after > before) == (goodput.size < 0.0);
    let between = (before + after) / 2.0;
    let visits = showing(evidence, |visit| {
        stolen(visit).is_some_and(|share| (share > between) == (after > before))
    });
    explains.then(|| {
        let because = format!(
            "others took {} of this host's processor time, before {}",
            percent(after),
            percent(before)
        );
        cause(CauseKind::OwnProcessor, 1.0, because, visits)
    })
}

fn route(evidence: &Evidence<'_>) -> Option<Cause> {
    let (visits, routed) = evidence.new_routes();
    let share = visits.len() as f64 / routed.max(1) as f64;
    (share > 0.5).then(|| {
        let because = format!(
            "{} of {routed} visits took a route that none of the {} before took",
            visits.len(),
            evidence.before.len()
        );
        cause(CauseKind::Route, share, because, visits)
    })
}

fn far_host(evidence: &Evidence<'_>) -> Option<Cause> {
    let (visits, told) = evidence.new_far_hosts();
    let share = visits.len() as f64 / told.max(1) as f64;
    (share > 0.5).then(|| {
        let because = format!(
            "kernel or buffer limits of the far host are others in {} of {told} visits",
            visits.len()
        );
        cause(CauseKind::FarHost, share, because, visits)
    })
}

fn round_trip(evidence: &Evidence<'_>, shifts: &[Moved]) -> Option<Cause> {
    let moved = moved(shifts, Metric::RoundTripMin)?;
    let visits = on_new_side(evidence, moved);
    let because = format!(
        "the shortest round trip went from {} to {}",
        seconds(moved.before),
        seconds(moved.after)
    );
    Some(cause(CauseKind::RoundTrip, 1.0, because, visits))
}

/// Losses that a lower rate makes by itself leave the queue as full as it was; losses that come
/// from elsewhere keep TCP from filling it.
fn loss(evidence: &Evidence<'_>, shifts: &[Moved]) -> Option<Cause> {
    let moved_loss = moved(shifts, Metric::Resent)
        .or(moved(shifts, Metric::Loss))
        .copied();
    let moved_loss = moved_loss.or_else(|| resent_beside(evidence, shifts))?;
    let share = match (moved(shifts, Metric::Goodput), evidence.queue_ratio()) {
        (Some(goodput), _) if (goodput.size < 0.0) != (moved_loss.size > 0.0) => 0.3,
        (Some(goodput), Some(queue)) if goodput.size < 0.0 && queue > QUEUE_SAME => 0.5,
        (Some(goodput), Some(queue)) if goodput.size > 0.0 && queue < 1.0 / QUEUE_SAME => 0.5,
        _ => 1.0,
    };
    let because = format!(
        "the {} went from {} to {}",
        moved_loss.metric.name(),
        percent(moved_loss.before),
        percent(moved_loss.after)
    );
    let visits = on_new_side(evidence, &moved_loss);
    Some(cause(CauseKind::Loss, share, because, visits))
}

/// A resent share that grew with a shift of goodput, or fell, but not so much that it would be a
/// change by itself.
fn resent_beside(evidence: &Evidence<'_>, shifts: &[Moved]) -> Option<Moved> {
    let goodput = moved(shifts, Metric::Goodput)?;
    let (before, after) = evidence.medians(|visit| visit.resent.map(f64::from))?;
    let (less, more) = (before.min(after), before.max(after));
    (more > RESENT_GROWS * less && more - less > RESENT_MIN).then_some(Moved {
        metric: Metric::Resent,
        before,
        after,
        size: after - before,
        size_low: None,
        size_high: None,
        strength: goodput.strength,
        recovered: None,
    })
}

/// Goodput is another while the queue beside our streams is filled as before.
fn path_rate(evidence: &Evidence<'_>, shifts: &[Moved]) -> Option<Cause> {
    let moved = moved(shifts, Metric::Goodput)?;
    let share = match evidence.queue_ratio() {
        Some(queue) if moved.size < 0.0 && queue < QUEUE_SAME => 0.4,
        Some(queue) if moved.size > 0.0 && queue > 1.0 / QUEUE_SAME => 0.4,
        Some(_) => 1.0,
        None => 0.7,
    };
    let queue = match share < 1.0 {
        true => "cause not measured",
        false => "and our streams fill the queue as before",
    };
    let because = format!(
        "goodput went from {} to {}, {queue}",
        Rate::from_f64(moved.before).human(),
        Rate::from_f64(moved.after).human()
    );
    let visits = on_new_side(evidence, moved);
    Some(cause(CauseKind::PathRate, share, because, visits))
}

fn limit(evidence: &Evidence<'_>) -> Option<Cause> {
    let (before, after) = evidence.limits()?;
    let visits = showing(evidence, |visit| visit.limit == Some(after));
    let because = format!("the limit was `{before}` and is `{after}`");
    Some(cause(CauseKind::Limit, 1.0, because, visits))
}

fn queue(evidence: &Evidence<'_>, shifts: &[Moved]) -> Option<Cause> {
    let moved = moved(shifts, Metric::RoundTripMedian)?;
    let because = format!(
        "the median round trip without our load went from {} to {}",
        seconds(moved.before),
        seconds(moved.after)
    );
    let visits = on_new_side(evidence, moved);
    Some(cause(CauseKind::Queue, 1.0, because, visits))
}

/// The visits that lie nearer to the new level than to the old one.
fn on_new_side(evidence: &Evidence<'_>, moved: &Moved) -> Vec<UnixTime> {
    let near = |value: f64| (value - moved.after).abs() <= (value - moved.before).abs();
    showing(evidence, |visit| moved.metric.of(visit).is_some_and(near))
}

fn percent(share: f64) -> String {
    match share * 100.0 {
        percent if percent != 0.0 && percent < 0.1 => format!("{percent:.3} %"),
        percent => format!("{percent:.1} %"),
    }
}

fn seconds(seconds: f64) -> String {
    Span::from_secs_f64(seconds).human()
}
