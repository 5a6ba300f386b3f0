//! A campaign on disk: what its trees have, which shards that makes, what became of each.
//!
//! | in the campaign's folder | holds |
//! |---|---|
//! | `plan.toml` | the plan as it was read last; its links bind |
//! | `plans/N/plan.toml` | the plan that these shards were cut by |
//! | `plans/N/shards.ndjson` | a line for each shard of plan N |
//! | `plans/N/GROUP/00001.ndjson` | the manifest of a shard |
//! | `plans/N/GROUP.listing` | all names of the group, to find the difference next time |
//! | `plans/N/GROUP.superseded.ndjson` | names of earlier plans that count no more |
//! | `plans/N/left_out.ndjson` | what was found and is in no shard, with the reason |
//! | `runs/SHARD/` | what became of a shard: `result.json`, `done.ndjson`, `failed.ndjson` |
//! | `runs/SHARD/sums.ndjson` | checksums of its files, where the group is a bag |
//! | `bags/GROUP/` | the tag files of a bag, as they are at the destination |
//! | `links/LINK/slot-N` | locked by a copy that runs on the link |
//! | `links/LINK/waits-HOST` | locked while a copy of the host waits for a slot |
//! | `links/LINK/slot-N.json`, `streams.json` | how it fares, how many streams each has |
//! | `paused`, `cancelled` | that the campaign is |
//!
//! A plan is made in `plans/.making` and renamed when all of it is on disk. Files beside it are
//! replaced by renaming. What runs holds a lock that its end releases, however it ends.
//!
//! Reading order: `entry.rs`, `sort.rs`, `walk.rs`, `make.rs`; then `folder.rs`, `shard_run.rs` and
//! `sums.rs`.

mod appended;
mod clashes;
mod difference;
mod entry;
mod error;
mod folder;
#[cfg(test)]
mod histories;
mod line;
mod link_reports;
mod listing;
mod make;
mod shard_run;
mod shards;
mod slots;
mod sort;
mod summary;
mod sums;
mod walk;

pub use difference::Difference;
pub use entry::{Entry, Kind};
pub use error::StoreError;
pub use folder::{CampaignFolder, Mark, ShardId, ShardRow, replace};
pub use line::{Fate, LeftOut, Line, Manifest, ManifestWriter, Reason};
pub use link_reports::{CopyReport, LinkReports};
pub use make::PlanMaker;
pub use shard_run::{Done, Failed, Notes, RunLock, ShardResult, ShardRun, causes};
pub use slots::{Slot, SlotWait, Slots};
pub use sort::{Sorted, Sorter};
pub use summary::{GroupSummary, PlanSummary};
pub use sums::{SumNotes, Summed};
pub use walk::{Counted, Tree, Walked, walk};
