//! Durations of ISO 8601 as psconfig writes them: `PT4H`, `P1DT30M`, `PT0.5S`.

use units::Span;

use crate::read::{DURATION, EVERY};
use crate::section::{Field, Findings};

#[derive(Clone, Copy)]
pub(super) enum Bound {
    Every,
    Duration,
}

/// A duration within its bound, rounded up to whole seconds.
pub(super) fn bounded(text: &Field<&str>, bound: Bound, found: &mut Findings) -> Option<Span> {
    let shown: String = text.value.chars().take(60).collect();
    let Some(seconds) = seconds(text.value) else {
        let problem = format!("`{shown}` is no duration of ISO 8601");
        found.refuse(
            &text.place,
            problem,
            "write weeks, days, hours, minutes, seconds: `P1DT4H`, `PT30S`",
        );
        return None;
    };
    let bound = match bound {
        Bound::Every => EVERY,
        Bound::Duration => DURATION,
    };
    let span = Span::from_secs_f64(seconds.ceil());
    if !bound.contains(&span) {
        let (low, high) = (bound.start(), bound.end());
        let problem = format!("`{shown}` is not between {low} and {high}");
        found.refuse(&text.place, problem, format!("write {low} to {high}"));
        return None;
    }
    Some(span)
}

/// Seconds of a duration; months and years, whose length varies, are none.
pub(super) fn seconds(text: &str) -> Option<f64> {
    let rest = text.strip_prefix('P')?;
    let (date, time) = match rest.split_once('T') {
        Some((_, "")) => return None,
        Some((date, time)) => (date, time),
        None => (rest, ""),
    };
    let (date, dates) = part(date, &[('W', 604_800.0), ('D', 86_400.0)])?;
    let (time, times) = part(time, &[('H', 3_600.0), ('M', 60.0), ('S', 1.0)])?;
    (dates + times > 0).then_some(date + time)
}

/// The sum of numbers with their letters, in the order of `units`, and how many there are.
fn part(mut text: &str, units: &[(char, f64)]) -> Option<(f64, usize)> {
    let (mut sum, mut count) = (0.0, 0);
    for (letter, seconds) in units {
        let Some((number, rest)) = text.split_once(*letter) else {
            continue;
        };
        let plain = number
            .bytes()
            .all(|byte| byte.is_ascii_digit() || byte == b'.');
        let number: f64 = number.parse().ok().filter(|_| plain)?;
        (sum, count, text) = (sum + number * seconds, count + 1, rest);
    }
    text.is_empty().then_some((sum, count))
}
