//! The end that connects: the control connection, and streams.

mod deadline_io;
mod error;
mod preconnect;

use std::io;
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::time::Instant;

use copy_protocol::{
    Admitted, HandshakeError, Message, NearHandshake, Purpose, SPOKEN, SessionKey, Token,
    encode_in, pipe::PipeMessage, third_party::Report,
};
use observe::Transport;
use sockets::connect::{ConnectError, connect_any};
use sockets::options::StreamOptions;
use sockets::{Deadline, FarEnd};
use units::{Address, AddressPair, Span, Via};

use super::SOFTWARE;
use super::channel::Channel;
use super::conversation::Conversation;
use super::fingerprint::Fingerprint;
use super::identity::connection_to;
use super::tls::Tls;
use super::udp_dialer::{TCP_FIRST_WAIT, dial_control_over_udp, udp_wait_after};
use super::udp_relay::{RelayGoodbye, round_trip};
use deadline_io::DeadlineIo;
pub use error::DialError;
pub use preconnect::{RawStream, StreamEndpoint};

/// Opens control connections.
#[derive(Debug, Clone, Copy)]
pub struct Dialer {
    /// Time for connecting and the handshake.
    pub timeout: Span,
    /// How long the far end may be silent afterwards.
    pub silence: Span,
    /// What carries the streams.
    pub transport: Transport,
    /// The version of the protocol that is tried first.
    pub version: u16,
}

/// A connection on which nothing was said yet.
#[derive(Debug)]
pub(super) struct ControlSocket {
    pub socket: TcpStream,
    pub peer: SocketAddr,
    pub via: Via,
    /// Of one over UDP.
    pub goodbye: Option<RelayGoodbye>,
}

/// An open conversation, and the dialer of its streams.
#[derive(Debug)]
pub struct Dialed {
    /// Where the far end is.
    pub peer: SocketAddr,
    /// Its software and the rights that it grants.
    pub admitted: Admitted,
    /// The conversation.
    pub conversation: Conversation,
    /// Opens streams to it.
    pub streams: StreamDialer,
    /// Whether the first message was sent already.
    pub first_was_sent: bool,
}

/// An open session of access to files, and the dialer of its streams.
#[derive(Debug)]
pub struct DialedRemote {
    /// Where the far end is.
    pub peer: SocketAddr,
    /// Its software and the rights that it grants.
    pub admitted: Admitted,
    /// The connection that authenticated.
    pub channel: Channel,
    /// Opens streams to it.
    pub streams: StreamDialer,
}

/// An open conversation of a pipe, and the dialer of its streams.
#[derive(Debug)]
pub struct DialedPipe {
    /// Where the far end is.
    pub peer: SocketAddr,
    /// Its software and the rights that it grants.
    pub admitted: Admitted,
    /// The conversation.
    pub conversation: Conversation<PipeMessage>,
    /// Opens streams to it.
    pub streams: StreamDialer,
}

/// A far end whose certificate is known from a channel that is trusted, such as ssh: it is told the
/// first message together with who calls, without a wait for what it says of itself.
#[derive(Debug, Clone, Copy)]
pub struct KnownPeer<'a> {
    /// The only certificate that is accepted.
    pub pin: Fingerprint,
    /// The first message of the conversation.
    pub first: &'a Message,
}

/// What a connection is authenticated with and for.
#[derive(Clone, Copy)]
struct Wanted<'a> {
    purpose: Purpose,
    token: &'a Token,
    known: Option<KnownPeer<'a>>,
}

/// A connection of which both ends know each other.
struct Authenticated<'a> {
    peer: SocketAddr,
    goodbye: Option<RelayGoodbye>,
    admitted: Admitted,
    endpoint: StreamEndpoint,
    io: DeadlineIo<'a>,
}

/// Opens streams of one conversation. Clones open streams of the same.
#[derive(Debug, Clone)]
pub struct StreamDialer {
    endpoint: StreamEndpoint,
    key: SessionKey,
}

impl Default for Dialer {
    /// The same as the other end's `AcceptLimits`.
    fn default() -> Self {
        Dialer {
            timeout: Span::from_secs(10),
            silence: Span::from_secs(15),
            transport: Transport::Tcp,
            version: SPOKEN.newest,
        }
    }
}

impl Dialer {
    /// Connects to the far end at one of several addresses, those in front tried a little
    /// earlier, and authenticates both ends.
    ///
    /// An address where another program answers is skipped.
    ///
    /// # Errors
    /// When no address is left; with the reason of the last one.
    pub fn control(&self, places: &[Address], token: &Token) -> Result<Dialed, DialError> {
        self.control_and(places, token, None, &mut |_| (), &|| false)
    }

    /// The same for a connection that carries another protocol: both ends are authenticated, and
    /// what follows is bytes both ways.
    ///
    /// * `is_given_up`: asked ten times a second.
    ///
    /// # Errors
    /// As [`control`](Self::control).
    pub fn channel(
        &self,
        places: &[Address],
        token: &Token,
        is_given_up: &dyn Fn() -> bool,
    ) -> Result<(Channel, Admitted), DialError> {
        let dialed = self.bytes(places, token, Purpose::Copy, &mut |_| (), is_given_up)?;
        Ok((dialed.channel, dialed.admitted))
    }

    /// The same for a session of access to files ([`copy_protocol::remote`]).
    ///
    /// # Errors
    /// As [`control`](Self::control).
    pub fn remote(&self, places: &[Address], token: &Token) -> Result<DialedRemote, DialError> {
        self.bytes(places, token, Purpose::Remote, &mut |_| (), &|| false)
    }

    /// The same for a controller of a third-party copy ([`copy_protocol::third_party`]).
    ///
    /// * `purpose`: what it comes for.
    /// * `is_given_up`: asked ten times a second.
    ///
    /// # Errors
    /// As [`control`](Self::control).
    pub fn controller(
        &self,
        places: &[Address],
        token: &Token,
        purpose: Purpose,
        is_given_up: &dyn Fn() -> bool,
    ) -> Result<(Conversation<Report>, SocketAddr), DialError> {
        let dialed = self.bytes(places, token, purpose, &mut |_| (), is_given_up)?;
        let peer = dialed.peer;
        let conversation = dialed.channel.into_conversation(self.silence);
        let failed = |source| DialError::during(peer, self.timeout, source);
        Ok((conversation.map_err(failed)?, peer))
    }

    /// The same for a pipe ([`copy_protocol::pipe`]).
    ///
    /// * `early`: as in [`control_and`](Self::control_and).
    /// * `is_given_up`: asked ten times a second.
    ///
    /// # Errors
    /// As [`control`](Self::control).
    pub fn pipe(
        &self,
        places: &[Address],
        token: &Token,
        early: &mut dyn FnMut(&StreamEndpoint),
        is_given_up: &dyn Fn() -> bool,
    ) -> Result<DialedPipe, DialError> {
        let dialed = self.bytes(places, token, Purpose::Pipe, early, is_given_up)?;
        let peer = dialed.peer;
        let conversation = dialed.channel.into_conversation(self.silence);
        let failed = |source| DialError::during(peer, self.timeout, source);
        Ok(DialedPipe {
            peer,
            admitted: dialed.admitted,
            conversation: conversation.map_err(failed)?,
            streams: dialed.streams,
        })
    }

    fn bytes(
        &self,
        places: &[Address],
        token: &Token,
        purpose: Purpose,
        early: &mut dyn FnMut(&StreamEndpoint),
        is_given_up: &dyn Fn() -> bool,
    ) -> Result<DialedRemote, DialError> {
        let deadline = Deadline::after(self.timeout.into(), is_given_up);
        let via = via(places);
        let connect = |left: &[SocketAddr]| self.connect_tcp(left, &via, deadline);
        self.at_any(places, connect, |dialer, connection| {
            let wanted = Wanted {
                purpose,
                token,
                known: None,
            };
            let authenticated = dialer.authenticate(connection, wanted, deadline, early)?;
            let peer = authenticated.peer;
            let (socket, tls) = authenticated.io.into_parts();
            socket
                .set_nonblocking(false)
                .and_then(|()| socket.set_nodelay(true))
                .map_err(|source| DialError::during(peer, self.timeout, source))?;
            Ok(DialedRemote {
                peer,
                channel: Channel::new(Arc::new(socket), Some(Box::new(tls))),
                streams: StreamDialer {
                    endpoint: authenticated.endpoint,
                    key: authenticated.admitted.session_key.clone(),
                },
                admitted: authenticated.admitted,
            })
        })
    }

    /// The same, to an end that may be `known`; `early` is told where streams will go as soon as
    /// that is known, so that they can be connected while the two ends find out who they are. That
    /// says nothing to the other end, which may still turn out to be another one.
    ///
    /// * `is_given_up`: asked ten times a second.
    ///
    /// # Errors
    /// As [`control`](Self::control).
    pub fn control_and(
        &self,
        places: &[Address],
        token: &Token,
        known: Option<KnownPeer<'_>>,
        early: &mut dyn FnMut(&StreamEndpoint),
        is_given_up: &dyn Fn() -> bool,
    ) -> Result<Dialed, DialError> {
        let deadline = || Deadline::after(self.timeout.into(), is_given_up);
        let via = via(places);
        match self.transport {
            Transport::Tcp => {
                let deadline = deadline();
                let connect = |left: &[SocketAddr]| self.connect_tcp(left, &via, deadline);
                self.at_any(places, connect, |dialer, connection| {
                    dialer.open(connection, token, known, deadline, early)
                })
            }
            Transport::Udp => {
                let connect =
                    |left: &[SocketAddr]| self.connect_tcp_or_udp(left, &via, is_given_up);
                self.at_any(places, connect, |dialer, connection| {
                    dialer.open(connection, token, known, deadline(), early)
                })
            }
        }
    }

    fn connect_tcp(
        &self,
        places: &[SocketAddr],
        via: &Via,
        deadline: Deadline<'_>,
    ) -> Result<ControlSocket, DialError> {
        let options = StreamOptions {
            via: via.clone(),
            ..StreamOptions::default()
        };
        match connect_any(places, &options, deadline) {
            Ok((socket, peer)) => {
                tracing::debug!(%peer, "connected over TCP");
                Ok(ControlSocket {
                    socket,
                    peer,
                    via: via.clone(),
                    goodbye: None,
                })
            }
            Err(ConnectError::Option(error)) => Err(error.into()),
            Err(ConnectError::Unreachable(tried)) => {
                tracing::warn!(?tried, "no address answers over TCP");
                Err(DialError::unreachable(tried, self.timeout))
            }
        }
    }

    /// For streams over UDP the control connection is over UDP, too, where no TCP connection can be
    /// made.
    fn connect_tcp_or_udp(
        &self,
        places: &[SocketAddr],
        via: &Via,
        is_given_up: &dyn Fn() -> bool,
    ) -> Result<ControlSocket, DialError> {
        let began = Instant::now();
        let deadline = Deadline::after(TCP_FIRST_WAIT.into(), is_given_up);
        let unanswered = match self.connect_tcp(places, via, deadline) {
            Err(unanswered @ DialError::Unreachable { .. }) => unanswered,
            other => return other,
        };
        let wait = udp_wait_after(began.elapsed());
        tracing::info!(%wait, "the control connection is tried over UDP");
        match dial_control_over_udp(places, via, wait, is_given_up) {
            Ok((relayed, peer)) => Ok(ControlSocket {
                socket: relayed.socket,
                peer,
                via: via.clone(),
                goodbye: Some(relayed.goodbye),
            }),
            Err(found) => Err(unanswered.and_over_udp(found)),
        }
    }

    /// Opens a session on an existing connection, made by either end.
    pub(super) fn open(
        &self,
        connection: ControlSocket,
        token: &Token,
        known: Option<KnownPeer<'_>>,
        deadline: Deadline<'_>,
        early: &mut dyn FnMut(&StreamEndpoint),
    ) -> Result<Dialed, DialError> {
        let Authenticated {
            peer,
            goodbye,
            admitted,
            endpoint,
            io,
        } = self.authenticate(
            connection,
            Wanted {
                purpose: Purpose::Copy,
                token,
                known,
            },
            deadline,
            early,
        )?;
        let (socket, tls) = io.into_parts();
        let (socket, tls, version) = (Arc::new(socket), Box::new(tls), admitted.version);
        let conversation = Conversation::start(socket, tls, version, self.silence);
        let failed = |source| DialError::during(peer, self.timeout, source);
        Ok(Dialed {
            peer,
            conversation: conversation.map_err(failed)?.with_goodbye(goodbye),
            streams: StreamDialer {
                endpoint,
                key: admitted.session_key.clone(),
            },
            admitted,
            first_was_sent: known.is_some(),
        })
    }

    /// Has both ends of a connection authenticate each other.
    fn authenticate<'a>(
        &self,
        ControlSocket {
            socket,
            peer,
            via,
            goodbye,
        }: ControlSocket,
        wanted: Wanted<'_>,
        deadline: Deadline<'a>,
        early: &mut dyn FnMut(&StreamEndpoint),
    ) -> Result<Authenticated<'a>, DialError> {
        let Wanted {
            purpose,
            token,
            known,
        } = wanted;
        let failed = |source| DialError::during(peer, self.timeout, source);
        let tls = connection_to(known.map(|known| known.pin))
            .map(Tls::new)
            .map_err(failed)?;
        let mut io = DeadlineIo::new(socket, tls, deadline).map_err(failed)?;
        io.complete_handshake().map_err(failed)?;
        let (pin, exporter) = io.facts().map_err(failed)?;
        let rtt = round_trip(io.socket(), peer);
        let far = FarEnd { address: peer, via };
        tracing::debug!(%peer, rtt = rtt.map(display), "TLS is up");
        let endpoint = StreamEndpoint::of(rtt, far, pin, self.timeout, self.transport);
        early(&endpoint);
        let (name, key) = (token.name.clone(), token.secret.key());
        tracing::debug!(%peer, %name, ?purpose, "this end says who it is");
        let (handshake, hello) =
            NearHandshake::with_purpose(self.version, purpose, name, key, exporter, SOFTWARE);
        let wrong = |source| DialError::Handshake { peer, source };
        let first = known
            .map(|known| encode_in(self.version, known.first))
            .transpose();
        let first = first.map_err(|error| wrong(error.into()))?;
        let answer = io.ask(&hello, &first.unwrap_or_default());
        let answer = answer.map_err(failed)?;
        let answer = answer.map_err(|error| wrong(error.into()))?;
        let admitted = handshake.on_answer(&answer).map_err(wrong)?;
        tracing::info!(%peer, "both ends know each other");
        Ok(Authenticated {
            peer,
            goodbye,
            admitted,
            endpoint,
            io,
        })
    }

    /// Connects to one address after the other until `open` is content with one. An end that
    /// speaks an older version is called again in that one.
    fn at_any<T>(
        mut self,
        places: &[Address],
        connect: impl Fn(&[SocketAddr]) -> Result<ControlSocket, DialError>,
        mut open: impl FnMut(Dialer, ControlSocket) -> Result<T, DialError>,
    ) -> Result<T, DialError> {
        let mut left = resolve(places)?;
        let mut failure = None;
        loop {
            let connection = match connect(&left) {
                Ok(connection) => connection,
                // A wrong answer says more than a missing one.
                Err(error @ DialError::Unreachable { .. }) => return Err(failure.unwrap_or(error)),
                Err(error) => return Err(error),
            };
            let peer = connection.peer;
            match open(self, connection) {
                Ok(opened) => return Ok(opened),
                Err(error) => match self.after(&error) {
                    Some(version) => {
                        tracing::info!(%peer, version, "it speaks an older version");
                        self.version = version;
                    }
                    None => {
                        tracing::warn!(%peer, %error, "this address is no far end");
                        left.retain(|address| *address != peer);
                        failure = Some(error);
                    }
                },
            }
        }
    }

    /// The version in which the end that refused is called again.
    fn after(&self, error: &DialError) -> Option<u16> {
        match error {
            DialError::Handshake {
                source: HandshakeError::Version { theirs, .. },
                ..
            } => SPOKEN.after_refusal(self.version, *theirs),
            _ => None,
        }
    }
}

impl StreamDialer {
    /// Smallest round trip to there so far, where the kernel knows it.
    pub fn rtt(&self) -> Option<Span> {
        self.endpoint.rtt
    }

    /// How connections to there leave this host.
    pub fn via(&self) -> &Via {
        &self.endpoint.via
    }

    /// For an end to which no conversation was opened from here: it listens for streams of the one
    /// that it opened.
    pub fn new(
        addresses: Vec<SocketAddr>,
        pin: Fingerprint,
        key: SessionKey,
        timeout: Span,
    ) -> Self {
        let rtt = None;
        StreamDialer {
            endpoint: StreamEndpoint {
                addresses,
                via: Via::default(),
                pin,
                timeout,
                rtt,
                transport: Transport::Tcp,
            },
            key,
        }
    }

    /// The same over another pair of addresses: the far end has the same port there, and shows the
    /// same certificate.
    #[must_use]
    pub fn over(&self, pair: &AddressPair) -> Self {
        let addresses = &self.endpoint.addresses;
        let port = addresses.first().map_or(0, SocketAddr::port);
        // A link-local address leads nowhere without its link, which the pair does not have.
        let answered = addresses.iter().find(|one| one.ip() == pair.far);
        let far = answered.copied();
        StreamDialer {
            endpoint: StreamEndpoint {
                addresses: vec![far.unwrap_or_else(|| SocketAddr::new(pair.far, port))],
                via: Via {
                    source: pair.source.clone(),
                    ..self.endpoint.via.clone()
                },
                ..self.endpoint.clone()
            },
            key: self.key.clone(),
        }
    }

    /// Opens the stream of that number, which no other stream of the conversation has had.
    ///
    /// * `plain`: in the clear; both ends have to agree on that.
    ///
    /// What is written to it may follow at once. Whether the other end takes the stream shows when
    /// it is read or written.
    ///
    /// # Errors
    /// When the other end cannot be reached, or another host answers in its place.
    pub fn stream(
        &self,
        session: u64,
        number: u32,
        options: &StreamOptions,
        plain: bool,
    ) -> Result<Channel, DialError> {
        let raw = self.endpoint.connect(options, plain)?;
        self.greet(raw, session, number)
    }

    /// Greets on a connection, which makes it the stream of that number.
    ///
    /// # Errors
    /// When the connection is gone.
    pub fn greet(&self, raw: RawStream, session: u64, number: u32) -> Result<Channel, DialError> {
        let RawStream { channel, peer } = raw;
        self.send_greeting(channel, session, number)
            .map_err(|source| DialError::during(peer, self.endpoint.timeout, source))
    }

    /// The greeting always fits the empty buffer of a new connection.
    fn send_greeting(
        &self,
        mut channel: Channel,
        session: u64,
        number: u32,
    ) -> io::Result<Channel> {
        let exporter = channel.exporter()?;
        let greeting = self.key.greet(session, number, exporter.as_ref());
        channel.write_parts(&[&greeting.encode()])?;
        Ok(channel)
    }
}

/// All places are addresses of one far end, reached in one way.
fn via(places: &[Address]) -> Via {
    places
        .first()
        .map(|place| place.via.clone())
        .unwrap_or_default()
}

/// All addresses of all places, in their order, each once.
fn resolve(places: &[Address]) -> Result<Vec<SocketAddr>, DialError> {
    let mut all: Vec<SocketAddr> = Vec::new();
    let mut unknown = None;
    for place in places {
        match sockets::resolve(place) {
            Ok(found) => all.extend(found),
            Err(source) => {
                let host = place.host.clone();
                unknown = Some(DialError::UnknownHost { host, source });
            }
        }
    }
    let mut seen = std::collections::BTreeSet::new();
    all.retain(|address| seen.insert(*address));
    match unknown {
        Some(error) if all.is_empty() => Err(error),
        _ => Ok(all),
    }
}
