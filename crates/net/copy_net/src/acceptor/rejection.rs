//! Why a connection became neither a conversation nor a stream.

use copy_protocol::{GreetingError, HandshakeError, KeyName};
use thiserror::Error;
use units::Span;

/// Why a connection became neither a conversation nor a stream.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum Rejection {
    /// It speaks another protocol.
    #[error("its first byte is {0:#04x}, neither TLS nor a stream")]
    Stranger(u8),
    /// Its TLS or its socket failed.
    #[error("{0}")]
    Broken(String),
    /// Its hello is too long or empty.
    #[error("it announced a hello of {0} bytes; 1 to 1024 are read")]
    Hello(u32),
    /// Its hello was not accepted.
    #[error(transparent)]
    Handshake(#[from] HandshakeError),
    /// It begins like a stream and is none.
    #[error(transparent)]
    Greeting(#[from] GreetingError),
    /// A stream of a conversation that there is not (any more).
    #[error("the copy that its stream belongs to has ended, or never began here")]
    NoSession,
    /// A stream that does not know the key of its conversation.
    #[error("its stream does not know the key of its conversation")]
    NotOurs,
    /// A stream number that was used before.
    #[error("stream {0} was here before")]
    Repeated(u32),
    /// A stream in the clear where none was agreed on.
    #[error("its stream is not encrypted, but the copy is")]
    Plain,
    /// Its conversation has not taken the streams before it.
    #[error("{0} streams before it have not been taken by their conversation")]
    Crowd(usize),
    /// It expects this end to speak first, which was not asked for.
    #[error("it expects this end to speak first, which was not asked for")]
    NotCalled,
    /// It did not say in time what it is.
    #[error("it did not show within {0} what it is")]
    Silent(Span),
    /// Too many others came after it without saying what they are.
    #[error(
        "{0} connections had not shown what they are, most of them from its address, and it was \
        the oldest of those"
    )]
    Crowded(usize),
    /// All places are taken.
    #[error("{} connected, the most this end allows", copies(.0))]
    Busy(usize),
    /// The name of its token has all places that one may have.
    #[error("{} connected with the token `{}`, the most this end allows one token", copies(.1), .0)]
    BusyName(KeyName, usize),
    /// Others asked before it for the places that are free.
    #[error("{}", others(.0))]
    Queued(usize),
    /// All places for access to files are taken.
    #[error("{0} sessions of file access are open, the most this end allows")]
    BusyRemote(usize),
    /// The name of its token has all places for access to files that one may have.
    #[error(
        "{1} sessions of file access are open with the token `{0}`, the most this end allows one \
        token"
    )]
    BusyRemoteName(KeyName, usize),
    /// It wants access to files, which this end does not give.
    #[error("this end gives no access to single files")]
    NoRemote,
    /// It commands third-party copies, which this end does not make.
    #[error("this end makes no copies for other hosts")]
    NoThirdParty,
    /// It wants a pipe, which this end does not serve.
    #[error("this end serves no pipes")]
    NoPipes,
}

impl Rejection {
    /// Whether it has a ticket, and asks again.
    pub fn waits(&self) -> bool {
        matches!(
            self,
            Rejection::Busy(_) | Rejection::BusyName(..) | Rejection::Queued(_)
        )
    }
}

fn copies(count: &usize) -> String {
    match count {
        1 => "1 copy is".to_owned(),
        many => format!("{many} copies are"),
    }
}

fn others(count: &usize) -> String {
    match count {
        1 => "1 other waits for a place".to_owned(),
        many => format!("{many} others wait for a place"),
    }
}
