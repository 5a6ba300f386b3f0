//! What is said outside of a session, and of what went wrong.

use std::time::{Duration, Instant};

use copy_net::{Conversation, ConversationError};
use copy_protocol::pipe::PipeMessage;
use copy_protocol::{Problem, ProblemKind};
use units::printable;

use crate::session::SessionEnd;
use files::problem;

/// Longest wait before a stop is noticed.
const TICK: Duration = Duration::from_millis(100);
/// How long goodbyes may take.
pub(super) const GOODBYE: Duration = Duration::from_secs(2);
/// Characters of a problem of the other end.
const TEXT: usize = 600;

/// Says it; an end that is gone is noticed where it is heard.
pub(crate) fn say(conversation: &Conversation<PipeMessage>, message: &PipeMessage) {
    if let Ok(frame) = message.encode() {
        let _ = conversation.send_frame(frame);
    }
}

/// Says why there will be no pipe, and closes.
pub(crate) fn refuse(conversation: Conversation<PipeMessage>, problem: Problem) {
    say(&conversation, &PipeMessage::Failed(problem));
    conversation.close(GOODBYE);
}

/// The next message that is no sign of life; `stopped` is asked ten times a second.
pub(crate) fn await_message(
    conversation: &Conversation<PipeMessage>,
    timeout: Duration,
    stopped: &dyn Fn() -> Option<SessionEnd>,
) -> Result<PipeMessage, SessionEnd> {
    let until = Instant::now() + timeout;
    while Instant::now() < until {
        if let Some(end) = stopped() {
            return Err(end);
        }
        match conversation.receive(TICK) {
            Ok(None | Some(PipeMessage::Alive)) => {}
            Ok(Some(PipeMessage::Cancel)) => return Err(SessionEnd::Cancelled),
            Ok(Some(PipeMessage::Failed(problem))) => {
                return Err(SessionEnd::Problem(safe(problem)));
            }
            Ok(Some(message)) => return Ok(message),
            Err(ConversationError::Codec(error)) => return Err(broken(error.to_string())),
            Err(error) => return Err(SessionEnd::Lost(error.to_string())),
        }
    }
    Err(SessionEnd::Lost("the other end does not answer".to_owned()))
}

/// The other end broke the protocol.
pub(super) fn broken_problem(why: String) -> Problem {
    problem(
        ProblemKind::Protocol,
        format!("the other end broke the protocol: {why}"),
    )
}

/// The same as the end of a session.
pub(super) fn broken(why: String) -> SessionEnd {
    SessionEnd::Problem(broken_problem(why))
}

/// What the other end says of a problem, short and fit to be printed.
pub(super) fn safe(problem: Problem) -> Problem {
    Problem {
        file: None,
        what: printable(&problem.what, TEXT),
        hint: problem.hint.map(|hint| printable(&hint, TEXT)),
        ..problem
    }
}
