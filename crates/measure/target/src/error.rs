//! Why a target could not be opened.

use emu::EmuError;
use endpoints::{BackgroundError, BindError};
use errors::{Fault, Hint};
use movers::FarError;
use netpath::PathError;
use thiserror::Error;
use units::AddressError;

/// A target that cannot be used.
#[derive(Debug, Error)]
pub enum OpenError {
    /// The path file or its name is wrong.
    #[error(transparent)]
    Path(#[from] PathError),
    /// The path could not be emulated.
    #[error(transparent)]
    Emulation(#[from] EmuError),
    /// The far end of another program is named wrongly.
    #[error(transparent)]
    Far(#[from] FarError),
    /// No program is known for such a URL.
    #[error("`{name}`: no program is known for `{scheme}://`")]
    UnknownScheme {
        /// What was written.
        name: String,
        /// What stands before `://`.
        scheme: String,
    },
    /// The name is not that of a host.
    #[error(transparent)]
    Address(#[from] AddressError),
    /// How packets leave was said, and none do.
    #[error(
        "`-4`, `-6`, `--bind` and `--dscp` say how packets leave this host, and this target is no \
         host that runs `trunkline serve` or `iperf3 -s`"
    )]
    NoHost,
    /// Multipath TCP was asked for, and no connection leaves this host.
    #[error("`--mptcp` is for a host on the network, and this target is none")]
    NoMultipath,
    /// Others' transfers are more than a host carries.
    #[error(
        "cross traffic {entry} asks for {per_second} transfers a second, and an emulated host \
         carries {most}"
    )]
    TooManyTransfers {
        /// Which entry of the path file, from 1.
        entry: usize,
        /// What it asks for.
        per_second: f64,
        /// The bound.
        most: f64,
    },
    /// The far end of an emulated path could not be started.
    #[error("the server at the far end of the path could not be started")]
    Server(#[from] BindError),
    /// Traffic that shares the path could not be started.
    #[error("cross traffic {entry} could not be started")]
    Cross {
        /// Which entry of the path file, from 1.
        entry: usize,
        /// Why.
        source: BackgroundError,
    },
}

impl Hint for OpenError {
    fn fault(&self) -> Fault {
        match self {
            OpenError::Path(_)
            | OpenError::Address(_)
            | OpenError::Far(_)
            | OpenError::UnknownScheme { .. }
            | OpenError::NoHost
            | OpenError::NoMultipath
            | OpenError::TooManyTransfers { .. } => Fault::Request,
            _ => Fault::Run,
        }
    }

    fn hint(&self) -> Option<String> {
        match self {
            OpenError::Path(error) => error.hint(),
            OpenError::Emulation(error) => error.hint(),
            OpenError::UnknownScheme { .. } => Some(
                "these are known: gridftp, gsiftp, sshftp and ftp, root and roots, scp, iperf2, \
                 nuttcp, and `sftp+rclone:REMOTE`"
                    .to_owned(),
            ),
            OpenError::Far(_) => None,
            OpenError::NoHost => Some("leave them out, or name a host".to_owned()),
            OpenError::NoMultipath => Some("leave it out, or name a host".to_owned()),
            OpenError::Address(_) => Some(
                "give a host like `dtn.example.org:5201`, or a path like `emu:slac-cern` or \
                 `sim:slac-cern`"
                    .to_owned(),
            ),
            OpenError::TooManyTransfers { .. } => Some(
                "lower its `per_second` and raise its `mean_size`, or simulate the path: \
                 `sim:PATH` in place of `emu:PATH`"
                    .to_owned(),
            ),
            OpenError::Cross { source, .. } => source.hint(),
            OpenError::Server(_) => None,
        }
    }
}

impl OpenError {
    /// Whether the request itself was wrong.
    pub fn is_wrong_request(&self) -> bool {
        matches!(
            self,
            OpenError::Path(_)
                | OpenError::Address(_)
                | OpenError::Far(_)
                | OpenError::UnknownScheme { .. }
                | OpenError::NoHost
                | OpenError::TooManyTransfers { .. }
        )
    }
}
