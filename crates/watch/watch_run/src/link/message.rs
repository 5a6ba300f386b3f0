//! The messages.

use std::collections::BTreeMap;
use std::fmt;

use changes::{FarHost, UnixTime};
use serde::{Deserialize, Serialize};
use watch_store::{Name, Receipt, StoredVisit};

/// Version of the messages. Ends of different versions say so and part.
pub const LINK_VERSION: u16 = 1;
/// Most visits in one report.
pub const VISITS_MAX: usize = 200;

/// BLAKE3 of the texts of a plan, in hexadecimal digits: agents and collector compare it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct PlanDigest(String);

impl PlanDigest {
    /// The digest of the text of a plan that includes nothing.
    pub fn of(text: &str) -> Self {
        PlanDigest(blake3::hash(text.as_bytes()).to_hex().to_string())
    }
}

/// A plan as it is written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlanText {
    /// The name of its file, for messages.
    pub file: String,
    /// The text.
    pub text: String,
    /// The texts of the files that it includes, by the names that it gives them.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub included: BTreeMap<String, String>,
}

impl PlanText {
    /// A plan that includes nothing; `file` is its name.
    pub fn new(file: impl Into<String>, text: impl Into<String>) -> Self {
        PlanText {
            file: file.into(),
            text: text.into(),
            included: BTreeMap::new(),
        }
    }

    /// What agents and collector compare it by. The name of its file is not part of it.
    pub fn digest(&self) -> PlanDigest {
        let mut hasher = blake3::Hasher::new();
        hasher.update(self.text.as_bytes());
        for (name, text) in &self.included {
            for part in [name, text] {
                hasher.update(&(part.len() as u64).to_le_bytes());
                hasher.update(part.as_bytes());
            }
        }
        PlanDigest(hasher.finalize().to_hex().to_string())
    }
}

/// The first twelve digits.
impl fmt::Display for PlanDigest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0.get(..12).unwrap_or(&self.0))
    }
}

/// How an agent is, and what it has.
///
/// * `V`: its visits as they are, or as they came.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Report<V = StoredVisit> {
    /// [`LINK_VERSION`] of the agent.
    pub version: u16,
    /// Its program, such as `trunkline 0.3.0`.
    pub software: String,
    /// The hosts of the plan that it is.
    pub hosts: Vec<Name>,
    /// What other agents may know of its host: kernel and buffers.
    pub host: FarHost,
    /// Its plan; none before it has the first one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plan: Option<PlanDigest>,
    /// Of an agent that takes its plans from the collector.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plan_wish: Option<PlanWish>,
    /// Its clock.
    #[serde(rename = "now_unix_seconds")]
    pub now: UnixTime,
    /// Visits on its disk, these among them.
    pub waiting: u64,
    /// The visit that runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub running: Option<Running>,
    /// The oldest visits that wait, at most [`VISITS_MAX`].
    pub visits: Vec<V>,
}

impl<V> Report<V> {
    /// The same with other visits.
    pub(crate) fn with<W>(self, visits: Vec<W>) -> Report<W> {
        Report {
            version: self.version,
            software: self.software,
            hosts: self.hosts,
            host: self.host,
            plan: self.plan,
            plan_wish: self.plan_wish,
            now: self.now,
            waiting: self.waiting,
            running: self.running,
            visits,
        }
    }
}

/// That an agent takes its plans from the collector.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlanWish {
    /// The latest text that it has looked at, which need not be sent again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seen: Option<PlanDigest>,
    /// Why it does not follow that one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refused: Option<String>,
}

/// A visit that runs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Running {
    /// The task.
    pub task: Name,
    /// The far host.
    pub to: Name,
    /// When it has ended at the latest.
    #[serde(rename = "until_unix_seconds")]
    pub until: UnixTime,
}

/// What a collector answers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Answer {
    /// It took the report.
    Taken(Reply),
    /// It did not, and why.
    Refused(Refused),
}

/// What became of a report.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Reply {
    /// The collector's clock.
    #[serde(rename = "now_unix_seconds")]
    pub now: UnixTime,
    /// Its plan.
    pub plan: PlanDigest,
    /// The text of that plan, for an agent that wishes it and has another.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plan_text: Option<PlanText>,
    /// What became of each visit, in their order.
    pub receipts: Vec<Receipt>,
    /// Kernel and buffers of the hosts whose agents have reported.
    pub far_hosts: BTreeMap<Name, FarHost>,
}

/// Why a report is not taken. The agent keeps its visits.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Refused {
    /// What is wrong, with the value and the bound.
    pub what: String,
    /// The next step.
    pub hint: String,
}
