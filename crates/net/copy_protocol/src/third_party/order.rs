//! What the controller says.

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use crate::{
    CodecError, CopyDirection, Incoming, KEY_LENGTH, MESSAGE_MAX, Opening, ProtocolRule, Selection,
    Token, check_opening, decode_as,
};
use measure_protocol::frame::encode_frame;

/// What the controller says.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub enum Order {
    /// To the destination: a token for this copy and no other.
    Grant(Box<Opening>),
    /// To the source: this copy.
    Push(Box<Push>),
    /// To the source: another bound on the rate, in bits per second; none lifts it.
    RateMax(Option<u64>),
    /// A sign of life.
    Alive,
    /// To the source: the user ended it; what is there can be resumed.
    Cancel,
    /// To the source: this number of streams from now on; none leaves it to the source.
    FixedStreams(Option<u16>),
}

/// A copy from the source to the destination.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Push {
    /// Names at the source, which may have wildcards.
    pub sources: Vec<Vec<u8>>,
    /// The copy: a put. Its list of names, if it has one, is for the source alone.
    pub opening: Opening,
    /// Where the destination listens, the likeliest first, as the source finds it.
    pub receiving: Vec<Receiving>,
    /// BLAKE3 of the destination's certificate, where the controller knows it from ssh.
    pub fingerprint: Option<[u8; KEY_LENGTH]>,
    /// What the destination has granted.
    #[serde(serialize_with = "write_token", deserialize_with = "read_token")]
    pub token: Token,
}

/// Where a destination listens.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Receiving {
    /// A name, or an address without brackets.
    pub host: String,
    /// TCP port.
    pub port: u16,
}

impl Order {
    /// The frame, to be sent.
    ///
    /// # Errors
    /// When it is longer than [`MESSAGE_MAX`].
    pub fn encode(&self) -> Result<Vec<u8>, CodecError> {
        frame(self)
    }
}

impl Push {
    /// Whether all parts are within their bounds: sources as those of a get, the rest as those of a
    /// put.
    ///
    /// # Errors
    /// The first part that is not.
    pub fn check(&self) -> Result<(), ProtocolRule> {
        check_opening(&self.opening)?;
        if self.opening.direction != CopyDirection::Put {
            let value = "get".to_owned();
            let (what, bound) = ("direction of a third-party copy", "the source puts");
            return Err(ProtocolRule::Opening { what, value, bound });
        }
        check_opening(&Opening {
            direction: CopyDirection::Get,
            paths: self.sources.clone(),
            ..self.opening.clone()
        })
    }

    /// The copy as the destination is asked for it.
    pub fn at_destination(opening: &Opening) -> Opening {
        Opening {
            selection: Selection {
                rules: opening.selection.rules.clone(),
                listed: None,
            },
            ..opening.clone()
        }
    }
}

impl Incoming for Order {
    fn decode(_: u16, frame: Vec<u8>) -> Result<Self, CodecError> {
        decode_as(&frame)
    }
}

/// A frame of this protocol.
pub(crate) fn frame<T: Serialize>(value: &T) -> Result<Vec<u8>, CodecError> {
    let body = postcard::to_stdvec(value);
    let body = body.map_err(|why| CodecError::Malformed { length: 0, why })?;
    match body.len() <= MESSAGE_MAX as usize {
        true => Ok(encode_frame(&body)),
        false => Err(CodecError::Outgoing(body.len())),
    }
}

pub(super) fn write_token<S: Serializer>(token: &Token, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_str(&token.text())
}

pub(super) fn read_token<'de, D: Deserializer<'de>>(from: D) -> Result<Token, D::Error> {
    let text = <&str>::deserialize(from)?;
    text.parse().map_err(de::Error::custom)
}
