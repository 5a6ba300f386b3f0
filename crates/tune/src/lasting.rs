//! What a sample says of a longer run.
//!
//! A sample of a few seconds can show more than its setting keeps: streams that start fill a path
//! which loses packets for as long as no loss has hit them, and a long run then brings them down to
//! what their congestion control holds under such losses. That much is known from its response
//! function, so a sample counts for no more than this, with room for what formulas leave out.
//!
//! No correction is made where the sample filled the path (its own queue is what makes it lose
//! packets, and it keeps the path full), where it loses far more than a paced stream does (its own
//! bursts overflow a queue), where every stream has lost so often that its start is forgotten,
//! where a long look lost nothing, and for a congestion control without a response function (bbr,
//! and ours over UDP).
//! Where no loss was seen, half of one is assumed: a hundred thousand packets without a loss say
//! little of a path that loses one in a million, and one stream of a long path is brought down by
//! that.

use models::{Acks, Conditions, Response};
use observe::{Steadiness, StreamCount, Transport, UDP_CONTROL};
use units::Rate;

use crate::history::{History, main_direction};
use crate::tuning::{Purpose, Sample, Standing};

/// A sample may show this much more than the formula before it is distrusted: simulated streams
/// hold up to 1.14 times what it says of CUBIC, and the loss it is given is itself a sample.
const ROOM: f64 = 1.25;
/// The same of a long sample.
const ROOM_LONG: f64 = 2.0;
/// Losses of each stream after which its window is what they leave of it: ten of them take CUBIC
/// from thirty times its window.
const LOSSES_EACH: f64 = 10.0;
/// Losses that are assumed where none was seen: the middle between none and one.
const UNSEEN: f64 = 0.5;
/// Streams that carry so many times what they keep under their own losses did not lose evenly.
const TOGETHER: f64 = 10.0;
/// Losses this many times those of paced streams are those of bursts.
const PACING_CURES: f64 = 5.0;

/// Whether a sample counts for what it shows; where a longer run of its setting is expected to have
/// less, for that.
pub(crate) fn standing(history: &History, sample: &Sample) -> Standing {
    let shown = sample.goodput().mean;
    match bound(history, sample).filter(|bound| bound.goodput < shown) {
        None => Standing::Counts,
        Some(bound) => Standing::CountsFor {
            because: bound.because(),
            goodput: bound.goodput,
        },
    }
}

/// Whether a sample counts for less only because it sent too little to exclude losses that it did
/// not see: a longer look tells. Where losses were seen, luck may last as long as the look.
pub(crate) fn is_unproven(history: &History, sample: &Sample) -> bool {
    let shown = sample.goodput().mean;
    let bound = bound(history, sample).filter(|bound| bound.goodput < shown);
    bound.is_some_and(|bound| !bound.loss.is_seen)
}

/// Goodput in bits per second that a long run of a sample's setting is expected to have.
pub(crate) fn expected(history: &History, sample: &Sample) -> f64 {
    match standing(history, sample) {
        Standing::CountsFor { goodput, .. } => goodput.as_f64(),
        _ => sample.goodput().mean.as_f64(),
    }
}

/// The most that a sample counts for, and what that follows from.
struct Bound {
    goodput: Rate,
    congestion: String,
    loss: Loss,
}

/// A share of packets.
#[derive(Debug, Clone, Copy)]
struct Loss {
    share: f64,
    /// Whether any was lost, or only too few were sent to exclude that.
    is_seen: bool,
}

impl Bound {
    fn because(&self) -> String {
        let (rate, congestion) = (self.goodput.human(), &self.congestion);
        let one_in = format!("one packet in {:.0}", 1.0 / self.loss.share);
        match self.loss.is_seen {
            true => {
                format!(
                    "the formula for {congestion} expects {rate} under the losses seen, {one_in}"
                )
            }
            false => format!(
                "the formula for {congestion} expects {rate} if {one_in} is lost, and too few were \
                 sent to exclude that"
            ),
        }
    }
}

/// Whether each stream has lost so many packets that its window no longer shows how it started.
fn has_lost_often(sample: &Sample) -> bool {
    let lost = packets(sample).map_or(0.0, |(lost, _)| lost);
    is_settled(sample) && lost >= LOSSES_EACH * f64::from(sample.streams().get())
}

/// Whether a long look lost nothing.
fn kept_all(sample: &Sample) -> bool {
    let lost = sample.retransmitted_share();
    sample.purpose == Purpose::Confirm && is_settled(sample) && lost == Some(0.0)
}

/// Whether its losses are those of its own bursts, by what a paced sample of the path lost: then
/// they end where the path is full, and say nothing of less.
fn overflows(history: &History, sample: &Sample) -> bool {
    let paced = paced_loss(history).filter(|_| sample.setting.pacing.is_none());
    let own = sample.retransmitted_share().filter(|_| is_settled(sample));
    own.zip(paced)
        .is_some_and(|(own, paced)| own > PACING_CURES * paced.share)
}

/// The most that the streams keep under the losses that were seen; `None` of a sample that speaks
/// for itself.
fn bound(history: &History, sample: &Sample) -> Option<Bound> {
    let speaks_for_itself =
        has_lost_often(sample) || kept_all(sample) || overflows(history, sample);
    let is_full = history.is_full(sample) && !holds_slow_start(history, sample);
    if speaks_for_itself || is_full {
        return None;
    }
    let loss = loss_for(history, sample)?;
    let each = kept(history, sample, &conditions(sample, loss.share)?)?;
    let congestion = congestion(history, sample)?;
    let room = match sample.purpose {
        Purpose::Confirm => ROOM_LONG,
        _ => ROOM,
    };
    Some(Bound {
        goodput: Rate::from_f64(room * each * f64::from(sample.streams().get())),
        congestion: congestion.to_owned(),
        loss,
    })
}

/// The losses that hold for a sample: those of the path, but no fewer than its own.
fn loss_for(history: &History, sample: &Sample) -> Option<Loss> {
    let own = sample
        .retransmitted_share()
        .filter(|_| is_settled(sample) && !holds_slow_start(history, sample));
    let path = match sample.setting.pacing {
        Some(_) => pooled(history, [sample].into_iter()),
        None => loss(history, sample, sample.streams())
            .or_else(|| loss(history, sample, StreamCount::MAX)),
    };
    let (path, own) = (path?, own.unwrap_or(0.0));
    Some(match own > path.share {
        true => Loss {
            share: own,
            is_seen: true,
        },
        false => path,
    })
}

/// The share of packets that so many streams like those of `like` lose at the least: what those
/// samples of its congestion control lost that had no more of them and did not fill the path, or
/// what a paced one lost. `None` without any.
fn loss(history: &History, like: &Sample, streams: StreamCount) -> Option<Loss> {
    let fewer = history.samples.iter().filter(|sample| {
        let comparable = sample.streams() <= streams
            && sample.setting.pacing.is_none()
            && sample.setting.transport == like.setting.transport
            && sample.setting.congestion == like.setting.congestion;
        comparable && !history.is_full(sample)
    });
    let unpaced = pooled(history, fewer)?;
    let paced = paced_loss(history).filter(|paced| paced.share < unpaced.share);
    Some(paced.unwrap_or(unpaced))
}

/// The share of packets that paced samples lost: none of them by bursts.
fn paced_loss(history: &History) -> Option<Loss> {
    let paced = history
        .samples
        .iter()
        .filter(|sample| sample.setting.pacing.is_some());
    pooled(history, paced)
}

/// The share that samples lost together. A start that overflows a queue loses many packets at once,
/// which says nothing of the path; so only samples that settled count.
fn pooled<'a>(history: &History, samples: impl Iterator<Item = &'a Sample>) -> Option<Loss> {
    let counts = samples
        .filter(|sample| is_settled(sample) && !holds_slow_start(history, sample))
        .filter_map(packets);
    let (lost, sent) = counts.fold((0.0, 0.0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
    (sent > 0.0).then(|| Loss {
        share: f64::max(lost, UNSEEN) / sent,
        is_seen: lost > UNSEEN,
    })
}

/// Packets lost and sent in the steady part.
fn packets(sample: &Sample) -> Option<(f64, f64)> {
    let way = main_direction(sample)?;
    let segment = way.tcp.mss?.as_f64();
    let sent = way.goodput.mean.bytes_in(way.steady.length()).as_f64() / segment;
    Some((way.tcp.retransmitted_share? * sent, sent))
}

/// Whether its losses came together, as those at the end of slow start do: going on like that, its
/// streams would carry a small part of what it shows.
fn holds_slow_start(history: &History, sample: &Sample) -> bool {
    let conditions = sample
        .retransmitted_share()
        .filter(|lost| *lost > 0.0)
        .and_then(|lost| conditions(sample, lost));
    let each = conditions.and_then(|conditions| kept(history, sample, &conditions));
    let kept = each.map(|each| each * f64::from(sample.streams().get()));
    kept.is_some_and(|kept| kept * TOGETHER < sample.goodput().mean.as_f64())
}

fn conditions(sample: &Sample, loss: f64) -> Option<Conditions> {
    let tcp = &main_direction(sample)?.tcp;
    Some(Conditions {
        segment: tcp.mss?,
        rtt: tcp.rtt?,
        loss,
    })
}

/// What one stream keeps, in bits per second.
fn kept(history: &History, sample: &Sample, conditions: &Conditions) -> Option<f64> {
    let response = response(congestion(history, sample)?)?;
    Some(response.rate(conditions)?.as_f64())
}

fn is_settled(sample: &Sample) -> bool {
    let steady = main_direction(sample).map(|way| way.steady.steadiness);
    steady == Some(Steadiness::Settled)
}

fn congestion<'a>(history: &'a History, sample: &'a Sample) -> Option<&'a str> {
    if sample.setting.transport == Transport::Udp {
        return Some(UDP_CONTROL);
    }
    let asked = sample.setting.congestion.as_ref();
    Some(asked.or(history.target.congestion.first())?.as_str())
}

fn response(congestion: &str) -> Option<Response> {
    match congestion {
        "cubic" => Some(Response::Cubic),
        "reno" => Some(Response::Reno(Acks::Every)),
        _ => None,
    }
}
