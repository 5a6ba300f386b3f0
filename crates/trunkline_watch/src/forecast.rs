//! When a copy will end, from what a path has carried at such hours.

use changes::{Finish, Forecast, Hour, UnixTime};
use draw::format::rate;
use draw::page::{Block, Column, Fact, Page, Row, Table};
use serde::Serialize;
use units::{Bytes, Span};
use watch_store::{DatabaseName, Pair, PairHistory, Store};

use super::collector_event::now;
use trunkline::Error;

/// Visits of this much of the past say what is usual.
const PAST: Span = Span::from_secs(35 * 86_400);
/// Hours that are shown.
const HOURS: usize = 12;

/// When a copy ends that starts now.
#[derive(Debug, Clone, Serialize)]
pub struct CopyForecast {
    /// The path.
    #[serde(flatten)]
    pub pair: Pair,
    /// Its size.
    pub bytes: Bytes,
    /// When it starts.
    #[serde(rename = "start_unix_seconds")]
    pub start: UnixTime,
    /// When it ends.
    pub finish: Finish,
    /// Goodput of the next hours.
    pub hours: Vec<Hour>,
}

/// When a copy of `bytes` from one host to another ends that starts now, from the visits of a
/// task.
///
/// # Errors
/// When the database cannot be read, has not yet 48 visits over a day, or the copy would take
/// more than 60 days.
pub fn forecast(
    database: &DatabaseName,
    (from, to): (&str, &str),
    task: &str,
    bytes: Bytes,
) -> Result<CopyForecast, Error> {
    let pair = Pair {
        from: from.parse()?,
        to: to.parse()?,
    };
    let now = now();
    let since = now.seconds().saturating_sub(PAST.as_secs_f64() as u64);
    let range = (UnixTime::from_seconds(since), now + Span::from_secs(60));
    let history =
        Store::open_to_read(database)?.history(&pair, &task.parse()?, range, usize::MAX)?;
    let visits: Vec<changes::Visit> = match history {
        PairHistory::Visits(visits) => visits.into_iter().map(|(_, visit)| visit).collect(),
        PairHistory::RollUps(..) => Vec::new(),
    };
    let forecast = Forecast::from_visits(&visits).ok_or_else(|| {
        Error::wrong_request(
            format!(
                "{} visits of `{task}` from {from} to {to} are too few: a forecast needs 48 over \
                 a day",
                visits.len()
            ),
            "check the names against the plan, or wait for more visits",
        )
    })?;
    Ok(CopyForecast {
        finish: forecast.finish(bytes, now)?,
        hours: forecast.hours(HOURS),
        pair,
        bytes,
        start: now,
    })
}

impl CopyForecast {
    /// As other programs read it, with a line break at the end.
    pub fn json(&self) -> String {
        serde_json::to_string_pretty(self).unwrap_or_default() + "\n"
    }

    /// As people read it.
    pub fn page(&self) -> Page {
        let takes = |end: UnixTime| end.since(self.start).human().to_string();
        let facts = vec![
            Fact::plain("ends", format!("in {}", takes(self.finish.median))),
            Fact::plain(
                "19 of 20 end",
                format!(
                    "after {} to {}",
                    takes(self.finish.early),
                    takes(self.finish.late)
                ),
            ),
        ];
        let columns = [
            Column::number("in h"),
            Column::number("low"),
            Column::number("median"),
            Column::number("high"),
        ];
        let rows = self.hours.iter().enumerate().map(|(index, hour)| {
            let cell = |value: units::Rate| rate(value.bits_per_second());
            Row::new([
                (index + 1).to_string(),
                cell(hour.low),
                cell(hour.median),
                cell(hour.high),
            ])
        });
        let title = format!(
            "A copy of {} from {} to {} that starts now",
            self.bytes.human(),
            self.pair.from,
            self.pair.to
        );
        let blocks = vec![
            Block::Facts(facts),
            Block::heading("Goodput of the next hours"),
            Block::Table(Table::new(columns, rows)),
            Block::note("low, high: 19 of 20 such hours lie between them, while nothing changes."),
        ];
        Page::new("watch-forecast", title, blocks)
    }
}
