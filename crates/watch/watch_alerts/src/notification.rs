//! What is told of an incident.

use changes::UnixTime;
use serde::{Deserialize, Serialize};
use watch_store::{Name, Pair, StoredEvent};

use crate::{Severity, words};

/// More changes than these are counted, not listed.
pub(crate) const LISTED: usize = 50;

/// What is told of an incident, once when it begins and once when it is over.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Notification {
    /// The same whenever this one is sent again; no other has it.
    pub id: String,
    /// The same at the beginning and at the end.
    pub incident: String,
    /// Which of the two.
    pub state: State,
    /// The severity of the worst event.
    pub severity: Severity,
    /// One sentence: what, before and after, since when.
    pub headline: String,
    /// The first visit of the first event.
    #[serde(rename = "since_unix_seconds")]
    pub since: UnixTime,
    /// The first visit that showed all as it was.
    #[serde(
        rename = "recovered_unix_seconds",
        default,
        skip_serializing_if = "Option::is_none"
    )]
    pub recovered: Option<UnixTime>,
    /// The likeliest cause.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cause: Option<CauseNote>,
    /// What changed, the worst first, at most 50.
    pub changes: Vec<Change>,
    /// How many pairs are affected.
    pub pairs: usize,
    /// The page of the worst event, where `base_url` is configured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub link: Option<String>,
}

/// Whether an incident begins or is over.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum State {
    /// It begins.
    Began,
    /// It is over.
    Over,
}

/// The likeliest cause and its evidence.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CauseNote {
    /// What it is.
    pub name: String,
    /// What the visits show.
    pub because: String,
}

/// What changed for one task of a pair.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Change {
    /// The pair.
    pub pair: Pair,
    /// The task.
    pub task: Name,
    /// Before and after.
    pub what: String,
    /// The first visit that showed it.
    #[serde(rename = "since_unix_seconds")]
    pub since: UnixTime,
}

impl Notification {
    /// All of it as text with several lines, for mails and chats.
    pub fn text(&self) -> String {
        let mut lines = vec![self.headline.clone(), String::new()];
        lines.push(format!("Severity: {}", self.severity));
        if let Some(cause) = &self.cause {
            lines.push(format!(
                "Likeliest cause: {}; {}",
                cause.name, cause.because
            ));
        }
        if let Some(link) = &self.link {
            lines.push(format!("Page: {link}"));
        }
        lines.extend([String::new(), format!("Pairs: {}", self.pairs)]);
        lines.extend(self.changes.iter().map(Change::line));
        if self.changes.len() == LISTED {
            lines.push(format!("The first {LISTED} changes are listed."));
        }
        lines.join("\n") + "\n"
    }

    /// A message that tests a receiver.
    pub(crate) fn test(now: UnixTime) -> Notification {
        let incident = format!("test-{}", now.seconds());
        Notification {
            id: format!("{incident}-began"),
            incident,
            state: State::Began,
            severity: Severity::Info,
            headline: format!("Test of alerts at {}: no path changed", words::time(now)),
            since: now,
            recovered: None,
            cause: None,
            changes: Vec::new(),
            pairs: 0,
            link: None,
        }
    }
}

impl Change {
    pub(crate) fn of(stored: &StoredEvent) -> Change {
        Change {
            pair: stored.pair.clone(),
            task: stored.task.clone(),
            what: words::what(&stored.event),
            since: stored.event.first_visit,
        }
    }

    fn line(&self) -> String {
        let since = words::time(self.since);
        format!(
            "- {}, {}: {}, since {since}",
            self.pair, self.task, self.what
        )
    }
}
