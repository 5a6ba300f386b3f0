//! What a plan comes down to.

use campaign_plan::GroupName;
use serde::{Deserialize, Serialize};

/// What a plan found in a group.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct GroupSummary {
    /// The group.
    pub group: GroupName,
    /// Names that were not there when it was planned last, or never before.
    pub new: u64,
    /// Names that were, as another file.
    pub changed: u64,
    /// Names that are as they were; earlier shards have them.
    pub same: u64,
    /// Names that are there no more. Nothing is removed at the destination.
    pub gone: u64,
    /// Bytes of the new and the changed.
    pub bytes: u64,
    /// Shards of the new and the changed.
    pub shards: u64,
    /// What is in no shard, with the reasons in `left_out.ndjson`.
    pub left_out: u64,
    /// Of these, what could not be read.
    pub unread: u64,
    /// Names that share their file with another name; each becomes a file of its own.
    pub linked: u64,
    /// Names that differ from another one only in case or normal form.
    pub clashes: u64,
}

/// What a plan comes down to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlanSummary {
    /// Its number; `None` where there is nothing new, and no plan was made.
    pub plan: Option<u32>,
    /// Each group.
    pub groups: Vec<GroupSummary>,
}
