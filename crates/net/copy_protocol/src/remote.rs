//! Access to the files of a far end, without I/O: information, listings, ranges, small files that
//! are stored, and changes of names.
//!
//! A session has one connection that authenticates, with the handshake of [this crate](crate), and
//! any number of streams, which greet as those of copies do. All of them are alike afterwards: the
//! near end sends requests ([`Request`]) without waiting, and the far end answers them in their
//! order ([`Answer`]). Requests of different connections are independent of each other.
//!
//! Every answer with bytes of a file has their hash, and which version of the file they are of
//! ([`FileIdentity`]). Messages are bounded: a request by [`REQUEST_MAX`], an answer by
//! [`ANSWER_MAX`]; a long range comes as several answers of at most [`CHUNK_MAX`] bytes. The
//! content of a file that is stored follows its request as it is, so that the far end writes what
//! has come and holds little of it.
//!
//! Left out: writing ranges, and storing files of more than [`STORE_MAX`] bytes. Those are put with
//! a copy, which goes on where it was interrupted.
//!
//! Reading order: `message` for what is said, `frames` for the bytes, [`Asking`] for the near end
//! of one connection, [`Answering`] for the far end.

mod answering;
mod asking;
mod frames;
mod message;

pub use answering::Answering;
pub use asking::{Asking, Event, RemoteViolation};
pub use frames::{ANSWER_MAX, REQUEST_MAX, RequestFrames, decode_answer, encode_answer, head_of};
pub use message::{
    Answer, Ask, Failure, FailureKind, FileAttributes, FileIdentity, FileInfo, FileKind, Listed,
    NewFile, Removing, Request, Told, Welcome,
};

/// Version of all of this. Ends of different versions give no access; each says which it speaks.
pub const REMOTE_VERSION: u16 = 2;
/// Most bytes of a range that one request may ask for.
pub const READ_MAX: u32 = 16 << 20;
/// Most bytes of a file that is stored by one request. To send that again after a lost connection
/// costs no more than a copy costs to begin.
pub const STORE_MAX: u32 = 1 << 20;
/// Most bytes of a file in one answer. Blocks of this size stay in the cache together with what
/// TLS makes of them, as those of copies.
pub const CHUNK_MAX: u32 = 64 << 10;

#[cfg(test)]
mod tests;
