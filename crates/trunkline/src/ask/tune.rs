//! Values of `tune`.

use units::{Bytes, Span};

use super::within;

/// What a search may spend, as far as the user said.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Budget {
    /// Time.
    pub time: Option<Span>,
    /// Data.
    pub bytes: Option<Bytes>,
}

/// A time, a size or both; which of them a part is, its unit says.
///
/// # Errors
/// A sentence when it is none, or outside its bounds.
pub fn budget(text: &str) -> Result<Budget, String> {
    let mut budget = Budget::default();
    for part in text.split(',').map(str::trim) {
        let taken = match part.parse::<Span>() {
            Ok(_) => budget.time.replace(time(part)?).is_some(),
            Err(_) => budget.bytes.replace(size(part)?).is_some(),
        };
        if taken {
            return Err(format!(
                "`{text}` has two bounds of one kind; give one time and one size: `20s,500MB`"
            ));
        }
    }
    Ok(budget)
}

/// One sample needs some seconds; a day is more than any search wants.
fn time(text: &str) -> Result<Span, String> {
    within(text, Span::from_secs(1)..=Span::from_secs(86_400))
}

/// Less than a megabyte shows nothing of a path.
fn size(text: &str) -> Result<Bytes, String> {
    if text.parse::<u64>().is_ok() {
        return Err(format!(
            "`{text}` is neither a time like `20s` nor a size like `500MB`"
        ));
    }
    let bounds = Bytes::new(1_000_000)..=Bytes::new(1_000_000_000_000_000);
    within(text, bounds)
        .map_err(|error| format!("{error}; a time like `20s` or a size like `500MB` is wanted"))
}

/// Delay that a gentle setting may add to the round trip.
///
/// # Errors
/// A sentence when it is none, or outside its bounds.
pub fn added_rtt(text: &str) -> Result<Span, String> {
    within(text, Span::ZERO..=Span::from_secs(10))
}

/// A share, as such or in percent.
///
/// # Errors
/// A sentence when it is none, or outside its bounds.
pub fn loss(text: &str) -> Result<f64, String> {
    let share = units::share(text).filter(|share| *share <= 0.5);
    share
        .ok_or_else(|| format!("`{text}` is not a share between 0 and 0.5, like `0.001` or `0.1%`"))
}

/// Share of the highest goodput: 0.1 to 1.
///
/// # Errors
/// A sentence when it is none, or outside its bounds.
pub fn share(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(share) if (0.1..=1.0).contains(&share) => Ok(share),
        _ => Err(format!("`{text}` is not a share between 0.1 and 1")),
    }
}
