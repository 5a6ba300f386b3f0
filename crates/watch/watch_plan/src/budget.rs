//! What a task may use: bytes a day, a share of the link, hours without visits.

use std::fmt;
use std::str::FromStr;

use thiserror::Error;
use units::Bytes;

use crate::schedule::{DAY, UtcOffset, clock_minutes};

/// What a task may use. Nothing is bounded by default.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Budget {
    /// The most bytes that a host may send and receive for this task on a day, together.
    pub bytes_a_day: Option<Bytes>,
    /// The most of the narrower link of a pair that a visit may use.
    pub share: Option<Share>,
    /// When no visit may run.
    pub quiet: Vec<Quiet>,
}

/// A share above 0 and up to 1.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd)]
pub struct Share(f64);

/// A text that is no share.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("`{0}` is no share above 0 % and up to 100 %; write it like `20%` or `0.2`")]
pub struct ShareError(String);

impl Share {
    /// The share as a number.
    pub fn get(self) -> f64 {
        self.0
    }
}

impl FromStr for Share {
    type Err = ShareError;

    fn from_str(text: &str) -> Result<Self, ShareError> {
        let share = units::share(text).filter(|share| *share > 0.0);
        share
            .map(Share)
            .ok_or_else(|| ShareError(text.chars().take(60).collect()))
    }
}

const DAYS: [&str; 7] = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"];

/// Hours of local time without visits: `Mon-Fri 08:00-18:00`, or `22:00-06:00` on all days. One
/// that ends before it begins ends on the next day.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Quiet {
    days: [bool; 7],
    from: i64,
    length: i64,
    text: String,
}

/// A text that is no quiet time.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("`{0}` is no time of days; write it like `08:00-18:00` or `Mon-Fri 08:00-18:00`")]
pub struct QuietError(String);

impl FromStr for Quiet {
    type Err = QuietError;

    fn from_str(text: &str) -> Result<Self, QuietError> {
        let read = || {
            let text = text.trim();
            let (days, hours) = text.rsplit_once(' ').unwrap_or(("Mon-Sun", text));
            let (from, to) = hours.split_once('-')?;
            let (from, to) = (clock_minutes(from)?, clock_minutes(to)?);
            let length = if to > from {
                to - from
            } else {
                to + 24 * 60 - from
            };
            (from < 24 * 60).then_some(())?;
            Some(Quiet {
                days: days_of(days.trim())?,
                from: i64::from(from) * 60,
                length: i64::from(length) * 60,
                text: text.to_owned(),
            })
        };
        read().ok_or_else(|| QuietError(text.chars().take(60).collect()))
    }
}

/// `Mon`, `Mon-Fri`, `Sat,Sun`.
fn days_of(text: &str) -> Option<[bool; 7]> {
    let place = |name: &str| {
        DAYS.iter()
            .position(|day| day.eq_ignore_ascii_case(name.trim()))
    };
    let mut days = [false; 7];
    for part in text.split(',') {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let (first, last) = (place(first)?, place(last)?);
        for step in 0..=(last + 7 - first) % 7 {
            days[(first + step) % 7] = true;
        }
    }
    Some(days)
}

impl Quiet {
    /// Whether any of the seconds from `at` to before `until`, since 1970, is in it.
    pub fn touches(&self, at: i64, until: i64, offset: UtcOffset) -> bool {
        let (at, until) = (at + offset.seconds(), until + offset.seconds());
        let (first, last) = (at.div_euclid(DAY) - 1, until.div_euclid(DAY));
        // A visit is shorter than a week; a longer one touches each weekday anyway.
        (first..=last.min(first + 9)).any(|day| {
            // 1970-01-01 was a Thursday, the fourth day.
            let weekday = (day + 3).rem_euclid(7) as usize;
            let from = day * DAY + self.from;
            self.days[weekday] && from < until && at < from + self.length
        })
    }
}

impl fmt::Display for Quiet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.text)
    }
}

#[cfg(test)]
mod tests;
