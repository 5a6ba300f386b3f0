//! Why a far end is not reached, for people.

use std::io::{self, ErrorKind};
use std::net::SocketAddr;

use copy_protocol::HandshakeError;
use thiserror::Error;
use units::Span;

use sockets::OptionError;
use sockets::connect::Tried;

/// Why there is no connection.
#[derive(Debug, Error)]
pub enum DialError {
    /// The name has no address.
    #[error("the name `{host}` cannot be resolved")]
    UnknownHost {
        /// The name.
        host: String,
        /// The system's reason.
        source: io::Error,
    },
    /// No address answers.
    #[error("{}{}", listed(.tried), and_over_udp(.over_udp.as_deref()))]
    Unreachable {
        /// Each address and what became of it.
        tried: Vec<(SocketAddr, io::Error)>,
        /// What became of UDP, where that was tried, too.
        over_udp: Option<Box<DialError>>,
        /// How long was waited.
        timeout: Span,
    },
    /// The far end was to connect here and did not.
    #[error("the far end did not connect to port {port} of this host within {after}")]
    NotCalled {
        /// Where it should have.
        port: u16,
        /// How long was waited.
        after: Span,
    },
    /// The connection was accepted, and then nothing came.
    #[error("{peer} took the connection and said nothing for {after}")]
    Silent {
        /// Where.
        peer: SocketAddr,
        /// How long.
        after: Span,
    },
    /// The connection was closed before it was secured.
    #[error("{peer} closed the connection before it was secured")]
    Closed {
        /// Where.
        peer: SocketAddr,
    },
    /// The other end does not speak TLS 1.3, or shows another certificate than before.
    #[error("no secure connection to {peer}: {source}")]
    Tls {
        /// Where.
        peer: SocketAddr,
        /// What TLS says.
        source: io::Error,
    },
    /// The host says that no program takes UDP there.
    #[error("no program takes UDP at {peer}")]
    UdpRefused {
        /// Where.
        peer: SocketAddr,
    },
    /// Nothing comes back over UDP.
    #[error("nothing came back over UDP from {peer} within {after}")]
    UdpSilent {
        /// Where.
        peer: SocketAddr,
        /// How long was waited.
        after: Span,
    },
    /// The two ends do not know each other.
    #[error("{source}")]
    Handshake {
        /// Where.
        peer: SocketAddr,
        /// Why.
        source: HandshakeError,
    },
    /// This host refuses an option.
    #[error(transparent)]
    Option(#[from] OptionError),
    /// A socket of this host failed.
    #[error("the connection to {peer} broke: {source}")]
    Socket {
        /// Where.
        peer: SocketAddr,
        /// The system's reason.
        source: io::Error,
    },
}

impl DialError {
    pub(crate) fn unreachable(tried: Tried, timeout: Span) -> Self {
        DialError::Unreachable {
            tried,
            over_udp: None,
            timeout,
        }
    }

    /// The same of a host that was tried over UDP as well. What shows that UDP got somewhere says
    /// more.
    pub(crate) fn and_over_udp(self, found: DialError) -> Self {
        match (self, found) {
            (
                DialError::Unreachable { tried, timeout, .. },
                found @ (DialError::UdpRefused { .. } | DialError::UdpSilent { .. }),
            ) => DialError::Unreachable {
                tried,
                over_udp: Some(Box::new(found)),
                timeout,
            },
            (_, found) => found,
        }
    }

    /// What a failure after the connection was made means.
    pub(crate) fn during(peer: SocketAddr, timeout: Span, source: io::Error) -> Self {
        match source.kind() {
            ErrorKind::TimedOut => DialError::Silent {
                peer,
                after: timeout,
            },
            ErrorKind::UnexpectedEof | ErrorKind::ConnectionReset | ErrorKind::BrokenPipe => {
                DialError::Closed { peer }
            }
            ErrorKind::InvalidData => DialError::Tls { peer, source },
            _ => DialError::Socket { peer, source },
        }
    }

    /// Whether trying again may help: a network or a far end that is away may come back.
    pub fn may_pass(&self) -> bool {
        match self {
            DialError::Unreachable { .. }
            | DialError::NotCalled { .. }
            | DialError::Silent { .. }
            | DialError::Closed { .. }
            | DialError::Socket { .. } => true,
            // Names cannot be resolved either while the network is away.
            DialError::UnknownHost { .. } => true,
            DialError::UdpRefused { .. } | DialError::UdpSilent { .. } => true,
            DialError::Tls { .. } | DialError::Handshake { .. } | DialError::Option(_) => false,
        }
    }

    /// The next step.
    pub fn hint(&self) -> Option<String> {
        let text = match self {
            DialError::UnknownHost { source, .. }
                if source.kind() == io::ErrorKind::AddrNotAvailable =>
            {
                "leave out `-4`, `-6` or `--bind`, or give another name"
            }
            DialError::UnknownHost { source, .. }
                if source.kind() == io::ErrorKind::AddrNotAvailable =>
            {
                "leave out `-4`, `-6` or `--bind`, or give another name"
            }
            DialError::UnknownHost { .. } => "check the spelling, and that this host is online",
            DialError::Unreachable { tried, .. } => return unreachable_hint(tried),
            DialError::NotCalled { .. } => {
                "a firewall may drop connections to this host: open a range of ports and name it, \
                or connect to the far end"
            }
            DialError::Silent { .. } => {
                "something else may listen there, or a `trunkline serve` without `--root`"
            }
            DialError::Closed { .. } => {
                "a server that stops does so: try again, or wait for it with `--patience`; \
                otherwise something else may listen there, or a `trunkline serve` without `--root`"
            }
            DialError::Tls { .. } => {
                "something else may listen there, or another host may answer in its place"
            }
            DialError::UdpRefused { .. } => {
                "the `trunkline serve` there may be too old for UDP: start a newer one, or leave \
                out `--transport udp`"
            }
            DialError::UdpSilent { .. } => {
                "a firewall may drop UDP, or something on the way limit it: open that port for \
                UDP, too, or leave out `--transport udp`"
            }
            DialError::Handshake { source, .. } => return source.hint(),
            DialError::Option(source) => return source.hint(),
            DialError::Socket { .. } => return None,
        };
        Some(text.to_owned())
    }
}

fn unreachable_hint(tried: &[(SocketAddr, io::Error)]) -> Option<String> {
    let is = |kind: ErrorKind| tried.iter().any(|(_, error)| error.kind() == kind);
    let text = if is(ErrorKind::ConnectionRefused) {
        "is `trunkline serve --root` running there, on that port?"
    } else if is(ErrorKind::TimedOut) {
        "that host may be down, or a firewall may drop connections to that port"
    } else {
        return None;
    };
    Some(text.to_owned())
}

fn and_over_udp(found: Option<&DialError>) -> String {
    found.map_or_else(String::new, |found| format!("; {found}"))
}

fn listed(tried: &[(SocketAddr, io::Error)]) -> String {
    let shown = |(peer, error): &(SocketAddr, io::Error)| match error.kind() {
        ErrorKind::ConnectionRefused => format!("{peer} refuses connections"),
        ErrorKind::TimedOut => format!("{peer} is silent"),
        _ => format!("{peer}: {error}"),
    };
    match tried {
        [] => "no answer: it has no address".to_owned(),
        tried => tried.iter().map(shown).collect::<Vec<_>>().join(", "),
    }
}
