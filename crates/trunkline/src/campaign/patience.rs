//! Waits for others that write to the same files.

use std::thread;
use std::time::{Duration, Instant};

use transfer::{CopyControl, CopyError};
use units::Span;
use wire::copy::ProblemKind;

/// Between two tries.
const PAUSE: Duration = Duration::from_secs(1);
/// How soon a stop is noticed.
const TICK: Duration = Duration::from_millis(100);

/// Tries a copy again while others write to its files, for as long as `patience`.
pub(super) fn patiently<T>(
    patience: Span,
    control: &CopyControl,
    mut copy: impl FnMut() -> Result<T, CopyError>,
) -> Result<T, CopyError> {
    let until = Instant::now() + Duration::from(patience);
    loop {
        match copy() {
            Err(error) if is_busy(&error) && Instant::now() < until && pause(control) => {}
            ended => return ended,
        }
    }
}

/// Waits; `false` when the copy is to end.
fn pause(control: &CopyControl) -> bool {
    let until = Instant::now() + PAUSE;
    while Instant::now() < until && !control.is_stopped() {
        thread::sleep(TICK);
    }
    !control.is_stopped()
}

/// Whether others write to the same files.
pub(super) fn is_busy(error: &CopyError) -> bool {
    matches!(
        error,
        CopyError::Problem {
            kind: ProblemKind::Busy,
            ..
        }
    )
}
