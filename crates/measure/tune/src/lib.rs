//! Finds the operating point of a [`observe::Target`]: how many streams, which window, and why.
//!
//! [`tune`] asks a [`Strategy`] which [`observe::Setting`] to sample next, has the target observe
//! it, and ends with a [`Tuning`]: the recommendation, what limits one default stream and the
//! recommended setting, every sample with the reason for taking it, and what all of it cost. The
//! strategy of this crate is [`Inferred`]; `bench/tuning` has those of the literature.
//!
//! What is left out: samples whose number of streams changes while data flow, and stream counts
//! between powers of two. There is no clock here: time is what the observations say has passed.
//!
//! Reading order: [`plan`], [`strategy`], `search.rs`, `belief.rs`, `settings.rs`, `worth.rs`,
//! `verdict.rs`, `driver.rs`; [`advice`] stands by itself.

pub mod advice;
mod belief;
mod controls;
mod drift;
mod driver;
mod guard;
mod history;
mod host;
mod moving;
mod over_udp;
pub mod plan;
mod search;
mod settings;
pub mod strategy;
pub mod tuning;
mod verdict;
mod windows;
mod worth;

pub use advice::{Advice, End, SysctlLine, Tool};
pub use driver::{SampleObserver, samples_with, tune, tune_with};
pub use history::History;
pub use plan::{Axis, Budget, Controls, Objective, Remembered, TunePlan};
pub use search::Inferred;
pub use strategy::{Choice, Request, Strategy};
pub use tuning::{
    Answer, Confirmation, Cost, Ended, FailedSample, Promise, Purpose, Recommended, Sample,
    TuneError, Tuning,
};

#[cfg(any(test, feature = "synthetic"))]
#[allow(clippy::panic, reason = "for tests and benchmarks")]
pub mod synthetic;
#[cfg(test)]
mod tests;
