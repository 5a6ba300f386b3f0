//! Steers the streams of a copy while data flows.
//!
//! [`Online`] takes what an interval of the copy showed ([`Interval`]) and answers with the number
//! of streams to continue with ([`Steer`]). It begins with what the host needed the last time, else
//! with what a path of this round trip mostly needs ([`streams_for`]): most copies end before a
//! search from one stream would. Then it adds streams while they raise the rate, and removes those
//! that harm. Where a disk, a processor or a rate limit binds, more streams bring nothing and none
//! are added.
//!
//! At the end [`Online::limited`] says what limited the copy, in words.
//!
//! There is no clock here: time is the sum of the intervals. Left out: congestion control, which
//! stays what the user or the kernel chose, and pacing.
//!
//! Reading order: `plan`, `interval`, `pool`, `bottleneck`, `prior`, `look`, `steer`, `limited`.

mod bottleneck;
mod interval;
mod limited;
mod look;
mod plan;
mod pool;
mod prior;
mod steer;

pub use interval::{Interval, Meter, RateMax, SetBy, Streams};
pub use plan::OnlinePlan;
pub use prior::streams_for;
pub use steer::{Online, Steer};

#[cfg(test)]
mod tests;
