use super::{Quiet, Share};
use crate::schedule::UtcOffset;

const DAY: i64 = 86_400;

fn quiet(text: &str) -> Quiet {
    text.parse().unwrap()
}

/// Whether the minute so long after Monday, 1970-01-05, is quiet.
fn at(quiet: &Quiet, day: i64, hour: i64, minute: i64) -> bool {
    let at = (4 + day) * DAY + hour * 3_600 + minute * 60;
    quiet.touches(at, at + 60, UtcOffset::default())
}

#[test]
fn hours_of_some_days() {
    let office = quiet("Mon-Fri 08:00-18:00");
    assert!(at(&office, 0, 8, 0) && at(&office, 4, 17, 59));
    assert!(!at(&office, 0, 7, 59) && !at(&office, 4, 18, 0) && !at(&office, 5, 12, 0));
    let weekend = quiet("Sat,Sun 00:00-24:00");
    assert!(at(&weekend, 5, 0, 0) && at(&weekend, 6, 23, 59));
    assert!(!at(&weekend, 4, 23, 59) && !at(&weekend, 7, 0, 0));
}

#[test]
fn a_night_ends_on_the_next_day() {
    let night = quiet("Fri 22:00-06:00");
    assert!(at(&night, 4, 22, 0) && at(&night, 5, 5, 59));
    assert!(!at(&night, 4, 5, 0) && !at(&night, 5, 6, 0) && !at(&night, 5, 22, 0));
}

#[test]
fn a_visit_that_reaches_into_it_touches_it() {
    let noon = quiet("12:00-13:00");
    let touches = |from, until| noon.touches(from, until, UtcOffset::default());
    assert!(touches(11 * 3_600, 12 * 3_600 + 1) && !touches(11 * 3_600, 12 * 3_600));
    assert!(touches(0, DAY) && touches(0, 400 * DAY));
    // One hour east, noon is an hour earlier in UTC.
    assert!(noon.touches(11 * 3_600, 11 * 3_600 + 1, "+01:00".parse().unwrap()));
}

#[test]
fn what_is_no_time_of_days_is_refused() {
    for text in [
        "",
        "8-18",
        "08:00",
        "Mon",
        "Foo 08:00-18:00",
        "24:00-25:00",
        "Mon- 01:00-02:00",
    ] {
        assert!(text.parse::<Quiet>().is_err(), "{text}");
    }
}

#[test]
fn shares_are_above_zero_and_up_to_one() {
    assert_eq!("20%".parse::<Share>().unwrap().get(), 0.2);
    for text in ["0", "0%", "120%", "-1", "half", "NaN"] {
        assert!(text.parse::<Share>().is_err(), "{text}");
    }
}
