//! Moves files: what is to be copied, in which pieces, over which streams, and what is there
//! afterwards.
//!
//! Drives `net` for connections and `tune` for the number of streams. What is said between the ends
//! is [`wire::copying`].
//!
//! Reading order: [`CopySpec`] for what can be asked, [`CopyEvent`] and [`Outcome`] for what is
//! told. Then [`copy`] and [`far`] for the two ends, `session` for how a conversation is led,
//! `sender` and `receiver` for the two roles (`model` tries them together). What they rest on
//! stands by itself: [`Ledger`], [`HashTree`], [`source`], [`store`].

mod activity;
mod asked;
mod chronicle;
mod converse;
mod copy;
mod early;
mod error;
mod event;
pub mod far;
#[cfg(feature = "fuzzing")]
pub mod fuzzing;
mod holes;
mod ledger;
mod lines;
#[cfg(test)]
mod model;
mod names;
mod opening;
mod receiver;
mod root;
mod sender;
mod session;
pub mod source;
mod spec;
mod steering;
pub mod store;
mod tree;
mod trouble;

pub use copy::copy;
pub use error::CopyError;
pub use event::{CopyEvent, FileProblem, Limited, Outcome, Progress, Reading};
pub use holes::Layout;
pub use ledger::{Acked, HOLES_AHEAD, Ledger, Taken};
pub use root::Root;
pub use source::rules::check_pattern;
pub use spec::{Connect, CopySpec, Credentials, FarHost, Gentle, Place};
pub use steering::{Onlooker, Steering};
pub use tree::{HashTree, PIECE_MIN, PieceHasher, TreeError, legal_piece};
pub use trouble::shown;
