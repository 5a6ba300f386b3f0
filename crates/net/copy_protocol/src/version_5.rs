//! What version 5 says otherwise: the words of trunkline 0.3.0. Goes when version 5 is no longer
//! spoken.
//!
//! Its `Sending` says nothing of the rate and of marks (ECN), and what limited the copy as shares
//! of time without the time: that is left out both ways. Its problems have no kind for unfinished
//! files.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use crate::{Message, Problem, ProblemKind, Sending};

/// The number of `Sending`, as an encoded message begins.
pub(crate) const SENDING: u8 = 15;

/// What stands behind that number.
#[derive(Serialize, Deserialize)]
pub(crate) struct OldSending {
    streams: u16,
    rtt: Option<u64>,
    retransmitted_share: Option<f64>,
    binds: Option<String>,
    limited: Option<OldLimited>,
}

#[derive(Serialize, Deserialize)]
struct OldLimited {
    by: String,
    share: f64,
    shares: Vec<(String, f64)>,
    why: String,
    advice: Option<String>,
}

/// The body of a message.
///
/// # Errors
/// Where it asks for what is not known there, and had to be refused before.
pub(crate) fn encode(message: &Message) -> postcard::Result<Vec<u8>> {
    let is_unknown = match message {
        Message::Open(opening) => !opening.newest_options().is_empty(),
        Message::Inodes(_) | Message::Older(_) | Message::Addresses(_) | Message::Chunks { .. } => {
            true
        }
        _ => false,
    };
    if is_unknown {
        return Err(postcard::Error::WontImplement);
    }
    if let Message::Sending(sending, _) = message {
        let old = OldSending {
            streams: sending.streams,
            rtt: sending.rtt,
            retransmitted_share: sending.retransmitted_share,
            binds: sending.binds.clone(),
            limited: None,
        };
        return postcard::to_extend(&old, vec![SENDING]);
    }
    postcard::to_stdvec(&*with_known_problem(message))
}

/// The same, where its problem is of a kind that is not known there.
fn with_known_problem(message: &Message) -> Cow<'_, Message> {
    let known = |problem: &Problem| Problem {
        kind: ProblemKind::NoContent,
        ..problem.clone()
    };
    match message {
        Message::Failed(problem) if problem.kind == ProblemKind::Unfinished => {
            Cow::Owned(Message::Failed(known(problem)))
        }
        Message::LeftOut { name, problem } if problem.kind == ProblemKind::Unfinished => {
            Cow::Owned(Message::LeftOut {
                name: name.clone(),
                problem: known(problem),
            })
        }
        other => Cow::Borrowed(other),
    }
}

impl From<OldSending> for Message {
    fn from(old: OldSending) -> Self {
        let sending = Sending {
            streams: old.streams,
            rate: 0,
            rtt: old.rtt,
            retransmitted_share: old.retransmitted_share,
            binds: old.binds,
            ecn: None,
            mark_echoed_share: None,
        };
        Message::Sending(sending, None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::version::VERSION_BEFORE;
    use crate::{Frames, Incoming, SPOKEN, encode_in};

    /// What trunkline 0.3.0 says: 3 streams, 160 ms, 1 of 4 bytes again, bound by loss; loss for
    /// half of the time, of which it says why.
    const SAID: &[u8] =
        b"\x0f\x03\x01\x80\xd0\xa5\x4c\x01\x00\x00\x00\x00\x00\x00\xd0\x3f\x01\x04loss\
        \x01\x04loss\x00\x00\x00\x00\x00\x00\xe0\x3f\x01\x04link\x00\x00\x00\x00\x00\x00\xe0\x3f\
        \x03why\x00";

    fn sending() -> Sending {
        Sending {
            streams: 3,
            rate: 0,
            rtt: Some(160_000_000),
            retransmitted_share: Some(0.25),
            binds: Some("loss".to_owned()),
            ecn: None,
            mark_echoed_share: None,
        }
    }

    #[test]
    fn what_the_sender_says_is_understood_both_ways() {
        assert_eq!(
            Message::decode(VERSION_BEFORE, SAID.to_vec()),
            Ok(Message::Sending(sending(), None))
        );
        let newer = Sending {
            rate: 7,
            ecn: Some(true),
            mark_echoed_share: Some(0.5),
            ..sending()
        };
        let said = encode(&Message::Sending(newer, None)).unwrap();
        let limited = SAID.iter().position(|byte| *byte == b'l').unwrap() + 4;
        assert_eq!(said, [&SAID[..limited], &[0]].concat());
    }

    #[test]
    fn an_unfinished_file_is_told_as_one_without_content() {
        let problem = |kind| Problem {
            kind,
            file: None,
            what: "what".to_owned(),
            hint: None,
        };
        let left_out = |kind| Message::LeftOut {
            name: "a".to_owned(),
            problem: problem(kind),
        };
        let frame = encode_in(VERSION_BEFORE, &left_out(ProblemKind::Unfinished)).unwrap();
        let read = Frames::of_version(VERSION_BEFORE).next_message(&mut frame.as_slice());
        assert_eq!(read, Ok(Some(left_out(ProblemKind::NoContent))));
    }

    #[test]
    fn everything_else_is_the_same() {
        let message = Message::RateMax(Some(8_000_000));
        let newest = encode_in(SPOKEN.newest, &message);
        assert_eq!(encode_in(VERSION_BEFORE, &message), newest);
    }
}
