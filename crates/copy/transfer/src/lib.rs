//! Moves files: what is to be copied, in which pieces, over which streams, and what is there
//! afterwards.
//!
//! Uses `files` for reading and storing, `copy_net` for connections and `steer` for the number of
//! streams. The messages between the ends are those of [`copy_protocol`].
//!
//! Reading order: [`copy_protocol::CopySpec`] for the options, [`copy_protocol::CopyEvent`] and
//! [`copy_protocol::Outcome`] for what is reported. Then [`copy`] (with `copy/connect.rs` and
//! `copy/retry.rs`) and [`far`] for the two ends, `run_session` and `session` for one session,
//! `sender` and `receiver` for the two roles (`model` tries them together), [`Ledger`] for pieces,
//! `budget` for what a server allows its copies together, `peer_links` for the streams that they
//! share. `remote` serves access to single files, [`pipe()`] and `far/pipe.rs` are the two ends of
//! one stream of bytes. `sftp` copies where no program runs at the far end.

mod activity;
mod budget;
mod control;
mod copy;
mod copy_multipath;
mod copy_pairs;
mod copy_stats;
mod error;
pub mod far;
#[cfg(feature = "fuzzing")]
pub mod fuzzing;
mod ledger;
#[cfg(test)]
mod model;
mod opening;
mod peer_links;
mod pipe;
mod preconnect;
mod receiver;
mod remote;
mod requested;
mod run_session;
mod sender;
mod session;
mod sftp;
mod standstill;
mod stream_options;
mod stream_set;
mod sync;
mod throttle;

#[cfg(feature = "shuttle")]
pub mod threads;

pub use control::{CopyControl, CopyObserver};
pub use copy::copy;
pub use error::CopyError;
pub use ledger::{Acked, HOLES_AHEAD, Ledger, Taken};
pub use pipe::{Input, NearPipe, PipeError, PipeOutcome, PipeSpec, pipe};
pub use remote::RemoteTotals;
