//! Why a target could not be opened.

use std::io;

use emu::EmuError;
use endpoints::{BackgroundError, BindError};
use movers::FarError;
use netpath::PathError;
use sockets::AddressError;
use thiserror::Error;

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
    /// A path file asks for cross traffic that only a simulation has.
    #[error("path `{path}` cannot be emulated with a `{field}` of `{value}`")]
    NotEmulated {
        /// The path's name.
        path: String,
        /// The field.
        field: &'static str,
        /// What it says.
        value: String,
    },
    /// Streams of others cannot enter between two links.
    #[error("path `{path}` cannot be emulated with `cross` and {hops} links in a row")]
    CrossOfRow {
        /// The path's name.
        path: String,
        /// How many links it has.
        hops: usize,
    },
    /// The far end of an emulated path could not be started.
    #[error("the server at the far end of the path could not be started")]
    Server(#[from] BindError),
    /// The traffic that shares the path could not be started.
    #[error("the cross traffic of the path could not be started")]
    Cross(#[from] BackgroundError),
    /// The far end of the cross traffic could not be opened.
    #[error("the far end of the cross traffic could not be opened")]
    CrossListener(#[source] io::Error),
}

impl OpenError {
    /// The next step.
    pub fn hint(&self) -> Option<String> {
        match self {
            OpenError::Path(error) => Some(error.hint()),
            OpenError::Emulation(error) => error.hint().map(str::to_owned),
            OpenError::UnknownScheme { .. } => Some(
                "these are known: gridftp, gsiftp, sshftp and ftp, root and roots, scp, iperf2, \
                 nuttcp, and `sftp+rclone:REMOTE`"
                    .to_owned(),
            ),
            OpenError::Far(_) => None,
            OpenError::Address(_) => Some(
                "give a host like `dtn.example.org:5201`, or a path like `emu:slac-cern` or \
                 `sim:slac-cern`"
                    .to_owned(),
            ),
            OpenError::NotEmulated { .. } => Some(
                "emulated cross traffic is best-effort streams; a simulation runs the path as it \
                 stands: `sim:PATH` in place of `emu:PATH`"
                    .to_owned(),
            ),
            OpenError::CrossOfRow { .. } => Some(
                "others enter between two links as a load: `load = { rate = \"30Mbit/s\" }` in the link, \
                 in place of `[[cross]]`"
                    .to_owned(),
            ),
            OpenError::Server(_) | OpenError::Cross(_) | OpenError::CrossListener(_) => None,
        }
    }

    /// Whether the request itself was wrong.
    pub fn is_wrong_request(&self) -> bool {
        matches!(
            self,
            OpenError::Path(_)
                | OpenError::Address(_)
                | OpenError::Far(_)
                | OpenError::UnknownScheme { .. }
                | OpenError::NotEmulated { .. }
                | OpenError::CrossOfRow { .. }
        )
    }
}
