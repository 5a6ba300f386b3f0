//! Open stores, shared among requests.

use std::sync::{Mutex, PoisonError};

use watch_store::{DatabaseName, Store};

use crate::problem::Problem;

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

    /// Asks a store. After one failed all are closed: their connections may be broken too.
    pub fn with<T>(
        &self,
        ask: impl FnOnce(&mut Store) -> Result<T, Problem>,
    ) -> Result<T, Problem> {
        let idle = self.idle().pop();
        let mut store = match idle {
            Some(store) => store,
            None => Store::open(&self.database)?,
        };
        let answer = ask(&mut store);
        match &answer {
            Err(problem) if problem.is_of_store() => self.idle().clear(),
            _ => self.idle().push(store),
        }
        answer
    }

    /// A list of stores is whole after any panic.
    fn idle(&self) -> std::sync::MutexGuard<'_, Vec<Store>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
