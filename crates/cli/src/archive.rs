//! The archive of results: where it is, and what happens when it cannot be used.
//!
//! A result has been shown before it is kept, and what goes wrong here is a warning: no archive is
//! worth a finished measurement.

use std::env;
use std::path::PathBuf;

use observe::{Setting, StreamCount, TargetInfo};
use record::archive::Essence;
use record::copy::remembered_name;
use record::{AnyDocument, Archive, ArchiveError};
use target::TargetName;
use transfer::FarHost;
use tune::Remembered;
use wire::copy::CopyDirection;

use crate::args::Keep;
use crate::output::tell;

/// The file of the archive: `$TRUNKLINE_STATE/archive.sqlite`, or the same below
/// `$XDG_STATE_HOME/trunkline` or `~/.local/state/trunkline` (XDG Base Directory Specification,
/// which has relative names ignored). `None` where none of them is set.
pub(crate) fn default_place() -> Option<PathBuf> {
    let folder = |name: &str| {
        env::var_os(name)
            .filter(|value| !value.is_empty())
            .map(PathBuf::from)
    };
    let absolute = |name| folder(name).filter(|path| path.is_absolute());
    let state = || {
        let home = || absolute("HOME").map(|home| home.join(".local/state"));
        let state = absolute("XDG_STATE_HOME").or_else(home);
        state.map(|state| state.join("trunkline"))
    };
    let place = folder("TRUNKLINE_STATE").or_else(state);
    place.map(|folder| folder.join("archive.sqlite"))
}

impl Keep {
    /// Where to keep the result; `None` where it is not to be kept, or has no place, which is said.
    fn place(&self) -> Option<PathBuf> {
        if self.no_history {
            return None;
        }
        let place = self.history.clone().or_else(default_place);
        if place.is_none() {
            tell!(
                "warning: neither TRUNKLINE_STATE, XDG_STATE_HOME nor HOME is set; this result is not kept\n\n\
                 hint: name a file with `--history FILE`"
            );
        }
        place
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
    Essence::of(document)?;
    let place = keep.place()?;
    let kept = Archive::open(&place).and_then(|mut archive| archive.keep(document));
    kept.inspect_err(|error| warn(error, "this result is not kept"))
        .ok()
}

/// Streams that carried an earlier copy with this far end; nothing where the archive cannot say.
pub(crate) fn streams_of_copies(
    keep: &Keep,
    host: &FarHost,
    direction: CopyDirection,
) -> Option<StreamCount> {
    let archive = existing(keep)?;
    let name = remembered_name(host);
    archive
        .streams_of_copies(&name, record::copy::direction(direction))
        .ok()
        .flatten()
}

/// The archive, where there is one that can be opened. A missing place and a damaged archive are
/// told when the result is kept.
fn existing(keep: &Keep) -> Option<Archive> {
    if keep.no_history {
        return None;
    }
    let place = keep.history.clone().or_else(default_place)?;
    Archive::open_existing(&place).ok()
}

/// What earlier searches on the same target found; nothing where the archive cannot say.
pub(crate) fn remembered(
    keep: &Keep,
    info: &TargetInfo,
    name: &TargetName,
    base: &Setting,
) -> Vec<Remembered> {
    let archive = existing(keep);
    let remembered = archive.and_then(|archive| archive.remembered(info, name.path(), base).ok());
    remembered.unwrap_or_default()
}

fn warn(error: &ArchiveError, so: &str) {
    let cause = std::error::Error::source(error);
    let cause = cause.map(|cause| format!(" ({cause})")).unwrap_or_default();
    tell!("warning: {error}{cause}; {so}\n\nhint: {}", error.hint());
}
