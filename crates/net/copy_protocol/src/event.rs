//! What a copy tells while it runs, and what it comes down to.

use crate::shown_name;
use crate::{Activity, Name, Problem, ProblemKind};
use observe::{Limit, Multipath};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use units::{AddressPair, Bytes, Rate, Span, Time, TimeOfDay};

/// One line that `trunkline copy --json` prints. The last line is the document.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "event", rename_all = "kebab-case")]
pub enum CopyEvent {
    /// The far end answered.
    Connected {
        /// Since the copy began.
        #[serde(rename = "at_seconds")]
        at: Time,
        /// Its address.
        peer: String,
        /// Smallest round trip of the handshake.
        #[serde(rename = "rtt_seconds", skip_serializing_if = "Option::is_none")]
        rtt: Option<Span>,
    },
    /// The far end has no trunkline, or one of another version: this host's is being sent there.
    ProgramSent {
        /// Since the copy began.
        #[serde(rename = "at_seconds")]
        at: Time,
        /// The host, as ssh takes it.
        host: String,
        /// The file there, which stays.
        file: String,
        /// Its size.
        bytes: Bytes,
    },
    /// No trunkline can be started at the far end: its SFTP server takes the place, and the copy is
    /// slower.
    OverSftp {
        /// Since the copy began.
        #[serde(rename = "at_seconds")]
        at: Time,
        /// The host, as ssh takes it.
        host: String,
        /// Why none can be started.
        because: String,
    },
    /// All there is to copy is known.
    Planned {
        /// Since the copy began.
        #[serde(rename = "at_seconds")]
        at: Time,
        /// Regular files.
        files: u64,
        /// Folders.
        folders: u64,
        /// Symbolic links.
        links: u64,
        /// Bytes of all files.
        bytes: Bytes,
        /// Bytes that need not be sent: they are there already.
        #[serde(rename = "present_bytes")]
        present: Bytes,
    },
    /// Where it stands, twice a second.
    Progress(CopyProgress),
    /// A file (or link) has its final name.
    Published {
        /// Since the copy began.
        #[serde(rename = "at_seconds")]
        at: Time,
        /// Its name below the destination.
        #[serde(flatten, with = "shown_name")]
        #[schemars(with = "crate::FileName")]
        name: Name,
        /// Its size.
        bytes: Bytes,
        /// BLAKE3 of its content; `None` for a link.
        #[serde(rename = "blake3", default, skip_serializing_if = "Option::is_none")]
        #[serde(with = "hex")]
        #[schemars(with = "Option<String>")]
        digest: Option<[u8; 32]>,
    },
    /// A file was there already.
    Skipped {
        /// Since the copy began.
        #[serde(rename = "at_seconds")]
        at: Time,
        /// Its name below the destination.
        #[serde(flatten, with = "shown_name")]
        #[schemars(with = "crate::FileName")]
        name: Name,
        /// Its size.
        bytes: Bytes,
    },
    /// A checksum that was asked for of a file that was copied or was there already, as this host
    /// read it.
    Checksum {
        /// Its name below the destination.
        #[serde(flatten, with = "shown_name")]
        #[schemars(with = "crate::FileName")]
        name: Name,
        /// Its size.
        bytes: Bytes,
        /// Which checksum: `sha256`, `md5`, `crc32c`, `adler32` and so on.
        algorithm: String,
        /// In lower-case hexadecimal digits.
        digest: String,
    },
    /// A dry run says what would be copied.
    WouldCopy {
        /// Its name below the destination.
        #[serde(flatten, with = "shown_name")]
        #[schemars(with = "crate::FileName")]
        name: Name,
        /// Bytes that would be sent.
        bytes: Bytes,
    },
    /// Something was removed that the sources do not have, or would be in a dry run.
    Removed {
        /// Since the copy began.
        #[serde(rename = "at_seconds")]
        at: Time,
        /// Its name below the destination, that of a folder with a `/` at its end.
        name: String,
    },
    /// Something is no part of the copy, which is no failure: a pipe, a socket or a device, or an
    /// unfinished file of another copy.
    LeftOut {
        /// Since the copy began.
        #[serde(rename = "at_seconds")]
        at: Time,
        /// Which and why.
        #[serde(flatten)]
        problem: FileProblem,
    },
    /// A file could not be copied; others go on.
    Failed {
        /// Since the copy began.
        #[serde(rename = "at_seconds")]
        at: Time,
        /// Which and why.
        #[serde(flatten)]
        problem: FileProblem,
    },
    /// The number of streams changed.
    Steered {
        /// Since the copy began.
        #[serde(rename = "at_seconds")]
        at: Time,
        /// Streams from now on.
        streams: u16,
        /// Why, as a sentence for people without a full stop.
        #[serde(rename = "because")]
        why: String,
    },
    /// The far end has no place for one more copy now, or another copy has the same files.
    Queued {
        /// Since the copy began.
        #[serde(rename = "at_seconds")]
        at: Time,
        /// Which bound is reached, or which copy goes on.
        #[serde(rename = "because")]
        why: String,
        /// How many wait before this one.
        ahead: u16,
        /// Until a place may be free, as far as the far end knows that.
        #[serde(rename = "place_in_seconds", skip_serializing_if = "Option::is_none")]
        place_in: Option<Span>,
        /// When it asks again.
        #[serde(rename = "retry_in_seconds")]
        retry_in: Span,
    },
    /// Nothing has happened for some time although both ends are connected. Told once, until
    /// something happens again.
    Stalled {
        /// Since the copy began.
        #[serde(rename = "at_seconds")]
        at: Time,
        /// How long.
        #[serde(rename = "still_seconds")]
        still: Span,
        /// What this end does or waits for, to stand behind "this side".
        here: String,
        /// The same of the far end, as far as it says.
        there: String,
    },
    /// Something happens again.
    Moving {
        /// Since the copy began.
        #[serde(rename = "at_seconds")]
        at: Time,
        /// How long it stood still.
        #[serde(rename = "still_seconds")]
        still: Span,
    },
    /// The far end is gone for now.
    Lost {
        /// Since the copy began.
        #[serde(rename = "at_seconds")]
        at: Time,
        /// What was seen.
        #[serde(rename = "because")]
        why: String,
        /// When the next try is.
        #[serde(rename = "retry_in_seconds")]
        retry_in: Span,
    },
    /// It is back; what had arrived is not sent again.
    Resumed {
        /// Since the copy began.
        #[serde(rename = "at_seconds")]
        at: Time,
        /// Bytes that are still to be sent.
        #[serde(rename = "left_bytes")]
        left: Bytes,
    },
    /// A copy that goes on while its sources are written waits for files. Told when the figures
    /// change, and after each pass.
    Following {
        /// Since the copy began.
        #[serde(rename = "at_seconds")]
        at: Time,
        /// Files of the sources that are copied.
        files: u64,
        /// Their bytes.
        bytes: Bytes,
        /// Files that are new or being written: they are copied once two looks see the same.
        #[serde(rename = "waiting_files")]
        waiting: u64,
    },
    /// The copy did not come about, or ended early; then its document follows. Printed by the
    /// program, and told to no observer.
    Error {
        /// What happened.
        what: String,
        /// The next step.
        #[serde(skip_serializing_if = "Option::is_none")]
        hint: Option<String>,
    },
}

/// Where a copy stands.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CopyProgress {
    /// Since the copy began.
    #[serde(rename = "at_seconds")]
    pub at: Time,
    /// Bytes of files that the receiver has confirmed, those that were there before included.
    #[serde(rename = "done_bytes")]
    pub done: Bytes,
    /// Bytes of all files found so far.
    #[serde(rename = "total_bytes")]
    pub total: Bytes,
    /// Whether all files are found.
    pub total_is_known: bool,
    /// Files that have their final name.
    pub files_done: u64,
    /// Files found so far.
    pub files_total: u64,
    /// What the streams delivered over the last seconds, as bytes of files.
    #[serde(rename = "rate_bits_per_second")]
    pub rate: Rate,
    /// Streams that carry data.
    pub streams: u16,
    /// Mean smoothed round trip of the streams.
    #[serde(rename = "rtt_seconds", skip_serializing_if = "Option::is_none")]
    pub rtt: Option<Span>,
    /// Bytes sent again as a share of those sent.
    #[serde(
        rename = "retransmitted_ratio",
        skip_serializing_if = "Option::is_none"
    )]
    pub retransmitted_share: Option<f64>,
    /// What binds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limited_by: Option<Limit>,
    /// The most that may be sent now over all streams together.
    #[serde(
        rename = "rate_max_bits_per_second",
        skip_serializing_if = "Option::is_none"
    )]
    pub rate_max: Option<Rate>,
    /// When another bound holds, by the clock of the near end; absent where it does not change.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    pub rate_max_until: Option<TimeOfDay>,
    /// Time left at this rate.
    #[serde(rename = "left_seconds", skip_serializing_if = "Option::is_none")]
    pub left: Option<Span>,
}

impl CopyEvent {
    /// The event as one line of JSON, with a line break at its end.
    ///
    /// ```
    /// let event = copy_protocol::CopyEvent::Resumed {
    ///     at: units::Time::ZERO,
    ///     left: units::Bytes::new(7),
    /// };
    /// let line = "{\"event\":\"resumed\",\"at_seconds\":0.0,\"left_bytes\":7}\n";
    /// assert_eq!(event.to_line(), line);
    /// ```
    pub fn to_line(&self) -> String {
        let line = serde_json::to_string(self);
        line.expect("events have texts as keys and no number that JSON lacks") + "\n"
    }
}

/// A digest as `b3sum` prints it.
mod hex {
    use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error};

    pub fn serialize<S: Serializer>(
        digest: &Option<[u8; 32]>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        let text = digest.map(|digest| blake3::Hash::from(digest).to_hex());
        text.as_deref().serialize(serializer)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Option<[u8; 32]>, D::Error> {
        let text = Option::<String>::deserialize(deserializer)?;
        let digest = text.map(|text| blake3::Hash::from_hex(text).map(Into::into));
        digest.transpose().map_err(D::Error::custom)
    }
}

/// What one half second showed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Reading {
    /// Since the copy began.
    pub at: Time,
    /// What the streams delivered over the last seconds, as bytes of files.
    pub rate: Rate,
    /// Files that have their final name.
    pub files: u64,
    /// Streams that carry data.
    pub streams: u16,
    /// Mean smoothed round trip of the streams.
    pub rtt: Option<Span>,
    /// Bytes sent again, as a share of those sent.
    pub retransmitted_share: Option<f64>,
    /// Segments of which an acknowledgement echoed a congestion mark, as a share of those that
    /// arrived; `None` without ECN.
    pub mark_echoed_share: Option<f64>,
    /// Whether the streams agreed on ECN; `None` where that is not known.
    pub ecn: Option<bool>,
    /// What binds; `None` where no single part does.
    pub limited_by: Option<Limit>,
    /// What the threads of the sender spent their time on.
    pub sender: Option<EndShares>,
    /// Those of the receiver.
    pub receiver: Option<EndShares>,
}

/// What the threads of one end spent their time on, as shares of it. The rest they were idle.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct EndShares {
    /// Waiting for files to be read or written.
    pub disk_ratio: f64,
    /// Waiting for the connection to take or to bring data.
    pub network_ratio: f64,
    /// On a processor, or waiting for one.
    pub processor_ratio: f64,
}

impl EndShares {
    /// `None` where no thread did anything.
    pub fn of(activity: &Activity) -> Option<EndShares> {
        let shares = activity.shares()?;
        Some(EndShares {
            disk_ratio: shares.disk,
            network_ratio: shares.network,
            processor_ratio: shares.processor,
        })
    }
}

fn is_nothing(count: &u64) -> bool {
    *count == 0
}

/// A file that was not copied.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FileProblem {
    /// Its name below the destination, that of a folder with a `/` at its end; empty where it is
    /// about all of them.
    pub name: String,
    /// Kind of a problem.
    pub kind: ProblemKind,
    /// What happened.
    pub what: String,
    /// The next step.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
    /// Of a folder: what is in it, and so was not copied either; absent where that is nothing.
    #[serde(default, skip_serializing_if = "is_nothing")]
    pub below: u64,
}

impl FileProblem {
    /// The problem of something of this name.
    pub fn new(name: String, problem: Problem) -> Self {
        FileProblem {
            name,
            kind: problem.kind,
            what: problem.what,
            hint: problem.hint,
            below: 0,
        }
    }
}

/// What a copy's time went to.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum CopyPhase {
    /// Reaching the far end, and finding out what there is to copy, until data flowed.
    Starting,
    /// Waiting for a place at the far end, or for another copy of the same files.
    Queued,
    /// The far end was gone.
    Away,
    /// Data flowed, and no single part bound.
    Unclear,
    /// After the last data: flushing files and giving them their names.
    Ending,
    /// Waiting for files of the sources to be finished.
    Following,
    /// Data flowed, and this bound.
    #[serde(untagged)]
    Bound(Limit),
}

/// One part of a copy's time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TimePart {
    /// What it went to.
    pub phase: CopyPhase,
    /// How much.
    pub time: Span,
}

/// What limited the copy, for its last line.
#[derive(Debug, Clone, PartialEq)]
pub struct LimitedBy {
    /// What bound for at least half of the time in which data flowed; [`Limit::Several`] where
    /// nothing did.
    pub by: Limit,
    /// Share of the copy's length during which it did; of several, that of the largest.
    pub share: f64,
    /// Why, as a sentence for people.
    pub why: String,
    /// What can be done about it.
    pub advice: Option<String>,
}

/// What one pair of addresses carried.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PairCarried {
    /// Which.
    pub pair: AddressPair,
    /// Bytes on its streams.
    pub carried: Bytes,
    /// Since when it carries no stream any more; `None` where it does, or was left to others.
    pub gone: Option<Time>,
}

/// How a copy ended: with everything copied, or with the files that were not.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Outcome {
    /// Length of the copy.
    pub took: Span,
    /// What its time went to, the largest part first. The parts add up to its length.
    pub time: Vec<TimePart>,
    /// Regular files that were published.
    pub files: u64,
    /// Folders made.
    pub folders: u64,
    /// Links made.
    pub links: u64,
    /// Files that were there already.
    pub skipped: u64,
    /// Bytes of all files that are there now.
    pub bytes: Bytes,
    /// Bytes of files that arrived over the network this time, each counted once, without holes and
    /// before compression.
    pub sent: Bytes,
    /// Bytes of files that are holes and were told in place of being sent.
    pub holes: Bytes,
    /// Bytes of files that were the same in older versions at the receiver, and so were not sent.
    pub unchanged: Bytes,
    /// Names among those copied that share their file with another one (hard links). Each became a
    /// file of its own.
    pub linked: u32,
    /// Bytes on the streams after compression, headers included.
    pub on_wire: Bytes,
    /// Bytes that had to be sent twice: damaged, lost with their stream, or sent by two streams at
    /// the end.
    pub sent_again: Bytes,
    /// Files that were not copied.
    pub failed: Vec<FileProblem>,
    /// What is no part of it: pipes, sockets and devices, which have no content to copy, and
    /// unfinished files of copies that were broken off, at either end.
    pub left_out: Vec<FileProblem>,
    /// Files, links and folders that were removed, or would be in a dry run.
    pub removed: u64,
    /// Where the copy goes on while its sources are written: files that were new or being written
    /// when it ended, and so are not copied.
    pub waiting: u64,
    /// How often the far end was lost and found again.
    pub reconnects: u32,
    /// Streams that were replaced.
    pub streams_replaced: u32,
    /// What each pair of addresses carried, where the streams were dealt over any.
    pub pairs: Vec<PairCarried>,
    /// What the streams went over, where multipath TCP was asked for.
    pub multipath: Option<Multipath>,
    /// Stream count that carried most of it; what to remember of this host.
    pub streams: u16,
    /// What limited it; `None` where it was over too soon to say.
    pub limit: Option<LimitedBy>,
    /// All readings.
    pub readings: Vec<Reading>,
    /// Processor time of this process.
    pub processor: Span,
}

impl Outcome {
    /// Bytes of files sent over all of its time but that in which it waited for a place or for
    /// files; `None` when none were.
    pub fn goodput(&self) -> Option<Rate> {
        let time = self.took - self.queued() - self.spent(CopyPhase::Following);
        let any = self.sent.get() > 0 && time > Span::ZERO;
        any.then(|| Rate::of(self.sent, time))
    }

    /// How long it waited for a place at the far end.
    pub fn queued(&self) -> Span {
        self.spent(CopyPhase::Queued)
    }

    fn spent(&self, phase: CopyPhase) -> Span {
        let part = self.time.iter().find(|part| part.phase == phase);
        part.map_or(Span::ZERO, |part| part.time)
    }

    /// Whether the streams agreed on ECN, as the last reading that knows it says.
    pub fn ecn(&self) -> Option<bool> {
        self.readings.iter().rev().find_map(|one| one.ecn)
    }

    /// Mean of the streams' round trips over the readings.
    pub fn rtt_mean(&self) -> Option<Span> {
        let seen: Vec<Span> = self.readings.iter().filter_map(|one| one.rtt).collect();
        let sum: f64 = seen.iter().map(|rtt| rtt.as_secs_f64()).sum();
        (!seen.is_empty()).then(|| Span::from_secs_f64(sum / seen.len() as f64))
    }
}
