//! A number and its unit, the way people write quantities.

use thiserror::Error;

/// A text that is not a quantity of the wanted kind.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("`{text}` is not {kind}: {problem}; write it like {example}")]
pub struct ParseError {
    /// What was written.
    pub text: String,
    /// What was wanted, with its article: "a rate".
    pub kind: &'static str,
    /// What is wrong with it.
    pub problem: Problem,
    /// Two or three accepted spellings.
    pub example: &'static str,
}

/// Why a text is not a quantity.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum Problem {
    /// The text does not begin with a number.
    #[error("it does not begin with a number")]
    NoNumber,
    /// The unit is missing where it has to be named.
    #[error("the unit is missing")]
    NoUnit,
    /// The unit is not one of those known.
    #[error("the unit `{0}` is unknown")]
    UnknownUnit(String),
    /// The value does not fit the type.
    #[error("the value is too large")]
    TooLarge,
}

/// One accepted unit: its spelling and how many base units it stands for.
pub(crate) type Unit = (&'static str, u64);

/// Which texts a quantity is parsed from.
pub(crate) struct Grammar {
    pub kind: &'static str,
    pub example: &'static str,
    pub units: &'static [Unit],
}

impl Grammar {
    /// Reads `text` as base units, rounding to the nearest one.
    pub(crate) fn parse(&self, text: &str) -> Result<u64, ParseError> {
        let fail = |problem| ParseError {
            text: text.to_owned(),
            kind: self.kind,
            problem,
            example: self.example,
        };
        let trimmed = text.trim();
        let number_end = trimmed
            .find(|c: char| !c.is_ascii_digit() && c != '.')
            .unwrap_or(trimmed.len());
        let number: f64 = trimmed[..number_end]
            .parse()
            .map_err(|_| fail(Problem::NoNumber))?;
        let unit = trimmed[number_end..].trim();
        let factor = self.factor(unit).map_err(fail)?;
        let value = number * factor as f64;
        if value >= u64::MAX as f64 {
            return Err(fail(Problem::TooLarge));
        }
        Ok(value.round() as u64)
    }

    fn factor(&self, unit: &str) -> Result<u64, Problem> {
        let known = self.units.iter().find(|(name, _)| *name == unit);
        match (known, unit) {
            (Some((_, factor)), _) => Ok(*factor),
            (None, "") => Err(Problem::NoUnit),
            (None, _) => Err(Problem::UnknownUnit(unit.to_owned())),
        }
    }
}

/// Writes `value` in the largest of `units` that prints it exactly with at most three decimals.
///
/// `units` run from the largest to the smallest, which must be 1.
pub(crate) fn exact(value: u64, units: &[Unit]) -> String {
    for (name, factor) in units {
        let thousandths = u128::from(value) * 1000;
        let factor = u128::from(*factor);
        if value as u128 >= factor && thousandths.is_multiple_of(factor) {
            let decimals = thousandths / factor;
            let text = format!("{}.{:03}", decimals / 1000, decimals % 1000);
            let text = text.trim_end_matches('0').trim_end_matches('.');
            return format!("{text}{name}");
        }
    }
    let smallest = units.last().map_or("", |(name, _)| name);
    format!("{value}{smallest}")
}

/// Writes `value` with three significant digits in the largest unit not above it.
pub(crate) fn human(value: f64, units: &[Unit]) -> String {
    let fallback = units.last().copied().unwrap_or(("", 1));
    let (name, factor) = units
        .iter()
        .copied()
        .find(|(_, factor)| value >= *factor as f64 * 0.9995)
        .unwrap_or(fallback);
    let scaled = value / factor as f64;
    let decimals = match scaled {
        _ if factor == 1 && scaled.fract() == 0.0 => 0,
        s if s >= 99.95 => 0,
        s if s >= 9.995 => 1,
        _ => 2,
    };
    format!("{scaled:.decimals$} {name}")
}
