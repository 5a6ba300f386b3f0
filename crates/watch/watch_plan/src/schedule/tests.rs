use super::{Cron, DAY, Schedule, UtcOffset, civil, days};
use units::Span;

fn cron(text: &str, offset: &str) -> Cron {
    Cron::new(text, offset.parse().unwrap()).unwrap()
}

#[test]
fn dates_and_days_agree_for_four_centuries() {
    assert_eq!(civil(0), (1970, 1, 1));
    // 2026-11-24, from `date -d 2026-11-24 +%s`: 1795478400.
    assert_eq!(days(2026, 11, 24), 1_795_478_400 / DAY);
    for day in -1_000..146_097 {
        let (year, month, of_month) = civil(day);
        assert_eq!(days(year, month, of_month), day);
    }
}

#[test]
fn patterns_are_read_in_local_time() {
    // 1970-01-01 was a Thursday; the first Sunday was the 4th.
    assert_eq!(
        cron("0 3 * * 0", "+00:00").next_after(0),
        Some(3 * DAY + 3 * 3_600)
    );
    assert_eq!(
        cron("0 3 * * SUN", "-05:00").next_after(0),
        Some(3 * DAY + 8 * 3_600)
    );
    // East of Greenwich the day begins earlier.
    assert_eq!(cron("0 0 2 1 *", "+14:00").next_after(0), Some(10 * 3_600));
}

#[test]
fn the_shortest_distance_of_two_times_is_found() {
    for (text, shortest) in [
        ("* * * * *", 60),
        ("7,37 * * * *", 1_800),
        ("0 0,23 1 * *", 23 * 3_600),
        ("0 0,23 1,2 * *", 3_600),
        ("0 3 * * 1", 7 * DAY),
        ("@hourly", 3_600),
    ] {
        assert_eq!(cron(text, "+00:00").shortest, shortest, "{text}");
    }
}

#[test]
fn what_is_no_pattern_or_never_comes_is_refused() {
    for text in [
        "",
        "x",
        "* * * *",
        "* * * * * *",
        "61 * * * *",
        "0 0 30 2 *",
        "* * * * * * 2020",
    ] {
        assert!(Cron::new(text, UtcOffset::default()).is_err(), "{text}");
    }
}

#[test]
fn due_times_begin_before_the_present_and_go_on() {
    let hourly = Schedule::Cron(cron("0 * * * *", "+00:00"));
    let every = Schedule::Every(Span::from_secs(3_600));
    for schedule in [hourly, every] {
        let dues: Vec<i64> = schedule.due_from(0, 36_100, 2).take(4).collect();
        assert_eq!(dues, [28_800, 32_400, 36_000, 39_600]);
        let first: Vec<i64> = schedule.due_from(0, -5, 2).take(2).collect();
        assert_eq!(first, [0, 3_600]);
    }
}

#[test]
fn offsets_print_as_they_are_read() {
    for text in ["+00:00", "-03:30", "+14:00"] {
        assert_eq!(text.parse::<UtcOffset>().unwrap().to_string(), text);
    }
    for text in ["", "1", "+1:00", "+15:00", "+01:60", "+é:00", "Z"] {
        assert!(text.parse::<UtcOffset>().is_err(), "{text}");
    }
}
