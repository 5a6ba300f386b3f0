//! Values of `sweep`.

use observe::{StreamCount, Window};
use units::{Bytes, Span};

use super::List;
use super::simulate::parts;
use super::{bytes, duration, window};

/// Numbers of streams to measure: `8`, `1,2,4` or `1..20`.
///
/// # Errors
/// A sentence when it is none, or outside its bounds.
pub fn streams(text: &str) -> Result<List<StreamCount>, String> {
    let mut counts = parts(text, |part| match part.split_once("..") {
        Some((first, last)) => range(count(first)?, count(last)?),
        None => Ok(vec![count(part)?]),
    })?;
    counts.sort_unstable();
    counts.dedup();
    Ok(List(counts))
}

fn count(text: &str) -> Result<StreamCount, String> {
    let text = text.trim();
    let error = |_| format!("`{text}` is not a number of streams; write 8, 1,2,4 or 1..20");
    let number: u64 = text.parse().map_err(error)?;
    StreamCount::new(number).map_err(|error| error.to_string())
}

fn range(first: StreamCount, last: StreamCount) -> Result<Vec<StreamCount>, String> {
    if first > last {
        return Err(format!(
            "the range {first}..{last} runs backwards; write {last}..{first}"
        ));
    }
    let all = (first.get()..=last.get()).map(|count| StreamCount::new(count.into()));
    let all: Result<_, _> = all.collect();
    all.map_err(|error: observe::setting::StreamCountError| error.to_string())
}

/// How long visits last, one or several.
///
/// # Errors
/// A sentence when it is none, or outside its bounds.
pub fn durations(text: &str) -> Result<List<Span>, String> {
    let one = |text: &str| duration(text).map(|span| vec![span]);
    parts(text, one).map(List::of)
}

/// Socket buffers, one or several.
///
/// # Errors
/// A sentence when it is none, or outside its bounds.
pub fn windows(text: &str) -> Result<List<Window>, String> {
    let windows = parts(text, |part| Ok(vec![window(part)?]))?;
    Ok(List::of(windows))
}

/// What streams times window come to, one or several.
///
/// # Errors
/// A sentence when it is none, or outside its bounds.
pub fn products(text: &str) -> Result<List<Bytes>, String> {
    let products = parts(text, |part| Ok(vec![bytes(part)?]))?;
    Ok(List::of(products))
}
