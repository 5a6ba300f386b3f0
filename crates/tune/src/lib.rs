//! Finds the operating point of a [`observe::Target`]: how many streams, which window, and why.
//!
//! [`tune`] asks a [`Strategy`] which [`observe::Setting`] to sample next, has the target observe
//! it, and ends with a [`Tuning`]: the recommendation, what limits one default stream and the
//! recommended setting, every sample with the reason for taking it, and what all of it cost. The
//! strategy of this crate is [`Staged`]; `bench/tuning` has those of the literature.
//!
//! What is left out: samples whose streams leave while data flow (they join, see
//! [`observe::Then`]), curves fitted to the samples (formulas only bound what a short sample counts
//! for, `lasting.rs`), and stream counts between powers of two. There is no clock here: time is
//! what the observations say has passed.
//!
//! Reading order: [`plan`], [`strategy`], `staged.rs` and the stages it names, `lasting.rs`,
//! `standing.rs`, `choose.rs`, `driver.rs`; [`advice`] stands by itself.

pub mod advice;
mod alternatives;
mod choose;
mod climb;
mod confirm;
mod controls;
mod drift;
mod driver;
mod explain;
mod fit;
mod guard;
mod history;
mod host;
mod knee;
mod lasting;
mod moving;
mod over_udp;
mod packets;
pub mod plan;
mod remembered;
mod staged;
mod standing;
pub mod strategy;
pub mod tuning;
mod windows;

pub use advice::{Advice, End, SysctlLine, Tool};
pub use driver::{SampleObserver, tune, tune_with};
pub use history::History;
pub use plan::{Axis, Budget, Controls, Objective, Remembered, TunePlan};
pub use staged::Staged;
pub use strategy::{Choice, Request, Strategy};
pub use tuning::{
    Answer, Cost, Ended, FailedSample, Purpose, Recommended, Sample, Standing, TuneError, Tuning,
};

#[cfg(any(test, feature = "synthetic"))]
pub mod synthetic;
#[cfg(test)]
mod tests;
