//! JSON scalars as iperf3's many versions write them.
//!
//! One version prints integers as floats, another prints -1 as 18446744073709551615, and servers
//! ignore a value of the wrong type where clients insist on it. Here a value is read as whatever it
//! is and each field says what it makes of it.

use std::fmt;

use serde::de::{Deserialize, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};

/// Any JSON value, with the structured ones skipped.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Scalar {
    Flag(bool),
    Integer(i128),
    Float(f64),
    Text(String),
    Other,
}

struct ScalarVisitor;

impl<'de> Visitor<'de> for ScalarVisitor {
    type Value = Scalar;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }
    fn visit_bool<E: Error>(self, value: bool) -> Result<Scalar, E> {
        Ok(Scalar::Flag(value))
    }
    fn visit_i64<E: Error>(self, value: i64) -> Result<Scalar, E> {
        Ok(Scalar::Integer(value.into()))
    }
    fn visit_u64<E: Error>(self, value: u64) -> Result<Scalar, E> {
        Ok(Scalar::Integer(value.into()))
    }
    fn visit_f64<E: Error>(self, value: f64) -> Result<Scalar, E> {
        Ok(Scalar::Float(value))
    }
    fn visit_str<E: Error>(self, value: &str) -> Result<Scalar, E> {
        Ok(Scalar::Text(value.to_owned()))
    }
    fn visit_unit<E: Error>(self) -> Result<Scalar, E> {
        Ok(Scalar::Other)
    }
    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Scalar, A::Error> {
        while items.next_element::<IgnoredAny>()?.is_some() {}
        Ok(Scalar::Other)
    }
    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Scalar, A::Error> {
        while entries.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(Scalar::Other)
    }
}

impl<'de> Deserialize<'de> for Scalar {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_any(ScalarVisitor)
    }
}

impl Scalar {
    /// The value as a signed integer, with the unsigned spellings of negative ones undone.
    fn signed(&self) -> Option<i64> {
        match self {
            Scalar::Integer(value) if *value > i64::MAX.into() => {
                i64::try_from(*value - (1i128 << 64)).ok()
            }
            Scalar::Integer(value) => i64::try_from(*value).ok(),
            Scalar::Float(value) if *value >= i64::MAX as f64 => Some(-1),
            Scalar::Float(value) if value.is_finite() => Some(*value as i64),
            _ => None,
        }
    }
}

/// `true` and nothing else switches a flag on.
pub(crate) fn flag<'de, D: Deserializer<'de>>(from: D) -> Result<bool, D::Error> {
    Ok(Scalar::deserialize(from)? == Scalar::Flag(true))
}

/// A number above zero or zero; negative ones and other types count as absent.
pub(crate) fn count<'de, D: Deserializer<'de>>(from: D) -> Result<Option<u64>, D::Error> {
    let signed = Scalar::deserialize(from)?.signed();
    Ok(signed.and_then(|value| u64::try_from(value).ok()))
}

/// A signed number; other types count as absent.
pub(crate) fn signed<'de, D: Deserializer<'de>>(from: D) -> Result<Option<i64>, D::Error> {
    Ok(Scalar::deserialize(from)?.signed())
}

/// A number above zero or zero, without which the message is worthless.
pub(crate) fn required_count<'de, D: Deserializer<'de>>(from: D) -> Result<u64, D::Error> {
    let wrong = || D::Error::custom("expected a number that is not negative");
    count(from)?.ok_or_else(wrong)
}

/// Any number as a float; other types count as absent.
pub(crate) fn float<'de, D: Deserializer<'de>>(from: D) -> Result<Option<f64>, D::Error> {
    Ok(match Scalar::deserialize(from)? {
        Scalar::Float(value) => Some(value),
        Scalar::Integer(value) => Some(value as f64),
        _ => None,
    })
}

/// A text; other types count as absent.
pub(crate) fn text<'de, D: Deserializer<'de>>(from: D) -> Result<Option<String>, D::Error> {
    Ok(match Scalar::deserialize(from)? {
        Scalar::Text(text) => Some(text),
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(json: &str) -> Option<i64> {
        serde_json::from_str::<Scalar>(json).unwrap().signed()
    }

    #[test]
    fn every_spelling_of_minus_one_is_minus_one() {
        for json in ["-1", "18446744073709551615", "1.84467440737096e+19", "-1.0"] {
            assert_eq!(read(json), Some(-1), "{json}");
        }
    }

    #[test]
    fn byte_counts_survive_in_both_notations() {
        assert_eq!(read("1250000000"), Some(1_250_000_000));
        assert_eq!(read("1.25e9"), Some(1_250_000_000));
        assert_eq!(read("9223372036854775807"), Some(i64::MAX));
    }

    #[test]
    fn other_types_are_absent() {
        for json in ["\"7\"", "null", "true", "[1,2]", "{\"a\":{\"b\":[]}}"] {
            assert_eq!(read(json), None, "{json}");
        }
    }
}
