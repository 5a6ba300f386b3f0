//! Messages in bytes.

use std::io::{self, ErrorKind, Read, Write};

use serde::Serialize;
use serde::de::DeserializeOwned;
use thiserror::Error;

/// Most bytes of a message: 200 visits with round trips, rates and routes take some 400 KB, and a
/// document of a search some 100 KB.
pub const FRAME_MAX: u32 = 16 << 20;

/// Why a message cannot be sent or read.
#[derive(Debug, Error)]
pub enum FrameError {
    /// The connection broke, or the other end took too long.
    #[error("{}", told(.0))]
    Io(#[from] io::Error),
    /// The peer announced too much.
    #[error("the other end announced a message of {0} bytes, more than {FRAME_MAX}")]
    Long(u32),
    /// This end would send too much.
    #[error("a message of {0} bytes is longer than {FRAME_MAX}")]
    Outgoing(usize),
    /// What came is no message.
    #[error("the other end sent a message that cannot be read: {0}")]
    Malformed(#[from] serde_json::Error),
}

fn told(error: &io::Error) -> String {
    match error.kind() {
        ErrorKind::WouldBlock | ErrorKind::TimedOut => "the other end took too long".to_owned(),
        _ => error.to_string(),
    }
}

/// Sends a message.
pub(crate) fn send(to: &mut impl Write, message: &impl Serialize) -> Result<(), FrameError> {
    let body = serde_json::to_vec(message)?;
    let length = u32::try_from(body.len()).ok();
    let length = length.filter(|length| *length <= FRAME_MAX);
    let length = length.ok_or(FrameError::Outgoing(body.len()))?;
    let mut frame = length.to_be_bytes().to_vec();
    frame.extend(body);
    to.write_all(&frame)?;
    Ok(to.flush()?)
}

/// The next message; `None` where the peer ended cleanly before one.
pub(crate) fn receive<M: DeserializeOwned>(from: &mut impl Read) -> Result<Option<M>, FrameError> {
    let body = receive_body(from)?;
    let message = body.map(|body| serde_json::from_slice(&body));
    Ok(message.transpose()?)
}

/// The bytes of the next message. Memory grows with what came, whatever was announced.
pub(crate) fn receive_body(from: &mut impl Read) -> Result<Option<Vec<u8>>, FrameError> {
    let Some(length) = announced(from)? else {
        return Ok(None);
    };
    if length > FRAME_MAX {
        return Err(FrameError::Long(length));
    }
    let mut body = Vec::new();
    from.take(u64::from(length)).read_to_end(&mut body)?;
    if body.len() < length as usize {
        return Err(io::Error::from(ErrorKind::UnexpectedEof).into());
    }
    Ok(Some(body))
}

fn announced(from: &mut impl Read) -> Result<Option<u32>, FrameError> {
    let mut length = [0; 4];
    let mut filled = 0;
    while filled < length.len() {
        match from.read(&mut length[filled..]) {
            Ok(0) if filled == 0 => return Ok(None),
            Ok(0) => return Err(io::Error::from(ErrorKind::UnexpectedEof).into()),
            Ok(got) => filled += got,
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(Some(u32::from_be_bytes(length)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(length: u32, body: &[u8]) -> Vec<u8> {
        [&length.to_be_bytes()[..], body].concat()
    }

    #[test]
    fn messages_come_back() {
        let mut bytes = Vec::new();
        send(&mut bytes, &"one").unwrap();
        send(&mut bytes, &"two").unwrap();
        let mut from = bytes.as_slice();
        assert_eq!(receive(&mut from).unwrap(), Some("one".to_owned()));
        assert_eq!(receive(&mut from).unwrap(), Some("two".to_owned()));
        assert_eq!(receive::<String>(&mut from).unwrap(), None);
    }

    #[test]
    fn a_message_that_was_cut_is_no_message() {
        let whole = frame(5, b"\"one\"");
        for end in 1..whole.len() {
            assert!(receive::<String>(&mut &whole[..end]).is_err(), "{end}");
        }
    }

    #[test]
    fn what_is_announced_is_bounded() {
        let long = frame(FRAME_MAX + 1, b"");
        let error = receive::<String>(&mut long.as_slice()).unwrap_err();
        let announced = format!("{} bytes, more than {FRAME_MAX}", FRAME_MAX + 1);
        assert!(error.to_string().contains(&announced), "{error}");
    }

    #[test]
    fn nonsense_is_told() {
        let nonsense = frame(3, b"\xff{}");
        let error = receive::<String>(&mut nonsense.as_slice()).unwrap_err();
        assert!(error.to_string().contains("cannot be read"), "{error}");
    }
}
