//! Why a collector cannot go on.

use errors::{Fault, Hint};
use thiserror::Error;
use watch_store::StoreError;

/// Why a collector cannot go on. Nothing was lost: agents keep what was not confirmed.
#[derive(Debug, Error)]
pub enum CollectorError {
    /// The database failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl Hint for CollectorError {
    fn fault(&self) -> Fault {
        Fault::Run
    }

    fn hint(&self) -> Option<String> {
        let CollectorError::Store(error) = self;
        error.hint()
    }
}
