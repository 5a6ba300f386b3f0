//! The archive of results: where it is, and what is kept and remembered.

use std::env;
use std::path::{Path, PathBuf};

use archive::{Essence, FoundControl};
use copy_protocol::{CopyDirection, FarHost};
use observe::{Setting, StreamCount};
use record::copy::remembered_name;
use record::{AnyDocument, iperf3};
use tune::Remembered;

use crate::{Error, Target};

pub use archive::{Archive, ArchiveError};
pub use archive::{Comparison, Entry, Filter, KeptSweep, Listed, Listing, SweepEntry};

/// What a copy begins with, from memory of its far end.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CopyMemory {
    /// Streams that carried an earlier copy.
    pub streams: Option<StreamCount>,
    /// The congestion control of which a search found fewer streams to do, with their number.
    pub control: Option<FoundControl>,
}

/// The file of the archive: `$TRUNKLINE_STATE/archive.sqlite`, or the same below
/// `$XDG_STATE_HOME/trunkline` or `~/.local/state/trunkline` (XDG Base Directory Specification,
/// which has relative names ignored). `None` where none of them is set.
pub fn default_place() -> Option<PathBuf> {
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

/// Where results are kept, if anywhere.
///
/// No archive is worth a finished measurement: show a result before it is kept.
#[derive(Debug, Clone, Default)]
pub struct History(Option<PathBuf>);

impl History {
    /// Keeps nothing and remembers nothing.
    pub const NOTHING: History = History(None);

    /// At the [`default_place`]; nowhere where there is none.
    pub fn at_default() -> Self {
        History(default_place())
    }

    /// In this file.
    pub fn at(file: impl Into<PathBuf>) -> Self {
        History(Some(file.into()))
    }

    /// The file; `None` where nothing is kept.
    pub fn place(&self) -> Option<&Path> {
        self.0.as_deref()
    }

    /// Keeps a document and gives its number; `None` where nothing is kept, or the document is of
    /// a kind that is not kept.
    ///
    /// # Errors
    /// When the archive cannot be written.
    pub fn keep(&self, document: &AnyDocument) -> Result<Option<i64>, ArchiveError> {
        let (Some(place), Some(_)) = (&self.0, Essence::of(document)) else {
            return Ok(None);
        };
        Archive::open(place)?.keep(document).map(Some)
    }

    /// What earlier searches on the same target found, for
    /// [`TunePlan::remembered`](crate::tune::TunePlan); nothing where the archive cannot say.
    ///
    /// * `base`: what the settings of the search have in common.
    pub fn remembered(&self, target: &Target, base: &Setting) -> Vec<Remembered> {
        let found = self.existing().and_then(|archive| {
            let info = target.describe();
            archive.remembered(&info, target.path(), base).ok()
        });
        found.unwrap_or_default()
    }

    /// What an earlier copy with this far end and earlier searches found; nothing where the archive
    /// cannot say.
    pub fn of_copies(&self, host: &FarHost, direction: CopyDirection) -> CopyMemory {
        let name = remembered_name(host);
        CopyMemory {
            streams: self.streams_of(&name, direction),
            control: self.control_of(&name, direction),
        }
    }

    /// The congestion control that a search found to need fewer streams.
    fn control_of(&self, name: &str, direction: CopyDirection) -> Option<FoundControl> {
        let direction = record::copy::direction(direction);
        let found = self.existing()?.control_of_searches(name, direction);
        found.ok().flatten()
    }

    /// Number of streams that carried an earlier copy with a far end by its name in the archive.
    pub(crate) fn streams_of(&self, name: &str, direction: CopyDirection) -> Option<StreamCount> {
        let direction = record::copy::direction(direction);
        let streams = self.existing()?.streams_of_copies(name, direction);
        streams.ok().flatten()
    }

    /// The archive, where there is one that can be opened. A missing place and a damaged archive
    /// are told when a result is kept.
    fn existing(&self) -> Option<Archive> {
        Archive::open_existing(self.place()?).ok()
    }
}

/// Reads a file with a document of trunkline or a result of iperf3.
///
/// # Errors
/// When it cannot be read or is neither.
pub fn load(file: &Path) -> Result<AnyDocument, Error> {
    let text = std::fs::read_to_string(file).map_err(|error| Error::unreadable(file, error))?;
    match iperf3::is_iperf3(&text) {
        true => Ok(iperf3::read(file, &text)?.into()),
        false => Ok(record::parse(file, &text)?),
    }
}
