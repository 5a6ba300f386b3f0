//! Times as people read them, in UTC.

use changes::UnixTime;
use jiff::civil::{Date, DateTime};
use jiff::tz::Offset;
use jiff::{Timestamp, ToSpan};

/// The first second after the year 9999.
const END: u64 = 253_402_300_800;

fn civil(at: UnixTime) -> DateTime {
    let seconds = at.seconds().min(END - 1).cast_signed();
    let stamp = Timestamp::from_second(seconds).unwrap_or(Timestamp::UNIX_EPOCH);
    Offset::UTC.to_datetime(stamp)
}

fn unix(at: DateTime) -> UnixTime {
    let seconds = Offset::UTC.to_timestamp(at).map_or(0, Timestamp::as_second);
    UnixTime::from_seconds(seconds.max(0).unsigned_abs())
}

/// `2026-11-24 18:00`.
pub fn minute(at: UnixTime) -> String {
    civil(at).strftime("%Y-%m-%d %H:%M").to_string()
}

/// `2026-11-24 18:00:05`.
pub fn second(at: UnixTime) -> String {
    civil(at).strftime("%Y-%m-%d %H:%M:%S").to_string()
}

/// `2026-11-24T18:00:05Z`, for machines.
pub fn machine(at: UnixTime) -> String {
    civil(at).strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}

/// `18:00` of the same day as `now`, else `Tue 18:00`, else with its date.
pub fn near(at: UnixTime, now: UnixTime) -> String {
    let format = match at.day().abs_diff(now.day()) {
        0 => "%H:%M",
        1..=6 => "%a %H:%M",
        _ => "%Y-%m-%d %H:%M",
    };
    civil(at).strftime(format).to_string()
}

/// `Nov 2026`.
pub fn month(at: UnixTime) -> String {
    civil(at).strftime("%b %Y").to_string()
}

/// The year of the calendar.
pub fn year(at: UnixTime) -> i16 {
    civil(at).year()
}

/// `2026-11-24T18:00`, as fields of forms have it.
pub fn field(at: UnixTime) -> String {
    civil(at).strftime("%Y-%m-%dT%H:%M").to_string()
}

/// A time from a query: seconds since 1970, a date, or a date with hour and minute.
pub fn read(text: &str) -> Option<UnixTime> {
    if let Ok(seconds) = text.parse::<u64>() {
        return (seconds < END).then(|| UnixTime::from_seconds(seconds));
    }
    let time: DateTime = text
        .parse()
        .ok()
        .filter(|_| matches!(text.len(), 10 | 16))?;
    (time.year() >= 1970).then(|| unix(time))
}

const DAY: u64 = 86_400;
/// Distances of labels on an axis of time.
const STEPS: [u64; 11] = [
    60,
    300,
    600,
    1800,
    3600,
    3 * 3600,
    6 * 3600,
    DAY,
    2 * DAY,
    4 * DAY,
    7 * DAY,
];
/// The longest month, in seconds.
const MONTH: u64 = 31 * DAY;
/// Most labels that fit.
const LABELS: u64 = 9;

/// Labels of an axis of time, at round times.
pub fn labels((from, to): (UnixTime, UnixTime)) -> Vec<(f64, String)> {
    let length = to.seconds().saturating_sub(from.seconds());
    let fits = |step: &u64| length / step <= LABELS;
    let (times, format) = match STEPS.into_iter().find(fits) {
        Some(step) => (multiples((from, to), step), of_step(step)),
        None => months((from, to), length.div_ceil(LABELS)),
    };
    let label = |at: UnixTime| {
        let is_midnight = at.seconds().is_multiple_of(DAY);
        let format = if is_midnight && format == HOURS {
            DAYS
        } else {
            format
        };
        let text = civil(at).strftime(format).to_string();
        (at.seconds() as f64, text)
    };
    times.into_iter().map(label).collect()
}

/// Hours; at midnight the day stands in their place.
const HOURS: &str = "%H:%M";
const DAYS: &str = "%a %d";

fn of_step(step: u64) -> &'static str {
    match step {
        0..DAY => HOURS,
        DAY => DAYS,
        _ => "%b %d",
    }
}

fn multiples((from, to): (UnixTime, UnixTime), step: u64) -> Vec<UnixTime> {
    let first = from.seconds().div_ceil(step);
    let last = to.seconds() / step;
    let times = (first..=last).take(LABELS as usize + 2);
    times
        .map(|number| UnixTime::from_seconds(number * step))
        .collect()
}

/// First seconds of months, `apart` seconds or more from each other, and how they are written.
fn months((from, to): (UnixTime, UnixTime), apart: u64) -> (Vec<UnixTime>, &'static str) {
    let months = apart.div_ceil(MONTH).max(1);
    let every = [1, 2, 3, 6].into_iter().find(|every| months <= *every);
    let every = every.unwrap_or(12 * months.div_ceil(12));
    let format = match every {
        12.. => "%Y",
        _ => "%b %Y",
    };
    let mut at = midnight(civil(from).date().first_of_year());
    let mut times = Vec::new();
    while unix(at) <= to && times.len() <= LABELS as usize + 1 {
        if unix(at) >= from {
            times.push(unix(at));
        }
        let Ok(next) = at.checked_add(every.cast_signed().months()) else {
            break;
        };
        at = next;
    }
    (times, format)
}

fn midnight(date: Date) -> DateTime {
    date.to_datetime(jiff::civil::Time::midnight())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> UnixTime {
        read(text).unwrap()
    }

    #[test]
    fn times_are_read_as_seconds_and_as_dates() {
        assert_eq!(
            read("1795543200"),
            Some(UnixTime::from_seconds(1_795_543_200))
        );
        assert_eq!(minute(at("2026-11-24")), "2026-11-24 00:00");
        assert_eq!(field(at("2026-11-24T18:05")), "2026-11-24T18:05");
        for text in [
            "",
            "-1",
            "x",
            "253402300800",
            "1969-12-31",
            "2026-13-01",
            "2026-11-24T25:00",
            "99999999999999999999",
        ] {
            assert_eq!(read(text), None, "{text}");
        }
    }

    #[test]
    fn axes_have_labels_at_round_times() {
        let text = |from: &str, to: &str| {
            let labels = labels((at(from), at(to)));
            labels.into_iter().map(|(_, text)| text).collect::<Vec<_>>()
        };
        assert_eq!(text("2026-11-24", "2026-11-25").len(), 9);
        let evening = text("2026-11-24T21:30", "2026-11-25T03:30");
        assert_eq!(evening[1..4], ["23:00", "Wed 25", "01:00"]);
        assert_eq!(text("2026-11-23", "2026-11-30")[1], "Tue 24");
        assert_eq!(text("2026-01-01", "2026-03-15")[1], "Feb 2026");
        let years = text("2000-01-01", "2026-11-24");
        assert!((3..=11).contains(&years.len()), "{years:?}");
        assert!(text("1970-01-01", "9999-12-31").len() <= 11);
        let year = text("2026-01-01", "2027-01-01");
        assert_eq!(year[..2], ["Jan 2026", "Mar 2026"]);
    }
}
