//! Visits without a result.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::{UnixTime, Visit};

/// Visits of a kind in a row that have to fail.
const FAILED_MIN: u32 = 3;

/// The failures in a row of one kind of visit.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub(crate) struct Outage {
    since: Option<UnixTime>,
    failed: u32,
    pub reasons: BTreeMap<String, u32>,
    /// The event that was reported.
    pub event: Option<u64>,
}

/// What a visit means for an outage.
pub(crate) enum Turn {
    Nothing,
    /// It has lasted long enough; since when.
    Begins(UnixTime),
    /// The event of this number is over.
    Ends(u64),
}

impl Outage {
    pub fn push(&mut self, visit: &Visit) -> Turn {
        if has_result(visit) {
            let event = std::mem::take(self).event;
            return event.map_or(Turn::Nothing, Turn::Ends);
        }
        let since = *self.since.get_or_insert(visit.at);
        self.failed += 1;
        let reason = visit
            .failure
            .as_ref()
            .map(|failure| failure.reason.as_str());
        let reason = reason.unwrap_or("no result and no reason").to_owned();
        *self.reasons.entry(reason).or_default() += 1;
        match self.failed == FAILED_MIN {
            true => Turn::Begins(since),
            false => Turn::Nothing,
        }
    }
}

/// A visit that measured anything has a result, even where one of its parts failed. Routers on the
/// way to a host that does not answer are none.
fn has_result(visit: &Visit) -> bool {
    let has_route = visit.route.is_some() && visit.failure.is_none();
    visit.goodput.is_some() || visit.round_trips.is_some() || has_route
}
