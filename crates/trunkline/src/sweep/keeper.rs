//! Puts finished visits into the archive.

use ::sweep::{Finished, KeepError, Keeper, Measured, Visit};
use archive::{Archive, ArchiveError};
use archive::{FinishedVisit, VisitResult};
use errors::Hint;
use netpath::PathSpec;
use observe::TargetInfo;
use record::{Document, Measure};
use units::Span;

use crate::origin;

/// Keeps the visits of one sweep.
pub(super) struct ArchiveKeeper<'a> {
    archive: &'a mut Archive,
    sweep: i64,
    seed: u64,
    path: Option<&'a PathSpec>,
    info: TargetInfo,
    /// When the present visit began.
    started: String,
}

impl<'a> ArchiveKeeper<'a> {
    pub(super) fn new(
        archive: &'a mut Archive,
        sweep: i64,
        seed: u64,
        path: Option<&'a PathSpec>,
        info: TargetInfo,
    ) -> Self {
        ArchiveKeeper {
            archive,
            sweep,
            seed,
            path,
            info,
            started: String::new(),
        }
    }

    /// A visit as a measurement of its own.
    fn document(&self, measured: &Measured) -> Document<Measure> {
        let mut body = Measure::new(
            &self.info,
            &measured.seen,
            &measured.summary,
            &measured.verdict,
        );
        body.target = body.target.on_path(self.path);
        Document::new(origin(Some(self.seed)), body)
    }

    fn insert(
        &mut self,
        visit: &Visit,
        finished: &Finished,
        took: Span,
    ) -> Result<(), ArchiveError> {
        let result = match finished {
            Finished::Measured(measured) => {
                VisitResult::Measured(Box::new(self.document(measured)), &measured.figures)
            }
            Finished::Failed(why) => VisitResult::Failed(why),
        };
        let row = FinishedVisit {
            number: visit.number,
            key: visit.key(),
            started: &self.started,
            took,
            result,
        };
        self.archive.keep_visit(self.sweep, &row).map(drop)
    }
}

impl Keeper for ArchiveKeeper<'_> {
    fn begin(&mut self, _visit: &Visit) {
        self.started = record::now();
    }

    fn keep(&mut self, visit: &Visit, finished: &Finished, took: Span) -> Result<(), KeepError> {
        let kept = self.insert(visit, finished, took);
        kept.map_err(|error| KeepError {
            what: told(&error),
            hint: hint(&error),
            may_pass: error.may_pass(),
        })
    }
}

/// An error with its cause in one sentence.
fn told(error: &ArchiveError) -> String {
    match std::error::Error::source(error) {
        Some(cause) => format!("{error}: {cause}"),
        None => error.to_string(),
    }
}

fn hint(error: &ArchiveError) -> Option<String> {
    match error.may_pass() {
        true => Some("make room on its disk, or end the process that holds it".to_owned()),
        false => error.hint(),
    }
}
