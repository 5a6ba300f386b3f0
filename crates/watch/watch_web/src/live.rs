//! What the pages show beside the database.

use std::sync::Arc;

use changes::{Metric, UnixTime};
use watch_plan::Timetable;
use watch_store::{EventKey, Name, Pair};

/// An agent as the collector knows it.
#[derive(Debug, Clone, PartialEq)]
pub struct AgentState {
    /// The host it runs on.
    pub host: Name,
    /// When it was last heard of.
    pub seen: UnixTime,
    /// Its program and version.
    pub software: String,
    /// Results that wait on its disk.
    pub waiting: u64,
    /// What it does now, in words.
    pub running: Option<String>,
    /// Whether its plan is another than the collector's.
    pub plan_differs: bool,
    /// Why it does not follow the collector's, which it was given.
    pub plan_refused: Option<String>,
    /// How far its clock is ahead of the collector's; less than zero where it is behind.
    pub clock_ahead_seconds: Option<f64>,
}

/// No alerts for some time. All that is given has to match; what is not matches all.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SilenceRequest {
    /// A host, at either end.
    pub host: Option<Name>,
    /// A pair, in its direction.
    pub pair: Option<Pair>,
    /// A task.
    pub task: Option<Name>,
    /// A metric.
    pub metric: Option<Metric>,
    /// The events of an incident; none means all.
    pub events: Vec<EventKey>,
    /// Until when.
    pub until: UnixTime,
    /// Why, in words; at most 500 bytes.
    pub reason: String,
}

/// A silence that holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HeldSilence {
    /// What it is about.
    pub silence: SilenceRequest,
    /// What names it, where a page has added it; `None` of the file of alerts.
    pub id: Option<String>,
}

/// What the pages show beside the database. Called from many threads.
pub trait Live: Send + Sync {
    /// The time; virtual in a demonstration.
    fn now(&self) -> UnixTime;
    /// What all pages say above all else, as a sentence.
    fn notice(&self) -> Option<String> {
        None
    }
    /// The timetable of the plan in force.
    fn timetable(&self) -> Option<Arc<Timetable>>;
    /// All agents that were heard of.
    fn agents(&self) -> Vec<AgentState>;
    /// The text of `/metrics` in OpenMetrics; `None` where there is none.
    fn metrics(&self) -> Option<String>;
    /// Further facts for the page of hosts: name and value.
    fn extra(&self) -> Vec<(&'static str, String)>;
    /// Takes a silence. Called only for those who know the token.
    ///
    /// # Errors
    /// Why it is not taken, with the next step.
    fn silence(&self, request: SilenceRequest) -> Result<(), String>;
    /// The silences that hold, those that end first in front; `None` where no alerts are sent.
    fn silences(&self) -> Option<Vec<HeldSilence>>;
    /// Ends a silence that a page has added; whether there was one.
    fn end_silence(&self, id: &str) -> bool;
}
