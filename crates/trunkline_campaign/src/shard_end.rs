//! How a run of a shard is asked for, what it tells, and how it ends.

use campaign_store::{Fate, ShardResult, StoreError};
use copy_protocol::CopyEvent;
use transfer::CopyError;
use units::{Bytes, Span};

use super::status::UnfinishedCause;
use super::watcher::Halt;
use trunkline::Error;

/// How a shard is run.
#[derive(Debug, Clone)]
pub struct RunOptions {
    /// Which host of the plan this machine is.
    pub host: Option<String>,
    /// How long a far end may be gone or busy, or a disk full, before the run ends unfinished.
    pub patience: Span,
    /// Waits for a process that runs the same shard, instead of ending unfinished.
    pub wait: bool,
}

/// Two minutes: an engine has other shards to run meanwhile.
impl Default for RunOptions {
    fn default() -> Self {
        RunOptions {
            host: None,
            patience: Span::from_secs(120),
            wait: false,
        }
    }
}

/// How a run of a shard ended.
#[derive(Debug)]
pub enum ShardEnd {
    /// All of it is at the destination.
    Done(ShardResult),
    /// All of it was tried, and some could not be copied; the result counts them by cause.
    Failed(ShardResult),
    /// Some was not tried; the same run once more goes on.
    NotFinished(Unfinished),
}

/// Why a run of a shard ended before all of it was tried.
#[derive(Debug)]
pub struct Unfinished {
    /// What kind of reason.
    pub cause: UnfinishedCause,
    /// The same in words, with the next step.
    pub error: Error,
}

impl Unfinished {
    pub(super) fn new(cause: UnfinishedCause, error: impl Into<Error>) -> Self {
        Unfinished {
            cause,
            error: error.into(),
        }
    }
}

/// What happens while a shard runs.
#[derive(Debug)]
pub enum ShardEvent<'a> {
    /// It waits, for what.
    Waiting(&'a str),
    /// Its result is damaged, and it is run again.
    Damaged(&'a str),
    /// It copies so many names.
    Copying {
        /// Names that are left.
        names: u64,
        /// Bytes of their files.
        bytes: Bytes,
    },
    /// What the copy told.
    Copy(&'a CopyEvent),
}

/// Something that keeps a shard from being finished, or an error.
pub(super) enum Stop {
    Halt(Halt),
    Unfinished(Unfinished),
    Error(Error),
}

impl From<Error> for Stop {
    fn from(error: Error) -> Self {
        Stop::Error(error)
    }
}

impl From<StoreError> for Stop {
    fn from(error: StoreError) -> Self {
        let cause = match error {
            StoreError::Busy { .. } => UnfinishedCause::Waits,
            _ if error.may_pass() => UnfinishedCause::Passing,
            _ => return Stop::Error(error.into()),
        };
        Stop::Unfinished(Unfinished::new(cause, error))
    }
}

pub(super) type OnEvent<'a> = dyn FnMut(ShardEvent<'_>) + 'a;

/// The mark was removed between two looks.
pub(super) fn unreachable_end() -> ShardEnd {
    ShardEnd::NotFinished(halted(Halt::Asked))
}

pub(super) fn halted(halt: Halt) -> Unfinished {
    let (cause, what, hint) = match halt {
        Halt::Asked | Halt::Cancelled => (
            UnfinishedCause::Halted,
            "stopped before its end".to_owned(),
            "run the same command again to resume; what has arrived is not sent again",
        ),
        Halt::Paused => (
            UnfinishedCause::Halted,
            "the campaign is paused".to_owned(),
            "`trunkline campaign resume` ends the pause; then run the same command again",
        ),
        Halt::Quiet(until) => (
            UnfinishedCause::Quiet,
            format!("its link is {until}"),
            "run the same command again after that",
        ),
    };
    Unfinished::new(cause, Error::unfinished(what, hint.to_owned()))
}

/// A copy that ended before its end: who ended it, and whether the same once more goes on.
pub(super) fn ended(error: CopyError, halt: Option<Halt>) -> Stop {
    match &error {
        CopyError::Cancelled { .. } => Stop::Halt(halt.unwrap_or(Halt::Asked)),
        CopyError::Problem { .. } if halt.is_some() => Stop::Halt(halt.unwrap_or(Halt::Asked)),
        CopyError::Lost { .. } => Stop::Unfinished(Unfinished::new(UnfinishedCause::Lost, error)),
        other => match passing_cause(other) {
            Some(cause) => Stop::Unfinished(Unfinished::new(cause, error)),
            None => Stop::Error(error.into()),
        },
    }
}

/// Why the same copy may succeed a little later.
pub(super) fn passing_cause(error: &CopyError) -> Option<UnfinishedCause> {
    match error {
        CopyError::Unreachable { .. } => Some(UnfinishedCause::Passing),
        CopyError::Busy { .. } => Some(UnfinishedCause::Busy),
        CopyError::Problem { kind, .. } => UnfinishedCause::of(*kind),
        // A far end that was lost was waited for.
        CopyError::Lost { .. } | CopyError::Cancelled { .. } => None,
    }
}

/// A name that could not be copied for now.
pub(super) fn passing_trouble(fate: &Fate) -> Option<Stop> {
    let cause = UnfinishedCause::of(fate.cause)?;
    let hint = fate.hint.clone();
    let hint = hint.unwrap_or_else(|| "run the same command again once that is over".to_owned());
    let error = Error::unfinished(fate.what.clone(), hint);
    Some(Stop::Unfinished(Unfinished::new(cause, error)))
}
