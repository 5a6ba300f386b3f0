//! How a sweep fails, and how to go on.

use record::ArchiveError;
use sweep::{GridError, SweepError};

use super::{Exit, Failure};

impl Failure {
    /// An archive without which no sweep begins.
    pub(crate) fn no_sweep(error: &ArchiveError) -> Self {
        let mut failure = Failure::from_archive(error);
        if let ArchiveError::Folder { .. } | ArchiveError::Database { .. } = error {
            failure.hint = Some(
                "a sweep keeps each visit as it is finished: name a file that you may write to and that has room \
                 with `--history FILE`"
                    .to_owned(),
            );
        }
        failure
    }

    /// A sweep ended before its last visit; what it finished is kept and was shown.
    ///
    /// * `id`: its number, and where else than usual it is kept.
    pub(crate) fn sweep_ended(error: &SweepError, id: &str, measured: usize, visits: u64) -> Self {
        let exit = match error {
            SweepError::Cancelled => Exit::Stopped,
            SweepError::Request(_) => Exit::WrongRequest,
            SweepError::Failing { .. } | SweepError::NotKept { .. } => Exit::Failed,
        };
        let further = match error {
            SweepError::Request(error) | SweepError::Failing { last: error, .. } => &error.hint,
            SweepError::NotKept { source, .. } => &source.hint,
            SweepError::Cancelled => &None,
        };
        let go_on = format!("`trunkline sweep --resume {id}` goes on with the rest");
        let mut failure = Failure::new(exit, error, None);
        failure.causes.insert(
            0,
            format!("the sweep ended early; {measured} of {visits} visits are kept"),
        );
        failure.hint = Some(match further {
            Some(further) => format!("{further}; then {go_on}"),
            None => go_on,
        });
        failure
    }
}

impl From<GridError> for Failure {
    fn from(error: GridError) -> Self {
        let hint = match error {
            GridError::NothingLeft { .. } => "ask for other products or numbers of streams",
            GridError::TooMany { .. } => "ask for fewer settings or cycles",
        };
        Failure::new(Exit::WrongRequest, &error, Some(hint.to_owned()))
    }
}
