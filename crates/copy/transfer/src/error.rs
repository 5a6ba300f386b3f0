//! Why a copy ended before its end.

use copy_protocol::{Outcome, Problem, ProblemKind};
use errors::{Fault, Hint};
use thiserror::Error;
use units::Span;

use crate::copy_stats::CopyStats;

/// Why a copy ended before its end. Files that failed while others went on are no error: see
/// [`Outcome::failed`].
#[derive(Debug, Error)]
pub enum CopyError {
    /// It cannot be done as it was asked for, or not any further; one of the two ends says so.
    #[error("{what}")]
    Problem {
        /// Kind of a problem.
        kind: ProblemKind,
        /// What happened.
        what: String,
        /// The next step.
        hint: Option<String>,
        /// What was done until then, where that is anything.
        so_far: Option<Box<Outcome>>,
    },
    /// There was never a conversation with the far end.
    #[error("{}", unreachable(peer, why))]
    Unreachable {
        /// Where it should be.
        peer: String,
        /// What was seen last.
        why: String,
        /// The next step.
        hint: Option<String>,
    },
    /// The far end was there, and then unreachable for longer than `patience`.
    #[error("{peer} has been gone for {patience}: {why}")]
    Lost {
        /// Where it was.
        peer: String,
        /// What was seen last.
        why: String,
        /// How long was waited.
        patience: Span,
        /// What was done until then.
        so_far: Box<Outcome>,
    },
    /// Another copy was at the same files for longer than one that was stopped or killed is.
    #[error("{what}")]
    Busy {
        /// Which file, and what is known of the other copy.
        what: String,
        /// The next step.
        hint: Option<String>,
        /// What was done until then.
        so_far: Box<Outcome>,
    },
    /// The user, here or there, ended it.
    #[error("the copy was stopped")]
    Cancelled {
        /// What was done until then.
        so_far: Box<Outcome>,
    },
}

impl Hint for CopyError {
    fn fault(&self) -> Fault {
        match self {
            CopyError::Problem { kind, .. } => kind.fault(),
            CopyError::Unreachable { .. } => Fault::Run,
            CopyError::Busy { .. } | CopyError::Lost { .. } => Fault::Later,
            CopyError::Cancelled { .. } => Fault::Cancelled,
        }
    }

    fn hint(&self) -> Option<String> {
        let hint = match self {
            CopyError::Problem { hint, .. }
            | CopyError::Unreachable { hint, .. }
            | CopyError::Busy { hint, .. } => hint.as_deref(),
            CopyError::Lost { .. } | CopyError::Cancelled { .. } => {
                Some("run the same command again; what has arrived is not sent again")
            }
        };
        hint.map(str::to_owned)
    }
}

/// One fact once: what was seen mostly begins with where.
fn unreachable(peer: &str, why: &str) -> String {
    match why.contains(peer) {
        true => why.to_owned(),
        false => format!("{peer} cannot be reached: {why}"),
    }
}

impl CopyError {
    /// The same with another next step, where it has one.
    pub(crate) fn hinting(self, text: String) -> Self {
        match self {
            CopyError::Problem {
                kind, what, so_far, ..
            } => CopyError::Problem {
                kind,
                what,
                hint: Some(text),
                so_far,
            },
            other => other,
        }
    }

    /// A problem that ended a copy, with what was done before.
    pub(crate) fn of(problem: Problem, stats: &CopyStats<'_>) -> Self {
        let so_far = (stats.steps() > 0).then(|| Box::new(stats.conclude()));
        let Problem {
            kind, what, hint, ..
        } = problem;
        CopyError::Problem {
            kind,
            what,
            hint,
            so_far,
        }
    }
}

impl From<Problem> for CopyError {
    fn from(problem: Problem) -> Self {
        CopyError::Problem {
            kind: problem.kind,
            what: problem.what,
            hint: problem.hint,
            so_far: None,
        }
    }
}
