//! Answers for programs: visits as lines of JSON, metrics, and news of changes.

use std::time::Duration;

use axum::response::Response;
use changes::UnixTime;
use units::Span;
use watch_store::{LoadedVisit, Store};

use crate::ask::{Ask, earlier};
use crate::follow::follow;
use crate::problem::Problem;
use crate::server::Site;

/// Visits of one answer, at most and usually.
const VISITS: u64 = 10_000;
const VISITS_USUAL: u64 = 1000;
/// Longest range of one answer.
const RANGE: Span = Span::from_secs(31 * 86_400);
/// What is answered without `from`.
const RECENT: Span = Span::from_secs(3600);
/// Seconds of the first part of a range.
const PART: u64 = 600;
/// Shortest time between two pieces of news.
const PAUSE: Duration = Duration::from_secs(2);

/// Visits from `from` on in the order of time, one JSON object each line. Programs go on with the
/// time of the last line, and leave out identities that they have.
pub fn answer(site: &Site, ask: &Ask) -> Result<(&'static str, String), Problem> {
    let now = site.live.now();
    let from = ask.time("from")?.unwrap_or_else(|| earlier(now, RECENT));
    let to = ask.time("to")?.unwrap_or(from + RANGE);
    if to <= from || to > from + RANGE {
        let what = "the range from `from` to `to` is empty or longer than 31 days";
        return Err(Problem::bad(
            what,
            "ask for less, and go on from the last visit",
        ));
    }
    let limit = ask.number("limit", VISITS)?.unwrap_or(VISITS_USUAL);
    let visits = site
        .stores
        .with(|store| first(store, (from, to), limit as usize))?;
    let mut lines = String::new();
    for loaded in visits {
        let line = serde_json::to_string(&loaded.stored);
        lines += &line.map_err(|error| Problem::ours(error.to_string()))?;
        lines.push('\n');
    }
    Ok(("application/x-ndjson", lines))
}

/// The first `limit` visits of a range. It is read in parts that double, since a store sorts all
/// that lies in one.
fn first(
    store: &mut Store,
    (from, to): (UnixTime, UnixTime),
    limit: usize,
) -> Result<Vec<LoadedVisit>, Problem> {
    let (mut begin, mut part) = (from, PART);
    let mut visits = Vec::new();
    while begin < to && visits.len() < limit {
        let end = to.min(begin + Span::from_secs(part));
        let left = u32::try_from(limit - visits.len()).unwrap_or(u32::MAX);
        visits.extend(store.all_visits((begin, end), left)?);
        (begin, part) = (end, part * 2);
    }
    Ok(visits)
}

/// The metrics, in OpenMetrics.
pub fn metrics(site: &Site) -> Result<(&'static str, String), Problem> {
    let text = site.live.metrics().ok_or_else(|| {
        Problem::unknown(
            "this server has no metrics",
            "ask the collector of the watch",
        )
    })?;
    Ok((
        "application/openmetrics-text; version=1.0.0; charset=utf-8",
        text,
    ))
}

/// Tells browsers that something changed.
pub fn live(site: &Site) -> Response {
    let changed = site.changed.clone();
    follow(&site.listeners, changed, site.stop.clone(), PAUSE)
}
