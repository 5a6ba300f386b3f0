//! Answers for programs: visits as lines of JSON, metrics, and news of changes.

use std::collections::BTreeSet;
use std::time::Duration;

use axum::response::Response;
use changes::UnixTime;
use units::Span;
use watch_store::{Store, VisitId};

use crate::ask::Ask;
use crate::follow::follow;
use crate::problem::Problem;
use crate::range::earlier;
use crate::site::Site;

/// Visits of one answer, at most and usually.
const VISITS: u64 = 10_000;
const VISITS_USUAL: u64 = 1000;
/// Longest range of one answer with an end.
const RANGE: Span = Span::from_secs(31 * 86_400);
/// Bytes after which an answer ends, as after its last visit.
const BYTES: usize = 16 << 20;
/// Visits that are read at once.
const BATCH: usize = 64;
/// How far ahead of this clock the visits of agents may be dated, and more.
const AHEAD: Span = Span::from_secs(86_400);
/// What is answered without `from`.
const RECENT: Span = Span::from_secs(3600);
/// Seconds of the first part of a range, and of the first one behind a visit.
const PART: u64 = 600;
/// Shortest time between two pieces of news.
const PAUSE: Duration = Duration::from_secs(2);

/// Visits from `from` on in the order of time, one JSON object each line. An answer ends at `limit`
/// visits or at some MiB; programs go on with the time of the last line, and leave out identities
/// that they have.
pub fn answer(site: &Site, ask: &Ask) -> Result<(&'static str, String), Problem> {
    let now = site.live.now();
    let from = ask.time("from")?.unwrap_or_else(|| earlier(now, RECENT));
    let asked = ask.time("to")?;
    let to = asked.unwrap_or_else(|| now + AHEAD);
    if to <= from || asked.is_some_and(|to| to > from + RANGE) {
        let what = "the range from `from` to `to` is empty or longer than 31 days";
        return Err(Problem::bad(
            what,
            "ask for less, and go on from the last visit; without `to` the answer ends at `limit`",
        ));
    }
    let limit = ask.number("limit", VISITS)?.unwrap_or(VISITS_USUAL);
    let lines = site
        .stores
        .with(|store| first(store, (from, to), limit as usize))?;
    Ok(("application/x-ndjson", lines))
}

/// The first visits of a range as lines, `limit` at the most. The range is read in parts that
/// double until one has visits, since a store sorts all that lies in one.
fn first(
    store: &mut Store,
    (from, to): (UnixTime, UnixTime),
    limit: usize,
) -> Result<String, Problem> {
    let (mut begin, mut part, mut batch) = (from, PART, BATCH);
    let (mut lines, mut count) = (String::new(), 0);
    // Of the second at which a part begins.
    let mut known: BTreeSet<VisitId> = BTreeSet::new();
    while begin < to && count < limit && lines.len() < BYTES {
        let end = to.min(begin + Span::from_secs(part));
        let asked = batch + known.len();
        let visits = store.all_visits((begin, end), u32::try_from(asked).unwrap_or(u32::MAX))?;
        let is_whole = visits.len() < asked;
        let last = visits.last().map(|loaded| loaded.stored.visit.at);
        for loaded in visits {
            let is_new = known.insert(loaded.stored.id);
            if is_new && count < limit && lines.len() < BYTES {
                let line = serde_json::to_string(&loaded.stored);
                lines += &line.map_err(|error| Problem::ours(error.to_string()))?;
                lines.push('\n');
                count += 1;
            }
        }
        match last {
            _ if is_whole => {
                part = if last.is_some() { PART } else { part * 2 };
                begin = end;
                known.clear();
            }
            // All are of one second: only more of them at once lead beyond it.
            Some(last) if last == begin => batch *= 2,
            Some(last) => (begin, part, batch) = (last, PART, BATCH),
            None => break,
        }
    }
    Ok(lines)
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
