//! What of a copy failed, or was left out.

use std::collections::BTreeSet;

use copy_protocol::{CopyEvent, Entry, FileProblem, Kind, Problem, ProblemKind};
use files::{problem, with_hint};

use super::CopyStats;

/// Failures that are listed one by one: a peer may tell of any number.
const FAILURES_MAX: usize = 10_000;

impl CopyStats<'_> {
    /// An entry cannot be copied.
    pub(crate) fn on_failed(&mut self, entry: Option<&Entry>, problem: Problem) {
        let name = match entry {
            Some(entry) if entry.kind == Kind::Folder => format!("{}/", entry.name),
            Some(entry) => entry.name.to_string(),
            None => String::new(),
        };
        self.on_left_out(FileProblem::new(name, problem));
    }

    /// Names of the sources that cannot be copied, which a removal spares.
    ///
    /// # Errors
    /// When not all of them were noted, so that nothing may be removed.
    pub(crate) fn spared(&self) -> Result<BTreeSet<String>, FileProblem> {
        let left_out = &self.outcome.left_out;
        match left_out.len() < FAILURES_MAX {
            true => Ok(left_out.iter().map(|one| one.name.clone()).collect()),
            false => Err(not_all_spared()),
        }
    }

    /// Something cannot be copied.
    pub(crate) fn on_left_out(&mut self, problem: FileProblem) {
        let at = self.now();
        match problem.kind {
            ProblemKind::NoContent | ProblemKind::Unfinished => {
                if self.outcome.left_out.len() < FAILURES_MAX {
                    self.outcome.left_out.push(problem.clone());
                }
                return self.tell(&CopyEvent::LeftOut { at, problem });
            }
            ProblemKind::Follows if has_failed_above(&mut self.outcome.failed, &problem.name) => {
                return self.tell(&CopyEvent::Failed { at, problem });
            }
            _ => {}
        }
        let problem = match self.outcome.failed.len() {
            0..FAILURES_MAX => problem,
            FAILURES_MAX => more_failures(),
            _ => return,
        };
        self.outcome.failed.push(problem.clone());
        self.tell(&CopyEvent::Failed { at, problem });
    }
}

/// Counts what is in a folder that failed with that folder; `false` where no such folder failed.
fn has_failed_above(failed: &mut [FileProblem], name: &str) -> bool {
    let is_above = |one: &&mut FileProblem| one.name.ends_with('/') && name.starts_with(&one.name);
    let folder = failed.iter_mut().rev().find(is_above);
    folder.map(|folder| folder.below += 1).is_some()
}

/// Why nothing is removed.
fn not_all_spared() -> FileProblem {
    let what = format!(
        "nothing is removed: the sources have {FAILURES_MAX} things or more that cannot be copied, \
        and what has their names at the destination is not told from the rest"
    );
    let hint = "leave them out with `--exclude`, which spares their names, too";
    FileProblem::new(
        String::new(),
        with_hint(problem(ProblemKind::Request, what), hint),
    )
}

/// Stands for all failures behind the last one that is listed.
fn more_failures() -> FileProblem {
    let what =
        format!("more than {FAILURES_MAX} things could not be copied; the others are not listed");
    let hint = "mend the cause of those above and give the same command again";
    FileProblem::new(
        String::new(),
        with_hint(problem(ProblemKind::Request, what), hint),
    )
}
