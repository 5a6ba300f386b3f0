//! Files of a copy: what there is to read, and storage that survives a cut at any moment.
//!
//! Nothing here knows a connection: [`source`] finds and reads, [`store`] writes and publishes,
//! [`HashTree`] says which pieces of a file are right, [`Root`] keeps both below one folder. Both
//! ends of a copy and access to single files stand on it.
//!
//! Reading order: [`source`], [`store`], `root`, `tree`, `holes`; [`checksums`] and [`moved`] stand
//! for themselves.

pub mod checksums;
mod holes;
mod inodes;
pub mod moved;
mod names;
mod problems;
mod root;
pub mod source;
pub mod store;
mod tree;

pub use holes::Layout;
pub use problems::{failed, problem, shown, with_hint};
pub use root::{Root, open_below};
pub use source::rules::{Rules, check_pattern};
pub use tree::{BLOCK, HashTree, PIECE_MIN, PieceHasher, TreeError, legal_piece};
