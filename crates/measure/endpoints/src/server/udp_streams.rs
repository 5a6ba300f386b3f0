//! Streams of tests that come over UDP: each is a QUIC connection that begins as a numbered stream
//! over TCP does.
//!
//! Nothing is sent to an address that has not shown that it receives there, but for the handshake,
//! which is bounded by what came (RFC 9000, section 8). A stream belongs to a test that was agreed
//! on, within the bounds for all tests; any other one is ended.

use measure_protocol::{NUMBERED_GREETING_LENGTH, read_numbered_greeting};

use copy_net::StreamOfOthers;

use super::Shared;
use super::arrivals::Arrival;
use super::event::{Refusal, ServerEvent};

/// Bytes by which a stream shows where it belongs.
pub(super) const FIRST: usize = NUMBERED_GREETING_LENGTH;

/// Hands a stream over to its session.
pub(super) fn take(shared: &Shared<'_>, stream: StreamOfOthers) {
    let peer = stream.peer;
    if let Err(reason) = hand_over(shared, stream) {
        shared.tell(ServerEvent::Refused { peer, reason });
    }
}

fn hand_over(shared: &Shared<'_>, stream: StreamOfOthers) -> Result<(), Refusal> {
    let first = stream.first.first_chunk().ok_or(Refusal::NoTest)?;
    let (cookie, number) = read_numbered_greeting(*first)?;
    let session = shared.sessions().get(&cookie).cloned();
    let arrival = Arrival {
        place: number.into(),
        channel: stream.channel,
    };
    session.ok_or(Refusal::NoTest)?.send(arrival);
    Ok(())
}
