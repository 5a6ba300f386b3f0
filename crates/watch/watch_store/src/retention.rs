//! Raw values that are old enough are removed; the figures of each visit, all roll-ups and the
//! hours of traffic stay.

use changes::UnixTime;

use crate::rows::second;
use crate::{Store, StoreError};

impl Store {
    /// Removes raw round trips, rates and documents of visits before `before`, and traffic of less
    /// than an hour, at most `limit` of each in one short transaction; how many it removed. Call it
    /// until it gives zero, and store visits in between. A SQLite file does not shrink: its free
    /// pages take the next visits.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn drop_raw(&mut self, before: UnixTime, limit: u32) -> Result<u64, StoreError> {
        self.database.transaction(|database| {
            let mut dropped = 0;
            for table in ["raw", "documents"] {
                let delete = format!(
                    "DELETE FROM {table} WHERE (at, id) IN (SELECT at, id FROM {table} \
                     WHERE at < $1 ORDER BY at, id LIMIT $2)"
                );
                let values = [second(before).into(), i64::from(limit).into()];
                dropped += database.execute(&delete, &values)?;
            }
            // Whole hours: an export has each hour once, in parts or as a whole.
            let hour = second(before) / 3600 * 3600;
            let key = "at, seconds, router, way, application";
            let delete = format!(
                "DELETE FROM flows WHERE ({key}) IN (SELECT {key} FROM flows WHERE at < $1 \
                 ORDER BY {key} LIMIT $2)"
            );
            dropped += database.execute(&delete, &[hour.into(), i64::from(limit).into()])?;
            Ok(dropped)
        })
    }
}
