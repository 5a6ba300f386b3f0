//! Where results are kept, as the arguments say, and what happens when that is not possible.
//!
//! A result has been shown before it is kept, and what goes wrong here is a warning: no archive is
//! worth a finished measurement.

use trunkline::AnyDocument;
use trunkline::Hint;
use trunkline::archive::Essence;
use trunkline::history::{ArchiveError, History, default_place};

use crate::args::Keep;
use crate::output::tell;

impl Keep {
    /// Where results are kept and what was kept is looked up.
    pub(crate) fn history(&self) -> History {
        match (&self.history, self.no_history) {
            (_, true) => History::NOTHING,
            (Some(file), false) => History::at(file),
            (None, false) => History::at_default(),
        }
    }
}

/// Keeps a document that has been shown.
pub(crate) fn keep(document: &AnyDocument, keep: &Keep) {
    if let Some(id) = keep_silently(document, keep) {
        tell!("kept as run {id}: `trunkline history {id}` shows it again");
    }
}

/// The same; gives its number, and says only what went wrong.
pub(crate) fn keep_silently(document: &AnyDocument, keep: &Keep) -> Option<i64> {
    let is_kept = Essence::of(document).is_some() && !keep.no_history;
    if is_kept && keep.history.is_none() && default_place().is_none() {
        tell!(
            "warning: neither TRUNKLINE_STATE, XDG_STATE_HOME nor HOME is set; this result is not \
                kept\n\nhint: name a file with `--history FILE`"
        );
    }
    let kept = keep.history().keep(document);
    kept.inspect_err(|error| warn(error, "this result is not kept"))
        .ok()
        .flatten()
}

fn warn(error: &ArchiveError, so: &str) {
    let cause = std::error::Error::source(error);
    let cause = cause.map(|cause| format!(" ({cause})")).unwrap_or_default();
    let hint = error.hint().unwrap_or_default();
    tell!("warning: {error}{cause}; {so}\n\nhint: {hint}");
}
