//! The protocols of copies, without I/O: here that of `trunkline copy`, in [`remote`] access to
//! single files, in [`pipe`] one stream of bytes, in [`third_party`] copies between two other
//! hosts. They share the handshake, and the port with iperf3's protocol.
//!
//! A copy has one *control* connection and any number of *streams*, all to one port. The end that
//! was started by the user is *near*, the other *far*; independently of that one end is the
//! *sender* and the other the *receiver*. After the handshake the near end says what is wanted
//! ([`Message::Open`]); then sender and receiver talk the same way whichever of them is near.
//!
//! The sender tells what there is ([`Entry`]), the receiver what of it is missing ([`Want`]);
//! pieces of files go over the streams ([`PieceHeader`]), each followed by the hash of its bytes;
//! the receiver confirms each over the control connection ([`Range`]), and when a file is whole and
//! its digest right, that it has its final name. A connection that is lost is not taken up again: a
//! new control connection opens the copy once more, and what the receiver has by then is not asked
//! for again.
//!
//! Reading order: `name`, `message`, `piece` for what is said; `secret`, `token`, `handshake`,
//! `greeting` for who may say it; `codec` for the bytes; `conversation_state` for which message is
//! legal when.

mod activity;
mod base32;
mod codec;
mod conversation_state;
mod event;
mod follow;
mod greeting;
mod handshake;
mod inode;
mod message;
mod name;
mod options;
mod piece;
pub mod pipe;
pub mod remote;
mod secret;
mod sending;
pub mod sftp;
mod shown_name;
mod spec;
mod start;
pub mod third_party;
mod token;
mod version;
mod version_5;

pub use activity::{Activity, Shares};
pub(crate) use codec::decode_as;
pub use codec::{CodecError, Frames, HELLO_MAX, Incoming, MESSAGE_MAX, decode, encode, encode_in};
pub use conversation_state::{
    COPY_STREAMS_MAX, ConversationState, ENTRIES_MAX, LISTED_MAX, NAMES_MAX, PARTS_MAX,
    ProtocolRule, ProtocolViolation, Speaker, UNFINISHED_MAX, check_opening,
};
pub use event::{
    CopyEvent, CopyPhase, CopyProgress, EndShares, FileProblem, LimitedBy, Outcome, PairCarried,
    Reading, TimePart,
};
pub use follow::{Follow, Followed};
pub use greeting::{
    GREETING_LENGTH, GREETING_MAGIC, Greeting, GreetingError, SessionKey, StreamNumbers,
};
pub use handshake::{
    Admitted, EXPORTER_LABEL, HandshakeError, NearHandshake, NoPlace, Purpose, Refusal,
    answer_hello, no_place, refusal,
};
pub use inode::{
    ACL_ACCESS, ACL_DEFAULT, ATTRIBUTES_MAX, Attribute, Inode, Kept, OWNER_NAME_MAX, Owner,
    OwnersBy, Shared, VALUE_MAX, is_acl_value,
};
pub use message::{
    CHUNK_HASH_LENGTH, Chunk, Entry, Kind, Message, Problem, ProblemKind, Published, Range,
    Removed, Want,
};
pub use name::{
    FileId, JOURNAL_ENDING, LINK_ENDING, NAME_MAX, Name, NameError, PART_ENDING, PATH_MAX,
    is_reserved,
};
pub use options::{
    Attributes, CongestionChoice, CopyDirection, CopyOptions, FilePart, Filter, Opening, Selection,
    SelectionRule,
};
pub use piece::{
    Coding, DataMap, HASH_LENGTH, HEADER_LENGTH, HOLE_BLOCK, NO_HASH, PACKED_MAX, PIECE_MAX,
    PieceError, PieceHeader,
};
pub use secret::{Exporter, KEY_LENGTH, Key, Secret};
pub use sending::{Limited, LimitedPart, Sending};
pub use shown_name::FileName;
pub use spec::{
    Connect, CopySpec, Credentials, FarHost, FarProgram, NearEnd, PAIRS_MAX, Patience, Place,
    SFTP_CONNECTIONS_MAX,
};
pub use start::{CallBack, START_LINE_MAX, StartAnswer, StartError, StartRequest};
pub use token::{
    CopyBounds, KEY_NAME_MAX, KeyName, KeyNameError, Rights, Targets, Token, TokenTextError,
    Tokens, TokensError, TokensMistake,
};
pub use version::{COPYING_VERSION, SPOKEN, Versions};
