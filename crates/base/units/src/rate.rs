//! Bits per second.

use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::parse::{Grammar, Unit, exact, human};
use crate::{Bytes, ParseError, Span};

/// A data rate in bits per second.
///
/// ```
/// use units::{Bytes, Rate};
/// let oc12: Rate = "622Mbit/s".parse().unwrap();
/// // 1500 B are 12,000 bits: 19.29 us at 622 Mbit/s.
/// assert_eq!(oc12.time_to_send(Bytes::new(1500)).as_nanos(), 19_293);
/// assert_eq!(oc12.to_string(), "622Mbit/s");
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
pub struct Rate(u64);

const PRINTED: &[Unit] = &[
    ("Tbit/s", 1_000_000_000_000),
    ("Gbit/s", 1_000_000_000),
    ("Mbit/s", 1_000_000),
    ("kbit/s", 1_000),
    ("bit/s", 1),
];

const GRAMMAR: Grammar = Grammar {
    kind: "a rate",
    example: "`622Mbit/s`, `10Gbit/s` or `10G`",
    units: &[
        ("Tbit/s", 1_000_000_000_000),
        ("Tbps", 1_000_000_000_000),
        ("T", 1_000_000_000_000),
        ("Gbit/s", 1_000_000_000),
        ("Gbps", 1_000_000_000),
        ("G", 1_000_000_000),
        ("g", 1_000_000_000),
        ("Mbit/s", 1_000_000),
        ("Mbps", 1_000_000),
        ("M", 1_000_000),
        ("m", 1_000_000),
        ("kbit/s", 1_000),
        ("Kbit/s", 1_000),
        ("kbps", 1_000),
        ("K", 1_000),
        ("k", 1_000),
        ("bit/s", 1),
        ("bps", 1),
    ],
};

impl Rate {
    /// No rate at all.
    pub const ZERO: Rate = Rate(0);

    /// A rate of so many bits per second.
    pub const fn from_bits_per_second(bits: u64) -> Self {
        Rate(bits)
    }

    /// The rate at which `bytes` pass in `span`; zero over an empty span.
    ///
    /// ```
    /// # use units::{Bytes, Rate, Span};
    /// let rate = Rate::of(Bytes::new(1_250_000), Span::from_millis(100));
    /// assert_eq!(rate.to_string(), "100Mbit/s");
    /// ```
    pub fn of(bytes: Bytes, span: Span) -> Self {
        if span == Span::ZERO {
            return Rate::ZERO;
        }
        let bits = u128::from(bytes.get()) * 8 * 1_000_000_000 / u128::from(span.as_nanos());
        Rate(u64::try_from(bits).unwrap_or(u64::MAX))
    }

    /// The nearest rate to a computed one; negative and undefined values become zero.
    pub fn from_f64(bits_per_second: f64) -> Self {
        Rate(bits_per_second.round() as u64)
    }

    /// Bits per second.
    pub const fn bits_per_second(self) -> u64 {
        self.0
    }

    /// Bits per second, for formulas.
    pub fn as_f64(self) -> f64 {
        self.0 as f64
    }

    /// How long `bytes` take at this rate, rounded up to a nanosecond; [`Span::MAX`] at rate zero.
    pub fn time_to_send(self, bytes: Bytes) -> Span {
        if self.0 == 0 {
            return Span::MAX;
        }
        let nanos = (u128::from(bytes.get()) * 8 * 1_000_000_000).div_ceil(u128::from(self.0));
        Span::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX))
    }

    /// How many whole bytes pass in `span`: with a round-trip time, the bandwidth-delay product.
    ///
    /// ```
    /// # use units::{Rate, Span};
    /// // 50 Mbit/s times 20 ms are 125 kB.
    /// let rate: Rate = "50Mbit/s".parse().unwrap();
    /// assert_eq!(rate.bytes_in(Span::from_millis(20)).get(), 125_000);
    /// ```
    pub fn bytes_in(self, span: Span) -> Bytes {
        let bytes = u128::from(self.0) * u128::from(span.as_nanos()) / 8_000_000_000;
        Bytes::new(u64::try_from(bytes).unwrap_or(u64::MAX))
    }

    /// Three significant digits for people: `26.8 Mbit/s`.
    pub fn human(self) -> String {
        human(self.as_f64(), PRINTED)
    }
}

impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&exact(self.0, PRINTED))
    }
}

impl FromStr for Rate {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        GRAMMAR.parse(text).map(Rate)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rate_zero_never_finishes() {
        assert_eq!(Rate::ZERO.time_to_send(Bytes::new(1)), Span::MAX);
    }

    #[test]
    fn an_unknown_unit_is_named_with_examples() {
        let error = "10 MB/s".parse::<Rate>().unwrap_err();
        assert_eq!(
            error.to_string(),
            "`10 MB/s` is not a rate: the unit `MB/s` is unknown; write it like `622Mbit/s`, \
                `10Gbit/s` or `10G`"
        );
    }

    #[test]
    fn display_parses_back() {
        for bits in [0, 1, 999, 1_000, 45_000_000, 622_080_000, 10_000_000_000] {
            let rate = Rate(bits);
            assert_eq!(rate.to_string().parse(), Ok(rate), "{rate}");
        }
    }

    #[test]
    fn people_read_three_digits() {
        let human = |bits| Rate(bits).human();
        assert_eq!(human(26_812_345), "26.8 Mbit/s");
        assert_eq!(human(999_999_999), "1.00 Gbit/s");
        assert_eq!(human(0), "0 bit/s");
    }
}
