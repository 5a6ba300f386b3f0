//! What a sample says of a longer run.
//!
//! A sample of a few seconds can show more than its setting keeps: streams that start fill a path which
//! loses packets for as long as no loss has hit them, and a long run then brings them down to what their
//! congestion control holds under such losses. That much is known from its response function, so a
//! sample counts for no more than this, with room for what formulas leave out.
//!
//! No correction is made where the sample filled the path (its own queue is what makes it lose packets, and
//! it keeps the path full), where every stream has lost so often that its start is forgotten, and for a congestion control without a response function (bbr). Where no
//! loss was seen, half of one is assumed: a hundred thousand packets without a loss say little of a
//! path that loses one in a million, and one stream of a long path is brought down by that.

use models::{Acks, Conditions, Response};
use observe::{Steadiness, StreamCount};

use crate::history::{History, main_direction};
use crate::tuning::{Purpose, Sample};

/// A sample may show this much more than the formula before it is distrusted: simulated streams hold up
/// to 1.14 times what it says of CUBIC, and the loss it is given is itself a sample.
const ROOM: f64 = 1.25;
/// ... and a long one this much.
const ROOM_LONG: f64 = 2.0;
/// Losses of each stream after which its window is what they leave of it: ten of them take CUBIC from
/// thirty times its window.
const LOSSES_EACH: f64 = 10.0;
/// Losses that are assumed where none was seen: the middle between none and one.
const UNSEEN: f64 = 0.5;

/// Goodput in bits per second that a long run of a sample's setting is expected to have.
pub(crate) fn expected(history: &History, sample: &Sample) -> f64 {
    let shown = sample.goodput().mean.as_f64();
    let speaks_for_itself = history.is_full(sample) || has_lost_often(sample);
    match bound(history, sample).filter(|_| !speaks_for_itself) {
        Some(bound) => shown.min(bound),
        None => shown,
    }
}

/// Whether each stream has lost so many packets that its window no longer shows how it started.
fn has_lost_often(sample: &Sample) -> bool {
    let lost = packets(sample).map_or(0.0, |(lost, _)| lost);
    is_settled(sample) && lost >= LOSSES_EACH * f64::from(sample.streams().get())
}

/// The most that the streams keep under the losses that were seen.
fn bound(history: &History, sample: &Sample) -> Option<f64> {
    let tcp = &main_direction(sample)?.tcp;
    let own = sample.retransmitted_share().filter(|_| is_settled(sample));
    let conditions = Conditions {
        segment: tcp.mss?,
        rtt: tcp.rtt?,
        loss: loss(history, sample.streams())
            .or_else(|| loss(history, StreamCount::MAX))?
            .max(own.unwrap_or(0.0)),
    };
    let each = response(history, sample)?.rate(&conditions)?.as_f64();
    let room = match sample.purpose {
        Purpose::Confirm => ROOM_LONG,
        _ => ROOM,
    };
    Some(room * each * f64::from(sample.streams().get()))
}

/// The share of packets that so many streams lose at the least: what those samples lost that had no more of
/// them and did not fill the path. `None` without one.
///
/// A start that overflows a queue loses many packets at once, which says nothing of the path; so only
/// samples that settled count.
fn loss(history: &History, streams: StreamCount) -> Option<f64> {
    let fewer = history.samples.iter().filter(|sample| {
        let comparable = sample.streams() <= streams && sample.setting.pacing.is_none();
        comparable && is_settled(sample) && !history.is_full(sample)
    });
    let counts = fewer.filter_map(packets);
    let (lost, sent) = counts.fold((0.0, 0.0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
    (sent > 0.0).then(|| f64::max(lost, UNSEEN) / sent)
}

/// Packets lost and sent in the steady part.
fn packets(sample: &Sample) -> Option<(f64, f64)> {
    let way = main_direction(sample)?;
    let segment = way.tcp.mss?.as_f64();
    let sent = way.goodput.mean.bytes_in(way.steady.length()).as_f64() / segment;
    Some((way.tcp.retransmitted_share? * sent, sent))
}

fn is_settled(sample: &Sample) -> bool {
    let steady = main_direction(sample).map(|way| way.steady.steadiness);
    steady == Some(Steadiness::Settled)
}

fn response(history: &History, sample: &Sample) -> Option<Response> {
    let asked = sample.setting.congestion.as_ref();
    match asked.or(history.target.congestion.first())?.as_str() {
        "cubic" => Some(Response::Cubic),
        "reno" => Some(Response::Reno(Acks::Every)),
        _ => None,
    }
}
