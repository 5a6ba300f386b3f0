//! Fewer streams than the path holds packets.
//!
//! With more streams than that, each has less than one packet on the way: most of them wait for
//! timeouts, and a few take everything. The rule and what it costs to break it are shown by
//! `make studies` (docs/studies.md).

use observe::StreamCount;
use units::Bytes;

use crate::history::{History, main_direction};
use crate::tuning::Sample;

/// Payload of a segment where it is unknown: that of Ethernet.
const SEGMENT: Bytes = Bytes::new(1448);

/// Where the samples have not filled the path, it may hold this many times the packets that they
/// had between their ends: the uncounted packets of others are there too.
const ROOM: u64 = 2;
/// The same with few streams, of which the others leave each the least.
const ROOM_FEW: u64 = 4;
const FEW: u64 = 32;

/// The most streams to try: those that the user allows, and fewer than the path may hold packets,
/// rounded down to a power of two.
pub(crate) fn streams_max(history: &History) -> StreamCount {
    let allowed = history.plan.streams_max;
    let Some(packets) = room(history).filter(|packets| *packets > 1) else {
        return allowed;
    };
    let power = 1_u64 << (packets - 1).ilog2();
    StreamCount::new(power).map_or(allowed, |power| power.min(allowed))
}

/// The packets that the path may hold, as far as the samples tell.
fn room(history: &History) -> Option<u64> {
    let seen = on_the_way(history)?;
    let full = history.samples.iter().any(|sample| history.is_full(sample));
    let room = |times| (seen + 1) * times + 1;
    Some(match full {
        true => seen,
        false => room(ROOM).max(room(ROOM_FEW).min(FEW + 1)),
    })
}

/// The most packets that any sample had between its ends: its rate times its loaded round trip.
fn on_the_way(history: &History) -> Option<u64> {
    history.samples.iter().filter_map(packets).max()
}

fn packets(sample: &Sample) -> Option<u64> {
    let way = main_direction(sample)?;
    let rtt = way.tcp.rtt.or(sample.summary.rtt_loaded)?;
    let segment = way.tcp.mss.unwrap_or(SEGMENT);
    Some(sample.rate().bytes_in(rtt).get() / segment.get().max(1))
}
