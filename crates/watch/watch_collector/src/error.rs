//! Why a collector cannot go on.

use thiserror::Error;
use watch_store::StoreError;

/// Why a collector cannot go on. Nothing was lost: agents keep what was not confirmed.
#[derive(Debug, Error)]
pub enum CollectorError {
    /// The database failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl CollectorError {
    /// The next step.
    pub fn hint(&self) -> &'static str {
        let CollectorError::Store(error) = self;
        error.hint()
    }
}
