//! The figures of published studies made again, and whether their findings hold.
//!
//! A [`Study`] is one published document. Its parts are runs (curves of scenarios) and a function
//! that reads their results into figures; a part of formulas alone has no runs. Each figure has
//! findings: a statement of the document or one of its numbers, the rule that decides, with its
//! threshold, and what was seen. The words are computed from the figures, so a simulator that
//! changes its mind changes the sentence too.
//!
//! Left out: real networks, and running real programs. What needs them stands in [`Study::left`];
//! what they carried is put beside a figure by [`programs`].
//!
//! Reading order: [`finding`], [`figure`], [`Sweep`], [`Part`], [`Study`]; `catalogue.rs` for the
//! five documents and one file or folder for each; `output.rs` for what is written.

mod buffers;
mod catalogue;
pub mod figure;
pub mod finding;
mod lecture;
mod measure;
mod output;
mod part;
pub mod programs;
mod setup;
mod striping;
mod study;
mod sweep;
mod taiwan;
mod windows;

pub use catalogue::{NAMES, StudyError, named};
pub use figure::Figure;
pub use finding::{Check, Finding, Verdict};
pub use output::{files, listing, summary};
pub use part::{Part, SetUpError, Shown};
pub use study::{Left, Programme, Studied, Study, Tally};
pub use sweep::{Cell, Curve, Seen, Sweep};

#[cfg(test)]
mod tests;
