//! Whether files are as a list of checksums, or a BagIt bag, says.
//!
//! Reading order: [`Algorithm`], `hasher`, [`list`] for the lists that other programs write,
//! [`bag`] for bags, `check` for the threads that read, `making` for new lists.

mod algorithm;
pub mod bag;
mod check;
mod hasher;
pub mod list;
mod listed;
mod making;

pub use algorithm::Algorithm;
pub use check::{Account, Checking, Found, Item, Tally, Trouble, TroubleKind, check};
pub use hasher::Checksum;
pub use listed::Listed;
pub use making::{FileDigests, digests, line};
