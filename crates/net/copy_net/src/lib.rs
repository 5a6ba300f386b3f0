//! Connections that carry files: one that both ends talk over, and any number of streams, all to
//! one port. Streams may come over UDP ([`observe::Transport`]), as QUIC connections with one
//! stream each, and so may the other one where no TCP connection can be made.
//!
//! Everything is in TLS 1.3, except streams where both ends agreed otherwise. The listening end
//! signs its certificate itself; that it is the right one follows from the handshake of
//! [`copy_protocol`], which binds what both ends know to the very TLS connection on which they say
//! so. Streams then accept the same certificate only, and greet with a key that only the two ends
//! of the conversation have.
//!
//! AES-128-GCM of ring where the processor has instructions for it: encrypting and sending took
//! 0.51 ns of a processor for each byte (0.47 to 0.56), with aws-lc-rs 0.71 (0.66 to 0.76);
//! ChaCha20-Poly1305 took 0.80 to 0.98 with either (2026-11-22, loopback, AMD EPYC, two busy
//! processors, three runs each of AES, one each of ChaCha20). Nothing but rustls touches keys or
//! records.
//!
//! What is left out: resuming TLS connections (each costs one round trip more than TCP, once in a
//! stream's life), certificates of authorities, and client certificates; the secret says more than
//! they would.
//!
//! Both ends of another protocol may authenticate each other in the same way: [`Dialer::channel`]
//! and a [`ChannelHandler`] give them one connection for bytes both ways.
//!
//! Reading order: [`Dialer`] for the end that connects; [`Listener`], `acceptor` and `handshaking`
//! for the one that listens; [`dial_udp`], [`UdpAcceptor`] and `udp_relay` over UDP, of tests, too;
//! [`Conversation`]; [`Channel`] with `tls`; [`StreamHandle`]; [`Ssh`] and [`serve_ssh_child`] for
//! a far end that ssh starts.

mod acceptor;
mod certificate;
mod channel;
pub mod control_socket;
mod conversation;
mod dialer;
mod far_main;
mod fingerprint;
#[cfg(feature = "fuzzing")]
pub mod fuzzing;
mod handle;
mod handshaking;
mod identity;
mod listener;
mod session_registry;
mod sftp;
mod ssh_client;
mod tls;
mod udp_acceptor;
mod udp_dialer;
mod udp_relay;

use std::io;
use std::net::SocketAddr;

use copy_protocol::{
    Admitted, Key, KeyName, Rights, Secret, pipe::PipeMessage, third_party::Order,
};
use sockets::random;
use units::Span;

pub use acceptor::{AcceptLimits, Acceptor, Handler, Handover, Rejection, Source};
pub use channel::Channel;
pub use conversation::{Conversation, ConversationError};
pub use dialer::{
    DialError, Dialed, DialedPipe, DialedRemote, Dialer, KnownPeer, RawStream, StreamDialer,
    StreamEndpoint,
};
pub use far_main::{CallbackTarget, SshChildError, SshPipes, serve_ssh_child};
pub use fingerprint::Fingerprint;
pub use handle::StreamHandle;
pub use handshaking::is_of_a_copy;
pub use identity::Identity;
pub use listener::{Callbacks, ListenError, Listener};
pub use quic_net::write_qlogs;
pub use session_registry::{ArrivedStream, IncomingStreams};
pub use sftp::{SftpChannel, SftpDialer, SftpError, SshManners};
pub use ssh_client::{FAR_COMMAND, RUN_PROGRAMS, SentProgram, Ssh, SshError, SshFarEnd, may_ask};
pub use udp_acceptor::{StreamOfOthers, UdpAcceptor};
pub use udp_dialer::{TCP_FIRST_WAIT, UDP_WAIT, dial_control_over_udp, dial_udp, udp_wait_after};
pub use udp_relay::{RelayGoodbye, RelayedSocket};

/// What an end says of itself to people at the other.
pub const SOFTWARE: &str = concat!("trunkline ", env!("CARGO_PKG_VERSION"));

/// What a listening end does with its sessions.
pub trait CopyHandler: Send + Sync {
    /// The key of that name and what it allows.
    fn find(&self, name: &KeyName) -> Option<(Key, Rights)>;

    /// Serves one conversation, on a thread of its own. It ends early when the listening end stops.
    fn serve(&self, accepted: AcceptedSession);

    /// Serves sessions of access to files ([`copy_protocol::remote`]); without, none are served.
    fn remote(&self) -> Option<&dyn RemoteHandler> {
        None
    }

    /// Serves the controllers of third-party copies ([`copy_protocol::third_party`]); without, none
    /// are served.
    fn third_party(&self) -> Option<&dyn ThirdPartyHandler> {
        None
    }

    /// Serves pipes ([`copy_protocol::pipe`]); without, none are served.
    fn pipes(&self) -> Option<&dyn PipeHandler> {
        None
    }

    /// The name whose places a session under that name takes: tokens for one copy take those of
    /// the name that they were granted to.
    fn holder(&self, name: &KeyName) -> KeyName {
        name.clone()
    }

    /// Conversations at the same time under that name, where they are bounded for it alone;
    /// otherwise [`AcceptLimits::conversations_per_name`] holds.
    fn copies_max(&self, holder: &KeyName) -> Option<u16> {
        let _ = holder;
        None
    }

    /// How long each of the conversations still takes, by the name whose place it has; none where
    /// that is not known.
    fn time_left(&self) -> Vec<(KeyName, Option<Span>)> {
        Vec::new()
    }

    /// A connection was rejected.
    fn rejected(&self, peer: SocketAddr, reason: &Rejection) {
        let _ = (peer, reason);
    }
}

/// What a listening end does with sessions of access to files.
pub trait RemoteHandler: Send + Sync {
    /// Serves one session, on a thread of its own. It ends early when the listening end stops.
    fn serve_remote(&self, accepted: AcceptedRemote);
}

/// What a listening end does with the controllers of third-party copies.
pub trait ThirdPartyHandler: Send + Sync {
    /// Serves one of them, on a thread of its own; its purpose says whether it wants a token or
    /// commands a copy. It ends early when the listening end stops.
    fn serve_controller(&self, accepted: AcceptedController);
}

/// What a listening end does with pipes.
pub trait PipeHandler: Send + Sync {
    /// Serves one conversation, on a thread of its own. It ends early when the listening end stops.
    fn serve_pipe(&self, accepted: AcceptedPipe);
}

/// What a listening end does with authenticated connections that carry another protocol than copies
/// do. It comes on a port of its own.
pub trait ChannelHandler: Send + Sync {
    /// The key of that name and what it allows.
    fn find(&self, name: &KeyName) -> Option<(Key, Rights)>;

    /// Serves one connection, on a thread of its own. It ends early when the listening end stops.
    fn serve(&self, accepted: AcceptedChannel);

    /// A connection was rejected.
    fn rejected(&self, peer: SocketAddr, reason: &Rejection) {
        let _ = (peer, reason);
    }
}

/// A connection whose near end is authenticated, for bytes both ways.
#[derive(Debug)]
pub struct AcceptedChannel {
    /// Where it is.
    pub peer: SocketAddr,
    /// Who it is, and what it may.
    pub admitted: Admitted,
    /// The bytes.
    pub channel: Channel,
}

/// A session of access to files whose near end is authenticated.
#[derive(Debug)]
pub struct AcceptedRemote {
    /// Where it is.
    pub peer: SocketAddr,
    /// Who it is, and what it may.
    pub admitted: Admitted,
    /// The connection that authenticated.
    pub channel: Channel,
    /// The streams that it opens to here.
    pub streams: IncomingStreams,
}

/// A controller of a third-party copy that is authenticated.
#[derive(Debug)]
pub struct AcceptedController {
    /// Where it is.
    pub peer: SocketAddr,
    /// Who it is, what it may, and what it came for.
    pub admitted: Admitted,
    /// What it says.
    pub conversation: Conversation<Order>,
}

/// A pipe whose near end is authenticated.
#[derive(Debug)]
pub struct AcceptedPipe {
    /// Where it is.
    pub peer: SocketAddr,
    /// Who it is, and what it may.
    pub admitted: Admitted,
    /// Smallest round trip to there so far, where the kernel knows it.
    pub rtt: Option<Span>,
    /// What it says.
    pub conversation: Conversation<PipeMessage>,
    /// The streams that it opens to here.
    pub streams: IncomingStreams,
}

/// A session whose near end is authenticated.
#[derive(Debug)]
pub struct AcceptedSession {
    /// Where it is.
    pub peer: SocketAddr,
    /// Who it is, and what it may.
    pub admitted: Admitted,
    /// Smallest round trip to there so far, where the kernel knows it.
    pub rtt: Option<Span>,
    /// The conversation.
    pub conversation: Conversation,
    /// The streams that it opens to here.
    pub streams: IncomingStreams,
}

/// A new random secret.
///
/// # Errors
/// When the system gives no random numbers.
pub fn new_secret() -> io::Result<Secret> {
    Ok(Secret::new(random::bytes()?))
}
