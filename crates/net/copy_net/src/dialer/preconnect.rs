//! Connections for streams, made before the far end is authenticated.

use std::fmt;
use std::io;
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;

use observe::Transport;
use units::{Span, Via};

use super::super::channel::Channel;
use super::super::fingerprint::Fingerprint;
use super::super::identity::connection_to;
use super::super::tls::Tls;
use super::super::udp_dialer::{UDP_WAIT, dial_udp};
use super::DialError;
use super::deadline_io::DeadlineIo;
use sockets::connect::{ConnectError, connect_any};
use sockets::options::StreamOptions;
use sockets::{Deadline, FarEnd};

/// Where streams connect. The greeting that follows takes the key of the conversation.
#[derive(Debug, Clone)]
pub struct StreamEndpoint {
    pub(super) addresses: Vec<SocketAddr>,
    pub(super) via: Via,
    pub(super) pin: Fingerprint,
    /// How long each connection may take.
    pub timeout: Span,
    /// Smallest round trip to there so far, where the kernel knows it.
    pub rtt: Option<Span>,
    /// What carries the streams.
    pub transport: Transport,
}

/// A connection that does not say yet which stream it is.
pub struct RawStream {
    pub(super) channel: Channel,
    pub(super) peer: SocketAddr,
}

impl fmt::Debug for RawStream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Reached({})", self.peer)
    }
}

impl StreamEndpoint {
    /// Where the other end of a connection is, which showed that certificate.
    pub(super) fn of(
        rtt: Option<Span>,
        far: FarEnd,
        pin: Fingerprint,
        timeout: Span,
        transport: Transport,
    ) -> Self {
        StreamEndpoint {
            addresses: vec![far.address],
            via: far.via,
            pin,
            timeout,
            rtt,
            transport,
        }
    }

    /// Connects, up to where a greeting is to come. The other end waits for that a few seconds.
    ///
    /// * `plain`: in the clear.
    ///
    /// # Errors
    /// When the other end cannot be reached, or another host answers in its place.
    pub fn connect(&self, options: &StreamOptions, plain: bool) -> Result<RawStream, DialError> {
        match self.transport {
            Transport::Tcp => self.connect_tcp(options, plain),
            Transport::Udp => self.connect_udp(),
        }
    }

    fn connect_tcp(&self, options: &StreamOptions, plain: bool) -> Result<RawStream, DialError> {
        let options = StreamOptions {
            no_delay: true,
            via: Via {
                dscp: options.via.dscp.or(self.via.dscp),
                ..self.via.clone()
            },
            ..options.clone()
        };
        let deadline = Deadline::after(self.timeout.into(), &|| false);
        let connected = connect_any(&self.addresses, &options, deadline);
        let (socket, peer) = connected.map_err(|error| match error {
            ConnectError::Option(error) => error.into(),
            ConnectError::Unreachable(tried) => DialError::unreachable(tried, self.timeout),
        })?;
        let secured = match plain {
            true => Ok((socket, None)),
            false => self.secure(socket, deadline),
        };
        let during = |source| DialError::during(peer, self.timeout, source);
        let (socket, tls) = secured.map_err(during)?;
        socket.set_nonblocking(false).map_err(during)?;
        let channel = Channel::new(Arc::new(socket), tls);
        Ok(RawStream { channel, peer })
    }

    /// Over UDP there is one address: the one that answered.
    fn connect_udp(&self) -> Result<RawStream, DialError> {
        let Some(peer) = self.addresses.first().copied() else {
            return Err(DialError::unreachable(Vec::new(), self.timeout));
        };
        let far = FarEnd {
            address: peer,
            via: self.via.clone(),
        };
        let channel = dial_udp(far, Some(self.pin), self.timeout.min(UDP_WAIT), &|| false)?;
        Ok(RawStream { channel, peer })
    }

    fn secure(
        &self,
        socket: TcpStream,
        deadline: Deadline<'_>,
    ) -> io::Result<(TcpStream, Option<Box<Tls>>)> {
        let tls = connection_to(Some(self.pin)).map(Tls::new)?;
        let mut io = DeadlineIo::new(socket, tls, deadline)?;
        io.complete_handshake()?;
        let (socket, tls) = io.into_parts();
        Ok((socket, Some(Box::new(tls))))
    }
}
