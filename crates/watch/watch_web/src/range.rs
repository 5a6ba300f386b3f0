//! Ranges of time that pages show.

use changes::UnixTime;
use units::Span;

/// Longest range of a page, in seconds: what ten years of days need.
pub const LONGEST: u64 = 3660 * 86_400;
/// Shortest axis of time.
const LEAST: Span = Span::from_secs(600);

/// A range of time that pages offer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ago {
    /// The last hour.
    Hour,
    /// The last six hours.
    SixHours,
    /// The last 24 hours.
    Day,
    /// The last seven days.
    Week,
    /// The last 30 days.
    Month,
    /// The last 365 days.
    Year,
}

/// From one time to another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Range {
    /// Its first second.
    pub from: UnixTime,
    /// The second behind its last.
    pub to: UnixTime,
    /// Which of the offered ones it is; `None` for another.
    pub ago: Option<Ago>,
}

impl Ago {
    /// All of them.
    pub const ALL: [Ago; 6] = [
        Ago::Hour,
        Ago::SixHours,
        Ago::Day,
        Ago::Week,
        Ago::Month,
        Ago::Year,
    ];

    /// The word in addresses and on pages.
    pub fn word(self) -> &'static str {
        match self {
            Ago::Hour => "hour",
            Ago::SixHours => "6 hours",
            Ago::Day => "day",
            Ago::Week => "week",
            Ago::Month => "month",
            Ago::Year => "year",
        }
    }

    fn length(self) -> Span {
        let hours = match self {
            Ago::Hour => 1,
            Ago::SixHours => 6,
            Ago::Day => 24,
            Ago::Week => 7 * 24,
            Ago::Month => 30 * 24,
            Ago::Year => 365 * 24,
        };
        Span::from_secs(hours * 3600)
    }
}

impl Range {
    /// What lies before `now`.
    pub fn before(now: UnixTime, ago: Ago) -> Self {
        Range {
            from: earlier(now, ago.length()),
            to: now + Span::from_secs(1),
            ago: Some(ago),
        }
    }

    /// What lies around `middle`.
    pub fn around(middle: UnixTime, ago: Ago) -> Self {
        let half = Span::from_secs_f64(ago.length().as_secs_f64() / 2.0);
        Range {
            from: earlier(middle, half),
            to: middle + half,
            ago: Some(ago),
        }
    }

    /// From one time to another.
    pub fn between((from, to): (UnixTime, UnixTime)) -> Self {
        let ago = None;
        Range { from, to, ago }
    }

    /// The part of it from `first` on, where that leaves some minutes of it.
    pub fn since(self, first: Option<UnixTime>) -> Self {
        let first = first.unwrap_or(self.from).min(earlier(self.to, LEAST));
        Range {
            from: self.from.max(first),
            ..self
        }
    }

    /// Both ends.
    pub fn ends(self) -> (UnixTime, UnixTime) {
        (self.from, self.to)
    }

    /// How long it is.
    pub fn length(self) -> Span {
        self.to.since(self.from)
    }
}

/// So much before a time, not before 1970.
pub fn earlier(time: UnixTime, span: Span) -> UnixTime {
    let seconds = span.as_nanos() / 1_000_000_000;
    UnixTime::from_seconds(time.seconds().saturating_sub(seconds))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn now() -> UnixTime {
        UnixTime::from_seconds(1_795_543_200)
    }

    #[test]
    fn a_range_begins_with_the_data() {
        let day = Range::before(now(), Ago::Day);
        let first = |minutes: u64| Some(earlier(now(), Span::from_secs(minutes * 60)));
        assert_eq!(day.since(first(60)).length().as_secs_f64(), 3601.0);
        assert_eq!(day.since(first(1)).length().as_secs_f64(), 600.0);
        assert_eq!(day.since(first(10_000)), day);
        assert_eq!(day.since(None), day);
    }
}
