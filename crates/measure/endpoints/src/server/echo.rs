//! The echo service: answers requests that carry the token of a running test, and passes openers
//! and greetings on.

use std::net::SocketAddr;

use measure_protocol::echo::{Echo, EchoKind};
use measure_protocol::trains::Datagram;

use super::Shared;

/// Answers a datagram or passes it on, if it is an echo or of a train. Returns whether it is: then
/// it is of no other protocol.
pub(super) fn take(shared: &Shared<'_>, datagram: &[u8], from: SocketAddr) -> bool {
    if shared.greeters.greet(datagram, from) {
        return true;
    }
    if !Echo::begins(datagram) && !Datagram::begins(datagram) {
        return false;
    }
    let Some(socket) = shared.echo else {
        return true;
    };
    shared.demux.knock(datagram, from);
    let echo = Echo::decode(datagram).or_else(|_| Echo::decode_padded(datagram));
    let request = echo.ok().filter(|echo| echo.kind == EchoKind::Request);
    if let Some(request) = request.filter(|echo| shared.knows(echo.token, from)) {
        // A reply that cannot be sent is a lost one, and the prober counts it.
        let _ = socket.send_to(&request.reply().encode(), from);
    }
    true
}
