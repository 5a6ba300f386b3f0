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

/// The first second of a year.
pub fn begin_of_year(year: i16) -> Option<UnixTime> {
    let first = Date::new(year, 1, 1).ok()?;
    (1970..=9998).contains(&year).then(|| unix(midnight(first)))
}

/// A time from a query: seconds since 1970, or a date.
pub fn read(text: &str) -> Option<UnixTime> {
    if let Ok(seconds) = text.parse::<u64>() {
        return (seconds < END).then(|| UnixTime::from_seconds(seconds));
    }
    let date: Date = text.parse().ok().filter(|_| text.len() == 10)?;
    (date.year() >= 1970).then(|| unix(midnight(date)))
}

/// Distances of labels on an axis of time, and how they are written.
const STEPS: [(u64, &str); 8] = [
    (600, "%H:%M"),
    (1800, "%H:%M"),
    (3600, "%H:%M"),
    (3 * 3600, "%H:%M"),
    (6 * 3600, "%a %H:%M"),
    (86_400, "%a %d"),
    (2 * 86_400, "%b %d"),
    (7 * 86_400, "%b %d"),
];
/// The longest month, in seconds.
const MONTH: u64 = 31 * 86_400;
/// Most labels that fit.
const LABELS: u64 = 9;

/// Labels of an axis of time, at round times.
pub fn labels((from, to): (UnixTime, UnixTime)) -> Vec<(f64, String)> {
    let length = to.seconds().saturating_sub(from.seconds());
    let fits = |(step, _): &&(u64, &'static str)| length / step <= LABELS;
    let (times, format) = match STEPS.iter().find(fits) {
        Some((step, format)) => (multiples((from, to), *step), *format),
        None => months((from, to), length.div_ceil(LABELS)),
    };
    let label = |at: UnixTime| {
        let text = civil(at).strftime(format).to_string();
        (at.seconds() as f64, text)
    };
    times.into_iter().map(label).collect()
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
        for text in [
            "",
            "-1",
            "x",
            "253402300800",
            "1969-12-31",
            "2026-13-01",
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
        assert_eq!(text("2026-11-23", "2026-11-30")[1], "Tue 24");
        assert_eq!(text("2026-01-01", "2026-03-15")[1], "Feb 2026");
        let years = text("2000-01-01", "2026-11-24");
        assert!((3..=11).contains(&years.len()), "{years:?}");
        assert!(text("1970-01-01", "9999-12-31").len() <= 11);
        let year = text("2026-01-01", "2027-01-01");
        assert_eq!(year[..2], ["Jan 2026", "Mar 2026"]);
    }
}
