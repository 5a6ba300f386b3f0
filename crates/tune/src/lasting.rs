//! What a sample says of a longer run.
//!
//! A sample of a few seconds can show more than its setting keeps: streams that start fill a path which
//! loses packets for as long as no loss has hit them, and a long run then brings them down to what their
//! congestion control holds under such losses. That much is known from its response function, so a
//! sample counts for no more than this, with room for what formulas leave out.
//!
//! No correction is made where the sample filled the path (its own queue is what makes it lose packets, and
//! it keeps the path full), for a congestion control without a response function (bbr), and where no
//! sample has lost anything.

use models::{Acks, Conditions, Response};
use observe::StreamCount;

use crate::history::{History, main_direction};
use crate::tuning::{Purpose, Sample};

/// A sample may show this much more than the formula before it is distrusted: simulated streams hold up
/// to 1.14 times what it says of CUBIC, and the loss it is given is itself a sample.
const ROOM: f64 = 1.25;
/// ... and a long one this much.
const ROOM_LONG: f64 = 2.0;

/// Goodput in bits per second that a long run of a sample's setting is expected to have.
pub(crate) fn expected(history: &History, sample: &Sample) -> f64 {
    let shown = sample.goodput().mean.as_f64();
    match bound(history, sample).filter(|_| !history.is_full(sample)) {
        Some(bound) => shown.min(bound),
        None => shown,
    }
}

/// The most that the streams keep under the losses that were seen.
fn bound(history: &History, sample: &Sample) -> Option<f64> {
    let tcp = &main_direction(sample)?.tcp;
    let conditions = Conditions {
        segment: tcp.mss?,
        rtt: tcp.rtt?,
        loss: loss(history, sample.streams()).max(sample.retransmitted_share()?),
    };
    let each = response(history, sample)?.rate(&conditions)?.as_f64();
    let room = match sample.purpose {
        Purpose::Confirm => ROOM_LONG,
        _ => ROOM,
    };
    Some(room * each * f64::from(sample.streams().get()))
}

/// The share of packets that so many streams lose at the least: what those samples lost that had no more of
/// them and did not fill the path.
fn loss(history: &History, streams: StreamCount) -> f64 {
    let fewer = history.samples.iter().filter(|sample| {
        sample.streams() <= streams && sample.setting.pacing.is_none() && !history.is_full(sample)
    });
    let counts = fewer.filter_map(counts);
    let (lost, sent) = counts.fold((0.0, 0.0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
    if sent > 0.0 { lost / sent } else { 0.0 }
}

/// Bytes lost and sent in the steady part.
fn counts(sample: &Sample) -> Option<(f64, f64)> {
    let way = main_direction(sample)?;
    let sent = way.goodput.mean.bytes_in(way.steady.length()).as_f64();
    Some((way.tcp.retransmitted_share? * sent, sent))
}

fn response(history: &History, sample: &Sample) -> Option<Response> {
    let asked = sample.setting.congestion.as_ref();
    match asked.or(history.target.congestion.first())?.as_str() {
        "cubic" => Some(Response::Cubic),
        "reno" => Some(Response::Reno(Acks::Every)),
        _ => None,
    }
}
