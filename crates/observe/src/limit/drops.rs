//! The steps of the decision that look at losses.
//!
//! Random loss and a queue too short for bursts look alike in one run. What tells them apart, the
//! surest first: a paced run of the same setting; the depth of the queue, which other runs have
//! shown by filling it; how throughput and losses grow with the number of streams.

use units::{Rate, Span};

use super::evidence::Evidence;
use super::words::{percent, two_digits};
use super::{Limit, Paced, Verdict};

/// Retransmissions above this share count as the cause without a look at Mathis's formula, and
/// below it only when that formula gives a rate like the one seen.
const LOSS_MIN: f64 = 1e-5;
/// Pacing that lowers retransmissions by this factor shows that bursts caused them.
const PACING_CURES: f64 = 5.0;
/// Pacing that does not even halve them shows that bursts did not; in between both remain possible.
const PACING_HELPS: f64 = 2.0;
/// Pacing that carries this much more without any loss cured what it was used against.
const PACING_GAINS: f64 = 1.2;
/// Fewer losses than this say nothing if a fifth of them is seen again: of five, that or less comes
/// by chance in 4 % of all cases (Poisson).
const EXPECTED_MIN: f64 = 5.0;
/// Losses in excess of what the rate tells by this factor came together.
const CLUSTER: f64 = 3.0;
/// Losses in excess by this factor do not go on like that.
const TOGETHER: f64 = 100.0;
/// A paced stream that loses this many segments does not lose them by bursts.
const LOST_PACED: u64 = 3;
/// A stream alone with a short queue keeps this much of the path: Reno falls to half of the pipe
/// and grows back, three quarters on average, and less where several losses come together. Random
/// loss leaves any share.
const KEPT_BY_SHORT_QUEUE: f64 = 0.6;
/// What twice the streams bring where a queue is too short for bursts: measured, four times the
/// streams brought 2.4 times as much, 1.55 for each doubling. Random loss lets each stream keep its
/// rate (2.0); less than this range, and the two runs differ by chance.
const SHALLOW_GAIN: std::ops::Range<f64> = 1.2..1.7;
/// A window cut early is the cause only where so much more was seen.
const NEARLY_FULL: f64 = 0.75;
/// Waiting below this, or below this share of the round trip, is no queue to speak of.
const SEEN_MIN: Span = Span::from_millis(1);
const SEEN_SHARE: f64 = 0.02;
/// More than half of the retransmissions.
const MOSTLY: f64 = 0.5;

pub(super) fn loss(evidence: &Evidence<'_>) -> Option<Verdict> {
    let share = evidence.tcp.retransmitted_share?;
    if share <= LOSS_MIN && !evidence.loss_explains_rate() {
        return None;
    }
    let lost = format!("{} of the bytes were sent twice", percent(share));
    let found = reordering(evidence, &lost);
    Some(found.unwrap_or_else(|| {
        let mut verdict = drops(evidence, share, &format!("{lost} {}", queue(evidence)));
        verdict.because += &holds_slow_start(evidence, share).unwrap_or_default();
        beside_others(evidence, verdict)
    }))
}

/// What the queue did, which is not full for most of the time.
fn queue(evidence: &Evidence<'_>) -> String {
    let seen = evidence.queueing().filter(|added| {
        let empty = evidence.rtt_min.unwrap_or(Span::ZERO).as_secs_f64();
        *added >= SEEN_MIN && added.as_secs_f64() >= SEEN_SHARE * empty
    });
    match seen {
        None => "and no queue stands".to_owned(),
        Some(added) => format!(
            "and the queue, which adds {} in the mean, does not stay full",
            added.human()
        ),
    }
}

/// That the figures of one stream in a short run cannot last: if it went on losing so much, it
/// would carry far less. Losses do not bound bbr in this way.
fn holds_slow_start(evidence: &Evidence<'_>, share: f64) -> Option<String> {
    if evidence.context.congestion.as_deref() == Some("bbr") {
        return None;
    }
    let together = evidence.loss_for_rate()? * TOGETHER < share;
    let kept = Rate::from_f64(evidence.mathis()?);
    (together && evidence.streams() == 1 && !evidence.is_long()).then(|| {
        format!(
            "; a stream that goes on losing so much carries no more than {}, so these figures still hold slow start",
            kept.human()
        )
    })
}

/// Where others send, their full queue drops what ours lose, and may never empty while we look.
/// That is the likelier cause, and the losses' own stays named beside it.
fn beside_others(evidence: &Evidence<'_>, mut verdict: Verdict) -> Verdict {
    if let Some(waited) = evidence.waited_before() {
        verdict.or.insert(0, verdict.limit);
        verdict.limit = Limit::Link;
        verdict.because = format!(
            "packets waited {} before a stream of ours was sent, so others fill the link; if they do not: {}",
            waited.human(),
            verdict.because
        );
    }
    verdict
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

fn drops(evidence: &Evidence<'_>, share: f64, lost: &str) -> Verdict {
    let by_pacing = || told_by_pacing(evidence, share, lost);
    let by_bbr = || told_by_bbr(evidence, share, lost);
    deep_queue(evidence, lost)
        .or_else(by_pacing)
        .or_else(by_bbr)
        .unwrap_or_else(|| undecided(evidence, lost))
}

/// A queue that has held so much is not too short for one stream's bursts.
fn deep_queue(evidence: &Evidence<'_>, lost: &str) -> Option<Verdict> {
    let queue = evidence
        .context
        .queue_most
        .filter(|_| evidence.queue_is_deep())?;
    let because = format!(
        "{lost}, on a path whose queue held {} beside other runs: packets are lost at random",
        queue.human()
    );
    Some(Verdict::of(Limit::Loss, because))
}

/// What a paced run says; `None` where it was too short to meet the losses of the other one.
///
/// A run's own losses may have come together, as those of an overflow in slow start do. What its
/// rate tells of them bounds what the paced run is held against.
fn told_by_pacing(evidence: &Evidence<'_>, share: f64, lost: &str) -> Option<Verdict> {
    let paced = evidence.context.paced?;
    let left = paced.retransmitted_share?;
    let usual = evidence
        .loss_for_rate()
        .map_or(share, |usual| share.min(CLUSTER * usual));
    if paced
        .segments
        .is_some_and(|sent| sent * usual < EXPECTED_MIN)
        && left < share
    {
        return None;
    }
    let paced = format!("{} {}", subject(&paced, "it is"), percent(left));
    if left * PACING_CURES < usual {
        let because = format!("{lost}; {paced}: bursts overflow a queue too short for them");
        return Some(Verdict::of(Limit::ShallowQueue, because));
    }
    if left * PACING_HELPS >= usual {
        let because = format!("{lost}; {paced}: packets are lost at random");
        return Some(Verdict::of(Limit::Loss, because));
    }
    let because = format!("{lost}; {paced}, so bursts overflow a short queue, or chance helped");
    Some(Verdict::of(Limit::ShallowQueue, because).or(&[Limit::Loss]))
}

/// What a run with bbr says, which sends without bursts: where it carries more and loses about the
/// same share, the losses are neither those of bursts nor those of a full queue.
fn told_by_bbr(evidence: &Evidence<'_>, share: f64, lost: &str) -> Option<Verdict> {
    let mut others = evidence.context.alternatives.iter();
    let bbr = others.find(|one| one.congestion == "bbr")?;
    let left = bbr.retransmitted_share?;
    let gains = bbr.goodput.as_f64() >= PACING_GAINS * evidence.goodput().as_f64();
    let as_many = left < PACING_HELPS * share && left * PACING_HELPS >= share;
    (gains && as_many).then(|| {
        let because = format!(
            "{lost}; bbr, which sends without bursts, lost {} and carried {}: packets are lost at \
             random",
            percent(left),
            bbr.goodput.human()
        );
        Verdict::of(Limit::Loss, because)
    })
}

/// Of what the paced run speaks: `paced it is`, `one paced stream lost`.
fn subject(paced: &Paced, verb: &str) -> String {
    match paced.is_one_stream {
        true => "one paced stream lost".to_owned(),
        false => format!("paced {verb}"),
    }
}

/// What a paced run would tell, or why the one that was made does not.
fn open_question(evidence: &Evidence<'_>) -> String {
    if evidence.context.paced.is_some() {
        return "the paced run was too short to tell loss from a shallow queue".to_owned();
    }
    let each = evidence.goodput().as_f64() / evidence.streams() as f64;
    format!(
        "only a paced run would tell loss from a shallow queue: `trunkline measure HOST -P {} --pacing {}`",
        evidence.streams(),
        two_digits(each)
    )
}

/// Without a paced run that tells: the depth of the queue and how the streams scale lean one way,
/// and the other is named too. Random loss is the likelier cause where nothing leans.
fn undecided(evidence: &Evidence<'_>, lost: &str) -> Verdict {
    let scaling = scaling(evidence);
    let note = scaling.map(|gain| format!("; twice the streams carry {gain:.1} times as much"));
    let note = note.unwrap_or_default();
    let by_queue = evidence.queue_is_short() && evidence.utilisation() >= KEPT_BY_SHORT_QUEUE;
    if cured_by_pacing(evidence) {
        let because = format!(
            "{lost}; {} none and carried more: bursts overflow a short queue, or chance helped",
            paced_lost(evidence)
        );
        return Verdict::of(Limit::ShallowQueue, because).or(&[Limit::Loss]);
    }
    let by_scaling = scaling.is_some_and(|gain| SHALLOW_GAIN.contains(&gain));
    if by_queue {
        let because = format!(
            "{lost}, more streams lose far more{note}, and the queue never held much: bursts overflow it, or \
             packets are lost at random"
        );
        return Verdict::of(Limit::ShallowQueue, because).or(&[Limit::Loss]);
    }
    let because = format!("{lost}{note}; {}", open_question(evidence));
    match by_scaling {
        true => Verdict::of(Limit::ShallowQueue, because).or(&[Limit::Loss]),
        false => Verdict::of(Limit::Loss, because).or(&[Limit::ShallowQueue]),
    }
}

/// What a doubling of the streams brings, where that was neither bounded by the path nor decided by
/// the luck of slow start.
fn scaling(evidence: &Evidence<'_>) -> Option<f64> {
    let tells = evidence.is_long() && !evidence.more_streams_fill();
    evidence.gain_of_doubling().filter(|_| tells)
}

/// No losses in the steady window, but some before it, and the window has not grown back since.
pub(super) fn early_loss(evidence: &Evidence<'_>) -> Option<Verdict> {
    let lost = evidence
        .way
        .retransmits_total
        .filter(|segments| *segments > 0)?;
    let window = evidence.tcp.congestion_window?;
    if evidence.utilisation() >= NEARLY_FULL {
        return None;
    }
    let because = format!(
        "{} lost before the rate settled, and the congestion window has not \
         grown beyond {} since",
        match lost {
            1 => "1 segment was".to_owned(),
            lost => format!("{lost} segments were"),
        },
        window.human()
    );
    Some(cut_early(evidence, because))
}

/// Random loss would have struck again, if it is what holds the stream back and the run was long
/// enough. A queue that is deep enough lets the window come back, and then the link is full.
fn cut_early(evidence: &Evidence<'_>, because: String) -> Verdict {
    if lost_paced(evidence) {
        let because = format!("{because}; {} packets all the same", paced_lost(evidence));
        return Verdict::of(Limit::Loss, because).or(&[Limit::ShallowQueue]);
    }
    let struck_no_more = evidence.excludes_random_loss();
    let cured = cured_by_pacing(evidence);
    if evidence.queue_is_deep() {
        let or: &[Limit] = if struck_no_more {
            &[Limit::Link]
        } else {
            &[Limit::Loss, Limit::Link]
        };
        return Verdict::of(Limit::TooShort, because).or(or);
    }
    if struck_no_more {
        return Verdict::of(Limit::ShallowQueue, because).or(&[Limit::Link]);
    }
    match cured || evidence.queue_is_short() {
        true => Verdict::of(Limit::ShallowQueue, because).or(&[Limit::Loss, Limit::Link]),
        false => Verdict::of(Limit::Loss, because).or(&[Limit::ShallowQueue, Limit::Link]),
    }
}

/// `paced it lost`, to stand before how much.
fn paced_lost(evidence: &Evidence<'_>) -> String {
    let paced = evidence.context.paced.as_ref();
    paced.map_or(String::new(), |paced| subject(paced, "it lost"))
}

fn lost_paced(evidence: &Evidence<'_>) -> bool {
    let lost = evidence.context.paced.and_then(|paced| paced.retransmits);
    lost.is_some_and(|lost| lost >= LOST_PACED)
}

fn cured_by_pacing(evidence: &Evidence<'_>) -> bool {
    evidence.context.paced.is_some_and(|paced| {
        let gains = paced.goodput.as_f64() >= PACING_GAINS * evidence.goodput().as_f64();
        paced.retransmits_total == Some(0) && gains
    })
}
