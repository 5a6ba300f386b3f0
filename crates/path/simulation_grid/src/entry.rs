//! The text that a run is kept as.
//!
//! The first line is the form, the second the name under which the run is kept, the third the run
//! in JSON, with numbers in full so that they come back bit by bit. The last line is a digest of
//! all lines before.

use serde::{Deserialize, Serialize};
use sim::RunResult;
use units::Span;

/// The first line. Another form of the text needs another number.
pub(super) const FORM: &str = "trunkline simulated run, form 2";
const SEAL: &str = "digest ";

/// A run with its processor time.
#[derive(Serialize, Deserialize)]
struct Kept<R> {
    cpu_seconds: Span,
    result: R,
}

/// `result`, which took `cpu`, to be kept under `name`.
pub(super) fn write(result: &RunResult, cpu: Span, name: &str) -> serde_json::Result<String> {
    let kept = Kept {
        cpu_seconds: cpu,
        result,
    };
    let body = format!("{FORM}\n{name}\n{}\n", serde_json::to_string(&kept)?);
    let seal = blake3::hash(body.as_bytes()).to_hex();
    Ok(format!("{body}{SEAL}{seal}\n"))
}

/// What [`write`] wrote for `name`; `None` for any other text.
pub(super) fn read(text: &str, name: &str) -> Option<(RunResult, Span)> {
    let mut lines = unsealed(text)?.lines();
    if lines.next()? != FORM || lines.next()? != name {
        return None;
    }
    let kept: Kept<RunResult> = serde_json::from_str(lines.next()?).ok()?;
    Some((kept.result, kept.cpu_seconds))
}

/// What stands before the last line, if that is its digest.
fn unsealed(text: &str) -> Option<&str> {
    let end = text.strip_suffix('\n')?.rfind('\n')? + 1;
    let (body, seal) = text.split_at(end);
    let seal = seal.trim_end().strip_prefix(SEAL)?;
    (blake3::hash(body.as_bytes()).to_hex().as_str() == seal).then_some(body)
}

#[cfg(test)]
mod tests {
    use super::super::tests::{made_up, scenario};
    use super::*;

    #[test]
    fn a_run_comes_back_bit_by_bit() {
        let result = made_up(&scenario());
        let text = write(&result, Span::from_nanos(77), "name").unwrap();
        assert_eq!(read(&text, "name"), Some((result, Span::from_nanos(77))));
        assert_eq!(read(&text, "other"), None);
    }

    #[test]
    fn what_is_absent_stays_absent() {
        let mut result = made_up(&scenario());
        result.round_trips = None;
        result.completion = None;
        result.series.clear();
        result
            .streams
            .iter_mut()
            .for_each(|stream| stream.completed = None);
        let text = write(&result, Span::ZERO, "name").unwrap();
        assert_eq!(read(&text, "name"), Some((result, Span::ZERO)));
    }
}
