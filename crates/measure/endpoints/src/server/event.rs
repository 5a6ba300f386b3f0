//! What a server tells its owner.

use std::io;
use std::net::SocketAddr;

use measure_protocol::{
    BeyondBounds, CookieError, ServerControlError, TestRequest, trains::ProbingServerError,
};
use thiserror::Error;
use units::{Bytes, Rate, Span};

use super::users::NotLetIn;

/// Something happened.
#[derive(Debug)]
pub enum ServerEvent {
    /// A client is one of the server's users.
    LoggedIn {
        /// Counts the sessions of this server.
        session: u64,
        /// The client.
        peer: SocketAddr,
        /// Its name in the file of users.
        user: String,
    },
    /// A test was agreed on.
    Started {
        /// Counts the sessions of this server.
        session: u64,
        /// The client.
        peer: SocketAddr,
        /// What it asked for.
        request: Box<TestRequest>,
    },
    /// A session for trains of datagrams in place of a test was agreed on.
    Probing {
        /// Counts the sessions of this server.
        session: u64,
        /// The client.
        peer: SocketAddr,
    },
    /// A session is over.
    Ended {
        /// As at its start.
        session: u64,
        /// The client.
        peer: SocketAddr,
        /// What was moved, or why it failed.
        outcome: Result<SessionSummary, SessionError>,
    },
    /// A connection became no session.
    Refused {
        /// Who it was.
        peer: SocketAddr,
        /// Why.
        reason: Refusal,
    },
}

/// A completed test.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionSummary {
    /// How long data flowed.
    pub duration: Span,
    /// Bytes the client sent and this end read.
    pub received: Bytes,
    /// Bytes this end wrote.
    pub sent: Bytes,
    /// Wishes of the client that this host could not fulfil.
    pub notes: Vec<String>,
}

/// Why a session failed.
#[derive(Debug, Error)]
pub enum SessionError {
    /// The conversation went wrong.
    #[error(transparent)]
    Control(#[from] ServerControlError),
    /// A probing client broke the protocol or stopped.
    #[error(transparent)]
    Probing(#[from] ProbingServerError),
    /// The client is none of the server's users.
    #[error("it was not let in: {0}")]
    Login(NotLetIn),
    /// The server has no room for so many more streams.
    #[error("{asked} streams were asked for, but all tests together may have {bound}")]
    Full {
        /// What the client wanted.
        asked: u16,
        /// The bound over all tests.
        bound: usize,
    },
    /// Other tests over UDP hold what all may have in memory.
    #[error("tests over UDP hold all memory that they, or those of one address, may have")]
    NoUdpMemory,
    /// Other tests of datagrams of its host took too long to begin.
    #[error(
        "other tests of datagrams from its address have waited for their first datagrams for {0}"
    )]
    NoTurn(Span),
    /// A test of datagrams was agreed on, and none came.
    #[error("no datagram that opens a stream came within {0}")]
    NoGreeting(Span),
    /// The owner allows less than was asked for.
    #[error(transparent)]
    Beyond(#[from] BeyondBounds),
    /// A test without an agreed end went on for as long as the owner allows.
    #[error("it was ended after {0}, the longest that this server allows a test")]
    Overtime(Span),
    /// A client sent faster than it had said.
    #[error("the client sent {received} in {took}; at most {bound} are possible here")]
    TooFast {
        /// What came.
        received: Bytes,
        /// Since the beginning.
        took: Span,
        /// The bound.
        bound: Rate,
    },
    /// Nothing was moved for too long.
    #[error("no data moved for {0}")]
    NoData(Span),
    /// This host failed.
    #[error("a socket or thread of this host failed")]
    Local(#[from] io::Error),
    /// The owner stopped the server.
    #[error("the server was stopped")]
    Stopped,
    /// A mistake of ours; the other sessions go on.
    #[error("internal fault: {0}")]
    Panicked(String),
}

/// Why a connection became no session.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum Refusal {
    /// All places are taken.
    #[error("{0} tests are running, the most this server allows")]
    Busy(usize),
    /// Its address has all places that one may have.
    #[error("{0} tests from its address are running, the most this server allows one")]
    BusyAddress(usize),
    /// It wants no copy, and nothing else is served.
    #[error("it wants no copy, and this server serves files only")]
    FilesOnly,
    /// It does not speak the protocol.
    #[error(transparent)]
    Stranger(#[from] CookieError),
    /// A stream over UDP, of no test that runs.
    #[error("its stream over UDP belongs to no test that runs here")]
    NoTest,
    /// It did not say in time what it is.
    #[error("no cookie came within {0}")]
    Silent(Span),
    /// Too many others came after it without saying what they are.
    #[error(
        "{0} connections had sent no cookie, most of them from its address, and it was the oldest \
        of those"
    )]
    Crowded(usize),
    /// A thread could not be started for it.
    #[error("this host has no thread left for it")]
    NoThread,
}
