//! Turns the name of a target into something that runs.
//!
//! `HOST[:PORT]` is a live host; `emu:PATH` an emulated path with our own server at its far end.
//! Both come out as a [`observe::Target`], and nobody who drives one has to know which it is.
//!
//! Left out: simulated paths, and other tools' servers.
//!
//! Reading order: [`name`] for what is accepted, [`emulated`], `live.rs`, `cross.rs` for the
//! traffic that shares an emulated path.

mod cross;
pub mod emulated;
mod error;
mod live;
pub mod name;

pub use emulated::EmulatedPath;
pub use error::LabError;
pub use name::TargetName;

use observe::Target;

/// Opens a target. `seed` decides which packets an emulated path loses.
///
/// An emulated path needs rights, and for users who are not root these can only be had while the
/// process has a single thread: open before starting any.
///
/// # Errors
/// When the path is wrong or cannot be emulated. A live host is not contacted yet.
pub fn open(name: &TargetName, seed: u64) -> Result<Box<dyn Target>, LabError> {
    match name {
        TargetName::Emulated(path) => Ok(Box::new(EmulatedPath::up(path, seed)?)),
        TargetName::Live(address) => Ok(Box::new(live::LiveHost::new(address.clone()))),
    }
}
