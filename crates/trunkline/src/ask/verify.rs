//! Values of `verify`.

use crate::verify::Algorithm;

/// A checksum by its name.
///
/// # Errors
/// A sentence with those that there are.
pub fn algorithm(text: &str) -> Result<Algorithm, String> {
    Algorithm::named(text).ok_or_else(|| {
        let names: Vec<&str> = Algorithm::ALL.into_iter().map(Algorithm::name).collect();
        format!("`{text}` is none of {}", names.join(", "))
    })
}
