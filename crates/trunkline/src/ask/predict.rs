//! Values of `predict`.

use observe::Window;

use super::List;
use super::simulate::{streams, windows};

/// The most streams that the table and the search for the knee stay quick with.
const STREAMS_MAX: u32 = 4096;

/// Numbers of streams that formulas are asked for.
///
/// # Errors
/// A sentence when it is none, or outside its bounds.
pub fn counts(text: &str) -> Result<List<u32>, String> {
    let list = streams(text)?;
    match list
        .0
        .iter()
        .find(|count| !(1..=STREAMS_MAX).contains(*count))
    {
        Some(count) => Err(format!("{count} is not between 1 and {STREAMS_MAX}")),
        None => Ok(list),
    }
}

/// The one window of a prediction.
///
/// # Errors
/// A sentence when it is none, or outside its bounds.
pub fn window(text: &str) -> Result<Window, String> {
    let list = windows(text)?;
    match list.0[..] {
        [window] => Ok(window),
        _ => Err(format!(
            "{} windows are given, a prediction takes one",
            list.0.len()
        )),
    }
}
