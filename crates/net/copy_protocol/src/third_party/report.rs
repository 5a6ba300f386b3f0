//! What the controller hears: of the destination its token, of the source how far the copy is.

use serde::{Deserialize, Serialize};
use units::printable;

use super::order::{frame, read_token, write_token};
use crate::{
    CodecError, HASH_LENGTH, Incoming, Limited, Name, NoPlace, PATH_MAX, Problem, Sending, Token,
    decode_as,
};

/// Most characters of a text for people.
const TEXT_CHARACTERS: usize = 500;

/// What the controller hears.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub enum Report {
    /// Of the destination: what opens the copy, once, until some minutes from now.
    #[serde(serialize_with = "write_token", deserialize_with = "read_token")]
    Granted(Token),
    /// A sign of life.
    Alive,
    /// Of the source, as all that follows: the destination answered.
    Connected {
        /// Its address.
        peer: String,
        /// Smallest round trip of the handshake, in nanoseconds.
        rtt: Option<u64>,
    },
    /// All there is to copy is known.
    Planned {
        /// Regular files.
        files: u64,
        /// Folders.
        folders: u64,
        /// Symbolic links.
        links: u64,
        /// Bytes of all files.
        bytes: u64,
        /// Bytes that are there already.
        present: u64,
    },
    /// Where it stands, twice a second.
    Standing(Box<Standing>),
    /// A file or link has its final name.
    Published {
        /// Below the destination.
        name: Name,
        /// Its size.
        bytes: u64,
        /// BLAKE3 of its content; none of a link.
        digest: Option<[u8; HASH_LENGTH]>,
    },
    /// A file was there already.
    Skipped {
        /// Below the destination.
        name: Name,
        /// Its size.
        bytes: u64,
    },
    /// A dry run would copy it.
    WouldCopy {
        /// Below the destination.
        name: Name,
        /// Bytes that would be sent.
        bytes: u64,
    },
    /// Something that the sources do not have was removed; a folder has a `/` at its end.
    Removed(String),
    /// Something could not be copied, or is left out.
    Failed {
        /// Below the destination; a folder has a `/` at its end.
        name: String,
        /// Why.
        problem: Problem,
    },
    /// The number of streams changed.
    Steered {
        /// Streams from now on.
        streams: u16,
        /// Why.
        why: String,
    },
    /// The last word.
    Ended {
        /// How.
        end: End,
        /// What was done.
        totals: Box<Totals>,
    },
}

/// Where a copy stands.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Standing {
    /// Bytes that the destination has.
    pub done: u64,
    /// Bytes of all files found so far.
    pub total: u64,
    /// Whether all files are found.
    pub total_is_known: bool,
    /// Files that have their final name.
    pub files_done: u64,
    /// Files found so far.
    pub files_total: u64,
    /// How the streams fare.
    pub sending: Sending,
}

/// What a source did at one command.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Totals {
    /// Folders made.
    pub folders: u64,
    /// Names that share their file with another one.
    pub linked: u32,
    /// Bytes of files that arrived, without holes and before compression.
    pub sent: u64,
    /// Bytes of files that are holes.
    pub holes: u64,
    /// Bytes on the streams.
    pub on_wire: u64,
    /// Bytes that had to be sent twice.
    pub sent_again: u64,
    /// Streams that were replaced.
    pub streams_replaced: u32,
    /// Streams that carried most of it.
    pub streams: u16,
    /// What limited the copy.
    pub limited: Option<Limited>,
}

/// How the source's part ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum End {
    /// Everything is copied, or was told as failed.
    Done,
    /// It cannot be done as it was asked for.
    Problem(Problem),
    /// The destination is gone or cannot be reached; another command goes on.
    Lost(String),
    /// The destination has no place now.
    NoPlace(NoPlace),
    /// A user ended it.
    Cancelled,
}

impl Report {
    /// The frame, to be sent.
    ///
    /// # Errors
    /// When it is longer than a message may be.
    pub fn encode(&self) -> Result<Vec<u8>, CodecError> {
        frame(self)
    }

    /// The same with texts that are fit to be printed, and without shares that cannot be.
    fn sane(self) -> Self {
        match self {
            Report::Connected { peer, rtt } => Report::Connected {
                peer: text(&peer),
                rtt,
            },
            Report::Standing(standing) => Report::Standing(Box::new(Standing {
                sending: standing.sending.sane(),
                ..*standing
            })),
            Report::Removed(name) => Report::Removed(printable(&name, PATH_MAX)),
            Report::Failed { name, problem } => Report::Failed {
                name: printable(&name, PATH_MAX),
                problem: shown(problem),
            },
            Report::Steered { streams, why } => Report::Steered {
                streams,
                why: text(&why),
            },
            Report::Ended { end, mut totals } => {
                totals.limited = totals.limited.take().map(Limited::sane);
                Report::Ended {
                    end: end.sane(),
                    totals,
                }
            }
            other => other,
        }
    }
}

impl End {
    fn sane(self) -> Self {
        match self {
            End::Problem(problem) => End::Problem(shown(problem)),
            End::Lost(why) => End::Lost(text(&why)),
            End::NoPlace(no_place) => End::NoPlace(NoPlace {
                what: text(&no_place.what),
                ..no_place
            }),
            other => other,
        }
    }
}

impl Incoming for Report {
    fn decode(_: u16, frame: Vec<u8>) -> Result<Self, CodecError> {
        decode_as::<Report>(&frame).map(Report::sane)
    }
}

fn text(said: &str) -> String {
    printable(said, TEXT_CHARACTERS)
}

fn shown(problem: Problem) -> Problem {
    Problem {
        what: text(&problem.what),
        hint: problem.hint.as_deref().map(text),
        ..problem
    }
}
