//! The steps of the decision that find a full link.

use units::Span;

use super::evidence::Evidence;
use super::words::percent;
use super::{Limit, Verdict};
use crate::analysis::stands;

/// At or above this share of the best seen, the path is taken as full when more streams add
/// nothing.
const FULL: f64 = 0.9;
/// A queue that stands although better was seen by more than this: losses empty the pipe in
/// between, or others fill it.
const NEARLY_FULL: f64 = 0.75;
/// A stream that loses so much has a window of 30 segments (Mathis), less than what keeps a pipe
/// full through each of its falls.
const OVERFLOWS: f64 = 2e-3;
/// A policer keeps no queue: what waits longer than this waits in one.
const POLICED_QUEUE: Span = Span::from_millis(2);
/// A policer drops whatever exceeds its rate, and no queue tells the sender before.
const POLICED_LOSS: f64 = 0.03;

/// Comparison with other runs: close to what more streams neither raise nor lower.
pub(super) fn full_path(evidence: &Evidence<'_>) -> Option<Verdict> {
    let note = queue_note(evidence);
    let goodput = evidence.goodput().human();
    let because = match evidence.share_of_plateau().filter(|share| *share >= FULL) {
        Some(share) => format!(
            "{goodput} is {} of what the path carries with however many streams{note}",
            percent(share)
        ),
        None => flat(evidence)?,
    };
    Some(policed(evidence).unwrap_or_else(|| full(evidence, because)))
}

/// More streams carry the same.
fn flat(evidence: &Evidence<'_>) -> Option<String> {
    let range = FULL..=1.0 / FULL;
    let more = evidence.more_streams()?;
    let gain = more.goodput.as_f64() / evidence.goodput().as_f64();
    (range.contains(&gain) && evidence.utilisation() >= FULL).then(|| {
        format!(
            "it carries {}, and {} streams carry no more than {}{}",
            evidence.goodput().human(),
            more.streams,
            more.goodput.human(),
            queue_note(evidence)
        )
    })
}

/// A full link, and whatever a run of this length cannot exclude: where no queue stands, a stream
/// may have been lucky to meet no loss, or may have yet to overflow a short queue.
fn full(evidence: &Evidence<'_>, because: String) -> Verdict {
    if evidence.standing_queue().is_some() {
        return Verdict::of(Limit::Link, because);
    }
    let mut or = Vec::new();
    if evidence.queue_is_short() {
        or.push(Limit::ShallowQueue);
    }
    if !evidence.is_long() && !evidence.excludes_random_loss() && evidence.knows_tcp() {
        or.push(Limit::Loss);
    }
    match overflows(evidence) {
        true => short_of_full(because),
        false => Verdict::of(Limit::Link, because).or(&or),
    }
}

/// Whether a short queue overflows again and again, with few streams as with many: then more
/// streams carry no more either.
fn overflows(evidence: &Evidence<'_>) -> bool {
    let share = evidence.tcp.retransmitted_share.unwrap_or(0.0);
    evidence.queue_is_short() && share > OVERFLOWS
}

fn short_of_full(because: String) -> Verdict {
    let because = format!("{because}, but its queue is short and overflows all the time");
    Verdict::of(Limit::ShallowQueue, because).or(&[Limit::Link])
}

fn policed(evidence: &Evidence<'_>) -> Option<Verdict> {
    let share = evidence
        .tcp
        .retransmitted_share
        .filter(|share| *share > POLICED_LOSS)?;
    let (queue, empty) = (evidence.context.queue_most?, evidence.rtt_min?);
    let signs = format!(
        "{} of the bytes were sent twice, more streams bring nothing, and no queue was longer than {}",
        percent(share),
        queue.human()
    );
    stands(queue, empty)
        .is_none()
        .then(|| match queue > POLICED_QUEUE {
            true => Verdict::of(
                Limit::ShallowQueue,
                format!("{signs}: it overflows all the time"),
            )
            .or(&[Limit::Link, Limit::Policer]),
            false => Verdict::of(
                Limit::Policer,
                format!("{signs}: what exceeds a rate is dropped"),
            )
            .or(&[Limit::ShallowQueue, Limit::Link]),
        })
}

/// Others keep a queue on the path before any stream of ours sends: the link is full of theirs.
pub(super) fn others_fill_it(evidence: &Evidence<'_>) -> Option<Verdict> {
    let (idle, empty) = (evidence.context.rtt_unloaded?, evidence.rtt_min?);
    stands(idle - empty, empty)?;
    let because = format!(
        "packets waited {} before a stream of ours was sent: others fill the link",
        (idle - empty).human()
    );
    Some(Verdict::of(Limit::Link, because))
}

/// The path's own queue fills: the link is full, or was before losses emptied it. Where much more
/// was seen, one run's streams cannot have kept that queue: others do.
pub(super) fn standing_queue(evidence: &Evidence<'_>) -> Option<Verdict> {
    evidence.standing_queue()?;
    let note = queue_note(evidence);
    if evidence.utilisation() >= NEARLY_FULL {
        return Some(Verdict::of(
            Limit::Link,
            format!("the path's queue fills{note}"),
        ));
    }
    let because = format!(
        "the path's queue fills{note}, at {} of the best seen: others share the link",
        percent(evidence.utilisation())
    );
    Some(Verdict::of(Limit::Link, because).or(&[Limit::Loss]))
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
