//! Finds the operating point of a [`observe::Target`]: how many streams, which window, and why.

pub mod advice;
pub mod plan;
pub mod tuning;

pub use advice::{Advice, Tool};
pub use plan::{Objective, TunePlan};
pub use tuning::{Cost, Ended, Recommended, Sample, TuneError, Tuning};
