//! What is left when neither buffers nor losses nor a queue explain the rate.

use super::evidence::Evidence;
use super::words::percent;
use super::{Limit, Verdict};

/// A window that still grows by this much over the run had not arrived.
const STILL_GROWING: f64 = 0.1;
/// What twice the streams bring where each has a rate of its own.
const NEARLY_TWICE: f64 = 1.8;
/// A program that uses this share of one processor has next to none left, unless it spreads over
/// several.
const PROCESSOR_FULL: f64 = 0.9;
/// A stream at this share of the best has not much to arrive at.
const FULL: f64 = 0.9;

pub(super) fn no_signal(evidence: &Evidence<'_>) -> Verdict {
    too_short(evidence)
        .or_else(|| per_flow(evidence))
        .or_else(|| busy_processor(evidence))
        .unwrap_or_else(|| unknown(evidence))
}

pub(super) fn too_short(evidence: &Evidence<'_>) -> Option<Verdict> {
    let growth = evidence.tcp.congestion_window_growth;
    let growth = growth.filter(|growth| *growth > STILL_GROWING)?;
    (evidence.utilisation() < FULL || evidence.context.by_streams.is_empty()).then(|| {
        let because = format!(
            "the congestion window still grew by {}: the run was too short to tell",
            percent(growth)
        );
        Verdict::of(Limit::TooShort, because)
    })
}

/// Each stream gets the same however many there are, and loses nothing.
fn per_flow(evidence: &Evidence<'_>) -> Option<Verdict> {
    let gain = evidence
        .gain_of_doubling()
        .filter(|gain| *gain >= NEARLY_TWICE)?;
    let clean = evidence.tcp.retransmitted_share? == 0.0
        && evidence.way.retransmits_total == Some(0)
        && evidence.queueing().is_some()
        && evidence.standing_queue().is_none();
    (clean && evidence.is_long()).then(|| {
        let because = format!(
            "twice the streams carry {gain:.1} times as much, without losses, a queue or a buffer that binds"
        );
        Verdict::of(Limit::PerFlow, because)
    })
}

/// Nothing on the path explains it, and one end's program used a whole processor, mostly in the
/// kernel as a rule.
fn busy_processor(evidence: &Evidence<'_>) -> Option<Verdict> {
    let ends = [
        ("the far end", evidence.summary.cpu_far),
        ("this end", evidence.summary.cpu_near),
    ];
    let used = ends.into_iter().filter_map(|(end, shares)| {
        let (user, kernel) = shares?;
        (user + kernel >= PROCESSOR_FULL).then_some((end, user, kernel))
    });
    let (end, user, kernel) = used.max_by(|a, b| (a.1 + a.2).total_cmp(&(b.1 + b.2)))?;
    let because = format!(
        "{end} used {} of a processor, {} of it in the kernel, and nothing else explains the rate",
        percent(user + kernel),
        percent(kernel / (user + kernel)),
    );
    Some(Verdict::of(Limit::Host, because))
}

fn unknown(evidence: &Evidence<'_>) -> Verdict {
    let because = match evidence.tcp.rtt {
        None => "the sender's kernel cannot be asked, and no other run tells",
        Some(_) => "neither buffers nor losses nor a queue explain the rate",
    };
    Verdict::of(Limit::Unknown, because.to_owned())
}
