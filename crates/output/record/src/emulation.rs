//! Programs run across an emulated path: what the links did with their packets.

use link::Count;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The body of a `trunkline/emulate` document.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Emulation {
    /// The path's name.
    pub path: String,
    /// What the path is, in one line.
    pub path_description: String,
    /// The program on the near host, word by word.
    pub near_command: Vec<String>,
    /// The shell command on the far host.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub far_command: Option<String>,
    /// The exit code of the program on the near host.
    pub exit_code: u8,
    /// From near to far.
    pub forward: LinkCounters,
    /// From far to near.
    pub reverse: LinkCounters,
    /// Links between the near host and this one, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub before: Vec<DuplexCounters>,
    /// Links between this one and the far host, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub beyond: Vec<DuplexCounters>,
}

/// The books of both directions between two neighbours.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DuplexCounters {
    /// From near to far.
    pub forward: LinkCounters,
    /// From far to near.
    pub reverse: LinkCounters,
}

/// The books of one link: offered is always delivered + dropped by cause + in flight.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LinkCounters {
    /// Handed to the link.
    pub offered: Count,
    /// Came out at the far end.
    pub delivered: Count,
    /// Dropped because the queue was full.
    pub dropped_queue_full: Count,
    /// Dropped by RED before the queue was full.
    pub dropped_early: Count,
    /// Dropped by CoDel because they had waited too long.
    pub dropped_sojourn: Count,
    /// Dropped by a policer in front of the queue.
    #[serde(default, skip_serializing_if = "Count::is_zero")]
    pub dropped_policed: Count,
    /// Lost on the wire.
    pub dropped_wire_loss: Count,
    /// Still inside when the counters were read.
    pub in_flight: Count,
    /// Marked by the queue instead of dropped (ECN).
    pub marked: Count,
    /// The most that ever waited in the queue.
    pub queue_peak_bytes: u64,
    /// The packets of others' load on this link, which are in none of the other counts; absent
    /// where there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub load: Option<LoadCounters>,
}

/// The books of others' load on one link: offered is always delivered + dropped by cause + in
/// flight.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LoadCounters {
    /// Came to the link.
    pub offered: Count,
    /// Was put on the wire and not lost there.
    pub delivered: Count,
    /// Dropped because the queue was full.
    pub dropped_queue_full: Count,
    /// Dropped by RED before the queue was full.
    pub dropped_early: Count,
    /// Dropped by CoDel because they had waited too long.
    pub dropped_sojourn: Count,
    /// Dropped by a policer in front of the queue.
    #[serde(default, skip_serializing_if = "Count::is_zero")]
    pub dropped_policed: Count,
    /// Lost on the wire.
    pub dropped_wire_loss: Count,
    /// Waited when the counters were read.
    pub in_flight: Count,
}

impl From<&link::Counters> for LinkCounters {
    fn from(counters: &link::Counters) -> Self {
        LinkCounters {
            offered: counters.offered,
            delivered: counters.delivered,
            dropped_queue_full: counters.dropped_queue_full,
            dropped_early: counters.dropped_early,
            dropped_sojourn: counters.dropped_sojourn,
            dropped_policed: counters.dropped_policed,
            dropped_wire_loss: counters.dropped_wire_loss,
            in_flight: counters.in_flight,
            marked: counters.marked,
            queue_peak_bytes: counters.queue_peak.get(),
            load: None,
        }
    }
}

impl LinkCounters {
    /// With the books of others' load beside, where there was any.
    #[must_use]
    pub fn with_load(self, load: &link::Counters) -> Self {
        LinkCounters {
            load: (load.offered.packets > 0).then(|| load.into()),
            ..self
        }
    }
}

impl From<&link::Counters> for LoadCounters {
    fn from(counters: &link::Counters) -> Self {
        LoadCounters {
            offered: counters.offered,
            delivered: counters.delivered,
            dropped_queue_full: counters.dropped_queue_full,
            dropped_early: counters.dropped_early,
            dropped_sojourn: counters.dropped_sojourn,
            dropped_policed: counters.dropped_policed,
            dropped_wire_loss: counters.dropped_wire_loss,
            in_flight: counters.in_flight,
        }
    }
}
