//! Moves files: what is to be copied, in which pieces, over which streams, and what is there afterwards.
//!
//! Drives `net` for connections and `tune` for the number of streams. What is said between the ends is
//! [`wire::copying`].
//!
//! Reading order: [`CopySpec`] for what can be asked, [`CopyEvent`] and [`Outcome`] for what is told.

mod chronicle;
mod copy;
mod error;
mod event;
pub mod far;
mod inner;
mod lines;
mod receiver;
mod sender;
mod session;
mod spec;
mod steering;
mod tree;

pub use copy::copy;
pub use error::CopyError;
pub use event::{CopyEvent, FileProblem, Limit, Outcome, Progress, Reading};
pub use spec::{Connect, CopySpec, Credentials, FarHost, Gentle, Place};
pub use steering::{Onlooker, Steering};
pub use tree::{HASH_BLOCK, HashTree, PIECE_MIN, PieceHasher, TreeError, legal_piece};
