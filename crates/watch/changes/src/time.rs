//! Points of the calendar.

use std::ops::Add;
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use units::Span;

const DAY: u64 = 86_400;

/// A point in time in seconds since 1970-01-01 UTC; the same number in documents.
///
/// ```
/// use changes::UnixTime;
/// // 2026-11-24 was a Tuesday; 18:00 UTC.
/// let time = UnixTime::from_seconds(1_795_543_200);
/// assert_eq!((time.hour(), time.is_weekend()), (18.0, false));
/// ```
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Default,
    Serialize,
    Deserialize,
    JsonSchema,
)]
#[serde(transparent)]
#[schemars(inline)]
pub struct UnixTime(u64);

impl UnixTime {
    /// So many seconds after 1970-01-01 UTC.
    pub const fn from_seconds(seconds: u64) -> Self {
        UnixTime(seconds)
    }

    /// Seconds since 1970-01-01 UTC.
    pub const fn seconds(self) -> u64 {
        self.0
    }

    /// Days since 1970-01-01 UTC, whole ones.
    pub const fn day(self) -> u64 {
        self.0 / DAY
    }

    /// Hours since midnight UTC, with their fraction.
    pub fn hour(self) -> f64 {
        (self.0 % DAY) as f64 / 3600.0
    }

    /// Whether it is a Saturday or a Sunday, in UTC.
    pub const fn is_weekend(self) -> bool {
        // 1970-01-01 was a Thursday.
        (self.day() + 3) % 7 >= 5
    }

    /// The span from `earlier` to this point; zero when `earlier` is the later one.
    pub const fn since(self, earlier: UnixTime) -> Span {
        Span::from_secs(self.0.saturating_sub(earlier.0))
    }
}

impl Add<Span> for UnixTime {
    type Output = UnixTime;
    fn add(self, span: Span) -> UnixTime {
        UnixTime(self.0.saturating_add(Duration::from(span).as_secs()))
    }
}
