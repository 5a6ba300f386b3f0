//! How many streams to begin with.

use observe::StreamCount;
use units::Span;

/// Streams at a round trip of one millisecond.
const AT_ONE_MILLISECOND: f64 = 3.0;
/// Two: one encrypts while the other waits.
const LEAST: u64 = 2;
/// The most without having seen anything of the path.
const MOST: u64 = 64;

/// The streams to begin with on a path of this round trip where nothing else is known.
///
/// Streams that are too few cost a long path most of its rate until others have joined and grown; those that are too
/// many cost little. A stream that losses hold back needs company in proportion to the round trip; one that only
/// starts slowly needs it with the logarithm of that. This is `3 sqrt(RTT / 1 ms)`, between the two; `bench/steering` has
/// what it costs beside the best number of each path.
///
/// ```
/// # use steer::online::streams_for;
/// # use units::Span;
/// let streams = |ms| streams_for(Span::from_millis(ms)).get();
/// assert_eq!([streams(0), streams(5), streams(40), streams(80), streams(165)], [2, 7, 19, 27, 39]);
/// assert_eq!(streams(2_000), 64);
/// ```
pub fn streams_for(rtt: Span) -> StreamCount {
    let milliseconds = rtt.as_secs_f64() * 1e3;
    let wanted = (AT_ONE_MILLISECOND * milliseconds.sqrt()).round() as u64;
    StreamCount::new(wanted.clamp(LEAST, MOST)).unwrap_or(StreamCount::ONE)
}
