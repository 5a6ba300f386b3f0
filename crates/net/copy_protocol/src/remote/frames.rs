//! Messages in bytes: a length of four bytes, most significant first, then the message in
//! postcard's encoding; behind a [`Told::Data`](super::Told) the bytes of the file, up to the end
//! of the frame. Behind the frame of an [`Ask::Store`](super::Ask) comes the content of the file,
//! as long as the request says.

use super::{Answer, CHUNK_MAX, Request, Told};
use crate::{CodecError, Incoming, decode_as};
use measure_protocol::frame::FrameReader;

/// Most bytes of a request: two names and little more.
pub const REQUEST_MAX: u32 = 16 << 10;
/// Most bytes of an answer.
pub const ANSWER_MAX: u32 = 256 << 10;

/// Cuts what arrives at the far end into requests. It keeps one unfinished frame and nothing else.
#[derive(Debug)]
pub struct RequestFrames(FrameReader);

impl Default for RequestFrames {
    fn default() -> Self {
        RequestFrames(FrameReader::new(REQUEST_MAX))
    }
}

impl RequestFrames {
    /// Takes bytes from the front of `input`, up to the end of a request.
    ///
    /// # Errors
    /// When the peer announces nothing or too much, or what comes is no request; nothing can be
    /// read from it any more.
    pub fn next(&mut self, input: &mut &[u8]) -> Result<Option<Request>, CodecError> {
        let Some(frame) = self.0.feed(input)? else {
            return Ok(None);
        };
        self.0 = FrameReader::new(REQUEST_MAX);
        decode_as(&frame).map(Some)
    }

    /// Whether a part of a request has come.
    pub fn is_within(&self) -> bool {
        self.0.has_begun()
    }
}

impl Request {
    /// The frame, to be sent.
    ///
    /// # Errors
    /// When it is longer than [`REQUEST_MAX`].
    pub fn encode(&self) -> Result<Vec<u8>, CodecError> {
        framed(self, 0, REQUEST_MAX)
    }
}

/// The frame of an answer without bytes of a file, to be sent.
///
/// # Errors
/// When it is longer than [`ANSWER_MAX`].
pub fn encode_answer(id: u32, told: &Told) -> Result<Vec<u8>, CodecError> {
    framed(&(id, told), 0, ANSWER_MAX)
}

/// What stands before `length` bytes of a file in the frame of an answer.
///
/// # Errors
/// When it is longer than [`ANSWER_MAX`].
pub fn head_of(id: u32, told: &Told, length: usize) -> Result<Vec<u8>, CodecError> {
    framed(&(id, told), length, ANSWER_MAX)
}

impl Incoming for Answer {
    fn decode(_: u16, frame: Vec<u8>) -> Result<Self, CodecError> {
        decode_answer(frame)
    }
}

/// Reads the body of a frame.
///
/// # Errors
/// When it is no answer, or has more behind it than it may.
pub fn decode_answer(mut body: Vec<u8>) -> Result<Answer, CodecError> {
    let length = body.len();
    let read = postcard::take_from_bytes::<(u32, Told)>(&body);
    let ((id, told), rest) = read.map_err(|why| CodecError::Malformed { length, why })?;
    let surplus = rest.len();
    let most = match told {
        Told::Data { .. } => CHUNK_MAX as usize,
        _ => 0,
    };
    if surplus > most {
        return Err(CodecError::Surplus(surplus - most));
    }
    let told = match told {
        Told::Failed(failure) => Told::Failed(failure.shown()),
        told => told,
    };
    let data = body.split_off(length - surplus);
    Ok(Answer { id, told, data })
}

fn framed<T: serde::Serialize>(value: &T, behind: usize, most: u32) -> Result<Vec<u8>, CodecError> {
    let body = postcard::to_extend(value, vec![0; 4]);
    let mut frame = body.map_err(|why| CodecError::Malformed { length: 0, why })?;
    let length = frame.len() - 4 + behind;
    match u32::try_from(length).ok().filter(|length| *length <= most) {
        Some(announced) => {
            frame[..4].copy_from_slice(&announced.to_be_bytes());
            Ok(frame)
        }
        None => Err(CodecError::Outgoing(length)),
    }
}
