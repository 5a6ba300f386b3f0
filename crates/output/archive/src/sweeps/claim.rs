//! One process at a time makes the visits of a sweep.
//!
//! Two would measure each other. Rows of one visit cannot double, so this keeps time from being
//! wasted, and nothing from being damaged.

use std::fs::{self, File, TryLockError};
use std::path::PathBuf;

use super::super::{Archive, ArchiveError, with_ending};

/// The right to make the visits of one sweep; given back when dropped, and by the system when the
/// process ends in any other way.
#[derive(Debug)]
pub struct SweepClaim {
    place: PathBuf,
    _lock: File,
}

impl Archive {
    /// Takes the right to make the visits of the sweep `id`.
    ///
    /// # Errors
    /// When another process has it, or the folder of the archive cannot be written into.
    pub fn claim_sweep(&self, id: i64) -> Result<SweepClaim, ArchiveError> {
        let place = with_ending(&self.path, &format!(".sweep-{id}"));
        let unusable = |source| ArchiveError::Folder {
            folder: place.clone(),
            source,
        };
        let lock = File::create(&place).map_err(unusable)?;
        match lock.try_lock() {
            Ok(()) => Ok(SweepClaim { place, _lock: lock }),
            Err(TryLockError::WouldBlock) => Err(ArchiveError::SweepTaken {
                path: self.path.clone(),
                id,
            }),
            Err(TryLockError::Error(source)) => Err(unusable(source)),
        }
    }
}

impl Drop for SweepClaim {
    fn drop(&mut self) {
        // What stays behind is an empty file that no process holds.
        let _ = fs::remove_file(&self.place);
    }
}
