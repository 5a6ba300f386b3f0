//! When cycles are due: intervals and cron patterns, in seconds since 1970.

use std::cmp::Ordering;
use std::fmt;
use std::str::FromStr;

use croner::errors::CronError;
use croner::parser::{CronParser, Seconds, Year};
use croner::{CivilDate, CivilDateTime, CivilTime, CronDateTime, Resolution, Weekday};
use thiserror::Error;
use units::Span;

/// The first second after the year 9999; no visit is later.
pub(crate) const END: i64 = 253_402_300_800;
pub(crate) const DAY: i64 = 86_400;

/// When the cycles of a task are due.
#[derive(Debug, Clone, PartialEq)]
pub enum Schedule {
    /// Once in so many whole seconds, counted from the timetable's epoch.
    Every(Span),
    /// When a pattern of local time says so.
    Cron(Cron),
}

impl Schedule {
    /// The shortest time between two cycles, in seconds.
    pub(crate) fn shortest(&self) -> i64 {
        match self {
            Schedule::Every(span) => seconds(*span),
            Schedule::Cron(cron) => cron.shortest,
        }
    }

    /// The due times of the cycles from `back` before the one at `now` on, in seconds since 1970;
    /// none before `epoch`.
    pub(crate) fn due_from(&self, epoch: i64, now: i64, back: usize) -> Dues<'_> {
        let now = now.clamp(epoch, END);
        let next = match self {
            Schedule::Every(span) => {
                let every = seconds(*span).max(1);
                let current = (now - epoch).div_euclid(every);
                let first = current.saturating_sub(back as i64).max(0);
                Some(epoch + first * every)
            }
            Schedule::Cron(cron) => cron.back(epoch, now, back),
        };
        Dues {
            schedule: self,
            next,
        }
    }
}

/// Whole seconds of a span.
pub(crate) fn seconds(span: Span) -> i64 {
    (span.as_nanos() / 1_000_000_000) as i64
}

/// Due times, one after the other.
pub(crate) struct Dues<'s> {
    schedule: &'s Schedule,
    next: Option<i64>,
}

impl Iterator for Dues<'_> {
    type Item = i64;

    fn next(&mut self) -> Option<i64> {
        let due = self.next.filter(|due| *due < END)?;
        self.next = match self.schedule {
            Schedule::Every(span) => Some(due + seconds(*span).max(1)),
            Schedule::Cron(cron) => cron.after(due, false),
        };
        Some(due)
    }
}

/// The offset of local time from UTC, in whole minutes. A fixed offset, not a zone: all agents must
/// agree, also when their lists of zones are of different years.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct UtcOffset {
    minutes: i32,
}

/// A text that is no offset.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("`{0}` is no offset between -14:00 and +14:00; write it like `+01:00`")]
pub struct OffsetError(String);

impl UtcOffset {
    /// Seconds to add to UTC.
    pub fn seconds(self) -> i64 {
        i64::from(self.minutes) * 60
    }
}

impl FromStr for UtcOffset {
    type Err = OffsetError;

    fn from_str(text: &str) -> Result<Self, OffsetError> {
        let fail = || OffsetError(text.chars().take(60).collect());
        let (sign, rest) = match (text.strip_prefix('+'), text.strip_prefix('-')) {
            (Some(rest), _) => (1, rest),
            (_, Some(rest)) => (-1, rest),
            _ => return Err(fail()),
        };
        let minutes = clock_minutes(rest).filter(|minutes| *minutes <= 14 * 60);
        let minutes = sign * minutes.ok_or_else(fail)?;
        Ok(UtcOffset { minutes })
    }
}

impl fmt::Display for UtcOffset {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = if self.minutes < 0 { '-' } else { '+' };
        let minutes = self.minutes.abs();
        write!(f, "{sign}{:02}:{:02}", minutes / 60, minutes % 60)
    }
}

/// Minutes of `HH:MM`, 00:00 to 24:00.
pub(crate) fn clock_minutes(text: &str) -> Option<i32> {
    let (hour, minute) = text.split_once(':')?;
    let two = |part: &str| part.len() == 2 && part.bytes().all(|byte| byte.is_ascii_digit());
    if !two(hour) || !two(minute) {
        return None;
    }
    let (hour, minute): (i32, i32) = (hour.parse().ok()?, minute.parse().ok()?);
    let minutes = hour * 60 + minute;
    (minute < 60 && minutes <= 24 * 60).then_some(minutes)
}

/// A cron pattern of five fields (minute, hour, day, month, weekday) in local time.
#[derive(Debug, Clone)]
pub struct Cron {
    pattern: Box<croner::Cron>,
    text: String,
    offset: UtcOffset,
    shortest: i64,
}

impl PartialEq for Cron {
    fn eq(&self, other: &Cron) -> bool {
        self.text == other.text && self.offset == other.offset
    }
}

/// How many due times are looked at for the shortest distance of two: two days of minutes.
const SAMPLES: usize = 2_900;

impl Cron {
    /// Reads a pattern.
    ///
    /// ```
    /// use watch_plan::Cron;
    /// // Half past two each night, one hour east of UTC: 01:30 UTC.
    /// let cron = Cron::new("30 2 * * *", "+01:00".parse().unwrap()).unwrap();
    /// assert_eq!(cron.next_after(0), Some(5_400));
    /// ```
    ///
    /// # Errors
    /// A text that is no pattern, or one whose time never comes, like the 30th of February.
    pub fn new(text: &str, offset: UtcOffset) -> Result<Cron, String> {
        let shown: String = text.chars().take(60).collect();
        let parser = CronParser::builder()
            .seconds(Seconds::Disallowed)
            .year(Year::Disallowed)
            .build();
        let pattern = parser.parse(text);
        let pattern = pattern.map_err(|error| format!("`{shown}` is no cron pattern: {error}"))?;
        let mut cron = Cron {
            pattern: Box::new(pattern),
            text: text.trim().to_owned(),
            offset,
            shortest: END,
        };
        let mut before = cron.after(0, true);
        if before.is_none() {
            return Err(format!("the time `{shown}` never comes"));
        }
        for _ in 0..SAMPLES {
            let next = before.and_then(|before| cron.after(before, false));
            let (Some(one), Some(two)) = (before, next) else {
                break;
            };
            cron.shortest = cron.shortest.min(two - one);
            before = next;
        }
        Ok(cron)
    }

    /// The first due time after `time`, in seconds since 1970.
    pub fn next_after(&self, time: i64) -> Option<i64> {
        self.after(time.clamp(0, END), false)
    }

    fn after(&self, time: i64, inclusive: bool) -> Option<i64> {
        let local = Local::at(time, self.offset);
        let next = self.pattern.find_next_occurrence(&local, inclusive).ok()?;
        Some(next.utc(self.offset)).filter(|next| *next < END)
    }

    /// The due time `back` before the last one up to `now`, or the first from `epoch` on.
    fn back(&self, epoch: i64, now: i64, back: usize) -> Option<i64> {
        let mut found = None;
        let mut time = Local::at(now, self.offset);
        for step in 0..=back {
            let before = self.pattern.find_previous_occurrence(&time, step == 0);
            match before {
                Ok(before) if before.utc(self.offset) >= epoch => {
                    found = Some(before.utc(self.offset));
                    time = before;
                }
                _ => break,
            }
        }
        found.or_else(|| self.after(epoch, true))
    }
}

impl fmt::Display for Cron {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.text)
    }
}

/// A second of local time, counted from 1970 in local time.
#[derive(Debug, Clone, Copy)]
struct Local(i64);

impl Local {
    fn at(utc: i64, offset: UtcOffset) -> Local {
        Local(utc + offset.seconds())
    }

    fn utc(self, offset: UtcOffset) -> i64 {
        self.0 - offset.seconds()
    }
}

impl CronDateTime for Local {
    fn to_civil(&self) -> CivilDateTime {
        let (year, month, day) = civil(self.0.div_euclid(DAY));
        let second = self.0.rem_euclid(DAY) as u32;
        CivilDateTime::new(
            CivilDate::from_parts_unchecked(year, month, day),
            CivilTime::from_parts_unchecked(second / 3600, second / 60 % 60, second % 60),
        )
    }

    fn civil_weekday(&self) -> Weekday {
        // 1970-01-01 was a Thursday.
        Weekday::Thursday.shift(self.0.div_euclid(DAY).rem_euclid(7) as i32)
    }

    fn resolve_civil(&self, civil: CivilDateTime) -> Result<Resolution<Self>, CronError> {
        let days = days(civil.year(), civil.month(), civil.day());
        let second = civil.hour() * 3600 + civil.minute() * 60 + civil.second();
        Ok(Resolution::Single(Local(days * DAY + i64::from(second))))
    }

    fn checked_add_seconds(&self, seconds: i64) -> Option<Self> {
        self.0.checked_add(seconds).map(Local)
    }

    fn cmp_instant(&self, other: &Self) -> Ordering {
        self.0.cmp(&other.0)
    }
}

/// Days since 1970-01-01 of a date (H. Hinnant, chrono-compatible low-level date algorithms).
fn days(year: i32, month: u32, day: u32) -> i64 {
    let year = i64::from(year) - i64::from(month <= 2);
    let era = year.div_euclid(400);
    let of_era = year.rem_euclid(400);
    let month = (i64::from(month) + 9) % 12;
    let of_year = (153 * month + 2) / 5 + i64::from(day) - 1;
    era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468
}

/// The date so many days after 1970-01-01 (the same source).
fn civil(days: i64) -> (i32, u32, u32) {
    let days = days + 719_468;
    let era = days.div_euclid(146_097);
    let of_era = days.rem_euclid(146_097);
    let year = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    let year = year + era * 400 + i64::from(month <= 2);
    (year as i32, month as u32, day as u32)
}

#[cfg(test)]
mod tests;
