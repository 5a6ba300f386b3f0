//! Ways to choose the streams of copies, and what they are compared on.
//!
//! Reading order: `rules.rs`, `shared_path.rs`, `packets.rs`.

pub mod packets;
pub mod rules;
pub mod sample;
pub mod shared_path;
