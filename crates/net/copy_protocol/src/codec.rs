//! Messages in bytes: a length of four bytes, most significant first, then the message in
//! postcard's encoding.
//!
//! The buffer of a frame grows with what arrived, whatever was announced. Before the peer has shown
//! who it is a frame has no lists. After that, serde puts at most 1 MiB aside for a list before its
//! entries are read, and a message takes at most about 16 times its length on the wire (a
//! [`Want`](super::Want) of 2 bytes takes 32): 4 MiB.

use thiserror::Error;

use super::version::VERSION_BEFORE;
use super::version_5::{self, OldSending};
use super::{FilePart, Kept, Message, SPOKEN};
use measure_protocol::frame::{FrameError, FrameReader, encode_frame};

/// Most bytes of a frame before the peer has shown who it is.
pub const HELLO_MAX: u32 = 1 << 10;
/// Most bytes of a message.
pub const MESSAGE_MAX: u32 = 256 << 10;

/// Bytes that are no message.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum CodecError {
    /// Announced nothing.
    #[error("the peer announced a message of 0 bytes")]
    Empty,
    /// Announced too much.
    #[error("{}", measure_protocol::frame::too_long("a message", *length, *bound))]
    TooLong {
        /// What was announced, in bytes.
        length: u32,
        /// What is accepted, in bytes.
        bound: u32,
    },
    /// Cannot be read.
    #[error("the peer sent a message of {length} bytes that cannot be read: {why}")]
    Malformed {
        /// Its length in bytes.
        length: usize,
        /// What postcard says.
        why: postcard::Error,
    },
    /// More than the message.
    #[error("the peer sent a message with {0} bytes too many")]
    Surplus(usize),
    /// We would send what the peer has to refuse.
    #[error("a message of {0} bytes is longer than {MESSAGE_MAX}")]
    Outgoing(usize),
}

impl From<FrameError> for CodecError {
    fn from(error: FrameError) -> Self {
        match error {
            FrameError::Empty => CodecError::Empty,
            FrameError::TooLong { length, bound } => CodecError::TooLong { length, bound },
        }
    }
}

/// What the peer says on a control connection: [`Message`] of copies, or what another protocol has
/// in frames of at most [`MESSAGE_MAX`] bytes.
pub trait Incoming: Sized + Send + 'static {
    /// Reads the body of a frame of this version of the copy protocol.
    ///
    /// # Errors
    /// When it is none.
    fn decode(version: u16, frame: Vec<u8>) -> Result<Self, CodecError>;
}

impl Incoming for Message {
    fn decode(version: u16, frame: Vec<u8>) -> Result<Self, CodecError> {
        match version {
            VERSION_BEFORE => decode_before(&frame),
            _ => decode(&frame),
        }
    }
}

/// Cuts what arrives into frames. It keeps one unfinished frame and nothing else.
#[derive(Debug)]
pub struct Frames {
    version: u16,
    bound: u32,
    reader: FrameReader,
}

impl Frames {
    /// For the two frames of the handshake.
    pub fn hello() -> Self {
        Frames::new(SPOKEN.newest, HELLO_MAX)
    }

    /// For what follows it, in the newest version.
    pub fn messages() -> Self {
        Frames::of_version(SPOKEN.newest)
    }

    /// The same in this version.
    pub fn of_version(version: u16) -> Self {
        Frames::new(version, MESSAGE_MAX)
    }

    fn new(version: u16, bound: u32) -> Self {
        Frames {
            version,
            bound,
            reader: FrameReader::new(bound),
        }
    }

    /// Takes bytes from the front of `input`, up to the end of a frame; its body once it is
    /// complete.
    ///
    /// # Errors
    /// When the peer announces nothing or too much; nothing can be read from it any more.
    pub fn next_frame(&mut self, input: &mut &[u8]) -> Result<Option<Vec<u8>>, CodecError> {
        let frame = self.reader.feed(input)?;
        if frame.is_some() {
            self.reader = FrameReader::new(self.bound);
        }
        Ok(frame)
    }

    /// The same, read as a message.
    ///
    /// # Errors
    /// As [`Frames::next_frame`], and when the frame is no message.
    pub fn next_message<M: Incoming>(
        &mut self,
        input: &mut &[u8],
    ) -> Result<Option<M>, CodecError> {
        let version = self.version;
        let frame = self.next_frame(input)?;
        frame.map(|frame| M::decode(version, frame)).transpose()
    }
}

/// The frame of a message, to be sent. A list that is too long for one goes as several messages,
/// one behind the other.
///
/// # Errors
/// When one entry of a list, or what is no list, is longer than [`MESSAGE_MAX`].
/// ```
/// use copy_protocol::{Frames, Message, encode};
/// let frame = encode(&Message::RateMax(Some(1_000_000))).unwrap();
/// let mut input = frame.as_slice();
/// let message = Frames::messages().next_message(&mut input).unwrap();
/// assert_eq!(message, Some(Message::RateMax(Some(1_000_000))));
/// ```
pub fn encode(message: &Message) -> Result<Vec<u8>, CodecError> {
    encode_in(SPOKEN.newest, message)
}

/// The same in this version.
///
/// # Errors
/// As [`encode`].
pub fn encode_in(version: u16, message: &Message) -> Result<Vec<u8>, CodecError> {
    let body = match version {
        VERSION_BEFORE => version_5::encode(message),
        _ => postcard::to_stdvec(message).and_then(|body| with_newest(message, body)),
    };
    let body = body.map_err(|why| CodecError::Malformed { length: 0, why })?;
    if body.len() <= MESSAGE_MAX as usize {
        return Ok(encode_frame(&body));
    }
    let (first, second) = halves(message).ok_or(CodecError::Outgoing(body.len()))?;
    let mut frames = encode_in(version, &first)?;
    frames.extend(encode_in(version, &second)?);
    Ok(frames)
}

/// Behind an opening stands all that the version before does not know, where it asks for any of it:
/// what else is kept, whether pieces of older versions are offered, pairs of addresses, whether
/// the far end is to tell its own, and the part of files that is copied.
fn with_newest(message: &Message, body: Vec<u8>) -> postcard::Result<Vec<u8>> {
    let Message::Open(opening) = message else {
        return Ok(body);
    };
    let (kept, all) = (opening.attributes.kept, opening.asks_addresses);
    let newest: Newest = (kept, opening.delta, opening.pairs, all, opening.part);
    match newest == (Kept::NOTHING, false, 0, false, None) {
        true => Ok(body),
        false => postcard::to_extend(&newest, body),
    }
}

/// What stands behind an opening.
type Newest = (Kept, bool, u16, bool, Option<FilePart>);

/// The two halves of a list; `None` where there are none.
fn halves(message: &Message) -> Option<(Message, Message)> {
    match message {
        Message::Entries(list) => split(list, Message::Entries),
        Message::Wants(list) => split(list, Message::Wants),
        Message::Received(list) => split(list, Message::Received),
        Message::FileEnds(list) => split(list, Message::FileEnds),
        Message::Published(list) => split(list, Message::Published),
        Message::Removed(list) => split(list, Message::Removed),
        Message::Inodes(list) => split(list, Message::Inodes),
        Message::Older(list) => split(list, Message::Older),
        _ => None,
    }
}

fn split<T: Clone>(list: &[T], wrap: fn(Vec<T>) -> Message) -> Option<(Message, Message)> {
    let (first, second) = list.split_at(list.len() / 2);
    (!first.is_empty()).then(|| (wrap(first.to_vec()), wrap(second.to_vec())))
}

/// Reads the body of a frame.
///
/// # Errors
/// When it is no message, or more than one.
pub fn decode(body: &[u8]) -> Result<Message, CodecError> {
    let length = body.len();
    match postcard::take_from_bytes(body) {
        Ok((message, [])) => Ok(message),
        Ok((Message::Open(mut opening), newest)) => {
            let newest: Newest = decode_as(newest)?;
            (
                opening.attributes.kept,
                opening.delta,
                opening.pairs,
                opening.asks_addresses,
                opening.part,
            ) = newest;
            Ok(Message::Open(opening))
        }
        Ok((_, surplus)) => Err(CodecError::Surplus(surplus.len())),
        Err(why) => Err(CodecError::Malformed { length, why }),
    }
}

/// The same in the version before.
fn decode_before(body: &[u8]) -> Result<Message, CodecError> {
    match body.split_first() {
        Some((&version_5::SENDING, rest)) => decode_as::<OldSending>(rest).map(Message::from),
        _ => decode_as(body),
    }
}

pub(crate) fn decode_as<'a, T: serde::Deserialize<'a>>(body: &'a [u8]) -> Result<T, CodecError> {
    let length = body.len();
    match postcard::take_from_bytes(body) {
        Ok((value, [])) => Ok(value),
        Ok((_, surplus)) => Err(CodecError::Surplus(surplus.len())),
        Err(why) => Err(CodecError::Malformed { length, why }),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::{CopyDirection, CopyOptions, Opening, Range, Want};

    fn received(pieces: u64) -> Message {
        let range = |at: u64| Range {
            file: 1,
            start: at << 20,
            length: 1 << 20,
        };
        Message::Received((0..pieces).map(range).collect())
    }

    #[test]
    fn messages_one_behind_the_other_come_apart() {
        let sent = [Message::Bye, received(3), Message::Streams(4)];
        let bytes: Vec<u8> = sent.iter().flat_map(|one| encode(one).unwrap()).collect();
        for step in [1, 2, 5, bytes.len()] {
            let mut frames = Frames::messages();
            let mut heard: Vec<Message> = Vec::new();
            for mut input in bytes.chunks(step) {
                while let Some(message) = frames.next_message(&mut input).unwrap() {
                    heard.push(message);
                }
            }
            assert_eq!(heard, sent, "{step} at a time");
        }
    }

    #[test]
    fn a_length_beyond_the_bound_is_refused_before_anything_of_it_comes() {
        let announce = |length: u32| length.to_be_bytes();
        let refused = Frames::hello().next_frame(&mut &announce(HELLO_MAX + 1)[..]);
        let (length, bound) = (HELLO_MAX + 1, HELLO_MAX);
        assert_eq!(refused, Err(CodecError::TooLong { length, bound }));
        assert_eq!(
            Frames::messages().next_frame(&mut &announce(length)[..]),
            Ok(None)
        );
        let zero = Frames::messages().next_frame(&mut &[0; 4][..]);
        assert_eq!(zero, Err(CodecError::Empty));
    }

    #[test]
    fn a_vector_that_claims_more_than_came_is_refused() {
        // Message::Wants with 2^32 - 1 entries, of which none follows.
        let first = postcard::to_stdvec(&Message::Wants(vec![Want::Nothing(0)])).unwrap()[0];
        let body = [first, 0xFF, 0xFF, 0xFF, 0xFF, 0x0F];
        assert!(matches!(decode(&body), Err(CodecError::Malformed { .. })));
        let mut body = postcard::to_stdvec(&Message::Bye).unwrap();
        body.push(0);
        assert_eq!(decode(&body), Err(CodecError::Surplus(1)));
    }

    #[test]
    fn a_long_list_goes_as_several_messages() {
        let message = received(60_000);
        let bytes = encode(&message).unwrap();
        let (mut frames, mut input) = (Frames::messages(), bytes.as_slice());
        let mut together = Vec::new();
        let mut count = 0;
        while let Some(Message::Received(part)) = frames.next_message(&mut input).unwrap() {
            together.extend(part);
            count += 1;
        }
        assert_eq!(Message::Received(together), message);
        assert_eq!(
            count, 4,
            "60,000 ranges of 8 to 12 bytes each, 256 KiB in a message"
        );
    }

    #[test]
    fn what_the_peer_would_refuse_is_not_sent() {
        let parts = vec![(u64::MAX, u64::MAX); 20_000];
        let error = encode(&Message::Wants(vec![Want::Rest(0, parts)])).unwrap_err();
        assert!(matches!(error, CodecError::Outgoing(_)));
    }

    #[test]
    fn what_stands_behind_an_opening_comes_back() {
        for (hard_links, delta, pairs, all) in [
            (false, false, 0, false),
            (true, false, 0, false),
            (false, true, 0, false),
            (false, false, 2, false),
            (false, false, 0, true),
            (true, true, 16, true),
        ] {
            let mut options = CopyOptions {
                delta,
                ..CopyOptions::default()
            };
            options.attributes.kept.hard_links = hard_links;
            let mut opening = Opening::new(CopyDirection::Get, vec![b"a".to_vec()], &options);
            opening.pairs = pairs;
            opening.asks_addresses = all;
            opening.part = all.then_some(FilePart {
                index: 7,
                length: FilePart::LENGTH_MIN,
            });
            let is_new = hard_links || delta || pairs > 0 || all;
            let message = Message::Open(Box::new(opening));
            let frame = encode(&message).unwrap();
            assert_eq!(encode_in(VERSION_BEFORE, &message).is_ok(), !is_new);
            assert_eq!(decode(&frame[4..]), Ok(message));
        }
    }

    proptest! {
        #[test]
        fn any_bytes_are_a_message_or_an_error(body: Vec<u8>) {
            if let Ok(message) = decode(&body) {
                let bytes = encode(&message).unwrap();
                // Bytes, not messages: a share may be no number.
                prop_assert_eq!(encode(&decode(&bytes[4..]).unwrap()), Ok(bytes));
            }
        }
    }
}
