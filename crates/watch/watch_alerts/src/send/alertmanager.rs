//! Alertmanager's API, version 2: `POST /api/v2/alerts`.

use crate::SendError;
use std::collections::BTreeMap;

use changes::UnixTime;
use serde::Serialize;
use units::Span;

use super::json;
use crate::config::Url;
use crate::outbox::Firing;
use crate::words::rfc3339;

/// An alert that is not repeated for so long ends at Alertmanager. A collector that is restarted
/// within it sends nothing twice.
const HELD: Span = Span::from_secs(3600);

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Alert<'a> {
    labels: BTreeMap<&'static str, String>,
    annotations: BTreeMap<&'static str, String>,
    starts_at: String,
    ends_at: String,
    #[serde(rename = "generatorURL", skip_serializing_if = "Option::is_none")]
    generator: Option<&'a str>,
}

/// Where alerts are posted.
pub(super) fn url(base: &Url) -> Result<Url, SendError> {
    let url = format!("{}/api/v2/alerts", base.text());
    url.parse().map_err(SendError::Message)
}

/// All alerts at once.
pub(super) fn body(firing: &[Firing], now: UnixTime) -> Result<String, SendError> {
    let alerts: Vec<Alert> = firing.iter().map(|one| alert(one, now)).collect();
    json(&alerts)
}

/// Labels make the identity of an alert, so they are those of its beginning.
fn alert(firing: &Firing, now: UnixTime) -> Alert<'_> {
    let first = &firing.first;
    let mut labels = BTreeMap::from([
        ("alertname", "TrunklineWatch".to_owned()),
        ("incident", first.incident.clone()),
        ("severity", first.severity.name().to_owned()),
    ]);
    if let Some(worst) = first.changes.first() {
        labels.insert("from", worst.pair.from.to_string());
        labels.insert("to", worst.pair.to.to_string());
        labels.insert("task", worst.task.to_string());
    }
    let annotations = BTreeMap::from([
        ("summary", first.headline.clone()),
        ("description", first.text()),
    ]);
    Alert {
        labels,
        annotations,
        starts_at: rfc3339(first.since),
        ends_at: rfc3339(firing.ended.unwrap_or(now + HELD)),
        generator: first.link.as_deref(),
    }
}
