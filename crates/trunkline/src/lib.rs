//! Measures, tunes, simulates and predicts long, fat network paths, and copies files over them.
//!
//! This crate is the door to the rooms of the workspace: the `trunkline` program uses nothing else.
//! Nothing here prints, and nothing ends the process.
//!
//! ```
//! use trunkline::tune::TunePlan;
//! use trunkline::{AnyDocument, Cancel, Target, report, tune};
//!
//! let mut target = Target::open("sim:slac-cern", 1)?;
//! let tuned = tune(&mut target, &TunePlan::default(), &Cancel::new(), &mut |_| {})?;
//! let document = AnyDocument::from(tuned.document);
//! assert!(report::text(&document, draw::Paint::Plain).contains("streams"));
//! # Ok::<(), trunkline::Error>(())
//! ```
//!
//! | to | call | result |
//! |---|---|---|
//! | open what is measured | [`Target::open`] | [`Target`] |
//! | measure one setting | [`measure()`] | [`measure::Measured`] |
//! | find the operating point | [`tune()`] | [`tune::Tuned`] |
//! | measure a grid in cycles | [`sweep::Sweep`] | a document |
//! | simulate it beside | [`simulate_beside()`], [`compare_beside()`] | [`record::Beside`] |
//! | examine a path | [`examine()`], [`responsiveness()`] | a document |
//! | simulate | [`simulate()`] | [`simulate::Simulated`] |
//! | the same by a fluid model | [`simulate::fluid()`] | a document |
//! | repeat published figures | [`study::make`] | [`study::Made`] |
//! | ask formulas | [`predict()`], [`predict::fit`] | [`predict::Predicted`], a document |
//! | copy files | [`copy()`] | [`copy::Copied`] |
//! | check files against checksums | [`verify()`] | [`verify::Verified`] |
//! | read single files of a server | [`remote::Remote`] | bytes, entries |
//! | pipe bytes to or from a host | [`pipe()`], [`pipe::ParallelStream`] | [`pipe::PipeOutcome`] |
//! | be the far end | [`serve::Server`] | |
//! | run programs on a path | [`emulate::EmulatedPath`] | [`emulate::Emulated`] |
//! | keep and remember | [`history::History`] | |
//!
//! Watches over paths are in the crate `trunkline_watch`, copies of millions of files in shards in
//! `trunkline_campaign`.
//!
//! # Threads, progress, cancellation
//!
//! Every call blocks until it has its result; run it on a thread of its own to do something else.
//! [`Cancel`] ends it from any other thread. What happens meanwhile is told to a closure:
//! [`Progress`] of what a target does, [`simulate::Progress`] of simulations,
//! [`copy::CopyEvent`] of copies.
//!
//! # Documents
//!
//! Results come with a document ([`record`]): versioned JSON with the figures and their raw
//! readings, named in `docs/reference/json.md`. [`AnyDocument`] holds one of any kind, and
//! [`report`] draws it: text, rows, SVG charts, an HTML page. Documents name the command line of
//! the process and the host.
//!
//! # Errors
//!
//! All calls have one [`Error`]: whose fault it is, what happened with value and bound, and the
//! next step. The next steps are written for people at a command line.
//!
//! # What is re-exported
//!
//! Each module has the types that its calls need. [`units`], [`netpath`], [`observe`], [`sim`],
//! [`record`], [`archive`](mod@archive) and [`report`] are whole rooms.

pub mod ask;
mod beside;
mod cancel;
pub mod copy;
pub mod datagrams;
pub mod emulate;
pub mod examine;
pub mod history;
pub mod host;
pub mod link_share;
pub mod log;
pub mod login;
pub mod measure;
mod origin;
pub mod pipe;
pub mod predict;
mod progress;
pub mod remote;
pub mod serve;
pub mod simulate;
pub mod study;
pub mod sweep;
pub mod target;
pub mod tune;
pub mod verify;

pub use beside::{compare_beside, simulate_beside};
pub use cancel::Cancel;
pub use copy::copy;
pub use datagrams::datagrams;
pub use examine::{examine, responsiveness};
pub use measure::measure;
pub use origin::{name_command, origin};
pub use pipe::pipe;
pub use predict::predict;
pub use progress::{OnProgress, Progress};
pub use remote::Remote;
pub use simulate::simulate;
pub use target::{PORT_DEFAULT, Target, TargetName, load_path};
pub use tune::tune;
pub use verify::verify;

pub use errors::{Error, Fault, Hint};
pub use netpath::PathSpec as Path;
pub use record::{AnyDocument, Document};

pub use archive;
pub use draw;
pub use netpath;
pub use observe;
pub use record;
pub use report;
pub use sim;
pub use units;
