//! What a step of alerts depends on beside the events.

use changes::UnixTime;
use watch_store::Pair;

use crate::Alerting;

/// What a step depends on beside the events.
#[derive(Clone, Copy)]
pub struct Situation<'a> {
    /// The file of alerts.
    pub alerting: &'a Alerting,
    /// All pairs that are visited: a host is silent when all its pairs are.
    pub pairs: &'a [Pair],
    /// The time.
    pub now: UnixTime,
}
