//! Rights for users who are not root.

use std::fs;
use std::io;

use nix::sched::{CloneFlags, unshare};
use nix::unistd::{getegid, geteuid};

use crate::EmuError;

/// Gives the process the rights that [`crate::Network::up`] needs.
///
/// Root has them. Anybody else becomes root of a user namespace of their own: files keep their
/// owner, and nothing outside the namespace can be changed. The kernel allows this only while the
/// process has a single thread, so call it first.
///
/// # Errors
/// When the kernel does not let this user make user namespaces.
pub fn enter_user_namespace() -> Result<(), EmuError> {
    let (user, group) = (geteuid(), getegid());
    if user.is_root() {
        return Ok(());
    }
    let enter = || -> io::Result<()> {
        unshare(CloneFlags::CLONE_NEWUSER)?;
        // Without this the kernel takes no group map from an ordinary user.
        fs::write("/proc/self/setgroups", "deny")?;
        fs::write("/proc/self/uid_map", format!("0 {user} 1"))?;
        fs::write("/proc/self/gid_map", format!("0 {group} 1"))
    };
    enter().map_err(EmuError::UserNamespaceRefused)
}
