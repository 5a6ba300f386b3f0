//! Bounds on a rate: one for all times, or one for each time of the day.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error};

use crate::Rate;

/// A time of day in whole minutes, `00:00` to `23:59`, of whatever clock its user reads.
///
/// ```
/// # use units::TimeOfDay;
/// let evening: TimeOfDay = "18:05".parse().unwrap();
/// assert_eq!((evening, evening.to_string().as_str()), (TimeOfDay::new(18, 5), "18:05"));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct TimeOfDay(u16);

impl TimeOfDay {
    /// This time; hours from 24 and minutes from 60 begin anew.
    pub const fn new(hour: u8, minute: u8) -> Self {
        TimeOfDay((hour % 24) as u16 * 60 + (minute % 60) as u16)
    }

    /// So many minutes after midnight, a day later where they are more than a day.
    pub const fn after_midnight(minutes: u16) -> Self {
        TimeOfDay(minutes % (24 * 60))
    }
}

impl fmt::Display for TimeOfDay {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:02}:{:02}", self.0 / 60, self.0 % 60)
    }
}

impl FromStr for TimeOfDay {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let number = |part: &str, below: u8| {
            let is_two = part.len() == 2 && part.bytes().all(|byte| byte.is_ascii_digit());
            let number = part.parse::<u8>().ok().filter(|_| is_two);
            number.filter(|number| *number < below)
        };
        let (hour, minute) = text.split_once(':').unwrap_or((text, ""));
        match (number(hour, 24), number(minute, 60)) {
            (Some(hour), Some(minute)) => Ok(TimeOfDay::new(hour, minute)),
            _ => Err(format!(
                "`{text}` is no time of day from 00:00 to 23:59; write it like `08:00`"
            )),
        }
    }
}

impl Serialize for TimeOfDay {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for TimeOfDay {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(D::Error::custom)
    }
}

/// What bounds a rate at one time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RateBound {
    /// The most; `None` without a bound.
    pub rate: Option<Rate>,
    /// When another one holds; `None` where this one always does.
    pub until: Option<TimeOfDay>,
}

/// Bounds on a rate by the time of day, the same on every day. Each holds from its time to the next
/// one, and the last to the first of the next day.
///
/// It goes by what a clock shows: where that is put forward or back, a bound holds for an hour less
/// or more.
///
/// ```
/// # use units::{RateSchedule, TimeOfDay};
/// let schedule: RateSchedule = "18:00=none,08:00=50M".parse().unwrap();
/// assert_eq!(schedule.to_string(), "08:00=50Mbit/s,18:00=none");
/// let at = |hour, minute| schedule.at(TimeOfDay::new(hour, minute));
/// assert_eq!(at(17, 59).rate, "50Mbit/s".parse().ok());
/// assert_eq!(at(17, 59).until, Some(TimeOfDay::new(18, 0)));
/// assert_eq!((at(18, 0).rate, at(7, 59).rate), (None, None));
/// assert_eq!(at(18, 0).until, Some(TimeOfDay::new(8, 0)));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RateSchedule {
    /// One at least, in the order of their times, each time once.
    changes: Vec<(TimeOfDay, Option<Rate>)>,
}

impl RateSchedule {
    /// Reads `08:00=50M,18:00=none`, in any order.
    ///
    /// * `rate`: reads a rate.
    ///
    /// # Errors
    /// The part that is none, as a sentence with the next step, or a time that comes twice.
    pub fn read(text: &str, rate: &dyn Fn(&str) -> Result<Rate, String>) -> Result<Self, String> {
        let change = |part: &str| -> Result<(TimeOfDay, Option<Rate>), String> {
            let (time, bound) = part.split_once('=').ok_or_else(|| {
                format!(
                    "`{part}` has no `=`; a schedule is written TIME=RATE,TIME=RATE, like \
                    `08:00=50M,18:00=none`"
                )
            })?;
            let bound = match bound.trim() {
                "none" => None,
                bound => Some(rate(bound)?),
            };
            Ok((time.trim().parse::<TimeOfDay>()?, bound))
        };
        let changes: Result<Vec<_>, String> = text.split(',').map(change).collect();
        let mut changes = changes?;
        changes.sort_unstable_by_key(|(time, _)| *time);
        let mut pairs = changes.windows(2);
        let twice = pairs.find_map(|pair| match pair {
            [(one, _), (other, _)] if one == other => Some(*one),
            _ => None,
        });
        match twice {
            Some(time) => Err(format!(
                "{time} comes twice in `{text}`; write each time once"
            )),
            None => Ok(RateSchedule { changes }),
        }
    }

    /// What holds at this time, and until when.
    pub fn at(&self, time: TimeOfDay) -> RateBound {
        let begun = self.changes.partition_point(|(from, _)| *from <= time);
        let (earlier, later) = self.changes.split_at(begun);
        let rate = earlier.last().or(later.last()).and_then(|(_, rate)| *rate);
        let mut next = later.iter().chain(earlier);
        let until = next
            .find(|(_, other)| *other != rate)
            .map(|(from, _)| *from);
        RateBound { rate, until }
    }
}

impl fmt::Display for RateSchedule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, (time, rate)) in self.changes.iter().enumerate() {
            let comma = if at == 0 { "" } else { "," };
            match rate {
                Some(rate) => write!(f, "{comma}{time}={rate}")?,
                None => write!(f, "{comma}{time}=none")?,
            }
        }
        Ok(())
    }
}

impl FromStr for RateSchedule {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        RateSchedule::read(text, &read_rate)
    }
}

/// A bound on a rate, as a user gives it: `50M`, or `08:00=50M,18:00=none`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RateLimit {
    /// At all times.
    Always(Rate),
    /// By the time of day.
    ByClock(RateSchedule),
}

impl RateLimit {
    /// Reads a rate, or a schedule of them.
    ///
    /// * `rate`: reads a rate.
    ///
    /// # Errors
    /// What is wrong, as a sentence.
    pub fn read(text: &str, rate: &dyn Fn(&str) -> Result<Rate, String>) -> Result<Self, String> {
        match text.contains(['=', ',']) {
            true => RateSchedule::read(text, rate).map(RateLimit::ByClock),
            false => rate(text).map(RateLimit::Always),
        }
    }

    /// What holds at this time, and until when.
    pub fn at(&self, time: TimeOfDay) -> RateBound {
        match self {
            RateLimit::Always(rate) => RateBound {
                rate: Some(*rate),
                until: None,
            },
            RateLimit::ByClock(schedule) => schedule.at(time),
        }
    }

    /// The rate, where it is one for all times.
    pub fn always(&self) -> Option<Rate> {
        match self {
            RateLimit::Always(rate) => Some(*rate),
            RateLimit::ByClock(_) => None,
        }
    }

    /// The schedule, where there is one.
    pub fn by_clock(&self) -> Option<&RateSchedule> {
        match self {
            RateLimit::Always(_) => None,
            RateLimit::ByClock(schedule) => Some(schedule),
        }
    }
}

impl From<Rate> for RateLimit {
    fn from(rate: Rate) -> Self {
        RateLimit::Always(rate)
    }
}

impl FromStr for RateLimit {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        RateLimit::read(text, &read_rate)
    }
}

fn read_rate(text: &str) -> Result<Rate, String> {
    text.parse::<Rate>().map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Numbers that look drawn, from a seed (Knuth's MMIX constants).
    struct Draw(u64);

    impl Draw {
        fn below(&mut self, bound: u64) -> u64 {
            let product = self.0.wrapping_mul(6_364_136_223_846_793_005);
            self.0 = product.wrapping_add(1_442_695_040_888_963_407);
            (self.0 >> 33) % bound
        }

        fn schedule(&mut self) -> Vec<(u16, Option<Rate>)> {
            let count = 1 + self.below(8);
            let mut changes: Vec<(u16, Option<Rate>)> = Vec::new();
            for _ in 0..count {
                let time = self.below(24 * 60) as u16;
                // Few rates, so that neighbours are often equal.
                let rate = self.below(4);
                let rate = (rate > 0).then(|| Rate::from_bits_per_second(rate * 64_000));
                if changes.iter().all(|(other, _)| *other != time) {
                    changes.push((time, rate));
                }
            }
            changes
        }
    }

    const DAY: u16 = 24 * 60;

    /// What holds at each minute, by a walk over two days.
    fn minutes(changes: &[(u16, Option<Rate>)]) -> Vec<Option<Rate>> {
        let mut set = vec![None; usize::from(DAY)];
        for (time, rate) in changes {
            set[usize::from(*time)] = Some(*rate);
        }
        let (mut now, mut holds) = (None, Vec::new());
        for minute in set.iter().chain(&set) {
            now = minute.unwrap_or(now);
            holds.push(now);
        }
        holds.split_off(usize::from(DAY))
    }

    #[test]
    fn drawn_schedules_hold_what_a_walk_over_the_day_finds() {
        for seed in 0..10_000 {
            let mut draw = Draw(seed);
            let changes = draw.schedule();
            let part = |(time, rate): &(u16, Option<Rate>)| {
                let rate = rate.map_or_else(|| "none".to_owned(), |rate| rate.to_string());
                format!("{}={rate}", TimeOfDay::after_midnight(*time))
            };
            let text: Vec<String> = changes.iter().map(part).collect();
            let schedule: RateSchedule = text.join(",").parse().unwrap();
            assert_eq!(
                schedule.to_string().parse(),
                Ok(schedule.clone()),
                "seed {seed}"
            );
            let holds = minutes(&changes);
            let edges = changes
                .iter()
                .flat_map(|(at, _)| [*at, (*at + DAY - 1) % DAY]);
            let drawn = draw.below(u64::from(DAY)) as u16;
            for minute in edges.chain([drawn, 0, DAY - 1]) {
                let rate = holds[usize::from(minute)];
                let mut later = (1..DAY).map(|by| (minute + by) % DAY);
                let until = later.find(|at| holds[usize::from(*at)] != rate);
                let until = until.map(TimeOfDay::after_midnight);
                let bound = schedule.at(TimeOfDay::after_midnight(minute));
                let expected = RateBound { rate, until };
                assert_eq!(
                    bound, expected,
                    "seed {seed}, {schedule} at minute {minute}"
                );
            }
        }
    }

    #[test]
    fn what_is_no_schedule_is_told_with_the_next_step() {
        for (text, expected) in [
            ("8:00=50M", "`8:00` is no time of day from 00:00 to 23:59"),
            ("24:00=50M", "`24:00` is no time of day"),
            ("08:60=50M", "`08:60` is no time of day"),
            ("+8:00=50M", "`+8:00` is no time of day"),
            ("08:00=50M,18:00", "`18:00` has no `=`"),
            ("08:00=50M,", "`` has no `=`"),
            ("08:00=fast", "`fast` is not a rate"),
            ("08:00=50M,09:00=none,08:00=1M", "08:00 comes twice"),
            ("50M,08:00=1M", "`50M` has no `=`"),
        ] {
            let error = text.parse::<RateLimit>().unwrap_err();
            assert!(error.contains(expected), "{text}: {error}");
        }
        assert_eq!(
            "50M".parse::<RateLimit>().unwrap().always(),
            "50M".parse().ok()
        );
    }

    #[test]
    fn what_never_changes_holds_for_ever() {
        let schedule: RateSchedule = "08:00=1M,18:00=1M".parse().unwrap();
        assert_eq!(schedule.at(TimeOfDay::new(9, 0)).until, None);
    }
}
