//! Published studies, made again.

mod programs;

use std::io;

use crate::simulate::{Cache, Progress};
use crate::{Cancel, Error, origin};

pub use programs::run_programs;
pub use studies::programs::{ProgramRun, ProgramRuns, ProgramSetting};
pub use studies::{NAMES, Programme, Studied, Study, listing, summary};

/// Studies that were made.
#[derive(Debug)]
pub struct Made {
    /// Their figures and findings.
    pub studies: Vec<Studied>,
    /// Pages, texts, tables and plots, each with its name.
    pub files: Vec<(String, String)>,
    /// Why a run could not be kept, when one could not.
    pub not_kept: Option<io::Error>,
}

/// The studies of these names, each once and in their own order; all of them for `all`.
///
/// # Errors
/// When there is none of that name.
pub fn named(names: &[String]) -> Result<Vec<Study>, Error> {
    let is_all = |name: &String| name == "all";
    for name in names.iter().filter(|name| !is_all(name)) {
        studies::named(name)?;
    }
    let is_wanted = |known: &&str| names.iter().any(|name| is_all(name) || name == known);
    let wanted = NAMES.into_iter().filter(is_wanted);
    Ok(wanted.map(studies::named).collect::<Result<_, _>>()?)
}

/// Makes all runs of `programme`, as many at once as there are processors, and reads its figures
/// from them.
///
/// * `kept`: where finished runs are kept and looked up; `None` keeps nothing.
/// * `programs`: what [`run_programs`] gave, to be shown beside.
///
/// # Errors
/// When there are too many runs, or it was cancelled.
pub fn make(
    programme: &Programme,
    kept: Option<&Cache>,
    programs: Option<&ProgramRuns>,
    cancel: &Cancel,
    on_progress: &mut dyn FnMut(&Progress),
) -> Result<Made, Error> {
    let runs = programme.runs()?;
    let finished = simulation_grid::run(&runs, kept, &cancel.flag(), on_progress)?;
    let mut studies = programme.read(&finished.runs);
    studies::programs::put_beside(&mut studies, programs);
    let files = studies::files(&studies, &origin(Some(1)))?;
    Ok(Made {
        studies,
        files,
        not_kept: finished.not_kept,
    })
}
