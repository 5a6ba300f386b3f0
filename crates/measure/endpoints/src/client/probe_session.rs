//! Asking a server for trains in place of a test.

use measure_protocol::{Answer, ClientAction, Cookie, Offer, TestEnd, TestRequest};
use observe::{RunObserver, Transport};
use units::{Address, Span};

use super::ClientError;
use super::busy_retry::{ServerState, retry_while_busy};
use super::connect;
use super::conversation::Conversation;
use super::login::{Login, token};
use crate::control_connection::ControlConnection;
use sockets::random;

/// A server that does not know trains takes the request for that of a test this long, until it
/// hears that the client has thought better of it.
const TEST_LENGTH: Span = Span::from_secs(1);

/// What a server offers to a client that wants to send trains.
#[derive(Debug)]
pub(crate) enum ProbeServer {
    /// One that stamps their packets, with the connection to it.
    Stamping(ControlConnection, Answer),
    /// One of ours that does not know trains.
    Older,
    /// A foreign one.
    Foreign,
}

/// Asks the server at the other end of `control`, which may be busy.
pub(crate) fn request_probing(
    address: &Address,
    login: Option<&Login>,
    control: ControlConnection,
    watch: &dyn RunObserver,
) -> Result<ProbeServer, ClientError> {
    let request = TestRequest {
        offer: Some(Offer::probing()),
        token: token(login)?,
        ..TestRequest::new(1, TestEnd::After(TEST_LENGTH))
    };
    let cookie = Cookie::from_random(&random::bytes()?);
    let mut conversation = Conversation::begin(address.clone(), control, cookie, request);
    loop {
        match conversation.await_action(watch)? {
            ClientAction::HandOver(answer) => {
                return Ok(ProbeServer::Stamping(conversation.connection()?, answer));
            }
            // The server hears that there will be no test when the conversation is dropped.
            ClientAction::OpenStreams(_) if conversation.answer().is_some() => {
                return Ok(ProbeServer::Older);
            }
            ClientAction::OpenStreams(_) => return Ok(ProbeServer::Foreign),
            _ => {}
        }
    }
}

/// Connects and asks until the server has time.
pub(crate) fn request_probing_with_retry(
    address: &Address,
    login: Option<&Login>,
    server: ServerState,
    watch: &mut dyn RunObserver,
) -> Result<ProbeServer, ClientError> {
    retry_while_busy(watch, server, |watch| {
        let (control, _) = connect::control(address, Transport::Tcp, watch)?;
        request_probing(address, login, control, watch)
    })
}
