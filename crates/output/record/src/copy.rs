//! What a copy was asked for, what it did, and where it stood twice a second.

mod asked;
mod command;
mod shape;
#[cfg(test)]
mod tests;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Direction, Limit, Multipath, Target};

pub use asked::{Asked, AskedFollow};
pub use command::shown_command;
pub use copy_protocol::{
    CopyEvent, CopyPhase, CopyProgress, EndShares, FileName, FileProblem, Filter, ProblemKind,
    SelectionRule,
};
pub use shape::{CopyLog, Request, direction, remembered_name};
/// The body of a `trunkline/copy` document.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Copy {
    /// The far end, by the name under which it is remembered.
    pub target: Target,
    /// Which way the files went: `forward` from here, `reverse` to here.
    pub direction: Direction,
    /// How the far end was reached.
    pub over: Over,
    /// The host that sent the files at the command of this one: of a third-party copy alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source_host: Option<String>,
    /// What was copied, as the user wrote it.
    pub sources: Vec<String>,
    /// Where to.
    pub destination: String,
    /// What else was asked for.
    pub asked: Asked,
    /// Why it ended before its end; absent where it did not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cut_because: Option<String>,
    /// All there was to copy; absent when the copy ended before that was known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub planned: Option<Planned>,
    /// Length of the copy.
    pub elapsed_seconds: f64,
    /// Bytes of files sent over all of this time but that of waiting for a place or for files;
    /// absent when none were.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub goodput_bits_per_second: Option<u64>,
    /// Stream count that carried most of it.
    pub streams: u16,
    /// Mean of the streams' round trips over the readings.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rtt_mean_seconds: Option<f64>,
    /// Whether the streams agreed on ECN (RFC 3168), so that queues may mark packets in place of
    /// drops; absent where that is not known: over UDP, and of a third-party copy.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ecn: Option<bool>,
    /// Regular files that got their final name.
    pub files: u64,
    /// Folders made.
    pub folders: u64,
    /// Symbolic links made.
    pub links: u64,
    /// Files that were there already.
    pub skipped_files: u64,
    /// Files that were not copied, and why.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub failed: Vec<FileProblem>,
    /// What is no part of it: pipes, sockets and devices, which have no content to copy, and
    /// unfinished files of copies that were broken off, at either end.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<FileProblem>,
    /// Files, links and folders that were removed at the destination, or would be; absent where
    /// that was not asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub removed: Option<u64>,
    /// Lists of checksums that were written, by the names of their files.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub checksum_lists: Vec<String>,
    /// Files that were new or being written when it ended, and so are not copied; absent where the
    /// copy did not go on while its sources were written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waiting_files: Option<u64>,
    /// Bytes of all files that are there now. Where the copy went on while its sources were
    /// written, a file that was copied again counts again, here and among the files.
    pub bytes: u64,
    /// Bytes of files that arrived at the receiver this time, before compression, as far as this
    /// end was told.
    pub sent_bytes: u64,
    /// Bytes of files that are holes, and were told in place of being sent.
    #[serde(default)]
    pub hole_bytes: u64,
    /// Bytes of files that were the same in older versions at the receiver, and so were not sent;
    /// absent where that was not asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unchanged_bytes: Option<u64>,
    /// Names that share their file with another one of those copied; each became a file of its own.
    #[serde(default)]
    pub hard_linked_names: u32,
    /// Bytes on the streams, after compression, with headers.
    pub wire_bytes: u64,
    /// Bytes that had to be sent twice.
    pub sent_again_bytes: u64,
    /// How often the far end was lost and found again.
    pub reconnects: u32,
    /// Streams that were replaced.
    pub streams_replaced: u32,
    /// What each pair of addresses carried, where the streams were dealt over any.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pairs: Vec<PairShare>,
    /// What the streams went over; absent where multipath TCP was not asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mptcp: Option<Multipath>,
    /// Processor time of this process.
    pub cpu_seconds: f64,
    /// What its time went to, the largest part first; the shares add up to one. Absent in documents
    /// of older versions.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub time: Vec<TimeShare>,
    /// What limited it; absent where it was over too soon to say.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<CopyLimit>,
    /// Every change of the number of streams.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub steps: Vec<Step>,
    /// Every time that the far end was gone.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub outages: Vec<Outage>,
    /// Where it stood, twice a second.
    pub readings: Vec<CopyReading>,
}

/// What one pair of addresses carried.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PairShare {
    /// Which: `10.0.1.1=10.0.1.2`, or the far address alone.
    pub addresses: String,
    /// Bytes on its streams.
    pub wire_bytes: u64,
    /// Its share of what all pairs carried; absent where they carried nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub share_ratio: Option<f64>,
    /// Since when it carried no stream any more, as they broke or none could be connected; absent
    /// where it did until the end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gone_from_seconds: Option<f64>,
}

/// How the far end was reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Over {
    /// Started through ssh.
    Ssh,
    /// A standing server.
    Server,
}

/// All there was to copy.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Planned {
    /// Regular files.
    pub files: u64,
    /// Folders.
    pub folders: u64,
    /// Symbolic links.
    pub links: u64,
    /// Bytes of all files.
    pub bytes: u64,
    /// Bytes that were there already.
    pub present_bytes: u64,
}

/// What limited a copy.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CopyLimit {
    /// What bound for at least half of the time in which data flowed; `several` where nothing did.
    pub by: Limit,
    /// Share of the copy's length during which it did; of several, that of the largest.
    pub share_ratio: f64,
    /// Only in documents from before `time`: everything that bound, the largest share first, in the
    /// last conversation.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub shares: Vec<LimitShare>,
    /// How it is known, a sentence.
    pub because: String,
    /// What can be done about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub advice: Option<String>,
}

/// One part of a copy that bound.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LimitShare {
    /// Which.
    pub by: Limit,
    /// Share of the time during which it did.
    pub share_ratio: f64,
}

/// One part of a copy's time.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TimeShare {
    /// What it went to.
    pub to: CopyPhase,
    /// Its share of the copy's length.
    pub share_ratio: f64,
}

/// A change of the number of streams.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Step {
    /// Since the copy began.
    pub at_seconds: f64,
    /// Streams from then on.
    pub streams: u16,
    /// Why.
    pub because: String,
}

/// A time without the far end.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Outage {
    /// When it was lost, since the copy began.
    pub at_seconds: f64,
    /// What was seen.
    pub because: String,
    /// When it was back; absent where it never was.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub until_seconds: Option<f64>,
}

/// Where a copy stood.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CopyReading {
    /// Since the copy began.
    pub at_seconds: f64,
    /// What the streams delivered over the last seconds, as bytes of files.
    pub rate_bits_per_second: u64,
    /// Files that have their final name; absent in documents of older versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub files: Option<u64>,
    /// Streams that carried data.
    pub streams: u16,
    /// Mean smoothed round trip of the streams.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rtt_seconds: Option<f64>,
    /// Bytes sent again as a share of those sent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retransmitted_ratio: Option<f64>,
    /// Segments of which an acknowledgement echoed a congestion mark, as a share of those that
    /// arrived; absent without ECN.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mark_echoed_ratio: Option<f64>,
    /// What bound.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limited_by: Option<Limit>,
    /// What the sender's threads spent their time on; absent where that is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sender: Option<EndShares>,
    /// The same of the receiver.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub receiver: Option<EndShares>,
}

impl Copy {
    /// Whether its number of streams says something of the path: the search had its way, and the
    /// path is what bound.
    pub fn teaches(&self) -> bool {
        let free = self.asked.streams.is_none()
            && self.asked.rate_max_bits_per_second.is_none()
            && self.asked.rate_schedule.is_none()
            && self.asked.gentle_added_rtt_max_seconds.is_none()
            && self.asked.via.is_empty()
            && !self.asked.mptcp;
        let by = self.limit.as_ref().map(|limit| limit.by);
        // The path between two other hosts is not the one from here.
        let is_own = self.source_host.is_none();
        free && is_own && self.streams > 0 && by.is_some_and(Limit::is_of_the_network)
    }
}
