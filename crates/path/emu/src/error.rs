//! Why a path could not be emulated.

use std::io;

use errors::{Fault, Hint};
use thiserror::Error;

/// A failure while a path was set up or a program was started on it.
#[derive(Debug, Error)]
pub enum EmuError {
    /// This user may not make network namespaces.
    #[error("making a network namespace was refused")]
    NamespaceRefused(#[source] io::Error),
    /// The process cannot get a user namespace of its own.
    #[error("making a user namespace was refused")]
    UserNamespaceRefused(#[source] io::Error),
    /// The TUN device node cannot be used.
    #[error("`/dev/net/tun` cannot be opened")]
    TunUnavailable(#[source] io::Error),
    /// A step on an interface failed.
    #[error("{step} failed on the emulated interface")]
    Interface {
        /// What was being done.
        step: &'static str,
        /// Why it failed.
        source: io::Error,
    },
    /// Others' datagrams are more than one processor keeps up with.
    #[error("loads of {packets} packets/s one way are more than {most}, the most that is emulated")]
    TooMuchLoad {
        /// How many packets come in a second.
        packets: u64,
        /// How many may.
        most: u64,
    },
    /// A kernel setting of a namespace could not be made.
    #[error("the kernel refused `{value}` for `{name}`")]
    Sysctl {
        /// The setting.
        name: String,
        /// The value.
        value: String,
        /// Why.
        source: io::Error,
    },
    /// This kernel does not have the congestion control that the path names.
    #[error("{field}: this kernel has no congestion control `{name}`; it has {available}")]
    UnknownCongestion {
        /// What the path names.
        name: String,
        /// Where it does.
        field: String,
        /// What there is.
        available: String,
    },
    /// A thread or descriptor that the emulation needs could not be had.
    #[error("{what} could not be made")]
    Resource {
        /// What was needed.
        what: &'static str,
        /// Why not.
        source: io::Error,
    },
    /// A program could not be started.
    #[error("`{program}` could not be started")]
    Program {
        /// The program.
        program: String,
        /// Why.
        source: io::Error,
    },
}

impl Hint for EmuError {
    fn fault(&self) -> Fault {
        Fault::Run
    }

    fn hint(&self) -> Option<String> {
        let hint = match self {
            EmuError::NamespaceRefused(_) | EmuError::UserNamespaceRefused(_) => Some(
                "run as root, or allow user namespaces: `sysctl -w user.max_user_namespaces=10000` \
                 (Debian: also kernel.unprivileged_userns_clone=1; Ubuntu: \
                 kernel.apparmor_restrict_unprivileged_userns=0)",
            ),
            EmuError::TunUnavailable(source) => Some(match source.kind() {
                io::ErrorKind::NotFound => "load the driver: `modprobe tun` as root",
                _ => "run as root, or let users open it: `chmod 666 /dev/net/tun` as root",
            }),
            EmuError::UnknownCongestion { .. } => Some(
                "load its module (`modprobe tcp_NAME` as root) or name another in the path file",
            ),
            EmuError::TooMuchLoad { .. } => Some(
                "lower `load.rate` or the rate of `on-off` cross traffic, or raise `load.packets`, \
                 in the path file",
            ),
            EmuError::Program { .. } => Some("check its name and that it is installed"),
            EmuError::Interface { .. } | EmuError::Sysctl { .. } | EmuError::Resource { .. } => {
                None
            }
        };
        hint.map(str::to_owned)
    }
}
