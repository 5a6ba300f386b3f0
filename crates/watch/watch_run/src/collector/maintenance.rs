//! Work that repeats: paths without visits, roll-ups, retention of raw values.

use changes::UnixTime;
use units::Span;

use crate::collector::{Collector, CollectorError};

/// Days of pairs that are rolled up before an agent is served.
const DAYS_AT_ONCE: u32 = 64;
/// Rows that one short transaction removes.
const DROP_AT_ONCE: u32 = 5_000;
/// How long agents have to deliver after a start: twice the minute between two of their tries, and
/// one for what waited.
const DELIVERY: Span = Span::from_secs(180);

impl Collector {
    /// Reports paths without visits, computes roll-ups, removes old raw values. Call it once a
    /// minute; agents are served in between its steps.
    ///
    /// # Errors
    /// When the database cannot be written. The next call goes on where this one stopped.
    pub fn tend(&self, now: UnixTime) -> Result<(), CollectorError> {
        self.telling(|state, events| {
            state.catch_up(events)?;
            if now.since(self.listening_since) < DELIVERY {
                return Ok(());
            }
            state.detect(|detection, store| detection.check(store, &self.timetable, now, events))
        })?;
        while self.state().store.roll_up(DAYS_AT_ONCE)? > 0 {}
        let oldest = now
            .seconds()
            .saturating_sub(self.keep_raw.as_secs_f64() as u64);
        let oldest = UnixTime::from_seconds(oldest);
        while self.state().store.drop_raw(oldest, DROP_AT_ONCE)? > 0 {}
        Ok(())
    }
}
