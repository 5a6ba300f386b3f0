//! Connects a stream over UDP.

use std::io::{self, ErrorKind};
use std::net::SocketAddr;
use std::time::{Duration, Instant};

use units::Span;

use super::channel::Channel;
use super::dialer::DialError;
use super::identity::{Fingerprint, settings_to};

/// The longest wait for an answer over UDP. The other end has just answered over TCP, and the
/// first packet is repeated after 1, 3 and 7 s where no round trip is known.
pub const UDP_WAIT: Span = Span::from_secs(8);

/// Connects to a host that has answered over TCP on the same port.
///
/// * `pin`: the certificate that it has to show; any does without.
/// * `timeout`: how long that may take.
/// * `is_given_up`: asked ten times a second; a host that has not answered then is silent.
///
/// # Errors
/// When nothing or something else answers there.
pub fn dial_udp(
    peer: SocketAddr,
    pin: Option<Fingerprint>,
    timeout: Span,
    is_given_up: &dyn Fn() -> bool,
) -> Result<Channel, DialError> {
    let during = |source| DialError::during(peer, timeout, source);
    let tls = settings_to(pin).map_err(during)?;
    let end = Instant::now() + Duration::from(timeout);
    let stream = quic_net::connect(peer, tls, end, is_given_up).map_err(|source| match source {
        quic_net::ConnectError::Here(source) => during(source),
        quic_net::ConnectError::Wrong(why) => during(io::Error::new(ErrorKind::InvalidData, why)),
        quic_net::ConnectError::Refused => DialError::UdpRefused { peer },
        quic_net::ConnectError::Silent => DialError::UdpSilent {
            peer,
            after: timeout,
        },
    })?;
    Ok(Channel::over_udp(stream))
}
