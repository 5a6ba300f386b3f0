//! Connects over UDP: streams, and the control connection before them.

use std::io::{self, ErrorKind, Write};
use std::net::SocketAddr;
use std::time::{Duration, Instant};

use quic_net::Stream;
use sockets::FarEnd;
use units::Span;
use units::Via;

use super::channel::Channel;
use super::dialer::DialError;
use super::fingerprint::Fingerprint;
use super::identity::settings_to;
use super::udp_relay::{RELAY_MAGIC, RelayedSocket, relay};

/// The longest wait for an answer over UDP. The first packet is repeated after 1, 3 and 7 s where
/// no round trip is known.
pub const UDP_WAIT: Span = Span::from_secs(8);

/// How long a control connection is tried over TCP before it goes over UDP as the streams do: the
/// kernel repeats its first packet after one second.
///
/// TCP comes first, because the kernel of a program that was killed says so at once. Over UDP only
/// the silence tells, so that its next copy would wait for it.
pub const TCP_FIRST_WAIT: Span = Span::from_secs(3);

/// How long UDP is tried after TCP was for so long: a host that refuses TCP at once is there, and
/// answers soon if ever.
pub fn udp_wait_after(tcp: Duration) -> Span {
    match tcp < Duration::from(TCP_FIRST_WAIT) {
        true => TCP_FIRST_WAIT,
        false => UDP_WAIT,
    }
}

/// Connects a stream.
///
/// * `pin`: the certificate that it has to show; any does without.
/// * `timeout`: how long that may take.
/// * `is_given_up`: asked ten times a second; a host that has not answered then is silent.
///
/// # Errors
/// When nothing or something else answers there.
pub fn dial_udp(
    far: impl Into<FarEnd>,
    pin: Option<Fingerprint>,
    timeout: Span,
    is_given_up: &dyn Fn() -> bool,
) -> Result<Channel, DialError> {
    connect(&far.into(), pin, timeout, is_given_up).map(Channel::over_udp)
}

/// Connects to whichever of several addresses answers, one after the other, for a control
/// connection: what is said on the socket is said there as over TCP.
///
/// * `via`: how packets leave this host.
/// * `timeout`: how long all of it may take.
/// * `is_given_up`: as of [`dial_udp`].
///
/// # Errors
/// When nothing or something else answers at the last one.
pub fn dial_control_over_udp(
    peers: &[SocketAddr],
    via: &Via,
    timeout: Span,
    is_given_up: &dyn Fn() -> bool,
) -> Result<(RelayedSocket, SocketAddr), DialError> {
    let end = Instant::now() + Duration::from(timeout);
    let mut failure = None;
    for (tried, peer) in peers.iter().enumerate() {
        let left = end.saturating_duration_since(Instant::now());
        let share = Span::from(left / (peers.len() - tried) as u32);
        let far = FarEnd {
            address: *peer,
            via: via.clone(),
        };
        match control_to(&far, share.min(UDP_WAIT), is_given_up) {
            Ok(socket) => return Ok((socket, *peer)),
            Err(error) => failure = Some(error),
        }
    }
    Err(failure.unwrap_or_else(|| DialError::unreachable(Vec::new(), timeout)))
}

/// Which certificate it has to show follows from what is said then.
fn control_to(
    far: &FarEnd,
    timeout: Span,
    is_given_up: &dyn Fn() -> bool,
) -> Result<RelayedSocket, DialError> {
    let peer = far.address;
    let mut stream = connect(far, None, timeout, is_given_up)?;
    let begun = stream.write_all(&RELAY_MAGIC).and_then(|()| relay(stream));
    let begun = begun.map_err(|source| DialError::during(peer, timeout, source));
    begun.map(|(socket, relay)| RelayedSocket {
        socket,
        goodbye: relay.with_goodbye(),
    })
}

fn connect(
    far: &FarEnd,
    pin: Option<Fingerprint>,
    timeout: Span,
    is_given_up: &dyn Fn() -> bool,
) -> Result<Stream, DialError> {
    let peer = far.address;
    let during = |source| DialError::during(peer, timeout, source);
    let tls = settings_to(pin).map_err(during)?;
    let end = Instant::now() + Duration::from(timeout);
    let connected = quic_net::connect(far.clone(), tls, end, is_given_up);
    tracing::debug!(%peer, ?connected, "connected over UDP, or not");
    connected.map_err(|source| match source {
        quic_net::ConnectError::Here(source) => during(source),
        quic_net::ConnectError::Wrong(why) => during(io::Error::new(ErrorKind::InvalidData, why)),
        quic_net::ConnectError::Refused => DialError::UdpRefused { peer },
        quic_net::ConnectError::Silent => DialError::UdpSilent {
            peer,
            after: Span::from_millis((timeout.as_secs_f64() * 10.0).round() as u64 * 100),
        },
    })
}
