//! The path that explains what samples showed, with its uncertainty.
//!
//! A [`Path`] is a hypothesis: the rate of a link, its queue, its losses, others on it, and what
//! the hosts at its ends can do. `rounds.rs` says what a [`Run`] of streams shows on it, round trip
//! by round trip, slow start and short queues included. [`Evidence`] is what a sample showed, in
//! the same terms. A [`Posterior`] is some hundreds of paths, each as likely as it explains all
//! evidence: it gives what any other run would carry, how surely, and which part of the path holds
//! it back.
//!
//! What is left out: packets. Losses are drawn for a round trip at a time, and all streams of a run
//! share one round trip. What that costs is measured beside the packet simulator in
//! `bench/inference`, and is part of what a sample is allowed to differ by.
//!
//! Reading order: `path.rs`, `rounds.rs`, `stream.rs`; `evidence.rs`, `likelihood.rs`; `prior.rs`,
//! `posterior.rs`, `explaining.rs`; `answer.rs`, `verdict.rs`, `scaling.rs`, `file.rs`.

mod answer;
mod draw;
mod evidence;
mod explaining;
mod file;
mod likelihood;
mod path;
mod posterior;
mod prior;
mod rounds;
mod scaling;
mod stream;
mod verdict;

#[cfg(test)]
mod tests;

pub use answer::{Binding, Forecast};
pub use evidence::{Evidence, Held, Marks, Part, of_setting};
pub use path::Path;
pub use posterior::{Particle, Posterior};
pub use rounds::{Bin, Control, Run, Trace, run};
pub use verdict::verdict;
