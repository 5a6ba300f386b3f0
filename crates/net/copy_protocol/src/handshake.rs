//! Authentication: both ends prove that they know the same secret, on this TLS connection.
//!
//! The far end's certificate is made up by itself, so TLS alone says nothing about who answers.
//! Both ends therefore prove that they know a [`Secret`](super::Secret) by a keyed hash over a
//! value that TLS exports ([`EXPORTER_LABEL`], RFC 8446 section 7.5), which two connections never
//! share: a machine in the middle has two connections and two values, and a proof made for one is
//! worth nothing on the other. This is channel binding in the sense of RFC 5056.
//!
//! One frame goes each way, at most [`HELLO_MAX`](super::HELLO_MAX) bytes long:
//!
//! | bytes | what | |
//! |---|---|---|
//! | 0..2 | `TL` | the same in all versions |
//! | 2..3 | `N`, `A`, `G`, `P`, `W` near's, `F` far's hello, `R` refusal, `B` full | in all |
//! | 3..5 | version, most significant byte first | the same in all versions |
//! | 5.. | the rest in postcard's encoding | a refusal's is the same in all versions |
//!
//! The version is the one that both speak from then on; a refusal that has another one is for that
//! reason, and has the newest of the far end. The near end's hello says what
//! it wants: `N` a copy, `A` access to files ([`crate::remote`]), `G` and `P` the two halves of a
//! third-party copy ([`crate::third_party`]), `W` a pipe ([`crate::pipe`]). The last four have the
//! version of their protocol behind the proof.

use std::fmt;

use serde::{Deserialize, Serialize};
use units::printable;

use super::codec::decode_as;
use super::secret::{Exporter, KEY_LENGTH, Key, Proof};
use super::{CodecError, KeyName, Rights, SPOKEN, SessionKey, Versions};
use crate::pipe::PIPE_VERSION;
use crate::remote::REMOTE_VERSION;
use crate::third_party::THIRD_PARTY_VERSION;
use measure_protocol::frame::encode_frame;

mod error;

pub use error::HandshakeError;

/// What TLS is asked to export on each connection, with no context value.
pub const EXPORTER_LABEL: &[u8] = b"EXPORTER-trunkline-copy";

const SOFTWARE_CHARACTERS: usize = 64;
/// Of four bytes each at most, so that both fit into a frame of the handshake.
const WHAT_CHARACTERS: usize = 160;
const HINT_CHARACTERS: usize = 80;
const PREFIX: usize = 5;

#[derive(Serialize, Deserialize)]
struct NearHello {
    software: String,
    key_name: KeyName,
    proof: [u8; KEY_LENGTH],
}

/// The same for what has a version of its own.
#[derive(Serialize, Deserialize)]
struct NearVersionedHello {
    hello: NearHello,
    version: u16,
}

/// What a control connection is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Purpose {
    /// One copy: messages of [this crate](crate).
    Copy,
    /// Access to files: messages of [`crate::remote`].
    Remote,
    /// A token for one copy that another host sends to here: messages of [`crate::third_party`].
    Grant,
    /// A copy from here to another host, commanded from there: messages of
    /// [`crate::third_party`].
    Push,
    /// One stream of bytes: messages of [`crate::pipe`].
    Pipe,
}

#[derive(Serialize, Deserialize)]
struct FarHello {
    software: String,
    rights: Rights,
    proof: [u8; KEY_LENGTH],
}

/// Why the far end does not go on, told to people.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Refusal {
    /// What is wrong.
    pub what: String,
    /// The next step.
    pub hint: Option<String>,
}

/// The far end has no place now, told to a near end that it knows.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NoPlace {
    /// Which bound is reached.
    pub what: String,
    /// How many wait before this one.
    pub ahead: u16,
    /// Seconds until a place may be free, by what the copies that hold places have left; none where
    /// that is not known.
    pub seconds: Option<u32>,
}

/// Both ends know who the other is.
#[derive(Debug, Clone)]
pub struct Admitted {
    /// The version of the protocol that both ends speak.
    pub version: u16,
    /// The other end's program and version, fit to be printed.
    pub software: String,
    /// The secret by which they know each other.
    pub key_name: KeyName,
    /// What that allows the near end.
    pub rights: Rights,
    /// What the connection is for.
    pub purpose: Purpose,
    /// For the streams of this conversation.
    pub session_key: SessionKey,
}

/// The near end, between its hello and the answer.
pub struct NearHandshake {
    version: u16,
    key: Key,
    key_name: KeyName,
    exporter: Exporter,
    purpose: Purpose,
}

impl fmt::Debug for NearHandshake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "NearHandshake({})", self.key_name)
    }
}

impl NearHandshake {
    /// Begins for a copy; the bytes are to be sent. `software` is told to people at the other end.
    pub fn new(key_name: KeyName, key: Key, exporter: Exporter, software: &str) -> (Self, Vec<u8>) {
        let purpose = Purpose::Copy;
        NearHandshake::with_purpose(SPOKEN.newest, purpose, key_name, key, exporter, software)
    }

    /// The same in this version, for what the connection is for.
    pub fn with_purpose(
        version: u16,
        purpose: Purpose,
        key_name: KeyName,
        key: Key,
        exporter: Exporter,
        software: &str,
    ) -> (Self, Vec<u8>) {
        let hello = NearHello {
            software: printable(software, SOFTWARE_CHARACTERS),
            key_name: key_name.clone(),
            proof: *near_proof(&key, &exporter, purpose).as_bytes(),
        };
        let versioned = |kind, hello, own| {
            let hello = NearVersionedHello {
                hello,
                version: own,
            };
            frame(version, kind, &hello)
        };
        let frame = match purpose {
            Purpose::Copy => frame(version, b'N', &hello),
            Purpose::Remote => versioned(b'A', hello, REMOTE_VERSION),
            Purpose::Grant => versioned(b'G', hello, THIRD_PARTY_VERSION),
            Purpose::Push => versioned(b'P', hello, THIRD_PARTY_VERSION),
            Purpose::Pipe => versioned(b'W', hello, PIPE_VERSION),
        };
        let handshake = NearHandshake {
            version,
            key,
            key_name,
            exporter,
            purpose,
        };
        (handshake, frame)
    }

    /// Reads the answer's frame, without its length.
    ///
    /// # Errors
    /// When the far end refuses, speaks another version, or does not know the secret.
    pub fn on_answer(self, frame: &[u8]) -> Result<Admitted, HandshakeError> {
        let (theirs, kind, body) = open(frame)?;
        let ours = self.version;
        match kind {
            _ if theirs != ours => Err(HandshakeError::Version { ours, theirs }),
            b'R' => Err(HandshakeError::Refused(decode_as::<Refusal>(body)?.shown())),
            b'B' => Err(HandshakeError::NoPlace(decode_as::<NoPlace>(body)?.shown())),
            b'F' => self.on_hello(decode_as(body)?),
            _ => Err(HandshakeError::Stranger),
        }
    }

    fn on_hello(self, hello: FarHello) -> Result<Admitted, HandshakeError> {
        let expected = far_proof(&self.key, &self.exporter, hello.rights, self.purpose);
        if Proof::from_bytes(hello.proof) != expected {
            return Err(HandshakeError::NotTheFarEnd(self.key_name));
        }
        Ok(Admitted {
            version: self.version,
            software: printable(&hello.software, SOFTWARE_CHARACTERS),
            rights: hello.rights,
            purpose: self.purpose,
            session_key: SessionKey::new(&self.key, &self.exporter),
            key_name: self.key_name,
        })
    }
}

/// The far end's whole part: reads the near end's frame, without its length, and answers.
///
/// * `find`: the key of a name and what it allows.
/// * Returns who is there and the bytes to send; or what to note of it and the bytes to send before
///   closing.
///
/// An unknown name and a wrong secret are answered alike, after the same work.
///
/// # Errors
/// When the near end is refused.
pub fn answer_hello(
    frame: &[u8],
    exporter: &Exporter,
    software: &str,
    find: impl FnOnce(&KeyName) -> Option<(Key, Rights)>,
) -> Result<(Admitted, Vec<u8>), (HandshakeError, Vec<u8>)> {
    answer_in(SPOKEN, frame, exporter, software, find)
}

fn answer_in(
    spoken: Versions,
    frame: &[u8],
    exporter: &Exporter,
    software: &str,
    find: impl FnOnce(&KeyName) -> Option<(Key, Rights)>,
) -> Result<(Admitted, Vec<u8>), (HandshakeError, Vec<u8>)> {
    let (admitted, key) = admit(spoken, frame, exporter, find).map_err(|error| {
        let said = open(frame).map_or(spoken.newest, |(version, ..)| version);
        let version = match spoken.has(said) {
            true => said,
            false => spoken.newest,
        };
        let answer = refusal(version, &told(&error));
        (error, answer)
    })?;
    let hello = FarHello {
        software: printable(software, SOFTWARE_CHARACTERS),
        rights: admitted.rights,
        proof: *far_proof(&key, exporter, admitted.rights, admitted.purpose).as_bytes(),
    };
    let answer = self::frame(admitted.version, b'F', &hello);
    Ok((admitted, answer))
}

/// The frame of a refusal in that version, for what the far end finds wrong besides the handshake:
/// it is full, say.
pub fn refusal(version: u16, refusal: &Refusal) -> Vec<u8> {
    frame(version, b'R', &refusal.shown())
}

/// The frame that says in that version that there is no place now.
pub fn no_place(version: u16, no_place: &NoPlace) -> Vec<u8> {
    frame(version, b'B', &no_place.shown())
}

impl NoPlace {
    /// Short and fit to be printed.
    fn shown(&self) -> NoPlace {
        NoPlace {
            what: printable(&self.what, WHAT_CHARACTERS),
            ahead: self.ahead,
            seconds: self.seconds,
        }
    }
}

impl Refusal {
    /// Short and fit to be printed.
    fn shown(&self) -> Refusal {
        let hint = self.hint.as_deref();
        Refusal {
            what: printable(&self.what, WHAT_CHARACTERS),
            hint: hint.map(|hint| printable(hint, HINT_CHARACTERS)),
        }
    }
}

fn admit(
    spoken: Versions,
    frame: &[u8],
    exporter: &Exporter,
    find: impl FnOnce(&KeyName) -> Option<(Key, Rights)>,
) -> Result<(Admitted, Key), HandshakeError> {
    let (version, kind, body) = open(frame)?;
    if !spoken.has(version) {
        let (ours, theirs) = (spoken.newest, version);
        return Err(HandshakeError::Version { ours, theirs });
    }
    let (hello, purpose) = read_hello(kind, body)?;
    let found = find(&hello.key_name);
    let known = found.is_some();
    let nothing = Rights {
        read: false,
        write: false,
    };
    let (key, rights) = found.unwrap_or_else(|| (Key::without_owner(), nothing));
    let proved = near_proof(&key, exporter, purpose) == Proof::from_bytes(hello.proof);
    if !(known & proved) {
        return Err(HandshakeError::NotAdmitted(hello.key_name));
    }
    let admitted = Admitted {
        version,
        software: printable(&hello.software, SOFTWARE_CHARACTERS),
        key_name: hello.key_name,
        rights,
        purpose,
        session_key: SessionKey::new(&key, exporter),
    };
    Ok((admitted, key))
}

fn read_hello(kind: u8, body: &[u8]) -> Result<(NearHello, Purpose), HandshakeError> {
    match (kind, body) {
        (b'N', body) => Ok((decode_as(body)?, Purpose::Copy)),
        (b'A', body) => Ok((read_versioned(body, Purpose::Remote)?, Purpose::Remote)),
        (b'G', body) => Ok((read_versioned(body, Purpose::Grant)?, Purpose::Grant)),
        (b'P', body) => Ok((read_versioned(body, Purpose::Push)?, Purpose::Push)),
        (b'W', body) => Ok((read_versioned(body, Purpose::Pipe)?, Purpose::Pipe)),
        _ => Err(HandshakeError::Stranger),
    }
}

fn read_versioned(body: &[u8], purpose: Purpose) -> Result<NearHello, HandshakeError> {
    // The hello first: what stands before the version is the same in all of them.
    let (hello, rest): (NearHello, _) = postcard::take_from_bytes(body).map_err(|why| {
        let length = body.len();
        CodecError::Malformed { length, why }
    })?;
    let theirs = decode_as::<u16>(rest)?;
    match purpose {
        Purpose::Copy => Ok(hello),
        Purpose::Remote if theirs != REMOTE_VERSION => Err(HandshakeError::RemoteVersion {
            ours: REMOTE_VERSION,
            theirs,
        }),
        Purpose::Grant | Purpose::Push if theirs != THIRD_PARTY_VERSION => {
            Err(HandshakeError::ThirdPartyVersion {
                ours: THIRD_PARTY_VERSION,
                theirs,
            })
        }
        Purpose::Pipe if theirs != PIPE_VERSION => Err(HandshakeError::PipeVersion {
            ours: PIPE_VERSION,
            theirs,
        }),
        Purpose::Remote | Purpose::Grant | Purpose::Push | Purpose::Pipe => Ok(hello),
    }
}

/// What the near end is told; not the details of a parser, which would help an attacker only.
fn told(error: &HandshakeError) -> Refusal {
    let (what, hint) = match error {
        HandshakeError::Stranger | HandshakeError::Codec(_) => {
            ("this is no hello of trunkline copy".to_owned(), None)
        }
        // The sides are the other way round there.
        HandshakeError::Version { ours, theirs } => {
            let seen = HandshakeError::Version {
                ours: *theirs,
                theirs: *ours,
            };
            (seen.to_string(), seen.hint())
        }
        HandshakeError::RemoteVersion { ours, theirs } => {
            let seen = HandshakeError::RemoteVersion {
                ours: *theirs,
                theirs: *ours,
            };
            (seen.to_string(), seen.hint())
        }
        HandshakeError::ThirdPartyVersion { ours, theirs } => {
            let seen = HandshakeError::ThirdPartyVersion {
                ours: *theirs,
                theirs: *ours,
            };
            (seen.to_string(), seen.hint())
        }
        HandshakeError::PipeVersion { ours, theirs } => {
            let seen = HandshakeError::PipeVersion {
                ours: *theirs,
                theirs: *ours,
            };
            (seen.to_string(), seen.hint())
        }
        other => (other.to_string(), other.hint()),
    };
    Refusal { what, hint }
}

fn near_proof(key: &Key, exporter: &Exporter, purpose: Purpose) -> Proof {
    key.proof(&[b"near", exporter, purpose.word()])
}

impl Purpose {
    /// Behind what is proved, so that a proof is worth something for one purpose only.
    fn word(self) -> &'static [u8] {
        match self {
            Purpose::Copy => b"",
            Purpose::Remote => b"files",
            Purpose::Grant => b"grant",
            Purpose::Push => b"push",
            Purpose::Pipe => b"pipe",
        }
    }
}

/// Covers the rights, so that nothing of the answer is believed without proof.
fn far_proof(key: &Key, exporter: &Exporter, rights: Rights, purpose: Purpose) -> Proof {
    let rights = [u8::from(rights.read), u8::from(rights.write)];
    key.proof(&[b"far", exporter, &rights, purpose.word()])
}

fn frame<T: Serialize>(version: u16, kind: u8, body: &T) -> Vec<u8> {
    let mut bytes = vec![b'T', b'L', kind];
    bytes.extend_from_slice(&version.to_be_bytes());
    let body = postcard::to_stdvec(body).expect("strings and arrays always have an encoding");
    bytes.extend_from_slice(&body);
    encode_frame(&bytes)
}

/// Version, kind and body.
fn open(frame: &[u8]) -> Result<(u16, u8, &[u8]), HandshakeError> {
    let Some((&[b'T', b'L', kind, high, low], body)) = frame.split_first_chunk::<PREFIX>() else {
        return Err(HandshakeError::Stranger);
    };
    Ok((u16::from_be_bytes([high, low]), kind, body))
}

#[cfg(test)]
mod tests;
