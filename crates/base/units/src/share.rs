//! Shares as people write them.

/// Reads a share, as such (`0.001`) or in percent (`0.1%`); `None` for anything else and for what
/// is not between 0 and 1.
///
/// ```
/// assert_eq!(units::share("0.1%"), Some(0.001));
/// assert_eq!(units::share("0.1 %"), units::share("0.001"));
/// assert_eq!(units::share("120%"), None);
/// ```
pub fn share(text: &str) -> Option<f64> {
    let (number, whole) = match text.trim().strip_suffix('%') {
        Some(number) => (number.trim_end(), 100.0),
        None => (text.trim(), 1.0),
    };
    let share = number.parse::<f64>().ok()? / whole;
    (0.0..=1.0).contains(&share).then_some(share)
}
