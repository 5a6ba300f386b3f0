//! Whether the goodput of a running test is known well enough to end it.

use observe::{Precision, Progress, Snapshot};

/// What has arrived over all streams, interval by interval.
#[derive(Debug, Default)]
pub(super) struct Arrived {
    readings: Vec<Progress>,
}

impl Arrived {
    pub(super) fn add(&mut self, snapshot: &Snapshot) {
        self.readings.push(Progress {
            at: snapshot.at,
            bytes: snapshot.bytes,
        });
    }

    /// Whether the steady part is long enough and its 95 % interval narrow enough.
    pub(super) fn suffices(&self, wanted: &Precision) -> bool {
        wanted.is_met(&[&self.readings])
    }
}
