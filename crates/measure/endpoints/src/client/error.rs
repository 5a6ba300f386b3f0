//! Why a test could not be run, in words for the one who asked for it.

use std::io;
use std::net::SocketAddr;

use copy_net::DialError;
use errors::Hint;
use measure_protocol::ClientControlError;
use observe::{Fault, Peer, TargetError};
use thiserror::Error;
use units::{Address, Span};

use super::login::LoginError;
use sockets::options::OptionError;

/// Why a test could not be run.
#[derive(Debug, Error)]
pub enum ClientError {
    /// The name has no address, or none of the family that was asked for.
    #[error("host `{host}` {}", unresolved(.source))]
    UnknownHost {
        /// The name.
        host: String,
        /// The resolver's reason.
        source: io::Error,
    },
    /// No program listens there.
    #[error("{address} refused the connection: no server listens there")]
    Refused {
        /// Name and port.
        address: Address,
    },
    /// No answer came.
    #[error("{address} did not answer within {after}")]
    Silent {
        /// Name and port.
        address: Address,
        /// The bound.
        after: Span,
    },
    /// And none over UDP.
    #[error("{address} answered neither over TCP nor over UDP")]
    SilentOverBoth {
        /// Name and port.
        address: Address,
    },
    /// The connection failed otherwise.
    #[error("cannot connect to {address}")]
    Connect {
        /// Name and port.
        address: Address,
        /// The system's reason.
        source: io::Error,
    },
    /// The conversation with the server went wrong.
    #[error("{address}: {source}")]
    Control {
        /// The server.
        address: Address,
        /// What went wrong.
        source: ClientControlError,
    },
    /// The setting has an option that only TCP has.
    #[error("`{option}` is for TCP, and this run goes over UDP")]
    OnlyOfTcp {
        /// The option.
        option: &'static str,
    },
    /// The server takes no streams over UDP.
    #[error("{}", told_no_udp(.address, *.server))]
    NoUdp {
        /// The server.
        address: Address,
        /// What it is.
        server: Peer,
    },
    /// Streams over UDP set the octet of each packet themselves, and leave the class out.
    #[error("`--dscp` marks streams over TCP, and these go over UDP")]
    Unmarked,
    /// Linux has no such option for multipath TCP.
    #[error("`--mptcp` and `{option}` exclude each other: {why}")]
    NotOverMultipath {
        /// The option.
        option: &'static str,
        /// Why not.
        why: &'static str,
    },
    /// No stream could be opened over UDP.
    #[error(transparent)]
    Udp(#[from] DialError),
    /// The user of a server could not be told to it.
    #[error(transparent)]
    Login(#[from] LoginError),
    /// An option of the streams was refused by this host.
    #[error(transparent)]
    Option(#[from] OptionError),
    /// A stream could not be opened.
    #[error("stream {number} of {total} could not connect to {peer}")]
    Stream {
        /// Counted from 1.
        number: usize,
        /// How many were wanted.
        total: usize,
        /// The server.
        peer: SocketAddr,
        /// The system's reason.
        source: io::Error,
    },
    /// This process or host has no descriptor left for a stream.
    #[error("no file descriptor was left for stream {number} of {total}")]
    Descriptors {
        /// Counted from 1.
        number: usize,
        /// How many were wanted.
        total: usize,
        /// The system's reason.
        source: io::Error,
    },
    /// A stream ended before the test did.
    #[error("stream {number} broke {at} after the start")]
    Broken {
        /// Counted from 1.
        number: usize,
        /// When it was noticed.
        at: Span,
        /// The system's reason.
        source: io::Error,
    },
    /// A test that counts bytes made no progress.
    #[error("no data moved for {0}")]
    Stalled(Span),
    /// A socket or thread of this host failed.
    #[error("a socket or thread of this host failed")]
    Local(#[from] io::Error),
    /// The user ended it.
    #[error("the test was cancelled")]
    Cancelled,
}

impl ClientError {
    /// The same of a server that was tried over UDP as well. What shows that UDP got somewhere says
    /// more.
    pub(super) fn and_over_udp(self, found: DialError) -> Self {
        match (self, found) {
            (ClientError::Silent { address, .. }, DialError::UdpSilent { .. }) => {
                ClientError::SilentOverBoth { address }
            }
            (ClientError::Silent { address, .. }, DialError::UdpRefused { .. }) => {
                ClientError::Refused { address }
            }
            (unanswered, DialError::UdpSilent { .. } | DialError::UdpRefused { .. }) => unanswered,
            (_, found) => found.into(),
        }
    }

    /// What the user can try next.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::UnknownHost { source, .. } if is_of_another_family(source) => {
                Some("leave out `-4`, `-6` or `--bind`, or give another name".to_owned())
            }
            Self::UnknownHost { .. } => {
                Some("check the spelling, or give the address in numbers".to_owned())
            }
            Self::Refused { address } => Some(format!(
                "start `trunkline serve` or `iperf3 -s` on {}, or give its port: {}PORT",
                address.host,
                before_port(&address.to_string())
            )),
            Self::Silent { address, .. } => Some(format!(
                "a firewall may drop TCP port {}: open it or choose another port; where UDP alone \
                passes, measure, tune and copy have `--transport udp`",
                address.port
            )),
            Self::SilentOverBoth { address } => Some(format!(
                "that host may be down, or a firewall may drop TCP and UDP port {}",
                address.port
            )),
            Self::Control { source, .. } => source.hint().map(str::to_owned),
            Self::Option(source) => source.hint(),
            Self::Stream { source, .. } => Some(stream_hint(source.kind()).to_owned()),
            Self::Descriptors { .. } => {
                Some("use fewer streams, or raise the limit on open files (`ulimit -n`)".to_owned())
            }
            Self::OnlyOfTcp { .. } | Self::NotOverMultipath { .. } | Self::Unmarked => {
                Some("leave out one of the two".to_owned())
            }
            Self::NoUdp { .. } => Some(
                "start `trunkline serve` of this version there, or leave out `--transport udp`"
                    .to_owned(),
            ),
            Self::Udp(source) => source.hint(),
            Self::Login(source) => source.hint(),
            Self::Stalled(_) => Some("check the path: the server may have vanished".to_owned()),
            _ => None,
        }
    }

    fn fault(&self) -> Fault {
        match self {
            Self::Cancelled => Fault::Cancelled,
            Self::Login(source) => source.fault(),
            Self::Option(_) | Self::OnlyOfTcp { .. } | Self::NotOverMultipath { .. } => {
                Fault::Request
            }
            // Names cannot be resolved either while the network is away.
            _ => Fault::Run,
        }
    }
}

/// Addresses that cannot be reached as was asked.
fn is_of_another_family(source: &io::Error) -> bool {
    source.kind() == io::ErrorKind::AddrNotAvailable
}

fn unresolved(source: &io::Error) -> &'static str {
    match is_of_another_family(source) {
        true => "has no address that can be reached as asked",
        false => "is unknown",
    }
}

fn told_no_udp(address: &Address, server: Peer) -> String {
    match server {
        Peer::Trunkline => {
            format!("the trunkline at {address} is older than tests over UDP, and takes TCP alone")
        }
        Peer::Iperf3 | Peer::Mover => {
            format!("{address} is no trunkline, and takes no streams in QUIC over UDP")
        }
    }
}

/// The control connection came through, so the server and its port are there.
fn stream_hint(kind: io::ErrorKind) -> &'static str {
    match kind {
        io::ErrorKind::ConnectionRefused => {
            "the server stopped listening: see whether it still runs"
        }
        io::ErrorKind::TimedOut | io::ErrorKind::WouldBlock => {
            "a firewall or a full backlog may drop connections: use fewer streams"
        }
        _ => "the server closed the connection: see what it says, or use fewer streams",
    }
}

impl From<ClientError> for TargetError {
    fn from(error: ClientError) -> Self {
        let (fault, what, hint) = (error.fault(), error.to_string(), error.hint());
        let source = match error {
            ClientError::UnknownHost { source, .. }
            | ClientError::Connect { source, .. }
            | ClientError::Stream { source, .. }
            | ClientError::Descriptors { source, .. }
            | ClientError::Broken { source, .. }
            | ClientError::Local(source) => Some(source.into()),
            ClientError::Option(source) => {
                std::error::Error::source(&source).map(|source| source.to_string().into())
            }
            _ => None,
        };
        TargetError {
            fault,
            what,
            hint,
            source,
        }
    }
}

/// An address up to where its port is written: `[::1]:` of `[::1]:5201`.
fn before_port(address: &str) -> &str {
    let end = address.rfind(':').map_or(address.len(), |at| at + 1);
    address.get(..end).unwrap_or(address)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stream(kind: io::ErrorKind) -> ClientError {
        ClientError::Stream {
            number: 3,
            total: 8,
            peer: SocketAddr::from(([192, 0, 2, 1], 5_201)),
            source: kind.into(),
        }
    }

    #[test]
    fn the_hint_fits_what_happened_to_the_stream() {
        let hint = |kind| stream(kind).hint().unwrap();
        assert!(hint(io::ErrorKind::ConnectionRefused).contains("listening"));
        assert!(hint(io::ErrorKind::TimedOut).contains("firewall"));
        assert!(hint(io::ErrorKind::ConnectionReset).contains("closed"));
    }

    #[test]
    fn a_lack_of_descriptors_is_no_fault_of_the_request() {
        let error = ClientError::Descriptors {
            number: 3,
            total: 8,
            source: io::Error::from_raw_os_error(libc::EMFILE),
        };
        assert!(error.hint().unwrap().contains("ulimit -n"));
        assert_eq!(TargetError::from(error).fault, Fault::Run);
    }

    #[test]
    fn root_is_told_how_to_allow_a_congestion_control() {
        let error = ClientError::from(OptionError::CongestionForbidden {
            name: "htcp".to_owned(),
            allowed: "reno, cubic".to_owned(),
            source: io::Error::from_raw_os_error(libc::EPERM),
        });
        assert!(error.hint().unwrap().contains("=\"reno cubic htcp\""));
    }
}
