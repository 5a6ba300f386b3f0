//! Steers a copy while it runs: the number of its streams, and how fast it may send.
//!
//! - [`online`] adds streams for as long as they bring something, and takes away those that harm.
//! - [`scavenger`] sets the rate and the streams of a gentle copy, which takes only what others
//!   leave.
//! - [`LinkSteer`] does so for all copies that share a link.
//! - [`Bucket`] keeps many threads to one rate.
//! - [`Pairs`] deals the streams of one copy over several pairs of addresses.
//! - [`max_min`] divides what copies may have together.
//!
//! There is no clock here: callers pass the time that has passed.

mod bucket;
mod link;
mod max_min;
pub mod online;
mod pairs;
pub mod scavenger;

pub use bucket::{Bucket, Turn, stream_pacing};
pub use link::{LinkCopy, LinkReport, LinkSteer, REPORT_LAG, REPORT_PERIOD};
pub use max_min::max_min;
pub use pairs::{Pairs, common_rtt, surplus};
pub use scavenger::{Allowance, Scavenger, StreamReading};
