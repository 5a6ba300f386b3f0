//! The steps of the decision between the two ends: a full link, a standing queue, losses.

use units::Span;

use super::evidence::Evidence;
use super::words::percent;
use super::{Limit, Verdict};

/// At or above this share of the best seen, the path is taken as full when more streams add
/// nothing.
const FULL: f64 = 0.9;
/// A queue that stands although better was seen by more than this: losses empty the pipe in
/// between.
const NEARLY_FULL: f64 = 0.75;
/// Retransmissions above this share count as the cause without a look at Mathis's formula, and
/// below it only when that formula gives a rate like the one seen.
const LOSS_MIN: f64 = 1e-5;
/// Pacing that lowers retransmissions by this factor shows that bursts caused them.
const PACING_CURES: f64 = 5.0;
/// Pacing that does not even halve them shows that bursts did not; in between both remain possible.
const PACING_HELPS: f64 = 2.0;
/// What twice the streams bring where a queue is too short for bursts: measured, four times the
/// streams brought 2.4 times as much, 1.55 for each doubling. Random loss lets each stream keep its
/// rate (2.0); less than this range, and the two runs differ by chance.
const SHALLOW_GAIN: std::ops::Range<f64> = 1.2..1.7;
/// More than half of the retransmissions.
const MOSTLY: f64 = 0.5;

/// Comparison with other runs: close to what more streams neither raise nor lower.
pub(super) fn full_path(evidence: &Evidence<'_>) -> Option<Verdict> {
    let note = queue_note(evidence);
    let goodput = evidence.goodput().human();
    if let Some(share) = evidence.share_of_plateau().filter(|share| *share >= FULL) {
        let because = format!(
            "{goodput} is {} of what the path carries with however many streams{note}",
            percent(share)
        );
        return Some(Verdict::of(Limit::Link, because));
    }
    let flat = FULL..=1.0 / FULL;
    let gain = evidence.gain().filter(|gain| flat.contains(gain))?;
    (evidence.utilisation() >= FULL).then(|| {
        let because = format!(
            "twice the streams carry {} of its {goodput}{note}",
            percent(gain)
        );
        Verdict::of(Limit::Link, because)
    })
}

/// The path's own queue fills: the link is full, or was before losses emptied it.
pub(super) fn standing_queue(evidence: &Evidence<'_>) -> Option<Verdict> {
    evidence.standing_queue()?;
    if evidence.utilisation() < NEARLY_FULL {
        return None;
    }
    let because = format!("the path's queue fills{}", queue_note(evidence));
    Some(Verdict::of(Limit::Link, because))
}

fn queue_note(evidence: &Evidence<'_>) -> String {
    let (Some(queueing), Some(empty)) = (evidence.queueing(), evidence.rtt_min) else {
        return String::new();
    };
    if evidence.standing_queue().is_none() {
        return String::new();
    }
    let deep = queueing > empty.max(Span::from_millis(30));
    let depth = if deep {
        ", far more than a link needs to stay full"
    } else {
        ""
    };
    format!(
        ": waiting adds {} to a round trip of {}{depth}",
        queueing.human(),
        empty.human()
    )
}

pub(super) fn loss(evidence: &Evidence<'_>) -> Option<Verdict> {
    let share = evidence.tcp.retransmitted_share?;
    if share <= LOSS_MIN && !evidence.loss_explains_rate() {
        return None;
    }
    let lost = format!("{} of the bytes were sent twice", percent(share));
    Some(reordering(evidence, &lost).unwrap_or_else(|| drops(evidence, share, lost)))
}

/// No losses in the steady window, but some before it, and the window has not grown back since.
pub(super) fn early_loss(evidence: &Evidence<'_>) -> Option<Verdict> {
    let lost = evidence
        .way
        .retransmits_total
        .filter(|segments| *segments > 0)?;
    let window = evidence.tcp.congestion_window?;
    (evidence.utilisation() < NEARLY_FULL).then(|| {
        let because = format!(
            "{lost} segments were lost before the rate settled, and the congestion window has not \
             grown beyond {} since",
            window.human()
        );
        Verdict::of(Limit::Loss, because).or(&[Limit::ShallowQueue])
    })
}

fn reordering(evidence: &Evidence<'_>, lost: &str) -> Option<Verdict> {
    let in_vain = evidence
        .tcp
        .duplicate_share
        .filter(|share| *share > MOSTLY)?;
    evidence.tcp.reorderings.filter(|events| *events > 0)?;
    let because = format!(
        "{lost}, {} of them in vain: the path reorders packets and TCP takes it for loss",
        percent(in_vain)
    );
    Some(Verdict::of(Limit::Reordering, because))
}

fn drops(evidence: &Evidence<'_>, share: f64, lost: String) -> Verdict {
    let lost = format!("{lost} and no queue stands");
    let paced = evidence.context.paced;
    match paced.and_then(|paced| paced.retransmitted_share) {
        Some(paced) => told_by_pacing(share, paced, &lost),
        None => undecided(evidence, lost),
    }
}

fn told_by_pacing(share: f64, paced: f64, lost: &str) -> Verdict {
    let paced_percent = percent(paced);
    if paced * PACING_CURES < share {
        let because = format!(
            "{lost}; paced it is {paced_percent}: bursts overflow a queue too short for them"
        );
        return Verdict::of(Limit::ShallowQueue, because);
    }
    if paced * PACING_HELPS >= share {
        let because = format!("{lost}; pacing leaves {paced_percent}: packets are lost at random");
        return Verdict::of(Limit::Loss, because);
    }
    let because = format!(
        "{lost}; paced it is {paced_percent}, so bursts overflow a short queue, or chance helped"
    );
    Verdict::of(Limit::ShallowQueue, because).or(&[Limit::Loss])
}

/// Without a paced run: how the streams scale leans one way, and the other is named too. Random loss
/// is the likelier cause where the scaling tells nothing, as when twice the streams fill the path, or
/// when the run was so short that the luck of its slow start decided it.
fn undecided(evidence: &Evidence<'_>, lost: String) -> Verdict {
    let tells = evidence.is_long() && !evidence.doubling_fills();
    let gain = evidence.gain().filter(|_| tells);
    let scaling = gain.map(|gain| format!("; twice the streams carry {gain:.1} times as much"));
    let (limit, or) = match gain {
        Some(gain) if SHALLOW_GAIN.contains(&gain) => (Limit::ShallowQueue, Limit::Loss),
        _ => (Limit::Loss, Limit::ShallowQueue),
    };
    let scaling = scaling.unwrap_or_default();
    let because = format!("{lost}{scaling}; only a paced run would tell loss from a shallow queue");
    Verdict::of(limit, because).or(&[or])
}
