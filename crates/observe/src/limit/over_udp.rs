//! The step of the decision for streams over UDP, whose sender is our own.
//!
//! `rate_control::PathModel` sends as fast as the path was seen to deliver. It gives way to losses
//! only where a round trip loses more than 2 %, or more than the path loses by chance. What is lost
//! by chance does not hold it back once that is known, so neither Mathis's formula nor a
//! comparison with paced runs applies; what a queue drops shows that the link is full. What a
//! queue, a program, a processor or a rate that was set tell, earlier steps have told.

use super::evidence::Evidence;
use super::no_signal::too_short;
use super::words::percent;
use super::{Limit, Verdict};
use crate::Transport;

/// Losses in a round trip to which the sender gives way.
const GIVES_WAY: f64 = 0.02;
/// A process that uses this share of one processor may have a thread with none left: over UDP one
/// encrypts all of a connection.
const PROCESSOR_FULL: f64 = 0.9;

pub(super) fn over_udp(evidence: &Evidence<'_>) -> Option<Verdict> {
    if evidence.context.transport != Transport::Udp {
        return None;
    }
    let lost = evidence.tcp.retransmitted_share?;
    too_short(evidence).or_else(|| Some(by_losses(evidence, lost)))
}

fn by_losses(evidence: &Evidence<'_>, lost: f64) -> Verdict {
    if lost > GIVES_WAY {
        let because = format!(
            "{} of the bytes were lost: the sender gives way to more than {}, unless it has seen \
             that as much is lost without a queue",
            percent(lost),
            percent(GIVES_WAY)
        );
        return Verdict::of(Limit::Loss, because).or(&[Limit::Link, Limit::Policer]);
    }
    let is_unclear = lost > 0.0 && evidence.standing_queue().is_none();
    let of_what = match is_unclear {
        true => ", by chance or in a queue too short for its probes",
        false => "",
    };
    let because = format!(
        "the sender keeps to the rate at which the path was seen to deliver; {} of the bytes were \
         lost{of_what}",
        percent(lost)
    );
    let others = [
        is_unclear.then_some(Limit::Loss),
        is_busy(evidence).then_some(Limit::Host),
    ];
    let others: Vec<Limit> = others.into_iter().flatten().collect();
    Verdict::of(Limit::Link, because).or(&others)
}

/// Whether one end's program may have been short of a processor.
fn is_busy(evidence: &Evidence<'_>) -> bool {
    let ends = [evidence.summary.cpu_near, evidence.summary.cpu_far];
    let mut used = ends.into_iter().flatten();
    used.any(|(user, kernel)| user + kernel >= PROCESSOR_FULL)
}
