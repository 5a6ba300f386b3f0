//! Points in time as people write them.

use jiff::civil::Date;
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};
use thiserror::Error;

/// A text that is no point in time.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error(
    "`{0}` is neither a day like 2026-11-22, a time like 2026-11-22T07:10:00Z nor an age like 7d \
        or 12h"
)]
pub struct SinceError(pub String);

/// Reads a day (its beginning in UTC), a time, or an age in days or hours from now; gives it as
/// documents have it.
///
/// ```
/// assert_eq!(archive::since("2026-11-22").unwrap(), "2026-11-22T00:00:00Z");
/// assert_eq!(archive::since("2026-11-22T08:10:00+01:00").unwrap(), "2026-11-22T07:10:00Z");
/// assert!(archive::since("7d").unwrap() < archive::since("12h").unwrap());
/// assert!(archive::since("yesterday").is_err());
/// ```
///
/// # Errors
/// When `text` is none of these.
pub fn since(text: &str) -> Result<String, SinceError> {
    let time = day(text)
        .or_else(|| text.parse().ok())
        .or_else(|| age(text));
    let time = time.ok_or_else(|| SinceError(text.to_owned()))?;
    Ok(time.strftime("%Y-%m-%dT%H:%M:%SZ").to_string())
}

fn day(text: &str) -> Option<Timestamp> {
    // Its parser also takes a date with a time behind it.
    if text.len() != "2026-11-22".len() {
        return None;
    }
    let day: Date = text.parse().ok()?;
    Some(day.to_zoned(TimeZone::UTC).ok()?.timestamp())
}

fn age(text: &str) -> Option<Timestamp> {
    let (number, hours) = match text.strip_suffix('d') {
        Some(days) => (days, 24),
        None => (text.strip_suffix('h')?, 1),
    };
    let hours = number.parse::<u32>().ok()?.checked_mul(hours)?;
    let age = SignedDuration::from_hours(i64::from(hours));
    Timestamp::now().checked_sub(age).ok()
}
