//! How failures are told: the error, what caused it, the next step, and the exit code.

use std::error::Error;
use std::io;
use std::path::Path;
use std::process::ExitCode;

use trunkline::Fault;
use trunkline::draw::ChartError;
use trunkline::history::ArchiveError;
use trunkline::observe::TargetError;
use trunkline::record::{LoadError, SaveError};
use trunkline::sweep::GridError;
use trunkline::target::OpenError;
use trunkline::verify::{Verified, told};
use trunkline_campaign::ShardId;

use crate::args::Refused;
use crate::output::{self, tell};

/// How the program ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Exit {
    /// The thing measured or moved failed.
    Failed,
    /// The user ended it, which is no error but no success either.
    Stopped,
    /// The request was wrong.
    WrongRequest,
    /// The same command, run again, resumes.
    NotFinished,
}

impl From<Fault> for Exit {
    fn from(fault: Fault) -> Self {
        match fault {
            Fault::Request => Exit::WrongRequest,
            Fault::Run => Exit::Failed,
            Fault::Cancelled => Exit::Stopped,
            Fault::Later => Exit::NotFinished,
        }
    }
}

impl Exit {
    fn code(self) -> ExitCode {
        match self {
            Exit::Failed | Exit::Stopped => ExitCode::from(1),
            Exit::WrongRequest => ExitCode::from(2),
            // EX_TEMPFAIL of sysexits(3), which engines take for "try again".
            Exit::NotFinished => ExitCode::from(75),
        }
    }

    /// What a message begins with.
    fn label(self) -> &'static str {
        match self {
            Exit::Failed | Exit::WrongRequest => "error",
            Exit::Stopped => "stopped",
            Exit::NotFinished => "not finished",
        }
    }
}

/// Tells why a command line cannot be followed, or what was asked for in place of a command: help
/// or the version.
///
/// * `json`: standard output gets the reason as well.
pub(crate) fn refused(refused: Refused, json: bool) -> ExitCode {
    match refused {
        Refused::Clap(error) => usage(&error, json),
        Refused::Foreign { word, answer } => {
            let failure = Failure::wrong_request(&format!("there is no `{word}` here"), answer);
            if json {
                output::print_failure(&failure.what(), failure.hint());
            }
            failure.tell()
        }
    }
}

/// What `clap` says of the arguments: help, or what is wrong with them.
fn usage(error: &clap::Error, json: bool) -> ExitCode {
    if json && error.use_stderr() {
        let text = error.to_string();
        let mut parts = text.splitn(2, "\n\n");
        let what = parts.next().unwrap_or_default();
        let rest = parts.next().and_then(|rest| rest.split("\n\nUsage").next());
        let rest = rest.map(str::trim).filter(|rest| !rest.is_empty());
        output::print_failure(what.trim_start_matches("error: "), rest);
    }
    // A terminal that went away is no failure of its own.
    let _ = error.print();
    u8::try_from(error.exit_code()).map_or(ExitCode::FAILURE, ExitCode::from)
}

/// A failure on its way to the user.
#[derive(Debug)]
pub(crate) struct Failure {
    exit: Exit,
    causes: Vec<String>,
    hint: Option<String>,
}

impl Failure {
    fn new(exit: Exit, error: &(dyn Error + 'static), hint: Option<String>) -> Self {
        let mut causes = vec![error.to_string()];
        let mut cause = error.source();
        while let Some(error) = cause {
            causes.push(error.to_string());
            cause = error.source();
        }
        Failure { exit, causes, hint }
    }

    /// The search ended early; what it found has been shown.
    pub(crate) fn cut_short(error: &TargetError) -> Self {
        let mut failure = Failure::new(error.fault.into(), error, error.hint.clone());
        failure
            .causes
            .insert(0, "the search ended early".to_owned());
        failure
    }

    /// A sweep ended before its last visit; what it finished is kept and was shown.
    ///
    /// * `id`: its number, and where else than usual it is kept.
    pub(crate) fn sweep_ended(
        error: trunkline::Error,
        id: &str,
        measured: usize,
        visits: u64,
    ) -> Self {
        let go_on = format!("`trunkline sweep --resume {id}` goes on with the rest");
        let mut failure = Failure::from(error);
        failure.causes.insert(
            0,
            format!("the sweep ended early; {measured} of {visits} visits are kept"),
        );
        failure.hint = Some(match failure.hint.take() {
            Some(further) => format!("{further}; then {go_on}"),
            None => go_on,
        });
        failure
    }

    /// The user, or the system in their stead, ended a copy that the same command resumes.
    pub(crate) fn copy_ended(error: trunkline::Error) -> Self {
        let failure = Failure::from(error);
        Failure {
            exit: match failure.exit {
                Exit::Stopped => Exit::NotFinished,
                other => other,
            },
            ..failure
        }
    }

    /// Some files were not copied; which ones has been told.
    pub(crate) fn files_left(what: String, go_on: &str) -> Self {
        Failure {
            exit: Exit::Failed,
            causes: vec![what],
            hint: Some(format!(
                "once the reasons are gone, {go_on} copies what is missing"
            )),
        }
    }

    /// Shards were not finished; the same command resumes them.
    pub(crate) fn not_finished(why: trunkline::Error) -> Self {
        Failure {
            exit: Exit::NotFinished,
            ..Failure::from(why)
        }
    }

    /// All files of some shards were tried, and some failed.
    pub(crate) fn shards_failed(folder: &Path, shards: &[ShardId]) -> Self {
        const NAMED: usize = 5;
        let folder = folder.display();
        let names: Vec<String> = shards.iter().take(NAMED).map(ShardId::to_string).collect();
        let dots = if shards.len() > NAMED { ", ..." } else { "" };
        Failure {
            exit: Exit::Failed,
            causes: vec![format!("some files failed in {}{dots}", names.join(", "))],
            hint: Some(format!(
                "{folder}/runs/SHARD/failed.ndjson says which and why; once the reasons are gone, \
                 `trunkline campaign retry {folder}` and `trunkline campaign run {folder}` copy \
                 them"
            )),
        }
    }

    /// Some folders could not be listed; the rest is planned.
    pub(crate) fn unread(folder: &Path) -> Self {
        let folder = folder.display();
        Failure {
            exit: Exit::Failed,
            causes: vec!["some files or folders could not be read, and are in no shard".to_owned()],
            hint: Some(format!(
                "{folder}/plans/*/left_out.ndjson says which and why; plan again once the reasons \
                 are gone"
            )),
        }
    }

    /// Both ends are not the same.
    pub(crate) fn differs() -> Self {
        Failure {
            exit: Exit::Failed,
            causes: vec!["the ends differ, or not all was copied".to_owned()],
            hint: Some(
                "`trunkline campaign retry` and `run` copy what differs again; \
                 `verified/report.json` in the folder names it, and `trunkline campaign status` \
                 says what was not copied"
                    .to_owned(),
            ),
        }
    }

    /// Files are not as their checksums say, or could not be checked; which has been told.
    pub(crate) fn not_as_listed(verified: &Verified) -> Self {
        let (what, hint) = told::not_right(verified);
        Failure {
            exit: match verified.account.wrong {
                0 => Exit::WrongRequest,
                _ => Exit::Failed,
            },
            causes: vec![what],
            hint,
        }
    }

    /// The error and what caused it, in one line.
    pub(crate) fn what(&self) -> String {
        self.causes.join(": ")
    }

    /// The next step.
    pub(crate) fn hint(&self) -> Option<&str> {
        self.hint.as_deref()
    }

    /// The user had enough; what was found until then has been shown.
    pub(crate) fn ended_by_user() -> Self {
        Failure {
            exit: Exit::Stopped,
            causes: vec!["ended before everything was measured".to_owned()],
            hint: None,
        }
    }

    /// Simulated transfers ran out of time; what they carried has been shown.
    pub(crate) fn unfinished(left: usize, runs: usize) -> Self {
        Failure {
            exit: Exit::Failed,
            causes: vec![format!(
                "{left} of {runs} runs left data when their time was over"
            )],
            hint: Some("give them more time with `--duration`, or less to carry".to_owned()),
        }
    }

    /// The request was wrong in a way that only the program itself knows.
    pub(crate) fn wrong_request(problem: &str, hint: &str) -> Self {
        Failure {
            exit: Exit::WrongRequest,
            causes: vec![problem.to_owned()],
            hint: Some(hint.to_owned()),
        }
    }

    /// A folder could not be made.
    pub(crate) fn folder(folder: &Path, error: &io::Error) -> Self {
        let problem = format!("cannot make the folder {}", folder.display());
        Failure::unwritable(problem, error)
    }

    /// A file could not be written.
    pub(crate) fn file(file: &Path, error: &io::Error) -> Self {
        Failure::unwritable(format!("cannot write {}", file.display()), error)
    }

    /// A file could not be read.
    pub(crate) fn unreadable(file: &Path, error: &io::Error) -> Self {
        Failure {
            exit: Exit::WrongRequest,
            causes: vec![format!("cannot read {}", file.display()), error.to_string()],
            hint: Some("check the name, and that you may read the file".to_owned()),
        }
    }

    fn unwritable(problem: String, error: &io::Error) -> Self {
        Failure {
            exit: Exit::Failed,
            causes: vec![problem, error.to_string()],
            hint: Some("name a place that you may write to and that has room".to_owned()),
        }
    }

    /// Writes it to standard error and gives the exit code.
    pub(crate) fn tell(&self) -> ExitCode {
        for (depth, cause) in self.causes.iter().enumerate() {
            let label = match depth {
                0 => self.exit.label(),
                _ => "  caused by",
            };
            tell!("{label}: {cause}");
        }
        if let Some(hint) = &self.hint {
            tell!("\nhint: {hint}");
        }
        self.exit.code()
    }
}

impl From<trunkline::Error> for Failure {
    fn from(error: trunkline::Error) -> Self {
        let hint = error.hint().map(str::to_owned);
        Failure::new(error.fault().into(), &error, hint)
    }
}

/// Errors that the library's own error has a place for.
macro_rules! through_the_library {
    ($($error:ty),+) => {
        $(
            impl From<$error> for Failure {
                fn from(error: $error) -> Self {
                    Failure::from(trunkline::Error::from(error))
                }
            }
        )+
    };
}

through_the_library!(
    ArchiveError,
    ChartError,
    GridError,
    LoadError,
    OpenError,
    SaveError,
    io::Error
);
