//! How many streams to begin with.

use observe::StreamCount;
use units::Span;

/// Streams at a round trip of one millisecond.
const AT_ONE_MILLISECOND: f64 = 3.0;
/// Two: one encrypts while the other waits.
const LEAST: u64 = 2;
/// Most streams before anything of the path was seen.
const MOST: u64 = 64;

/// Streams to begin with on a path of this round trip where nothing else is known.
///
/// Too few streams cost a long path most of its rate until others have joined and grown; too many
/// cost little. The number of streams that losses call for grows with the round trip, that for slow
/// start with its logarithm. This is `3 sqrt(RTT / 1 ms)`, between the two; `bench/steering`
/// measures what it costs against the best number for each path.
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
