//! What `tests/threads.rs` runs in many orders.

pub use crate::budget::threads as budget;
pub use crate::receiver::publisher::threads as publisher;
pub use crate::stream_set::threads as stream_set;
