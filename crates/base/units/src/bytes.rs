//! Sizes in bytes.

use std::fmt;
use std::iter::Sum;
use std::ops::{Add, AddAssign, Sub};
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::ParseError;
use crate::parse::{Grammar, Unit, exact, human};

/// A size in bytes.
///
/// `KiB`, `MiB`, `GiB` are powers of two and `kB`, `MB`, `GB` powers of ten. A bare letter, as in
/// iperf3's `-w 64K`, is a power of two.
///
/// ```
/// use units::Bytes;
/// assert_eq!("64k".parse(), Ok(Bytes::new(65_536)));
/// assert_eq!("64kB".parse(), Ok(Bytes::new(64_000)));
/// assert_eq!(Bytes::new(524_288).to_string(), "512KiB");
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
pub struct Bytes(u64);

const BINARY: &[Unit] = &[
    ("TiB", 1 << 40),
    ("GiB", 1 << 30),
    ("MiB", 1 << 20),
    ("KiB", 1 << 10),
    ("B", 1),
];

const DECIMAL: &[Unit] = &[
    ("TB", 1_000_000_000_000),
    ("GB", 1_000_000_000),
    ("MB", 1_000_000),
    ("kB", 1_000),
    ("B", 1),
];

const GRAMMAR: Grammar = Grammar {
    kind: "a size",
    example: "`512KiB`, `64k` (65,536 bytes) or `500MB`",
    units: &[
        ("", 1),
        ("B", 1),
        ("KiB", 1 << 10),
        ("K", 1 << 10),
        ("k", 1 << 10),
        ("kB", 1_000),
        ("KB", 1_000),
        ("MiB", 1 << 20),
        ("M", 1 << 20),
        ("m", 1 << 20),
        ("MB", 1_000_000),
        ("GiB", 1 << 30),
        ("G", 1 << 30),
        ("g", 1 << 30),
        ("GB", 1_000_000_000),
        ("TiB", 1 << 40),
        ("T", 1 << 40),
        ("t", 1 << 40),
        ("TB", 1_000_000_000_000),
    ],
};

impl Bytes {
    /// Nothing.
    pub const ZERO: Bytes = Bytes(0);

    /// So many bytes.
    pub const fn new(bytes: u64) -> Self {
        Bytes(bytes)
    }

    /// So many times 1024 bytes.
    pub const fn from_kib(kib: u64) -> Self {
        Bytes(kib << 10)
    }

    /// So many times 1024 times 1024 bytes.
    pub const fn from_mib(mib: u64) -> Self {
        Bytes(mib << 20)
    }

    /// The count.
    pub const fn get(self) -> u64 {
        self.0
    }

    /// The count, for formulas.
    pub fn as_f64(self) -> f64 {
        self.0 as f64
    }

    /// This size `n` times.
    pub const fn times(self, n: u64) -> Self {
        Bytes(self.0.saturating_mul(n))
    }

    /// Three significant digits for people, in powers of ten: `1.26 GB`.
    pub fn human(self) -> String {
        human(self.as_f64(), DECIMAL)
    }
}

impl Add for Bytes {
    type Output = Bytes;
    #[inline]
    fn add(self, other: Bytes) -> Bytes {
        Bytes(self.0.saturating_add(other.0))
    }
}

impl AddAssign for Bytes {
    #[inline]
    fn add_assign(&mut self, other: Bytes) {
        *self = *self + other;
    }
}

impl Sub for Bytes {
    type Output = Bytes;
    #[inline]
    fn sub(self, other: Bytes) -> Bytes {
        Bytes(self.0.saturating_sub(other.0))
    }
}

impl Sum for Bytes {
    fn sum<I: Iterator<Item = Bytes>>(sizes: I) -> Bytes {
        sizes.fold(Bytes::ZERO, Add::add)
    }
}

impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let whole = |units: &[Unit]| {
            let unit = units
                .iter()
                .find(|(_, factor)| self.0 >= *factor && self.0.is_multiple_of(*factor));
            unit.map(|(name, factor)| (*factor, format!("{}{name}", self.0 / factor)))
        };
        let text = match (whole(BINARY), whole(DECIMAL)) {
            (Some((binary, text)), Some((decimal, _))) if binary > 1 && binary >= decimal => text,
            _ => exact(self.0, DECIMAL),
        };
        f.pad(&text)
    }
}

impl FromStr for Bytes {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        GRAMMAR.parse(text).map(Bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn display_parses_back() {
        for bytes in [
            0,
            1,
            1_460,
            64_000,
            65_536,
            500_000_000,
            1 << 30,
            4 << 20,
            123_456_789,
        ] {
            let size = Bytes(bytes);
            assert_eq!(size.to_string().parse(), Ok(size), "{size}");
        }
    }

    #[test]
    fn the_family_that_prints_whole_is_chosen() {
        assert_eq!(Bytes(500_000_000).to_string(), "500MB");
        assert_eq!(Bytes(256 << 10).to_string(), "256KiB");
        assert_eq!(Bytes(1_500).to_string(), "1.5kB");
        assert_eq!(Bytes(0).to_string(), "0B");
    }

    #[test]
    fn a_negative_size_is_refused() {
        let error = "-1".parse::<Bytes>().unwrap_err();
        assert!(
            error.to_string().contains("does not begin with a number"),
            "{error}"
        );
    }

    #[test]
    fn an_absurd_size_is_refused() {
        assert!("99999999999999999999T".parse::<Bytes>().is_err());
    }
}
