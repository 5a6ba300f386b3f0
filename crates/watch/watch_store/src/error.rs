//! Why a store cannot be used.

use std::io;

use errors::{Fault, Hint};
use thiserror::Error;

/// Why a store cannot be used. Nothing was changed by the call that failed.
#[derive(Debug, Error)]
pub enum StoreError {
    /// A later trunkline made it.
    #[error("the database {name} has version {found}, newer than {known}")]
    Newer {
        /// Which one.
        name: String,
        /// Its version.
        found: i64,
        /// The newest version that this trunkline knows.
        known: i64,
    },
    /// There is none, or nothing is in it.
    #[error("there are no results of a watch in {name}")]
    Missing {
        /// Which one.
        name: String,
    },
    /// An earlier trunkline made it, and it is only read.
    #[error("the database {name} has version {found}, older than {known}")]
    Older {
        /// Which one.
        name: String,
        /// Its version.
        found: i64,
        /// The version that this trunkline reads.
        known: i64,
    },
    /// A file of another program.
    #[error("{name} is a database of another program")]
    Foreign {
        /// Which one.
        name: String,
    },
    /// What is in it is not what was written.
    #[error("the database {name} is damaged: {what}")]
    Damaged {
        /// Which one.
        name: String,
        /// Where.
        what: String,
    },
    /// Another process writes all the time.
    #[error("the database {name} was locked by another process for too long")]
    Busy {
        /// Which one.
        name: String,
    },
    /// A collector has it.
    #[error("another collector uses the database {name}: {by}")]
    Taken {
        /// Which one.
        name: String,
        /// Its process and host.
        by: String,
    },
    /// The disk is full.
    #[error("the disk of the database {name} is full")]
    Full {
        /// Which one.
        name: String,
    },
    /// The server does not answer, or refuses.
    #[error("the database {name} cannot be reached: {what}")]
    Unreachable {
        /// Which one.
        name: String,
        /// What was said.
        what: String,
    },
    /// Anything else.
    #[error("the database {name} cannot be used: {what}")]
    Database {
        /// Which one.
        name: String,
        /// What was said.
        what: String,
    },
    /// A bound below what the coarsest roll-ups need.
    #[error("{needed} points are needed even by month, more than {bound}")]
    FewPoints {
        /// Points of the coarsest roll-up.
        needed: usize,
        /// The bound that was asked for.
        bound: usize,
    },
    /// The output of an export cannot be written.
    #[error("the export cannot be written")]
    Export(#[source] io::Error),
    /// An export was broken off.
    #[error("the export was broken off; nothing is left of it")]
    BrokenOff,
}

impl Hint for StoreError {
    fn fault(&self) -> Fault {
        match self {
            StoreError::Missing { .. }
            | StoreError::Newer { .. }
            | StoreError::Older { .. }
            | StoreError::Foreign { .. }
            | StoreError::FewPoints { .. } => Fault::Request,
            StoreError::BrokenOff => Fault::Cancelled,
            _ => Fault::Run,
        }
    }

    fn hint(&self) -> Option<String> {
        let hint = match self {
            StoreError::Newer { .. } => {
                "use the trunkline that wrote it, or name another one with `--database`"
            }
            StoreError::Missing { .. } => {
                "check the name; `trunkline watch serve` has its results in watch.db of its \
                 folder, or where its `--database` says"
            }
            StoreError::Older { .. } => {
                "start `trunkline watch serve` of this version with it once, which updates it"
            }
            StoreError::Foreign { .. } => {
                "name a file that does not exist yet, or one that trunkline watch made"
            }
            StoreError::Damaged { .. } => {
                "move it away and restore a copy; agents still hold what was not acknowledged"
            }
            StoreError::Busy { .. } => "end the process that holds it; agents send again",
            StoreError::Taken { .. } => {
                "end that one first, or name another database with `--database`"
            }
            StoreError::Full { .. } => "free space on it; agents hold their results meanwhile",
            StoreError::Unreachable { .. } => {
                "start the server, and check host, port and user behind `--database`; agents hold \
                 their results meanwhile"
            }
            StoreError::Database { .. } => {
                "check that you may write to it, or name another one with `--database`"
            }
            StoreError::FewPoints { .. } => "ask for more points, or for a shorter time",
            StoreError::Export(_) => "name a file on a disk with room",
            StoreError::BrokenOff => "ask for less with `--from` and `--to`, or let it finish",
        };
        Some(hint.to_owned())
    }
}

impl StoreError {
    /// Whether the same may succeed later without another request.
    pub fn may_pass(&self) -> bool {
        use StoreError::{Busy, Full, Unreachable};
        matches!(self, Busy { .. } | Full { .. } | Unreachable { .. })
    }
}
