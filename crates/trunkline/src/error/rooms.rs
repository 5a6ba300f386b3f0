//! Whose fault the errors of the rooms are, and what their next step is.

use std::io;

use copy_net::SshChildError;
use copy_net::control_socket::ControlError;
use copy_protocol::{Problem, ProblemKind};
use emu::EmuError;
use endpoints::BindError;
use netpath::PathError;
use observe::{Fault, TargetError};
use predict::PredictError;
use record::iperf3::Iperf3Error;
use record::{ArchiveError, LoadError, PointsError, SaveError};
use report::ChartError;
use sim::ScenarioError;
use simulation_grid::{CacheError, CampaignError, LogError};
use sweep::GridError;
use target::OpenError;
use transfer::CopyError;
use tune::TuneError;

use super::{Error, Sentence};

impl From<TargetError> for Error {
    fn from(error: TargetError) -> Self {
        let hint = error.hint.clone();
        Error::of(error.fault, error, hint)
    }
}

impl From<TuneError> for Error {
    fn from(error: TuneError) -> Self {
        match error {
            TuneError::Target(error) => Error::from(error),
            error => Error::of(Fault::Run, error, None),
        }
    }
}

impl From<OpenError> for Error {
    fn from(error: OpenError) -> Self {
        let fault = match error.is_wrong_request() {
            true => Fault::Request,
            false => Fault::Run,
        };
        let hint = error.hint();
        Error::of(fault, error, hint)
    }
}

impl From<PathError> for Error {
    fn from(error: PathError) -> Self {
        Error::from(OpenError::from(error))
    }
}

impl From<EmuError> for Error {
    fn from(error: EmuError) -> Self {
        Error::from(OpenError::from(error))
    }
}

impl From<BindError> for Error {
    fn from(error: BindError) -> Self {
        let hint = error.hint().map(str::to_owned);
        Error::of(Fault::Run, error, hint)
    }
}

impl From<ScenarioError> for Error {
    fn from(error: ScenarioError) -> Self {
        let hint = error.hint.clone();
        Error::of(Fault::Request, error, Some(hint))
    }
}

impl From<CampaignError> for Error {
    fn from(error: CampaignError) -> Self {
        let fault = match error {
            CampaignError::Cancelled { .. } => Fault::Cancelled,
            _ => Fault::Request,
        };
        let hint = error.hint();
        Error::of(fault, error, Some(hint))
    }
}

impl From<LogError> for Error {
    fn from(error: LogError) -> Self {
        match error {
            LogError::Scenario(error) => Error::from(error),
            LogError::Write(_) => Error::of(Fault::Run, error, None),
            LogError::Cancelled { .. } => Error::of(Fault::Cancelled, error, None),
        }
    }
}

/// Errors that are always the same one's fault and whose next step is a fixed text.
macro_rules! hinted {
    ($($fault:ident: $($error:ty),+;)+) => {
        $($(
            impl From<$error> for Error {
                fn from(error: $error) -> Self {
                    let hint = error.hint().to_string();
                    Error::of(Fault::$fault, error, Some(hint))
                }
            }
        )+)+
    };
}

hinted! {
    Request: LoadError, PointsError, PredictError, Iperf3Error;
    Run: CacheError, SaveError;
}

impl From<ArchiveError> for Error {
    fn from(error: ArchiveError) -> Self {
        let fault = match error {
            ArchiveError::Folder { .. }
            | ArchiveError::Database { .. }
            | ArchiveError::Damaged { .. }
            | ArchiveError::Busy { .. }
            | ArchiveError::SweepTaken { .. }
            | ArchiveError::VisitTaken { .. } => Fault::Run,
            _ => Fault::Request,
        };
        let hint = error.hint().to_owned();
        Error::of(fault, error, Some(hint))
    }
}

impl From<GridError> for Error {
    fn from(error: GridError) -> Self {
        let hint = match error {
            GridError::NothingLeft { .. } => "ask for other products or numbers of streams",
            GridError::TooMany { .. } => "ask for fewer settings or cycles",
        };
        Error::of(Fault::Request, error, Some(hint.to_owned()))
    }
}

impl From<ChartError> for Error {
    fn from(error: ChartError) -> Self {
        Error::of(Fault::Run, error, None)
    }
}

impl From<io::Error> for Error {
    fn from(error: io::Error) -> Self {
        Error::of(Fault::Run, error, None)
    }
}

/// Whether another request would have been the remedy.
fn fault_of(kind: ProblemKind) -> Fault {
    match kind {
        ProblemKind::Request | ProblemKind::NotFound => Fault::Request,
        ProblemKind::Cancelled => Fault::Cancelled,
        ProblemKind::Busy => Fault::Later,
        ProblemKind::Permission
        | ProblemKind::DiskFull
        | ProblemKind::Disk
        | ProblemKind::SourceChanged
        | ProblemKind::Corrupt
        | ProblemKind::Protocol
        | ProblemKind::NoContent
        | ProblemKind::Unfinished
        | ProblemKind::Follows => Fault::Run,
    }
}

impl From<Problem> for Error {
    fn from(problem: Problem) -> Self {
        let what = problem.what;
        let sentence = Sentence { what, source: None };
        Error::of(fault_of(problem.kind), sentence, problem.hint)
    }
}

impl From<CopyError> for Error {
    fn from(error: CopyError) -> Self {
        let resumable = "the same copy once more goes on; what has arrived is not sent again";
        let (fault, hint) = match &error {
            CopyError::Problem { kind, hint, .. } => (fault_of(*kind), hint.clone()),
            CopyError::Unreachable { hint, .. } => (Fault::Run, hint.clone()),
            CopyError::Busy { hint, .. } => (Fault::Later, hint.clone()),
            CopyError::Lost { .. } => (Fault::Later, Some(resumable.to_owned())),
            CopyError::Cancelled { .. } => (Fault::Cancelled, Some(resumable.to_owned())),
        };
        Error::of(fault, error, hint)
    }
}

impl From<SshChildError> for Error {
    fn from(error: SshChildError) -> Self {
        let (fault, hint) = match &error {
            SshChildError::Request(_) => (Fault::Request, None),
            SshChildError::Listen(error) => (Fault::Run, error.hint()),
            SshChildError::Pipe(_) => (Fault::Run, None),
            SshChildError::NoNearAddress => (
                Fault::Run,
                Some("let this end listen instead: leave out `--connect from-far`"),
            ),
        };
        let hint = hint.map(str::to_owned);
        Error::of(fault, error, hint)
    }
}

impl From<ControlError> for Error {
    fn from(error: ControlError) -> Self {
        let (fault, hint) = match &error {
            ControlError::NoPlace => (
                Fault::Request,
                "set HOME or XDG_RUNTIME_DIR, the same for the copy and for `trunkline limit`",
            ),
            ControlError::Place { .. } => (
                Fault::Request,
                "see that the folder is yours and writable, or set XDG_RUNTIME_DIR to one that is",
            ),
            ControlError::Silent { .. } => (
                Fault::Run,
                "the copy has ended, or hangs: `trunkline limit` lists those that answer",
            ),
        };
        Error::of(fault, error, Some(hint.to_owned()))
    }
}
