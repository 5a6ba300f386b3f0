//! Other programs that move or send bulk data, as far as words go: the command line that a setting
//! comes to, what they print, what they let their user set, how their version is told.
//!
//! A [`Far`] is what a user names: a [`Mover`] and the far end that its client is to reach. A
//! [`Job`] is one run of that client, which comes to an [`Invocation`]. Nothing is run here, and
//! nothing passes through a shell: an invocation is a program and its arguments.
//!
//! What is left out: logging in, which is the client's own business with the user's environment and
//! options; transfers between two far ends; trees of files.
//!
//! Reading order: [`far`], [`job`], [`client`], `programs` and a file for each program.

pub mod client;
pub mod far;
mod gridftp;
mod iperf2;
pub mod job;
#[cfg(test)]
mod kept;
mod mover;

mod nuttcp;
mod printed;
mod programs;
mod quoting;
mod rclone;
mod scp;
mod version;
mod xrootd;

pub use client::Client;
pub use far::{Far, FarError, without_password};
pub use job::{Invocation, Job, Local, Removal, Unable};
pub use mover::Mover;
pub use printed::Printed;
pub use version::Version;
