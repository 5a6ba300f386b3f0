//! Moves files: what is to be copied, in which pieces, over which streams, and what is there afterwards.
//!
//! Drives `net` for connections and `tune` for the number of streams. What is said between the ends is
//! [`wire::copying`].
//!
//! Reading order: [`CopySpec`] for what can be asked, [`Event`] and [`Outcome`] for what is told.

mod event;
mod names;
mod root;
pub mod source;
mod spec;
pub mod store;
mod trouble;

pub use event::{CopyEvent, FileProblem, Limit, Outcome, Progress, Reading};
pub use root::Root;
pub use spec::{Connect, CopySpec, Credentials, FarHost, Gentle, Place};
pub use trouble::shown;
