//! The log: standard error, a line for each thing that happened, with its time.

use crate::output::tell;

/// Local time with its offset, as RFC 3339 writes it.
const TIME: &str = "%Y-%m-%dT%H:%M:%S%:z";

/// Writes one line.
pub(in crate::commands) fn line(text: &str) {
    tell!("{} {text}", jiff::Zoned::now().strftime(TIME));
}
