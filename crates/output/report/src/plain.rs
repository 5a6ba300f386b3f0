//! Text that cannot steer a terminal.

/// `text` in one line, without characters that could steer a terminal.
pub fn plain(text: &str) -> String {
    let safe = text.chars().map(|c| if units::steers(c) { ' ' } else { c });
    safe.collect()
}
