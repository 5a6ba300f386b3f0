//! What the pages show beside the database.

use std::sync::Arc;

use changes::UnixTime;
use watch_plan::Timetable;
use watch_store::{Name, Pair};

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

/// A wish to have no alerts for some time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SilenceRequest {
    /// For this pair alone; `None` for all.
    pub pair: Option<Pair>,
    /// For this task alone; `None` for all.
    pub task: Option<Name>,
    /// Until when.
    pub until: UnixTime,
    /// Why, in words; at most 500 bytes.
    pub reason: String,
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
}
