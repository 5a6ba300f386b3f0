//! Silences: what is not told, until when, and why.

use changes::{Metric, UnixTime};
use serde::{Deserialize, Serialize};
use watch_store::{EventKey, Name, Pair, StoredEvent};

use crate::Severity;

/// What is not told until its end. All that is given has to match; what is `None` matches all.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Silence {
    /// A host, at either end.
    pub host: Option<Name>,
    /// A pair, in its direction.
    pub pair: Option<Pair>,
    /// A task.
    pub task: Option<Name>,
    /// A metric; no data and routes are not of any.
    pub metric: Option<Metric>,
    /// These events, of which an incident consists; none means all.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub events: Vec<EventKey>,
    /// Its end.
    pub until: UnixTime,
    /// Why.
    pub reason: String,
}

impl Silence {
    fn holds(&self, stored: &StoredEvent, now: UnixTime) -> bool {
        let of = |host: &Name| *host == stored.pair.from || *host == stored.pair.to;
        now < self.until
            && self.host.as_ref().is_none_or(of)
            && self.pair.as_ref().is_none_or(|pair| *pair == stored.pair)
            && self.task.as_ref().is_none_or(|task| *task == stored.task)
            && (self.events.is_empty() || self.events.iter().any(|key| stored.is(key)))
    }
}

/// The severity of an event beside the silences of now; `None` where nothing is left to tell.
pub(crate) fn heard(stored: &StoredEvent, silences: &[Silence], now: UnixTime) -> Option<Severity> {
    let holding = || silences.iter().filter(|silence| silence.holds(stored, now));
    if holding().any(|silence| silence.metric.is_none()) {
        return None;
    }
    stored
        .event
        .severity(|metric| holding().any(|silence| silence.metric == Some(metric)))
}
