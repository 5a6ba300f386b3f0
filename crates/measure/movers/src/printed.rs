//! Amounts as programs print them.

use units::Bytes;

/// What a program has said of a transfer so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Printed {
    /// What it has moved in all.
    pub bytes: Bytes,
}

/// `12.5`, `MB` and the like as bytes. Prefixes count in steps of 1000 before `B`, of 1024 before
/// `iB`, and of 1024 everywhere of programs that say `MB` and mean that (`binary`).
pub(crate) fn amount(number: &str, unit: &str, binary: bool) -> Option<Bytes> {
    let number: f64 = number.parse().ok()?;
    let unit = unit
        .trim_end_matches("Bytes")
        .trim_end_matches("bytes")
        .trim_end_matches('B');
    let (prefix, step) = match unit.strip_suffix('i') {
        Some(prefix) => (prefix, 1024.0_f64),
        None => (unit, if binary { 1024.0 } else { 1000.0 }),
    };
    let power = match prefix {
        "" => 0,
        "k" | "K" => 1,
        "M" => 2,
        "G" => 3,
        "T" => 4,
        _ => return None,
    };
    let bytes = number * step.powi(power);
    (bytes.is_finite() && bytes >= 0.0).then(|| Bytes::new(bytes as u64))
}

/// Lines as a terminal would show them last: what `\r` has overwritten counts, too.
pub(crate) fn lines(text: &str) -> impl DoubleEndedIterator<Item = &str> {
    text.split(['\n', '\r'])
        .filter(|line| !line.trim().is_empty())
}
