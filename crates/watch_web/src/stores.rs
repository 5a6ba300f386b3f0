//! Open stores, shared among requests.

use std::sync::{Mutex, PoisonError};

use watch_store::{DatabaseName, Store, StoreError};

/// Stores that no request uses, and where to get more.
pub struct Stores {
    database: DatabaseName,
    idle: Mutex<Vec<Store>>,
}

impl Stores {
    /// The first store is opened by the first request.
    pub fn new(database: DatabaseName) -> Self {
        Stores {
            database,
            idle: Mutex::default(),
        }
    }

    /// Asks a store. One that failed is closed: its connection may be the reason.
    pub fn with<T, E: From<StoreError>>(
        &self,
        ask: impl FnOnce(&mut Store) -> Result<T, E>,
    ) -> Result<T, E> {
        let idle = self.idle().pop();
        let mut store = match idle {
            Some(store) => store,
            None => Store::open(&self.database)?,
        };
        let answer = ask(&mut store)?;
        self.idle().push(store);
        Ok(answer)
    }

    /// A list of stores is whole after any panic.
    fn idle(&self) -> std::sync::MutexGuard<'_, Vec<Store>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
