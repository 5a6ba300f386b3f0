//! The congestion control that a namespace gives to sockets which do not choose.
//!
//! A namespace other than the first one takes only what the host-wide list
//! `tcp_allowed_congestion_control` names. Root widens that list for the moment of the choice and
//! puts it back; a lock on the file keeps two emulations from restoring each other's list.

use std::fs::File;
use std::io;

use nix::fcntl::{Flock, FlockArg};

use crate::{EmuError, Namespace, sysctl};

const ALLOWED: &str = "tcp_allowed_congestion_control";
const DEFAULT: &str = "tcp_congestion_control";

/// Makes `name` the default of every namespace given. False when the kernel has it but this user
/// may not make it the default; each socket can then still ask for it, if it is allowed to.
pub(crate) fn make_default(name: &str, namespaces: [&Namespace; 2]) -> Result<bool, EmuError> {
    check_known(name, "`hosts.congestion`")?;
    if set_in(name, namespaces)? {
        return Ok(true);
    }
    let Some(_widened) = Widened::with(name) else {
        return Ok(false);
    };
    set_in(name, namespaces)
}

/// Refuses a name that this kernel does not have; `field` is where the path names it.
pub(crate) fn check_known(name: &str, field: &str) -> Result<(), EmuError> {
    let available = sysctl::get("tcp_available_congestion_control").unwrap_or_default();
    match available.split_whitespace().any(|known| known == name) {
        true => Ok(()),
        false => Err(EmuError::UnknownCongestion {
            name: name.to_owned(),
            field: field.to_owned(),
            available,
        }),
    }
}

fn set_in(name: &str, namespaces: [&Namespace; 2]) -> Result<bool, EmuError> {
    for namespace in namespaces {
        match namespace.run(|| sysctl::set(DEFAULT, name))? {
            Ok(()) => {}
            Err(EmuError::Sysctl { source, .. })
                if source.kind() == io::ErrorKind::PermissionDenied =>
            {
                return Ok(false);
            }
            Err(error) => return Err(error),
        }
    }
    Ok(true)
}

/// The host's list with one more name on it, until dropped.
struct Widened {
    before: String,
    _lock: Flock<File>,
}

impl Widened {
    /// `None` when this user may not change the list.
    fn with(name: &str) -> Option<Self> {
        let file = File::open(format!("/proc/sys/net/ipv4/{ALLOWED}")).ok()?;
        let lock = Flock::lock(file, FlockArg::LockExclusive).ok()?;
        let before = sysctl::get(ALLOWED)?;
        sysctl::set(ALLOWED, &format!("{before} {name}")).ok()?;
        Some(Widened {
            before,
            _lock: lock,
        })
    }
}

impl Drop for Widened {
    fn drop(&mut self) {
        // It could be written a moment ago, so it can be written back.
        let _ = sysctl::set(ALLOWED, &self.before);
    }
}
