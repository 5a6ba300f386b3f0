//! How many streams to begin with.

use observe::StreamCount;
use units::Span;

/// One stream for so much of the round trip. A stream of CUBIC that loses one packet in ten thousand has a window of about
/// 190 segments at 100 ms (RFC 9438, 5.1): so many streams of 1448 bytes hold some 400 Mbit/s.
const RTT_PER_STREAM: Span = Span::from_millis(5);
/// Below this the two ends are as good as beside each other: processors bind, and more streams only take turns.
const BESIDE: Span = Span::from_millis(1);
/// Two let one encrypt while the other waits.
const LEAST: u64 = 2;
/// The most without having seen anything of the path.
const MOST: u64 = 32;

/// The streams that a path of this round trip mostly needs: what to begin with where nothing else is known.
///
/// Streams that are too few cost a long path most of its rate until others have joined and grown; those that are too many
/// cost little. So it leans to many.
/// ```
/// # use tune::online::streams_for;
/// # use units::Span;
/// let streams = |ms| streams_for(Span::from_millis(ms)).get();
/// assert_eq!([streams(0), streams(5), streams(40), streams(80), streams(165)], [2, 2, 8, 16, 32]);
/// ```
pub fn streams_for(rtt: Span) -> StreamCount {
    let wanted = match rtt < BESIDE {
        true => LEAST,
        false => rtt.as_nanos().div_ceil(RTT_PER_STREAM.as_nanos()),
    };
    StreamCount::new(wanted.clamp(LEAST, MOST)).unwrap_or(StreamCount::ONE)
}
