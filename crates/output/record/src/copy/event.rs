//! Events of a running copy: one line of JSON each.

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use copy_protocol::Name;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use transfer::{CopyEvent, Progress};

use super::FileFailure;
use crate::Limit;

/// One line that `trunkline copy --json` prints. The last line is the document.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "event", rename_all = "kebab-case")]
pub enum CopyEventLine {
    /// The far end answered.
    Connected {
        /// Since the copy began.
        at_seconds: f64,
        /// Its address.
        peer: String,
        /// Smallest round trip of the handshake.
        #[serde(skip_serializing_if = "Option::is_none")]
        rtt_seconds: Option<f64>,
    },
    /// All there is to copy is known.
    Planned {
        /// Since the copy began.
        at_seconds: f64,
        /// Regular files.
        files: u64,
        /// Folders.
        folders: u64,
        /// Symbolic links.
        links: u64,
        /// Bytes of all files.
        bytes: u64,
        /// Bytes that are there already.
        present_bytes: u64,
    },
    /// Where it stands, twice a second.
    Progress(ProgressLine),
    /// A file (or link) has its final name.
    Published {
        /// Since the copy began.
        at_seconds: f64,
        /// Below the destination.
        #[serde(flatten)]
        name: FileName,
        /// Its size.
        bytes: u64,
        /// BLAKE3 of its content, as `b3sum` prints it; absent of a link.
        #[serde(skip_serializing_if = "Option::is_none")]
        blake3: Option<String>,
    },
    /// A file was there already.
    Skipped {
        /// Since the copy began.
        at_seconds: f64,
        /// Below the destination.
        #[serde(flatten)]
        name: FileName,
        /// Its size.
        bytes: u64,
    },
    /// A dry run says what would be copied.
    WouldCopy {
        /// Below the destination.
        #[serde(flatten)]
        name: FileName,
        /// Bytes that would be sent.
        bytes: u64,
    },
    /// Something was removed that the sources do not have, or would be in a dry run.
    Removed {
        /// Since the copy began.
        at_seconds: f64,
        /// Below the destination.
        name: String,
    },
    /// A pipe, a socket, a device or an unfinished file of another copy is left out.
    LeftOut {
        /// Since the copy began.
        at_seconds: f64,
        /// Which and why.
        #[serde(flatten)]
        failure: FileFailure,
    },
    /// A file could not be copied.
    Failed {
        /// Since the copy began.
        at_seconds: f64,
        /// Which and why.
        #[serde(flatten)]
        failure: FileFailure,
    },
    /// The number of streams changed.
    Steered {
        /// Since the copy began.
        at_seconds: f64,
        /// Streams from now on.
        streams: u16,
        /// Why.
        because: String,
    },
    /// The far end has no place for one more copy now, or another copy has the same files.
    Queued {
        /// Since the copy began.
        at_seconds: f64,
        /// Which bound is reached, or which copy goes on.
        because: String,
        /// How many wait before this one.
        ahead: u16,
        /// Until a place may be free, by what the copies that have places have left; left out where
        /// that is not known.
        #[serde(skip_serializing_if = "Option::is_none")]
        place_in_seconds: Option<f64>,
        /// When it asks again.
        retry_in_seconds: f64,
    },
    /// The far end is gone for now.
    Lost {
        /// Since the copy began.
        at_seconds: f64,
        /// What was seen.
        because: String,
        /// When the next try is.
        retry_in_seconds: f64,
    },
    /// It is back.
    Resumed {
        /// Since the copy began.
        at_seconds: f64,
        /// Bytes that are still to be sent.
        left_bytes: u64,
    },
    /// The copy did not come about, or ended early; then its document follows.
    Error {
        /// What happened.
        what: String,
        /// The next step.
        #[serde(skip_serializing_if = "Option::is_none")]
        hint: Option<String>,
    },
}

/// What a file is called.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FileName {
    /// For people: what is no text is replaced, and characters that steer a terminal are spelt out.
    pub name: String,
    /// Where that is not the very name: its bytes in base64 (RFC 4648, section 4).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name_bytes: Option<String>,
}

impl From<&Name> for FileName {
    fn from(name: &Name) -> Self {
        let shown = name.to_string();
        let is_exact = shown.as_bytes() == name.as_bytes();
        FileName {
            name_bytes: (!is_exact).then(|| BASE64_STANDARD.encode(name.as_bytes())),
            name: shown,
        }
    }
}

/// Where a copy stands.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ProgressLine {
    /// Since the copy began.
    pub at_seconds: f64,
    /// Confirmed bytes, those that were there before included.
    pub done_bytes: u64,
    /// Bytes of all files found so far.
    pub total_bytes: u64,
    /// Whether all files are found.
    pub total_is_known: bool,
    /// Files that have their final name.
    pub files_done: u64,
    /// Files found so far.
    pub files_total: u64,
    /// What the streams delivered over the last seconds, as bytes of files.
    pub rate_bits_per_second: u64,
    /// Streams that carry data.
    pub streams: u16,
    /// Mean smoothed round trip of the streams.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rtt_seconds: Option<f64>,
    /// Bytes sent again as a share of those sent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retransmitted_ratio: Option<f64>,
    /// What binds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limited_by: Option<Limit>,
    /// Time left at this rate.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub left_seconds: Option<f64>,
}

impl CopyEventLine {
    /// The event as one line, with a line break at its end.
    pub fn to_line(&self) -> String {
        crate::layout::line(self)
    }
}

impl From<&CopyEvent> for CopyEventLine {
    fn from(event: &CopyEvent) -> Self {
        match event {
            CopyEvent::Connected { at, peer, rtt } => CopyEventLine::Connected {
                at_seconds: at.as_secs_f64(),
                peer: peer.clone(),
                rtt_seconds: rtt.map(|rtt| rtt.as_secs_f64()),
            },
            CopyEvent::Planned {
                at,
                files,
                folders,
                links,
                bytes,
                present,
            } => CopyEventLine::Planned {
                at_seconds: at.as_secs_f64(),
                files: *files,
                folders: *folders,
                links: *links,
                bytes: bytes.get(),
                present_bytes: present.get(),
            },
            CopyEvent::Progress(progress) => CopyEventLine::Progress(progress.into()),
            CopyEvent::Published {
                at,
                name,
                bytes,
                digest,
            } => CopyEventLine::Published {
                at_seconds: at.as_secs_f64(),
                name: name.into(),
                bytes: bytes.get(),
                blake3: digest.map(|digest| blake3::Hash::from(digest).to_hex().to_string()),
            },
            CopyEvent::Skipped { at, name, bytes } => CopyEventLine::Skipped {
                at_seconds: at.as_secs_f64(),
                name: name.into(),
                bytes: bytes.get(),
            },
            CopyEvent::WouldCopy { name, bytes } => CopyEventLine::WouldCopy {
                name: name.into(),
                bytes: bytes.get(),
            },
            CopyEvent::Removed { at, name } => CopyEventLine::Removed {
                at_seconds: at.as_secs_f64(),
                name: name.clone(),
            },
            CopyEvent::LeftOut { at, problem } => CopyEventLine::LeftOut {
                at_seconds: at.as_secs_f64(),
                failure: problem.clone(),
            },
            CopyEvent::Failed { at, problem } => CopyEventLine::Failed {
                at_seconds: at.as_secs_f64(),
                failure: problem.clone(),
            },
            CopyEvent::Steered { at, streams, why } => CopyEventLine::Steered {
                at_seconds: at.as_secs_f64(),
                streams: *streams,
                because: why.clone(),
            },
            CopyEvent::Queued {
                at,
                why,
                ahead,
                place_in,
                retry_in,
            } => CopyEventLine::Queued {
                at_seconds: at.as_secs_f64(),
                because: why.clone(),
                ahead: *ahead,
                place_in_seconds: place_in.map(|left| left.as_secs_f64()),
                retry_in_seconds: retry_in.as_secs_f64(),
            },
            CopyEvent::Lost { at, why, retry_in } => CopyEventLine::Lost {
                at_seconds: at.as_secs_f64(),
                because: why.clone(),
                retry_in_seconds: retry_in.as_secs_f64(),
            },
            CopyEvent::Resumed { at, left } => CopyEventLine::Resumed {
                at_seconds: at.as_secs_f64(),
                left_bytes: left.get(),
            },
        }
    }
}

impl From<&Progress> for ProgressLine {
    fn from(progress: &Progress) -> Self {
        let reading = &progress.reading;
        ProgressLine {
            at_seconds: progress.at.as_secs_f64(),
            done_bytes: progress.done.get(),
            total_bytes: progress.total.get(),
            total_is_known: progress.total_is_known,
            files_done: progress.files_done,
            files_total: progress.files_total,
            rate_bits_per_second: reading.rate.bits_per_second(),
            streams: reading.streams,
            rtt_seconds: reading.rtt.map(|rtt| rtt.as_secs_f64()),
            retransmitted_ratio: reading.retransmitted_share,
            limited_by: reading.limited_by,
            left_seconds: progress.left.map(|left| left.as_secs_f64()),
        }
    }
}
