//! Points in time and the spans between them.

use std::fmt;
use std::ops::{Add, AddAssign, Sub};
use std::str::FromStr;
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::ParseError;
use crate::parse::{Grammar, Unit, exact, human};

/// A span of time in nanoseconds, up to 584 years; in documents a number of seconds.
///
/// ```
/// use units::Span;
/// let rtt: Span = "175ms".parse().unwrap();
/// assert_eq!(rtt.as_secs_f64(), 0.175);
/// assert_eq!(Span::from_micros(82_500).to_string(), "82.5ms");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, JsonSchema)]
#[schemars(inline)]
pub struct Span(#[schemars(with = "f64")] u64);

/// A point in time: nanoseconds since the run began, on whichever clock drives it; in documents a
/// number of seconds.
///
/// ```
/// use units::{Span, Time};
/// let sent = Time::ZERO + Span::from_millis(10);
/// assert_eq!((sent + Span::from_millis(165)).since(sent), Span::from_millis(165));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, JsonSchema)]
#[schemars(inline)]
pub struct Time(#[schemars(with = "f64")] u64);

const PRINTED: &[Unit] = &[
    ("s", 1_000_000_000),
    ("ms", 1_000_000),
    ("us", 1_000),
    ("ns", 1),
];

const GRAMMAR: Grammar = Grammar {
    kind: "a time",
    example: "`82.5ms`, `10s` or `2min`",
    units: &[
        ("h", 3_600_000_000_000),
        ("min", 60_000_000_000),
        ("s", 1_000_000_000),
        ("ms", 1_000_000),
        ("us", 1_000),
        ("ns", 1),
    ],
};

impl Span {
    /// No time at all.
    pub const ZERO: Span = Span(0);
    /// The longest span there is.
    pub const MAX: Span = Span(u64::MAX);

    /// So many nanoseconds.
    pub const fn from_nanos(nanos: u64) -> Self {
        Span(nanos)
    }

    /// So many microseconds.
    pub const fn from_micros(micros: u64) -> Self {
        Span(micros.saturating_mul(1_000))
    }

    /// So many milliseconds.
    pub const fn from_millis(millis: u64) -> Self {
        Span(millis.saturating_mul(1_000_000))
    }

    /// So many seconds.
    pub const fn from_secs(secs: u64) -> Self {
        Span(secs.saturating_mul(1_000_000_000))
    }

    /// The nearest span to a computed number of seconds; negative and undefined ones become zero.
    pub fn from_secs_f64(secs: f64) -> Self {
        Span((secs * 1e9).round() as u64)
    }

    /// Nanoseconds.
    pub const fn as_nanos(self) -> u64 {
        self.0
    }

    /// Seconds, for formulas.
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 / 1e9
    }

    /// This span `n` times.
    pub const fn times(self, n: u64) -> Self {
        Span(self.0.saturating_mul(n))
    }

    /// Three significant digits for people: `165 ms`.
    pub fn human(self) -> String {
        human(self.0 as f64, PRINTED)
    }
}

impl Time {
    /// The beginning of the run.
    pub const ZERO: Time = Time(0);
    /// The end of time: nothing happens later.
    pub const MAX: Time = Time(u64::MAX);

    /// So many nanoseconds after the beginning.
    pub const fn from_nanos(nanos: u64) -> Self {
        Time(nanos)
    }

    /// Nanoseconds since the beginning.
    pub const fn as_nanos(self) -> u64 {
        self.0
    }

    /// Seconds since the beginning, for formulas and plots.
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 / 1e9
    }

    /// The span from `earlier` to this point; zero when `earlier` is the later one.
    pub const fn since(self, earlier: Time) -> Span {
        Span(self.0.saturating_sub(earlier.0))
    }
}

impl Add<Span> for Time {
    type Output = Time;
    #[inline]
    fn add(self, span: Span) -> Time {
        Time(self.0.saturating_add(span.0))
    }
}

impl Sub<Span> for Time {
    type Output = Time;
    #[inline]
    fn sub(self, span: Span) -> Time {
        Time(self.0.saturating_sub(span.0))
    }
}

impl AddAssign<Span> for Time {
    #[inline]
    fn add_assign(&mut self, span: Span) {
        *self = *self + span;
    }
}

impl Add for Span {
    type Output = Span;
    #[inline]
    fn add(self, other: Span) -> Span {
        Span(self.0.saturating_add(other.0))
    }
}

impl AddAssign for Span {
    #[inline]
    fn add_assign(&mut self, other: Span) {
        *self = *self + other;
    }
}

impl Sub for Span {
    type Output = Span;
    #[inline]
    fn sub(self, other: Span) -> Span {
        Span(self.0.saturating_sub(other.0))
    }
}

impl From<Span> for Duration {
    fn from(span: Span) -> Duration {
        Duration::from_nanos(span.0)
    }
}

impl From<Duration> for Span {
    fn from(duration: Duration) -> Span {
        Span(u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX))
    }
}

impl Serialize for Span {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_f64(self.as_secs_f64())
    }
}

impl<'de> Deserialize<'de> for Span {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        f64::deserialize(deserializer).map(Span::from_secs_f64)
    }
}

impl Serialize for Time {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_f64(self.as_secs_f64())
    }
}

impl<'de> Deserialize<'de> for Time {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Span::deserialize(deserializer).map(|since| Time::ZERO + since)
    }
}

impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&exact(self.0, PRINTED))
    }
}

impl FromStr for Span {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        GRAMMAR.parse(text).map(Span)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn display_parses_back() {
        for nanos in [
            0,
            1,
            1_500,
            82_500_000,
            175_000_000,
            10_000_000_000,
            1_234_567_891,
        ] {
            let span = Span(nanos);
            assert_eq!(span.to_string().parse(), Ok(span), "{span}");
        }
    }

    #[test]
    fn a_bare_number_is_not_a_time() {
        let error = "175".parse::<Span>().unwrap_err();
        assert!(error.to_string().contains("the unit is missing"), "{error}");
    }

    #[test]
    fn time_never_runs_backwards() {
        assert_eq!(Time(5).since(Time(9)), Span::ZERO);
        assert_eq!(Time::MAX + Span(1), Time::MAX);
    }
}
