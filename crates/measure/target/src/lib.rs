//! Opens a target by its name.
//!
//! `HOST[:PORT]` is a live host; `emu:PATH` an emulated path with our own server at its far end;
//! `sim:PATH` a path in virtual time; a URL like `gridftp://HOST/FILE` the far end of another
//! program, whose own client is run here. All come out as a [`Target`], and callers need not know
//! which it is.
//!
//! Left out: other tools' servers.
//!
//! [`UnderLoad`] looks at a target from two sides at once: streams, and small packets beside them.
//!
//! Reading order: [`TargetName`] for what is accepted, [`EmulatedNetwork`] for a path with its
//! cross traffic, `emulated.rs`, `simulated.rs`, `live.rs` and `mover.rs` for the kinds of target.

mod emulated;
mod error;
mod live;
mod mover;
mod name;
mod network;
mod simulated;
mod under_load;

pub use emulated::EmulatedPath;
pub use error::OpenError;
pub use live::LiveHost;
pub use mover::MoverTarget;
pub use movers::without_password;
pub use name::{TargetName, load_path};
pub use network::EmulatedNetwork;
pub use simulated::SimulatedPath;
pub use under_load::UnderLoad;

use netpath::Hosts;
use observe::{HostLimits, Target};
use units::Bytes;

/// The most that the kernel lets a socket buffer be when nothing else bounds it, before it doubles
/// the size: half of what fits a C `int`.
const BUFFER_MAX: Bytes = Bytes::new(1 << 30);

/// Bounds on socket buffers between the hosts of a path file.
fn limits(hosts: &Hosts) -> HostLimits {
    HostLimits {
        send_fixed_max: BUFFER_MAX,
        receive_fixed_max: BUFFER_MAX,
        send_auto_max: hosts.near().send.min(hosts.far().send),
        receive_auto_max: hosts.near().receive.min(hosts.far().receive),
    }
}

/// A seed for the part of a series of runs that begins with the run `first`: another one for each,
/// and always the same.
pub fn seed_from(seed: u64, first: u64) -> u64 {
    simulated::seed_of_run(seed, first)
}

/// Opens a target to go on with a series of runs. On a simulated path, each run of which has its
/// own seed (see [`Target::draw_from`]), `seed` stays that of the series; an emulated path draws
/// packet by packet and would begin with the same losses again, so that it is given `seed_resumed`.
///
/// # Errors
/// As [`open`].
pub fn open_to_resume(
    name: &TargetName,
    seed: u64,
    seed_resumed: u64,
) -> Result<Box<dyn Target>, OpenError> {
    match name {
        TargetName::Emulated(_) => open(name, seed_resumed),
        TargetName::Simulated(_) | TargetName::Live(_) | TargetName::Mover { .. } => {
            open(name, seed)
        }
    }
}

/// Opens a target. `seed` decides which packets an emulated path loses, and everything on a
/// simulated one.
///
/// An emulated path needs rights, and users who are not root can only get them while the process
/// has a single thread: open before starting any.
///
/// # Errors
/// When the path cannot be emulated. A live host is not contacted yet.
pub fn open(name: &TargetName, seed: u64) -> Result<Box<dyn Target>, OpenError> {
    match name {
        TargetName::Emulated(path) => Ok(Box::new(EmulatedPath::up(path, seed)?)),
        TargetName::Simulated(path) => Ok(Box::new(SimulatedPath::new(path, seed))),
        TargetName::Live(address) => Ok(Box::new(LiveHost::new(address.clone()))),
        TargetName::Mover { far, options } => {
            Ok(Box::new(MoverTarget::new((**far).clone(), options.clone())))
        }
    }
}
